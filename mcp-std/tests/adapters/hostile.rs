//! Schemas that mean ill, and those that ask for a decision.

use std::time::{Duration, Instant};

use mcp_std::RawJson;
use mcp_std::host::adapters::schema::{
    Change, Dialect, LowerError, MAX_LOSSES, MAX_LOWERED, lower,
};
use serde_json::{Map, Value, json};

use crate::corpus::DIALECTS;
use crate::dialect::check;

fn bombs() -> Vec<(&'static str, Value)> {
    let mut doubling = Map::new();
    for at in 0..60 {
        let next = json!({"$ref": format!("#/$defs/d{}", at + 1)});
        let both = json!({"type": "object", "properties": {"a": next, "b": next, "c": {"anyOf": [next, next]}}});
        doubling.insert(format!("d{at}"), both);
    }
    doubling.insert("d60".to_owned(), json!({"type": "string"}));
    let members: Map<String, Value> = (0..3000)
        .map(|at| (format!("m{at}"), json!({"type": "string"})))
        .collect();
    let branches: Vec<Value> = (0..500)
        .map(|at| json!({"required": [format!("m{at}")]}))
        .collect();
    let mut nested = json!({"type": "string"});
    for _ in 0..30 {
        nested = json!({"type": "object", "properties": {"x": {"anyOf": [nested, {"type": "array", "items": nested}]}}, "oneOf": [{"required": ["x"]}, {"not": {}}]});
        if nested.to_string().len() > 100_000 {
            break;
        }
    }
    let mut deep = json!({"type": "integer"});
    for _ in 0..60 {
        deep = json!({"type": "array", "items": deep});
    }
    let words = "w".repeat(2000);
    let repeated: Map<String, Value> = (0..2000)
        .map(|at| (format!("p{at}"), json!({"$ref": "#/$defs/long"})))
        .collect();
    vec![
        (
            "doubling",
            json!({"type": "object", "properties": {"x": {"$ref": "#/$defs/d0"}}, "$defs": doubling}),
        ),
        (
            "a cycle of itself",
            json!({"type": "object", "properties": {"x": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"$ref": "#/$defs/a"}}}),
        ),
        (
            "a cycle of two",
            json!({"type": "object", "properties": {"x": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"allOf": [{"$ref": "#/$defs/b"}]}, "b": {"anyOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}]}}}),
        ),
        (
            "the root in itself",
            json!({"type": "object", "properties": {"x": {"$ref": "#"}, "y": {"$ref": "#"}, "z": {"items": {"$ref": "#"}}}}),
        ),
        (
            "alternatives of a large object",
            json!({"type": "object", "properties": {"x": {"type": "object", "properties": members, "anyOf": branches}}}),
        ),
        (
            "alternatives of alternatives",
            json!({"type": "object", "properties": {"x": nested}}),
        ),
        (
            "levels",
            json!({"type": "object", "properties": {"x": deep}}),
        ),
        (
            "long words",
            json!({"type": "object", "properties": repeated, "$defs": {"long": {"type": "string", "description": words}}}),
        ),
        (
            "a long list of values",
            json!({"type": "object", "properties": {"x": {"enum": (0..20_000).collect::<Vec<_>>()}}}),
        ),
    ]
}

#[test]
fn no_schema_takes_long_or_grows_without_bound() {
    for (name, schema) in bombs() {
        for dialect in DIALECTS {
            let begun = Instant::now();
            match lower(&schema, dialect) {
                Ok(lowered) => {
                    // Words on what is encoded come on top, and each alternative has what is asked of all.
                    let length = lowered.schema().to_string().len();
                    assert!(
                        length < 8 * MAX_LOWERED,
                        "{name} for {dialect:?}: {length} bytes"
                    );
                    assert!(lowered.losses().len() <= MAX_LOSSES);
                    let mut problems = Vec::new();
                    check(lowered.schema(), dialect, &mut problems);
                    // What was cut off counts there.
                    problems.retain(|problem| !problem.contains("too large"));
                    assert!(
                        problems.is_empty(),
                        "{name} for {dialect:?}: {:?}",
                        &problems[..problems.len().min(5)]
                    );
                }
                Err(error) => assert!(
                    matches!(error, LowerError::TooLarge(_)),
                    "{name} for {dialect:?}: {error}"
                ),
            }
            assert!(
                begun.elapsed() < Duration::from_secs(5),
                "{name} for {dialect:?}: {:?}",
                begun.elapsed()
            );
        }
    }
    let large = json!({"type": "object", "description": "x".repeat(300 * 1024)});
    assert!(matches!(
        lower(&large, Dialect::Anthropic),
        Err(LowerError::TooLarge(_))
    ));
}

#[test]
fn a_recursive_schema_takes_arguments_of_any_depth() {
    let schema = json!({"type": "object", "properties": {"v": {"type": "integer"}, "next": {"$ref": "#"}}, "required": ["v"]});
    let mut arguments = json!({"v": 0});
    for at in 1..40 {
        arguments = json!({"v": at, "next": arguments});
    }
    let arguments = arguments.to_string();
    for dialect in DIALECTS {
        let lowered = lower(&schema, dialect).expect("a schema");
        let there = lowered.lower(RawJson::parse(arguments.as_bytes()).expect("JSON"));
        assert_eq!(
            lowered.raise(there.raw()).as_str().len(),
            arguments.len(),
            "{dialect:?}: {there}"
        );
        assert!(
            lowered
                .losses()
                .iter()
                .any(|loss| loss.keyword == "$ref" && loss.change == Change::Dropped)
        );
    }
}

/// SC-01
#[test]
fn alternatives_and_null_keep_their_branches_and_words() {
    let schema = json!({"type": "object", "properties": {
        "size": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": null, "description": "How large"},
        "c": {"oneOf": [{"type": "string", "description": "one"}, {"type": "array", "items": {"type": "string"}, "description": "many"}]}}});
    for dialect in DIALECTS {
        let lowered = lower(&schema, dialect).expect("a schema");
        let text = lowered.schema().to_string();
        for words in ["How large", "one", "many", "integer", "string", "array"] {
            assert!(text.contains(words), "{dialect:?}: {words} in {text}");
        }
    }
    let strict = lower(&schema, Dialect::OpenAiStrict).expect("a schema");
    assert_eq!(
        strict.schema()["properties"]["size"]["type"],
        json!(["integer", "null"])
    );
    let gemini = lower(&schema, Dialect::Gemini).expect("a schema");
    assert_eq!(gemini.schema()["properties"]["size"]["nullable"], true);
}

/// SC-02
#[test]
fn a_union_at_the_root_leaves_all_members_in_sight() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]});
    for dialect in DIALECTS {
        let lowered = lower(&schema, dialect).expect("a schema");
        assert!(
            lowered.schema()["properties"]["a"].is_object()
                && lowered.schema()["properties"]["b"].is_object()
        );
        let words = lowered.schema()["description"].as_str().expect("words");
        assert_eq!(words, "At least one of these is to be given: `a`; `b`.");
    }
}

/// SC-03, SC-04
#[test]
fn what_is_left_out_is_filled_in() {
    for schema in [json!({"type": "object"}), json!({}), json!(true)] {
        for dialect in DIALECTS {
            let lowered = lower(&schema, dialect).expect("a schema");
            assert_eq!(lowered.schema()["properties"], json!({}), "{dialect:?}");
        }
    }
    let lists = json!({"type": "object", "properties": {"tags": {"type": "array"}, "m": {"type": "array", "prefixItems": [{"type": "string"}]}}});
    for dialect in [Dialect::Anthropic, Dialect::OpenAi] {
        let lowered = lower(&lists, dialect).expect("a schema");
        assert_eq!(lowered.schema()["properties"]["tags"]["items"], json!({}));
        assert_eq!(lowered.schema()["properties"]["m"]["items"], json!({}));
    }
}

#[test]
fn null_and_nothing_stay_apart_in_strict_mode() {
    let schema = json!({"type": "object", "properties": {"owner": {"type": ["string", "null"]}, "n": {"type": "integer"}}});
    let lowered = lower(&schema, Dialect::OpenAiStrict).expect("a schema");
    for (given, server) in [
        (r#"{"owner":null,"n":null}"#, "{}"),
        (r#"{"owner":"<null>","n":1}"#, r#"{"owner":null,"n":1}"#),
        (r#"{"owner":"ada","n":null}"#, r#"{"owner":"ada"}"#),
    ] {
        assert_eq!(
            lowered
                .raise(RawJson::parse(given.as_bytes()).expect("JSON"))
                .as_str(),
            server
        );
    }
}

#[test]
fn what_a_model_gives_without_need_is_taken_too() {
    let schema = json!({"type": "object", "properties": {"free": {"type": "object"}, "map": {"type": "object", "additionalProperties": {"type": "string"}}}, "additionalProperties": {"type": "integer"}});
    for dialect in [Dialect::OpenAiStrict, Dialect::Gemini] {
        let lowered = lower(&schema, dialect).expect("a schema");
        // Objects as they are, where a text or a list of pairs was asked for.
        let given = r#"{"free":{"a":1},"map":{"k":"v"},"other":[1]}"#;
        assert_eq!(
            lowered
                .raise(RawJson::parse(given.as_bytes()).expect("JSON"))
                .as_str(),
            given
        );
        // A member that has a name of its own is not smuggled in among the others.
        let given = r#"{"free":"{}","additional_members":[{"key":"free","value":1},{"key":"x","value":2},{"key":"x","value":3},5]}"#;
        assert_eq!(
            lowered
                .raise(RawJson::parse(given.as_bytes()).expect("JSON"))
                .as_str(),
            r#"{"free":{},"x":3}"#
        );
    }
}
