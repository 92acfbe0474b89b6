//! Keywords by the types they are for.

use serde_json::{Map, Value};

/// The keywords of each type.
pub(super) const KEYWORDS: [(&str, &[&str]); 6] = [
    (
        "object",
        &[
            "properties",
            "required",
            "additionalProperties",
            "patternProperties",
            "unevaluatedProperties",
            "minProperties",
            "maxProperties",
        ],
    ),
    (
        "array",
        &[
            "items",
            "prefixItems",
            "minItems",
            "maxItems",
            "uniqueItems",
        ],
    ),
    ("string", &["minLength", "maxLength", "pattern", "format"]),
    (
        "integer",
        &[
            "minimum",
            "maximum",
            "exclusiveMinimum",
            "exclusiveMaximum",
            "multipleOf",
            "format",
        ],
    ),
    (
        "number",
        &[
            "minimum",
            "maximum",
            "exclusiveMinimum",
            "exclusiveMaximum",
            "multipleOf",
            "format",
        ],
    ),
    ("boolean", &[]),
];

/// The narrowest type of a constant.
pub(super) fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Leaves the keywords and values of one type.
pub(super) fn keep_of(schema: &mut Map<String, Value>, kind: &str) {
    let own = KEYWORDS
        .iter()
        .find(|(known, _)| *known == kind)
        .map_or(&[][..], |(_, all)| *all);
    schema.retain(|keyword, _| {
        own.contains(&keyword.as_str()) || matches!(keyword.as_str(), "type" | "enum")
    });
    if let Some(Value::Array(values)) = schema.get_mut("enum") {
        values.retain(|value| {
            let of = kind_of(value);
            of == kind || of == "integer" && kind == "number"
        });
    }
}
