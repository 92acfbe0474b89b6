//! Schemas of arguments, as each provider takes them, and arguments on their way back.
//!
//! A schema is lowered in three steps. It is made 2020-12 and free of references; then it is either passed on, for
//! providers that take nearly all of JSON Schema, or read into shapes that are written anew, for those that take a
//! subset. What was dropped, put into words or written in another way is in the [report](Lowered::losses).
//!
//! ```
//! use mcp_std::RawJson;
//! use mcp_std::host::adapters::schema::{Dialect, lower};
//! use serde_json::json;
//!
//! let schema = json!({
//!     "type": "object",
//!     "properties": {"days": {"type": "integer"}, "near": {"$ref": "#/$defs/place"}},
//!     "required": ["near"],
//!     "$defs": {"place": {"type": "string", "minLength": 2}}
//! });
//! let lowered = lower(&schema, Dialect::OpenAiStrict)?;
//! assert_eq!(lowered.schema()["required"], json!(["days", "near"]));
//! assert_eq!(lowered.schema()["properties"]["days"]["type"], json!(["integer", "null"]));
//!
//! // The model has to say something for `days`; that it left it out comes back as that.
//! let given = RawJson::parse(br#"{"days": null, "near": "Oslo"}"#)?;
//! assert_eq!(lowered.raise(given).as_str(), r#"{"near":"Oslo"}"#);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What a subset lacks
//!
//! [`OpenAiStrict`](Dialect::OpenAiStrict) and [`Gemini`](Dialect::Gemini) cannot say all that a schema says. What asks
//! something of a value is told in its description, and what would cost arguments is encoded:
//!
//! | In the schema | Lowered |
//! | --- | --- |
//! | any value, an object of any members, what is beyond a bound | a text with JSON |
//! | an object whose members have any names and one schema | a list of `key` and `value` |
//! | such members beside others | one more member, `additional_members`, with such a list |
//! | an optional member, strict | nullable: null leaves it out |
//! | an optional member that may be null, strict | the same, and the text `<null>` is null |
//! | `oneOf` | `anyOf` |
//! | `allOf` | its parts, merged |
//! | `const` | `enum` |
//! | `prefixItems` | lists of what any of them may be |
//! | members under `then`, `else` and `dependentSchemas` | optional members |
//! | alternatives at the root, for all providers | the members of all of them, and words on which belong together |
//!
//! # Bounds
//!
//! A schema comes from a stranger. No reference outside of the schema is ever followed: such a schema is refused.
//!
//! | Bound | | Beyond it |
//! | --- | --- | --- |
//! | [`MAX_SCHEMA`] | 256 KiB of text | refused |
//! | [`MAX_LOWERED`] | 256 KiB with its references inlined | what is further is any value |
//! | [`MAX_NODES`] | 4096 subschemas, likewise | what is further is any value |
//! | [`MAX_DEPTH`] | 32 subschemas inside each other | what is further is any value |
//! | [`MAX_UNROLLED`] | a reference inside of itself, twice | what is further is any value |
//! | [`MAX_LOSSES`] | 4096 losses | not told |

mod emit;
mod flatten;
mod gemini;
mod inline;
mod merge;
mod open;
mod plan;
mod shape;
mod strict;
mod tidy;

use core::fmt;

use mcp_core::json::{Json, RawJson};
use serde_json::{Map, Value};

use self::plan::Plan;

/// The text of a schema, in bytes.
pub const MAX_SCHEMA: usize = 256 * 1024;
/// The text of a schema whose references are inlined, in bytes.
pub const MAX_LOWERED: usize = 256 * 1024;
/// The subschemas of a schema whose references are inlined.
pub const MAX_NODES: usize = 4096;
/// How deep they may be inside each other.
pub const MAX_DEPTH: usize = 32;
/// How often a reference is followed inside of what it refers to.
pub const MAX_UNROLLED: usize = 2;

/// The losses that are told.
pub const MAX_LOSSES: usize = 4096;

/// What a provider makes of JSON Schema.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Dialect {
    /// Anthropic: nearly all of 2020-12. The root is an object without `anyOf`, `oneOf` and `allOf`; names of members are
    /// 1 to 64 of `A-Za-z0-9_.-`. References are inlined, since some of its endpoints refuse them.
    Anthropic,
    /// OpenAI without strict mode: nearly all of JSON Schema. The root is an object without `anyOf`, `oneOf`, `allOf`, `enum`
    /// and `not`; arrays say what is in them.
    OpenAi,
    /// OpenAI in strict mode: objects are closed and all their members required, optional ones nullable; no composition
    /// but `anyOf`; at most 5000 members, 10 levels, 1000 values of `enum`, 120 000 characters of names and values.
    OpenAiStrict,
    /// Gemini's `Schema`: the subset of OpenAPI 3.0 that all its models take. One type each, and `nullable`; no composition but
    /// `anyOf`, with nothing beside it; `enum` of texts that are not empty only; objects have members, but for the root;
    /// `format` is `date-time`, `float`, `double`, `int32` or `int64`.
    Gemini,
}

/// What happened to a keyword.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Change {
    /// It is gone.
    Dropped,
    /// It is told in the description instead.
    Described,
    /// It says the same, or nearly so, in another way.
    Rewritten,
}

/// A keyword that is not in the lowered schema as it was in the schema.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Loss {
    /// Where: a JSON Pointer into the schema with its references inlined, to the subschema that has the keyword.
    pub path: String,
    /// The keyword.
    pub keyword: String,
    /// What became of it.
    pub change: Change,
    /// Why.
    pub reason: &'static str,
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = if self.path.is_empty() {
            "the root"
        } else {
            &self.path
        };
        let change = match self.change {
            Change::Dropped => "dropped",
            Change::Described => "put into the description",
            Change::Rewritten => "rewritten",
        };
        write!(
            f,
            "`{}` at {path} was {change}: {}",
            self.keyword, self.reason
        )
    }
}

/// A schema that no provider can be shown. The tool it belongs to is left out, others are not.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum LowerError {
    /// Its root is something else than an object.
    NotAnObject,
    /// It refers to this, which is not inside of it. Nothing is fetched.
    Reference(String),
    /// Its `$schema` names a dialect that is not known: this one.
    Dialect(String),
    /// It is beyond a bound: which.
    TooLarge(&'static str),
}

impl fmt::Display for LowerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAnObject => {
                f.write_str("the schema of a tool's arguments is to be of an object")
            }
            Self::Reference(target) => write!(
                f,
                "the schema refers to `{target}`, which is not inside of it: nothing is fetched"
            ),
            Self::Dialect(dialect) => {
                write!(f, "the schema's dialect `{dialect}` is not known")
            }
            Self::TooLarge(bound) => write!(f, "the schema is too large: {bound}"),
        }
    }
}

impl core::error::Error for LowerError {}

/// A schema as a provider takes it, and the way back for arguments.
#[derive(Clone, Debug)]
pub struct Lowered {
    schema: Value,
    plan: Plan,
    losses: Vec<Loss>,
}

impl Lowered {
    /// The schema for the provider: an object with `type` and `properties`.
    #[must_use]
    pub fn schema(&self) -> &Value {
        &self.schema
    }

    /// What is not as it was.
    #[must_use]
    pub fn losses(&self) -> &[Loss] {
        &self.losses
    }

    /// One more loss, of what is beside the schema.
    pub(super) fn lose(&mut self, keyword: &str, reason: &'static str) {
        self.losses.push(Loss {
            path: String::new(),
            keyword: keyword.to_owned(),
            change: Change::Dropped,
            reason,
        });
    }

    /// The arguments for the server, of what the model gave. Whatever needs no change is kept as it was written, digit
    /// for digit; what is not of the lowered schema is kept too, for the server to judge.
    #[must_use]
    pub fn raise(&self, arguments: RawJson<'_>) -> Json<'static> {
        self.plan.raise(arguments)
    }

    /// The arguments as the model would give them, of what the server gets: [`raise`](Self::raise) undoes it.
    #[must_use]
    pub fn lower(&self, arguments: RawJson<'_>) -> Json<'static> {
        self.plan.lower(arguments)
    }
}

/// Lowers a schema for a provider.
///
/// # Errors
///
/// No provider could be shown it. A schema beyond the limits of [`Dialect::OpenAiStrict`] alone is
/// [`LowerError::TooLarge`] there, and fine for [`Dialect::OpenAi`].
pub fn lower(schema: &Value, dialect: Dialect) -> Result<Lowered, LowerError> {
    let mut report = Report::default();
    let tidied = inline::inline(schema, &mut report)?;
    let root = flatten::root(tidied, &mut report)?;
    let (schema, plan) = match dialect {
        Dialect::Anthropic => open::open(root, true, &mut report),
        Dialect::OpenAi => open::open(root, false, &mut report),
        Dialect::OpenAiStrict => {
            let node = shape::shape(root, &mut report);
            strict::emit(node, &mut report)?
        }
        Dialect::Gemini => {
            let node = shape::shape(root, &mut report);
            gemini::emit(node, &mut report)
        }
    };
    Ok(Lowered {
        schema,
        plan,
        losses: report.losses,
    })
}

/// The losses so far.
#[derive(Default)]
struct Report {
    losses: Vec<Loss>,
}

impl Report {
    fn add(&mut self, path: &str, keyword: &str, change: Change, reason: &'static str) {
        if self.losses.len() < MAX_LOSSES {
            self.losses.push(Loss {
                path: path.to_owned(),
                keyword: keyword.to_owned(),
                change,
                reason,
            });
        }
    }
}

/// A pointer one step further.
fn at(path: &str, keyword: &str, step: Option<&str>) -> String {
    let mut at = format!("{path}/{keyword}");
    if let Some(step) = step {
        at.push('/');
        at.push_str(&step.replace('~', "~0").replace('/', "~1"));
    }
    at
}

/// A text for a description, shortened to what a model still reads.
fn words(value: &Value) -> String {
    const LONGEST: usize = 400;
    let mut text = match value {
        Value::String(text) => text.clone(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            value.to_string()
        }
    };
    if text.len() > LONGEST {
        let mut end = LONGEST;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
        text.push('…');
    }
    text
}

/// Adds a sentence to the description.
fn describe(schema: &mut Map<String, Value>, sentence: &str) {
    let text = match schema.get("description").and_then(Value::as_str) {
        Some(text) if !text.is_empty() => format!("{text} {sentence}"),
        Some(_) | None => sentence.to_owned(),
    };
    schema.insert("description".to_owned(), Value::String(text));
}
