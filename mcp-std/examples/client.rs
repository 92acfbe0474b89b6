//! A client: starts a server, lists its tools, calls one.
//!
//! `cargo run --example client -- COMMAND [ARGUMENT…]`

#![expect(clippy::print_stdout, reason = "a client's standard output is no wire")]

use std::error::Error;

use mcp_std::Client;
use mcp_std::client::Command;
use serde_json::json;

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let program = words.next().ok_or("which server?")?;
    smol::block_on(async {
        let client = Client::stdio(Command::new(program).args(words)).await?;
        let server = client.server().ok_or("no server")?;
        if let Some(it) = &server.implementation {
            println!("{} {} speaks {}", it.name, it.version, server.revision);
        }
        for tool in client.list_tools().await? {
            let about = tool.description.unwrap_or_default();
            println!("{}: {about}", tool.name);
        }
        let outcome = client.call_tool("echo", &json!({"text": "hello"})).await?;
        println!("{}", outcome.text());
        client.close().await;
        Ok(())
    })
}
