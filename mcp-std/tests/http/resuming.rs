//! Streams that are cut off and taken up again.

use std::time::{Duration, Instant};

use async_io::Timer;
use mcp_std::http::StreamLimits;
use mcp_std::{Context, Progress, Server};
use serde_json::json;

use crate::site::{Events, Session, Site, said};

fn server() -> Server {
    Server::builder("resuming", "1")
        .tool("steps", "", |context: Context| async move {
            for step in 1..=10 {
                context.progress(Progress::new(f64::from(step))).await;
                Timer::after(Duration::from_millis(15)).await;
            }
            "done"
        })
        .tool("long", "", |context: Context| async move {
            context.hang_up(Duration::from_millis(50)).await;
            context.progress(Progress::new(1.0)).await;
            Timer::after(Duration::from_millis(150)).await;
            "done"
        })
        .build()
        .expect("a server")
}

fn steps(session: &Session<'_>, id: u64) -> Events {
    session
        .site
        .connect()
        .stream(&session.watched_call(id, "steps"))
}

fn back(session: &Session<'_>, event: &str) -> Events {
    let get = session.get().with("last-event-id", event);
    session.site.connect().stream(&get)
}

/// LH-15, LH-16: cut at each event, and the rest comes, nothing twice and nothing of other streams.
#[test]
fn the_rest_of_a_stream() {
    let site = Site::new(&server());
    for version in ["2025-03-26", "2025-11-25"] {
        let session = Session::new(&site, version);
        for seen in 1..=11 {
            let other = steps(&session, 100 + seen);
            let mut stream = steps(&session, seen);
            let mut events = Vec::new();
            for _ in 0..seen {
                events.push(stream.next_message().expect("an event"));
            }
            // However it ends: at its end, or in the middle.
            drop(stream);
            let last = events.last().and_then(|event| event.id.clone());
            events.extend(back(&session, &last.expect("an id")).rest());
            let messages: Vec<_> = events.iter().map(|event| event.message()).collect();
            assert_eq!(messages.len(), 11, "{messages:?}");
            for (message, step) in messages[..10].iter().zip(1..) {
                assert_eq!(message["params"]["progressToken"], seen);
                assert_eq!(message["params"]["progress"], step);
            }
            assert_eq!(messages[10]["id"], seen);
            assert_eq!(
                other.rest().last().expect("an answer").message()["id"],
                100 + seen
            );
        }
    }
}

/// SN-08: the events of another session are not there, and of unknown ones nothing is.
#[test]
fn sn_08_only_what_was_of_that_stream() {
    let site = Site::new(&server());
    let session = Session::new(&site, "2025-06-18");
    let stranger = Session::new(&site, "2025-06-18");
    let own = steps(&stranger, 7);
    let mut stream = steps(&session, 1);
    let first = stream.next_message().expect("an event").id.expect("an id");
    let other = steps(&session, 2);
    stream.rest();
    other.rest();
    own.rest();
    let stream = back(&stranger, &first);
    assert!(stream.is_quiet(Duration::from_millis(20)), "{first}");
    // By that id its own session has the rest of that stream, and nothing of the other.
    for event in back(&session, &first).rest() {
        let message = event.message();
        let token = &message["params"]["progressToken"];
        assert!(token == 1 || message["id"] == 1, "{message}");
    }
    for unknown in [
        "",
        "x",
        "0",
        "0-",
        "-0",
        "999-0",
        "0-999",
        "4294967296-0",
        "0-18446744073709551615",
        "0-99999999999999999999999",
        "1-1-1",
    ] {
        let stream = back(&session, unknown);
        assert!(stream.is_quiet(Duration::from_millis(20)), "{unknown}");
    }
}

/// LH-21: who takes a stream up has it, and who had it before has no more of it.
#[test]
fn a_stream_has_one_reader() {
    let site = Site::new(&server());
    let session = Session::new(&site, "2025-11-25");
    let mut stream = steps(&session, 1);
    let first = stream.next_message().expect("an event").id.expect("an id");
    let mut readers = vec![stream];
    for _ in 0..5 {
        readers.push(back(&session, &first));
    }
    let mut last = readers.pop().expect("a reader");
    let began = Instant::now();
    // Each event as it comes, not when somebody else happens to look.
    let answer = loop {
        let message = last.message();
        if message["id"] == 1 {
            break message;
        }
    };
    assert_eq!(said(&answer), "done");
    assert!(began.elapsed() < Duration::from_secs(2));
    assert_eq!(last.rest(), []);
    for reader in readers {
        let events = reader.rest();
        let answered = events.iter().any(|event| {
            event
                .data
                .as_deref()
                .is_some_and(|data| data.contains("result"))
        });
        assert!(!answered, "{events:?}");
    }
}

/// LH-12: the response ends and the call goes on; the client comes back after `retry`.
#[test]
fn hanging_up() {
    let site = Site::new(&server());
    let session = Session::new(&site, "2025-11-25");
    let stream = site.connect().stream(&session.watched_call(1, "long"));
    let mut events = stream.rest();
    assert_eq!(events[0].data.as_deref(), Some(""), "{events:?}");
    let retry = events.iter().find_map(|event| event.retry);
    assert_eq!(retry, Some(50));
    let last = events
        .iter()
        .filter_map(|event| event.id.clone())
        .next_back();
    events.extend(back(&session, &last.expect("an id")).rest());
    let messages: Vec<_> = events
        .iter()
        .filter(|event| event.data.as_ref().is_some_and(|data| !data.is_empty()))
        .map(|event| event.message())
        .collect();
    assert_eq!(messages.len(), 2, "{messages:?}");
    assert_eq!(said(&messages[1]), "done");
    // Where it is not known nothing of it happens.
    for request in [
        Session::new(&site, "2025-06-18").watched_call(1, "long"),
        session
            .watched_call(2, "long")
            .set("accept", "application/json"),
        crate::site::Request::modern(1, "tools/call", &json!({ "name": "long" })),
    ] {
        let response = site.ask(&request);
        assert_eq!(said(&response.message()), "done");
        assert!(!response.text().contains("retry:"), "{response:?}");
    }
}

/// A stream may be read again after its end, but for what was forgotten.
#[test]
fn what_is_kept_is_bounded() {
    let site = Site::with(&server(), |http| {
        let mut limits = StreamLimits::default();
        limits.max_kept = 600;
        http.stream_limits(limits)
    });
    let session = Session::new(&site, "2025-06-18");
    let ids = |events: Vec<crate::site::Event>| -> Vec<String> {
        events.into_iter().filter_map(|event| event.id).collect()
    };
    let ids_of = |id| ids(steps(&session, id).rest());
    let first = ids_of(1);
    let second = ids_of(2);
    assert_eq!(first.len(), 11);
    // Forgotten: a stream of what is about no request, with nothing to say.
    assert!(back(&session, &first[9]).is_quiet(Duration::from_millis(20)));
    assert!(back(&session, &second[0]).is_quiet(Duration::from_millis(20)));
    assert_eq!(ids(back(&session, &second[9]).rest()), second[10..]);
    assert_eq!(ids(back(&session, &second[9]).rest()), second[10..]);
    assert_eq!(ids(back(&session, &second[10]).rest()), second[11..]);
}
