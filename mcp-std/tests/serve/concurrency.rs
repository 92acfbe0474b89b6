//! How many handlers run at a time, and what becomes of the calls that wait.

use std::future::pending;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_io::Timer;
use mcp_std::{Server, ServerBuilder};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::peer::{call, cancel, ids, session};

#[derive(Deserialize, JsonSchema)]
struct Numbered {
    n: u32,
    #[serde(default)]
    #[expect(dead_code, reason = "takes room while it waits")]
    filler: String,
}

#[derive(Default)]
struct Seen {
    running: AtomicUsize,
    peak: AtomicUsize,
    started: Mutex<Vec<u32>>,
}

impl Seen {
    fn started(&self) -> Vec<u32> {
        self.started.lock().expect("nothing panics").clone()
    }
}

/// `work` takes a while, `hang` for ever; both are seen.
fn builder() -> (ServerBuilder, Arc<Seen>) {
    let seen = Arc::new(Seen::default());
    let (work, hang) = (seen.clone(), seen.clone());
    let builder = Server::builder("concurrency", "1")
        .tool("work", "", move |args: Numbered| {
            let seen = work.clone();
            async move {
                seen.started.lock().expect("nothing panics").push(args.n);
                let running = seen.running.fetch_add(1, Ordering::SeqCst) + 1;
                seen.peak.fetch_max(running, Ordering::SeqCst);
                Timer::after(Duration::from_millis(10)).await;
                seen.running.fetch_sub(1, Ordering::SeqCst);
                args.n.to_string()
            }
        })
        .tool("hang", "", move |args: Numbered| {
            let seen = hang.clone();
            async move {
                seen.started.lock().expect("nothing panics").push(args.n);
                pending::<()>().await;
            }
        });
    (builder, seen)
}

fn numbered(n: u64) -> String {
    format!(r#"{{"n":{n}}}"#)
}

#[test]
fn two_at_a_time_in_the_order_they_came() {
    let (builder, seen) = builder();
    let server = builder.max_concurrent(2).build().expect("a server");
    session(&server, |mut peer| async move {
        let calls: Vec<_> = (0..20).map(|n| call(n, "work", &numbered(n))).collect();
        peer.send(&calls.join("\n")).await;
        // The end of input does not lose those that wait.
        let mut answered = ids(&peer.rest().await);
        answered.sort_unstable();
        assert_eq!(answered, (0..20).collect::<Vec<_>>());
    });
    assert_eq!(seen.peak.load(Ordering::SeqCst), 2);
    assert_eq!(seen.started(), (0..20).collect::<Vec<_>>());
}

/// Many that wait, and that complete as soon as they are started.
#[test]
fn calls_that_waited_and_are_done_at_once() {
    let (builder, _) = builder();
    let server = builder
        .tool("echo", "", |args: Numbered| async move {
            args.n.to_string() + &"x".repeat(10_000)
        })
        .max_concurrent(1)
        .build()
        .expect("a server");
    session(&server, |mut peer| async move {
        let calls: Vec<_> = (1..=1000).map(|n| call(n, "echo", &numbered(n))).collect();
        peer.send(&(call(0, "work", "{\"n\":0}") + "\n" + &calls.join("\n")))
            .await;
        assert_eq!(ids(&peer.rest().await), (0..=1000).collect::<Vec<_>>());
    });
}

#[test]
fn a_call_is_refused_when_too_many_bytes_wait() {
    let (builder, seen) = builder();
    let server = builder.max_concurrent(1).max_waiting(100).build();
    session(&server.expect("a server"), |mut peer| async move {
        let args = |n: u64| format!(r#"{{"n":{n},"filler":"{}"}}"#, "x".repeat(40));
        let calls: Vec<_> = (0..3).map(|n| call(n, "work", &args(n))).collect();
        peer.send(&calls.join("\n")).await;
        // One runs, one waits, and the third is told at once.
        let refused = peer.message().await;
        assert_eq!(refused["id"], 2);
        assert_eq!(refused["error"]["code"], -32603);
        let why = refused["error"]["message"].as_str().expect("a message");
        assert!(why.starts_with("Server busy"), "{why}");
        for n in 0..2 {
            assert_eq!(peer.message().await["id"], n);
        }
        // The room is there again.
        peer.send(&[call(3, "work", &args(3)), call(4, "work", &args(4))].join("\n"))
            .await;
        for n in 3..5 {
            assert_eq!(
                peer.message().await["result"]["content"][0]["text"],
                n.to_string()
            );
        }
        assert_eq!(peer.rest().await.len(), 0);
    });
    assert_eq!(seen.started(), [0, 1, 3, 4]);
}

#[test]
fn a_call_that_is_cancelled_while_it_waits_never_runs() {
    let (builder, seen) = builder();
    let server = builder.max_concurrent(1).max_waiting(100).build();
    session(&server.expect("a server"), |mut peer| async move {
        peer.call(0, "hang", &numbered(0)).await;
        // Each gives back its room: more of them than can wait at a time.
        for n in 1..200 {
            let args = format!(r#"{{"n":{n},"filler":"{}"}}"#, "x".repeat(60));
            peer.send(&(call(n, "work", &args) + "\n" + &cancel(n)))
                .await;
        }
        peer.call(200, "work", &numbered(200)).await;
        peer.send(&cancel(0)).await;
        assert_eq!(ids(&peer.rest().await), [200]);
    });
    assert_eq!(seen.started(), [0, 200]);
}

#[test]
fn nobody_overtakes_those_who_wait() {
    let (builder, seen) = builder();
    let server = builder.max_concurrent(1).build().expect("a server");
    session(&server, |mut peer| async move {
        // In one write: the place that the cancelled one leaves is for the one that waits.
        let lines = [
            call(0, "hang", &numbered(0)),
            call(1, "work", &numbered(1)),
            cancel(0),
            call(2, "work", &numbered(2)),
        ];
        peer.send(&lines.join("\n")).await;
        assert_eq!(ids(&peer.rest().await), [1, 2]);
    });
    assert_eq!(seen.started(), [0, 1, 2]);
}

/// Arguments that are deeper than the default limit, where a server allows it.
#[test]
fn deep_arguments_wait_unharmed() {
    let depth = 200;
    let server = Server::builder("deep", "1")
        .tool("hang", "", || async {
            Timer::after(Duration::from_millis(20)).await;
        })
        .tool("deep", "", |_: serde_json::Value| async { "decoded" })
        .max_concurrent(1)
        .limits({
            let mut limits = mcp_std::Limits::DEFAULT;
            limits.max_depth = 512;
            limits
        })
        .build()
        .expect("a server");
    session(&server, |mut peer| async move {
        let deep = format!(r#"{{"a":{}{}}}"#, "[".repeat(depth), "]".repeat(depth));
        let direct = peer.answer(0, "deep", &deep).await;
        peer.call(1, "hang", "{}").await;
        peer.call(2, "deep", &deep).await;
        assert_eq!(peer.message().await["id"], 1);
        assert_eq!(peer.message().await["result"], direct);
        assert_eq!(peer.rest().await.len(), 0);
    });
}
