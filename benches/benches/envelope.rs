//! From the bytes of one message to its envelope: id, method, and the span of its params or result.
//!
//! | Contender | Validates | Gives |
//! |---|---|---|
//! | `envelope` | all of the text, as JSON-RPC | the borrowed envelope |
//! | `envelope, params` | the same | the envelope, and the members of params that MCP knows |
//! | `serde_json RawValue` | all of the text, as JSON | the same borrowed members, unchecked |
//! | `serde_json Value` | the same | an owned tree; its destruction is part of the figure |
//! | `simd-json value` | the same | a tree borrowed from a copy of the message |
//! | `simd-json tape` | the same | a flat list of nodes, in which the members are still to be found |
//! | `simd-json tape, reused` | the same | the same; copy, padding, scratch and list are used again |
//! | `copy` | nothing | a copy of the message in a buffer that is used again |
//!
//! simd-json parses in place and destroys its input, so each turn has to copy the message first. A server that reads into
//! a padded buffer and needs the bytes only once would save that: `simd-json tape, reused` less `copy` is its best case.

extern crate alloc;

use alloc::borrow::Cow;
use core::hint::black_box;
use core::mem;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use mcp_benches::corpus::{self, Message};
use mcp_core::Limits;
use mcp_core::model::Params;
use mcp_core::rpc::{Envelope, Outcome};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use simd_json::prelude::{ValueObjectAccess, ValueObjectAccessAsScalar};
use simd_json::{Buffers, INPUT_PADDING, Tape};

#[derive(Deserialize)]
struct Borrowed<'b> {
    jsonrpc: &'b str,
    #[serde(borrow)]
    id: Option<&'b RawValue>,
    #[serde(borrow)]
    method: Option<Cow<'b, str>>,
    #[serde(borrow)]
    params: Option<&'b RawValue>,
    #[serde(borrow)]
    result: Option<&'b RawValue>,
    #[serde(borrow)]
    error: Option<&'b RawValue>,
}

fn ours<'b>(bytes: &'b [u8]) -> Envelope<'b> {
    Envelope::parse(bytes, &Limits::DEFAULT).expect("a good message")
}

fn ours_with_params<'b>(bytes: &'b [u8]) -> (Envelope<'b>, Params<'b>) {
    let mut params = Params::default();
    let envelope = Envelope::parse_with(bytes, &Limits::DEFAULT, &mut params);
    (envelope.expect("a good message"), params)
}

fn borrowed<'b>(bytes: &'b [u8]) -> Borrowed<'b> {
    serde_json::from_slice(bytes).expect("JSON")
}

fn value(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).expect("JSON")
}

/// How many nodes it has.
fn simd_tape(bytes: &[u8]) -> usize {
    let mut copy = bytes.to_vec();
    let tape = simd_json::to_tape(&mut copy).expect("JSON");
    black_box(&tape).0.len()
}

/// Whether it is an object.
fn simd_value(bytes: &[u8]) -> bool {
    let mut copy = bytes.to_vec();
    let value = simd_json::to_borrowed_value(&mut copy).expect("JSON");
    black_box(&value).contains_key("jsonrpc")
}

/// Everything that simd-json can use again.
struct Reused {
    input: Vec<u8>,
    buffers: Buffers,
    tape: Tape<'static>,
}

impl Reused {
    fn new(len: usize) -> Self {
        Self {
            input: vec![0; len + INPUT_PADDING],
            buffers: Buffers::new(len),
            tape: Tape::null(),
        }
    }

    /// How many nodes the message has.
    fn parse(&mut self, bytes: &[u8]) -> usize {
        self.input[..bytes.len()].copy_from_slice(bytes);
        let mut tape = mem::replace(&mut self.tape, Tape(Vec::new())).reset();
        simd_json::fill_tape_padded(&mut self.input, bytes.len(), &mut self.buffers, &mut tape)
            .expect("JSON");
        let nodes = black_box(&tape).0.len();
        self.tape = tape.reset();
        nodes
    }
}

/// All contenders find the same members.
fn check(message: &Message) {
    let bytes = message.json.as_bytes();
    let borrowed = borrowed(bytes);
    assert_eq!(borrowed.jsonrpc, "2.0");
    assert_eq!(borrowed.method.as_deref(), message.method);
    assert!(borrowed.error.is_none());
    let id = borrowed.id.map(RawValue::get);

    let payload = |envelope: &Envelope<'_>| match (envelope, message.method) {
        (Envelope::Request(request), Some(method)) => {
            assert!(request.method == method);
            assert_eq!(Some(request.id.raw().as_str()), id);
            request.params.map(|params| params.as_str().to_owned())
        }
        (Envelope::Response(response), None) => {
            assert_eq!(response.id.map(|id| id.raw().as_str()), id);
            let Outcome::Result(result) = response.outcome else {
                panic!("{} is an error", message.name);
            };
            Some(result.as_str().to_owned())
        }
        (envelope, _) => panic!("{} is {envelope:?}", message.name),
    };
    let expected = borrowed.params.or(borrowed.result).map(RawValue::get);
    assert_eq!(payload(&ours(bytes)).as_deref(), expected);
    let (envelope, params) = ours_with_params(bytes);
    assert_eq!(payload(&envelope).as_deref(), expected);
    assert_eq!(params.name.is_some(), message.method == Some("tools/call"));

    assert_eq!(value(bytes)["method"].as_str(), message.method);
    let mut copy = bytes.to_vec();
    let simd_value = simd_json::to_borrowed_value(&mut copy).expect("JSON");
    assert_eq!(simd_value.get_str("method"), message.method);
    assert_eq!(simd_value.get_u64("id"), Some(42));
    assert_eq!(
        Reused::new(bytes.len()).parse(bytes),
        simd_tape(bytes),
        "nodes"
    );
}

fn envelope(criterion: &mut Criterion) {
    for message in corpus::all() {
        check(&message);
        let bytes = message.json.as_bytes();
        let mut group = criterion.benchmark_group(format!("envelope/{}", message.name));
        group.throughput(Throughput::Bytes(bytes.len() as u64));
        group.bench_function("envelope", |bencher| {
            bencher.iter(|| ours(black_box(bytes)));
        });
        group.bench_function("envelope, params", |bencher| {
            bencher.iter(|| ours_with_params(black_box(bytes)));
        });
        group.bench_function("serde_json RawValue", |bencher| {
            bencher.iter(|| borrowed(black_box(bytes)));
        });
        group.bench_function("serde_json Value", |bencher| {
            bencher.iter(|| value(black_box(bytes)));
        });
        group.bench_function("simd-json value", |bencher| {
            bencher.iter(|| assert!(simd_value(black_box(bytes))));
        });
        let nodes = simd_tape(bytes);
        group.bench_function("simd-json tape", |bencher| {
            bencher.iter(|| assert_eq!(simd_tape(black_box(bytes)), nodes));
        });
        let mut reused = Reused::new(bytes.len());
        group.bench_function("simd-json tape, reused", |bencher| {
            bencher.iter(|| assert_eq!(reused.parse(black_box(bytes)), nodes));
        });
        group.bench_function("copy", |bencher| {
            let mut copy = vec![0; bytes.len()];
            bencher.iter(|| {
                copy.copy_from_slice(black_box(bytes));
                black_box(&mut copy);
            });
        });
        group.finish();
    }
}

criterion_group!(benches, envelope);
criterion_main!(benches);
