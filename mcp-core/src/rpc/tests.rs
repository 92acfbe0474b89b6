//! Envelopes: every order of the members, every malformed shape, and an oracle for the rest.

mod oracle;

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::hash::BuildHasher;

use foldhash::fast::FixedState;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::error::{EnvelopeFault, ErrorCode, PeerFault};
use crate::json::{ErrorKind, Full, RawJson, Sink};
use crate::limits::Limits;

fn parse(text: &str) -> Result<Envelope<'_>, Malformed<'_>> {
    Envelope::parse(text.as_bytes(), &Limits::DEFAULT)
}

fn request(text: &str) -> Request<'_> {
    match parse(text) {
        Ok(Envelope::Request(request)) => request,
        other => panic!("{text}: {other:?}"),
    }
}

fn malformed(text: &str) -> Malformed<'_> {
    parse(text).expect_err(text)
}

fn id(text: &str) -> RequestId<'_> {
    RequestId::new(RawJson::parse(text.as_bytes()).expect(text)).expect(text)
}

/// All orders of `items`.
fn permutations(items: &[&str]) -> Vec<Vec<String>> {
    if items.is_empty() {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for (at, first) in items.iter().enumerate() {
        let mut others = items.to_vec();
        others.remove(at);
        for mut order in permutations(&others) {
            order.insert(0, first.to_string());
            all.push(order);
        }
    }
    all
}

#[test]
fn members_of_a_request_come_in_any_order() {
    let members = [
        r#""jsonrpc":"2.0""#,
        r#""id":"a-5""#,
        r#""method":"tools/call""#,
        r#""params":{"name":"x","method":"decoy","id":1}"#,
        r#""extra":{"jsonrpc":"1.0","id":null}"#,
    ];
    let orders = permutations(&members);
    assert_eq!(orders.len(), 120);
    for order in orders {
        for text in [
            format!("{{{}}}", order.join(",")),
            format!(" {{ {} }}\r\n", order.join(" ,\t")),
        ] {
            let request = request(&text);
            assert_eq!(request.id.raw().as_str(), r#""a-5""#);
            assert_eq!(request.method, "tools/call");
            assert_eq!(
                request.params.map(RawJson::as_str),
                Some(r#"{"name":"x","method":"decoy","id":1}"#)
            );
        }
    }
}

#[test]
fn members_of_a_response_come_in_any_order() {
    let id = r#""id":7"#;
    let version = r#""jsonrpc":"2.0""#;
    for order in permutations(&[version, id, r#""result":{"a":[1]}"#]) {
        let text = format!("{{{}}}", order.join(","));
        let Ok(Envelope::Response(response)) = parse(&text) else {
            panic!("{text}");
        };
        assert_eq!(response.id.map(|id| id.raw().as_str()), Some("7"));
        assert!(
            matches!(response.outcome, Outcome::Result(result) if result.as_str() == r#"{"a":[1]}"#)
        );
    }
    for inner in permutations(&[
        r#""code":-32601"#,
        r#""message":"no""#,
        r#""data":[0]"#,
        r#""more":1"#,
    ]) {
        let error = format!(r#""error":{{{}}}"#, inner.join(","));
        for order in permutations(&[version, id, &error]) {
            let text = format!("{{{}}}", order.join(","));
            let Ok(Envelope::Response(response)) = parse(&text) else {
                panic!("{text}");
            };
            let Outcome::Error {
                code,
                message,
                data,
            } = response.outcome
            else {
                panic!("{text}");
            };
            assert_eq!(code, ErrorCode::METHOD_NOT_FOUND);
            assert_eq!(message, "no");
            assert_eq!(data.map(RawJson::as_str), Some("[0]"));
        }
    }
}

/// RPC-11.
#[test]
fn notifications_have_no_id_and_null_params_are_none() {
    for text in [
        r#"{"jsonrpc":"2.0","method":"n"}"#,
        r#"{"jsonrpc":"2.0","method":"n","params":null}"#,
    ] {
        let Ok(Envelope::Notification(notification)) = parse(text) else {
            panic!("{text}");
        };
        assert_eq!(notification.method, "n");
        assert!(notification.params.is_none());
    }
    // RPC-03: `params` is optional; RPC-14: unknown members are nothing to us, nested as they may be.
    let text = r#"{"jsonrpc":"2.0","id":1,"method":"","params":{},"x":[{"y":[null]}],"":0}"#;
    assert_eq!(request(text).method, "");
    assert_eq!(
        request(text).params.map(RawJson::as_str),
        Some("{}"),
        "an empty object is there"
    );
}

/// FR-13: names match exactly, whatever they look like.
#[test]
fn fr_13_similar_names_are_other_names() {
    let text = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","Method":"tools/call","params":{"name":"safe"},"paramſ":{"name":"danger"},"param\u017f":{},"METHOD":1,"method ":2,"ID":3,"\u0000id":4}"#;
    let request = request(text);
    assert_eq!(request.method, "tools/list");
    assert_eq!(
        request.params.map(RawJson::as_str),
        Some(r#"{"name":"safe"}"#)
    );
    let fault = malformed(r#"{"jsonrpc":"2.0","id":1,"Method":"ping"}"#).fault;
    assert_eq!(fault, EnvelopeFault::Shapeless.into());
}

/// FR-14: a name written with escapes is the same name.
#[test]
fn escaped_names_are_the_same_names() {
    let text =
        r#"{"json\u0072pc":"2.\u0030","i\u0064":1,"me\u0074hod":"pin\u0067","para\u006Ds":{}}"#;
    let request = request(text);
    assert_eq!(request.method, "ping");
    assert_eq!(request.id, id("1"));
    assert!(request.params.is_some());
    for (name, escaped) in [
        ("jsonrpc", r"jsonrp\u0063"),
        ("id", r"\u0069d"),
        ("method", r"me\u0074hod"),
        ("params", r"p\u0061rams"),
        ("result", r"resul\u0074"),
        ("error", r"err\u006fr"),
    ] {
        for second in [name, escaped] {
            let text =
                format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","{name}":null,"{second}":null}}"#);
            assert_eq!(
                malformed(&text).fault,
                EnvelopeFault::Duplicate(name).into(),
                "{text}"
            );
        }
    }
}

/// What is wrong, the id an answer has, and whether one is due (RPC-09, RPC-12).
fn refused(fault: EnvelopeFault, id: Option<&str>, answer_due: bool, texts: &[&str]) {
    for text in texts {
        let found = malformed(text);
        assert_eq!(found.fault, fault.into(), "{text}");
        assert_eq!(found.id.map(|id| id.raw().as_str()), id, "{text}");
        assert_eq!(found.answer_due, answer_due, "{text}");
        assert_eq!(found.fault.code(), ErrorCode::INVALID_REQUEST, "{text}");
    }
}

#[test]
fn a_message_is_an_object() {
    let scalars = ["42", "null", "true", r#""hello""#];
    refused(EnvelopeFault::NotAnObject, None, true, &scalars);
    // BAT-08: nothing in an array is looked at.
    let batches = [
        "[]",
        "[1,2]",
        r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#,
    ];
    refused(EnvelopeFault::Batch, None, true, &batches);
}

/// RPC-01.
#[test]
fn the_version_is_2_0() {
    let fault = EnvelopeFault::Version;
    let anonymous = ["{}", r#"{"status":200,"message":"Success","results":[]}"#];
    refused(fault, None, true, &anonymous);
    let requests = [
        r#"{"id":1,"method":"ping"}"#,
        r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#,
        r#"{"jsonrpc":2.0,"id":1,"method":"ping"}"#,
        r#"{"jsonrpc":null,"id":1,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0 ","id":1,"method":"ping"}"#,
    ];
    refused(fault, Some("1"), true, &requests);
    let text = r#"{"jsonrpc":"1.0","method":"ping"}"#;
    refused(fault, None, false, &[text]);
    let responses = [
        r#"{"jsonrpc":"1.0","id":5,"result":{}}"#,
        r#"{"jsonrpc":"1.0","id":5,"error":{}}"#,
    ];
    refused(fault, Some("5"), false, &responses);
}

/// RPC-03, RPC-04, ID-04, ID-05.
#[test]
fn an_id_is_a_string_or_an_integer() {
    for id in [
        "null",
        "1.5",
        "true",
        "[1]",
        "{}",
        "9223372036854775808",
        "-9223372036854775809",
        "18446744073709551617",
        "1e400",
        "1e-1",
    ] {
        let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list"}}"#);
        refused(EnvelopeFault::Id, None, true, &[&text]);
    }
    // RPC-07, RPC-09: only an error can do without an id.
    let responses = [
        r#"{"jsonrpc":"2.0","id":1.5,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":1.5,"error":{"code":1,"message":""}}"#,
        r#"{"jsonrpc":"2.0","id":null,"result":{}}"#,
        r#"{"jsonrpc":"2.0","result":{}}"#,
    ];
    refused(EnvelopeFault::Id, None, false, &responses);
}

/// RPC-13: base JSON-RPC's positional params are not MCP's.
#[test]
fn a_method_is_a_string_and_params_are_an_object() {
    for method in ["5", "null", "{}"] {
        let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":{method}}}"#);
        refused(EnvelopeFault::Method, Some("1"), true, &[&text]);
    }
    let text = r#"{"jsonrpc":"2.0","method":5}"#;
    refused(EnvelopeFault::Method, None, true, &[text]);
    for params in ["[]", r#""{}""#, "0", "false"] {
        let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{params}}}"#);
        refused(EnvelopeFault::Params, Some("1"), true, &[&text]);
    }
    let text = r#"{"jsonrpc":"2.0","method":"m","params":[]}"#;
    refused(EnvelopeFault::Params, None, false, &[text]);
}

/// RPC-10, ID-08.
#[test]
fn a_message_is_one_thing() {
    let fault = EnvelopeFault::Shapeless;
    refused(fault, None, true, &[r#"{"jsonrpc":"2.0"}"#]);
    let requests = [
        r#"{"jsonrpc":"2.0","id":1}"#,
        r#"{"jsonrpc":"2.0","id":1,"params":{}}"#,
    ];
    refused(fault, Some("1"), true, &requests);
    let responses = [
        r#"{"jsonrpc":"2.0","id":1,"result":null}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":null,"error":null}"#,
    ];
    refused(fault, Some("1"), false, &responses);

    let fault = EnvelopeFault::Ambiguous;
    let requests = [
        r#"{"jsonrpc":"2.0","id":1,"method":"m","result":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"m","error":null}"#,
    ];
    refused(fault, Some("1"), true, &requests);
    let text = r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}}"#;
    refused(fault, Some("1"), false, &[text]);
}

/// RPC-08.
#[test]
fn an_error_has_a_code_and_a_message() {
    for error in [
        "{}",
        r#""no""#,
        r#"{"code":1}"#,
        r#"{"message":"m"}"#,
        r#"{"code":"1","message":"m"}"#,
        r#"{"code":1.5,"message":"m"}"#,
        r#"{"code":1,"message":null}"#,
    ] {
        let text = format!(r#"{{"jsonrpc":"2.0","id":1,"error":{error}}}"#);
        refused(EnvelopeFault::Error, Some("1"), false, &[&text]);
    }
}

/// FR-14.
#[test]
fn fr_14_a_member_occurs_once() {
    let duplicate = EnvelopeFault::Duplicate;
    let text = r#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"ping"}"#;
    refused(duplicate("method"), Some("1"), true, &[text]);
    let text = r#"{"jsonrpc":"2.0","method":"m","params":{},"params":{}}"#;
    refused(duplicate("params"), None, false, &[text]);
    let text = r#"{"jsonrpc":"2.0","id":1,"result":{},"result":{}}"#;
    refused(duplicate("result"), Some("1"), false, &[text]);
    // Neither of two ids is one to answer with.
    let texts = [
        r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"m"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"m","id":null}"#,
    ];
    refused(duplicate("id"), None, true, &texts);
    let text = r#"{"id":1,"method":"a","method":"b","id":2}"#;
    refused(duplicate("method"), None, true, &[text]);
}

/// RPC-10, ID-08: `null` beside the other one is not there. RPC-09: an error may lack its id.
#[test]
fn id_08_responses_are_read_tolerantly() {
    let outcome = |text| match parse(text) {
        Ok(Envelope::Response(response)) => (
            response.id.map(|id| id.raw().as_str()),
            match response.outcome {
                Outcome::Result(result) => Ok(result.as_str()),
                Outcome::Error { code, .. } => Err(code.value()),
            },
        ),
        other => panic!("{text}: {other:?}"),
    };
    assert_eq!(
        outcome(r#"{"jsonrpc":"2.0","id":3,"result":{},"error":null}"#),
        (Some("3"), Ok("{}"))
    );
    assert_eq!(
        outcome(r#"{"jsonrpc":"2.0","id":4,"result":null,"error":{"code":-1,"message":"no"}}"#),
        (Some("4"), Err(-1))
    );
    for id in [r#""id":null,"#, ""] {
        let text = format!(r#"{{"jsonrpc":"2.0",{id}"error":{{"code":-32700,"message":"bad"}}}}"#);
        assert!(matches!(
            parse(&text),
            Ok(Envelope::Response(Response { id: None, .. }))
        ));
    }
    // ID-02 is the client's to decide: here the id is what was sent.
    assert_eq!(
        outcome(r#"{"jsonrpc":"2.0","id":"0","result":{}}"#).0,
        Some(r#""0""#)
    );
}

/// ID-01, ID-04: same type, same value, same text.
#[test]
fn id_04_ids_are_exact() {
    let long = format!("\"{}\"", "é".repeat(1_000));
    for text in [
        "0",
        "-0",
        "1.0",
        "1e3",
        "10E-1",
        "9007199254740992",
        "9007199254740993",
        "-9223372036854775808",
        "9223372036854775807",
        r#""""#,
        r#"" 1""#,
        r#""007""#,
        r#""1e3""#,
        r#""a\"\\\u0000\ud83e\udd80""#,
        &long,
    ] {
        let message = format!(r#"{{"jsonrpc":"2.0","method":"m","id":{text}}}"#);
        assert_eq!(request(&message).id.raw().as_str(), text);
    }
    let hash = |text| FixedState::with_seed(1).hash_one(id(text));
    for (same, other) in [
        ("1", "1.0"),
        ("1000", "1e3"),
        ("0", "-0"),
        (r#""a""#, r#""\u0061""#),
        (r#""/""#, r#""\/""#),
    ] {
        assert_eq!(id(same), id(other));
        assert_eq!(hash(same), hash(other));
    }
    for (one, other) in [
        ("1", r#""1""#),
        ("9007199254740992", "9007199254740993"),
        ("-9223372036854775808", "9223372036854775807"),
        (r#""1""#, r#""01""#),
        (r#""1""#, r#""1.0""#),
        (r#""a""#, r#""A""#),
        (r#""""#, r#"" ""#),
    ] {
        assert_ne!(id(one), id(other));
    }
}

#[test]
fn ids_have_a_limit() {
    let mut limits = Limits::DEFAULT;
    limits.max_id = 10;
    let at = |id: &str| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m"}}"#);
    for fits in [r#""12345678""#, "1234567890", "1.00000000"] {
        assert!(Envelope::parse(at(fits).as_bytes(), &limits).is_ok());
    }
    for too_long in [r#""123456789""#, "12345678901", "1.000000000"] {
        let text = at(too_long);
        let found = Envelope::parse(text.as_bytes(), &limits).expect_err(too_long);
        assert_eq!(found.fault, EnvelopeFault::Id.into());
        assert!(found.id.is_none() && found.answer_due);
    }
    // What is wrong elsewhere is answered without an id that is too long.
    let text = r#"{"jsonrpc":"2.0","id":"123456789","method":5}"#;
    let found = Envelope::parse(text.as_bytes(), &limits).expect_err(text);
    assert!(found.id.is_none() && found.answer_due);
}

/// STD-21: a text that is not JSON has no id, whatever was read before the fault.
#[test]
fn what_is_not_json_has_no_id() {
    for (text, kind) in [
        ("", ErrorKind::UnexpectedEnd),
        (" \t", ErrorKind::UnexpectedEnd),
        ("this is not json", ErrorKind::BadLiteral),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"m"}}"#,
            ErrorKind::TrailingData,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"m"} {}"#,
            ErrorKind::TrailingData,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"m",}"#,
            ErrorKind::ExpectedName,
        ),
        (
            r#"{"jsonrpc":"2.0","id":01,"method":"m"}"#,
            ErrorKind::ExpectedCommaOrBrace,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":NaN}}"#,
            ErrorKind::ExpectedValue,
        ),
        (
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\nb\"}",
            ErrorKind::ControlCharacter,
        ),
        ("\u{feff}{}", ErrorKind::ExpectedValue),
        ("[1,", ErrorKind::UnexpectedEnd),
        ("42 43", ErrorKind::TrailingData),
    ] {
        let found = malformed(text);
        let PeerFault::Json(error) = found.fault else {
            panic!("{text}: {found:?}");
        };
        assert_eq!(error.kind, kind, "{text}");
        assert!(found.id.is_none() && found.answer_due, "{text}");
        assert_eq!(found.fault.code(), ErrorCode::PARSE_ERROR);
    }
    // RPC-02.
    let bad = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}";
    let found = Envelope::parse(bad, &Limits::DEFAULT).expect_err("not UTF-8");
    assert!(matches!(found.fault, PeerFault::Json(error) if error.kind == ErrorKind::BadUtf8));
}

#[test]
fn depth_is_that_of_the_message() {
    let mut limits = Limits::DEFAULT;
    limits.max_depth = 4;
    let nested = |depth: usize| {
        let (open, close) = ("[".repeat(depth), "]".repeat(depth));
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{{"a":{open}{close}}},"x":{open}{close}}}"#
        )
    };
    assert!(Envelope::parse(nested(2).as_bytes(), &limits).is_ok());
    let text = nested(3);
    let found = Envelope::parse(text.as_bytes(), &limits).expect_err("too deep");
    assert!(matches!(found.fault, PeerFault::Json(error) if error.kind == ErrorKind::TooDeep));
}

#[test]
fn every_prefix_is_incomplete() {
    for text in [
        r#"{"jsonrpc":"2.0","id":-12.50e+3,"method":"tools/call","params":{"name":"é🦀—","arguments":{"a":[true,false,null,{}],"\ud83e\udd80":""}}}"#,
        r#" { "jsonrpc" : "2.0" , "method" : "n" , "params" : { } }"#,
        r#"{"jsonrpc":"2.0","id":"7","error":{"code":-1,"message":"\"\\\u00e9"}}"#,
        r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},-0.5e-7]"#,
    ] {
        for end in 0..text.len() {
            let found = Envelope::parse(&text.as_bytes()[..end], &Limits::DEFAULT)
                .expect_err("a prefix is no message");
            assert!(
                matches!(found.fault, PeerFault::Json(error) if error.is_incomplete()),
                "{text} cut at {end}: {:?}",
                found.fault
            );
            assert!(found.id.is_none() && found.answer_due);
        }
    }
}

/// Writes with each kind of envelope.
fn write_all<S: Sink + ?Sized>(
    out: &mut S,
    which: usize,
    id: &str,
    text: &str,
) -> Result<(), Full> {
    let raw = RawJson::parse(id.as_bytes()).expect(id);
    let params = |json: &mut crate::json::Writer<'_, S>| {
        json.begin_object();
        json.key(text);
        json.string(text);
        json.end_object();
    };
    match which {
        0 => write_result(out, raw, params),
        1 => write_error(out, Some(raw), ErrorCode::new(-5), text, |json| {
            json.key("data");
            json.string(text);
        }),
        2 => write_error(out, None, ErrorCode::PARSE_ERROR, text, |_| {}),
        3 => write_request(out, RequestId::new(raw).expect(id), text, params),
        _ => write_notification(out, text, params),
    }
}

fn expected(which: usize, id: &Value, text: &str) -> Value {
    match which {
        0 => json!({"jsonrpc": "2.0", "id": id, "result": {text: text}}),
        1 => {
            json!({"jsonrpc": "2.0", "id": id, "error": {"code": -5, "message": text, "data": text}})
        }
        2 => json!({"jsonrpc": "2.0", "error": {"code": -32700, "message": text}}),
        3 => json!({"jsonrpc": "2.0", "id": id, "method": text, "params": {text: text}}),
        _ => json!({"jsonrpc": "2.0", "method": text, "params": {text: text}}),
    }
}

#[test]
fn an_envelope_is_written_whole_or_not_at_all() {
    const ROOM: usize = 100;
    for which in 0..5 {
        let mut whole = Vec::new();
        write_all(&mut whole, which, "17", "a\"\n").expect("a Vec is never full");
        assert!(whole.len() < ROOM);
        for room in 0..=whole.len() {
            let mut out = heapless::Vec::<u8, ROOM>::new();
            let before = vec![b'#'; ROOM - room];
            out.extend_from_slice(&before).expect("it fits");
            let written = write_all(&mut out, which, "17", "a\"\n");
            if room == whole.len() {
                assert_eq!(written, Ok(()));
                assert_eq!(&out[ROOM - room..], whole);
            } else {
                assert_eq!(written, Err(Full));
                assert_eq!(out.as_slice(), before);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_is_read_by_others(which in 0..5_usize, text: String, id: i64) {
        let mut out = b"before".to_vec();
        write_all(&mut out, which, &id.to_string(), &text).expect("a Vec is never full");
        let written = out.strip_prefix(b"before").expect("it is appended");
        prop_assert!(!written.contains(&b'\n') && !written.contains(&b'\r'));
        let value: Value = serde_json::from_slice(written).expect("valid JSON");
        prop_assert_eq!(value, expected(which, &id.into(), &text));
        prop_assert!(Envelope::parse(written, &Limits::DEFAULT).is_ok());
    }
}

/// ID-04: strings that are not Unicode decode alike, so they cannot be told apart as ids.
#[test]
fn an_id_is_unicode() {
    for good in [r#""\ud83d\ude00""#, r#""\ufffd""#] {
        assert!(RequestId::new(RawJson::parse(good.as_bytes()).expect(good)).is_some());
    }
    for bad in [r#""\ud800""#, r#""a\udfff""#] {
        assert!(RequestId::new(RawJson::parse(bad.as_bytes()).expect(bad)).is_none());
    }
}
