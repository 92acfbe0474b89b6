//! Agreement with serde_json, on generated documents and on damaged ones.
//!
//! The grammar must be the same: `&RawValue`, which serde_json checks without making anything of it, is accepted when
//! [`RawJson`] is. Where values are compared, these are the differences there may be:
//!
//! - depth: serde_json's `Value` stops at 127 levels, its `RawValue` never, ours where it is told;
//! - escaped lone surrogates: an error in a serde_json `Value`, U+FFFD here;
//! - numbers beyond the doubles, such as `1e400`: an error in a serde_json `Value`, text here;
//! - `-0`: a double in serde_json, here an integer too;
//! - doubles: serde_json's default reading may be off by two in the last place;
//! - duplicate names: the last wins in a serde_json `Value`, here all are seen.

use crate::Cow;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use alloc::{format, vec};

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::Value;
use serde_json::value::RawValue;

use super::super::*;
use super::tokens::walk;
use super::valid;

fn whitespace() -> impl Strategy<Value = &'static str> {
    prop_oneof![6 => Just(""), 1 => select(&[" ", "\n", "\r\n", "\t", "  \n    "][..])]
}

fn string() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        6 => "[a-z]{0,9}",
        3 => "[^\"\\\\\\x00-\\x1f]{0,40}",
        1 => "[ -!#-\\[\\]-~]{60,200}",
        2 => r#"\\["\\/bfnrt]"#,
        2 => r"\\u[0-9a-fA-F]{4}",
        1 => r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}",
    ];
    prop::collection::vec(piece, 0..4).prop_map(|pieces| format!("\"{}\"", pieces.concat()))
}

fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        "-?(0|[1-9][0-9]{0,20})",
        "-?(0|[1-9][0-9]{0,20})(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?",
        any::<i64>().prop_map(|value| value.to_string()),
        any::<u64>().prop_map(|value| value.to_string()),
    ]
}

/// JSON text with all the freedom there is.
fn document() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        select(&["null", "true", "false", "[]", "{}"][..]).prop_map(String::from),
        number(),
        string(),
    ];
    let value = leaf.prop_recursive(6, 60, 6, |value| {
        let item = (whitespace(), value.clone(), whitespace())
            .prop_map(|(before, value, after)| format!("{before}{value}{after}"))
            .boxed();
        let member = (whitespace(), string(), whitespace(), item.clone())
            .prop_map(|(before, name, after, item)| format!("{before}{name}{after}:{item}"));
        prop_oneof![
            prop::collection::vec(item, 0..6).prop_map(|items| format!("[{}]", items.join(","))),
            prop::collection::vec(member, 0..6)
                .prop_map(|members| format!("{{{}}}", members.join(","))),
        ]
    });
    (whitespace(), value, whitespace())
        .prop_map(|(before, value, after)| format!("{before}{value}{after}"))
}

/// A few bytes of a document replaced, inserted or taken out, or its end.
fn damaged() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![
        4 => select(&b"{}[]\",:\\/ \t\n0123456789+-.eEutrfalsn\0\x1f\x7f"[..]),
        1 => any::<u8>(),
    ];
    let edit = (any::<prop::sample::Index>(), 0..5_u8, byte);
    (document(), prop::collection::vec(edit, 0..4)).prop_map(|(text, edits)| {
        let mut bytes = text.into_bytes();
        for (place, edit, byte) in edits {
            if bytes.is_empty() {
                break;
            }
            let at = place.index(bytes.len());
            match edit {
                0 | 1 => bytes[at] = byte,
                2 => bytes.insert(at, byte),
                3 => drop(bytes.remove(at)),
                _ => bytes.truncate(at),
            }
        }
        bytes
    })
}

/// Whether a serde_json `Value` has no way to hold this.
fn beyond_serde_json(value: RawJson<'_>) -> bool {
    let lone = |string: JsonStr<'_>| {
        string.has_escapes()
            && serde_json::from_str::<String>(&format!("\"{}\"", string.raw())).is_err()
    };
    match value.kind() {
        Kind::Null | Kind::Bool => false,
        Kind::Number => value.as_number().expect("a number").as_f64().is_none(),
        Kind::String => lone(value.as_string().expect("a string")),
        Kind::Array => value.as_array().expect("an array").any(beyond_serde_json),
        Kind::Object => value
            .as_object()
            .expect("an object")
            .any(|(name, value)| lone(name) || beyond_serde_json(value)),
    }
}

fn assert_same(ours: RawJson<'_>, theirs: &Value) {
    match theirs {
        Value::Null => assert!(ours.is_null()),
        Value::Bool(value) => assert_eq!(ours.as_bool(), Some(*value)),
        Value::Number(theirs) => {
            let ours = ours.as_number().expect("a number");
            if theirs.is_i64() || theirs.is_u64() {
                assert_eq!(ours.as_i64(), theirs.as_i64());
                assert_eq!(ours.as_u64(), theirs.as_u64());
            }
            let (left, right) = (
                ours.as_f64().expect("finite"),
                theirs.as_f64().expect("finite"),
            );
            assert!(
                left.to_bits().abs_diff(right.to_bits()) <= 2,
                "{left:?} and {right:?}"
            );
        }
        Value::String(theirs) => {
            let ours = ours.as_string().expect("a string");
            assert_eq!(ours.decode(), theirs.as_str());
            assert!(ours == theirs.as_str() && ours.chars().eq(theirs.chars()));
        }
        Value::Array(theirs) => {
            let ours: Vec<_> = ours.as_array().expect("an array").collect();
            assert_eq!(ours.len(), theirs.len());
            for (ours, theirs) in ours.iter().zip(theirs) {
                assert_same(*ours, theirs);
            }
        }
        Value::Object(theirs) => {
            let ours: BTreeMap<Cow<'_, str>, _> = ours
                .as_object()
                .expect("an object")
                .map(|(name, value)| (name.decode(), value))
                .collect();
            assert_eq!(ours.len(), theirs.len());
            for (name, ours) in ours {
                assert_same(ours, &theirs[&*name]);
            }
        }
    }
}

fn assert_agreement(bytes: &[u8]) {
    let ours = RawJson::parse(bytes);
    assert_eq!(walk(bytes), ours.map(drop), "whole and in pieces");
    let theirs = serde_json::from_slice::<&RawValue>(bytes);
    match (ours, theirs) {
        (Ok(ours), Ok(theirs)) => assert_eq!(ours.as_str(), theirs.get()),
        (Err(_), Err(_)) => return,
        (ours, theirs) => panic!("{ours:?} but {theirs:?}"),
    }
    let ours = ours.expect("checked above");
    match serde_json::from_slice::<Value>(bytes) {
        Ok(theirs) => assert_same(ours, &theirs),
        Err(error) => assert!(beyond_serde_json(ours), "{error}"),
    }
}

/// Any value that serde_json can write.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        (-1e6..1e6).prop_map(|value: f64| Value::from(value.round())),
        any::<String>().prop_map(Value::from),
        "[ -~\\n\\t\"\\\\]{0,200}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 6, |value| {
        prop_oneof![
            prop::collection::vec(value.clone(), 0..6).prop_map(Value::from),
            prop::collection::hash_map(any::<String>(), value, 0..6)
                .prop_map(|members| members.into_iter().collect::<Value>()),
        ]
    })
}

fn write(json: &mut Writer<'_, Vec<u8>>, value: &Value) {
    match value {
        Value::Null => json.null(),
        Value::Bool(value) => json.boolean(*value),
        Value::Number(value) => match (value.as_i64(), value.as_u64()) {
            (Some(value), _) => json.integer(value),
            (None, Some(value)) => json.unsigned(value),
            (None, None) => json.float(value.as_f64().expect("a double")),
        },
        Value::String(value) => json.string(value),
        Value::Array(values) => {
            json.begin_array();
            values.iter().for_each(|value| write(json, value));
            json.end_array();
        }
        Value::Object(members) => {
            json.begin_object();
            for (name, value) in members {
                json.key(name);
                write(json, value);
            }
            json.end_object();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn documents_read_the_same(text in document()) {
        prop_assert!(RawJson::parse(text.as_bytes()).is_ok());
        assert_agreement(text.as_bytes());
    }

    #[test]
    fn damaged_documents_read_the_same(bytes in damaged()) {
        assert_agreement(&bytes);
    }

    #[test]
    fn bytes_read_the_same(bytes in prop::collection::vec(any::<u8>(), 0..12)) {
        assert_agreement(&bytes);
    }

    #[test]
    fn prefixes_are_incomplete(text in document(), place in any::<prop::sample::Index>()) {
        let whole = valid(&text);
        let text = whole.as_str();
        if whole.kind() == Kind::Number {
            return Ok(());
        }
        let error = RawJson::parse(&text.as_bytes()[..place.index(text.len())]).expect_err("only a part");
        prop_assert!(error.is_incomplete(), "{error}");
    }

    #[test]
    fn incomplete_means_that_it_can_be_completed(bytes in damaged()) {
        let Err(error) = RawJson::parse(&bytes) else { return Ok(()) };
        prop_assert!(!error.is_incomplete() || completed(bytes).is_some());
    }

    #[test]
    fn what_is_written_is_read_back(value in value()) {
        let mut out = vec![];
        let mut json = Writer::new(&mut out);
        write(&mut json, &value);
        prop_assert_eq!(json.finish(), Ok(out.len()));
        let ours = RawJson::parse(&out).expect("valid");
        assert_same(ours, &value);
        assert_same(ours, &serde_json::from_slice(&out).expect("valid to others too"));
        prop_assert!(!out.contains(&b'\n'));
    }

    #[test]
    fn doubles_are_read_back_exactly(value in any::<f64>()) {
        let mut out = vec![];
        let mut json = Writer::new(&mut out);
        json.float(value);
        prop_assert!(json.finish().is_ok());
        let number = RawJson::parse(&out).expect("valid").as_number();
        prop_assert_eq!(number.and_then(Number::as_f64).map(f64::to_bits), Some(value.to_bits()));
    }
}

/// Tries to go on with an incomplete document, with whatever is not refused.
fn completed(mut bytes: Vec<u8>) -> Option<Vec<u8>> {
    for _ in 0..1000 {
        // The quote comes first: inside a string nearly everything else would do, forever.
        let next = b"\"]}:0,rueatlsn\x80\x90\xa0".iter().find_map(|&byte| {
            bytes.push(byte);
            let result = RawJson::parse(&bytes).map(drop);
            let better = result.is_ok() || result.is_err_and(|error| error.is_incomplete());
            if !better {
                bytes.pop();
            }
            better.then_some(result.is_ok())
        })?;
        if next {
            return Some(bytes);
        }
    }
    None
}

#[test]
fn depth_differs_by_one() {
    let nested = |depth| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert!(serde_json::from_str::<Value>(&nested(127)).is_ok());
    assert!(serde_json::from_str::<Value>(&nested(128)).is_err());
    assert!(RawJson::parse(nested(128).as_bytes()).is_ok());
    assert!(RawJson::parse(nested(129).as_bytes()).is_err());
}
