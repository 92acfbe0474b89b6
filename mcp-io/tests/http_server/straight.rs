//! Connections before they are hyper's.

use std::net::Shutdown;
use std::thread;
use std::time::{Duration, Instant};

use mcp_io::http::server::Options;

use crate::client::Client;
use crate::service::{Event, LONG, Server};

/// A request, and what is done with it: `json` is answered at once, `begun` and `begun-stream` are not, and anything else
/// is declined. Its body is sent back.
fn post(what: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "POST /json?{what} HTTP/1.1\r\nhost: localhost\r\ncontent-length: {length}\r\n\r\n{body}"
    )
}

/// What is received, with the dates made the same.
fn undated(text: &str) -> String {
    let mut lines: Vec<_> = text.split("\r\n").collect();
    for line in &mut lines {
        if line.starts_with("date: ") {
            *line = "date: now";
        }
    }
    lines.join("\r\n")
}

/// Whoever answers, and wherever what is sent is cut in two.
#[test]
fn the_same_is_answered_as_by_hyper() {
    let (straight, hyper) = (Server::start(|_| {}), Server::start_plain(|_| {}));
    let last = "POST /json HTTP/1.1\r\nconnection: close\r\ncontent-length: 3\r\n\r\nend";
    let long = "x".repeat(3000);
    for requests in [
        [post("json", "{}"), post("json", &long), post("json", "3")],
        [post("json", "{}"), post("begun", &long), post("json", "3")],
        [post("x", "1"), post("begun", "2"), post("json", "3")],
        [post("json", "1"), String::new(), post("begun-stream", "3")],
    ] {
        let text = [&requests.concat(), last].concat();
        let answers = |server: &Server, cuts: &[usize]| {
            let mut client = server.connect();
            let mut sent = 0;
            for cut in cuts {
                client.send(&text[sent..*cut]);
                sent = *cut;
                thread::sleep(Duration::from_millis(3));
            }
            client.send(&text[sent..]);
            undated(&client.rest())
        };
        let whole = answers(&hyper, &[]);
        assert_eq!(
            whole.matches("HTTP/1.1 200 OK").count(),
            3 + usize::from(!requests[1].is_empty())
        );
        // Each for itself, all in one, and cut anywhere.
        let first = requests[0].len();
        let second = first + requests[1].len();
        let third = second + requests[2].len();
        assert_eq!(answers(&straight, &[first, second, third]), whole);
        assert_eq!(answers(&straight, &[]), whole);
        for cut in (1..text.len()).step_by(text.len() / 60) {
            assert_eq!(answers(&straight, &[cut]), whole, "{cut}");
            assert_eq!(answers(&straight, &[first, first.max(cut)]), whole, "{cut}");
        }
    }
    straight.stop();
    hyper.stop();
}

/// A stream that was begun before hyper had the connection can be parked as any other, and leaves it in order.
#[test]
fn what_was_begun_goes_on() {
    let server = Server::start(|_| {});
    let mut client = server.connect();
    client.send(&post("json", "1"));
    assert_eq!(client.answer().body, b"1");
    // Longer than what hyper reads at once.
    client.send(&post("begun-stream", &"x".repeat(12_000)));
    client.until("really last\r\n0\r\n\r\n");
    client.get("/hello");
    assert_eq!(client.answer().body, b"hello");
    server.stop();
}

#[test]
fn a_client_that_leaves_ends_what_was_begun() {
    let server = Server::start(|_| {});
    for half in [false, true] {
        let mut client = server.connect();
        client.send(&post("begun-endless", "1"));
        client.until("first");
        if half {
            client.socket.shutdown(Shutdown::Write).expect("connected");
        } else {
            drop(client);
        }
        assert_eq!(server.event(), Event::Dropped);
    }
    server.stop();
}

/// It has said all it has to say, and reads.
#[test]
fn a_client_that_closes_its_half_is_answered() {
    let server = Server::start(|_| {});
    for what in ["json", "x"] {
        let mut client = server.connect();
        client.send(&post(what, "1"));
        client.socket.shutdown(Shutdown::Write).expect("connected");
        assert_eq!(client.answer().body, b"1");
        assert_eq!(client.rest(), "");
    }
    server.stop();
}

#[test]
fn times_are_kept() {
    let server = Server::start(|options| {
        options.head_timeout = Duration::from_millis(150);
        options.idle_timeout = Duration::from_millis(400);
    });
    let lasted = |client: &mut Client<_>| {
        let start = Instant::now();
        assert_eq!(client.rest(), "");
        start.elapsed().as_millis()
    };
    let mut client = server.connect();
    assert!((100..350).contains(&lasted(&mut client)));
    let mut client = server.connect();
    client.send(&post("json", "1"));
    client.answer();
    thread::sleep(Duration::from_millis(250));
    client.send(&post("json", "1"));
    client.answer();
    assert!((350..).contains(&lasted(&mut client)));
    // The head of a request begins.
    let mut client = server.connect();
    client.send(&post("json", "1"));
    client.answer();
    client.send("POST");
    assert!((100..350).contains(&lasted(&mut client)));
    server.stop();
}

/// More than the socket takes at once.
#[test]
fn a_long_answer_waits_for_its_reader() {
    let server = Server::start(|options| {
        options.write_timeout = Duration::from_millis(400);
        options.max_connections = 1;
    });
    let mut client = server.connect();
    client.send(&post("json-long", "1"));
    thread::sleep(Duration::from_millis(50));
    assert_eq!(client.answer().body.len(), LONG);
    client.send(&post("json", "1"));
    assert_eq!(client.answer().body, b"1");

    // It never reads: its connection is given up, with most of the answer, and there is room for another one.
    client.send(&post("json-long", "1"));
    let start = Instant::now();
    while server.status(&post("json", "1")) != 200 {
        assert!(start.elapsed() < Duration::from_secs(5));
        thread::sleep(Duration::from_millis(100));
    }
    assert!(!client.rest_is_whole(LONG));
    server.stop();
}

/// It takes longer than a connection may be idle, and longer than a client may read nothing: this one reads all the time.
#[test]
fn a_long_answer_may_be_read_slowly() {
    let slowly = |server: Server, request: &str| {
        let mut client = server.connect();
        client.send(request);
        client.head();
        let mut chunk = vec![0; 1 << 20];
        // Some of it may have come with the head.
        let mut left = LONG - client.received.len();
        client.received.clear();
        while left > 0 {
            thread::sleep(Duration::from_millis(30));
            match std::io::Read::read(&mut client.socket, &mut chunk) {
                Ok(read @ 1..) => left -= read,
                other => panic!("{other:?}, and {left} bytes are missing"),
            }
        }
        client.get("/hello");
        assert_eq!(client.answer().body, b"hello");
        server.stop();
    };
    let times = |options: &mut Options| {
        options.idle_timeout = Duration::from_millis(200);
        options.write_timeout = Duration::from_millis(400);
    };
    slowly(Server::start(times), &post("json-long", "1"));
    slowly(
        Server::start_plain(times),
        "GET /long HTTP/1.1\r\nhost: localhost\r\n\r\n",
    );
}

/// What has come before the end began is answered, whichever the connection looks at first.
#[test]
fn a_request_that_has_come_is_answered_in_a_shutdown() {
    let server = Server::start(|options| options.threads = 1);
    let mut clients: Vec<_> = (0..20).map(|_| server.connect()).collect();
    for client in &mut clients {
        client.send(&post("json", "1"));
        assert_eq!(client.answer().body, b"1");
    }
    // Nobody looks at what is sent now before the shutdown has begun.
    let mut blocks = server.connect();
    blocks.get("/block");
    assert_eq!(server.event(), Event::Called("/block".into()));
    for client in &mut clients {
        client.send(&post("json", "22"));
    }
    thread::sleep(Duration::from_millis(50));
    server.token.begin();
    for client in &mut clients {
        assert_eq!(client.answer().body, b"22");
        assert_eq!(client.rest(), "");
    }
    server.join();
}

#[test]
fn a_shutdown_ends_what_waits_and_not_what_is_answered() {
    let server = Server::start(|_| {});
    let mut used = server.connect();
    used.send(&post("json", "1"));
    used.answer();
    let mut reading = server.connect();
    reading.send(&post("json-long", "1"));
    reading.head();
    let start = Instant::now();
    server.token.begin();
    assert_eq!(used.rest(), "");
    assert_eq!(reading.rest().len(), LONG);
    server.join();
    assert!(start.elapsed() < Duration::from_secs(5));
}

#[test]
fn a_panic_ends_one_connection() {
    let server = Server::start(|_| {});
    let mut client = server.connect();
    client.send(&post("json", "1"));
    client.answer();
    client.send(&post("panic", "1"));
    assert_eq!(client.rest(), "");
    let mut client = server.connect();
    client.send(&post("json", "1"));
    assert_eq!(client.answer().body, b"1");
    server.stop();
}
