//! Every keyword that is not in the lowered schema is in the report.

use mcp_std::host::adapters::schema::{Change, Dialect, Loss, lower};
use serde_json::{Map, Value, json};

use crate::corpus::{DIALECTS, tools};

#[test]
fn every_lost_keyword_is_reported() {
    let (mut kept, mut lost) = (0, 0);
    let mut problems = Vec::new();
    for tool in tools() {
        let text = tool.schema.to_string();
        for dialect in DIALECTS {
            let lowered = lower(&tool.schema, dialect).expect("the corpus can be lowered");
            // Where references are, the report counts from what they refer to: by name then.
            if text.contains("\"$ref\"") {
                for keyword in keywords(&tool.schema) {
                    let there = keywords(lowered.schema()).contains(&keyword);
                    let told = lowered.losses().iter().any(|loss| loss.keyword == keyword);
                    if !there && !told {
                        problems.push(format!("{} for {dialect:?}: `{keyword}`", tool.name));
                    }
                }
                continue;
            }
            let mut walk = Walk {
                losses: lowered.losses(),
                kept: 0,
                lost: 0,
                missing: Vec::new(),
            };
            walk.schema(&tool.schema, Some(lowered.schema()), "");
            let missing = walk.missing.into_iter();
            problems.extend(missing.map(|it| format!("{} for {dialect:?}: {it}", tool.name)));
            kept += walk.kept;
            lost += walk.lost;
        }
    }
    assert!(problems.is_empty(), "{problems:#?}");
    assert!(kept > 5000 && lost > 900, "{kept} kept, {lost} lost");
}

/// A keyword that nobody knows, and words, at each place of each schema: they are there, or the report has them.
#[test]
fn what_is_added_anywhere_is_there_or_in_the_report() {
    let (mut places, mut lost) = (0, 0);
    let mut problems = Vec::new();
    for tool in tools() {
        let mut schema = tool.schema.clone();
        let mut marks = Vec::new();
        mark(&mut schema, &mut marks);
        for dialect in DIALECTS {
            let Ok(lowered) = lower(&schema, dialect) else {
                continue;
            };
            let text = lowered.schema().to_string();
            let told: Vec<&str> = lowered.losses().iter().map(|loss| &*loss.keyword).collect();
            for name in &marks {
                places += 1;
                if !text.contains(name.as_str()) {
                    lost += 1;
                    if !told.contains(&name.as_str()) && !is_beyond(&told) {
                        problems.push(format!("{} for {dialect:?}: {name}", tool.name));
                    }
                }
            }
        }
    }
    assert!(
        problems.is_empty(),
        "{} of {places}: {problems:#?}",
        problems.len()
    );
    assert!(lost > 1000, "{lost} of {places}");
}

/// A whole part is not shown: all that is in it is told by one word on that.
fn is_beyond(told: &[&str]) -> bool {
    ["", "$ref", "$defs", "definitions"]
        .iter()
        .any(|it| told.contains(it))
}

/// Adds a keyword of its own to each subschema.
fn mark(schema: &mut Value, marks: &mut Vec<String>) {
    let Some(keywords) = schema.as_object_mut() else {
        return;
    };
    for (keyword, value) in keywords.iter_mut() {
        match (keyword.as_str(), value) {
            ("properties" | "patternProperties", Value::Object(named)) => {
                named.values_mut().for_each(|schema| mark(schema, marks));
            }
            ("anyOf" | "oneOf" | "allOf" | "prefixItems" | "items", Value::Array(list)) => {
                list.iter_mut().for_each(|schema| mark(schema, marks));
            }
            ("items" | "additionalProperties", value) => mark(value, marks),
            _ => {}
        }
    }
    // Of one length, so that none is in another one.
    let name = format!("x-mark-{:05}", marks.len());
    keywords.insert(name.clone(), Value::Bool(true));
    marks.push(name);
}

#[test]
fn what_is_said_of_constants_is_told_or_reported() {
    let schema = json!({"type": "object", "properties": {"level": {"title": "Level", "oneOf": [
        {"const": "low", "title": "Low", "description": "Hardly", "minLength": 2},
        {"enum": ["mid", "high"], "description": "More", "default": "mid", "x-order": 2},
        {"type": "null", "description": "Unsaid", "x-null": 1}
    ]}, "any": {"type": ["string", "integer"], "minItems": 3}, "free": {"type": "object"}}});
    for dialect in [Dialect::OpenAiStrict, Dialect::Gemini] {
        let lowered = lower(&schema, dialect).expect("it can be lowered");
        let level = &lowered.schema()["properties"]["level"];
        let words = level["description"].as_str().expect("words");
        for said in [
            "low: Low Hardly",
            "mid, high: More",
            "(default: mid)",
            "(null: Unsaid)",
        ] {
            assert!(words.contains(said), "{said}: {words}");
        }
        let change = |path: &str, keyword: &str| {
            let loss = lowered
                .losses()
                .iter()
                .find(|it| it.path == path && it.keyword == keyword);
            loss.map(|loss| loss.change)
        };
        let (level, any) = ("/properties/level/oneOf", "/properties/any");
        for (path, keyword, expected) in [
            (format!("{level}/0"), "minLength", Change::Dropped),
            (format!("{level}/0"), "title", Change::Described),
            (format!("{level}/0"), "description", Change::Described),
            (format!("{level}/1"), "default", Change::Described),
            (format!("{level}/1"), "x-order", Change::Dropped),
            (format!("{level}/2"), "description", Change::Described),
            (format!("{level}/2"), "x-null", Change::Dropped),
            (any.to_owned(), "minItems", Change::Dropped),
            ("/properties/free".to_owned(), "type", Change::Rewritten),
        ] {
            assert_eq!(
                change(&path, keyword),
                Some(expected),
                "{dialect:?} {path} {keyword}"
            );
        }
    }
}

struct Walk<'l> {
    losses: &'l [Loss],
    kept: usize,
    lost: usize,
    missing: Vec<String>,
}

impl Walk<'_> {
    /// Down the members and elements: there the lowered schema has the same places.
    fn schema(&mut self, schema: &Value, lowered: Option<&Value>, path: &str) {
        let Some(schema) = schema.as_object() else {
            return;
        };
        let empty = Map::new();
        let there = lowered.and_then(Value::as_object).unwrap_or(&empty);
        for (keyword, value) in schema {
            let deeper =
                matches!(keyword.as_str(), "properties" | "items") && there.contains_key(keyword);
            let same = there.get(keyword) == Some(value) || deeper && !value.is_array();
            // Words are only added to.
            let words = keyword == "description"
                && value.as_str().is_some_and(|words| {
                    lowered.is_some_and(|it| {
                        it.to_string().contains(words.trim_matches('"')) || words.contains('"')
                    })
                });
            // Optional members are nullable in strict mode, which says the same.
            let nullable =
                matches!(keyword.as_str(), "type" | "enum") && contains(there.get(keyword), value);
            let all_required = keyword == "required"
                && (contains(there.get(keyword), value) || *value == Value::Array(Vec::new()));
            if same || words || nullable || all_required {
                self.kept += 1;
            } else if self.is_told(path, keyword) {
                self.lost += 1;
            } else {
                self.missing.push(format!("{path}: {keyword}: {value}"));
            }
        }
        for (name, member) in schema
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
        {
            let step = name.replace('~', "~0").replace('/', "~1");
            let lowered = there
                .get("properties")
                .and_then(|members| members.get(name));
            // A member that is encoded, or behind alternatives, has its own words for what is in it.
            if let Some(lowered) = lowered {
                self.schema(member, Some(lowered), &format!("{path}/properties/{step}"));
            }
        }
        if let (Some(items @ Value::Object(_)), Some(lowered)) =
            (schema.get("items"), there.get("items"))
        {
            self.schema(items, Some(lowered), &format!("{path}/items"));
        }
    }

    /// Whether the keyword is reported, or one that holds it, or which alternative it is in.
    fn is_told(&self, path: &str, keyword: &str) -> bool {
        self.losses.iter().any(|loss| {
            let here = loss.path == path && loss.keyword == keyword;
            let inside = !loss.path.is_empty()
                && path.starts_with(&loss.path)
                && matches!(
                    &*loss.keyword,
                    "type" | "additionalProperties" | "prefixItems" | ""
                );
            // What is asked of all alternatives is told for each of them, and what is inside of a keyword there.
            let of_all = loss.path.starts_with(&format!("{path}/anyOf"))
                || loss.path.starts_with(&format!("{path}/oneOf"));
            let below = of_all && loss.keyword == keyword
                || loss.path.starts_with(&format!("{path}/{keyword}"));
            here || inside || below
        }) || encoded(keyword)
    }
}

/// Keywords that become others by the very rules of a dialect: alternatives, the types of alternatives, free objects.
fn encoded(keyword: &str) -> bool {
    matches!(keyword, "type" | "properties" | "anyOf" | "title")
}

fn contains(there: Option<&Value>, value: &Value) -> bool {
    let Some(Value::Array(there)) = there else {
        return false;
    };
    match value {
        Value::Array(all) => all.iter().all(|one| there.contains(one)),
        one @ (Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Object(_)) => there.contains(one),
    }
}

fn keywords(schema: &Value) -> Vec<String> {
    let mut all = Vec::new();
    collect(schema, &mut all);
    all
}

fn collect(schema: &Value, all: &mut Vec<String>) {
    let Some(schema) = schema.as_object() else {
        return;
    };
    for (keyword, value) in schema {
        if !all.contains(keyword) {
            all.push(keyword.clone());
        }
        match (keyword.as_str(), value) {
            (
                "properties" | "patternProperties" | "dependentSchemas" | "$defs" | "definitions",
                Value::Object(named),
            ) => {
                named.values().for_each(|schema| collect(schema, all));
            }
            ("anyOf" | "oneOf" | "allOf" | "prefixItems" | "items", Value::Array(list)) => {
                list.iter().for_each(|schema| collect(schema, all));
            }
            ("items" | "additionalProperties" | "not" | "if" | "then" | "else", value) => {
                collect(value, all)
            }
            _ => {}
        }
    }
}
