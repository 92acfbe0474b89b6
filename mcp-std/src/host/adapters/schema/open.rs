//! For providers that take nearly all of JSON Schema: the schema is passed on, but for what they are known to refuse.

use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use super::inline::{LISTS, NAMED, ONE};
use super::plan::Plan;
use super::{Change, Report, at};

/// `names`: those of members are 1 to 64 of `A-Za-z0-9_.-`.
pub(super) fn open(root: Map<String, Value>, names: bool, report: &mut Report) -> (Value, Plan) {
    let mut opener = Opener {
        names,
        renamed: Vec::new(),
        report,
    };
    let schema = opener.keywords(root, "");
    let plan = if opener.renamed.is_empty() {
        Plan::Same
    } else {
        Plan::Renamed(opener.renamed)
    };
    (Value::Object(schema), plan)
}

struct Opener<'r> {
    names: bool,
    /// The name of the schema, and the one of the provider. Each has one for the whole schema, so that also what refers to
    /// a member, in any part of it, can be renamed.
    renamed: Vec<(String, String)>,
    report: &'r mut Report,
}

impl Opener<'_> {
    fn schema(&mut self, schema: Value, path: &str) -> Value {
        match schema {
            Value::Object(keywords) => Value::Object(self.keywords(keywords, path)),
            Value::Bool(false) => json!({"not": {}}),
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_) => json!({}),
        }
    }

    fn keywords(&mut self, keywords: Map<String, Value>, path: &str) -> Map<String, Value> {
        let mut opened = Map::new();
        for (keyword, value) in keywords {
            let name = keyword.as_str();
            let value = match value {
                Value::Array(list) if name == "required" => {
                    self.names(Value::Array(list), path, name)
                }
                Value::Array(list) if LISTS.contains(&name) => {
                    let one = |(step, schema): (usize, Value)| {
                        self.schema(schema, &at(path, name, Some(&step.to_string())))
                    };
                    list.into_iter().enumerate().map(one).collect()
                }
                Value::Object(named) if NAMED.contains(&name) => {
                    let mut all = Map::new();
                    for (step, schema) in named {
                        let schema = self.schema(schema, &at(path, name, Some(&step)));
                        let step = if name == "patternProperties" {
                            step
                        } else {
                            self.name(step, path, name)
                        };
                        all.insert(step, schema);
                    }
                    Value::Object(all)
                }
                Value::Object(lists) if name == "dependentRequired" => {
                    let mut all = Map::new();
                    for (step, list) in lists {
                        let list = self.names(list, path, name);
                        all.insert(self.name(step, path, name), list);
                    }
                    Value::Object(all)
                }
                // Whether members that are not named may be there is a boolean for all providers.
                value @ Value::Bool(_)
                    if matches!(
                        name,
                        "additionalProperties" | "unevaluatedProperties" | "unevaluatedItems"
                    ) =>
                {
                    value
                }
                value @ (Value::Object(_) | Value::Bool(_)) if ONE.contains(&name) => {
                    self.schema(value, &at(path, name, None))
                }
                value @ (Value::Null
                | Value::Bool(_)
                | Value::Number(_)
                | Value::String(_)
                | Value::Array(_)
                | Value::Object(_)) => value,
            };
            opened.insert(keyword, value);
        }
        let kinds = opened.get("type");
        let lists = kinds.is_some_and(|kinds| {
            kinds == "array"
                || kinds
                    .as_array()
                    .is_some_and(|all| all.contains(&json!("array")))
        });
        if lists && !opened.contains_key("items") {
            opened.insert("items".to_owned(), json!({}));
        }
        opened
    }

    fn names(&mut self, names: Value, path: &str, keyword: &str) -> Value {
        let Value::Array(names) = names else {
            return names;
        };
        let names = names.into_iter().map(|name| match name {
            Value::String(name) => Value::String(self.name(name, path, keyword)),
            other @ (Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::Array(_)
            | Value::Object(_)) => other,
        });
        names.collect()
    }

    fn name(&mut self, name: String, path: &str, keyword: &str) -> String {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
        if !self.names || (1..=64).contains(&name.len()) && name.bytes().all(allowed) {
            return name;
        }
        self.report.add(
            path,
            keyword,
            Change::Rewritten,
            "the provider does not take the name of a member",
        );
        if let Some((_, renamed)) = self.renamed.iter().find(|(known, _)| *known == name) {
            return renamed.clone();
        }
        let digest = Sha256::digest(name.as_bytes());
        let kept: String = name
            .bytes()
            .filter(|byte| allowed(*byte))
            .take(48)
            .map(char::from)
            .collect();
        // So that no other member is named so.
        let digest: String = digest[..4]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let renamed = format!("{kept}_{digest}");
        self.renamed.push((name, renamed.clone()));
        renamed
    }
}
