//! 2026-07-28: each request is an exchange of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_io::Timer;
use mcp_std::model::LoggingLevel;
use mcp_std::{Context, Progress, Server};
use serde_json::json;

use crate::site::{Request, Site, cancel, notification, said, until};

/// Counts what was dropped before its end.
struct Dropped(Arc<AtomicUsize>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::AcqRel);
    }
}

fn server() -> (Server, Arc<AtomicUsize>) {
    let cancelled = Arc::new(AtomicUsize::new(0));
    let counter = cancelled.clone();
    let server = Server::builder("modern", "1")
        .logging()
        .tool("now", "", || async { "now" })
        .tool("logs", "", |context: Context| async move {
            context.log(LoggingLevel::Info, None, "one").await;
            context.progress(Progress::new(1.0)).await;
            context
                .log(LoggingLevel::Debug, None, "not asked for")
                .await;
            "logged"
        })
        .tool("ever", "", move |context: Context| {
            let dropped = Dropped(counter.clone());
            async move {
                let _dropped = dropped;
                context.progress(Progress::new(1.0)).await;
                Timer::after(Duration::from_secs(60)).await;
                "at last"
            }
        })
        .build()
        .expect("a server");
    (server, cancelled)
}

fn call(id: u64, tool: &str) -> Request {
    let params = json!({
        "name": tool,
        "_meta": { "progressToken": id, "io.modelcontextprotocol/logLevel": "info" },
    });
    Request::modern(id, "tools/call", &params)
}

/// HTTP-13, HTTP-15, HTTP-19: notifications about the request, then its answer, then the end; no ids.
#[test]
fn a_stream_is_of_one_request() {
    let site = Site::new(&server().0);
    let mut client = site.connect();
    for id in 0..20 {
        client.send(&call(id, "logs"));
        let events = client.response().events();
        let messages: Vec<_> = events.iter().map(|event| event.message()).collect();
        assert_eq!(messages.len(), 3, "{messages:?}");
        assert_eq!(messages[0]["params"]["data"], "one");
        assert_eq!(messages[1]["params"]["progressToken"], id);
        assert_eq!(
            (said(&messages[2]), &messages[2]["id"]),
            ("logged", &json!(id))
        );
        for event in events {
            assert_eq!((event.id, event.retry, event.name), (None, None, None));
        }
    }
}

/// HTTP-22, HTTP-23: whether the response has begun or not.
#[test]
fn leaving_is_cancellation() {
    let (server, cancelled) = server();
    let site = Site::new(&server);
    let mut stream = site.connect().stream(&call(1, "ever"));
    assert_eq!(stream.message()["params"]["progress"], 1);
    assert_eq!(cancelled.load(Ordering::Acquire), 0);
    drop(stream);
    until("cancelled in the stream", || {
        cancelled.load(Ordering::Acquire) == 1
    });
    let mut client = site.connect();
    client.send(&call(2, "ever").set("accept", "application/json"));
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(cancelled.load(Ordering::Acquire), 1);
    drop(client);
    until("cancelled before it", || {
        cancelled.load(Ordering::Acquire) == 2
    });
    // The engine that it had is not used again with anything of it.
    assert_eq!(said(&site.ask(&call(2, "now")).message()), "now");
}

/// HTTP-24, HTTP-10: a notification cancels nothing, whoever sends it.
#[test]
fn notifications_cancel_nothing() {
    let (server, cancelled) = server();
    let site = Site::new(&server);
    let mut stream = site.connect().stream(&call(1, "ever"));
    stream.message();
    for message in [cancel(1), notification("notifications/none", &json!({}))] {
        let request = Request::post(message).with("mcp-protocol-version", "2026-07-28");
        assert_eq!(site.ask(&request).status, 202);
    }
    assert!(stream.is_quiet(Duration::from_millis(50)));
    assert_eq!(cancelled.load(Ordering::Acquire), 0);
}

/// RPC-06, ID-01, ID-04, ID-05: ids are of their exchanges. Two may have the same at once, of any kind.
#[test]
fn id_01_ids_are_of_their_exchanges() {
    let site = Site::new(&server().0);
    let mut first = site.connect().stream(&call(1, "ever"));
    first.message();
    assert_eq!(said(&site.ask(&call(1, "now")).message()), "now");
    let mut client = site.connect();
    for id in [
        json!(0),
        json!(-1),
        json!(i64::MAX),
        json!(9_007_199_254_740_993_u64),
        json!("007"),
        json!("1e3"),
        json!("\u{e9}\n\""),
        json!(""),
    ] {
        client.send(&Request::modern(
            id.clone(),
            "tools/call",
            &json!({ "name": "now" }),
        ));
        assert_eq!(client.response().message()["id"], id);
    }
    for id in [
        json!(null),
        json!(true),
        json!([]),
        json!(1.5),
        json!(u64::MAX),
    ] {
        client.send(&Request::modern(
            id.clone(),
            "tools/call",
            &json!({ "name": "now" }),
        ));
        let response = client.response();
        assert_eq!(
            (response.status, response.code()),
            (400, Some(-32600)),
            "{id}"
        );
    }
}

/// Requests that come together are answered one after the other.
#[test]
fn requests_in_a_row() {
    let site = Site::new(&server().0);
    let mut client = site.connect();
    let bytes: Vec<u8> = (0..20)
        .flat_map(|id| call(id, if id % 3 == 0 { "logs" } else { "now" }).bytes())
        .collect();
    client.write(&bytes);
    for id in 0..20 {
        assert_eq!(client.response().message()["id"], id);
    }
}
