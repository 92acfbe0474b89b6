//! From the bytes of a request to the bytes of its answer: the engine beside peers built on serde_json.
//!
//! | Contender | What it does |
//! |---|---|
//! | `engine` | all of the protocol: checks, eras, ids in flight, the answer appended to a buffer that is used again |
//! | `typed peer` | hand-written structs for this one request and its answer, borrowed; into a buffer that is used again |
//! | `Value peer` | `Value` in, a `match` on the method, `json!` out, into a new buffer |
//! | `Value, parsed only` | what the last one needs before it knows the method |
//!
//! The peers answer with the same members as the engine, which is asserted; they check nothing and keep no state. All
//! four decode the argument `text` and write it into the answer.

extern crate alloc;

use alloc::borrow::Cow;
use alloc::collections::VecDeque;
use core::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use mcp_benches::corpus;
use mcp_benches::engine::{DESCRIPTION, NAME, SCHEMA, Server, VERSION, tool_names};
use mcp_benches::request::{self, Era, Template};
use mcp_core::Limits;
use mcp_core::engine::server::{CallRequest, Incoming, ReplyToken};
use mcp_core::model::key;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// How a server is first written.
struct ValuePeer {
    tools: Value,
}

impl ValuePeer {
    fn new(tools: usize) -> Self {
        let schema: Value = serde_json::from_str(SCHEMA).expect("JSON");
        let tool =
            |name| json!({"name": name, "description": DESCRIPTION, "inputSchema": schema.clone()});
        Self {
            tools: tool_names(tools).into_iter().map(tool).collect(),
        }
    }

    fn answer(&self, message: &[u8]) -> Vec<u8> {
        let request: Value = serde_json::from_slice(message).expect("JSON");
        let mut result = match request["method"].as_str() {
            Some("ping") => json!({}),
            Some("tools/list") => json!({"ttlMs": 0, "cacheScope": "private", "tools": self.tools}),
            Some("tools/call") => {
                let text = &request["params"]["arguments"]["text"];
                json!({"content": [{"type": "text", "text": text}]})
            }
            method => panic!("no method {method:?}"),
        };
        if request["params"]["_meta"].is_object() {
            result["resultType"] = "complete".into();
            result["_meta"] = json!({key::SERVER_INFO: {"name": NAME, "version": VERSION}});
        }
        let answer = json!({"jsonrpc": "2.0", "id": request["id"], "result": result});
        serde_json::to_vec(&answer).expect("strings for keys")
    }
}

#[derive(Deserialize)]
struct Call<'b> {
    #[serde(borrow)]
    id: &'b RawValue,
    #[serde(borrow)]
    method: Cow<'b, str>,
    #[serde(borrow)]
    params: CallParams<'b>,
}

#[derive(Deserialize)]
struct CallParams<'b> {
    #[serde(borrow, rename = "_meta")]
    meta: Option<&'b RawValue>,
    #[serde(borrow)]
    name: Cow<'b, str>,
    #[serde(borrow)]
    arguments: Arguments<'b>,
}

#[derive(Deserialize)]
struct Arguments<'b> {
    #[serde(borrow)]
    text: Cow<'b, str>,
}

#[derive(Serialize)]
struct Answer<'b> {
    jsonrpc: &'static str,
    id: &'b RawValue,
    result: CallResult<'b>,
}

#[derive(Serialize)]
struct CallResult<'b> {
    #[serde(rename = "resultType", skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<ResultMeta>,
    content: [Text<'b>; 1],
}

#[derive(Serialize)]
struct ResultMeta {
    #[serde(rename = "io.modelcontextprotocol/serverInfo")]
    server: ServerInfo,
}

#[derive(Serialize)]
struct ServerInfo {
    name: &'static str,
    version: &'static str,
}

#[derive(Serialize)]
struct Text<'b> {
    #[serde(rename = "type")]
    kind: &'static str,
    text: Cow<'b, str>,
}

/// As fast as serde_json can be made to answer `tools/call` of `echo`, and nothing else.
fn typed_peer<'o>(message: &[u8], out: &'o mut Vec<u8>) -> &'o [u8] {
    let call: Call<'_> = serde_json::from_slice(message).expect("a call");
    assert_eq!((&*call.method, &*call.params.name), ("tools/call", "echo"));
    let modern = call.params.meta.is_some();
    let server = ServerInfo {
        name: NAME,
        version: VERSION,
    };
    let answer = Answer {
        jsonrpc: "2.0",
        id: call.id,
        result: CallResult {
            kind: modern.then_some("complete"),
            meta: modern.then_some(ResultMeta { server }),
            content: [Text {
                kind: "text",
                text: call.params.arguments.text,
            }],
        },
    };
    out.clear();
    serde_json::to_writer(&mut *out, &answer).expect("a Vec has room");
    out
}

fn parsed(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).expect("JSON")
}

fn calls(criterion: &mut Criterion) {
    for era in [Era::Modern, Era::Legacy] {
        let message = corpus::echo_call(era);
        let bytes = message.json.as_bytes();
        let mut server = Server::new(era, 4, Limits::DEFAULT);
        let peer = ValuePeer::new(4);
        let mut out = Vec::new();
        let answer = parsed(server.answer(bytes));
        let content = &answer["result"]["content"];
        assert_eq!(
            content[0]["text"],
            parsed(bytes)["params"]["arguments"]["text"]
        );
        assert_eq!(answer, parsed(&peer.answer(bytes)));
        assert_eq!(answer, parsed(typed_peer(bytes, &mut out)));
        let len = server.answer(bytes).len();

        let mut group = criterion.benchmark_group(format!("dispatch/call/{}", era.name()));
        group.throughput(Throughput::Elements(1));
        group.bench_function("engine", |bencher| {
            bencher.iter(|| assert_eq!(server.answer(black_box(bytes)).len(), len));
        });
        group.bench_function("typed peer", |bencher| {
            bencher.iter(|| assert_eq!(typed_peer(black_box(bytes), &mut out).len(), len));
        });
        measure_value(&mut group, &peer, bytes, len);
        group.finish();
        assert_eq!(server.engine.in_flight(), 0);
    }
}

/// What the engine answers by itself.
fn own_answers(criterion: &mut Criterion) {
    let cases = [
        ("ping", Era::Legacy, 4, corpus::ping()),
        ("list_4", Era::Modern, 4, corpus::list(Era::Modern)),
        ("list_1000", Era::Modern, 1_000, corpus::list(Era::Modern)),
        ("list_10000", Era::Modern, 10_000, corpus::list(Era::Modern)),
    ];
    for (name, era, tools, message) in cases {
        let bytes = message.json.as_bytes();
        let mut server = Server::new(era, tools, Limits::DEFAULT);
        let peer = ValuePeer::new(tools);
        let answer = parsed(server.answer(bytes));
        assert_eq!(answer["id"], 42);
        assert_eq!(answer, parsed(&peer.answer(bytes)));
        if message.method == Some("tools/list") {
            assert_eq!(
                answer["result"]["tools"].as_array().map(Vec::len),
                Some(tools)
            );
        }
        let len = server.answer(bytes).len();

        let mut group = criterion.benchmark_group(format!("dispatch/{name}"));
        group.throughput(Throughput::Elements(1));
        group.bench_function("engine", |bencher| {
            bencher.iter(|| assert_eq!(server.answer(black_box(bytes)).len(), len));
        });
        measure_value(&mut group, &peer, bytes, len);
        group.finish();
    }
}

fn measure_value(
    group: &mut criterion::BenchmarkGroup<'_, criterion::measurement::WallTime>,
    peer: &ValuePeer,
    bytes: &[u8],
    len: usize,
) {
    group.bench_function("Value peer", |bencher| {
        bencher.iter(|| assert_eq!(peer.answer(black_box(bytes)).len(), len));
    });
    group.bench_function("Value, parsed only", |bencher| {
        bencher.iter(|| parsed(black_box(bytes)));
    });
}

/// A server with other calls in flight. Each turn brings a new id and answers the oldest call, so that with many of
/// them neither its place in the table nor that of its id is in a cache.
struct Crowd {
    server: Server,
    waiting: VecDeque<ReplyToken>,
    template: Template,
    line: Vec<u8>,
    next_id: u64,
}

impl Crowd {
    fn new(others: usize) -> Self {
        let mut limits = Limits::DEFAULT;
        limits.max_in_flight = others + 1;
        let mut crowd = Self {
            server: Server::new(Era::Modern, 4, limits),
            waiting: VecDeque::with_capacity(others + 1),
            template: Template::new(Era::Modern, "echo", 32),
            line: Vec::new(),
            next_id: request::FIRST_ID,
        };
        for _ in 0..others {
            crowd.call();
        }
        crowd
    }

    fn call(&mut self) {
        self.line.clear();
        self.template.append(self.next_id, &mut self.line);
        self.next_id += 1;
        let message = self.line.strip_suffix(b"\n").unwrap_or(&self.line);
        let incoming = self.server.engine.receive(message, &mut self.server.out);
        let Incoming::Call(call) = incoming else {
            panic!("not accepted: {incoming:?}");
        };
        assert!(matches!(
            call.request,
            CallRequest::Tool {
                arguments: Some(_),
                ..
            }
        ));
        self.waiting.push_back(call.token);
    }

    /// One more call, and the answer to the oldest one.
    fn turn(&mut self) -> &[u8] {
        self.server.out.clear();
        self.call();
        let oldest = self.waiting.pop_front().expect("one was just added");
        self.server.reply(oldest, "text".into());
        &self.server.out
    }
}

fn in_flight(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("dispatch/in_flight");
    group.throughput(Throughput::Elements(1));
    for others in [0, 1_000, 100_000] {
        let mut crowd = Crowd::new(others);
        assert_eq!(crowd.server.engine.in_flight(), others);
        let answer = parsed(crowd.turn());
        assert_eq!(answer["id"], request::FIRST_ID);
        assert_eq!(answer["result"]["content"][0]["text"], "text");
        let len = crowd.turn().len();
        group.bench_function(BenchmarkId::from_parameter(others), |bencher| {
            bencher.iter(|| assert_eq!(crowd.turn().len(), len));
        });
        assert_eq!(crowd.server.engine.in_flight(), others);
    }
    group.finish();
}

/// A call, by the number of tools there are, and by its length.
fn growth(criterion: &mut Criterion) {
    let call = corpus::echo_call(Era::Modern);
    let mut group = criterion.benchmark_group("dispatch/tools");
    group.throughput(Throughput::Elements(1));
    for tools in [1, 100, 10_000, 100_000] {
        let mut server = Server::new(Era::Modern, tools, Limits::DEFAULT);
        let len = server.answer(call.json.as_bytes()).len();
        group.bench_function(BenchmarkId::from_parameter(tools), |bencher| {
            bencher.iter(|| assert_eq!(server.answer(black_box(call.json.as_bytes())).len(), len));
        });
    }
    group.finish();

    let mut group = criterion.benchmark_group("dispatch/bytes");
    let mut limits = Limits::DEFAULT;
    limits.max_message = 128 << 20;
    let mut server = Server::new(Era::Modern, 4, limits);
    for len in [512, 4 << 10, 64 << 10, 1 << 20, 16 << 20, 64 << 20] {
        let call = corpus::echo_call_of(len);
        let answer = server.answer(call.json.as_bytes()).len();
        group.throughput(Throughput::Bytes(len as u64));
        group.sample_size(if len > 1 << 20 { 10 } else { 100 });
        group.bench_function(BenchmarkId::from_parameter(len), |bencher| {
            bencher.iter(|| {
                assert_eq!(server.answer(black_box(call.json.as_bytes())).len(), answer);
            });
        });
    }
    group.finish();
}

criterion_group!(benches, calls, own_answers, in_flight, growth);
criterion_main!(benches);
