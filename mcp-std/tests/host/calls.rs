//! Calls, on their way and back.

use std::io::{self, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use mcp_std::client::Canceller;
use mcp_std::host::{
    AskAbout, AuditLog, CallHooks, CircuitBreaker, Decision, ExecuteError, HostConfig, RateLimit,
    RedactResults, Redactor, ResultCache, ServerConfig, Session, ToolCall, Trace,
};
use mcp_std::{Context, Server, Tool};
use serde_json::{Value, json};

use crate::{built, child, host, parrots};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nap {
    ms: u64,
}

async fn nap(args: Nap) -> String {
    smol::Timer::after(Duration::from_millis(args.ms)).await;
    args.ms.to_string()
}

fn napper() -> Server {
    built(Server::builder("nap", "1").tool("nap", "Sleeps", nap))
}

fn naps(times: &[u64]) -> Vec<ToolCall> {
    let call =
        |(at, ms): (usize, &u64)| ToolCall::new(at.to_string(), "nap__nap", json!({"ms": ms}));
    times.iter().enumerate().map(call).collect()
}

async fn called(session: &Session, calls: Vec<ToolCall>) -> Vec<String> {
    let snapshot = session.snapshot();
    let replies = session.call_all(&snapshot, calls, &CallHooks::new()).await;
    replies
        .iter()
        .map(|reply| format!("{}:{}", reply.id, reply.text()))
        .collect()
}

#[test]
fn replies_are_in_the_order_of_the_calls_over_children() {
    smol::block_on(async {
        let host = host([child("one"), child("two")]).start();
        host.settled().await;
        let session = host.session();
        let slow = |server: &str, steps: u32| {
            ToolCall::new(
                format!("s{steps}"),
                format!("{server}__slow"),
                json!({"steps": steps, "delay_ms": 20}),
            )
        };
        let snapshot = session.snapshot();
        let calls = vec![
            slow("one", 10),
            ToolCall::new("e", "two__echo", json!({"text": "hi"})),
            slow("two", 5),
            ToolCall::new("f", "one__fail", json!({"message": "no"})),
            ToolCall::new("u", "one__nothing", json!({})),
            ToolCall::new("w", "two__add", json!({"a": "x"})),
        ];
        let progress = Arc::new(Mutex::new(Vec::new()));
        let told = progress.clone();
        let hooks = CallHooks::new().on_progress(move |id, _| {
            told.lock().expect("nobody panics").push(id.to_owned());
        });
        let started = Instant::now();
        let replies = session.call_all(&snapshot, calls, &hooks).await;
        let ids: Vec<_> = replies.iter().map(|reply| &*reply.id).collect();
        assert_eq!(ids, ["s10", "e", "s5", "f", "u", "w"]);
        assert!(started.elapsed() < Duration::from_secs(5));
        assert_eq!(replies[1].text(), "hi");
        // The tool failed: the model is to read it. There is none: so it is told.
        assert!(matches!(&replies[3].outcome, Ok(result) if result.is_error));
        let Err(ExecuteError::UnknownTool { near, .. }) = &replies[4].outcome else {
            panic!("{:?}", replies[4]);
        };
        assert!(
            near.iter().any(|name| name.starts_with("one__")),
            "{near:?}"
        );
        assert!(replies[5].is_error());
        let progress = progress.lock().expect("nobody panics").clone();
        assert!(progress.iter().any(|id| id == "s10") && progress.iter().any(|id| id == "s5"));
        host.close().await;
    });
}

#[test]
fn calls_wait_for_their_turns() {
    smol::block_on(async {
        let most = Arc::new(AtomicUsize::new(0));
        let now = Arc::new(AtomicUsize::new(0));
        let (seen, running) = (most.clone(), now.clone());
        let counts = Tool::new("nap", "Sleeps", move |args: Nap| {
            let (seen, running) = (seen.clone(), running.clone());
            async move {
                seen.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                let text = nap(args).await;
                running.fetch_sub(1, Ordering::SeqCst);
                text
            }
        });
        let server = built(Server::builder("nap", "1").with_tool(counts));
        let limited = ServerConfig::in_process("nap", &server)
            .max_concurrent(3)
            .rate_limit(RateLimit::new(10, Duration::from_millis(500)));
        let host = host([limited]).start();
        host.settled().await;
        let started = Instant::now();
        let replies = called(&host.session(), naps(&[10; 14])).await;
        assert_eq!(replies.len(), 14);
        assert_eq!(most.load(Ordering::SeqCst), 3);
        // Ten at once, and four more at one each 50 ms.
        assert!(
            started.elapsed() >= Duration::from_millis(190),
            "{:?}",
            started.elapsed()
        );
        host.close().await;
    });
}

#[test]
fn a_call_ends_in_time_and_when_it_is_cancelled() {
    smol::block_on(async {
        let host = host([ServerConfig::in_process("nap", &napper())]).start();
        host.settled().await;
        let session = host.session();
        let snapshot = session.snapshot();
        let hooks = CallHooks::new().timeout(Duration::from_millis(500));
        let replies = session
            .call_all(&snapshot, naps(&[60_000, 1]), &hooks)
            .await;
        assert!(
            matches!(replies[0].outcome, Err(ExecuteError::TimedOut(_))),
            "{replies:?}"
        );
        assert_eq!(replies[1].text(), "1");
        let canceller = Canceller::new();
        let hooks = CallHooks::new().canceller(&canceller);
        let cancels = async {
            smol::Timer::after(Duration::from_millis(30)).await;
            canceller.cancel();
        };
        let calls = session.call_all(&snapshot, naps(&[60_000, 60_000]), &hooks);
        let (replies, ()) = futures_lite::future::zip(calls, cancels).await;
        assert!(
            replies
                .iter()
                .all(|reply| reply.text().contains("cancelled")),
            "{replies:?}"
        );
        host.close().await;
    });
}

#[test]
fn a_server_that_does_not_answer_is_left_alone() {
    smol::block_on(async {
        let host = host([
            ServerConfig::in_process("nap", &napper()),
            ServerConfig::in_process("b", &parrots("b", &["t"])),
        ])
        .circuit_breaker(CircuitBreaker::new(2, Duration::from_secs(2)))
        .call_timeout(Duration::from_millis(500))
        .start();
        host.settled().await;
        let session = host.session();
        for _ in 0..2 {
            let replies = called(&session, naps(&[60_000])).await;
            assert!(replies[0].contains("within"), "{replies:?}");
        }
        let replies = called(&session, naps(&[1])).await;
        assert!(replies[0].contains("failed too often"), "{replies:?}");
        // Others go on, and so does this one after a while.
        let other = called(&session, vec![ToolCall::new("o", "b__t", json!({}))]).await;
        assert_eq!(other, ["o:t"]);
        smol::Timer::after(Duration::from_millis(2010)).await;
        assert_eq!(called(&session, naps(&[1])).await, ["0:1"]);
        host.close().await;
    });
}

/// A writer that others can read.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0
            .lock()
            .expect("nobody panics")
            .extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Lines {
    fn records(&self) -> Vec<Value> {
        let bytes = self.0.lock().expect("nobody panics");
        let text = String::from_utf8(bytes.clone()).expect("UTF-8");
        text.lines()
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect()
    }
}

#[test]
fn what_is_approved_is_remembered_and_each_call_is_written_down() {
    smol::block_on(async {
        let asked = Arc::new(Mutex::new(Vec::new()));
        let seen = asked.clone();
        let lines = Lines::default();
        let tools = parrots("a", &["once", "session", "always", "never", "free"]);
        let host = host([ServerConfig::in_process("a", &tools).approved(["fr*"])])
            .audit(AuditLog::new(lines.clone()))
            .approval(AskAbout::All, move |request| {
                let tool = request.tool.tool.clone();
                seen.lock().expect("nobody panics").push(tool.clone());
                async move {
                    match &*tool {
                        "once" => Decision::Once,
                        "session" => Decision::Session,
                        "always" => Decision::Always,
                        _ => Decision::Deny("not today".to_owned()),
                    }
                }
            })
            .start();
        host.settled().await;
        let round = |id: &str| -> Vec<ToolCall> {
            ["once", "session", "always", "never", "free"]
                .iter()
                .map(|tool| ToolCall::new(id, format!("a__{tool}"), json!({"password": "hunter2"})))
                .collect()
        };
        let session = host.session();
        let first = called(&session, round("1")).await;
        assert!(first[3].contains("not today"), "{first:?}");
        called(&session, round("2")).await;
        called(&host.session(), round("3")).await;
        let expected = [
            "once", "session", "always", "never", "once", "never", "once", "session", "never",
        ];
        assert_eq!(*asked.lock().expect("nobody panics"), expected);
        let records = lines.records();
        assert_eq!(records.len(), 15);
        assert!(!format!("{records:?}").contains("hunter2"));
        let approvals = records.iter().filter(|it| it["call"] == "3");
        let mut approvals: Vec<_> = approvals.map(|it| it["approval"].as_str()).collect();
        approvals.sort();
        assert_eq!(
            approvals,
            ["configured", "denied", "once", "remembered", "session"]
                .map(Some)
                .to_vec()
        );
        let denied = records
            .iter()
            .find(|it| it["tool"] == "never")
            .expect("it is there");
        assert_eq!(denied["outcome"], "error");
        host.close().await;
    });
}

#[test]
fn servers_get_the_trace() {
    smol::block_on(async {
        let tells = Tool::new("trace", "", |context: Context| async move {
            context.trace_context().traceparent.unwrap_or_default()
        });
        let server = built(Server::builder("a", "1").with_tool(tells));
        let host = host([ServerConfig::in_process("a", &server)]).start();
        host.settled().await;
        let session = host.session();
        let snapshot = session.snapshot();
        let call = || ToolCall::new("1", "a__trace", json!({}));
        let own = session.call(&snapshot, call()).await.text();
        let own = Trace::parse(&own).expect("it is one");
        assert_eq!(own.id(), session.trace().id());
        let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        let hooks = CallHooks::new().trace(Trace::parse(parent).expect("it is one"));
        let given = session.call_with(&snapshot, call(), &hooks).await.text();
        assert!(
            given.starts_with("00-4bf92f3577b34da6a3ce929d0e0e4736-"),
            "{given}"
        );
        assert!(
            !given.contains("00f067aa0ba902b7"),
            "each call is a span of its own"
        );
        host.close().await;
    });
}

#[test]
fn middleware_caches_and_redacts() {
    smol::block_on(async {
        let times = Arc::new(AtomicUsize::new(0));
        let counted = times.clone();
        let says = Tool::new("say", "", move || {
            counted.fetch_add(1, Ordering::SeqCst);
            async { "the key is k-123456" }
        })
        .read_only(true);
        let server = built(Server::builder("a", "1").with_tool(says));
        let secret = ServerConfig::http("b", "http://127.0.0.1:1/")
            .header("X-Api-Key", "k-123456")
            .disabled();
        let redactor = Redactor::of(&HostConfig::new().server(secret));
        let host = host([ServerConfig::in_process("a", &server)])
            .middleware(RedactResults::new(redactor))
            .middleware(ResultCache::new(Duration::from_secs(60), 10))
            .start();
        host.settled().await;
        let session = host.session();
        for _ in 0..3 {
            let said = called(&session, vec![ToolCall::new("1", "a__say", json!({}))]).await;
            assert_eq!(said, ["1:the key is [redacted]"]);
        }
        assert_eq!(times.load(Ordering::SeqCst), 1);
        host.close().await;
    });
}

#[test]
fn each_call_is_a_span() {
    use tracing_subscriber::fmt::format::FmtSpan;
    let lines = Lines::default();
    let writer = lines.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_writer(move || writer.clone())
        .with_ansi(false)
        .with_span_events(FmtSpan::CLOSE)
        .finish();
    tracing::subscriber::with_default(subscriber, || {
        smol::block_on(async {
            let host = host([ServerConfig::in_process("a", &parrots("a", &["t"]))]).start();
            host.settled().await;
            called(
                &host.session(),
                vec![ToolCall::new("call_7", "a__t", json!({"x": "hunter2"}))],
            )
            .await;
            host.close().await;
        });
    });
    let bytes = lines.0.lock().expect("nobody panics").clone();
    let text = String::from_utf8(bytes).expect("UTF-8");
    let closed = text
        .lines()
        .find(|line| line.contains("execute_tool") && line.contains("close"));
    let closed = closed.expect("there is one");
    for part in [
        "gen_ai.tool.name=\"a__t\"",
        "gen_ai.tool.call.id=\"call_7\"",
        "outcome=\"ok\"",
        "trace_id=",
    ] {
        assert!(closed.contains(part), "{part}: {closed}");
    }
    assert!(!text.contains("hunter2"));
}
