//! What each provider takes, written down once more as checks: the oracle.

use mcp_std::host::adapters::schema::{Dialect, lower};
use mcp_std::schema::Validator;
use serde_json::{Map, Value};

use crate::corpus::{DIALECTS, tools};

#[test]
fn every_lowered_schema_is_of_the_providers_dialect() {
    let mut checked = 0;
    for tool in tools() {
        for dialect in DIALECTS {
            let lowered = lower(&tool.schema, dialect);
            let lowered =
                lowered.unwrap_or_else(|error| panic!("{} for {dialect:?}: {error}", tool.name));
            let mut problems = Vec::new();
            check(lowered.schema(), dialect, &mut problems);
            assert!(
                problems.is_empty(),
                "{} for {dialect:?}: {problems:#?}\n{:#}",
                tool.name,
                lowered.schema()
            );
            checked += 1;
        }
    }
    assert!(checked >= 800, "{checked} schemas were checked");
}

#[test]
fn the_checks_find_what_providers_refuse() {
    let refused = [
        (
            Dialect::Anthropic,
            r#"{"type":"object","properties":{},"anyOf":[{}]}"#,
        ),
        (
            Dialect::Anthropic,
            r#"{"type":"object","properties":{"a b":{}}}"#,
        ),
        (
            Dialect::Anthropic,
            r##"{"type":"object","properties":{"a":{"$ref":"#"}}}"##,
        ),
        (
            Dialect::OpenAi,
            r#"{"type":"object","properties":{"a":{"type":"array"}}}"#,
        ),
        (Dialect::OpenAi, r#"{"type":"object"}"#),
        (
            Dialect::OpenAiStrict,
            r#"{"type":"object","properties":{},"required":[]}"#,
        ),
        (
            Dialect::OpenAiStrict,
            r#"{"type":"object","properties":{"a":{"type":"string"}},"required":[],"additionalProperties":false}"#,
        ),
        (
            Dialect::OpenAiStrict,
            r#"{"type":"object","properties":{"a":{"type":"string","default":"x"}},"required":["a"],"additionalProperties":false}"#,
        ),
        (
            Dialect::OpenAiStrict,
            r#"{"type":"object","properties":{"a":{"oneOf":[]}},"required":["a"],"additionalProperties":false}"#,
        ),
        (
            Dialect::Gemini,
            r#"{"type":"object","properties":{"a":{"type":["string","null"]}}}"#,
        ),
        (
            Dialect::Gemini,
            r#"{"type":"object","properties":{"a":{"type":"integer","enum":[1]}}}"#,
        ),
        (
            Dialect::Gemini,
            r#"{"type":"object","properties":{"a":{"type":"object","properties":{}}}}"#,
        ),
        (
            Dialect::Gemini,
            r#"{"type":"object","properties":{"a":{"anyOf":[{"type":"string"}],"description":"x"}}}"#,
        ),
        (
            Dialect::Gemini,
            r#"{"type":"object","properties":{},"required":["a"]}"#,
        ),
    ];
    for (dialect, schema) in refused {
        let mut problems = Vec::new();
        check(
            &serde_json::from_str(schema).expect("JSON"),
            dialect,
            &mut problems,
        );
        assert!(!problems.is_empty(), "{dialect:?} takes {schema}");
    }
}

pub(crate) fn check(schema: &Value, dialect: Dialect, problems: &mut Vec<String>) {
    let root = schema.as_object().expect("an object");
    if root.get("type") != Some(&Value::from("object")) || !root.contains_key("properties") {
        problems.push("the root is no object with `properties`".to_owned());
    }
    for keyword in ["anyOf", "oneOf", "allOf", "enum", "not"] {
        if root.contains_key(keyword) {
            problems.push(format!("the root has `{keyword}`"));
        }
    }
    match dialect {
        Dialect::Anthropic | Dialect::OpenAi => {
            if let Err(error) = Validator::new(&schema.to_string()) {
                problems.push(error.to_string());
            }
            open(schema, dialect, "", problems);
        }
        Dialect::OpenAiStrict => {
            let mut count = Count::default();
            strict(schema, "", 0, &mut count, problems);
            if count.members > 5000 || count.values > 1000 || count.characters > 120_000 {
                problems.push("it is larger than strict mode takes".to_owned());
            }
        }
        Dialect::Gemini => gemini(schema, "", problems),
        _ => problems.push("a dialect without checks".to_owned()),
    }
}

fn open(schema: &Value, dialect: Dialect, path: &str, problems: &mut Vec<String>) {
    let Some(keywords) = schema.as_object() else {
        return;
    };
    for banned in ["$ref", "$defs", "definitions", "$schema"] {
        if keywords.contains_key(banned) {
            problems.push(format!("{path}: `{banned}`"));
        }
    }
    if keywords.get("type") == Some(&Value::from("array")) && !keywords.contains_key("items") {
        problems.push(format!("{path}: a list without `items`"));
    }
    for (keyword, value) in keywords {
        let path = format!("{path}/{keyword}");
        match (keyword.as_str(), value) {
            ("properties" | "patternProperties" | "dependentSchemas", Value::Object(named)) => {
                for (name, schema) in named {
                    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
                    let fine = (1..=64).contains(&name.len()) && name.bytes().all(allowed);
                    if dialect == Dialect::Anthropic && keyword == "properties" && !fine {
                        problems.push(format!("{path}: the name `{name}`"));
                    }
                    open(schema, dialect, &path, problems);
                }
            }
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(all)) => {
                all.iter()
                    .for_each(|schema| open(schema, dialect, &path, problems));
            }
            (
                "items" | "additionalProperties" | "not" | "if" | "then" | "else" | "contains",
                value,
            ) => {
                open(value, dialect, &path, problems);
            }
            _ => {}
        }
    }
}

#[derive(Default)]
struct Count {
    members: usize,
    values: usize,
    characters: usize,
}

fn strict(schema: &Value, path: &str, level: usize, count: &mut Count, problems: &mut Vec<String>) {
    const ALLOWED: [&str; 17] = [
        "type",
        "title",
        "description",
        "enum",
        "anyOf",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "minItems",
        "maxItems",
        "pattern",
        "format",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
    ];
    let Some(keywords) = schema.as_object() else {
        problems.push(format!("{path}: no object"));
        return;
    };
    for keyword in keywords.keys() {
        if !ALLOWED.contains(&keyword.as_str()) && keyword != "multipleOf" {
            problems.push(format!("{path}: `{keyword}`"));
        }
    }
    if level > 10 {
        problems.push(format!("{path}: {level} levels"));
    }
    if let Some(all) = keywords.get("anyOf").and_then(Value::as_array) {
        if all.is_empty() {
            problems.push(format!("{path}: no alternative"));
        }
        for schema in all {
            strict(schema, &format!("{path}/anyOf"), level, count, problems);
        }
        return;
    }
    let kinds = kinds(keywords);
    let known = [
        "string", "number", "integer", "boolean", "object", "array", "null",
    ];
    let others = kinds.iter().filter(|kind| **kind != "null").count();
    if kinds.is_empty() || others > 1 || !kinds.iter().all(|kind| known.contains(kind)) {
        problems.push(format!("{path}: the types {kinds:?}"));
    }
    if let Some(values) = keywords.get("enum").and_then(Value::as_array) {
        count.values += values.iter().filter(|value| !value.is_null()).count();
        count.characters += values
            .iter()
            .filter_map(Value::as_str)
            .map(str::len)
            .sum::<usize>();
        if values.is_empty() {
            problems.push(format!("{path}: an empty `enum`"));
        }
    }
    if kinds.contains(&"array") {
        match keywords.get("items") {
            Some(items) => strict(items, &format!("{path}/items"), level + 1, count, problems),
            None => problems.push(format!("{path}: a list without `items`")),
        }
    }
    if kinds.contains(&"object") {
        let empty = Map::new();
        let members = keywords
            .get("properties")
            .and_then(Value::as_object)
            .unwrap_or(&empty);
        let required = keywords.get("required").and_then(Value::as_array);
        let all = required.is_some_and(|names| {
            names.len() == members.len()
                && names
                    .iter()
                    .all(|name| name.as_str().is_some_and(|name| members.contains_key(name)))
        });
        if keywords.get("additionalProperties") != Some(&Value::Bool(false)) || !all {
            problems.push(format!(
                "{path}: an object that is open, or has optional members"
            ));
        }
        for (name, member) in members {
            count.members += 1;
            count.characters += name.len();
            strict(
                member,
                &format!("{path}/{name}"),
                level + 1,
                count,
                problems,
            );
        }
    }
}

fn kinds(keywords: &Map<String, Value>) -> Vec<&str> {
    match keywords.get("type") {
        Some(Value::String(kind)) => vec![kind],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn gemini(schema: &Value, path: &str, problems: &mut Vec<String>) {
    const ALLOWED: [&str; 18] = [
        "type",
        "format",
        "title",
        "description",
        "nullable",
        "enum",
        "maxItems",
        "minItems",
        "properties",
        "required",
        "minProperties",
        "maxProperties",
        "minLength",
        "maxLength",
        "pattern",
        "anyOf",
        "items",
        "minimum",
    ];
    let Some(keywords) = schema.as_object() else {
        problems.push(format!("{path}: no object"));
        return;
    };
    for keyword in keywords.keys() {
        if !ALLOWED.contains(&keyword.as_str()) && keyword != "maximum" {
            problems.push(format!("{path}: `{keyword}`"));
        }
    }
    if let Some(all) = keywords.get("anyOf").and_then(Value::as_array) {
        if keywords.len() > 1 || all.is_empty() {
            problems.push(format!(
                "{path}: something beside `anyOf`, or nothing in it"
            ));
        }
        for (at, schema) in all.iter().enumerate() {
            gemini(schema, &format!("{path}/{at}"), problems);
        }
        return;
    }
    let kind = keywords
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let format = keywords.get("format").and_then(Value::as_str);
    let formats: &[&str] = match kind {
        "string" => &["date-time", "enum"],
        "number" => &["float", "double"],
        "integer" => &["int32", "int64"],
        "boolean" | "array" | "object" => &[],
        _ => {
            problems.push(format!("{path}: the type `{kind}`"));
            &[]
        }
    };
    if format.is_some_and(|format| !formats.contains(&format)) {
        problems.push(format!("{path}: the format {format:?}"));
    }
    if let Some(values) = keywords.get("enum").and_then(Value::as_array) {
        let texts = values
            .iter()
            .all(|value| value.as_str().is_some_and(|text| !text.is_empty()));
        if kind != "string" || !texts || values.is_empty() {
            problems.push(format!("{path}: the values {values:?}"));
        }
    }
    if kind == "array" {
        match keywords.get("items") {
            Some(items) => gemini(items, &format!("{path}/items"), problems),
            None => problems.push(format!("{path}: a list without `items`")),
        }
    }
    if kind == "object" {
        let empty = Map::new();
        let members = keywords
            .get("properties")
            .and_then(Value::as_object)
            .unwrap_or(&empty);
        if members.is_empty() && !path.is_empty() {
            problems.push(format!("{path}: an object without members"));
        }
        for name in keywords
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            if !name.as_str().is_some_and(|name| members.contains_key(name)) {
                problems.push(format!("{path}: {name} is required and no member"));
            }
        }
        for (name, member) in members {
            gemini(member, &format!("{path}/{name}"), problems);
        }
    }
}
