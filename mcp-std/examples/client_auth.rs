//! A client of a server that wants to know who asks: as itself if it has a secret, and for a user with a browser otherwise.
//!
//! `CLIENT_ID=… CLIENT_SECRET=… cargo run --example client_auth -- https://mcp.example.com/mcp`
//!
//! A login lasts as long as this program: `FileStore` keeps it for the next time.

#![expect(clippy::print_stdout, reason = "a client's standard output is no wire")]

use std::env::{args, var};
use std::error::Error;

use mcp_std::Client;
use mcp_std::auth::{Auth, Credentials};

fn main() -> Result<(), Box<dyn Error>> {
    let url = args().nth(1).ok_or("which server?")?;
    let auth = match (var("CLIENT_ID"), var("CLIENT_SECRET")) {
        // Whoever knows the authorization server names it, with `issuer`: nobody else is shown the secret then.
        (Ok(id), Ok(secret)) => Auth::client_credentials(Credentials::secret(id, secret)),
        // The user comes back to this machine; the page can be shown in any way.
        _ => Auth::code().on_page(|page| eprintln!("Log in with a browser:\n{page}")),
    };
    smol::block_on(async {
        let client = Client::builder("my-program", "1.0.0")
            .auth(auth)
            .connect_http(&url)
            .await?;
        println!("{} tools", client.list_tools().await?.len());
        client.close().await;
        Ok(())
    })
}
