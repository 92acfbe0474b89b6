//! A server whose clients need an access token of an authorization server.
//!
//! `cargo run --example server_auth -- 127.0.0.1:8000 https://as.example.com https://mcp.example.com/mcp`: where it
//! listens, whose tokens it takes, and what they have to be for: the URL by which its clients know it. TLS is for a proxy in
//! front.

use std::error::Error;

use mcp_std::http::auth::ResourceServer;
use mcp_std::http::{HttpRules, Listener};
use mcp_std::{Context, Server};

async fn who(context: Context) -> String {
    let principal = context.principal();
    let subject = principal.and_then(|it| it.subject());
    subject.unwrap_or("somebody").to_owned()
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let address = words.next().ok_or("where to listen?")?;
    let issuer = words.next().ok_or("whose tokens?")?;
    let resource = words.next().ok_or("for which resource?")?;
    let auth = ResourceServer::builder(resource)
        .issuer(issuer)
        .scopes(["read"])
        .tool_scopes("deploy", ["deploy"])
        .build()?;
    let server = Server::builder("ops", "1.0.0")
        .tool("who", "Says who asks", who)
        .tool("deploy", "Deploys what is merged", || async { "deployed" })
        .build()?;
    let listener = Listener::bind(address)?;
    if let Some(address) = listener.local_addr() {
        eprintln!("http://{address}/mcp");
    }
    let http = server
        .http()
        // The proxy hands on the name that clients use.
        .rules(HttpRules::new().host(auth.authority()))
        .auth(auth);
    smol::block_on(http.serve_on(listener, core::future::pending()))?;
    Ok(())
}
