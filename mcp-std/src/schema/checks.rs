//! What a server checks of its own tools.

use mcp_core::json::RawJson;
use serde_json::{Map, Value};

use super::{SchemaError, Validator, Violations, members};

/// The checks of one tool's calls.
#[derive(Debug)]
pub(crate) struct Checks {
    input: Option<Validator>,
    output: Option<Validator>,
}

impl Checks {
    /// `described`: the input schema is what schemars says of the type that arguments are decoded into. It is not checked
    /// where decoding proves as much.
    ///
    /// # Errors
    ///
    /// A schema cannot be used: clients could not use it either.
    pub(crate) fn new(
        input: &str,
        described: bool,
        output: Option<&str>,
    ) -> Result<Self, SchemaError> {
        let proven = described
            && serde_json::from_str(input).is_ok_and(|schema: Value| decoding_proves(&schema));
        Ok(Self {
            input: (!proven).then(|| Validator::new(input)).transpose()?,
            output: output.map(Validator::new).transpose()?,
        })
    }

    /// Of the arguments of a call, `{}` if there are none.
    pub(crate) fn input(&self, arguments: Option<RawJson<'_>>) -> Result<(), Violations> {
        let Some(validator) = &self.input else {
            return Ok(());
        };
        let text = arguments.map_or("{}", |arguments| arguments.as_str());
        validator.check_text(text, "the arguments object")
    }

    /// Of a result.
    pub(crate) fn output(
        &self,
        structured_content: Option<RawJson<'_>>,
        is_error: bool,
    ) -> Result<(), Violations> {
        match &self.output {
            Some(validator) => validator.validate_result(structured_content, is_error),
            None => Ok(()),
        }
    }
}

/// Whether a value that serde has decoded into a type fits the schema that schemars makes of the type: the schema says
/// nothing but which members there are, which have to be there, and of what types they are.
///
/// Everything else may have been added by the author: `range`, `length`, `pattern` and `extend` are not known to serde,
/// and an `enum` may be either's. What is not seen is an `Option` that `#[schemars(required)]` requires.
pub(super) fn decoding_proves(schema: &Value) -> bool {
    let Value::Object(keywords) = schema else {
        return schema == &Value::Bool(true);
    };
    keywords
        .iter()
        .all(|(keyword, value)| match keyword.as_str() {
            "type" | "$ref" | "title" | "description" | "default" | "examples" | "format"
            | "deprecated" | "readOnly" | "writeOnly" => true,
            "properties" | "$defs" => members(value).all(decoding_proves),
            "required" => value.is_array(),
            "items" | "additionalProperties" => decoding_proves(value),
            "minimum" | "maximum" => is_of_format(keywords, keyword, value),
            // An optional struct.
            "anyOf" => {
                let alone = ["type", "properties", "required", "items"]
                    .iter()
                    .all(|beside| !keywords.contains_key(*beside));
                let null = Value::from("null");
                let choices = value.as_array().map_or(&[][..], Vec::as_slice);
                let is_null = |choice: &Value| choice.get("type") == Some(&null);
                alone
                    && choices.len() == 2
                    && choices.iter().filter(|choice| is_null(choice)).count() == 1
                    && choices.iter().all(decoding_proves)
            }
            _ => false,
        })
}

/// The bounds of Rust's integers, which schemars says, as against those that authors set.
fn is_of_format(keywords: &Map<String, Value>, keyword: &str, value: &Value) -> bool {
    let format = keywords.get("format").and_then(Value::as_str);
    let (least, most) = match format {
        Some("int8") => (i64::from(i8::MIN), Some(i64::from(i8::MAX))),
        Some("int16") => (i64::from(i16::MIN), Some(i64::from(i16::MAX))),
        Some("uint8") => (0, Some(i64::from(u8::MAX))),
        Some("uint16") => (0, Some(i64::from(u16::MAX))),
        Some("uint32" | "uint64" | "uint") => (0, None),
        _ => return false,
    };
    if keyword == "minimum" {
        value == least
    } else {
        most.is_some_and(|most| value == most)
    }
}
