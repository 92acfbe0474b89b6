//! Generated objects against the rules of the envelope written down a second time, with no thought of speed.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::parse;
use crate::json::RawJson;
use crate::limits::Limits;
use crate::rpc::{Envelope, Malformed, Notification, Outcome, Request, Response};

/// One member of a generated object: a name of the envelope or nearly one, and a value that often fits it.
fn member() -> impl Strategy<Value = (String, Value)> {
    let id = prop_oneof![
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        "[a-z0-9\"\\\\]{0,4}".prop_map(Value::from),
        Just(json!(1.0)),
        Just(json!(1e3)),
        Just(json!(1.5)),
        Just(json!(1e30)),
        Just(Value::Null),
    ];
    let error = prop_oneof![
        4 => any::<(i64, String)>().prop_map(|(code, message)| json!({"code": code, "message": message})),
        1 => Just(json!({"code": 1})),
        1 => Just(json!({"code": 0.5, "message": ""})),
        1 => Just(json!({"message": "m", "data": {}})),
    ];
    let any_value = || {
        prop_oneof![
            Just(Value::Null),
            Just(json!(true)),
            Just(json!(7)),
            Just(json!("2.0")),
            Just(json!([])),
            Just(json!({})),
        ]
    };
    prop_oneof![
        6 => Just(("jsonrpc".into(), json!("2.0"))),
        4 => id.prop_map(|value| ("id".into(), value)),
        4 => "[a-z/]{0,6}".prop_map(|value| ("method".into(), Value::from(value))),
        3 => Just(("params".into(), json!({"a": [1, {"b": "\u{1}é"}]}))),
        2 => any_value().prop_map(|value| ("result".into(), value)),
        2 => error.prop_map(|value| ("error".into(), value)),
        2 => ("(jsonrpc|id|method|params|result|error)", any_value()),
        2 => ("[Iim][de]?", any_value()),
    ]
}

#[derive(Debug, PartialEq)]
enum Verdict {
    Request(Value, Value, Option<Value>),
    Notification(Value, Option<Value>),
    Result(Value, Value),
    Error(Option<Value>, Value),
    Bad { id: Option<Value>, answer_due: bool },
}

fn is_id(value: &Value) -> bool {
    // 2^63 and beyond are no i64; every integral double below is one.
    let integral = |value: f64| value % 1.0 == 0.0 && value.abs() < 9.2e18;
    value.is_string() || value.is_i64() || !value.is_u64() && value.as_f64().is_some_and(integral)
}

fn oracle(members: &[(String, Value)]) -> Verdict {
    let all = |name: &str| -> Vec<&Value> {
        let named = members.iter().filter(|(other, _)| other == name);
        named.map(|(_, value)| value).collect()
    };
    let last = |name: &str| all(name).last().map(|&value| value.clone());
    let present = |name: &str| last(name).filter(|value| !value.is_null());
    let names = ["jsonrpc", "id", "method", "params", "result", "error"];
    let (has_result, has_error) = (last("result").is_some(), last("error").is_some());
    let method = last("method");
    let id = last("id").filter(is_id);
    let is_response = method.is_none() && (has_result || has_error);
    let is_notification = last("id").is_none() && method.as_ref().is_some_and(Value::is_string);
    let bad = Verdict::Bad {
        id: id.clone().filter(|_| all("id").len() == 1),
        answer_due: !is_response && !is_notification,
    };
    if names.iter().any(|name| all(name).len() > 1) || last("jsonrpc") != Some(json!("2.0")) {
        return bad;
    }
    let Some(method) = method else {
        return match (present("result"), present("error")) {
            (Some(result), None) => match id {
                Some(id) => Verdict::Result(id, result),
                None => bad,
            },
            (None, Some(error))
                if (present("id").is_none() || id.is_some())
                    && error["code"].is_i64()
                    && error["message"].is_string() =>
            {
                Verdict::Error(id, error["code"].clone())
            }
            _ => bad,
        };
    };
    let params = present("params");
    if has_result
        || has_error
        || !method.is_string()
        || params.as_ref().is_some_and(|params| !params.is_object())
    {
        return bad;
    }
    match (last("id"), id) {
        (None, _) => Verdict::Notification(method, params),
        (Some(_), Some(id)) => Verdict::Request(id, method, params),
        (Some(_), None) => bad,
    }
}

fn verdict(text: &str) -> Verdict {
    let value = |raw: RawJson<'_>| serde_json::from_str(raw.as_str()).expect("checked JSON");
    match parse(text) {
        Ok(Envelope::Request(Request { id, method, params })) => {
            Verdict::Request(value(id.raw()), method.decode().into(), params.map(value))
        }
        Ok(Envelope::Notification(Notification { method, params })) => {
            Verdict::Notification(method.decode().into(), params.map(value))
        }
        Ok(Envelope::Response(Response { id, outcome })) => {
            let id = id.map(|id| value(id.raw()));
            match outcome {
                Outcome::Result(result) => Verdict::Result(id.expect("RPC-07"), value(result)),
                Outcome::Error { code, .. } => Verdict::Error(id, code.value().into()),
            }
        }
        Err(Malformed { id, answer_due, .. }) => Verdict::Bad {
            id: id.map(|id| value(id.raw())),
            answer_due,
        },
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]

    #[test]
    fn envelopes_agree_with_the_oracle(
        members in prop::collection::vec(member(), 0..6),
        space in "[ \t\r\n]{0,2}",
    ) {
        let written: Vec<String> = members
            .iter()
            .map(|(name, value)| format!("{}{space}:{space}{value}", Value::from(name.as_str())))
            .collect();
        let text = format!("{space}{{{space}{}}}{space}", written.join(&format!("{space},")));
        prop_assert_eq!(verdict(&text), oracle(&members), "{}", text);
    }

    #[test]
    fn no_bytes_panic(bytes: Vec<u8>) {
        if let Err(found) = Envelope::parse(&bytes, &Limits::DEFAULT) {
            let _ = found.fault.to_string();
        }
    }
}
