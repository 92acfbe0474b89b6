use std::convert::Infallible;
use std::io;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body::{Body, Frame};
use hyper::body::Incoming;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper::server::conn::http1::Builder;
use hyper::service::service_fn;

use super::*;
use crate::http::server::collect;

const BOUNDS: Bounds = Bounds {
    head: 64 << 10,
    headers: 100,
};

/// A request as those see it who answer it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
struct Seen {
    query: Option<String>,
    /// By name; lines of the same name in their order.
    headers: Vec<(String, Vec<u8>)>,
    body: Vec<u8>,
}

impl Seen {
    fn new<'a>(
        query: Option<&str>,
        headers: impl Iterator<Item = (&'a str, &'a [u8])>,
        body: &[u8],
    ) -> Self {
        let headers = headers.map(|(name, value)| (name.to_ascii_lowercase(), value.to_vec()));
        let mut headers: Vec<_> = headers.collect();
        headers.sort_by(|one, other| one.0.cmp(&other.0));
        Self {
            query: query.map(Into::into),
            headers,
            body: body.to_vec(),
        }
    }
}

fn plainly(bytes: &[u8]) -> Option<Seen> {
    Plain::read(bytes, BOUNDS, |request| {
        Seen::new(request.query(), request.headers(), request.body())
    })
}

/// A socket whose client sends this and then waits.
struct Memory<'a> {
    input: &'a [u8],
    output: &'a mut Vec<u8>,
}

impl Read for Memory<'_> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        mut cursor: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        if self.input.is_empty() {
            return Poll::Pending;
        }
        let (now, later) = self
            .input
            .split_at(cursor.remaining().min(self.input.len()));
        cursor.put_slice(now);
        self.input = later;
        Poll::Ready(Ok(()))
    }
}

impl Write for Memory<'_> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.output.extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

struct Text(Option<Bytes>);

impl Body for Text {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.take().map(|text| Ok(Frame::data(text))))
    }
}

/// What hyper reads: all requests, what it answers, and whether it waits for more.
fn by_hyper(input: &[u8]) -> (Vec<Seen>, String, bool) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let mut output = Vec::new();
    let memory = Memory {
        input,
        output: &mut output,
    };
    let service = service_fn(|request: Request<Incoming>| {
        let seen = seen.clone();
        async move {
            let (head, body) = request.into_parts();
            let body = collect(body, usize::MAX, Duration::from_secs(5)).await;
            let headers = head.headers.iter();
            let headers = headers.map(|(name, value)| (name.as_str(), value.as_bytes()));
            let body = body.expect("it is whole");
            assert_eq!(head.method, "POST");
            let request = Seen::new(head.uri.query(), headers, &body);
            seen.lock().expect("one thread").push(request);
            Ok::<_, Infallible>(Response::new(Text(None)))
        }
    });
    let mut builder = Builder::new();
    builder.header_read_timeout(None).half_close(true);
    let waits = {
        let mut connection = pin!(builder.serve_connection(memory, service));
        let mut cx = Context::from_waker(Waker::noop());
        (0..4).all(|_| connection.as_mut().poll(&mut cx).is_pending())
    };
    let seen = core::mem::take(&mut *seen.lock().expect("one thread"));
    (seen, String::from_utf8(output).expect("ASCII"), waits)
}

const USUAL: &str = "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:8000\r\nContent-Type: application/json\r\nAccept: \
    application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: \
    tools/call\r\nContent-Length: 12\r\n\r\n{\"id\":1,\"\r\":";

const OTHERS: [&str; 3] = [
    "POST / HTTP/1.1\r\ncontent-length: 1\r\n\r\nx",
    "\r\nPOST /a/b?sessionId=1&c HTTP/1.1\nhost:x\nconnection: keep-alive\nContent-length: 3\n\nabc",
    "POST /?a=? HTTP/1.1\r\nx-one:  \t 1 \t\r\nX-One: 2\r\nx-odd: \u{e9}\r\nconnection: Keep-Alive\r\ncontent-LENGTH:03\r\n\r\n\r\n\r",
];

#[test]
fn a_request_that_came_whole_is_read() {
    for (text, query, headers, body) in [
        (USUAL, None, 6, "{\"id\":1,\"\r\":"),
        (OTHERS[0], None, 1, "x"),
        (OTHERS[1], Some("sessionId=1&c"), 3, "abc"),
        (OTHERS[2], Some("a=?"), 5, "\r\n\r"),
    ] {
        let seen = plainly(text.as_bytes()).expect(text);
        assert_eq!(seen.query.as_deref(), query);
        assert_eq!(seen.headers.len(), headers);
        assert_eq!(seen.body, body.as_bytes());
    }
}

/// Whatever is there of it, and whatever comes with it.
#[test]
fn a_part_of_a_request_is_not_taken_nor_more_than_one() {
    for text in [USUAL].iter().chain(&OTHERS) {
        for end in 0..text.len() {
            assert_eq!(plainly(&text.as_bytes()[..end]), None, "{text} {end}");
        }
        for more in ["\r", "\n", "\r\n", "P", USUAL] {
            let pipelined = format!("{text}{more}");
            assert_eq!(plainly(pipelined.as_bytes()), None, "{pipelined}");
        }
    }
}

#[test]
fn what_is_hypers_is_declined() {
    for line in [
        "Transfer-Encoding: chunked",
        "transfer-encoding: identity",
        "Connection: close",
        "Connection: keep-alive, close",
        "Connection: upgrade",
        "Expect: 100-continue",
        "Upgrade: h2c",
        "TE: trailers",
        "Trailer: x",
        "Content-Length: 12",
        "Content-Length: 13",
        "Content-Length : 12",
        "a b: c",
        " folded",
    ] {
        let text = USUAL.replacen("\r\n", &format!("\r\n{line}\r\n"), 1);
        assert_eq!(plainly(text.as_bytes()), None, "{line}");
    }
    for (from, to) in [
        ("POST", "GET"),
        ("POST", "post"),
        ("HTTP/1.1", "HTTP/1.0"),
        ("/mcp", "*"),
        ("/mcp", "http://127.0.0.1:8000/mcp"),
        ("/mcp", "/#a"),
        ("/mcp", "/\u{e9}"),
        ("/mcp", "/|"),
        ("Length: 12", "Length: +12"),
        ("Length: 12", "Length: 12 12"),
        ("Length: 12", "Length: "),
        ("Length: 12", "Length: 99999999999999999999"),
        ("Content-Length: 12\r\n", ""),
    ] {
        let text = USUAL.replacen(from, to, 1);
        assert_eq!(plainly(text.as_bytes()), None, "{to}");
    }
    let empty = "POST / HTTP/1.1\r\ncontent-length: 0\r\n\r\n";
    assert_eq!(plainly(empty.as_bytes()), None);
}

#[test]
fn a_head_has_its_bounds() {
    let taken =
        |head, headers| Plain::read(USUAL.as_bytes(), Bounds { head, headers }, |_| ()).is_some();
    let head = USUAL.len() - 12;
    assert!(taken(head, 6));
    assert!(!taken(head - 1, 6));
    assert!(!taken(head, 5));
    let many = |count| {
        let lines = "a: b\r\n".repeat(count);
        USUAL.replacen("Host", &format!("{lines}Host"), 1)
    };
    assert!(plainly(many(HEADERS - 6).as_bytes()).is_some());
    assert!(plainly(many(HEADERS - 5).as_bytes()).is_none());
}

/// Two readers of one thing must not differ: what is taken here hyper would have taken, as the same one request, and would
/// have gone on with the connection.
#[test]
fn hyper_reads_the_same() {
    const PIECES: [&[u8]; 26] = [
        b"\r\n",
        b"\n",
        b"\r",
        b" ",
        b"\t",
        b":",
        b"\0",
        b"\x7f",
        b"\xff",
        b"%",
        b"?",
        b"#",
        b"//",
        b"HTTP/1.1",
        b"Content-Length: 1\r\n",
        b"content-length: 12\r\n",
        b"Transfer-Encoding: chunked\r\n",
        b"Connection: close\r\n",
        b"connection: keep-alive\r\n",
        b"Connection: x, close\r\n",
        b"Keep-Alive: timeout=5\r\n",
        b"Proxy-Connection: close\r\n",
        b"X: \x80\r\n",
        b"Expect: x\r\n",
        b"Host:\r\n",
        b"0",
    ];
    // A fixed seed: each run is the same.
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 33) as usize % below
    };
    let mut taken = 0;
    for round in 0..30_000 {
        let text = match round % 4 {
            0 => OTHERS[random(3)],
            _ => USUAL,
        };
        let mut bytes = text.as_bytes().to_vec();
        for _ in 0..random(3) {
            let at = random(bytes.len());
            match random(4) {
                0 => bytes[at] = random(256) as u8,
                1 => drop(bytes.remove(at)),
                2 => drop(bytes.splice(at..at, PIECES[random(PIECES.len())].iter().copied())),
                _ => {
                    let lines: Vec<_> = (0..at).filter(|&at| bytes[at] == b'\n').collect();
                    if let Some(at) = lines.get(random(lines.len().max(1))) {
                        let piece = PIECES[random(PIECES.len())].iter().copied();
                        drop(bytes.splice(at + 1..at + 1, piece));
                    }
                }
            }
        }
        let Some(seen) = plainly(&bytes) else {
            continue;
        };
        taken += 1;
        let (by_hyper, answered, waits) = by_hyper(&bytes);
        let shown = bytes.escape_ascii();
        assert_eq!(by_hyper, [seen], "{shown}");
        assert!(answered.starts_with("HTTP/1.1 200 OK\r\n"), "{shown}");
        assert!(!answered.contains("connection:") && waits, "{shown}");
    }
    assert!(taken > 5_000, "{taken}");
}
