//! How long it takes with many servers and tools.

use std::time::{Duration, Instant};

use mcp_std::Server;
use mcp_std::host::ServerConfig;

use crate::{built, host};

const SERVERS: usize = 50;
const TOOLS: usize = 40;

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[expect(dead_code, reason = "only its schema is of interest")]
struct Arguments {
    /// Where to look.
    path: String,
    /// How many at most.
    limit: Option<u32>,
    /// In which order: by name, by time or by size.
    order: Option<String>,
}

fn large(at: usize) -> Server {
    let mut builder = Server::builder(format!("server-{at}"), "1");
    for tool in 0..TOOLS {
        let name = format!("list_things_{tool}");
        let what =
            "Lists the things of a kind that are at a place, in an order, as many as are wanted";
        builder = builder.tool(name, what, |_: Arguments| async { "none" });
    }
    built(builder)
}

fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// `cargo test -p mcp-std --features cli --test host figures -- --nocapture` prints them.
#[test]
fn fifty_servers_of_forty_tools() {
    let servers: Vec<_> = (0..SERVERS).map(large).collect();
    let servers = servers.iter().enumerate();
    let servers: Vec<_> = servers
        .map(|(at, server)| ServerConfig::in_process(format!("server-{at}"), server))
        .collect();
    let before = resident();
    smol::block_on(async {
        let started = Instant::now();
        let host = host(servers).start();
        host.settled().await;
        let connected = started.elapsed();
        let session = host.session();
        let started = Instant::now();
        let first = session.snapshot();
        let made = started.elapsed();
        assert_eq!(first.tools().len(), SERVERS * TOOLS);
        let rounds = 1000;
        let started = Instant::now();
        for _ in 0..rounds {
            assert_eq!(session.snapshot().tools().len(), SERVERS * TOOLS);
        }
        let unchanged = started.elapsed() / rounds;
        let started = Instant::now();
        session.activate_group("none");
        assert_eq!(session.snapshot().tools().len(), SERVERS * TOOLS);
        let chosen = started.elapsed();
        let started = Instant::now();
        assert!(!first.search("order of things by size", 5).is_empty());
        let indexed = started.elapsed();
        let started = Instant::now();
        assert!(!first.search("as many kinds as are wanted", 5).is_empty());
        let searched = started.elapsed();
        let grown = resident()
            .zip(before)
            .map(|(now, before)| now.saturating_sub(before));
        eprintln!(
            "{SERVERS} servers, {} tools: connected and listed {connected:?}; first snapshot {made:?}, unchanged {unchanged:?}, \
             another choice {chosen:?}; first search {indexed:?}, next {searched:?}; resident +{} KiB",
            SERVERS * TOOLS,
            grown.unwrap_or_default()
        );
        // Far above what it takes: a sign that something is quadratic.
        assert!(made < Duration::from_secs(5) && unchanged < Duration::from_millis(5));
        host.close().await;
    });
}
