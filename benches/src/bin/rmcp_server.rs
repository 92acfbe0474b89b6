//! The `echo` tool on rmcp, in both eras as rmcp serves them by itself, and at its best.
//!
//! Three choices are not the ones of its first example, each because it measured better: the tool router is kept in a
//! field (by default the macro builds it anew in each call), tokio runs on the current thread (two threads answered no
//! more calls, with more CPU time for each), and the streams are `stdio_pipes()`, which is three to six times as
//! fast as `stdio()`. The options bring the last two back.

use std::net::Ipv4Addr;

use clap::{Parser, ValueEnum};
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::transport::{stdio, stdio_pipes};
use rmcp::{ServerHandler, ServiceExt, schemars, tool, tool_handler, tool_router};
use serde::Deserialize;
use tokio::net::TcpListener;

type Error = Box<dyn core::error::Error>;

/// Serve the tool `echo` with rmcp on standard input and output.
#[derive(Parser)]
#[command(name = "rmcp_server")]
struct Arguments {
    /// How tokio runs it.
    #[arg(long, value_enum, default_value = "current-thread")]
    runtime: Flavor,
    /// How it reads and writes.
    #[arg(long, value_enum, default_value = "pipes")]
    transport: Streams,
    /// Serve HTTP at this port instead, in its fastest mode: a JSON reply for each request, no sessions, TCP_NODELAY.
    #[arg(long, value_name = "PORT")]
    http: Option<u16>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Flavor {
    /// `tokio::runtime::Builder::new_current_thread`.
    CurrentThread,
    /// `tokio::runtime::Builder::new_multi_thread`, which is `#[tokio::main]`.
    MultiThread,
}

#[derive(Clone, Copy, ValueEnum)]
enum Streams {
    /// `rmcp::transport::stdio_pipes`: readiness, on the runtime's own thread.
    Pipes,
    /// `rmcp::transport::stdio`: tokio's blocking pool.
    Blocking,
}

struct Echo {
    router: ToolRouter<Self>,
}

#[derive(Deserialize, schemars::JsonSchema)]
struct EchoArguments {
    /// What to send back.
    text: String,
}

#[tool_router]
impl Echo {
    #[tool(description = "Sends its text back.")]
    async fn echo(&self, Parameters(arguments): Parameters<EchoArguments>) -> String {
        arguments.text
    }
}

#[tool_handler(router = self.router, name = "rmcp-echo", version = "0.1.0")]
impl ServerHandler for Echo {}

fn main() -> Result<(), Error> {
    let arguments = Arguments::parse();
    let mut builder = match arguments.runtime {
        Flavor::CurrentThread => tokio::runtime::Builder::new_current_thread(),
        Flavor::MultiThread => tokio::runtime::Builder::new_multi_thread(),
    };
    let runtime = builder.enable_all().build()?;
    match arguments.http {
        Some(port) => runtime.block_on(serve_http(port)),
        None => runtime.block_on(serve(arguments.transport)),
    }
}

async fn serve_http(port: u16) -> Result<(), Error> {
    let config = StreamableHttpServerConfig::default()
        .with_json_response(true)
        .with_legacy_session_mode(false);
    let router = Echo::tool_router();
    let echo = move || {
        let router = router.clone();
        Ok(Echo { router })
    };
    let service = StreamableHttpService::new(echo, LocalSessionManager::default().into(), config);
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

async fn serve(streams: Streams) -> Result<(), Error> {
    let echo = Echo {
        router: Echo::tool_router(),
    };
    let running = match streams {
        Streams::Pipes => echo.serve(stdio_pipes()).await?,
        Streams::Blocking => echo.serve(stdio()).await?,
    };
    running.waiting().await?;
    Ok(())
}
