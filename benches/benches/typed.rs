//! From the bytes of a message to the handler's type, and from a result to bytes.
//!
//! `decode`: a call whose arguments are rows of structured data becomes `Import`, owned. Ours finds the envelope and then
//! decodes the span of the arguments with serde_json, as mcp-std does; the peers decode the whole message into a struct,
//! and `simd-json` and `sonic-rs` the same span in place of serde_json. What is checked differs: see `envelope`.
//!
//! `encode`: an answer with its id, into a buffer that is used again.

use core::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use mcp_benches::corpus::{self, Message};
use mcp_core::Limits;
use mcp_core::json::{Json, RawJson, Writer};
use mcp_core::model::{CallToolResult, ContentBlock, EncodeResult as _, Params, ProtocolVersion};
use mcp_core::rpc::{Envelope, write_result};
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Debug, Deserialize, PartialEq, Serialize)]
struct Import {
    dry_run: bool,
    rows: Vec<Row>,
}

#[derive(Debug, Deserialize, PartialEq, Serialize)]
struct Row {
    id: u64,
    sku: String,
    name: String,
    price: f64,
    stock: u32,
    active: bool,
    weight: f64,
    replaces: Option<u64>,
    tags: Vec<String>,
    size: Size,
}

#[derive(Debug, Deserialize, PartialEq, Serialize)]
struct Size {
    width: u32,
    height: u32,
    unit: String,
}

#[derive(Deserialize)]
struct Whole {
    params: WholeParams,
}

#[derive(Deserialize)]
struct WholeParams {
    arguments: Import,
}

fn arguments(bytes: &[u8]) -> RawJson<'_> {
    let mut params = Params::default();
    Envelope::parse_with(bytes, &Limits::DEFAULT, &mut params).expect("a good message");
    params.arguments.expect("arguments")
}

fn decode(criterion: &mut Criterion) {
    for message in [
        corpus::structured_arguments(),
        corpus::structured_megabyte(),
    ] {
        let bytes = message.json.as_bytes();
        let expected: Import = serde_json::from_str(corpus::payload(&message)).expect("rows");
        let rows = expected.rows.len();
        assert!(rows > 10);

        let mut group = criterion.benchmark_group(format!("decode/{}", message.name));
        group.throughput(Throughput::Bytes(bytes.len() as u64));
        let mut measure = |contender: &str, decode: &dyn Fn(&[u8]) -> Import| {
            assert_eq!(decode(bytes), expected, "{contender}");
            group.bench_function(contender, |bencher| {
                bencher.iter(|| assert_eq!(decode(black_box(bytes)).rows.len(), rows));
            });
        };
        measure("envelope, serde_json", &|bytes| {
            serde_json::from_str(arguments(bytes).as_str()).expect("rows")
        });
        measure("envelope, simd-json", &|bytes| {
            let mut copy = arguments(bytes).as_bytes().to_vec();
            simd_json::serde::from_slice(&mut copy).expect("rows")
        });
        measure("envelope, sonic-rs", &|bytes| {
            sonic_rs::from_str(arguments(bytes).as_str()).expect("rows")
        });
        measure("whole, serde_json", &|bytes| {
            let whole: Whole = serde_json::from_slice(bytes).expect("a call");
            whole.params.arguments
        });
        measure("whole, simd-json", &|bytes| {
            let whole: Whole = simd_json::serde::from_slice(&mut bytes.to_vec()).expect("a call");
            whole.params.arguments
        });
        measure("whole, sonic-rs", &|bytes| {
            let whole: Whole = sonic_rs::from_slice(bytes).expect("a call");
            whole.params.arguments
        });
        measure("Value, then the type", &|bytes| {
            let mut value: Value = serde_json::from_slice(bytes).expect("JSON");
            serde_json::from_value(value["params"]["arguments"].take()).expect("rows")
        });
        group.finish();
    }
}

/// An answer as a struct of serde's.
#[derive(Serialize)]
struct Answer<'a> {
    jsonrpc: &'a str,
    id: u64,
    result: Output<'a>,
}

#[derive(Serialize)]
struct Output<'a> {
    content: [Block<'a>; 1],
    #[serde(rename = "structuredContent", skip_serializing_if = "Option::is_none")]
    structured: Option<&'a Import>,
}

#[derive(Serialize)]
struct Block<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    text: &'a str,
}

fn text(message: &Message) -> String {
    let value: Value = serde_json::from_str(corpus::payload(message)).expect("JSON");
    value["text"].as_str().expect("a text").to_owned()
}

fn ours<'o>(id: RawJson<'_>, result: &CallToolResult<'_>, out: &'o mut Vec<u8>) -> &'o [u8] {
    out.clear();
    write_result(out, id, |json: &mut Writer<'_, Vec<u8>>| {
        json.begin_object();
        result.members(ProtocolVersion::V2025_11_25, json);
        json.end_object();
    })
    .expect("a Vec has room");
    out
}

fn encode(criterion: &mut Criterion) {
    let shapes = [
        (
            "text_32",
            "a text of thirty-two characters.".to_owned(),
            None,
        ),
        ("text_70k", text(&corpus::long_text()), None),
        ("escaped_8k", text(&corpus::escaped_text()), None),
        ("non_ascii_8k", text(&corpus::non_ascii_text()), None),
        (
            "rows_1m",
            String::new(),
            Some(corpus::structured_megabyte()),
        ),
    ];
    let id = RawJson::parse(b"42").expect("JSON");
    for (name, text, rows) in shapes {
        let rows: Option<Import> =
            rows.map(|message| serde_json::from_str(corpus::payload(&message)).expect("rows"));
        let content = [ContentBlock::text(&*text)];
        let result = || {
            let result = CallToolResult::new(&content);
            match &rows {
                Some(rows) => result.structured(Json::of(rows).expect("rows are JSON")),
                None => result,
            }
        };
        let answer = || Answer {
            jsonrpc: "2.0",
            id: 42,
            result: Output {
                content: [Block {
                    kind: "text",
                    text: &text,
                }],
                structured: rows.as_ref(),
            },
        };
        let mut out = Vec::new();
        let expected: Value = serde_json::from_slice(ours(id, &result(), &mut out)).expect("JSON");
        assert_eq!(expected, serde_json::to_value(answer()).expect("JSON"));
        let len = out.len();

        let mut group = criterion.benchmark_group(format!("encode/{name}"));
        group.throughput(Throughput::Bytes(len as u64));
        group.bench_function("engine", |bencher| {
            bencher.iter(|| assert!(ours(id, black_box(&result()), &mut out).len() > text.len()));
        });
        group.bench_function("serde_json", |bencher| {
            bencher.iter(|| {
                out.clear();
                serde_json::to_writer(&mut out, black_box(&answer())).expect("a Vec has room");
                assert!(out.len() > text.len());
            });
        });
        group.bench_function("simd-json", |bencher| {
            bencher.iter(|| {
                out.clear();
                simd_json::serde::to_writer(&mut out, black_box(&answer()))
                    .expect("a Vec has room");
                assert!(out.len() > text.len());
            });
        });
        group.bench_function("sonic-rs", |bencher| {
            bencher.iter(|| {
                out.clear();
                sonic_rs::to_writer(&mut out, black_box(&answer())).expect("a Vec has room");
                assert!(out.len() > text.len());
            });
        });
        group.finish();
    }
}

criterion_group!(benches, decode, encode);
criterion_main!(benches);
