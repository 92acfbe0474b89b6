//! Tool arguments that are mirrored into headers: `x-mcp-header` (XH-01 to XH-18).

mod schema;
#[cfg(test)]
mod tests;

use crate::Cow;
use alloc::boxed::Box;
use alloc::string::{String, ToString as _};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use super::value::{ValueFault, decode_value, encode_value};
use crate::json::{self, JsonStr, Kind, RawJson};

pub use schema::{MAX_PARAM_HEADERS, param_headers};

const PREFIX: &str = "Mcp-Param-";

/// Integers are mirrored from `-MAX_SAFE_INTEGER` to this: beyond, who reads doubles reads another number (XH-05).
const MAX_SAFE_INTEGER: f64 = 9_007_199_254_740_991.0;

/// One argument of a tool that is mirrored into a header: an annotation `x-mcp-header` of its `inputSchema`.
#[derive(Clone, Debug)]
pub struct ParamHeader {
    /// With its prefix.
    header: String,
    path: Arc<Step>,
    kind: ParamKind,
}

/// The way to an argument, from its end. Arguments of one object share what leads there, so that all ways together are
/// never longer than the schema.
#[derive(Debug)]
struct Step {
    name: Box<str>,
    /// The object it is in. None: the arguments themselves.
    within: Option<Arc<Self>>,
}

/// What an annotated argument may be, beside `null` (XH-05, XH-09).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "the set is closed by the specification"
)]
pub enum ParamKind {
    /// Any text.
    String,
    /// From -(2^53)+1 to 2^53-1.
    Integer,
    /// `true` or `false`.
    Boolean,
}

impl ParamKind {
    /// What a schema's `type` allows, if that is one kind, with or without `null`.
    fn of(kind: RawJson<'_>) -> Option<Self> {
        let Some(union) = kind.as_array() else {
            return Self::named(kind);
        };
        let mut of = None;
        for member in union.filter(|member| !member.is_text("null")) {
            let member = Self::named(member)?;
            if of.replace(member).is_some_and(|before| before != member) {
                return None;
            }
        }
        of
    }

    fn named(name: RawJson<'_>) -> Option<Self> {
        [Self::String, Self::Integer, Self::Boolean]
            .into_iter()
            .find(|kind| name.is_text(kind.as_str()))
    }

    /// Its name in JSON Schema.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Integer => "integer",
            Self::Boolean => "boolean",
        }
    }
}

impl ParamHeader {
    /// The name of the annotation, as written. No other of the tool is the same but for case.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.header[PREFIX.len()..]
    }

    /// The name of the header: `Mcp-Param-` and [`name`](Self::name).
    #[must_use]
    pub fn header_name(&self) -> &str {
        &self.header
    }

    /// Where the argument is: the names from `arguments` down to it. Never empty.
    #[must_use]
    pub fn path(&self) -> Vec<&str> {
        let steps = core::iter::successors(Some(&*self.path), |step| step.within.as_deref());
        let mut path: Vec<_> = steps.map(|step| &*step.name).collect();
        path.reverse();
        path
    }

    /// What the argument is.
    #[must_use]
    pub const fn kind(&self) -> ParamKind {
        self.kind
    }

    /// For a client: the value of the header for a call with these arguments, already
    /// [encoded](super::encode_value). `None`: the argument is absent or `null`, and so is the header (XH-10, XH-12).
    ///
    /// # Errors
    ///
    /// The argument cannot be mirrored: the call must not be sent (XH-17).
    pub fn header_value<'b>(
        &self,
        arguments: Option<RawJson<'b>>,
    ) -> Result<Option<Cow<'b, str>>, ArgumentFault> {
        let Some(value) = self.argument(arguments)? else {
            return Ok(None);
        };
        let text = match self.kind {
            ParamKind::String => value.as_string().map(JsonStr::decode),
            ParamKind::Integer => {
                let integer = value.as_number().and_then(json::Number::as_i64);
                // Without point and exponent, however the argument is written (ENC-01).
                integer.map(|integer| Cow::Owned(integer.to_string()))
            }
            ParamKind::Boolean => value.as_bool().map(|_| Cow::Borrowed(value.as_str())),
        };
        Ok(Some(match text.ok_or(ArgumentFault::Type)? {
            Cow::Borrowed(text) => encode_value(text),
            Cow::Owned(text) => Cow::Owned(encode_value(&text).into_owned()),
        }))
    }

    /// For a server: whether the header, if there is one, says the same as the arguments of the call. Strings are
    /// compared exactly, integers by their value: `42.0` is `42`. An argument that has another type than the schema
    /// says is compared all the same, if it is a string, an integer or a boolean: that it does not fit is for the tool
    /// to say.
    ///
    /// # Errors
    ///
    /// What is wrong: the request is to be refused with `400` and
    /// [`HEADER_MISMATCH`](crate::ErrorCode::HEADER_MISMATCH).
    pub fn agrees(
        &self,
        arguments: Option<RawJson<'_>>,
        header: Option<&[u8]>,
    ) -> Result<(), ParamFault> {
        let (value, header) = match (self.argument(arguments)?, header) {
            (None, None) => return Ok(()),
            (None, Some(_)) => return Err(ParamFault::Unexpected),
            (Some(_), None) => return Err(ParamFault::Missing),
            (Some(value), Some(header)) => (value, decode_value(header)?),
        };
        let agrees = match value.kind() {
            Kind::String => value.as_string().is_some_and(|text| text == *header),
            Kind::Bool => value.as_str() == header,
            Kind::Number => {
                let said = RawJson::parse(header.as_bytes()).ok();
                let integer = |value: RawJson<'_>| value.as_number()?.as_i64();
                said.and_then(integer) == Some(integer(value).ok_or(ArgumentFault::Type)?)
            }
            Kind::Null | Kind::Array | Kind::Object => return Err(ArgumentFault::Type.into()),
        };
        if agrees {
            Ok(())
        } else {
            Err(ParamFault::Mismatch)
        }
    }

    /// The argument, if it is there and not `null`, and what can be told of it without its kind.
    fn argument<'b>(
        &self,
        arguments: Option<RawJson<'b>>,
    ) -> Result<Option<RawJson<'b>>, ArgumentFault> {
        let Some(arguments) = arguments else {
            return Ok(None);
        };
        let Some(value) = self.path.find(arguments)?.filter(|value| !value.is_null()) else {
            return Ok(None);
        };
        if value.as_string().is_some_and(|text| !text.is_unicode()) {
            return Err(ArgumentFault::Unicode);
        }
        let safe = |number: json::Number<'_>| {
            let nearest = number.as_f64();
            nearest.is_some_and(|nearest| nearest.abs() <= MAX_SAFE_INTEGER)
        };
        if !value.as_number().is_none_or(safe) {
            return Err(ArgumentFault::Range);
        }
        Ok(Some(value))
    }
}

impl Step {
    /// Recurses once for each object of a schema around the argument, of which there are fewer than [`MAX_DEPTH`](json::MAX_DEPTH).
    fn find<'b>(&self, arguments: RawJson<'b>) -> Result<Option<RawJson<'b>>, ArgumentFault> {
        let object = match &self.within {
            None => Some(arguments),
            Some(within) => within.find(arguments)?,
        };
        let mut value = None;
        for (name, member) in object.and_then(RawJson::as_object).into_iter().flatten() {
            if name == *self.name && value.replace(member).is_some() {
                return Err(ArgumentFault::Repeated);
            }
        }
        Ok(value)
    }
}

/// Why the annotations of a tool are invalid, and with them the tool.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum AnnotationFault {
    /// One is not a string, or not the name of a header: RFC 9110 `token` (XH-03).
    Name,
    /// Two have the same name but for case (XH-04), or one schema has two.
    Repeated,
    /// One is on something else than a string, an integer or a boolean, or one of these or `null` (XH-05).
    Type,
    /// One is where `properties` alone do not lead: below `items`, `oneOf`, `$defs` and so on, or on the arguments as a
    /// whole (XH-06).
    Misplaced,
    /// There are more than [`MAX_PARAM_HEADERS`].
    TooMany,
    /// The schema nests deeper than [`MAX_DEPTH`](json::MAX_DEPTH) counted from its own beginning.
    Json(json::Error),
}

/// Why an argument cannot be mirrored.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ArgumentFault {
    /// It is not what the schema says, or has no text in headers: an array, an object, a number that is no integer.
    Type,
    /// A number below -(2^53)+1 or above 2^53-1 (XH-05).
    Range,
    /// Text with half of a surrogate pair: two of them could look the same.
    Unicode,
    /// It, or an object around it, is there twice: two readers could see two values.
    Repeated,
}

/// Why a header and the arguments do not go together.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ParamFault {
    /// There is an argument and no header.
    Missing,
    /// There is a header and no argument (XH-17).
    Unexpected,
    /// The header is no value (ENC-05).
    Value(ValueFault),
    /// They say different things.
    Mismatch,
    /// The argument is none that could be mirrored.
    Argument(ArgumentFault),
}

impl From<json::Error> for AnnotationFault {
    fn from(error: json::Error) -> Self {
        Self::Json(error)
    }
}

impl From<ValueFault> for ParamFault {
    fn from(fault: ValueFault) -> Self {
        Self::Value(fault)
    }
}

impl From<ArgumentFault> for ParamFault {
    fn from(fault: ArgumentFault) -> Self {
        Self::Argument(fault)
    }
}

impl fmt::Display for AnnotationFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Name => "an `x-mcp-header` is not the name of a header",
            Self::Repeated => "two `x-mcp-header` have the same name",
            Self::Type => "an `x-mcp-header` is on neither a string, an integer nor a boolean",
            Self::Misplaced => "an `x-mcp-header` is where `properties` alone do not lead",
            Self::TooMany => {
                return write!(f, "more than {MAX_PARAM_HEADERS} `x-mcp-header`");
            }
            Self::Json(error) => return write!(f, "the schema cannot be read: {error}"),
        })
    }
}

impl fmt::Display for ArgumentFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Type => "the argument has a type that no header can mirror",
            Self::Range => "the argument is a number beyond 2^53-1",
            Self::Unicode => "the argument is not Unicode text",
            Self::Repeated => "the argument is there twice",
        })
    }
}

impl fmt::Display for ParamFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("the header is missing, the argument is there"),
            Self::Unexpected => f.write_str("the header is there, the argument is missing"),
            Self::Value(fault) => write!(f, "the header is no value: {fault}"),
            Self::Mismatch => f.write_str("the header does not say what the argument says"),
            Self::Argument(fault) => fault.fmt(f),
        }
    }
}

impl core::error::Error for AnnotationFault {}
impl core::error::Error for ArgumentFault {}
impl core::error::Error for ParamFault {}
