//! A server over HTTP whose tools need tokio: it has threads of its own, which have to be told of that runtime.
//! `server_axum` is the other way, on the threads of tokio.

use mcp_std::http::Listener;
use mcp_std::{Server, Spawner};
use tokio::runtime::Handle;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nap {
    /// How long, in milliseconds.
    ms: u16,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = Server::builder("napper", "1.0.0")
        .tool("nap", "Sleeps for a while", |args: Nap| async move {
            tokio::time::sleep(std::time::Duration::from_millis(args.ms.into())).await;
            format!("slept for {} ms", args.ms)
        })
        .build()?;
    let address = std::env::args().nth(1);
    let listener = Listener::bind(address.as_deref().unwrap_or("127.0.0.1:8000"))?;
    if let Some(address) = listener.local_addr() {
        eprintln!("http://{address}/mcp");
    }
    let tokio = Handle::current();
    server
        .http()
        .around_threads(move |run| {
            let _entered = tokio.enter();
            run();
        })
        // Handlers of sessions outlive the responses they began with: they run on tokio as well.
        .spawner(Spawner::new(|task| drop(tokio::spawn(task))))
        .serve_on(listener, core::future::pending())
        .await?;
    Ok(())
}
