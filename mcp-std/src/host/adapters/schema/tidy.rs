//! Older dialects and common mistakes, as 2020-12 has them.

use serde_json::{Map, Value, json};

use super::{Change, Report};

/// The keywords of one subschema, put right. Subschemas inside of it are not looked at.
pub(super) fn tidy(
    mut schema: Map<String, Value>,
    path: &str,
    report: &mut Report,
) -> Map<String, Value> {
    let old = "an older dialect has it so";
    for keyword in [
        "$schema",
        "$id",
        "id",
        "$anchor",
        "$dynamicAnchor",
        "$comment",
        "$vocabulary",
    ] {
        // `id` is a keyword of draft-04 only where it is a text; it is no member here, members are in `properties`.
        if (schema.get(keyword).is_some_and(Value::is_string) || keyword == "$vocabulary")
            && schema.shift_remove(keyword).is_some()
        {
            report.add(
                path,
                keyword,
                Change::Dropped,
                "it says nothing about a value",
            );
        }
    }
    tuples(&mut schema, path, report);
    for (bound, exclusive) in [
        ("minimum", "exclusiveMinimum"),
        ("maximum", "exclusiveMaximum"),
    ] {
        if let Some(Value::Bool(is)) = schema.get(exclusive).cloned() {
            schema.shift_remove(exclusive);
            if is && let Some(value) = schema.shift_remove(bound) {
                schema.insert(exclusive.to_owned(), value);
                for keyword in [bound, exclusive] {
                    report.add(path, keyword, Change::Rewritten, old);
                }
            } else {
                report.add(
                    path,
                    exclusive,
                    Change::Dropped,
                    "it is false, or without a bound",
                );
            }
        }
    }
    if let Some(dependencies) = schema.shift_remove("dependencies") {
        let (change, reason) = if dependencies.is_object() {
            (Change::Rewritten, old)
        } else {
            (Change::Dropped, WRONG)
        };
        report.add(path, "dependencies", change, reason);
        for (name, value) in dependencies.as_object().cloned().unwrap_or_default() {
            let keyword = if value.is_array() {
                "dependentRequired"
            } else {
                "dependentSchemas"
            };
            let all = schema.entry(keyword).or_insert_with(|| json!({}));
            if let Value::Object(all) = all {
                all.insert(name, value);
            }
        }
    }
    if let Some(example) = schema.shift_remove("example") {
        report.add(
            path,
            "example",
            Change::Rewritten,
            "JSON Schema has `examples`",
        );
        schema.entry("examples").or_insert_with(|| json!([example]));
    }
    types(&mut schema, path, report);
    nullable(&mut schema, path, report);
    wrong(&mut schema, path, report);
    schema
}

const WRONG: &str = "its value is not what the keyword takes";

/// `items` as a list, of draft-07 and before.
fn tuples(schema: &mut Map<String, Value>, path: &str, report: &mut Report) {
    let more = schema.shift_remove("additionalItems");
    if more.is_some() {
        report.add(
            path,
            "additionalItems",
            Change::Rewritten,
            "an older dialect has it so",
        );
    }
    if schema.get("items").is_some_and(Value::is_array)
        && let Some(items) = schema.shift_remove("items")
    {
        report.add(
            path,
            "items",
            Change::Rewritten,
            "an older dialect has it so",
        );
        schema.insert("prefixItems".to_owned(), items);
        if let Some(more) = more {
            schema.insert("items".to_owned(), more);
        }
    }
}

/// Types that are none: `any`, `String`, `int`.
fn types(schema: &mut Map<String, Value>, path: &str, report: &mut Report) {
    let Some(kind) = schema.get("type") else {
        return;
    };
    let kinds = match kind {
        Value::String(kind) => vec![kind.clone()],
        Value::Array(kinds) => kinds
            .iter()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => Vec::new(),
    };
    let mut known: Vec<Value> = Vec::new();
    for kind in &kinds {
        let name = match kind.to_ascii_lowercase().as_str() {
            "string" | "str" | "text" => "string",
            "integer" | "int" => "integer",
            "number" | "float" | "double" => "number",
            "boolean" | "bool" => "boolean",
            "object" | "dict" | "map" => "object",
            "array" | "list" => "array",
            "null" | "none" => "null",
            _ => continue,
        };
        if !known.iter().any(|known| known == name) {
            known.push(json!(name));
        }
    }
    let tidied = match known.len() {
        0 => None,
        1 => known.pop(),
        _ => Some(Value::Array(known)),
    };
    if tidied.as_ref() == schema.get("type") {
        return;
    }
    report.add(
        path,
        "type",
        Change::Rewritten,
        "it names a type that JSON does not have, or one twice",
    );
    match tidied {
        Some(tidied) => schema.insert("type".to_owned(), tidied),
        None => schema.shift_remove("type"),
    };
}

/// `nullable`, of OpenAPI 3.0.
fn nullable(schema: &mut Map<String, Value>, path: &str, report: &mut Report) {
    let Some(is) = schema.shift_remove("nullable") else {
        return;
    };
    report.add(
        path,
        "nullable",
        Change::Rewritten,
        "JSON Schema has the type `null`",
    );
    if is != Value::Bool(true) {
        return;
    }
    if let Some(kind) = schema.get_mut("type") {
        let mut kinds = kind
            .as_array()
            .cloned()
            .unwrap_or_else(|| vec![kind.clone()]);
        if !kinds.contains(&json!("null")) {
            kinds.push(json!("null"));
        }
        *kind = Value::Array(kinds);
    }
    if let Some(Value::Array(values)) = schema.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
}

/// Keywords whose value is of the wrong kind: a provider would refuse all tools for one of them.
fn wrong(schema: &mut Map<String, Value>, path: &str, report: &mut Report) {
    schema.retain(|keyword, value| {
        let fine = match keyword.as_str() {
            "required" | "enum" | "prefixItems" | "examples" => value.is_array(),
            "anyOf" | "oneOf" | "allOf" => value.as_array().is_some_and(|all| !all.is_empty()),
            "properties" | "patternProperties" | "dependentRequired" | "dependentSchemas" => {
                value.is_object()
            }
            "additionalProperties"
            | "items"
            | "not"
            | "if"
            | "then"
            | "else"
            | "contains"
            | "propertyNames"
            | "unevaluatedProperties"
            | "unevaluatedItems" => value.is_object() || value.is_boolean(),
            "title" | "description" | "pattern" | "format" | "contentEncoding"
            | "contentMediaType" => value.is_string(),
            "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties"
            | "maxProperties" | "minContains" | "maxContains" => value
                .as_f64()
                .is_some_and(|number| number >= 0.0 && number.fract() == 0.0),
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => value.is_number(),
            "multipleOf" => value.as_f64().is_some_and(|number| number > 0.0),
            "uniqueItems" | "deprecated" | "readOnly" | "writeOnly" => value.is_boolean(),
            _ => true,
        };
        if !fine {
            report.add(path, keyword, Change::Dropped, WRONG);
        }
        fine
    });
    if let Some(Value::Array(names)) = schema.get_mut("required") {
        if !names.iter().all(Value::is_string) {
            report.add(path, "required", Change::Rewritten, WRONG);
        }
        let mut seen: Vec<Value> = Vec::new();
        for name in names.drain(..) {
            if name.is_string() && !seen.contains(&name) {
                seen.push(name);
            }
        }
        *names = seen;
    }
}
