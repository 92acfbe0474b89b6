//! Cases by hand. Agreement with serde_json on generated documents is in `tests/agreement.rs`.

mod agreement;
mod owned;
mod tokens;
mod values;
mod writer;

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

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
