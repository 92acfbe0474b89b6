//! A server on tokio: its tools may use whatever needs that runtime.

use std::time::Duration;

use mcp_std::Server;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nap {
    /// How long, in milliseconds.
    ms: u16,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    Server::builder("napper", "1.0.0")
        .tool("nap", "Sleeps for a while", |args: Nap| async move {
            tokio::time::sleep(Duration::from_millis(args.ms.into())).await;
            format!("slept for {} ms", args.ms)
        })
        .build()?
        .serve_stdio()
        .await?;
    Ok(())
}
