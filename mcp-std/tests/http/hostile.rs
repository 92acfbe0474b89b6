//! Clients that mean no good.

use std::io::{Read as _, Write as _};
use std::thread;
use std::time::Duration;

use async_io::Timer;
use mcp_std::http::SessionLimits;
use mcp_std::{Context, Progress, Server};
use serde_json::json;

use crate::site::{Client, Request, Session, Site, initialize, request, said, until};

fn server() -> Server {
    Server::builder("hostile", "1")
        .list_changes()
        .tool("now", "", || async { "now" })
        .tool("steps", "", |context: Context| async move {
            for step in 1..=5 {
                context.progress(Progress::new(f64::from(step))).await;
                Timer::after(Duration::from_millis(2)).await;
            }
            "done"
        })
        .build()
        .expect("a server")
}

fn now() -> Request {
    Request::modern(1, "tools/call", &json!({ "name": "now" }))
}

/// Whether others are served.
#[track_caller]
fn assert_well(site: &Site) {
    assert_eq!(said(&site.ask(&now()).message()), "now");
    let session = Session::new(site, "2025-11-25");
    assert_eq!(said(&site.ask(&session.call(1, "now")).message()), "now");
    assert_eq!(site.ask(&session.delete()).status, 204);
}

/// Writes what is no request, and reads whatever comes: an error or nothing, and never a result.
fn poke(site: &Site, bytes: &[u8]) -> Option<u16> {
    let mut client = site.connect();
    // The server may hang up in the middle.
    let _ = client.stream.write_all(bytes);
    client.finish();
    let response = client.try_head()?;
    assert!(response.status >= 400, "{bytes:?}: {response:?}");
    Some(response.status)
}

#[test]
fn heads_that_are_none() {
    let site = Site::new(&server());
    let body = String::from_utf8(now().body).expect("UTF-8");
    let length = body.len();
    let head = now().head();
    let long = "a".repeat(70_000);
    let many: String = (0..101).map(|n| format!("x-{n}: 1\r\n")).collect();
    for bytes in [
        String::new(),
        "\r\n\r\n\r\n".to_owned(),
        "\0\0\0\0".to_owned(),
        "GET\r\n\r\n".to_owned(),
        "GET /mcp\r\n\r\n".to_owned(),
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_owned(),
        "\u{16}\u{3}\u{1}\u{2}".to_owned(),
        format!("GET /{long} HTTP/1.1\r\nhost: localhost\r\n\r\n"),
        format!("{long} /mcp HTTP/1.1\r\nhost: localhost\r\n\r\n"),
        format!("{head}{long}: x\r\n\r\n"),
        format!("{head}x: {long}\r\n\r\n"),
        format!("{head}{many}\r\n"),
        format!("{head}x: a\0b\r\ncontent-length: {length}\r\n\r\n{body}"),
        format!("{head}x y: 1\r\ncontent-length: {length}\r\n\r\n{body}"),
        format!("{head} folded\r\ncontent-length: {length}\r\n\r\n{body}"),
        format!("{head}content-length: {length}\r\ncontent-length: 1\r\n\r\n{body}"),
        format!("{head}content-length: -1\r\n\r\n{body}"),
        format!("{head}content-length: +{length}\r\n\r\n{body}"),
        format!("{head}content-length: 99999999999999999999\r\n\r\n{body}"),
        format!("{head}transfer-encoding: chunked\r\n\r\nzz\r\n{body}"),
        format!("{head}transfer-encoding: chunked\r\n\r\nffffffffffffffff\r\n{body}"),
        format!("{head}transfer-encoding: chunked\r\n\r\n-1\r\n{body}"),
        format!("{head}transfer-encoding: gzip\r\n\r\n{body}"),
        format!("{head}transfer-encoding: chunked\r\n\r\n2\r\n{{}}"),
        format!("{head}content-length: {}\r\n\r\n{body}", length + 1),
    ] {
        poke(&site, bytes.as_bytes());
    }
    assert_well(&site);
}

/// Two readers of one request that disagree about where it ends.
#[test]
fn a_request_within_a_request() {
    let site = Site::new(&server());
    let inner = Request::modern("inner", "tools/call", &json!({ "name": "now" })).bytes();
    let head = now().head();
    let chunked = "transfer-encoding: chunked\r\n";
    for head in [
        format!(
            "{head}content-length: {}\r\n{chunked}\r\n0\r\n\r\n",
            5 + inner.len()
        ),
        format!("{head}{chunked}content-length: 5\r\n\r\n0\r\n\r\n"),
    ] {
        let mut client = site.connect();
        let _ = client.stream.write_all(&[head.as_bytes(), &inner].concat());
        client.finish();
        let first = client.try_head();
        if let Some(first) = first {
            assert!(first.status >= 400, "{first:?}");
            // Whoever looks at the length alone takes the rest for a body: so nobody is to answer it.
            if first.header("connection") != Some("close") {
                let rest = client.try_head();
                assert!(rest.is_none(), "{head}: {rest:?}");
            }
        }
    }
    assert_well(&site);
}

/// What nobody reads of a GET is not the next request of its connection.
#[test]
fn a_request_within_a_stream() {
    let site = Site::new(&server());
    let session = Session::new(&site, "2025-11-25");
    let inner = String::from_utf8(now().bytes()).expect("text");
    let mut client = site.connect();
    let response = client.begin(&session.get().saying(inner));
    assert_eq!(response.status, 200);
    assert_eq!(site.ask(&session.delete()).status, 204);
    while client.chunk().is_some() {}
    let stream = &mut client.stream;
    stream
        .set_read_timeout(Some(Duration::from_millis(300)))
        .expect("not zero");
    let mut byte = [0];
    assert!(matches!(stream.read(&mut byte), Ok(0) | Err(_)));
}

#[test]
fn bodies_that_are_none() {
    let site = Site::new(&server());
    let session = Session::new(&site, "2025-03-26");
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let nested = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"now","arguments":{{"a":{deep}}}}}}}"#
    );
    let id = "9".repeat(100_000);
    let long_id = format!(r#"{{"jsonrpc":"2.0","id":"{id}","method":"ping"}}"#);
    let twice = r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#;
    let batch = format!("[{}1]", "1,".repeat(100_000));
    let surrogate = r#"{"jsonrpc":"2.0","id":"\ud800","method":"ping"}"#;
    for body in [
        &deep, &nested, &long_id, twice, &batch, surrogate, "\u{0}", "[]",
    ] {
        for request in [now(), Request::post(""), session.post(&json!({}))] {
            let response = site.ask(&request.saying(body));
            assert!(response.status >= 400, "{body:.60}: {response:?}");
            assert!(response.body.len() < 4096);
        }
    }
    let mut client = site.connect();
    client.write(now().head().as_bytes());
    client.write(b"content-length: 4\r\n\r\n{\"\xff\"");
    assert_eq!(client.response().status, 400);
    assert_well(&site);
}

/// Streams of one session opened and left at once: nothing of them stays.
#[test]
fn streams_opened_and_left() {
    let site = Site::new(&server());
    for version in ["2025-06-18", "2025-11-25"] {
        let session = Session::new(&site, version);
        for _ in 0..20 {
            let clients: Vec<_> = (0..50)
                .map(|_| {
                    let mut client = site.connect();
                    client.send(&session.get());
                    client
                })
                .collect();
            drop(clients);
        }
        until("there is room", || {
            site.ask(&session.call(1, "now")).status == 200
        });
        let mut stream = site.connect().stream(&session.get());
        if version == "2025-11-25" {
            stream.next();
        }
        // It would be of use to somebody who has left, were they still there.
        assert!(stream.is_quiet(Duration::from_millis(20)));
    }
    // Each of these is a session as well.
    for _ in 0..20 {
        let clients: Vec<_> = (0..50)
            .map(|_| {
                let mut client = site.connect();
                client.send(&Request::get());
                client
            })
            .collect();
        drop(clients);
    }
    assert_well(&site);
}

/// Sessions opened by several clients at once: never more than may be, and those in use stay.
#[test]
fn sessions_in_a_flood() {
    let site = Site::with(&server(), |http| {
        let mut limits = SessionLimits::default();
        limits.max_sessions = 50;
        http.session_limits(limits)
    });
    let session = Session::new(&site, "2025-11-25");
    let stream = site.connect().stream(&session.get());
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut client = site.connect();
                for _ in 0..300 {
                    client.send(&initialize("2025-11-25", &json!({})));
                    assert_eq!(client.response().status, 200);
                }
            });
        }
    });
    let list = request(1, "tools/list", &json!({}));
    assert_eq!(session.ask(&list).status, 200);
    drop(stream);
    assert_well(&site);
}

/// A stream taken up again and again by clients that do not read it.
#[test]
fn resumptions_in_a_flood() {
    let site = Site::new(&server());
    let session = Session::new(&site, "2025-11-25");
    let mut stream = site.connect().stream(&session.watched_call(1, "steps"));
    let first = stream.next().expect("an event").id.expect("an id");
    stream.rest();
    let back = session.get().with("last-event-id", &first);
    for _ in 0..20 {
        let clients: Vec<Client> = (0..25)
            .map(|_| {
                let mut client = site.connect();
                client.send(&back);
                client
            })
            .collect();
        drop(clients);
    }
    until("it can be read", || {
        let response = site.ask(&back);
        response.status == 200 && response.events().len() == 6
    });
    assert_well(&site);
}

/// Clients that vanish at any moment.
#[test]
fn clients_that_vanish() {
    let site = Site::new(&server());
    let session = Session::new(&site, "2025-11-25");
    let listen = json!({ "notifications": { "toolsListChanged": true } });
    let requests = [
        now(),
        Request::modern(1, "subscriptions/listen", &listen),
        session.watched_call(1, "steps"),
        session.get(),
        Request::get(),
        initialize("2025-11-25", &json!({})),
        Request::modern(
            2,
            "tools/call",
            &json!({ "name": "steps", "_meta": { "progressToken": 1 } }),
        ),
    ];
    thread::scope(|scope| {
        for seed in 1..=4_u64 {
            let (site, requests) = (&site, &requests);
            scope.spawn(move || {
                // xorshift: which request, how much of it, and how long it is waited for.
                let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
                let mut random = move |below: usize| {
                    state ^= state << 13;
                    state ^= state >> 7;
                    state ^= state << 17;
                    (state % below as u64) as usize
                };
                for _ in 0..150 {
                    let bytes = requests[random(requests.len())].bytes();
                    let most = match random(3) {
                        0 => random(bytes.len() + 1),
                        _ => bytes.len(),
                    };
                    let mut client = site.connect();
                    let _ = client.stream.write_all(&bytes[..most]);
                    thread::sleep(Duration::from_micros(random(4000) as u64));
                }
            });
        }
    });
    until("the session has room", || {
        // Those whose clients have left end by themselves.
        site.ask(&session.call("last", "now")).status == 200
    });
    assert_well(&site);
}
