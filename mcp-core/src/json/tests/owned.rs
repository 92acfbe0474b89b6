//! Values that are kept, and their way through other formats.

use alloc::string::ToString;

use crate::json::{ErrorKind, Json};

#[test]
fn sc_09_a_value_is_kept_as_it_is_written() {
    let json = Json::parse(b" {\"a\": 1.0} ").expect("valid");
    assert_eq!(json.as_str(), "{\"a\": 1.0}");
    assert_eq!(json.to_string(), json.as_str());
    let owned = json.clone().into_owned();
    assert_eq!(owned, json);
    assert_eq!(Json::owned(" [ ] ".into()).expect("valid").as_str(), "[ ]");
    let bad = Json::owned("[1".into()).expect_err("cut");
    assert_eq!(bad.kind, ErrorKind::UnexpectedEnd);
    assert_eq!(Json::string("a\"\n").as_str(), r#""a\"\n""#);
    assert_eq!(Json::from(u64::MAX).as_str(), "18446744073709551615");
    assert_eq!(Json::from(i64::MIN).as_str(), "-9223372036854775808");
    assert_eq!(Json::from(true).as_str(), "true");
}

#[cfg(feature = "serde")]
#[test]
fn values_pass_through_serde() {
    for text in [
        "null",
        "true",
        "[]",
        "{}",
        "-0.0",
        "0.1",
        "1.0",
        "1e300",
        "18446744073709551615",
        "-9223372036854775808",
        r#""\"\u0000é""#,
        r#"{"b":[1,{"a":null}],"a":{},"b":2}"#,
    ] {
        let json = Json::parse(text.as_bytes()).expect(text);
        let written = serde_json::to_string(&json).expect(text);
        let read: Json<'_> = serde_json::from_str(text).expect(text);
        let again: Json<'_> = serde_json::from_str(&written).expect(text);
        assert_eq!(read, again, "{text}");
        if text != "1e300" {
            assert_eq!(written, text);
            assert_eq!(read.as_str(), text);
        }
    }
    let write = |text: &str| {
        let json = Json::owned(text.into()).expect(text);
        serde_json::to_string(&json).map_err(|error| error.to_string())
    };
    // Notation is lost, value is not; what is beyond doubles is refused.
    assert_eq!(write("1e2").as_deref(), Ok("100.0"));
    assert_eq!(write("-0").as_deref(), Ok("-0.0"));
    let long = "170141183460469231731687303715884105727";
    assert_eq!(write(long).as_deref(), Ok(long));
    assert!(write("1e400").is_err());
    // As deep as a message may be, and no deeper.
    let nested = |depth: usize| {
        let tree = (0..depth).fold(serde_json::Value::Null, |value, _| {
            [value].into_iter().collect()
        });
        serde_json::from_value::<Json<'_>>(tree)
    };
    assert!(nested(crate::json::DEFAULT_DEPTH).is_ok());
    assert!(nested(crate::json::DEFAULT_DEPTH + 1).is_err());
}
