//! A host over real children and servers in this process.

#[cfg(feature = "apps")]
mod apps;
mod calls;
mod changes;
mod fences;
mod figures;
mod gateway;
mod guards;
mod pool;
mod program;
mod rounds;
mod swaps;
mod waits;

use mcp_std::host::{Host, HostBuilder, HostConfig, ServerConfig};
use mcp_std::{Server, ServerBuilder};

/// The program under test, which is a server as well.
const MCP: &str = env!("CARGO_BIN_EXE_mcp");

/// A child with a few small tools.
fn child(name: &str) -> ServerConfig {
    ServerConfig::stdio(name, MCP).args(["serve"])
}

/// A server with these tools, each of which says its name.
fn parrots(name: &str, tools: &[&'static str]) -> Server {
    let mut builder = Server::builder(name, "1");
    for &tool in tools {
        builder = builder.tool(tool, "Says its name", move || async move { tool });
    }
    built(builder)
}

fn built(builder: ServerBuilder) -> Server {
    builder.build().expect("nothing to refuse")
}

/// A host with these servers.
fn host(servers: impl IntoIterator<Item = ServerConfig>) -> HostBuilder {
    Host::builder(
        servers
            .into_iter()
            .fold(HostConfig::new(), HostConfig::server),
    )
}

/// The names of the tools of a snapshot.
fn names(session: &mcp_std::host::Session) -> Vec<String> {
    let snapshot = session.snapshot();
    snapshot
        .tools()
        .iter()
        .map(|tool| tool.name.clone())
        .collect()
}
