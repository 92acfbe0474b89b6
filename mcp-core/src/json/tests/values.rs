//! What checked values say.

use crate::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::hash::BuildHasher;

use super::super::*;
use super::{VALID, number, string, valid};

#[test]
fn values_are_seen_as_what_they_are() {
    assert_eq!(VALID.iter().filter(|text| valid(text).is_null()).count(), 1);
    for (text, kind) in [
        ("null", Kind::Null),
        ("true", Kind::Bool),
        ("-1", Kind::Number),
        ("7", Kind::Number),
        ("\"x\"", Kind::String),
        ("[1]", Kind::Array),
        ("{}", Kind::Object),
    ] {
        let value = valid(text);
        assert_eq!(value.kind(), kind);
        assert_eq!(value.is_null(), kind == Kind::Null);
        assert_eq!(value.as_bool().is_some(), kind == Kind::Bool);
        assert_eq!(value.as_number().is_some(), kind == Kind::Number);
        assert_eq!(value.as_string().is_some(), kind == Kind::String);
        assert_eq!(value.as_array().is_some(), kind == Kind::Array);
        assert_eq!(value.as_object().is_some(), kind == Kind::Object);
    }
    assert_eq!(valid("true").as_bool(), Some(true));
    assert_eq!(valid("false").as_bool(), Some(false));
}

#[test]
fn members_and_elements_come_in_order_with_their_spans() {
    let text = "{ \"a\" : [ 1 , [\"]\\\"\" , {} ] ,\n true,-2e3 ] , \"b\\n\":\"}\" ,\"a\":null,\"c\":{\"d\":\"\\\\\"} }";
    let members: Vec<_> = valid(text)
        .as_object()
        .expect("an object")
        .map(|(n, v)| (n.raw(), v.as_str()))
        .collect();
    let expected = [
        ("a", "[ 1 , [\"]\\\"\" , {} ] ,\n true,-2e3 ]"),
        ("b\\n", "\"}\""),
        ("a", "null"),
        ("c", "{\"d\":\"\\\\\"}"),
    ];
    assert_eq!(members, expected);
    let elements: Vec<_> = valid(members[0].1)
        .as_array()
        .expect("an array")
        .map(RawJson::as_str)
        .collect();
    assert_eq!(elements, ["1", "[\"]\\\"\" , {} ]", "true", "-2e3"]);

    let mut empty = valid("{ \n }").as_object().expect("an object");
    assert!(empty.next().is_none() && empty.next().is_none());
    let mut empty = valid("[]").as_array().expect("an array");
    assert!(empty.next().is_none() && empty.next().is_none());
}

#[test]
fn strings_decode() {
    for (text, decoded) in [
        (r#""""#, ""),
        (r#""plain""#, "plain"),
        (r#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{c}\n\r\t"),
        (r#""a\u0062c""#, "abc"),
        (
            r#""\u00e9\u20AC\ud83D\uDE00é""#,
            "\u{e9}\u{20ac}\u{1f600}\u{e9}",
        ),
        (r#""\u0000""#, "\0"),
        (r#""\\u0041""#, "\\u0041"),
        (r#""\ud800""#, "\u{fffd}"),
        (r#""\udc00\ud800""#, "\u{fffd}\u{fffd}"),
        (r#""\ud800\ud800\udc00""#, "\u{fffd}\u{10000}"),
        (r#""\ud800\u0041\udbff\n""#, "\u{fffd}A\u{fffd}\n"),
        (r#""\udbff\udfff""#, "\u{10ffff}"),
    ] {
        let string = string(text);
        assert_eq!(string.raw(), &text[1..text.len() - 1]);
        assert_eq!(string.decode(), decoded);
        assert_eq!(string.chars().collect::<String>(), decoded);
        assert_eq!(string.has_escapes(), text.contains('\\'));
        assert_eq!(string.as_plain(), (!text.contains('\\')).then_some(decoded));
        assert_eq!(
            matches!(string.decode(), Cow::Borrowed(_)),
            !text.contains('\\')
        );
    }
}

#[test]
fn strings_compare_and_hash_by_what_they_say() {
    let same = [
        r#""method""#,
        r#""me\u0074hod""#,
        r#""\u006d\u0065\u0074\u0068\u006f\u0064""#,
    ];
    let other = [
        r#""methoD""#,
        r#""metho""#,
        r#""method ""#,
        r#""me\\u0074hod""#,
        r#""me\u0054hod""#,
        r#""""#,
    ];
    let state = foldhash::fast::FixedState::default();
    for left in same {
        assert!(string(left) == "method" && string(left) == *"method");
        assert_eq!(state.hash_one(string(left)), state.hash_one("method"));
        for right in same {
            assert_eq!(string(left), string(right));
        }
        for right in other {
            assert_ne!(string(left), string(right));
            assert_ne!(string(right), string(left));
        }
    }
    for text in other {
        assert!(string(text) != "method", "{text}");
    }
    // Text that looks like an escape sequence is not one.
    assert!(string(r#""\n""#) != "\\n");
    assert!(string(r#""\n""#) == "\n");
    assert_eq!(string(r#""\\n""#), string(r#""\u005cn""#));
    assert_eq!(string(r#""\ud800""#), string("\"\u{fffd}\""));
}

#[test]
fn integers_are_exact() {
    for (text, value) in [
        ("0", Some(0)),
        ("-0", Some(0)),
        ("-0.0e-5", Some(0)),
        ("0e999999999999999999999", Some(0)),
        ("0e-999999999999999999999", Some(0)),
        ("7", Some(7)),
        ("-7", Some(-7)),
        ("1.0", Some(1)),
        ("1e3", Some(1000)),
        ("1E+3", Some(1000)),
        ("10e-1", Some(1)),
        ("1.5e1", Some(15)),
        ("0.001e3", Some(1)),
        ("120000.0", Some(120_000)),
        ("9007199254740993", Some(9_007_199_254_740_993)),
        ("9223372036854775807", Some(i64::MAX)),
        ("9223372036854775807.000", Some(i64::MAX)),
        ("922337203685477580.7e1", Some(i64::MAX)),
        ("92233720368547758070e-1", Some(i64::MAX)),
        ("-9223372036854775808", Some(i64::MIN)),
        ("-9223372036854775808e0", Some(i64::MIN)),
        ("9223372036854775808", None),
        ("-9223372036854775809", None),
        ("0.5", None),
        ("1.5", None),
        ("1e-1", None),
        ("15e-2", None),
        ("1e19", None),
        ("1e999999999", None),
        ("-1e-999999999", None),
        ("1e99999999999999999999999999", None),
        ("1e-99999999999999999999999999", None),
        ("100000000000000000000000000000000000e-30", Some(100_000)),
        ("0.000000000000000000000000000000000012e36", Some(12)),
    ] {
        assert_eq!(number(text).as_i64(), value, "{text}");
        let unsigned = value.and_then(|value| u64::try_from(value).ok());
        if value.is_some() {
            assert_eq!(number(text).as_u64(), unsigned, "{text}");
        }
    }
    assert_eq!(number("18446744073709551615").as_u64(), Some(u64::MAX));
    assert_eq!(number("1844674407370955161.51e1").as_u64(), None);
    assert_eq!(number("1844674407370955161.50e1").as_u64(), Some(u64::MAX));
    assert_eq!(number("18446744073709551616").as_u64(), None);
    assert_eq!(number("-1").as_u64(), None);
    let long = format!("1{}.{}e-{}", "0".repeat(50_000), "0".repeat(50_000), 50_000);
    assert_eq!(number(&long).as_i64(), Some(1));
}

#[test]
fn doubles_are_finite_or_nothing() {
    assert_eq!(number("-1.5e2").as_f64(), Some(-150.0));
    assert_eq!(number("1e400").as_f64(), None);
    assert_eq!(number("-1e999999999").as_f64(), None);
    assert_eq!(number("1e-400").as_f64(), Some(0.0));
    assert_eq!(number("1.7976931348623157e308").as_f64(), Some(f64::MAX));
    assert_eq!(number("1e400").to_string(), "1e400");
}

/// A container is skipped sixty-four bytes at a time; escapes and strings can lie across any two of them.
#[test]
fn the_end_of_a_container_is_found_wherever_blocks_meet() {
    for padding in 0..140 {
        for backslashes in 0..4 {
            let string = format!(
                "{}{}\\\"]}}",
                "a".repeat(padding),
                "\\\\".repeat(backslashes)
            );
            let inner = format!("{{\"b\":\"{string}\",\"{string}\":[[{{}}]]}}");
            let text = format!("[{inner}, \"{string}\" ,{inner}]");
            let elements: Vec<_> = valid(&text)
                .as_array()
                .expect("an array")
                .map(RawJson::as_str)
                .collect();
            assert_eq!(elements, [&inner, &format!("\"{string}\""), &inner]);
        }
    }
}

#[test]
fn half_a_surrogate_pair_is_no_unicode() {
    let unicode = |text: &str| {
        let text = format!("\"{text}\"");
        let value = RawJson::parse(text.as_bytes()).expect("a string");
        value.as_string().expect("a string").is_unicode()
    };
    for good in [
        "",
        "a",
        "\\n\u{fffd}",
        "\\ufffd",
        "\\uFFFD",
        "\\ud83d\\ude00",
        "\\\\ud800",
    ] {
        assert!(unicode(good), "{good}");
    }
    for bad in [
        "\\ud800",
        "a\\udfff",
        "\\udc00\\ud800",
        "\\ud800\\ud83d\\ude00",
        "\\n\\uDBFFx",
    ] {
        assert!(!unicode(bad), "{bad}");
    }
}
