//! Cases by hand. Agreement with serde_json on generated documents is in `tests/agreement.rs`.

mod agreement;
mod writer;

use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use alloc::{format, vec};
use core::hash::BuildHasher;

use super::*;

fn parse(text: &str) -> Result<RawJson<'_>, Error> {
    RawJson::parse(text.as_bytes())
}

fn valid(text: &str) -> RawJson<'_> {
    parse(text).expect(text)
}

fn string(text: &str) -> JsonStr<'_> {
    valid(text).as_string().expect(text)
}

fn number(text: &str) -> Number<'_> {
    valid(text).as_number().expect(text)
}

/// Valid documents without surrounding whitespace.
const VALID: &[&str] = &[
    "null",
    "true",
    "false",
    "0",
    "-0",
    "1.5e+3",
    "0e1",
    "0e+1",
    "-1E-2",
    "1E400",
    "1e999999999",
    "123456789012345678901234567890.123456789012345678901234567890",
    r#""""#,
    r#""a""#,
    r#"" ""#,
    r#""\"\\\/\b\f\n\r\t\u0041\uABCD\uabcd""#,
    r#""\u0000""#,
    r#""\ud83d\ude00""#,
    r#""\ud800""#,
    r#""\udc00\ud800""#,
    r#""\ud800\ud800\udc00""#,
    r#""\ud800abc""#,
    r#""\ud800\n""#,
    r#""\uD800\u0041""#,
    "\"\u{7f}\u{80}\u{2028}\u{2029}\u{feff}\u{fffe}\u{ffff}\u{10ffff}\"",
    "\"\u{e9}\u{20ac}\u{1f600}\"",
    "[]",
    "{}",
    "[ ]",
    "{\t}",
    "[[]]",
    "[{}]",
    "[[],{}]",
    "[1,2.5,-3e2]",
    "[ 1 , 2 ]",
    "[\r\n1\r\n,\t2 ]",
    "[true,false,null]",
    r#"{"":0}"#,
    r#"{"a":{"b":[{"c":"d"}]},"e":[]}"#,
    r#"{ "a" : 1 , "b" : [ ] }"#,
    r#"{"a":1,"a":2}"#,
    r#"{"\u0061\n":"b"}"#,
    r#"{"a":"{[\"]}"}"#,
    r#"{"a long name that goes on beyond one block of sixty-four bytes, to be sure":"and a value that does so as well, with \"quotes\" and a \\ or two, and then goes on and on for longer than two such blocks take"}"#,
];

#[test]
fn valid_documents_are_accepted_whole_and_with_whitespace_around() {
    for text in VALID {
        assert_eq!(valid(text).as_str(), *text);
        assert_eq!(valid(&format!(" \t\r\n{text} \t\r\n")).as_str(), *text);
    }
}

#[test]
fn what_is_not_json_is_refused_where_it_stops_being_json() {
    use ErrorKind::*;
    let cases: &[(&[u8], ErrorKind, usize)] = &[
        (b"\xef\xbb\xbf{}", ExpectedValue, 0),
        (b"\x0c1", ExpectedValue, 0),
        (b"\xc2\xa01", ExpectedValue, 0),
        (b"nil", BadLiteral, 1),
        (b"nulL", BadLiteral, 3),
        (b"truE", BadLiteral, 3),
        (b"fals\xe9", BadLiteral, 4),
        (b"True", ExpectedValue, 0),
        (b"NaN", ExpectedValue, 0),
        (b"Infinity", ExpectedValue, 0),
        (b"nullx", TrailingData, 4),
        (b"null null", TrailingData, 5),
        (b"1\0", TrailingData, 1),
        (b"{}}", TrailingData, 2),
        (b"1,", TrailingData, 1),
        (b"\"a\"b", TrailingData, 3),
        (b"+1", ExpectedValue, 0),
        (b".5", ExpectedValue, 0),
        (b"01", TrailingData, 1),
        (b"-01", TrailingData, 2),
        (b"00", TrailingData, 1),
        (b"0x1", TrailingData, 1),
        (b"1_000", TrailingData, 1),
        (b"-x", BadNumber, 1),
        (b"--1", BadNumber, 1),
        (b"-Infinity", BadNumber, 1),
        (b"1.x", BadNumber, 2),
        (b"1.e1", BadNumber, 2),
        (b"1ex", BadNumber, 2),
        (b"1e+-1", BadNumber, 3),
        (b"1e1.5", TrailingData, 3),
        (b"1 000", TrailingData, 2),
        (b"[1.]", BadNumber, 3),
        (b"[-]", BadNumber, 2),
        (b"[01]", ExpectedCommaOrBracket, 2),
        (b"'a'", ExpectedValue, 0),
        (b"\"a\nb\"", ControlCharacter, 2),
        (b"\"\0\"", ControlCharacter, 1),
        (b"\"\x1f\"", ControlCharacter, 1),
        (b"\"\\n\t\"", ControlCharacter, 3),
        (b"\"\\x41\"", BadEscape, 1),
        (b"\"\\\n\"", BadEscape, 1),
        (b"\"\\U0041\"", BadEscape, 1),
        (b"\"\\u00g0\"", BadEscape, 1),
        (b"\"\\u+041\"", BadEscape, 1),
        (b"\"\\u12\"", BadEscape, 1),
        (b"\"\\u\xc3\xa9\"", BadEscape, 1),
        (b"\"\\\xc3\xa9\"", BadEscape, 1),
        (b"[\"\xff\"]", BadUtf8, 2),
        (b"\"\xc0\x80\"", BadUtf8, 1),
        (b"\"\xed\xa0\x80\"", BadUtf8, 1),
        (b"\"\xf4\x90\x80\x80\"", BadUtf8, 1),
        (b"\"ab\xe2\x82\"", BadUtf8, 3),
        (b"{\"\xff\":1}", BadUtf8, 2),
        // Bad UTF-8 comes before what is wrong after it, the end of the input included.
        (b"[\"\xff\",]", BadUtf8, 2),
        (b"[\"\xff\"", BadUtf8, 2),
        (b"[1, \xe2\x82", ExpectedValue, 4),
        (b"[1\xe2\x82\xac]", ExpectedCommaOrBracket, 2),
        (b"[1,]", ExpectedValue, 3),
        (b"[,1]", ExpectedValue, 1),
        (b"[1,,2]", ExpectedValue, 3),
        (b"[1 2]", ExpectedCommaOrBracket, 3),
        (b"[1}", ExpectedCommaOrBracket, 2),
        (b"[}", ExpectedValue, 1),
        (b"[1/**/]", ExpectedCommaOrBracket, 2),
        (b"// c\n1", ExpectedValue, 0),
        (b"]", ExpectedValue, 0),
        (b"{]", ExpectedName, 1),
        (b"{,}", ExpectedName, 1),
        (b"{a:1}", ExpectedName, 1),
        (b"{1:1}", ExpectedName, 1),
        (b"{\"a\" 1}", ExpectedColon, 5),
        (b"{\"a\",1}", ExpectedColon, 4),
        (b"{\"a\"::1}", ExpectedValue, 5),
        (b"{\"a\":}", ExpectedValue, 5),
        (b"{\"a\":1 \"b\":2}", ExpectedCommaOrBrace, 7),
        (b"{\"a\":1,}", ExpectedName, 7),
        (b"{\"a\":1,,}", ExpectedName, 7),
        (b"{\"a\":1]", ExpectedCommaOrBrace, 6),
        (b"{\"a\":[1}", ExpectedCommaOrBracket, 7),
        (b"[\"a\",\n4\n,1,", UnexpectedEnd, 11),
    ];
    for &(text, kind, offset) in cases {
        let shown = String::from_utf8_lossy(text);
        assert_eq!(
            RawJson::parse(text),
            Err(Error::new(kind, offset)),
            "{shown}"
        );
        assert_eq!(
            Error::new(kind, offset).is_incomplete(),
            kind == UnexpectedEnd,
            "{shown}"
        );
    }
}

#[test]
fn every_prefix_is_incomplete() {
    // A number at the top level can end before its text does; so no document here is one.
    let documents = VALID
        .iter()
        .filter(|text| valid(text).kind() != Kind::Number);
    for text in documents {
        for end in 0..text.len() {
            let error = RawJson::parse(&text.as_bytes()[..end]).expect_err(text);
            assert!(error.is_incomplete(), "{text} up to {end}: {error}");
            assert_eq!(error.offset, end, "{text} up to {end}");
        }
    }
}

#[test]
fn prefixes_of_a_number_are_numbers_or_incomplete() {
    for (text, complete) in [
        (
            "-12.50e+30",
            &["-1", "-12", "-12.5", "-12.50", "-12.50e+3"][..],
        ),
        ("0.0E0", &["0", "0.0"]),
    ] {
        for end in 0..text.len() {
            match parse(&text[..end]) {
                Ok(value) => assert!(complete.contains(&value.as_str()), "{value:?}"),
                Err(error) => {
                    assert!(error.is_incomplete(), "{text} up to {end}: {error}");
                    assert!(!complete.contains(&&text[..end]));
                }
            }
        }
    }
}

#[test]
fn depth_is_limited_exactly() {
    let nested = |depth: usize| {
        format!(
            "{}1{}",
            "[{\"a\":".repeat(depth / 2),
            "}]".repeat(depth / 2)
        )
    };
    for limit in [0, 2, 62, 64, 66, DEFAULT_DEPTH, 130, MAX_DEPTH] {
        let (fits, too_deep) = (nested(limit), nested(limit + 2));
        assert!(
            RawJson::parse_with_depth(fits.as_bytes(), limit).is_ok(),
            "{limit}"
        );
        let error =
            RawJson::parse_with_depth(too_deep.as_bytes(), limit).expect_err("deeper than allowed");
        assert_eq!(
            (error.kind, error.offset),
            (ErrorKind::TooDeep, limit / 2 * 6),
            "{limit}"
        );
    }
    assert!(parse(&"[".repeat(DEFAULT_DEPTH)).is_err_and(|error| error.is_incomplete()));
    assert_eq!(
        parse(&"[".repeat(DEFAULT_DEPTH + 1)),
        Err(Error::new(ErrorKind::TooDeep, DEFAULT_DEPTH))
    );
    assert_eq!(
        RawJson::parse_with_depth("[".repeat(100_000).as_bytes(), usize::MAX),
        Err(Error::new(ErrorKind::TooDeep, MAX_DEPTH)),
    );
    // What has ended does not count.
    assert!(RawJson::parse_with_depth(format!("[{}[]]", "[],".repeat(1000)).as_bytes(), 2).is_ok());
}

#[test]
fn containers_are_told_apart_at_every_depth() {
    // Every third is an object, so that no word of the stack looks like another.
    let mut text = String::new();
    let mut closing = Vec::new();
    for level in 0..MAX_DEPTH {
        text.push_str(if level % 3 == 0 { "{\"a\":" } else { "[" });
        closing.push(if level % 3 == 0 { '}' } else { ']' });
    }
    text.push('1');
    let opened = text.len();
    text.extend(closing.iter().rev());
    assert!(RawJson::parse_with_depth(text.as_bytes(), MAX_DEPTH).is_ok());
    for at in opened..text.len() {
        let mut wrong = text.clone().into_bytes();
        wrong[at] = if wrong[at] == b'}' { b']' } else { b'}' };
        let error = RawJson::parse_with_depth(&wrong, MAX_DEPTH).expect_err("a wrong bracket");
        assert_eq!(error.offset, at);
    }
}

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

/// Reads a document by entering every container, and ends as [`RawJson::parse`] does.
fn walk(bytes: &[u8]) -> Result<(), Error> {
    let mut tokens = Tokenizer::new(bytes);
    let mut open = vec![];
    loop {
        match tokens.peek()? {
            Kind::Object => {
                tokens.begin_object()?;
                open.push(Kind::Object);
            }
            Kind::Array => {
                tokens.begin_array()?;
                open.push(Kind::Array);
            }
            Kind::Null | Kind::Bool | Kind::Number | Kind::String => {
                tokens.value()?;
            }
        }
        loop {
            let more = match open.last() {
                Some(Kind::Object) => tokens.next_member()?.is_some(),
                Some(_) => tokens.next_element()?,
                None => return tokens.end(),
            };
            if more {
                break;
            }
            open.pop();
        }
    }
}

#[test]
fn entering_containers_finds_what_taking_them_whole_finds() {
    for text in VALID {
        assert_eq!(walk(text.as_bytes()), Ok(()), "{text}");
        for end in 0..text.len() {
            let prefix = &text.as_bytes()[..end];
            assert_eq!(
                walk(prefix),
                RawJson::parse(prefix).map(drop),
                "{text} up to {end}"
            );
        }
    }
    assert_eq!(
        walk(&[b'['; 1000]),
        Err(Error::new(ErrorKind::TooDeep, DEFAULT_DEPTH))
    );
}

#[test]
fn a_tokenizer_gives_names_values_and_offsets() {
    let text = br#" {"a":1 , "b\u0063" :[2,{"x":3}], "d":"e" } "#;
    let mut tokens = Tokenizer::new(text);
    tokens.begin_object().expect("an object");
    assert_eq!(tokens.offset(), 2);
    assert_eq!(
        tokens.next_member().expect("valid").expect("a member"),
        string("\"a\"")
    );
    assert_eq!(tokens.offset(), 6);
    assert_eq!(tokens.value().expect("valid").as_str(), "1");
    let name = tokens.next_member().expect("valid").expect("a member");
    assert!(name == "bc" && name.has_escapes());
    assert_eq!(
        tokens.begin_object().map_err(|error| error.kind),
        Err(ErrorKind::ExpectedObject)
    );
    tokens.begin_array().expect("still there to be read");
    assert_eq!(tokens.next_element(), Ok(true));
    assert_eq!(tokens.value().expect("valid").as_str(), "2");
    assert_eq!(tokens.next_element(), Ok(true));
    assert_eq!(
        tokens.begin_array().map_err(|error| error.kind),
        Err(ErrorKind::ExpectedArray)
    );
    assert_eq!(tokens.peek(), Ok(Kind::Object));
    assert_eq!(tokens.value().expect("valid").as_str(), r#"{"x":3}"#);
    assert_eq!(tokens.next_element(), Ok(false));
    assert!(tokens.next_member().expect("valid").expect("a member") == "d");
    assert_eq!(tokens.value().expect("valid").as_str(), "\"e\"");
    assert!(tokens.next_member().expect("valid").is_none());
    tokens.end().expect("only whitespace");
    tokens.end().expect("asking again changes nothing");
    assert_eq!(tokens.offset(), text.len());
}

#[test]
fn calls_out_of_place_are_refused() {
    type Call = fn(&mut Tokenizer<'_>) -> Result<(), Error>;
    let member: Call = |tokens| tokens.next_member().map(drop);
    let element: Call = |tokens| tokens.next_element().map(drop);
    let value: Call = |tokens| tokens.value().map(drop);
    let object: Call = |tokens| tokens.begin_object();
    let array: Call = |tokens| tokens.begin_array();
    let end: Call = |tokens| tokens.end();
    let peek: Call = |tokens| tokens.peek().map(drop);
    let cases: &[(&str, &[Call])] = &[
        ("{}", &[member]),
        ("[]", &[element]),
        ("1", &[value, value]),
        ("1", &[value, peek]),
        ("[1]", &[array, value]),
        ("[1]", &[array, member]),
        ("[1]", &[array, element, element]),
        ("[1,2]", &[array, element, value, value]),
        ("[]", &[array, element, element]),
        ("{\"a\":1}", &[object, element]),
        ("{\"a\":1}", &[object, value]),
        ("{\"a\":1}", &[object, member, member]),
        (
            "{\"a\":[1]}",
            &[object, member, array, element, value, element, element],
        ),
        ("{\"a\":1}", &[object, end]),
        ("1", &[end]),
    ];
    for (text, calls) in cases {
        let mut tokens = Tokenizer::new(text.as_bytes());
        let (last, before) = calls.split_last().expect("a call");
        for call in before {
            call(&mut tokens).expect(text);
        }
        assert_eq!(
            last(&mut tokens).map_err(|error| error.kind),
            Err(ErrorKind::Misplaced),
            "{text}"
        );
        for call in [member, element, value, object, array, end, peek] {
            assert_eq!(
                call(&mut tokens).map_err(|error| error.kind),
                Err(ErrorKind::Misplaced),
                "{text}, after that"
            );
        }
    }
    let mut tokens = Tokenizer::new(b"[");
    tokens.begin_array().expect("an array");
    assert_eq!(tokens.end(), Err(Error::new(ErrorKind::UnexpectedEnd, 1)));
}

#[test]
fn errors_and_values_can_be_read() {
    assert_eq!(
        parse("{\"a\" 1}").expect_err("no colon").to_string(),
        "expected `:` at byte 5"
    );
    assert_eq!(format!("{:?}", valid("[1, 2]")), "[1, 2]");
    let long = format!("\"{}\u{20ac}\"", "a".repeat(61));
    assert_eq!(
        format!("{:?}", valid(&long)),
        format!("\"{}... (66 bytes)", "a".repeat(61))
    );
    assert_eq!(format!("{:?}", string(r#""a\n""#)), r#""a\n""#);
    let object = valid(r#"{"a":[1,{}]}"#).as_object().expect("an object");
    assert_eq!(format!("{object:?}"), r#"{"a": [1,{}]}"#);
    assert!(!format!("{:?}", Tokenizer::new(b"\"secret\"")).contains("secret"));
}
