//! A server over HTTP, until somebody presses Enter: then nobody is accepted any more, and what is in flight is answered.
//!
//! `cargo run --example server_http -- 127.0.0.1:8000`

use std::error::Error;

use mcp_std::Server;
use mcp_std::http::{HttpRules, Listener};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Echo {
    /// What to say again.
    text: String,
}

fn main() -> Result<(), Box<dyn Error>> {
    let server = Server::builder("parrot", "1.0.0")
        .tool("echo", "Says the text again", |args: Echo| async move {
            args.text
        })
        .build()?;
    let address = std::env::args().nth(1);
    let listener = Listener::bind(address.as_deref().unwrap_or("127.0.0.1:8000"))?;
    if let Some(address) = listener.local_addr() {
        eprintln!("http://{address}/mcp");
    }
    // Besides this machine: a name that it has for others.
    let rules = HttpRules::new().host("mcp.example.com");
    // Any future will do: a signal of the crate `async-signal`, say.
    let enter = async {
        smol::unblock(|| std::io::stdin().lines().next()).await;
    };
    smol::block_on(server.http().rules(rules).serve_on(listener, enter))?;
    Ok(())
}
