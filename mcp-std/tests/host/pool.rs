//! Connections: none waits for another, and each ends.

use std::time::{Duration, Instant};

use mcp_std::host::{Backoff, HostConfig, Pool, PoolOptions, ServerConfig, ServerState, Variables};

use crate::{MCP, child};

fn start(config: HostConfig) -> Pool {
    let backoff = Backoff::new(3, Duration::from_millis(20));
    Pool::start(config, PoolOptions::new("test", "1").backoff(backoff))
}

fn state(pool: &Pool, server: &str) -> ServerState {
    let status = pool.status();
    let found = status.iter().find(|it| &*it.name == server);
    found.expect("it is in the configuration").state
}

/// Waits for a state that has to come.
async fn until(pool: &Pool, server: &str, wanted: ServerState) {
    let late = Instant::now() + Duration::from_secs(20);
    while state(pool, server) != wanted {
        assert!(Instant::now() < late, "{:?}", pool.status());
        smol::Timer::after(Duration::from_millis(5)).await;
    }
}

#[test]
fn one_that_fails_holds_up_nobody() {
    let text = r#"{"mcpServers": {
        "silent": {"command": "sleep", "args": ["60"], "startupTimeout": 60},
        "gone": {"command": "no-such-program"},
        "off": {"command": "no-such-program", "disabled": true},
        "unset": {"command": "x", "env": {"TOKEN": "${NOT_SET}"}},
        "good": {"command": "${MCP}", "args": ["serve"]}
    }}"#;
    let config = HostConfig::parse(text, Variables::new().var("MCP", MCP)).expect("it is right");
    smol::block_on(async {
        let pool = start(config);
        let called = pool.client("good").await.expect("it is there");
        let echoed = called
            .call_tool("echo", &serde_json::json!({"text": "hi"}))
            .await;
        assert_eq!(echoed.expect("it answers").text(), "hi");
        assert_eq!(state(&pool, "silent"), ServerState::Connecting);
        until(&pool, "gone", ServerState::Failed).await;
        assert_eq!(state(&pool, "off"), ServerState::Disabled);
        assert_eq!(state(&pool, "unset"), ServerState::Failed);
        let unset = pool.client("unset").await.expect_err("it has no token");
        assert!(unset.why.contains("mcpServers.unset.env.TOKEN"), "{unset}");
        let gone = pool.status().remove(1).fault.expect("it has failed");
        assert!(gone.advice.contains("PATH"), "{gone:?}");
        let nobody = pool.client("nobody").await;
        assert!(nobody.is_err());
        let closing = Instant::now();
        pool.close().await;
        assert!(closing.elapsed() < Duration::from_secs(10));
        assert!(pool.client("good").await.is_err());
        assert!(called.closed().is_some());
    });
}

#[test]
fn a_server_that_ends_is_started_again_until_it_is_enough() {
    smol::block_on(async {
        let pool = start(HostConfig::new().server(child("a")));
        pool.settled().await;
        let first = pool.client("a").await.expect("it is there");
        // Closing it from here looks to the pool like an end of the server.
        first.close().await;
        let late = Instant::now() + Duration::from_secs(20);
        // It is still as ready as it was until the pool has seen that.
        while pool.status()[0].restarts == 0 {
            assert!(Instant::now() < late, "the end is seen");
            smol::Timer::after(Duration::from_millis(5)).await;
        }
        until(&pool, "a", ServerState::Ready).await;
        let again = pool.client("a").await.expect("it is there again");
        assert!(again.list_tools().await.is_ok());
        assert_eq!(pool.status()[0].restarts, 1);
        pool.close().await;

        let ends = ServerConfig::stdio("b", "sh").args(["-c", "exit 3"]);
        let pool = start(HostConfig::new().server(ends));
        until(&pool, "b", ServerState::Failed).await;
        assert_eq!(pool.status()[0].restarts, 3);
        assert!(pool.reconnect("b"));
        until(&pool, "b", ServerState::Connecting).await;
        assert!(!pool.reconnect("nobody"));
        pool.close().await;
    });
}

#[cfg(unix)]
#[test]
fn dropping_the_last_clone_ends_the_children() {
    smol::block_on(async {
        let file = std::env::temp_dir().join(format!("mcp-host-{}", std::process::id()));
        let script = format!("echo $$ > {}; exec {MCP} serve", file.display());
        let server = ServerConfig::stdio("a", "sh").args(["-c", &script]);
        let pool = start(HostConfig::new().server(server));
        pool.settled().await;
        let id = std::fs::read_to_string(&file).expect("it was started");
        let _ = std::fs::remove_file(&file);
        let process = std::path::PathBuf::from(format!("/proc/{}", id.trim()));
        let clone = pool.clone();
        drop(pool);
        assert!(clone.client("a").await.is_ok());
        drop(clone);
        let late = Instant::now() + Duration::from_secs(20);
        while cfg!(target_os = "linux") && process.exists() {
            assert!(Instant::now() < late, "it is still there");
            smol::Timer::after(Duration::from_millis(5)).await;
        }
    });
}
