//! The root of a schema: an object, without anything beside its members that a provider would refuse there.

use serde_json::{Map, Value, json};

use super::merge::merge;
use super::{Change, LowerError, Report, at, describe, words};

/// The same schema as one object. Members of alternatives are all shown, and which of them go together is told in words.
pub(super) fn root(schema: Value, report: &mut Report) -> Result<Map<String, Value>, LowerError> {
    let mut schema = match schema {
        Value::Object(schema) => schema,
        Value::Bool(true) => Map::new(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            return Err(LowerError::NotAnObject);
        }
    };
    let kind = schema.get("type").cloned();
    let kind = kind.unwrap_or_else(|| json!("object"));
    let allows = kind == "object"
        || kind
            .as_array()
            .is_some_and(|all| all.contains(&json!("object")));
    if !allows {
        return Err(LowerError::NotAnObject);
    }
    if kind.is_array() {
        report.add("", "type", Change::Rewritten, "arguments are an object");
    }
    flatten(&mut schema, report);
    // In the order in which it is read.
    let mut root = Map::new();
    root.insert("type".to_owned(), json!("object"));
    if let Some(words) = schema.shift_remove("description") {
        root.insert("description".to_owned(), words);
    }
    let members = schema.shift_remove("properties");
    root.insert(
        "properties".to_owned(),
        members.unwrap_or_else(|| json!({})),
    );
    schema.shift_remove("type");
    root.extend(schema);
    Ok(root)
}

/// Composition at the root.
fn flatten(schema: &mut Map<String, Value>, report: &mut Report) {
    // What is merged may itself be composed: as deep as the schema.
    while let Some(Value::Array(parts)) = schema.shift_remove("allOf") {
        report.add(
            "",
            "allOf",
            Change::Rewritten,
            "no provider takes it at the root: its parts are merged",
        );
        let mut all = Value::Object(core::mem::take(schema));
        for part in parts {
            all = merge(all, part, "", report);
        }
        if let Value::Object(all) = all {
            *schema = all;
        }
    }
    for keyword in ["anyOf", "oneOf"] {
        if let Some(Value::Array(alternatives)) = schema.shift_remove(keyword) {
            report.add(
                "",
                keyword,
                Change::Described,
                "no provider takes it at the root: members of all alternatives are shown",
            );
            alternate(schema, alternatives, keyword, report);
        }
    }
    show_conditional(schema, "", report);
    for keyword in ["enum", "const", "not"] {
        if let Some(value) = schema.shift_remove(keyword) {
            report.add(
                "",
                keyword,
                Change::Described,
                "no provider takes it at the root",
            );
            describe(schema, &format!("({keyword}: {})", words(&value)));
        }
    }
}

/// Members that only come up in conditions, for those who cannot have conditions: they are shown as optional ones.
pub(super) fn show_conditional(schema: &mut Map<String, Value>, path: &str, report: &mut Report) {
    let mut hidden = Vec::new();
    for keyword in ["then", "else"] {
        hidden.extend(schema.get(keyword).cloned());
    }
    if let Some(Value::Object(dependent)) = schema.get("dependentSchemas") {
        hidden.extend(dependent.values().cloned());
    }
    for part in hidden {
        let Some(Value::Object(members)) = part.get("properties").cloned() else {
            continue;
        };
        let all = schema.entry("properties").or_insert_with(|| json!({}));
        let Value::Object(all) = all else {
            continue;
        };
        for (name, member) in members {
            if !all.contains_key(&name) {
                report.add(
                    path,
                    "properties",
                    Change::Rewritten,
                    "members that depend on others are shown as optional ones",
                );
                all.insert(name, member);
            }
        }
    }
}

/// Adds the members of alternatives. Those that all have are required, those that differ are what any of them says.
fn alternate(
    schema: &mut Map<String, Value>,
    alternatives: Vec<Value>,
    keyword: &str,
    report: &mut Report,
) {
    let mut groups = Vec::new();
    let mut required: Option<Vec<Value>> = None;
    let mut closed = true;
    let mut members: Map<String, Value> = Map::new();
    for alternative in alternatives {
        let Value::Object(mut alternative) = alternative else {
            closed = false;
            required = Some(Vec::new());
            continue;
        };
        flatten(&mut alternative, report);
        if let Some(text) = alternative
            .get("description")
            .or_else(|| alternative.get("title"))
        {
            groups.push(words(text));
        }
        let names = alternative
            .get("required")
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default();
        if !names.is_empty() {
            let all: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
            groups.push(format!("`{}`", all.join("`, `")));
        }
        required = Some(match required {
            None => names,
            Some(known) => known
                .into_iter()
                .filter(|name| names.contains(name))
                .collect(),
        });
        closed &= alternative.get("additionalProperties") == Some(&Value::Bool(false));
        let members_of = alternative.shift_remove("properties");
        let is_told = alternative.contains_key("description");
        for lost in alternative.keys() {
            let is_shown = matches!(
                lost.as_str(),
                "type" | "required" | "additionalProperties" | "description"
            ) || lost == "title" && !is_told;
            if !is_shown {
                report.add(
                    "",
                    lost,
                    Change::Dropped,
                    "of alternatives at the root only members and words are shown",
                );
            }
        }
        if let Some(Value::Object(theirs)) = members_of {
            for (name, theirs) in theirs {
                match members.get_mut(&name) {
                    None => {
                        members.insert(name, theirs);
                    }
                    Some(ours) => {
                        either(ours, theirs, &at("", "properties", Some(&name)), report);
                    }
                }
            }
        }
    }
    let known = schema.entry("properties").or_insert_with(|| json!({}));
    if let Value::Object(known) = known {
        for (name, member) in members {
            match known.get_mut(&name) {
                None => {
                    known.insert(name, member);
                }
                // What the whole schema says holds for all alternatives.
                Some(ours) if *ours == json!({}) || *ours == json!(true) => *ours = member,
                Some(ours) => {
                    let path = at("", "properties", Some(&name));
                    for (keyword, said) in member.as_object().into_iter().flatten() {
                        if ours.get(keyword) != Some(said) {
                            report.add(
                                &path,
                                keyword,
                                Change::Dropped,
                                "what the whole schema says of the member is shown",
                            );
                        }
                    }
                }
            }
        }
    }
    let common = required.unwrap_or_default();
    if !common.is_empty() {
        let known = schema.entry("required").or_insert_with(|| json!([]));
        if let Value::Array(known) = known {
            for name in common {
                if !known.contains(&name) {
                    known.push(name);
                }
            }
        }
    }
    if closed && !schema.contains_key("additionalProperties") {
        schema.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
    if !groups.is_empty() {
        let which = if keyword == "oneOf" {
            "Exactly one"
        } else {
            "At least one"
        };
        describe(
            schema,
            &format!("{which} of these is to be given: {}.", groups.join("; ")),
        );
    }
}

/// What fits one of both.
fn either(ours: &mut Value, theirs: Value, path: &str, report: &mut Report) {
    if *ours == theirs {
        return;
    }
    let constants = |value: &Value| -> Option<Vec<Value>> {
        let value = value.as_object()?;
        match (value.get("const"), value.get("enum")) {
            (Some(constant), None) => Some(vec![constant.clone()]),
            (None, Some(Value::Array(all))) => Some(all.clone()),
            _ => None,
        }
    };
    // A tag: each alternative has another constant.
    if let (Some(mut all), Some(more)) = (constants(ours), constants(&theirs)) {
        for value in more {
            if !all.contains(&value) {
                all.push(value);
            }
        }
        if let Value::Object(ours) = ours {
            let said = theirs.as_object().into_iter().flatten();
            let lost: Vec<String> = said
                .filter(|(keyword, said)| ours.get(*keyword) != Some(said))
                .map(|(keyword, _)| keyword.clone())
                .chain(
                    ours.contains_key("description")
                        .then(|| "description".to_owned()),
                )
                .collect();
            for keyword in lost {
                let change = if matches!(keyword.as_str(), "const" | "enum") {
                    Change::Rewritten
                } else {
                    Change::Dropped
                };
                report.add(
                    path,
                    &keyword,
                    change,
                    "constants of the alternatives are one `enum`",
                );
            }
            ours.shift_remove("const");
            ours.shift_remove("description");
            ours.insert("enum".to_owned(), Value::Array(all));
        }
        return;
    }
    if let Some(Value::Array(all)) = ours.get_mut("anyOf") {
        if !all.contains(&theirs) {
            all.push(theirs);
        }
        return;
    }
    let first = core::mem::take(ours);
    *ours = json!({"anyOf": [first, theirs]});
}
