//! Responses of a session: which message goes to which of them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_io::Timer;
use mcp_std::http::StreamLimits;
use mcp_std::model::LoggingLevel;
use mcp_std::{Context, Progress, Server, Tool};
use serde_json::{Value, json};

use crate::site::{Request, Session, Site, cancel, notification, request, said, until};

/// Set when it is dropped.
struct Dropped(Arc<AtomicBool>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

fn builder() -> mcp_std::ServerBuilder {
    Server::builder("streams", "1")
        .list_changes()
        .tool("now", "", || async { "now" })
        .tool("steps", "", |context: Context| async move {
            for step in 1..=3 {
                context.progress(Progress::new(f64::from(step))).await;
                Timer::after(Duration::from_millis(20)).await;
            }
            "done"
        })
}

/// A tool that waits until the test lets it go.
fn gate() -> (Tool, async_channel::Sender<()>, Arc<AtomicBool>) {
    let (open, opened) = async_channel::unbounded();
    let cancelled = Arc::new(AtomicBool::new(false));
    let dropped = cancelled.clone();
    let tool = Tool::new("gate", "", move |context: Context| {
        let opened = opened.clone();
        let dropped = dropped.clone();
        async move {
            let dropped = Dropped(dropped);
            context.progress(Progress::new(1.0)).await;
            let _ = opened.recv().await;
            context.progress(Progress::new(2.0)).await;
            std::mem::forget(dropped);
            "through"
        }
    });
    (tool, open, cancelled)
}

/// LH-05, HTTP-09.
#[test]
fn hs_07_notifications_and_responses_are_accepted() {
    let site = Site::new(&builder().build().expect("a server"));
    let session = Session::new(&site, "2025-11-25");
    for message in [
        notification("notifications/roots/list_changed", &json!({})),
        notification("notifications/none/such", &json!({})),
        cancel(99),
        // Of a question that was given up meanwhile.
        json!({ "jsonrpc": "2.0", "id": 1, "result": {} }),
    ] {
        let response = session.ask(&message);
        let expected = "HTTP/1.1 202 Accepted\ncontent-length: 0\n\n";
        assert_eq!(response.transcript(), expected, "{message}");
    }
}

/// LH-06, LH-07, LH-08: messages about a request are with its answer, which ends the stream.
#[test]
fn a_request_is_answered_in_its_own_response() {
    let site = Site::new(&builder().build().expect("a server"));
    for version in ["2025-03-26", "2025-06-18", "2025-11-25"] {
        let session = Session::new(&site, version);
        let response = site.ask(&session.call(1, "now"));
        assert_eq!(response.header("content-type"), Some("application/json"));
        assert_eq!(said(&response.message()), "now");
        let streams: Vec<_> = (0..3)
            .map(|n| site.connect().stream(&session.watched_call(n, "steps")))
            .collect();
        for (n, stream) in streams.into_iter().enumerate() {
            let events = stream.rest();
            let messages: Vec<_> = events
                .iter()
                .filter(|event| event.data.as_deref() != Some(""))
                .map(|event| event.message())
                .collect();
            assert_eq!(messages.len(), 4, "{messages:?}");
            for message in &messages[..3] {
                assert_eq!(message["params"]["progressToken"], n);
            }
            assert_eq!(messages[3]["id"], n);
        }
    }
}

/// LH-10, SE-07: the first event says nothing but its id, and only in 2025-11-25.
#[test]
fn se_07_a_stream_is_primed_for_those_who_know_that() {
    let site = Site::new(&builder().build().expect("a server"));
    for (version, primes) in [
        ("2025-03-26", false),
        ("2025-06-18", false),
        ("2025-11-25", true),
    ] {
        let session = Session::new(&site, version);
        let stream = site.connect().stream(&session.watched_call(1, "steps"));
        let events = stream.rest();
        let empty: Vec<_> = events
            .iter()
            .map(|event| event.data.as_deref() == Some(""))
            .collect();
        let expected = [primes, false, false, false, false];
        assert_eq!(empty, expected[usize::from(!primes)..], "{version}");
        // LH-16: each has an id, and no two have the same.
        let mut ids: Vec<_> = events.iter().map(|event| event.id.clone()).collect();
        assert!(ids.iter().all(Option::is_some), "{events:?}");
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), events.len());
    }
}

/// LH-20, LH-21: what is about no request goes to one GET stream, the oldest, and no other.
#[test]
fn a_message_goes_to_one_stream() {
    let server = builder().build().expect("a server");
    let site = Site::new(&server);
    let session = Session::new(&site, "2025-06-18");
    let mut streams = [(); 3].map(|()| site.connect().stream(&session.get()));
    let add = |name: &str| {
        let tool = Tool::new(name.to_owned(), "", || async { "" });
        server.add_tool(tool).expect("the server can change");
    };
    add("one");
    let message = streams[0].message();
    assert_eq!(message["method"], "notifications/tools/list_changed");
    assert!(streams[1].is_quiet(Duration::from_millis(50)));
    assert!(streams[2].is_quiet(Duration::from_millis(10)));
    let [first, mut second, third] = streams;
    drop(first);
    // The server sees that it has left when it looks, at the latest when it writes.
    std::thread::sleep(Duration::from_millis(100));
    add("two");
    let message = second.message();
    assert_eq!(message["method"], "notifications/tools/list_changed");
    drop((second, third));
    std::thread::sleep(Duration::from_millis(100));
    // With nobody there it waits.
    add("three");
    std::thread::sleep(Duration::from_millis(50));
    let mut late = site.connect().stream(&session.get());
    let message = late.message();
    assert_eq!(message["method"], "notifications/tools/list_changed");
}

/// LH-17: a client that has left is answered when it comes back; only `notifications/cancelled` cancels.
#[test]
fn leaving_is_no_cancellation() {
    let (tool, open, cancelled) = gate();
    let server = builder().with_tool(tool).build().expect("a server");
    let site = Site::new(&server);
    let session = Session::new(&site, "2025-11-25");
    let mut stream = site.connect().stream(&session.watched_call(1, "gate"));
    let primed = stream.next().expect("an event");
    let progress = stream.message();
    assert_eq!(progress["params"]["progress"], 1, "{progress}");
    drop(stream);
    std::thread::sleep(Duration::from_millis(100));
    assert!(!cancelled.load(Ordering::Acquire));
    open.try_send(()).expect("the tool waits");
    let back = session
        .get()
        .with("last-event-id", &primed.id.expect("an id"));
    let events = site.connect().stream(&back).rest();
    let events: Vec<_> = events.iter().map(|event| event.message()).collect();
    assert_eq!(events.len(), 3, "{events:?}");
    assert_eq!(said(&events[2]), "through");

    let mut stream = site.connect().stream(&session.watched_call(2, "gate"));
    stream.message();
    session.tell(&cancel(2));
    until("cancelled", || cancelled.load(Ordering::Acquire));
    assert_eq!(stream.rest(), []);
}

/// Who takes no events is told nothing before the answer, and gets that.
#[test]
fn json_alone() {
    let server = builder()
        .logging()
        .tool("logs", "", |context: Context| async move {
            context.log(LoggingLevel::Error, None, "one").await;
            context.progress(Progress::new(1.0)).await;
            Timer::after(Duration::from_millis(20)).await;
            "logged"
        })
        .build()
        .expect("a server");
    let site = Site::new(&server);
    let session = Session::new(&site, "2025-11-25");
    let call = session
        .watched_call(1, "logs")
        .set("accept", "application/json");
    let response = site.ask(&call);
    assert_eq!(response.header("content-type"), Some("application/json"));
    assert_eq!(said(&response.message()), "logged");
    // Where there is another way they go there.
    let mut stream = site.connect().stream(&session.get());
    let response = site.ask(&call.saying(String::from_utf8_lossy(&call_body(2))));
    assert_eq!(said(&response.message()), "logged");
    let message = stream.message();
    assert_eq!(message["method"], "notifications/message", "{message}");
    assert_eq!(message["params"]["data"], "one");
    assert_eq!(stream.message()["params"]["progressToken"], 2);
}

fn call_body(id: u8) -> Vec<u8> {
    let params = json!({ "name": "logs", "_meta": { "progressToken": id } });
    request(id, "tools/call", &params).to_string().into_bytes()
}

/// How many responses one session may have open.
#[test]
fn streams_of_a_session_are_bounded() {
    let (tool, open, _) = gate();
    let server = builder().with_tool(tool).build().expect("a server");
    let site = Site::with(&server, |http| {
        let mut limits = StreamLimits::default();
        limits.max_open = 3;
        http.stream_limits(limits)
    });
    let session = Session::new(&site, "2025-11-25");
    let other = Session::new(&site, "2025-11-25");
    let call = site.connect().stream(&session.call(1, "gate"));
    let streams = [(); 2].map(|()| site.connect().stream(&session.get()));
    for request in [session.get(), session.call(2, "now")] {
        let response = site.ask(&request);
        assert_eq!(response.status, 503, "{response:?}");
    }
    assert_eq!(site.ask(&other.call(2, "now")).status, 200);
    // What takes no response is taken all the same: it may be what makes room.
    session.tell(&cancel(1));
    let messages = call.rest();
    assert!(
        messages
            .iter()
            .all(|event| event.data.as_ref().is_none_or(String::is_empty)),
        "{messages:?}"
    );
    assert_eq!(site.ask(&session.call(3, "now")).status, 200);
    drop((streams, open));
}

/// ID-06: an id that is in use is of a request that goes on.
#[test]
fn id_06_an_id_in_use() {
    let (tool, open, _) = gate();
    let server = builder().with_tool(tool).build().expect("a server");
    let site = Site::new(&server);
    let session = Session::new(&site, "2025-11-25");
    let stream = site.connect().stream(&session.call(1, "gate"));
    let response = site.ask(&session.call(1, "now"));
    assert_eq!((response.status, response.code()), (400, Some(-32600)));
    open.try_send(()).expect("the tool waits");
    let events = stream.rest();
    assert_eq!(
        said(&events.last().expect("an answer").message()),
        "through"
    );
    // In another session, and in the modern era, ids are their own.
    let other = Session::new(&site, "2025-11-25");
    let one = site.connect().stream(&session.call(1, "gate"));
    let two = site.connect().stream(&other.call(1, "gate"));
    let params = json!({ "name": "gate", "_meta": { "progressToken": 1 } });
    let mut three = site
        .connect()
        .stream(&Request::modern(1, "tools/call", &params));
    let progress: Value = three.message();
    assert_eq!(progress["params"]["progressToken"], 1);
    for _ in 0..3 {
        open.try_send(()).expect("the tools wait");
    }
    for stream in [one, two, three] {
        let events = stream.rest();
        let answer = events.last().expect("an answer").message();
        assert_eq!((said(&answer), &answer["id"]), ("through", &json!(1)));
    }
}

/// ID-03, ID-04: each is cancelled by its own id.
#[test]
fn id_03_id_04_ids_that_are_nearly_the_same() {
    let (tool, open, _) = gate();
    let server = builder().with_tool(tool).build().expect("a server");
    let site = Site::new(&server);
    let session = Session::new(&site, "2025-06-18");
    let ids = [
        json!(0),
        json!("0"),
        json!(9_007_199_254_740_992_u64),
        json!(9_007_199_254_740_993_u64),
    ];
    let mut streams = ids.each_ref().map(|id| {
        let mut stream = site
            .connect()
            .stream(&session.watched_call(id.clone(), "gate"));
        assert_eq!(stream.message()["params"]["progressToken"], *id);
        stream
    });
    session.tell(&cancel(ids[0].clone()));
    session.tell(&cancel(ids[3].clone()));
    assert_eq!(streams[0].next(), None);
    assert_eq!(streams[3].next(), None);
    for _ in 0..2 {
        open.try_send(()).expect("the tools wait");
    }
    for at in [1, 2] {
        assert_eq!(streams[at].message()["params"]["progress"], 2);
        let answer = streams[at].message();
        assert_eq!((said(&answer), &answer["id"]), ("through", &ids[at]));
    }
}
