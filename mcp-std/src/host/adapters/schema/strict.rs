//! OpenAI's strict mode ("Structured Outputs", supported schemas).

use serde_json::{Map, Value, json};

use super::emit::{Emitter, Subset};
use super::plan::Plan;
use super::shape::Node;
use super::{LowerError, Report};

/// Members of all objects.
const MAX_MEMBERS: usize = 5000;
/// Values of all `enum`s.
const MAX_VALUES: usize = 1000;
/// Characters of names and values altogether.
const MAX_CHARACTERS: usize = 120_000;
/// Characters of the values of an `enum` that has more than 250 of them.
const MAX_LONG_ENUM: usize = 15_000;

pub(super) fn emit(node: Node, report: &mut Report) -> Result<(Value, Plan), LowerError> {
    let mut emitter = Emitter {
        subset: Strict { values: 0 },
        report,
    };
    let (schema, plan) = emitter.root(node);
    let (mut members, mut characters) = (0, 0);
    count(&schema, &mut members, &mut characters);
    if members > MAX_MEMBERS {
        return Err(LowerError::TooLarge("strict mode has at most 5000 members"));
    }
    if characters > MAX_CHARACTERS {
        return Err(LowerError::TooLarge(
            "strict mode has at most 120 000 characters of names and values",
        ));
    }
    Ok((schema, plan))
}

struct Strict {
    values: usize,
}

impl Subset for Strict {
    const CLOSED: bool = true;
    const LEVELS: usize = 10;

    fn keeps(&self, kind: &str, keyword: &mut String, value: &mut Value) -> bool {
        const FORMATS: [&str; 9] = [
            "date-time",
            "time",
            "date",
            "duration",
            "email",
            "hostname",
            "ipv4",
            "ipv6",
            "uuid",
        ];
        let text = value.as_str().unwrap_or_default();
        match (kind, keyword.as_str()) {
            ("string", "format") => FORMATS.contains(&text),
            // Its grammar is regular.
            ("string", "pattern") => !["(?=", "(?!", "(?<"].iter().any(|it| text.contains(it)),
            (
                "number" | "integer",
                "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf",
            )
            | ("array", "minItems" | "maxItems") => true,
            _ => false,
        }
    }

    fn enumerates(&mut self, _: &str, values: &[Value]) -> bool {
        let characters: usize = values.iter().filter_map(Value::as_str).map(str::len).sum();
        let fits = !values.is_empty()
            && self.values + values.len() <= MAX_VALUES
            && (values.len() <= 250 || characters <= MAX_LONG_ENUM);
        if fits {
            self.values += values.len();
        }
        fits
    }

    fn nullable(&self, schema: &mut Map<String, Value>) {
        let null = json!("null");
        if let Some(Value::Array(alternatives)) = schema.get_mut("anyOf") {
            let alternative = json!({"type": "null"});
            if !alternatives.contains(&alternative) {
                alternatives.push(alternative);
            }
            return;
        }
        match schema.get_mut("type") {
            Some(Value::Array(kinds)) if !kinds.contains(&null) => kinds.push(null),
            Some(kind @ Value::String(_)) if *kind != null => {
                *kind = Value::Array(vec![kind.take(), null]);
            }
            _ => {}
        }
        if let Some(Value::Array(values)) = schema.get_mut("enum")
            && !values.contains(&Value::Null)
        {
            values.push(Value::Null);
        }
    }

    fn either(
        &self,
        alternatives: Vec<Value>,
        mut about: Map<String, Value>,
    ) -> Map<String, Value> {
        about.insert("anyOf".to_owned(), Value::Array(alternatives));
        about
    }
}

fn count(schema: &Value, members: &mut usize, characters: &mut usize) {
    let Value::Object(schema) = schema else {
        return;
    };
    let length = |value: &Value| value.as_str().map_or(8, str::len);
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        *characters += values.iter().map(length).sum::<usize>();
    }
    for (name, member) in schema
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        *members += 1;
        *characters += name.len();
        count(member, members, characters);
    }
    if let Some(items) = schema.get("items") {
        count(items, members, characters);
    }
    for alternative in schema
        .get("anyOf")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        count(alternative, members, characters);
    }
}
