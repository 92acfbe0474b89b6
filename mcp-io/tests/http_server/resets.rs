//! A client whose connection is reset, in each state that one can be in.

use std::io::Read;
use std::thread;
use std::time::{Duration, Instant};

use mcp_io::http::server::Options;

use crate::service::Server;

/// What a client says before it is gone, and how many bytes it reads first.
fn states() -> Vec<(&'static str, String, usize)> {
    let get = |path: &str| format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n");
    let post = |what: &str, length: usize, body: &str| {
        format!("POST {what} HTTP/1.1\r\nhost: localhost\r\ncontent-length: {length}\r\n\r\n{body}")
    };
    vec![
        ("nothing said", String::new(), 0),
        ("a part of a head", "POST /json?json HT".to_owned(), 0),
        ("a head without its body", post("/json?json", 100, ""), 0),
        ("a part of a body", post("/json?json", 100, "{"), 0),
        (
            "a part of a long body",
            post("/echo", 900, &"x".repeat(500)),
            0,
        ),
        (
            "a chunk without its end",
            [
                "POST /echo HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n",
                "10\r\nxxxx",
            ]
            .concat(),
            0,
        ),
        ("a handler at work", get("/slow"), 0),
        (
            "a handler that was begun at once",
            post("/json?begun", 2, "{}"),
            0,
        ),
        ("idle after an answer", get("/hello"), 20),
        (
            "idle after an answer at once",
            post("/json?json", 2, "{}"),
            20,
        ),
        ("a stream that has begun", get("/stream"), 20),
        ("a parked stream", get("/parked-endless"), 20),
        (
            "a parked stream that was begun at once",
            post("/json?begun-endless", 2, "{}"),
            20,
        ),
        (
            "an answer that is not read",
            post("/json?json-long", 2, "{}"),
            1,
        ),
        ("a stream that is not read", get("/big"), 1),
        ("a parked stream that is not read", get("/parked-big"), 1),
        (
            "a request behind a stream",
            [get("/parked"), get("/hello")].concat(),
            20,
        ),
        (
            "a request behind another",
            [get("/slow"), post("/json?json", 100, "{")].concat(),
            0,
        ),
    ]
}

/// It costs its own exchange, and gives its place back at once: with a place for one only, the next client is served.
#[test]
fn a_reset_frees_the_place_of_its_connection() {
    let one = |options: &mut Options| options.max_connections = 1;
    for server in [Server::start(one), Server::start_plain(one)] {
        for (state, text, read) in states() {
            let mut client = server.connect();
            client.send(&text);
            if read > 0 {
                let mut some = vec![0; read];
                client.socket.read_exact(&mut some).expect(state);
                // Until the server has written what it can.
                thread::sleep(Duration::from_millis(20));
            }
            rustix::net::sockopt::set_socket_linger(&client.socket, Some(Duration::ZERO))
                .expect("a socket");
            drop(client);
            let begun = Instant::now();
            while server
                .status("GET /hello HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
                != 200
            {
                assert!(begun.elapsed() < Duration::from_secs(5), "{state}");
                thread::sleep(Duration::from_millis(2));
            }
        }
        server.stop();
    }
}
