//! JSON Schema: what a tool's input and output have to look like, checked.
//!
//! ```
//! use mcp_std::schema::Validator;
//!
//! let schema = r#"{"type": "object", "properties": {"days": {"type": "integer", "maximum": 14}}}"#;
//! let validator = Validator::new(schema)?;
//! let violations = validator.validate_value(&serde_json::json!({"days": 15})).unwrap_err();
//! assert_eq!(violations.to_string(), "`/days` is greater than the maximum of 14");
//! # Ok::<(), mcp_std::schema::SchemaError>(())
//! ```
//!
//! # Dialects
//!
//! 2020-12, which is also that of a schema without `$schema`; 2019-09, draft-07 and draft-06 if `$schema` names them. Any
//! other is refused (JSC-03). `format` and `content…` are annotations: they are not checked.
//!
//! # References
//!
//! Inside the schema only: `#/…`, `#anchor`, and the `$id` of a part as it is written there. Nothing is ever fetched, from
//! the network or from files, and a schema that refers to something else is refused (JSC-06, JSC-08).
//!
//! # Bounds
//!
//! A schema may come from a stranger, and so may what it is asked about (JSC-09).
//!
//! | Bound | | Beyond it |
//! | --- | --- | --- |
//! | [`MAX_SCHEMA`] | 256 KiB of text | the schema is refused |
//! | [`MAX_SUBSCHEMAS`] | 4096 | the schema is refused |
//! | [`MAX_COMPOSED`] | 64 schemas that apply to one value because one refers to the next | the schema is refused |
//! | [`MAX_PATTERN`] | 64 KiB for each compiled `pattern`, 128 of them | the schema is refused |
//! | [`MAX_STEPS`] | 1 000 000 checks of one value by one subschema | the value is refused |
//! | [`MAX_NESTING`] | 512 such checks inside each other, 128 levels of JSON | the value is refused |
//! | [`MAX_VIOLATIONS`] | 5 of at most 300 bytes, in values of up to 20 000 steps | the rest is not told |
//!
//! Patterns are matched in time that grows with the length of the text alone; those that need more (look-around,
//! back-references) are refused.

use core::fmt;

use jsonschema::{Draft, PatternOptions};
use mcp_core::json::RawJson;
use serde_json::Value;

use self::graph::Graph;

mod checks;
mod graph;
mod subschemas;
mod violation;

pub(crate) use self::checks::Checks;
pub use self::violation::{Violation, Violations};

/// The text of a schema, in bytes.
pub const MAX_SCHEMA: usize = 256 * 1024;
/// The parts of a schema that are schemas themselves.
pub const MAX_SUBSCHEMAS: usize = 4096;
/// The schemas that may apply to the same value, each because the one before refers to it or composes it.
pub const MAX_COMPOSED: usize = 64;
/// The memory of a compiled `pattern`, in bytes.
pub const MAX_PATTERN: usize = 64 * 1024;
/// The patterns of a schema.
pub const MAX_PATTERNS: usize = 128;
/// What validating a value may cost, counted in checks of one value by one subschema; texts count more as they get longer.
pub const MAX_STEPS: u64 = 1_000_000;
/// How deep those checks may nest.
pub const MAX_NESTING: usize = 512;
/// The violations that are told.
pub const MAX_VIOLATIONS: usize = 5;

/// Up to this many steps violations are told in detail: what collects them takes memory for each.
const DETAILED: u64 = 20_000;

/// A JSON Schema, ready to check values. Making it costs much more than using it.
pub struct Validator {
    schema: jsonschema::Validator,
    graph: Graph,
}

impl Validator {
    /// Of this schema, which is JSON text.
    ///
    /// # Errors
    ///
    /// It is not valid in its dialect, the dialect is unknown, it refers to something outside of itself, or it is beyond a
    /// bound.
    pub fn new(schema: &str) -> Result<Self, SchemaError> {
        if schema.len() > MAX_SCHEMA {
            return Err(SchemaError::TooLarge("its text is longer than 256 KiB"));
        }
        let schema: Value =
            serde_json::from_str(schema).map_err(|error| SchemaError::Json(error.to_string()))?;
        let draft = draft(&schema)?;
        let graph = Graph::new(&schema)?;
        let schema = jsonschema::options()
            .with_draft(draft)
            .offline()
            .should_validate_formats(false)
            .without_content_media_type_support("application/json")
            .without_content_encoding_support("base64")
            .with_pattern_options(PatternOptions::regex().size_limit(MAX_PATTERN))
            .build(&schema)
            .map_err(|error| SchemaError::Invalid(Violation::new(&error, "the schema")))?;
        Ok(Self { schema, graph })
    }

    /// Whether the value fits.
    ///
    /// # Errors
    ///
    /// What does not, or that the value is beyond a bound.
    pub fn validate(&self, value: RawJson<'_>) -> Result<(), Violations> {
        self.check_text(value.as_str(), "the value")
    }

    /// The same for a value that is decoded already.
    ///
    /// # Errors
    ///
    /// The same.
    pub fn validate_value(&self, value: &Value) -> Result<(), Violations> {
        self.check(value, usize::MAX, "the value")
    }

    /// Whether the structured content of a tool's result fits, this being the tool's output schema. A result that is an
    /// error need not have any (TOOL-16).
    ///
    /// # Errors
    ///
    /// What does not fit, or that it is missing.
    pub fn validate_result(
        &self,
        structured_content: Option<RawJson<'_>>,
        is_error: bool,
    ) -> Result<(), Violations> {
        match structured_content {
            Some(content) => self.check_text(content.as_str(), "the structured content"),
            None if is_error => Ok(()),
            None => Err(Violations::of(
                "the structured content is missing, though the tool has an output schema",
            )),
        }
    }

    /// `name` is what a violation calls the whole value.
    pub(crate) fn check_text(&self, text: &str, name: &str) -> Result<(), Violations> {
        let value: Value = serde_json::from_str(text)
            .map_err(|error| Violations::of(format!("{name} cannot be checked: {error}")))?;
        self.check(&value, text.len(), name)
    }

    /// `length` is that of its text, or more.
    fn check(&self, value: &Value, length: usize, name: &str) -> Result<(), Violations> {
        let mut steps = self.graph.at_most(length);
        let too_much = |problem| Violations::of(format!("{name} {problem}"));
        if steps > MAX_STEPS {
            steps = self.graph.steps(value).map_err(too_much)?;
        }
        if self.schema.is_valid(value) {
            return Ok(());
        }
        if steps > DETAILED {
            steps = self.graph.steps(value).map_err(too_much)?;
        }
        if steps > DETAILED {
            return Err(too_much(
                "does not fit the schema, and is too large to say where",
            ));
        }
        Err(Violations::new(self.schema.iter_errors(value), name))
    }
}

impl fmt::Debug for Validator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Validator").finish_non_exhaustive()
    }
}

/// A schema that cannot be used.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum SchemaError {
    /// It is not JSON, or nests too deep.
    Json(String),
    /// Its `$schema` names a dialect that is not supported: this one.
    Dialect(String),
    /// It refers to this, which is not inside of it. Nothing is fetched.
    Reference(String),
    /// It, or a part of it, is not valid in its dialect.
    Invalid(Violation),
    /// A part of it applies itself to the same value again, without end.
    Endless,
    /// It is beyond a bound: which.
    TooLarge(&'static str),
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json(problem) => write!(f, "the schema cannot be read: {problem}"),
            Self::Dialect(dialect) => write!(
                f,
                "the schema's dialect `{dialect}` is not supported: use 2020-12, 2019-09, draft-07 or draft-06"
            ),
            Self::Reference(target) => write!(
                f,
                "the schema refers to `{target}`, which is not inside of it: nothing is fetched, so put it into `$defs`"
            ),
            Self::Invalid(problem) => write!(f, "the schema is not valid: {problem}"),
            Self::Endless => f.write_str("a part of the schema refers to itself without end"),
            Self::TooLarge(bound) => write!(f, "the schema is too large: {bound}"),
        }
    }
}

impl core::error::Error for SchemaError {}

/// JSC-01, JSC-03.
fn draft(schema: &Value) -> Result<Draft, SchemaError> {
    let Some(dialect) = schema.get("$schema") else {
        return Ok(Draft::Draft202012);
    };
    let named = dialect.as_str().and_then(dialect_of);
    named.ok_or_else(|| {
        let name = dialect
            .as_str()
            .map_or_else(|| dialect.to_string(), str::to_owned);
        SchemaError::Dialect(violation::shorten(name))
    })
}

/// Both schemes are in use, and so is the empty fragment.
fn dialect_of(uri: &str) -> Option<Draft> {
    let uri = uri.strip_suffix('#').unwrap_or(uri);
    let name = uri
        .strip_prefix("https://json-schema.org/")
        .or_else(|| uri.strip_prefix("http://json-schema.org/"))?;
    match name {
        "draft/2020-12/schema" => Some(Draft::Draft202012),
        "draft/2019-09/schema" => Some(Draft::Draft201909),
        "draft-07/schema" => Some(Draft::Draft7),
        "draft-06/schema" => Some(Draft::Draft6),
        _ => None,
    }
}

#[cfg(test)]
mod tests;

/// The values of an object's members; none if it is no object.
fn members(value: &Value) -> impl Iterator<Item = &Value> {
    value
        .as_object()
        .into_iter()
        .flatten()
        .map(|(_, value)| value)
}
