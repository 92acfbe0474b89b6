//! Responses that go on and on.

use std::net::Shutdown;
use std::thread;
use std::time::{Duration, Instant};

use crate::service::{Event, Server};

#[test]
fn hs_10_the_head_of_a_stream_does_not_wait() {
    let server = Server::start(|_| {});
    let mut client = server.connect();
    client.get("/stream");
    let (status, head) = client.head();
    assert_eq!(status, 200);
    assert!(head.contains("transfer-encoding: chunked"), "{head}");
    client.until("first");
    server.token.begin();
}

#[test]
fn a_quiet_stream_is_left_alone() {
    let server = Server::start(|options| {
        options.head_timeout = Duration::from_millis(100);
        options.idle_timeout = Duration::from_millis(100);
        options.write_timeout = Duration::from_millis(100);
    });
    let mut client = server.connect();
    client.get("/polite");
    client.until("first");
    thread::sleep(Duration::from_millis(500));
    server.token.begin();
    client.until("last");
    server.join();
}

#[test]
fn a_client_that_leaves_ends_a_quiet_stream_at_once() {
    let server = Server::start(|_| {});
    let mut client = server.connect();
    client.get("/stream");
    client.until("first");
    assert_eq!(server.event(), Event::Called("/stream".into()));
    thread::sleep(Duration::from_millis(50));
    let start = Instant::now();
    drop(client);
    assert_eq!(server.event(), Event::Dropped);
    assert!(start.elapsed() < Duration::from_millis(500));

    // Closing one half is leaving, too.
    let mut client = server.connect();
    client.get("/stream");
    client.until("first");
    assert_eq!(server.event(), Event::Called("/stream".into()));
    client.socket.shutdown(Shutdown::Write).expect("connected");
    assert_eq!(server.event(), Event::Dropped);
    server.stop();
}

#[test]
fn a_client_that_leaves_ends_a_service_that_works() {
    let server = Server::start(|options| options.threads = 2);
    let mut client = server.connect();
    client.send("POST /stream HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\n\r\n{}");
    client.until("first");
    assert_eq!(server.event(), Event::Called("/stream".into()));
    drop(client);
    assert_eq!(server.event(), Event::Dropped);
    server.stop();
}

/// How the chunk that says "really last" begins when the connection is not hyper's, which writes large digits.
const PARKED: &str = "\r\nb\r\n";

#[test]
fn a_parked_stream_goes_on_and_its_connection_after_it() {
    let server = Server::start(|options| options.head_timeout = Duration::from_millis(100));
    let mut client = server.connect();
    for _ in 0..2 {
        client.get("/parked");
        client.until("first");
        assert_eq!(client.until("really last"), format!("{PARKED}really last"));
        assert_eq!(client.until("\r\n0\r\n\r\n"), "\r\n0\r\n\r\n");
    }
    client.get("/hello");
    assert_eq!(client.answer().body, b"hello");
    server.stop();
}

#[test]
fn requests_behind_a_parked_stream_are_served() {
    let server = Server::start(|_| {});
    let mut client = server.connect();
    // One that hyper has read already, and one that comes when the connection is not hyper's.
    client.send(
        "GET /parked HTTP/1.1\r\nhost: localhost\r\n\r\n\
         GET /slow HTTP/1.1\r\nhost: localhost\r\n\r\n",
    );
    client.until("first");
    thread::sleep(Duration::from_millis(100));
    client.get("/hello");
    assert_eq!(
        client.until("0\r\n\r\n"),
        format!("{PARKED}really last\r\n0\r\n\r\n")
    );
    assert_eq!(client.answer().body, b"slow");
    assert_eq!(client.answer().body, b"hello");
    server.stop();
}

/// hyper reads 8 KiB at a time, and the connection up to 16 before it is hyper's: part of what comes with the request may be
/// read by neither when its response is parked.
#[test]
fn a_long_request_behind_a_parked_stream_is_served_whole() {
    let server = Server::start(|_| {});
    for length in [100, 7_000, 12_000, 15_000, 40_000] {
        let mut client = server.connect();
        let body: String = (0..length)
            .map(|at| char::from(b'a' + (at % 23) as u8))
            .collect();
        client.send(&format!(
            "GET /parked HTTP/1.1\r\nhost: localhost\r\n\r\n\
             POST /json?x HTTP/1.1\r\nhost: localhost\r\ncontent-length: {length}\r\n\r\n{body}"
        ));
        client.until("first");
        assert_eq!(
            client.until("0\r\n\r\n"),
            format!("{PARKED}really last\r\n0\r\n\r\n")
        );
        assert!(client.answer().body == body.as_bytes(), "{length}");
        client.get("/hello");
        assert_eq!(client.answer().body, b"hello");
    }
    server.stop();
}

#[test]
fn a_response_that_cannot_be_parked_is_not() {
    let server = Server::start(|_| {});
    for (head, chunked) in [
        ("GET /parked HTTP/1.0\r\n\r\n", false),
        ("GET /parked HTTP/1.1\r\nconnection: close\r\n\r\n", true),
    ] {
        let mut client = server.connect();
        client.send(head);
        client.head();
        let rest = client.rest();
        let whole = if chunked {
            "5\r\nfirst\r\nB\r\nreally last\r\n0\r\n\r\n"
        } else {
            "firstreally last"
        };
        assert_eq!(rest, whole);
    }
    let mut client = server.connect();
    client.send("HEAD /parked HTTP/1.1\r\n\r\n");
    client.head();
    client.get("/hello");
    assert_eq!(client.answer().body, b"hello");
    server.stop();
}

#[test]
fn a_client_that_leaves_ends_a_parked_stream_at_once() {
    let server = Server::start(|_| {});
    let mut client = server.connect();
    client.send("POST /parked-endless HTTP/1.1\r\nhost: localhost\r\n\r\n");
    client.until("first");
    assert_eq!(server.event(), Event::Called("/parked-endless".into()));
    thread::sleep(Duration::from_millis(100));
    let start = Instant::now();
    drop(client);
    assert_eq!(server.event(), Event::Dropped);
    assert!(start.elapsed() < Duration::from_millis(500));
    server.stop();
}

#[test]
fn a_client_that_does_not_read_a_parked_stream_is_given_up() {
    let server = Server::start(|options| options.write_timeout = Duration::from_millis(300));
    let mut client = server.connect();
    client.get("/parked-big");
    client.until("first");
    assert_eq!(server.event(), Event::Called("/parked-big".into()));
    // However long the machine takes over it.
    assert_eq!(server.event(), Event::Dropped);
    assert!(!client.rest_is_whole(64 << 20));
    server.stop();
}

#[test]
fn a_parked_stream_ends_in_order_at_shutdown() {
    let server = Server::start(|_| {});
    let mut client = server.connect();
    client.send("POST /parked-polite HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\n\r\n{}");
    client.until("first");
    thread::sleep(Duration::from_millis(100));
    let start = Instant::now();
    server.token.begin();
    assert_eq!(client.rest(), format!("{PARKED}really last\r\n0\r\n\r\n"));
    server.join();
    assert!(start.elapsed() < Duration::from_secs(1));
}

#[test]
fn a_parked_stream_that_never_ends_is_dropped_after_the_grace() {
    let server = Server::start(|options| options.grace = Duration::from_millis(200));
    let mut client = server.connect();
    client.get("/parked-endless");
    client.until("first");
    thread::sleep(Duration::from_millis(100));
    server.token.begin();
    assert_eq!(server.event(), Event::Called("/parked-endless".into()));
    assert_eq!(server.event(), Event::Dropped);
    assert_eq!(client.rest(), "\r\n");
    server.join();
}
