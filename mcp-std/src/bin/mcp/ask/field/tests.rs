use mcp_std::model::Decode as _;

use super::*;

/// What comes of typing each text: the JSON that is sent, `-` for nothing, `!` for a refusal.
fn typed(schema: &str, required: bool, all: &[(&str, &str)]) {
    let json = RawJson::parse(schema.as_bytes()).expect("JSON");
    let schema = PrimitiveSchema::decode(json).expect("a schema");
    let field = Field::new(&schema, required);
    for (typed, expected) in all {
        let value = match field.read(&schema, typed) {
            Ok(Some(value)) => value.as_str().to_owned(),
            Ok(None) => "-".to_owned(),
            Err(fault) => {
                assert!(!fault.is_empty());
                "!".to_owned()
            }
        };
        assert_eq!(value, *expected, "{typed:?} for {}", json.as_str());
    }
}

/// ELI-09.
#[test]
fn strings_have_lengths_and_formats() {
    typed(r#"{"type":"string"}"#, false, &[("", "-"), ("1", "\"1\"")]);
    typed(r#"{"type":"string"}"#, true, &[("", "!")]);
    typed(
        r#"{"type":"string","minLength":2,"maxLength":3,"default":"xyz"}"#,
        true,
        &[("", "\"xyz\""), ("é", "!"), ("éé", "\"éé\""), ("abcd", "!")],
    );
    let formatted = |format: &str, good: &[&str], bad: &[&str]| {
        let schema = format!(r#"{{"type":"string","format":"{format}"}}"#);
        let quoted: Vec<_> = good.iter().map(|text| format!("\"{text}\"")).collect();
        let good = good.iter().copied().zip(quoted.iter().map(String::as_str));
        let all: Vec<_> = good.chain(bad.iter().map(|&text| (text, "!"))).collect();
        typed(&schema, true, &all);
    };
    formatted("email", &["a@b.c"], &["a", "@b", "a@", "a b@c"]);
    formatted(
        "uri",
        &["a:b", "https://a/b?c"],
        &["a", "1a:b", "a:", "a:b c"],
    );
    formatted(
        "date",
        &["2026-07-28", "2024-02-29", "2000-02-29"],
        &[
            "2026-02-29",
            "1900-02-29",
            "2026-7-28",
            "2026-13-01",
            "2026-04-31",
            "28.7.2026",
        ],
    );
    formatted(
        "date-time",
        &[
            "2026-07-28T12:00:00Z",
            "2026-07-28T12:00:00.5+02:00",
            "1990-12-31T23:59:60Z",
        ],
        &[
            "2026-07-28",
            "2026-07-28T12:00:00",
            "2026-07-28T24:00:00Z",
            "2026-07-28T12:00Z",
            "2026-07-28T12:00:00+2",
        ],
    );
}

#[test]
fn numbers_are_sent_as_typed_and_within_bounds() {
    typed(
        r#"{"type":"number","minimum":-1,"maximum":10.5}"#,
        true,
        &[
            ("1.50", "1.50"),
            ("10.5", "10.5"),
            ("10.6", "!"),
            ("-2", "!"),
            ("1e400", "!"),
            ("x", "!"),
            ("\"1\"", "!"),
        ],
    );
    typed(
        r#"{"type":"integer","default":30}"#,
        false,
        &[
            ("", "30"),
            ("3", "3"),
            ("1.5", "!"),
            ("9007199254740993", "9007199254740993"),
        ],
    );
}

#[test]
fn choices_are_by_number_or_value() {
    typed(
        r#"{"type":"boolean","default":true}"#,
        true,
        &[("", "true"), ("No", "false"), ("y", "true"), ("1", "!")],
    );
    let one = r#"{"type":"string","enum":["a","3","c"],"default":"c"}"#;
    typed(
        one,
        true,
        &[
            ("", "\"c\""),
            ("1", "\"a\""),
            ("c", "\"c\""),
            ("3", "\"3\""),
            ("0", "!"),
            ("4", "!"),
        ],
    );
    let several = r#"{"type":"array","minItems":1,"maxItems":2,"items":{"anyOf":[
        {"const":"a","title":"A thing"},{"const":"b","title":"B thing"},{"const":"c","title":"C thing"}]}}"#;
    typed(
        several,
        true,
        &[
            ("", "!"),
            ("1, b", r#"["a","b"]"#),
            ("a,a", r#"["a"]"#),
            ("a,b,c", "!"),
            ("x", "!"),
            (",", "!"),
        ],
    );
}

#[test]
fn what_a_server_calls_a_field_does_not_reach_the_terminal_raw() {
    let json = RawJson::parse(br#"{"type":"string","enum":["\u001b[2J"],"title":"\u001b]0;x\u0007","description":"\u202eabc"}"#);
    let schema = PrimitiveSchema::decode(json.expect("JSON")).expect("a schema");
    let heading = Field::new(&schema, true).heading("na\u{1b}me");
    assert!(heading.lines().count() == 3, "{heading}");
    assert!(
        !heading.contains(['\u{1b}', '\u{7}', '\u{202e}']),
        "{heading:?}"
    );
}
