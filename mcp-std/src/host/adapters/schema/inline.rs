//! A schema without references: each is replaced by what it refers to, within bounds.

use serde_json::{Map, Value, json};

use super::tidy::tidy;
use super::{
    Change, LowerError, MAX_DEPTH, MAX_LOWERED, MAX_NODES, MAX_SCHEMA, MAX_UNROLLED, Report, at,
    words,
};

/// Keywords whose value is a schema.
pub(super) const ONE: [&str; 11] = [
    "additionalProperties",
    "items",
    "not",
    "if",
    "then",
    "else",
    "contains",
    "propertyNames",
    "unevaluatedProperties",
    "unevaluatedItems",
    "contentSchema",
];
/// Keywords whose value is a list of schemas.
pub(super) const LISTS: [&str; 4] = ["anyOf", "oneOf", "allOf", "prefixItems"];
/// Keywords whose value is schemas by name.
pub(super) const NAMED: [&str; 3] = ["properties", "patternProperties", "dependentSchemas"];

/// The schema as 2020-12 has it, references inlined.
pub(super) fn inline(schema: &Value, report: &mut Report) -> Result<Value, LowerError> {
    if weight(schema) > MAX_SCHEMA {
        return Err(LowerError::TooLarge("its text is longer than 256 KiB"));
    }
    dialect(schema)?;
    let id = schema.get("$id").or_else(|| schema.get("id"));
    let mut inliner = Inliner {
        root: schema,
        id: id
            .and_then(Value::as_str)
            .map(|id| id.trim_end_matches('#')),
        followed: Vec::new(),
        nodes: 0,
        bytes: 0,
        report,
    };
    inliner.schema(schema, "", 0)
}

fn dialect(schema: &Value) -> Result<(), LowerError> {
    let Some(dialect) = schema.get("$schema") else {
        return Ok(());
    };
    let known = dialect.as_str().and_then(|uri| {
        let uri = uri.trim_end_matches('#').trim_end_matches('/');
        let name = uri
            .strip_prefix("https://json-schema.org/")
            .or_else(|| uri.strip_prefix("http://json-schema.org/"))?;
        let known = [
            "draft/2020-12/schema",
            "draft/2019-09/schema",
            "draft-07/schema",
            "draft-06/schema",
            "draft-04/schema",
            "schema",
        ];
        known.contains(&name).then_some(())
    });
    known.ok_or_else(|| LowerError::Dialect(words(dialect)))
}

struct Inliner<'s, 'r> {
    root: &'s Value,
    id: Option<&'s str>,
    /// The references that are being followed, by their target's place in memory.
    followed: Vec<*const Value>,
    nodes: usize,
    bytes: usize,
    report: &'r mut Report,
}

impl<'s> Inliner<'s, '_> {
    fn schema(&mut self, schema: &'s Value, path: &str, depth: usize) -> Result<Value, LowerError> {
        self.nodes += 1;
        let keywords = match schema {
            Value::Object(keywords) => keywords,
            Value::Bool(is) => return Ok(Value::Bool(*is)),
            Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                self.report
                    .add(path, "", Change::Dropped, "it is no schema");
                return Ok(json!({}));
            }
        };
        if self.nodes > MAX_NODES || self.bytes > MAX_LOWERED || depth > MAX_DEPTH {
            self.report.add(
                path,
                "",
                Change::Dropped,
                "with its references the schema is beyond a bound",
            );
            return Ok(json!({}));
        }
        let reference = keywords.get("$ref").and_then(Value::as_str);
        let reference = reference.or_else(|| {
            let dynamic = keywords
                .get("$dynamicRef")
                .or_else(|| keywords.get("$recursiveRef"));
            dynamic.and_then(Value::as_str)
        });
        let Some(reference) = reference else {
            return self.keywords(keywords, path, depth).map(Value::Object);
        };
        let target = self.target(reference)?;
        let address: *const Value = target;
        let times = self
            .followed
            .iter()
            .filter(|known| **known == address)
            .count();
        if times >= MAX_UNROLLED {
            self.report.add(
                path,
                "$ref",
                Change::Dropped,
                "it leads into itself without end",
            );
            for keyword in keywords.keys() {
                if !matches!(keyword.as_str(), "$ref" | "description") {
                    let reason = "it is beside a reference that leads into itself";
                    self.report.add(path, keyword, Change::Dropped, reason);
                }
            }
            let words = keywords
                .get("description")
                .filter(|words| words.is_string());
            let any = words.map(|words| ("description".to_owned(), words.clone()));
            return Ok(Value::Object(any.into_iter().collect()));
        }
        self.report.add(
            path,
            "$ref",
            Change::Rewritten,
            "references are replaced by what they refer to",
        );
        self.followed.push(address);
        let inlined = self.schema(target, path, depth + 1);
        self.followed.pop();
        let inlined = inlined?;
        let siblings = self.siblings(keywords, path, depth)?;
        if siblings.is_empty() {
            return Ok(inlined);
        }
        // Beside a reference there are words about it, most of the time.
        Ok(match inlined {
            Value::Object(mut inlined) if siblings.keys().all(|keyword| is_annotation(keyword)) => {
                for keyword in siblings
                    .keys()
                    .filter(|keyword| inlined.contains_key(*keyword))
                {
                    self.report.add(
                        path,
                        keyword,
                        Change::Rewritten,
                        "that beside the reference goes before that of its target",
                    );
                }
                inlined.extend(siblings);
                Value::Object(inlined)
            }
            Value::Bool(true) => Value::Object(siblings),
            inlined @ (Value::Object(_)
            | Value::Bool(_)
            | Value::Null
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_)) => {
                super::merge::merge(inlined, Value::Object(siblings), path, self.report)
            }
        })
    }

    fn siblings(
        &mut self,
        keywords: &'s Map<String, Value>,
        path: &str,
        depth: usize,
    ) -> Result<Map<String, Value>, LowerError> {
        let mut siblings = self.keywords(keywords, path, depth)?;
        siblings.retain(|keyword, _| {
            !matches!(keyword.as_str(), "$ref" | "$dynamicRef" | "$recursiveRef")
        });
        Ok(siblings)
    }

    fn keywords(
        &mut self,
        keywords: &'s Map<String, Value>,
        path: &str,
        depth: usize,
    ) -> Result<Map<String, Value>, LowerError> {
        let mut inlined = Map::new();
        for (keyword, value) in keywords {
            let name = keyword.as_str();
            let next = depth + 1;
            let value = match value {
                // What they hold is where it is referred to.
                _ if name == "$defs" || name == "definitions" => {
                    self.report.add(
                        path,
                        name,
                        Change::Rewritten,
                        "references are replaced by what they refer to",
                    );
                    continue;
                }
                Value::Array(list) if LISTS.contains(&name) || name == "items" => {
                    let mut all = Vec::new();
                    for (step, schema) in list.iter().enumerate() {
                        all.push(self.schema(
                            schema,
                            &at(path, name, Some(&step.to_string())),
                            next,
                        )?);
                    }
                    Value::Array(all)
                }
                Value::Object(named) if NAMED.contains(&name) || name == "dependencies" => {
                    let mut all = Map::new();
                    for (step, schema) in named {
                        let value = if name == "dependencies" && schema.is_array() {
                            schema.clone()
                        } else {
                            self.schema(schema, &at(path, name, Some(step)), next)?
                        };
                        self.bytes += step.len();
                        all.insert(step.clone(), value);
                    }
                    Value::Object(all)
                }
                Value::Object(_) | Value::Bool(_)
                    if ONE.contains(&name) || name == "additionalItems" =>
                {
                    self.schema(value, &at(path, name, None), next)?
                }
                Value::Null
                | Value::Bool(_)
                | Value::Number(_)
                | Value::String(_)
                | Value::Array(_)
                | Value::Object(_) => {
                    self.bytes = self.bytes.saturating_add(weight(value));
                    value.clone()
                }
            };
            inlined.insert(keyword.clone(), value);
        }
        Ok(tidy(inlined, path, self.report))
    }

    /// What a reference refers to, inside of the schema.
    fn target(&self, reference: &str) -> Result<&'s Value, LowerError> {
        let outside = || LowerError::Reference(words(&json!(reference)));
        let (uri, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        if !uri.is_empty() && self.id != Some(uri) {
            return Err(outside());
        }
        let fragment = decoded(fragment).ok_or_else(outside)?;
        if fragment.is_empty() || fragment.starts_with('/') {
            return self.root.pointer(&fragment).ok_or_else(outside);
        }
        anchor(self.root, &fragment).ok_or_else(outside)
    }
}

/// Recursion is as deep as the JSON, which was read with a bound.
fn anchor<'s>(schema: &'s Value, name: &str) -> Option<&'s Value> {
    match schema {
        Value::Object(keywords) => {
            let is = |keyword| keywords.get(keyword).and_then(Value::as_str) == Some(name);
            let old = keywords.get("$id").and_then(Value::as_str);
            let old = old.and_then(|id| id.strip_prefix('#')) == Some(name);
            if old || is("$anchor") || is("$dynamicAnchor") {
                return Some(schema);
            }
            keywords.values().find_map(|value| anchor(value, name))
        }
        Value::Array(list) => list.iter().find_map(|value| anchor(value, name)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

/// `None`: it is not UTF-8, or an escape is not one.
fn decoded(fragment: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digits = [rest.next()?, rest.next()?];
        let digit = |byte: u8| char::from(byte).to_digit(16);
        bytes.push(u8::try_from(digit(digits[0])? * 16 + digit(digits[1])?).ok()?);
    }
    String::from_utf8(bytes).ok()
}

/// About how many bytes its text has.
pub(super) fn weight(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
        Value::String(text) => text.len() + 3,
        Value::Array(list) => list.iter().map(weight).sum::<usize>() + 2,
        Value::Object(members) => {
            members
                .iter()
                .map(|(name, value)| name.len() + 4 + weight(value))
                .sum::<usize>()
                + 2
        }
    }
}

/// Says something about a value, and asks nothing of it.
pub(super) fn is_annotation(keyword: &str) -> bool {
    matches!(
        keyword,
        "title" | "description" | "default" | "examples" | "deprecated" | "readOnly" | "writeOnly"
    ) || keyword.starts_with("x-")
}
