//! What a [`Writer`] appends.

use alloc::string::String;
use alloc::vec::Vec;
use alloc::{format, vec};

use super::super::*;

fn written(write: impl FnOnce(&mut Writer<'_, Vec<u8>>)) -> String {
    let mut out = Vec::new();
    let mut json = Writer::new(&mut out);
    write(&mut json);
    let len = json.finish().expect("a vector is never full");
    assert_eq!(len, out.len());
    String::from_utf8(out).expect("JSON is UTF-8")
}

#[test]
fn commas_go_between_and_nowhere_else() {
    let text = written(|json| {
        json.begin_object();
        json.key("a");
        json.begin_array();
        json.begin_array();
        json.end_array();
        json.begin_object();
        json.end_object();
        json.null();
        json.boolean(true);
        json.boolean(false);
        json.integer(-1);
        json.unsigned(2);
        json.float(0.5);
        json.string("x");
        json.raw(RawJson::parse(b" [ 1 ] ").expect("valid"));
        json.display(&format_args!("{}\n", 3));
        json.end_array();
        json.key("b");
        json.begin_object();
        json.key("c");
        json.integer(0);
        json.end_object();
        json.fragment("\"d\":1,\"e\":2");
        json.fragment("");
        json.key("f");
        json.null();
        json.end_object();
    });
    assert_eq!(
        text,
        r#"{"a":[[],{},null,true,false,-1,2,0.5,"x",[ 1 ],"3\n"],"b":{"c":0},"d":1,"e":2,"f":null}"#
    );
    assert_eq!(written(|json| json.fragment("\"a\":1")), "\"a\":1");
}

#[test]
fn only_what_must_be_is_escaped() {
    let verbatim = "/ \u{7f}\u{80}\u{2028}\u{2029}\u{feff}\u{1f600}";
    assert_eq!(
        written(|json| json.string(verbatim)),
        format!("\"{verbatim}\"")
    );
    assert_eq!(
        written(|json| json.string("\"\\\u{8}\t\n\u{c}\r")),
        r#""\"\\\b\t\n\f\r""#
    );
    assert_eq!(
        written(|json| json.string("a\0b\u{1f}")),
        r#""a\u0000b\u001f""#
    );
    for byte in 0..0x20_u8 {
        let text = String::from(char::from(byte));
        let json = written(|json| json.string(&text));
        assert_eq!(
            RawJson::parse(json.as_bytes())
                .expect("valid")
                .as_string()
                .expect("a string")
                .decode(),
            text
        );
    }
    let key = written(|json| {
        json.begin_object();
        json.key("a\"\n");
        json.null();
        json.end_object();
    });
    assert_eq!(key, r#"{"a\"\n":null}"#);
}

#[test]
fn fr_07_a_value_is_one_line_whatever_it_holds() {
    let pretty = RawJson::parse(b"{\r\n  \"a\": [\n    1\n  ]\r\n}").expect("valid");
    assert_eq!(written(|json| json.raw(pretty)), "{  \"a\": [    1  ]}");
    assert_eq!(written(|json| json.fragment("\"a\":\n1")), "\"a\":1");
}

#[test]
fn numbers_are_written_shortest() {
    for (value, text) in [
        (0, "0"),
        (7, "7"),
        (10, "10"),
        (-1, "-1"),
        (i64::MAX, "9223372036854775807"),
        (i64::MIN, "-9223372036854775808"),
    ] {
        assert_eq!(written(|json| json.integer(value)), text);
    }
    assert_eq!(
        written(|json| json.unsigned(u64::MAX)),
        "18446744073709551615"
    );
    for (value, text) in [
        (0.0, "0"),
        (-0.0, "-0"),
        (50.0, "50"),
        (0.1, "0.1"),
        (1e15, "1000000000000000"),
        (9_007_199_254_740_991.0, "9007199254740991"),
        (1e16, "1e16"),
        (1e300, "1e300"),
        (1.5e-9, "1.5e-9"),
        (f64::MAX, "1.7976931348623157e308"),
        (5e-324, "5e-324"),
        (f64::NAN, "null"),
        (f64::INFINITY, "null"),
        (f64::NEG_INFINITY, "null"),
    ] {
        assert_eq!(written(|json| json.float(value)), text);
    }
}

#[test]
fn a_mark_can_be_gone_back_to() {
    let text = written(|json| {
        json.begin_array();
        json.integer(1);
        let mark = json.mark();
        json.begin_object();
        json.key("a");
        json.rollback(mark);
        json.integer(2);
        json.end_array();
    });
    assert_eq!(text, "[1,2]");

    // No mark reaches back before the writer began.
    let mut out = vec![];
    let early = Writer::new(&mut out).mark();
    out.extend_from_slice(b"before");
    let mut json = Writer::new(&mut out);
    json.null();
    json.rollback(early);
    assert_eq!(json.finish(), Ok(0));
    assert_eq!(out, b"before");
}

#[test]
fn a_full_sink_is_left_as_it_was() {
    let write = |json: &mut Writer<'_, heapless::Vec<u8, 16>>| {
        json.begin_array();
        json.string("abc");
        json.integer(7);
        json.end_array();
    };
    for (before, fits) in [
        ("123456", true),
        ("1234567", true),
        ("12345678", false),
        ("0123456789abcdef", false),
    ] {
        let mut out = heapless::Vec::new();
        out.append(before.as_bytes())
            .expect("room for what is there before");
        let mut json = Writer::new(&mut out);
        write(&mut json);
        if fits {
            assert_eq!(json.finish(), Ok(9), "{before}");
            assert_eq!(out, format!("{before}[\"abc\",7]").as_bytes());
        } else {
            assert_eq!(json.finish(), Err(Full), "{before}");
            assert_eq!(out, before.as_bytes());
        }
    }
}

#[test]
fn after_a_full_sink_nothing_more_is_appended() {
    let mut out = heapless::Vec::<u8, 8>::new();
    {
        let mut json = Writer::new(&mut out);
        json.begin_array();
        json.string("too long for this");
        json.integer(1);
    }
    // The quote went in, the text did not, and what would have fitted after it must not follow.
    assert_eq!(out, b"[\"");
}

#[test]
fn going_back_takes_the_fault_back() {
    let mut out = heapless::Vec::<u8, 8>::new();
    let mut json = Writer::new(&mut out);
    json.begin_array();
    json.integer(1);
    let mark = json.mark();
    json.string("too long for this");
    json.rollback(mark);
    json.integer(2);
    json.end_array();
    assert_eq!(json.finish(), Ok(5));
    assert_eq!(out, b"[1,2]");
}

#[test]
fn any_sink_will_do() {
    let mut out = Vec::new();
    let sink: &mut dyn Sink = &mut out;
    assert!(sink.is_empty());
    let mut json = Writer::new(sink);
    json.null();
    assert_eq!(json.finish(), Ok(4));
    assert_eq!(out, b"null");
}
