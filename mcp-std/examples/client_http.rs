//! A client of a server at a URL: lists its tools, calls one.
//!
//! `cargo run --example client_http -- http://127.0.0.1:8000/mcp`

#![expect(clippy::print_stdout, reason = "a client's standard output is no wire")]

use std::error::Error;

use mcp_std::Client;
use serde_json::json;

fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::args().nth(1).ok_or("which server?")?;
    smol::block_on(async {
        let client = Client::http(&url).await?;
        println!("{}", client.version().as_str());
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
