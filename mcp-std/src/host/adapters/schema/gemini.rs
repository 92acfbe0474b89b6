//! Gemini's `Schema` (API reference, "Schema"): a subset of that of OpenAPI 3.0.

use serde_json::{Map, Value, json};

use super::emit::{Emitter, Subset};
use super::plan::Plan;
use super::shape::Node;
use super::{Report, describe};

pub(super) fn emit(node: Node, report: &mut Report) -> (Value, Plan) {
    let mut emitter = Emitter {
        subset: Gemini,
        report,
    };
    emitter.root(node)
}

struct Gemini;

impl Subset for Gemini {
    const CLOSED: bool = false;
    /// None is documented; deep schemas are refused as too complex.
    const LEVELS: usize = 12;

    fn keeps(&self, kind: &str, keyword: &mut String, value: &mut Value) -> bool {
        let text = value.as_str().unwrap_or_default();
        match (kind, keyword.as_str()) {
            ("string", "format") => text == "date-time",
            ("number", "format") => matches!(text, "float" | "double"),
            ("integer", "format") => matches!(text, "int32" | "int64"),
            ("string", "minLength" | "maxLength" | "pattern")
            | ("number" | "integer", "minimum" | "maximum")
            | ("array", "minItems" | "maxItems")
            | ("object", "minProperties" | "maxProperties") => true,
            ("integer", "exclusiveMinimum") => step(keyword, "minimum", value, 1),
            ("integer", "exclusiveMaximum") => step(keyword, "maximum", value, -1),
            _ => false,
        }
    }

    /// Texts only, and none of them empty.
    fn enumerates(&mut self, kind: &str, values: &[Value]) -> bool {
        let text = |value: &Value| value.as_str().is_some_and(|text| !text.is_empty());
        kind == "string" && !values.is_empty() && values.iter().all(text)
    }

    fn nullable(&self, schema: &mut Map<String, Value>) {
        if let Some(Value::Array(alternatives)) = schema.get_mut("anyOf") {
            if let Some(Value::Object(first)) = alternatives.first_mut() {
                first.insert("nullable".to_owned(), json!(true));
            }
            return;
        }
        schema.insert("nullable".to_owned(), json!(true));
    }

    /// Beside `anyOf` nothing may be said, so the first alternative says it.
    fn either(
        &self,
        mut alternatives: Vec<Value>,
        about: Map<String, Value>,
    ) -> Map<String, Value> {
        if let Some(Value::Object(first)) = alternatives.first_mut() {
            let own = first.shift_remove("description");
            for words in [about.get("title"), about.get("description"), own.as_ref()] {
                if let Some(words) = words.and_then(Value::as_str) {
                    describe(first, words);
                }
            }
        }
        let mut schema = Map::new();
        schema.insert("anyOf".to_owned(), Value::Array(alternatives));
        schema
    }
}

/// The bound of whole numbers that includes itself.
fn step(keyword: &mut String, name: &str, value: &mut Value, by: i64) -> bool {
    let Some(next) = value.as_i64().and_then(|bound| bound.checked_add(by)) else {
        return false;
    };
    *value = json!(next);
    name.clone_into(keyword);
    true
}
