//! A frame of the server's, and what it has to hold.

use core::fmt;

use mcp_core::json::{Kind, Number, RawJson};

use super::Wrong;

/// One JSON object that the server sent.
pub(super) struct Frame {
    /// What it is, for a sentence about it.
    pub(super) about: String,
    pub(super) bytes: Vec<u8>,
}

/// What a place in a frame has to hold.
pub(super) enum Want<'a> {
    /// A string.
    Text(&'a str),
    /// An integer.
    Integer(i64),
    /// `true` or `false`.
    Bool(bool),
    /// Something of this kind.
    A(Kind),
    /// An array that has this string, or an object with this `name`.
    Including(&'a str),
    /// No such place, that is.
    Nothing,
}

impl Frame {
    /// Checks what is at the end of `path`, names of members and positions in arrays with dots between them.
    pub(super) fn check(&self, path: &str, want: &Want<'_>) -> Result<(), Wrong> {
        let seen = find(&self.bytes, path);
        if want.fits(seen) {
            return Ok(());
        }
        Err(Wrong::new(
            format!("`{path}` in {}", self.about),
            want.to_string(),
            seen.map_or("nothing", RawJson::as_str),
        )
        .in_frame(&self.bytes))
    }
}

/// The value at the end of `path`.
pub(super) fn find<'f>(frame: &'f [u8], path: &str) -> Option<RawJson<'f>> {
    let frame = RawJson::parse(frame).ok()?;
    path.split('.')
        .try_fold(frame, |value, step| match value.as_array() {
            Some(mut elements) => elements.nth(step.parse().ok()?),
            None => value.member(step),
        })
}

impl Want<'_> {
    fn fits(&self, seen: Option<RawJson<'_>>) -> bool {
        let Some(seen) = seen else {
            return matches!(self, Self::Nothing);
        };
        match self {
            Self::Text(text) => is_text(seen, text),
            Self::Integer(value) => seen.as_number().and_then(Number::as_i64) == Some(*value),
            Self::Bool(value) => seen.as_bool() == Some(*value),
            Self::A(kind) => seen.kind() == *kind,
            Self::Including(name) => seen.as_array().is_some_and(|mut elements| {
                elements.any(|element| is_text(element.member("name").unwrap_or(element), name))
            }),
            Self::Nothing => false,
        }
    }
}

fn is_text(value: RawJson<'_>, text: &str) -> bool {
    value.as_string().is_some_and(|string| string == *text)
}

impl fmt::Display for Want<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(f, "{text:?}"),
            Self::Integer(value) => write!(f, "{value}"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::A(kind) => f.write_str(match kind {
                Kind::Null => "null",
                Kind::Bool => "true or false",
                Kind::Number => "a number",
                Kind::String => "a string",
                Kind::Array => "an array",
                Kind::Object => "an object",
            }),
            Self::Including(name) => write!(f, "an array with {name:?}"),
            Self::Nothing => f.write_str("nothing"),
        }
    }
}
