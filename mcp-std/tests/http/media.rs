//! What is taken, and in which of the two forms it is answered.

use std::time::Duration;

use async_io::Timer;
use mcp_std::{Context, Progress, Server};
use serde_json::json;

use crate::site::{Request, Site};

fn server() -> Server {
    Server::builder("media", "1")
        .tool("now", "", || async { "now" })
        .tool("steps", "", |context: Context| async move {
            context.progress(Progress::new(1.0)).await;
            Timer::after(Duration::from_millis(20)).await;
            context.progress(Progress::new(2.0)).await;
            "done"
        })
        .build()
        .expect("a server")
}

fn call(tool: &str) -> Request {
    let params = json!({ "name": tool, "_meta": { "progressToken": "p" } });
    Request::modern(1, "tools/call", &params)
}

/// HS-01, HTTP-11, LH-06.
#[test]
fn hs_01_the_form_of_the_answer_is_one_that_the_client_takes() {
    let site = Site::new(&server());
    const JSON: &str = "application/json";
    const EVENTS: &str = "text/event-stream";
    for (accept, now, steps) in [
        ("application/json, text/event-stream", JSON, EVENTS),
        ("text/event-stream, application/json", JSON, EVENTS),
        ("application/json;q=0, text/event-stream", EVENTS, EVENTS),
        ("text/event-stream;q=0.0, */*;q=0.1", JSON, JSON),
        ("*/*", JSON, EVENTS),
        ("application/*", JSON, JSON),
        ("text/*", EVENTS, EVENTS),
    ] {
        for (tool, expected) in [("now", now), ("steps", steps)] {
            let response = site.ask(&call(tool).set("accept", accept));
            assert_eq!(response.header("content-type"), Some(expected), "{accept}");
            let message = response.message();
            assert_eq!(message["id"], 1, "{message}");
            assert!(message["result"].is_object(), "{message}");
        }
    }
    let response = site.ask(&call("now").set("accept", "*/*;q=0"));
    assert_eq!(response.status, 406);
    // A client that says nothing takes both (RFC 9110, 12.5.1).
    let response = site.ask(&call("steps").without("accept"));
    assert_eq!(response.events().len(), 3);
    // Two lines are one list.
    let two = call("steps")
        .set("accept", "text/event-stream")
        .with("accept", "application/json;q=0.5");
    assert_eq!(site.ask(&two).events().len(), 3);
}

/// HS-02: nothing is run before.
#[test]
fn hs_02_bodies_are_json() {
    let site = Site::new(&server());
    for (content_type, expected) in [
        ("application/json; charset=utf-8", 200),
        ("Application/JSON", 200),
        ("application/json;", 200),
        ("text/plain; a=application/json", 415),
        ("application/json-patch+json", 415),
        ("application/jsonx", 415),
        ("", 415),
    ] {
        let response = site.ask(&call("now").set("content-type", content_type));
        assert_eq!(response.status, expected, "{content_type}");
    }
    let twice = call("now").with("content-type", "application/json");
    assert_eq!(site.ask(&twice).status, 415);
}

/// HS-10, HTTP-17, HTTP-19: the head is flushed at once and each event for itself, without ids in the modern era.
#[test]
fn hs_10_a_stream_is_not_held_back() {
    let site = Site::new(&server());
    let mut client = site.connect();
    let response = client.begin(&call("steps"));
    let expected = "HTTP/1.1 200 OK\ncontent-type: text/event-stream\ncache-control: no-cache\nx-accel-buffering: no\ntransfer-encoding: chunked\n\n";
    assert_eq!(response.transcript(), expected);
    let mut chunks = Vec::new();
    while let Some(chunk) = client.chunk() {
        chunks.push(String::from_utf8(chunk).expect("UTF-8"));
    }
    let progress = |n: u8| {
        format!(
            "data: {{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{{\"progressToken\":\"p\",\"progress\":{n}}}}}\n\n"
        )
    };
    assert_eq!(chunks.len(), 2, "{chunks:?}");
    assert_eq!(chunks[0], progress(1));
    let rest = chunks[1].strip_prefix(&progress(2)).expect("progress");
    assert!(rest.starts_with("data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{"));
    assert!(rest.ends_with("}\n\n"));
    // HTTP-15: it ends with the answer, and the connection goes on.
    client.send(&call("now"));
    assert_eq!(client.response().status, 200);
}

/// HS-09: the head of a stream that has nothing to say yet comes all the same, and comments after it.
#[test]
fn hs_09_a_stream_that_is_quiet_lives() {
    let server = Server::builder("quiet", "1")
        .tool("late", "", || async {
            Timer::after(Duration::from_millis(600)).await;
            "late"
        })
        .build()
        .expect("a server");
    let site = Site::with(&server, |http| {
        let mut options = mcp_std::http::Options::default();
        options.write_timeout = Duration::from_millis(150);
        options.idle_timeout = Duration::from_millis(150);
        options.head_timeout = Duration::from_millis(150);
        http.keep_alive(Duration::from_millis(100)).options(options)
    });
    for accept in ["application/json, text/event-stream", "text/event-stream"] {
        let response = site.ask(&call("late").set("accept", accept));
        let events = response.events();
        let comments = events.iter().filter(|event| event.comment).count();
        assert!((3..=6).contains(&comments), "{events:?}");
        assert_eq!(events.len(), comments + 1);
        assert!(response.message()["result"].is_object());
    }
    // Where it has to be one JSON text there is nothing to be said before.
    let response = site.ask(&call("late").set("accept", "application/json"));
    assert!(response.message()["result"].is_object());
}
