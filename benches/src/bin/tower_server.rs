//! The `echo` tool on tower-mcp, the fastest other Rust stack that was found, with its defaults: pipes driven by readiness,
//! JSON replies over HTTP. On one thread, as the servers it is compared with.

use std::net::Ipv4Addr;

use clap::Parser;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use serde::Deserialize;
use tokio::net::TcpListener;
use tower_mcp::{
    BoxError, CallToolResult, HttpTransport, McpRouter, StdioTransport, ToolBuilder, schemars,
};

/// Serve the tool `echo` with tower-mcp on standard input and output.
#[derive(Parser)]
#[command(name = "tower_server")]
struct Arguments {
    /// Serve HTTP at this port instead.
    #[arg(long, value_name = "PORT")]
    http: Option<u16>,
}

#[derive(Debug, Deserialize, schemars::JsonSchema)]
#[schemars(crate = "tower_mcp::schemars")]
struct EchoArguments {
    /// What to send back.
    text: String,
}

fn main() -> Result<(), BoxError> {
    let arguments = Arguments::parse();
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_all().build()?;
    let echo = ToolBuilder::new("echo")
        .description("Sends its text back.")
        .handler(|arguments: EchoArguments| async move { Ok(CallToolResult::text(arguments.text)) })
        .build();
    let router = McpRouter::new()
        .server_info("tower-echo", "0.1.0")
        .tool(echo);
    match arguments.http {
        Some(port) => runtime.block_on(serve_http(router, port)),
        None => runtime.block_on(async { Ok(StdioTransport::new(router).run().await?) }),
    }
}

async fn serve_http(router: McpRouter, port: u16) -> Result<(), BoxError> {
    let service = HttpTransport::new(router).into_router_at("/mcp");
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
    loop {
        let (socket, _) = listener.accept().await?;
        socket.set_nodelay(true)?;
        let service = TowerToHyperService::new(service.clone());
        let connection = http1::Builder::new().serve_connection(TokioIo::new(socket), service);
        tokio::spawn(async {
            // A client that leaves is none of its business.
            let _ = connection.await;
        });
    }
}
