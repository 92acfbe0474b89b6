//! What MCP does over HTTP besides the message: server-sent events, and headers that repeat what the body says.
//!
//! `sse`: a stream of 1 MiB becomes messages. `memmem` finds the empty lines and nothing else and is the floor; `lines`
//! does the least a reader of `data` can do.
//!
//! `mirror`: the headers of a call are compared with its body. `read` alone finds the envelope and is what it costs more
//! than; `Value` does the same checks on an owned tree.

extern crate alloc;

use alloc::sync::Arc;
use core::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use mcp_benches::corpus;
use mcp_benches::request::Era;
use mcp_core::Limits;
use mcp_core::binding::http::{Head, check_mirrors};
use mcp_core::engine::server::{Catalog, Message};
use mcp_core::frame::{SseOutcome, SseParser, write_event};
use mcp_core::json::RawJson;
use mcp_core::model::{Implementation, Tool};
use serde_json::Value;

/// How many messages, and how many bytes in them.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
struct Tally {
    messages: usize,
    bytes: usize,
}

impl Tally {
    fn add(&mut self, data: &[u8]) {
        self.messages += 1;
        self.bytes += black_box(data).len();
    }
}

fn parser(stream: &[u8], read: usize) -> Tally {
    let mut parser = SseParser::new(Limits::DEFAULT.max_message);
    let mut tally = Tally::default();
    let (mut used, mut arrived) = (0, 0);
    while arrived < stream.len() {
        arrived = stream.len().min(arrived + read);
        loop {
            let step = parser.next(&stream[used..arrived]);
            used += step.consumed;
            let SseOutcome::Event(event) = step.outcome else {
                break;
            };
            if let Some(message) = event.message() {
                tally.add(message);
            }
        }
    }
    tally
}

/// Events of one line each, as this stream has them.
fn memmem(stream: &[u8]) -> Tally {
    let mut tally = Tally::default();
    let mut start = 0;
    for end in memchr::memmem::find_iter(stream, b"\n\n") {
        tally.add(&stream[start + "data: ".len()..end]);
        start = end + 2;
    }
    tally
}

fn lines(stream: &[u8]) -> Tally {
    let text = core::str::from_utf8(stream).expect("text");
    let mut tally = Tally::default();
    let mut data = String::new();
    for line in text.lines() {
        if let Some(value) = line.strip_prefix("data:") {
            data.push_str(value.strip_prefix(' ').unwrap_or(value));
        } else if line.is_empty() && !data.is_empty() {
            tally.add(data.as_bytes());
            data.clear();
        }
    }
    tally
}

fn sse(criterion: &mut Criterion) {
    for (name, messages) in [
        ("mixed", corpus::all()),
        ("calls", vec![corpus::echo_call(Era::Modern)]),
        ("pings", vec![corpus::ping()]),
    ] {
        let mut stream = Vec::new();
        let mut expected = Tally::default();
        for message in messages.iter().cycle() {
            if stream.len() > 1 << 20 {
                break;
            }
            write_event(&mut stream, None, None, message.json.as_bytes()).expect("a Vec has room");
            expected.add(message.json.as_bytes());
        }
        let mut group = criterion.benchmark_group(format!("sse/{name}"));
        group.throughput(Throughput::Bytes(stream.len() as u64));
        let mut measure = |contender: &str, tally: &dyn Fn(&[u8]) -> Tally| {
            assert_eq!(tally(&stream), expected, "{contender} of {name}");
            group.bench_function(contender, |bencher| {
                bencher.iter(|| assert_eq!(tally(black_box(&stream)), expected));
            });
        };
        measure("parser", &|stream| parser(stream, stream.len()));
        measure("parser, reads of 16 KiB", &|stream| {
            parser(stream, 16 * 1024)
        });
        measure("memmem", &memmem);
        measure("lines", &lines);
        group.finish();
    }
}

const SCHEMA: &str = r#"{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"text":{"type":"string"}}}"#;

const LINES: [(&str, &str); 9] = [
    ("host", "127.0.0.1:8000"),
    ("user-agent", "client/1.4.2"),
    ("content-type", "application/json"),
    ("accept", "application/json, text/event-stream"),
    ("mcp-protocol-version", "2026-07-28"),
    ("mcp-method", "tools/call"),
    ("mcp-name", "echo"),
    ("mcp-param-region", "eu-north-1"),
    ("content-length", "400"),
];

fn head() -> Head<'static> {
    let mut head = Head::new("POST", None);
    for (name, value) in LINES {
        head.push(name, value.as_bytes());
    }
    head
}

fn value_mirrors(body: &[u8]) -> bool {
    let body: Value = serde_json::from_slice(body).expect("JSON");
    let header = |name: &str| {
        let mut lines = LINES
            .iter()
            .filter(|(other, _)| other.eq_ignore_ascii_case(name));
        lines.next().map(|(_, value)| *value)
    };
    let params = &body["params"];
    header("MCP-Protocol-Version")
        == params["_meta"]["io.modelcontextprotocol/protocolVersion"].as_str()
        && header("Mcp-Method") == body["method"].as_str()
        && header("Mcp-Name") == params["name"].as_str()
        && header("Mcp-Param-Region") == params["arguments"]["region"].as_str()
}

fn mirror(criterion: &mut Criterion) {
    let body = corpus::echo_call(Era::Modern).json;
    let body = body.replace(r#"{"text":"#, r#"{"region":"eu-north-1","text":"#);
    let bytes = body.as_bytes();
    let schema = RawJson::parse(SCHEMA.as_bytes()).expect("JSON");
    let identity = Implementation::new("bench-server", "1.0.0");
    let tools = [Tool::new("echo", schema)];
    let catalog = Catalog::builder(&identity).tools(&tools).build();
    let catalog = Arc::new(catalog.expect("a good tool"));
    let read = |bytes| Message::read(bytes, &Limits::DEFAULT);
    assert_eq!(check_mirrors(&head(), &read(bytes), &catalog), Ok(()));
    assert!(value_mirrors(bytes));
    let other = body.replace("eu-north-1", "eu-north-2");
    assert!(check_mirrors(&head(), &read(other.as_bytes()), &catalog).is_err());
    assert!(!value_mirrors(other.as_bytes()));

    let mut group = criterion.benchmark_group("mirror/call");
    group.throughput(Throughput::Elements(1));
    group.bench_function("head, read and check", |bencher| {
        bencher.iter(|| {
            let message = read(black_box(bytes));
            assert_eq!(check_mirrors(&head(), &message, &catalog), Ok(()));
        });
    });
    group.bench_function("check", |bencher| {
        let (head, message) = (head(), read(bytes));
        bencher.iter(|| assert_eq!(check_mirrors(black_box(&head), &message, &catalog), Ok(())));
    });
    group.bench_function("read", |bencher| {
        bencher.iter(|| assert!(read(black_box(bytes)).is_request()));
    });
    group.bench_function("Value", |bencher| {
        bencher.iter(|| assert!(value_mirrors(black_box(bytes))));
    });
    group.finish();
}

criterion_group!(benches, sse, mirror);
criterion_main!(benches);
