//! `mcp gateway`: the servers of a configuration behind one endpoint.

use core::time::Duration;
use std::path::PathBuf;
use std::process::ExitCode;

use futures_lite::StreamExt as _;
use futures_lite::future::or;
use mcp_std::host::HostConfig;
use mcp_std::host::gateway::{Gateway as Servers, GatewayOptions};
use mcp_std::http::Listener;

use crate::connect::signals;
use crate::failure::Failure;
use crate::host::{NamingChoice, missing, says_who, variables, within};
use crate::{login, screen};

#[derive(clap::Args)]
#[command(after_help = "Examples:
  mcp gateway --config .mcp.json
  mcp gateway --config .mcp.json --http 127.0.0.1:8000

The file is the one that hosts and editors share: {\"mcpServers\": {\"files\": {\"command\": …}}}, or VS Code's.")]
pub(crate) struct Gateway {
    /// The servers: a file with `mcpServers`, or with `servers` as VS Code has it
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// What the file's `${input:ID}` stands for; may be given several times
    #[arg(long, value_name = "ID=VALUE")]
    input: Vec<String>,
    /// Serves over HTTP at this address, such as 127.0.0.1:8000, instead of standard input and output; to clients on this
    /// machine, at any path
    #[arg(long, value_name = "ADDRESS")]
    http: Option<String>,
    /// How tools and prompts are named
    #[arg(long, value_enum, default_value = "server")]
    naming: NamingChoice,
    /// How long clients wait at first for servers that are slow to start, in seconds; what comes later is told them
    #[arg(long, value_name = "SECONDS", default_value = "10")]
    timeout: u16,
}

impl Gateway {
    pub(crate) fn run(&self) -> ExitCode {
        match async_io::block_on(self.serve()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(failure) => failure.report("gateway"),
        }
    }

    async fn serve(&self) -> Result<(), Failure> {
        let config = HostConfig::load(&self.config, variables(&self.input)?);
        let config = config.map_err(|error| Failure::Usage(error.to_string()))?;
        for warning in config.warnings() {
            screen::print(&format!("mcp gateway: {warning}\n"));
        }
        let listener = match &self.http {
            Some(address) => {
                let bound = Listener::bind(address);
                let fault = |error| Failure::Server(format!("{address}: {error}"));
                Some(bound.map_err(fault)?)
            }
            None => None,
        };
        let authorized = config.servers().iter().filter(|it| says_who(it));
        let authorized: Vec<_> = authorized.map(|it| it.name().to_owned()).collect();
        let options = GatewayOptions::new("mcp-gateway", env!("CARGO_PKG_VERSION"))
            .naming(self.naming.scheme())
            .configure(move |server, builder| {
                if authorized.iter().any(|name| name == server) {
                    return builder;
                }
                builder.auth(login::auth())
            });
        let fault = |error: &dyn core::fmt::Display| Failure::Server(error.to_string());
        let mut signals = signals().map_err(|error| fault(&error))?;
        let gateway = Servers::start(config, options).map_err(|error| fault(&error))?;
        let interrupted = async {
            signals.next().await;
        };
        let served = self.served(&gateway, listener, interrupted).await;
        gateway.close().await;
        served
    }

    async fn served(
        &self,
        gateway: &Servers,
        listener: Option<Listener>,
        interrupted: impl Future<Output = ()>,
    ) -> Result<(), Failure> {
        within(Duration::from_secs(self.timeout.into()), gateway.settled()).await;
        for status in gateway.status() {
            if let Some(line) = missing(&status) {
                screen::print(&format!("mcp gateway: {line}\n"));
            }
        }
        let Some(listener) = listener else {
            let served = async { gateway.server().serve_stdio().await.map(drop) };
            let interrupted = async {
                interrupted.await;
                Ok(())
            };
            let done = or(interrupted, served).await;
            return done.map_err(|error| Failure::Server(error.to_string()));
        };
        if let Some(address) = listener.local_addr() {
            screen::print(&format!("mcp gateway: http://{address}/mcp\n"));
        }
        let done = gateway
            .server()
            .http()
            .serve_on(listener, interrupted)
            .await;
        done.map_err(|error| Failure::Server(error.to_string()))
    }
}
