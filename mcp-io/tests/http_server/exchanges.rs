//! Requests and responses, one connection at a time and many.

use mcp_io::http::server::{Error, Listener};

use crate::client::Client;
use crate::service::{Event, Server};

#[test]
fn a_connection_serves_many_requests() {
    let server = Server::start(|_| {});
    let mut client = server.connect();
    for _ in 0..3 {
        client.get("/hello");
        let answer = client.answer();
        assert_eq!((answer.status, &*answer.body), (200, &b"hello"[..]));
        assert!(
            !answer.head.contains("connection: close"),
            "{}",
            answer.head
        );
    }
    server.stop();
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let server = Server::start(|_| {});
    let mut client = server.connect();
    client.send(
        "GET /slow HTTP/1.1\r\nhost: localhost\r\n\r\n\
         GET /hello HTTP/1.1\r\nhost: localhost\r\n\r\n",
    );
    assert_eq!(client.answer().body, b"slow");
    assert_eq!(client.answer().body, b"hello");
    server.stop();
}

#[test]
fn a_client_may_ask_for_the_end() {
    let server = Server::start(|_| {});
    let mut client = server.connect();
    client.send("GET /hello HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
    assert_eq!(client.answer().body, b"hello");
    assert_eq!(client.rest(), "");
    server.stop();
}

#[test]
fn a_panic_ends_one_connection() {
    let server = Server::start(|_| {});
    let mut other = server.connect();
    other.get("/hello");
    assert_eq!(other.answer().body, b"hello");

    let mut client = server.connect();
    client.get("/panic");
    assert_eq!(client.rest(), "");

    other.get("/hello");
    assert_eq!(other.answer().body, b"hello");
    server.stop();
}

#[test]
fn several_threads_serve() {
    let server = Server::start(|options| options.threads = 2);
    let address = server.address.expect("listens at TCP");
    let clients: Vec<_> = (0..8)
        .map(|_| {
            std::thread::spawn(move || {
                let mut client = Client::connect(address);
                for _ in 0..50 {
                    client.get("/hello");
                    assert_eq!(client.answer().body, b"hello");
                }
            })
        })
        .collect();
    for client in clients {
        client.join().expect("all is answered");
    }
    server.stop();
}

/// The thread that happens to wait for the sockets is one of those that are blocked, sooner or later.
#[test]
fn who_blocks_a_thread_holds_up_nobody_while_there_is_another() {
    const THREADS: usize = 4;

    let server = Server::start(|options| options.threads = THREADS);
    let mut blocked = Vec::new();
    for _ in 1..THREADS {
        let mut client = server.connect();
        client.get("/block");
        assert_eq!(server.event(), Event::Called("/block".into()));
        blocked.push(client);
        let mut client = server.connect();
        for _ in 0..100 {
            client.get("/hello");
            assert_eq!(client.answer().body, b"hello");
            assert_eq!(server.event(), Event::Called("/hello".into()));
        }
    }
    server.token.begin();
    for mut client in blocked {
        assert_eq!(client.answer().body, b"blocked");
    }
    server.join();
}

#[test]
fn a_port_is_free_again_at_once() {
    let server = Server::start(|_| {});
    let address = server.address.expect("listens at TCP");
    let mut client = server.connect();
    client.get("/hello");
    assert_eq!(client.answer().body, b"hello");
    server.stop();
    assert_eq!(client.rest(), "");
    // The server has closed first, so its end of the connection lingers in the system.
    Listener::bind(address).expect("nobody listens there any more");
}

#[test]
fn a_taken_port_is_an_error() {
    let listener = Listener::bind("127.0.0.1:0").expect("loopback can be listened at");
    let address = listener.local_addr().expect("listens at TCP");
    let error = Listener::bind(address).expect_err("it is taken");
    assert!(matches!(error, Error::Listen(_)), "{error}");
    assert!(error.to_string().contains(&address.to_string()), "{error}");
}

#[cfg(unix)]
mod unix {
    use std::os::unix::net::{UnixListener, UnixStream};
    use std::path::PathBuf;
    use std::time::Duration;

    use super::*;

    fn path(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("mcp-io-{}-{name}.sock", std::process::id()))
    }

    fn connect(path: &PathBuf) -> Client<UnixStream> {
        let socket = UnixStream::connect(path).expect("the server listens");
        socket
            .set_read_timeout(Some(Duration::from_secs(5)))
            .expect("not zero");
        Client::over(socket)
    }

    #[test]
    fn a_unix_socket_is_listened_at_and_removed() {
        let path = path("served");
        let listener = Listener::bind_unix(&path).expect("nobody listens");
        let server = Server::on(listener, |_| {});
        let mut client = connect(&path);
        client.get("/hello");
        assert_eq!(client.answer().body, b"hello");
        client.get("/stream");
        client.until("first");
        assert_eq!(server.event(), Event::Called("/hello".into()));
        assert_eq!(server.event(), Event::Called("/stream".into()));
        drop(client);
        assert_eq!(server.event(), Event::Dropped);
        server.stop();
        assert!(!path.exists());
    }

    #[test]
    fn a_socket_that_was_left_behind_is_replaced() {
        let path = path("left");
        drop(UnixListener::bind(&path).expect("nobody listens"));
        let listener = Listener::bind_unix(&path).expect("nobody listens any more");
        let error = Listener::bind_unix(&path).expect_err("somebody does");
        assert!(matches!(error, Error::Listen(_)), "{error}");
        drop(listener);
        assert!(!path.exists());
    }

    #[test]
    fn another_file_is_left_alone() {
        let path = path("file");
        std::fs::write(&path, "of worth").expect("can be written");
        Listener::bind_unix(&path).expect_err("not a socket");
        assert_eq!(std::fs::read(&path).expect("still there"), b"of worth");
        std::fs::remove_file(&path).expect("still there");
    }
}
