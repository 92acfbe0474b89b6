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

/// Whether a keyword asks something of a value of this type.
pub(super) fn is_of(keyword: &str, kind: &str) -> bool {
    let own = KEYWORDS.iter().find(|(known, _)| *known == kind);
    own.is_some_and(|(_, all)| all.contains(&keyword)) || matches!(keyword, "type" | "enum")
}

/// Leaves the keywords and values of one type.
pub(super) fn keep_of(schema: &mut Map<String, Value>, kind: &str) {
    schema.retain(|keyword, _| is_of(keyword, kind));
    if let Some(Value::Array(values)) = schema.get_mut("enum") {
        values.retain(|value| {
            let of = kind_of(value);
            of == kind || of == "integer" && kind == "number"
        });
    }
}
