//! What a call waits for, and what it does not.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use mcp_std::client::{CallError, Canceller};
use mcp_std::host::{
    AskAbout, CallHooks, Decision, Doing, ExecuteError, Flow, Invocation, Middleware, RateLimit,
    ResultCache, ServerConfig, ToolCall, TrustStore,
};
use mcp_std::{Server, Tool};
use serde_json::json;

use crate::{built, host, parrots};

fn call(name: &str) -> ToolCall {
    ToolCall::new("1", name, json!({}))
}

/// Never goes on.
struct Stuck;

impl Middleware for Stuck {
    fn before<'a>(&'a self, _: &'a mut Invocation) -> Doing<'a, Result<Flow, ExecuteError>> {
        Box::pin(core::future::pending())
    }
}

#[test]
fn a_call_that_waits_for_a_yes_or_for_middleware_can_be_cancelled() {
    smol::block_on(async {
        let server = || ServerConfig::in_process("a", &parrots("a", &["t"]));
        let asks = host([server()]).approval(AskAbout::All, |_| core::future::pending());
        for host in [asks.start(), host([server()]).middleware(Stuck).start()] {
            host.settled().await;
            let session = host.session();
            let snapshot = session.snapshot();
            let canceller = Canceller::new();
            let hooks = CallHooks::new().canceller(&canceller);
            let cancels = async {
                smol::Timer::after(Duration::from_millis(50)).await;
                canceller.cancel();
                smol::Timer::after(Duration::from_secs(1)).await;
                panic!("it goes on waiting");
            };
            let called = session.call_with(&snapshot, call("a__t"), &hooks);
            let reply = smol::future::or(called, cancels).await;
            let error = reply.outcome.expect_err("it was cancelled");
            let ExecuteError::Call(error) = error else {
                panic!("{error}");
            };
            assert!(matches!(*error, CallError::Cancelled), "{error}");
            host.close().await;
        }
    });
}

#[test]
fn a_server_whose_calls_wait_for_their_turns_holds_up_no_other() {
    smol::block_on(async {
        let slow = ServerConfig::in_process("slow", &parrots("slow", &["t"]))
            .rate_limit(RateLimit::new(1, Duration::from_secs(60)));
        let quick = ServerConfig::in_process("quick", &parrots("quick", &["t"]));
        let host = host([slow, quick]).max_concurrent(1).start();
        host.settled().await;
        let session = host.session();
        let snapshot = session.snapshot();
        assert_eq!(session.call(&snapshot, call("slow__t")).await.text(), "t");
        let waits = async {
            session.call(&snapshot, call("slow__t")).await;
            panic!("it has its turn in a minute");
        };
        let other = async {
            smol::Timer::after(Duration::from_millis(50)).await;
            let hooks = CallHooks::new().timeout(Duration::from_secs(5));
            session.call_with(&snapshot, call("quick__t"), &hooks).await
        };
        let reply = smol::future::or(waits, other).await;
        assert_eq!(reply.text(), "t");
        host.close().await;
    });
}

#[test]
fn calls_that_were_never_made_leave_their_turns_to_others() {
    smol::block_on(async {
        let server = ServerConfig::in_process("a", &parrots("a", &["t"]))
            .rate_limit(RateLimit::new(1, Duration::from_millis(500)));
        let host = host([server]).start();
        host.settled().await;
        let session = host.session();
        let snapshot = session.snapshot();
        assert_eq!(session.call(&snapshot, call("a__t")).await.text(), "t");
        let hooks = CallHooks::new().timeout(Duration::from_millis(5));
        for _ in 0..20 {
            let late = session.call_with(&snapshot, call("a__t"), &hooks).await;
            assert!(
                matches!(late.outcome, Err(ExecuteError::TimedOut(_))),
                "{late:?}"
            );
        }
        let started = Instant::now();
        assert_eq!(session.call(&snapshot, call("a__t")).await.text(), "t");
        assert!(
            started.elapsed() < Duration::from_secs(3),
            "{:?}",
            started.elapsed()
        );
        host.close().await;
    });
}

fn says(description: &'static str, text: &'static str) -> Server {
    let tool = Tool::new("say", description, move || async move { text }).read_only(true);
    built(Server::builder("a", "1").with_tool(tool))
}

#[test]
fn what_is_remembered_of_a_tool_is_for_those_who_may_call_it() {
    smol::block_on(async {
        let asked = Arc::new(AtomicUsize::new(0));
        let count = asked.clone();
        let host = host([ServerConfig::in_process("a", &says("Says it", "one"))])
            .approval(AskAbout::All, move |_| {
                let first = count.fetch_add(1, Ordering::SeqCst) == 0;
                async move {
                    match first {
                        true => Decision::Once,
                        false => Decision::Deny("not again".to_owned()),
                    }
                }
            })
            .middleware(ResultCache::new(Duration::from_secs(60), 10))
            .start();
        host.settled().await;
        for session in [host.session(), host.session()] {
            let reply = session.call(&session.snapshot(), call("a__say")).await;
            let denied = matches!(reply.outcome, Err(ExecuteError::NotApproved(_)));
            assert_eq!(denied, asked.load(Ordering::SeqCst) == 2, "{reply:?}");
        }
        assert_eq!(asked.load(Ordering::SeqCst), 2);
        host.close().await;
    });
}

#[test]
fn an_answer_of_what_a_tool_was_is_none_of_what_it_is() {
    smol::block_on(async {
        let server = built(
            Server::builder("a", "1")
                .with_tool(Tool::new("say", "Says it", || async { "one" }).read_only(true))
                .list_changes(),
        );
        let host = host([ServerConfig::in_process("a", &server)])
            .guards(mcp_std::host::Guards::off())
            .trust(&TrustStore::new())
            .middleware(ResultCache::new(Duration::from_secs(60), 10))
            .start();
        host.settled().await;
        let session = host.session();
        let first = session.call(&session.snapshot(), call("a__say")).await;
        assert_eq!(first.text(), "one");
        server.remove_tool("say").expect("it may change");
        let tool = Tool::new("say", "Says another thing", || async { "two" }).read_only(true);
        server.add_tool(tool).expect("it is new");
        let late = Instant::now() + Duration::from_secs(20);
        loop {
            let snapshot = session.snapshot();
            let what = snapshot.get("a__say");
            let what = what.and_then(|it| it.description.as_deref());
            if what == Some("Says another thing") {
                let second = session.call(&snapshot, call("a__say")).await;
                assert_eq!(second.text(), "two");
                break;
            }
            assert!(Instant::now() < late, "it has changed");
            smol::Timer::after(Duration::from_millis(5)).await;
        }
        host.close().await;
    });
}
