//! Bodies of requests: bounded, timed, and refused so that the client learns why.

use std::io::{ErrorKind, Write};
use std::net::Shutdown;
use std::thread;
use std::time::Duration;

use crate::service::{Event, LIMIT, Server};

#[test]
fn a_body_of_known_length_is_read() {
    let server = Server::start(|_| {});
    let mut client = server.connect();
    let body = "x".repeat(LIMIT);
    for _ in 0..2 {
        client.send(&format!(
            "POST /echo HTTP/1.1\r\nhost: localhost\r\ncontent-length: {LIMIT}\r\n\r\n{body}"
        ));
        assert_eq!(client.answer().body, body.as_bytes());
    }
    server.stop();
}

#[test]
fn a_body_in_pieces_is_read() {
    let server = Server::start(|_| {});
    let mut client = server.connect();
    client.send("POST /echo HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n");
    for piece in ["3\r\nabc\r\n", "4\r\nd", "efg\r\n", "0\r\n\r\n"] {
        thread::sleep(Duration::from_millis(20));
        client.send(piece);
    }
    assert_eq!(client.answer().body, b"abcdefg");

    client.send("POST /echo HTTP/1.1\r\nhost: localhost\r\ncontent-length: 6\r\n\r\nab");
    thread::sleep(Duration::from_millis(20));
    client.send("cdef");
    assert_eq!(client.answer().body, b"abcdef");
    server.stop();
}

#[test]
fn a_body_that_is_announced_too_long_is_refused_unread() {
    let server = Server::start(|_| {});
    let mut client = server.connect();
    // Nothing of the body is sent before the answer.
    client.send(&format!(
        "POST /echo HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}\r\n\r\n",
        LIMIT + 1
    ));
    let answer = client.answer();
    assert_eq!(answer.status, 413);
    assert_eq!(answer.body, b"refused");
    server.stop();
}

#[test]
fn a_body_that_turns_out_too_long_is_refused() {
    let server = Server::start(|_| {});
    let mut client = server.connect();
    client.send("POST /echo HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n");
    let piece = format!("1f4\r\n{}\r\n", "x".repeat(500));
    client.send(&piece);
    client.send(&piece);
    client.send("1\r\nx\r\n");
    assert_eq!(client.answer().status, 413);
    server.stop();
}

#[test]
fn a_client_that_sends_on_can_read_the_refusal() {
    let server = Server::start(|_| {});
    let mut client = server.connect();
    client.send("POST /echo HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100000000\r\n\r\n");
    // More than the buffers of both sides take: a server that closed at once would reset the connection.
    let piece = [b'x'; 64 << 10];
    for _ in 0..100 {
        if let Err(error) = client.socket.write_all(&piece) {
            assert_ne!(error.kind(), ErrorKind::ConnectionReset);
            assert_ne!(error.kind(), ErrorKind::BrokenPipe);
        }
    }
    assert_eq!(client.answer().status, 413);
    server.stop();
}

/// The refusal is written before any of the body is there.
#[test]
fn a_client_that_sends_the_body_later_can_read_the_refusal() {
    let server = Server::start(|_| {});
    let mut client = server.connect();
    client.send("POST /echo HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100000000\r\n\r\n");
    assert_eq!(server.event(), Event::Called("/echo".into()));
    thread::sleep(Duration::from_millis(50));
    for _ in 0..10 {
        if let Err(error) = client.socket.write_all(&[b'x'; 64 << 10]) {
            assert_ne!(error.kind(), ErrorKind::ConnectionReset);
            assert_ne!(error.kind(), ErrorKind::BrokenPipe);
        }
    }
    assert_eq!(client.answer().status, 413);
    server.stop();
}

/// Closing one half is leaving, but not before what was sent is read, however long that is.
#[test]
fn a_client_that_closes_its_half_behind_a_body_is_answered() {
    for length in [10, 7_000, 20_000, 60_000] {
        let server = Server::start(|_| {});
        let mut busy = server.connect();
        let mut client = server.connect();
        client.get("/hello");
        client.answer();
        // The server hears of the request and of its end at the same time.
        busy.get("/nap");
        assert_eq!(server.event(), Event::Called("/hello".into()));
        assert_eq!(server.event(), Event::Called("/nap".into()));
        let body = "x".repeat(length);
        client.send(&format!(
            "POST /json HTTP/1.1\r\nhost: localhost\r\ncontent-length: {length}\r\n\r\n{body}"
        ));
        client.socket.shutdown(Shutdown::Write).expect("connected");
        assert_eq!(client.answer().body, body.as_bytes());
        assert_eq!(client.rest(), "");
        server.stop();
    }
}

#[test]
fn a_slow_body_is_refused() {
    let server = Server::start(|_| {});
    let mut client = server.connect();
    client.send("POST /echo HTTP/1.1\r\nhost: localhost\r\ncontent-length: 10\r\n\r\nabc");
    assert_eq!(client.answer().status, 408);
    assert_eq!(client.rest(), "");
    server.stop();
}

#[test]
fn a_body_is_asked_for_when_it_is_wanted() {
    let server = Server::start(|_| {});
    let mut client = server.connect();
    client.send(
        "POST /echo HTTP/1.1\r\nhost: localhost\r\nexpect: 100-continue\r\ncontent-length: 3\r\n\r\n",
    );
    assert_eq!(client.head().0, 100);
    client.send("abc");
    assert_eq!(client.answer().body, b"abc");

    client.send(
        "POST /echo HTTP/1.1\r\nhost: localhost\r\nexpect: 100-continue\r\ncontent-length: 9999\r\n\r\n",
    );
    assert_eq!(client.answer().status, 413);
    server.stop();
}
