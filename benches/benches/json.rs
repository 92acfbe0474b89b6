//! JSON alone: checking a value and giving its span, reading one member of it, and decoding a string with escapes.
//!
//! | Contender | What it does with a value |
//! |---|---|
//! | `RawJson` | all of it is checked, nothing is built: the span |
//! | `serde_json RawValue` | the same |
//! | `serde_json Value` | all of it is checked, an owned tree is built and destroyed |
//! | `simd-json tape` | all of it is checked and becomes a flat list of nodes; it works on a copy, which is in the figure |
//! | `sonic-rs LazyValue` | the same span as ours; strings are not checked for escapes and control characters |
//!
//! `member` is the last member of an object found by its name: in a value that was checked, in ours; serde_json has to
//! read the whole again.

extern crate alloc;

use alloc::borrow::Cow;
use core::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use mcp_benches::corpus;
use mcp_core::json::RawJson;
use serde_json::Value;
use serde_json::value::RawValue;

fn values(criterion: &mut Criterion) {
    let messages = corpus::all().into_iter().chain(corpus::large());
    for message in messages.filter(|message| message.name != "ping") {
        let text = corpus::payload(&message);
        let bytes = text.as_bytes();
        let value: Value = serde_json::from_slice(bytes).expect("JSON");
        assert!(value.is_object());

        let mut group = criterion.benchmark_group(format!("json/{}", message.name));
        group.throughput(Throughput::Bytes(bytes.len() as u64));
        if bytes.len() > 1 << 20 {
            group.sample_size(20);
        }
        group.bench_function("RawJson", |bencher| {
            bencher.iter(|| {
                let value = RawJson::parse(black_box(bytes)).expect("JSON");
                assert_eq!(value.as_bytes().len(), bytes.len());
            });
        });
        group.bench_function("serde_json RawValue", |bencher| {
            bencher.iter(|| {
                let value: &RawValue = serde_json::from_slice(black_box(bytes)).expect("JSON");
                assert_eq!(value.get().len(), bytes.len());
            });
        });
        group.bench_function("serde_json Value", |bencher| {
            bencher.iter(|| serde_json::from_slice::<Value>(black_box(bytes)).expect("JSON"));
        });
        group.bench_function("simd-json tape", |bencher| {
            bencher.iter(|| {
                let mut copy = black_box(bytes).to_vec();
                let tape = simd_json::to_tape(&mut copy).expect("JSON");
                assert!(!black_box(&tape).0.is_empty());
            });
        });
        group.bench_function("sonic-rs LazyValue", |bencher| {
            bencher.iter(|| {
                let value: sonic_rs::LazyValue<'_> =
                    sonic_rs::from_slice(black_box(bytes)).expect("JSON");
                assert_eq!(value.as_raw_str().len(), bytes.len());
            });
        });
        group.finish();
    }
}

fn members(criterion: &mut Criterion) {
    let message = corpus::structured_result();
    let text = corpus::payload(&message);
    let value = RawJson::parse(text.as_bytes()).expect("JSON");
    let mut group = criterion.benchmark_group("json/member");
    group.throughput(Throughput::Bytes(text.len() as u64));
    group.bench_function("RawJson", |bencher| {
        bencher.iter(|| black_box(value).member("structuredContent").expect("there"));
    });
    group.bench_function("serde_json RawValue", |bencher| {
        #[derive(serde::Deserialize)]
        struct Member<'b> {
            #[serde(borrow, rename = "structuredContent")]
            content: &'b RawValue,
        }
        bencher.iter(|| {
            let member: Member<'_> = serde_json::from_str(black_box(text)).expect("JSON");
            black_box(member.content)
        });
    });
    group.bench_function("sonic-rs get", |bencher| {
        bencher.iter(|| {
            sonic_rs::get_from_str(black_box(text), ["structuredContent"]).expect("there")
        });
    });
    group.finish();
}

fn strings(criterion: &mut Criterion) {
    for message in [
        corpus::escaped_text(),
        corpus::non_ascii_text(),
        corpus::long_text(),
    ] {
        let arguments: Value = serde_json::from_str(corpus::payload(&message)).expect("JSON");
        let text = arguments["text"].as_str().expect("a text");
        let json = arguments["text"].to_string();
        let raw = RawJson::parse(json.as_bytes()).expect("JSON");
        let raw = raw.as_string().expect("a string");
        assert_eq!(raw.decode(), text);

        let mut group = criterion.benchmark_group(format!("json/string/{}", message.name));
        group.throughput(Throughput::Bytes(json.len() as u64));
        group.bench_function("JsonStr, checked before", |bencher| {
            bencher.iter(|| assert_eq!(black_box(raw).decode().len(), text.len()));
        });
        group.bench_function("RawJson and JsonStr", |bencher| {
            bencher.iter(|| {
                let raw = RawJson::parse(black_box(json.as_bytes())).expect("JSON");
                let decoded = raw.as_string().expect("a string").decode();
                assert_eq!(decoded.len(), text.len());
            });
        });
        #[derive(serde::Deserialize)]
        struct Text<'b>(#[serde(borrow)] Cow<'b, str>);
        group.bench_function("serde_json", |bencher| {
            bencher.iter(|| {
                let decoded: Text<'_> = serde_json::from_str(black_box(&json)).expect("JSON");
                assert_eq!(decoded.0.len(), text.len());
            });
        });
        group.bench_function("sonic-rs", |bencher| {
            bencher.iter(|| {
                let decoded: Text<'_> = sonic_rs::from_str(black_box(&json)).expect("JSON");
                assert_eq!(decoded.0.len(), text.len());
            });
        });
        group.finish();
    }
}

criterion_group!(benches, values, members, strings);
criterion_main!(benches);
