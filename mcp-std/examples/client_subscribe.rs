//! A client that is told what changes: it watches the first page of `server_wiki`, and edits it.
//!
//! `cargo run --example client_subscribe -- SERVER [ARGUMENT…]`

#![expect(clippy::print_stdout, reason = "a client's standard output is no wire")]

use std::error::Error;

use mcp_std::Client;
use mcp_std::client::{Change, Command};
use mcp_std::model::SubscriptionFilter;
use serde_json::json;

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let program = words.next().ok_or("which server?")?;
    smol::block_on(async {
        let client = Client::stdio(Command::new(program).args(words)).await?;
        let filter = SubscriptionFilter::new().resource("wiki://page/Home");
        let mut changes = client.subscribe(filter).await?;

        let edit = json!({"title": "Home", "text": "New"});
        client.call_tool("edit", &edit).await?;
        while let Some(change) = changes.next().await {
            println!("changed: {change:?}");
            if let Change::Resource(uri) = change {
                let read = client.read_resource(&uri).await?;
                println!("{:?}", read.contents[0]);
                break;
            }
        }
        client.close().await;
        Ok(())
    })
}
