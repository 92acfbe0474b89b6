//! Responses that go on and on.

use std::net::Shutdown;
use std::thread;
use std::time::{Duration, Instant};

use crate::service::{Event, Server};

#[test]
fn the_head_of_a_stream_does_not_wait() {
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
