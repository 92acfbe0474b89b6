//! The end of a server.

use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use crate::service::{Event, Server};

#[test]
fn what_is_in_flight_is_answered() {
    let server = Server::start(|_| {});
    let address = server.address.expect("listens at TCP");
    let mut client = server.connect();
    client.get("/slow");
    assert_eq!(server.event(), Event::Called("/slow".into()));
    server.token.begin();
    let answer = client.answer();
    assert_eq!(answer.body, b"slow");
    assert!(answer.head.contains("connection: close"), "{}", answer.head);
    assert_eq!(client.rest(), "");
    server.join();
    TcpStream::connect(address).expect_err("nobody listens any more");
}

#[test]
fn idle_connections_do_not_hold_it_up() {
    let server = Server::start(|_| {});
    let mut fresh = server.connect();
    let mut used = server.connect();
    used.send("POST /echo HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\n\r\nab");
    assert_eq!(used.answer().body, b"ab");
    thread::sleep(Duration::from_millis(50));
    let start = Instant::now();
    server.stop();
    assert!(start.elapsed() < Duration::from_secs(1));
    assert_eq!(fresh.rest(), "");
    assert_eq!(used.rest(), "");
}

#[test]
fn a_stream_that_is_told_ends_in_order() {
    let server = Server::start(|_| {});
    let mut client = server.connect();
    client.get("/polite");
    client.until("first");
    let start = Instant::now();
    server.token.begin();
    client.until("last");
    assert_eq!(client.rest(), "\r\n0\r\n\r\n");
    server.join();
    assert!(start.elapsed() < Duration::from_secs(1));
}

#[test]
fn a_stream_that_never_ends_is_dropped_after_the_grace() {
    for threads in [1, 2] {
        let server = Server::start(|options| {
            options.threads = threads;
            options.grace = Duration::from_millis(200);
        });
        let mut client = server.connect();
        client.get("/stream");
        client.until("first");
        assert_eq!(server.event(), Event::Called("/stream".into()));
        let start = Instant::now();
        server.token.begin();
        assert_eq!(server.event(), Event::Dropped);
        assert!(start.elapsed() >= Duration::from_millis(200));
        assert!(start.elapsed() < Duration::from_secs(2));
        server.join();
        // Not ended in order, so the client can tell.
        assert_eq!(client.rest(), "\r\n");
    }
}
