//! Clients that are slow to write and slow to read.

use std::time::{Duration, Instant};

use mcp_std::http::{Options, StreamLimits};
use mcp_std::{Context, Progress, Server};
use serde_json::json;

use crate::site::{Request, Session, Site, said};

fn server() -> Server {
    Server::builder("slow", "1")
        .tool("now", "", || async { "now" })
        .tool("much", "", |context: Context| async move {
            let text = "x".repeat(10_000);
            for step in 1..=2000 {
                let progress = Progress::new(f64::from(step)).saying(text.as_str());
                context.progress(progress).await;
            }
            "done"
        })
        .build()
        .expect("a server")
}

fn now() -> Request {
    Request::modern(1, "tools/call", &json!({ "name": "now" }))
}

/// DX-05: who sends a byte now and then is not waited for, and nobody waits for them.
#[test]
fn a_body_byte_by_byte() {
    let site = Site::with(&server(), |http| {
        http.body_timeout(Duration::from_millis(400))
    });
    let mut client = site.connect();
    let request = now();
    client.write(request.head().as_bytes());
    client.write(format!("content-length: {}\r\n\r\n", request.body.len()).as_bytes());
    let began = Instant::now();
    for byte in &request.body {
        if std::io::Write::write_all(&mut client.stream, &[*byte]).is_err() {
            break;
        }
        assert_eq!(site.ask(&now()).status, 200);
        std::thread::sleep(Duration::from_millis(10));
        if began.elapsed() > Duration::from_secs(1) {
            break;
        }
    }
    assert_eq!(client.response().status, 408);
    // Slow, and in time.
    let site = Site::new(&server());
    let mut client = site.connect();
    for chunk in request.bytes().chunks(40) {
        client.write(chunk);
        std::thread::sleep(Duration::from_millis(3));
    }
    assert_eq!(said(&client.response().message()), "now");
}

/// DX-05: a head that does not end.
#[test]
fn a_head_byte_by_byte() {
    let site = Site::with(&server(), |http| {
        let mut options = Options::default();
        options.head_timeout = Duration::from_millis(300);
        http.options(options)
    });
    let mut client = site.connect();
    let began = Instant::now();
    for byte in now().bytes() {
        if std::io::Write::write_all(&mut client.stream, &[byte]).is_err() {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(began.elapsed() < Duration::from_secs(3));
}

/// DX-05: who asks first is told to go on, or what is wrong already.
#[test]
fn a_client_that_asks_before_it_sends_the_body() {
    let site = Site::new(&server());
    let request = now().with("expect", "100-continue");
    let mut client = site.connect();
    client.write(request.head().as_bytes());
    client.write(format!("content-length: {}\r\n\r\n", request.body.len()).as_bytes());
    assert_eq!(client.head().status, 100);
    client.write(&request.body);
    assert_eq!(client.response().status, 200);
    for (request, length, expected) in [
        (request.clone().set("content-type", "text/plain"), 10, 415),
        (request, 100_000_000, 413),
    ] {
        let mut client = site.connect();
        client.write(request.head().as_bytes());
        client.write(format!("content-length: {length}\r\n\r\n").as_bytes());
        assert_eq!(client.response().status, expected);
    }
}

/// HS-09: of a modern stream nothing is lost, its handler waits.
#[test]
fn a_modern_stream_that_is_read_late() {
    let site = Site::new(&server());
    let params = json!({ "name": "much", "_meta": { "progressToken": 1 } });
    let stream = site
        .connect()
        .stream(&Request::modern(1, "tools/call", &params));
    std::thread::sleep(Duration::from_millis(300));
    let events = stream.rest();
    assert_eq!(events.len(), 2001);
    assert_eq!(said(&events[2000].message()), "done");
}

/// A legacy stream that is not read is cut off, and what was not read can be fetched as far as it is kept. Nothing is left
/// out in the middle.
#[test]
fn a_legacy_stream_that_is_not_read() {
    let site = Site::with(&server(), |http| {
        let mut limits = StreamLimits::default();
        limits.max_buffered = 100_000;
        limits.max_kept = 40_000_000;
        http.stream_limits(limits)
    });
    let session = Session::new(&site, "2025-11-25");
    let mut stream = site.connect().stream(&session.watched_call(1, "much"));
    std::thread::sleep(Duration::from_millis(500));
    let mut seen = Vec::new();
    let mut last = None;
    for attempt in 0.. {
        assert!(attempt < 1000, "it gets on");
        while let Some(event) = stream.next() {
            last = event.id.clone().or(last);
            if event.data.as_ref().is_some_and(|data| !data.is_empty()) {
                seen.push(event.message());
            }
        }
        if seen.last().is_some_and(|message| message["id"] == 1) {
            break;
        }
        let last = last.as_deref().expect("an id");
        let back = session.get().with("last-event-id", last);
        stream = site.connect().stream(&back);
    }
    let steps: Vec<_> = seen
        .iter()
        .filter_map(|message| message["params"]["progress"].as_u64())
        .collect();
    assert!(steps.iter().copied().eq(1..=2000), "{steps:?}");
    assert_eq!(said(&seen[2000]), "done");
}

/// The write timeout ends those that never read.
#[test]
fn hs_09_a_stream_that_is_never_read() {
    let site = Site::with(&server(), |http| {
        let mut options = Options::default();
        options.write_timeout = Duration::from_millis(300);
        http.options(options)
    });
    let params = json!({ "name": "much", "_meta": { "progressToken": 1 } });
    let request = Request::modern(1, "tools/call", &params);
    let mut streams: Vec<_> = (0..20)
        .map(|_| {
            let mut client = site.connect();
            client.send(&request);
            client
        })
        .collect();
    let began = Instant::now();
    for _ in 0..50 {
        assert_eq!(site.ask(&now()).status, 200);
    }
    assert!(began.elapsed() < Duration::from_secs(5));
    std::thread::sleep(Duration::from_millis(1500));
    let stream = streams.pop().expect("a stream");
    // What was written is there, the end is not.
    let mut stream = stream.stream;
    let mut bytes = Vec::new();
    let _ = std::io::Read::read_to_end(&mut stream, &mut bytes);
    assert!(!bytes.ends_with(b"0\r\n\r\n"));
}
