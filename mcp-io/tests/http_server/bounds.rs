//! What a client may cost.

use std::thread;
use std::time::{Duration, Instant};

use crate::service::{Event, Server};

#[test]
fn a_slow_head_is_not_waited_for() {
    let server = Server::start(|options| options.head_timeout = Duration::from_millis(200));
    // Nothing at all, a part, and a part after a whole request.
    let mut silent = server.connect();
    let mut slow = server.connect();
    slow.send("GET /hello HTT");
    let mut second = server.connect();
    second.get("/hello");
    assert_eq!(second.answer().status, 200);
    second.send("GET /hello HTT");
    let start = Instant::now();
    for client in [&mut silent, &mut slow, &mut second] {
        assert_eq!(client.rest(), "");
    }
    assert!(start.elapsed() < Duration::from_secs(2));
    server.stop();
}

#[test]
fn each_byte_does_not_buy_more_time() {
    let server = Server::start(|options| options.head_timeout = Duration::from_millis(200));
    let mut client = server.connect();
    let start = Instant::now();
    let mut sent = 0;
    while std::io::Write::write(&mut client.socket, b"G").is_ok() {
        sent += 1;
        assert!(start.elapsed() < Duration::from_secs(2), "{sent} bytes");
        thread::sleep(Duration::from_millis(20));
    }
    server.stop();
}

#[test]
fn an_idle_connection_is_closed_and_a_working_one_is_not() {
    let server = Server::start(|options| {
        options.idle_timeout = Duration::from_millis(100);
        options.head_timeout = Duration::from_millis(100);
    });
    let mut idle = server.connect();
    idle.get("/hello");
    assert_eq!(idle.answer().status, 200);
    assert_eq!(idle.rest(), "");

    let mut busy = server.connect();
    busy.get("/slow");
    assert_eq!(busy.answer().body, b"slow");
    server.stop();
}

#[test]
fn a_head_has_a_bound() {
    let server = Server::start(|options| options.max_head = 10_000);
    let mut client = server.connect();
    client.send(&format!(
        "GET /hello HTTP/1.1\r\nhost: localhost\r\nx: {}\r\n\r\n",
        "x".repeat(9_000)
    ));
    assert_eq!(client.answer().status, 200);
    client.send(&format!(
        "GET /hello HTTP/1.1\r\nhost: localhost\r\nx: {}\r\n\r\n",
        "x".repeat(100_000)
    ));
    assert_eq!(client.answer().status, 431);
    assert_eq!(client.rest(), "");
    server.stop();
}

#[test]
fn the_number_of_headers_has_a_bound() {
    for (most, given) in [(100, 101), (10, 11)] {
        let server = Server::start(|options| options.max_headers = most);
        let mut client = server.connect();
        client.send(&format!(
            "GET /hello HTTP/1.1\r\n{}\r\n",
            "x: y\r\n".repeat(given)
        ));
        assert_eq!(client.answer().status, 431);
        server.stop();
    }
}

#[test]
fn what_is_no_http_is_refused() {
    let server = Server::start(|_| {});
    let mut client = server.connect();
    client.send("\x16\x03\x01 this is not HTTP\r\n\r\n");
    assert_eq!(client.answer().status, 400);
    assert_eq!(client.rest(), "");
    server.stop();
}

#[test]
fn too_many_connections_are_told_so() {
    let server = Server::start(|options| options.max_connections = 2);
    let mut clients = [server.connect(), server.connect()];
    for client in &mut clients {
        client.get("/hello");
        assert_eq!(client.answer().status, 200);
    }
    let mut third = server.connect();
    third.get("/hello");
    let answer = third.answer();
    assert_eq!(answer.status, 503);
    assert!(answer.head.contains("connection: close"), "{}", answer.head);
    assert_eq!(third.rest(), "");
    drop(third);

    drop(clients);
    let start = Instant::now();
    loop {
        let mut client = server.connect();
        client.get("/hello");
        if client.answer().status == 200 {
            break;
        }
        assert!(start.elapsed() < Duration::from_secs(5), "no slot is freed");
        thread::sleep(Duration::from_millis(10));
    }
    server.stop();
}

#[test]
fn a_client_that_does_not_read_is_given_up() {
    let server = Server::start(|options| options.write_timeout = Duration::from_millis(300));
    let mut client = server.connect();
    client.get("/big");
    assert_eq!(server.event(), Event::Called("/big".into()));
    let start = Instant::now();
    let Event::Asked(bytes) = server.event() else {
        panic!("the body is dropped");
    };
    assert!(start.elapsed() >= Duration::from_millis(300));
    // Far from the 64 MB there are: what the system's buffers took, and a few frames.
    assert!(bytes < 16 << 20, "{bytes} bytes were produced");
    server.stop();
}

#[test]
fn a_client_that_reads_slowly_is_served() {
    let server = Server::start(|options| options.write_timeout = Duration::from_millis(300));
    let mut client = server.connect();
    client.get("/big");
    client.head();
    let mut chunk = vec![0; 1 << 20];
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(1) {
        let read = std::io::Read::read(&mut client.socket, &mut chunk);
        assert!(read.expect("not given up") > 0);
        thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(server.event(), Event::Called("/big".into()));
    drop(client);
    assert!(matches!(server.event(), Event::Asked(_)));
    server.stop();
}
