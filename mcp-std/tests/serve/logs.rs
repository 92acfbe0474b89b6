//! Log messages of handlers, and what a request says besides its arguments.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_io::Timer;
use mcp_std::{Context, LoggingLevel, Server};
use serde_json::{Value, json};

use crate::peer::{Peer, modern, request, serve};

async fn chatty(context: Context) -> &'static str {
    context.log(LoggingLevel::Debug, None, "fine").await;
    context
        .log(LoggingLevel::Warning, Some("db"), &json!({ "left": 1 }))
        .await;
    "done"
}

fn server(logging: bool) -> Server {
    let server = Server::builder("logs", "1")
        .tool("chatty", "", chatty)
        .tool("trace", "", |context: Context| async move {
            let trace = context.trace_context();
            let own = context
                .meta()
                .is_some_and(|meta| meta.as_str().contains("example.com/own"));
            format!(
                "{:?} {:?} {:?} {own}",
                trace.traceparent, trace.tracestate, trace.baggage
            )
        });
    let server = if logging { server.logging() } else { server };
    server.build().expect("a server")
}

/// What is logged during a call, up to its result.
async fn logged(peer: &mut Peer, params: &Value) -> Vec<Value> {
    peer.send(&request("1", "tools/call", params)).await;
    let mut logged = Vec::new();
    loop {
        let message = peer.message().await;
        if message["id"] == "1" {
            return logged;
        }
        assert_eq!(message["method"], "notifications/message", "{message}");
        logged.push(message["params"].clone());
    }
}

#[test]
fn a_session_hears_what_it_wants_to() {
    let call = json!({ "name": "chatty" });
    let end = serve(&server(true), |mut peer| async move {
        let hello = peer.handshake("2025-11-25", &json!({})).await;
        assert_eq!(hello["capabilities"]["logging"], json!({}));
        let warning = json!({ "level": "warning", "logger": "db", "data": { "left": 1 } });
        for (level, expected) in [
            (
                "debug",
                vec![json!({ "level": "debug", "data": "fine" }), warning.clone()],
            ),
            ("warning", vec![warning]),
            ("error", vec![]),
        ] {
            let set = peer
                .request("0", "logging/setLevel", &json!({ "level": level }))
                .await;
            assert_eq!(set, json!({}));
            assert_eq!(logged(&mut peer, &call).await, expected, "{level}");
        }
        assert_eq!(peer.rest().await, [Value::Null; 0]);
    });
    end.expect("sockets do not fail");
}

/// LOG-04.
#[test]
fn a_modern_request_hears_what_it_asks_for() {
    let end = serve(&server(true), |mut peer| async move {
        for (level, expected) in [
            (None, 0),
            (Some("debug"), 2),
            (Some("warning"), 1),
            (Some("alert"), 0),
        ] {
            let mut call = modern(&json!({ "name": "chatty" }), &json!({}));
            if let Some(level) = level {
                call["_meta"]["io.modelcontextprotocol/logLevel"] = level.into();
            }
            assert_eq!(logged(&mut peer, &call).await.len(), expected, "{level:?}");
        }
        assert_eq!(peer.rest().await, [Value::Null; 0]);
    });
    end.expect("sockets do not fail");
}

#[test]
fn what_was_not_declared_is_not_sent() {
    let end = serve(&server(false), |mut peer| async move {
        let hello = peer.handshake("2025-11-25", &json!({})).await;
        assert_eq!(hello["capabilities"].get("logging"), None);
        assert_eq!(
            logged(&mut peer, &json!({ "name": "chatty" })).await,
            [Value::Null; 0]
        );
        assert_eq!(peer.rest().await, [Value::Null; 0]);
    });
    end.expect("sockets do not fail");
}

#[test]
fn dx_06_the_trace_context_is_there() {
    let end = serve(&server(false), |mut peer| async move {
        peer.handshake("2025-06-18", &json!({})).await;
        let none = peer
            .request("1", "tools/call", &json!({ "name": "trace" }))
            .await;
        assert_eq!(none["content"][0]["text"], "None None None false");
        let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let meta = json!({ "traceparent": parent, "baggage": "a=\u{e9}", "example.com/own": 1 });
        let traced = json!({ "name": "trace", "_meta": meta });
        let expected = format!("Some({parent:?}) None Some(\"a=\u{e9}\") true");
        let legacy = peer.request("2", "tools/call", &traced).await;
        assert_eq!(legacy["content"][0]["text"], expected);
        let modern = peer.modern("3", "tools/call", &traced, &json!({})).await;
        assert_eq!(modern["content"][0]["text"], expected);
        assert_eq!(peer.rest().await, [Value::Null; 0]);
    });
    end.expect("sockets do not fail");
}

/// Messages that nobody reads are bounded by their bytes, however few they are.
#[test]
fn long_messages_wait_for_their_reader() {
    const LENGTH: usize = 30_000;
    let logged = Arc::new(AtomicUsize::new(0));
    let counts = logged.clone();
    let server = Server::builder("long", "1")
        .logging()
        .tool("long", "", move |context: Context| {
            let counts = counts.clone();
            async move {
                let text = "x".repeat(LENGTH);
                for _ in 0..200 {
                    context.log(LoggingLevel::Error, None, &text).await;
                    counts.fetch_add(1, Ordering::Relaxed);
                }
                "done"
            }
        })
        .build()
        .expect("a server");
    let end = serve(&server, |mut peer| async move {
        peer.handshake("2025-11-25", &json!({})).await;
        peer.send(&request("1", "tools/call", &json!({ "name": "long" })))
            .await;
        Timer::after(Duration::from_millis(500)).await;
        // What the socket holds, 1 MiB of output, and what waits for that to be written.
        let waiting = logged.load(Ordering::Relaxed) * LENGTH;
        assert!(waiting < 2 * 1024 * 1024, "{waiting} bytes");
        for _ in 0..200 {
            assert_eq!(peer.message().await["method"], "notifications/message");
        }
        assert_eq!(peer.message().await["id"], "1");
    });
    end.expect("sockets do not fail");
}
