//! Two schemas that apply to the same value, as one.

use serde_json::{Map, Value, json};

use super::{Change, Report, at};

/// What fits the result fits both, as far as one schema without composition can say that.
///
/// Recursion is as deep as the schemas, which were bounded when their references were inlined.
pub(super) fn merge(one: Value, other: Value, path: &str, report: &mut Report) -> Value {
    let (mut one, other) = match (one, other) {
        (Value::Object(one), Value::Object(other)) => (one, other),
        (Value::Bool(false), _) | (_, Value::Bool(false)) => return Value::Bool(false),
        (Value::Object(it), _) | (_, Value::Object(it)) => return Value::Object(it),
        _ => return json!({}),
    };
    for (keyword, theirs) in other {
        let Some(ours) = one.get_mut(&keyword) else {
            one.insert(keyword, theirs);
            continue;
        };
        if *ours == theirs {
            continue;
        }
        let name = keyword.as_str();
        let merged = match name {
            "properties" | "patternProperties" | "dependentSchemas" => {
                let mut all = owned(ours);
                for (step, theirs) in owned_value(theirs) {
                    let path = at(path, name, Some(&step));
                    let both = match all.shift_remove(&step) {
                        Some(ours) => merge(ours, theirs, &path, report),
                        None => theirs,
                    };
                    all.insert(step, both);
                }
                Some(Value::Object(all))
            }
            "items"
            | "additionalProperties"
            | "contains"
            | "propertyNames"
            | "unevaluatedProperties"
            | "unevaluatedItems" => {
                let ours = core::mem::take(ours);
                Some(merge(ours, theirs, &at(path, name, None), report))
            }
            "required" => Some(union(ours, &theirs)),
            "allOf" => Some(concatenated(ours, theirs)),
            "type" => Some(types(ours, &theirs)),
            "enum" => Some(intersection(ours, &theirs)),
            "minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties" => {
                Some(if number(&theirs) > number(ours) {
                    theirs
                } else {
                    ours.clone()
                })
            }
            "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties" => {
                Some(if number(&theirs) < number(ours) {
                    theirs
                } else {
                    ours.clone()
                })
            }
            "uniqueItems" => Some(json!(true)),
            "description" => match (ours.as_str(), theirs.as_str()) {
                (Some(ours), Some(theirs)) => Some(json!(format!("{ours} {theirs}"))),
                _ => None,
            },
            // That which is nearer to the value says more about it.
            "title" | "default" | "examples" => {
                report.add(
                    path,
                    name,
                    Change::Dropped,
                    "another one is nearer to the value",
                );
                Some(theirs)
            }
            _ => {
                report.add(
                    path,
                    name,
                    Change::Dropped,
                    "two of them apply, which one schema cannot say",
                );
                None
            }
        };
        if let Some(merged) = merged {
            one.insert(keyword, merged);
        }
    }
    Value::Object(one)
}

fn owned(value: &mut Value) -> Map<String, Value> {
    owned_value(core::mem::take(value))
}

fn owned_value(value: Value) -> Map<String, Value> {
    if let Value::Object(members) = value {
        members
    } else {
        Map::new()
    }
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_default()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn union(ours: &Value, theirs: &Value) -> Value {
    let more = list(theirs)
        .iter()
        .filter(|value| !list(ours).contains(value));
    list(ours).iter().chain(more).cloned().collect()
}

fn intersection(ours: &Value, theirs: &Value) -> Value {
    list(ours)
        .iter()
        .filter(|value| list(theirs).contains(value))
        .cloned()
        .collect()
}

fn concatenated(ours: &Value, theirs: Value) -> Value {
    let mut all = list(ours).to_vec();
    if let Value::Array(theirs) = theirs {
        all.extend(theirs);
    }
    Value::Array(all)
}

/// The types that both allow: an integer is a number. Ours, if there are none, since then nothing fits anyway.
fn types(ours: &Value, theirs: &Value) -> Value {
    let names = |value: &Value| match value {
        Value::Array(all) => all.clone(),
        one @ (Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Object(_)) => vec![one.clone()],
    };
    let (one, other) = (names(ours), names(theirs));
    let has = |all: &[Value], kind: &Value| {
        all.contains(kind) || (kind == "integer" && all.iter().any(|kind| kind == "number"))
    };
    let mut both: Vec<Value> = one
        .iter()
        .filter(|kind| has(&other, kind))
        .cloned()
        .collect();
    for kind in other.iter().filter(|kind| has(&one, kind)) {
        if !both.contains(kind) {
            both.push(kind.clone());
        }
    }
    match both.len() {
        0 => ours.clone(),
        1 => both.swap_remove(0),
        _ => Value::Array(both),
    }
}
