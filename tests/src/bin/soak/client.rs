//! A client that asks for everything, until it is killed.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_io::Timer;
use futures_lite::FutureExt as _;
use mcp_std::ProtocolVersion;
use mcp_std::client::{CallError, CallOptions, Client, ClientBuilder, Command, Proxy};
use serde_json::json;

/// A call that is silent for so long hangs.
const PATIENCE: Duration = Duration::from_secs(20);

/// So many calls at a time.
const AT_ONCE: usize = 8;

#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) sent: AtomicU64,
    /// Answered, with a result or with an error.
    pub(crate) answered: AtomicU64,
    /// Given up by the client.
    pub(crate) cancelled: AtomicU64,
}

/// Two clients, one over HTTP and one of a server of its own, which say how far they are.
pub(crate) fn run(url: &str, seed: u64) {
    let counts = Arc::new(Counts::default());
    let versions = ProtocolVersion::ALL;
    let version = versions[(seed % versions.len() as u64) as usize];
    smol::block_on(async {
        let http = builder(version).connect_http(url).await;
        let http = http.expect("connected over HTTP");
        let stdio = builder(version).connect_stdio(own()).await;
        let stdio = stdio.expect("connected over pipes");
        for client in [http, stdio] {
            for _ in 0..AT_ONCE / 2 {
                smol::spawn(ask(client.clone(), counts.clone())).detach();
            }
        }
        loop {
            Timer::after(Duration::from_millis(100)).await;
            let sent = counts.sent.load(Ordering::Relaxed);
            let answered = counts.answered.load(Ordering::Relaxed);
            let cancelled = counts.cancelled.load(Ordering::Relaxed);
            let mut out = std::io::stdout();
            // Whoever started this has gone: so does this.
            let told = writeln!(out, "{sent} {answered} {cancelled}").and_then(|()| out.flush());
            if told.is_err() {
                return;
            }
        }
    });
}

pub(crate) fn builder(version: ProtocolVersion) -> ClientBuilder {
    Client::builder("soak", "1")
        .proxy(Proxy::None)
        .revision(version)
        .request_timeout(PATIENCE)
}

/// This program as a server.
pub(crate) fn own() -> Command {
    Command::new(std::env::current_exe().expect("its path")).arg("stdio")
}

/// One call after the other.
pub(crate) async fn ask(client: Client, counts: Arc<Counts>) {
    let chance = RandomState::new();
    for n in 0_u64.. {
        let chance = chance.hash_one(n);
        counts.sent.fetch_add(1, Ordering::Relaxed);
        let outcome = one(&client, chance).await;
        match outcome {
            Ok(true) => counts.answered.fetch_add(1, Ordering::Relaxed),
            Ok(false) => counts.cancelled.fetch_add(1, Ordering::Relaxed),
            Err(error) => {
                eprintln!("soak: {error}");
                // Told to who has started this, or seen by it.
                std::process::exit(1);
            }
        };
    }
}

/// Whether it was answered; it was given up otherwise.
async fn one(client: &Client, chance: u64) -> Result<bool, CallError> {
    let size = match chance >> 8 & 63 {
        0 => 60_000,
        few => few as usize * 4,
    };
    match chance % 16 {
        0 => drop(client.list_tools().await?),
        1 => drop(client.read_resource("mem://text").await?),
        2 => drop(client.get_prompt("hello", &()).await?),
        3 => assert!(client.call_tool("fail", &()).await?.is_error()),
        4 => {
            let options = CallOptions::new().on_progress(|_| {});
            let arguments = json!({ "ms": 1 });
            let nap = client.call_tool_with("nap", &arguments, options).await?;
            assert_eq!(nap.text(), "rested");
        }
        5 => {
            let arguments = json!({ "ms": 20 });
            let nap = async {
                client.call_tool("nap", &arguments).await?;
                Ok(true)
            };
            let given_up = async {
                Timer::after(Duration::from_millis(5)).await;
                Ok(false)
            };
            return nap.or(given_up).await;
        }
        6 => match client.call_tool("none", &()).await {
            Err(CallError::Protocol(_)) => {}
            Err(other) => return Err(other),
            Ok(outcome) => panic!("there is no such tool: {outcome:?}"),
        },
        _ => {
            let text = format!("{chance}{}", "é".repeat(size / 2));
            let said = client.call_tool("echo", &json!({ "text": text })).await?;
            assert_eq!(said.text(), text, "the answer is that of another call");
        }
    }
    Ok(true)
}
