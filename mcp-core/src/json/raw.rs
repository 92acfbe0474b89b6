//! Checked values: spans of the input, taken apart only on demand.

use core::fmt;
use core::iter::FusedIterator;

use super::error::Error;
use super::grammar::DEFAULT_DEPTH;
use super::marks::{Marks, skip_container, skip_string};
use super::number::Number;
use super::skip_whitespace;
use super::text::JsonStr;
use super::token::Tokenizer;
use crate::scan;

/// The six kinds of JSON values (RFC 8259, section 3).
#[expect(clippy::exhaustive_enums, reason = "the set is closed by the RFC")]
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Kind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// A [`Number`].
    Number,
    /// A [`JsonStr`].
    String,
    /// An [`Array`].
    Array,
    /// An [`Object`].
    Object,
}

impl Kind {
    /// The kind of values that begin with `byte`.
    #[inline]
    pub(super) const fn of(byte: u8) -> Option<Self> {
        Some(match byte {
            b'n' => Self::Null,
            b't' | b'f' => Self::Bool,
            b'-' | b'0'..=b'9' => Self::Number,
            b'"' => Self::String,
            b'[' => Self::Array,
            b'{' => Self::Object,
            _ => return None,
        })
    }
}

/// A checked JSON value: a span of the input known to be one valid value (grammar, UTF-8, depth), without surrounding
/// whitespace.
///
/// Equality is that of the text: `1.0` and `1` differ, and so do `{"a":1}` and `{ "a": 1 }`.
#[derive(Clone, Copy, Eq, Hash, PartialEq)]
pub struct RawJson<'b>(&'b str);

impl<'b> RawJson<'b> {
    /// Checks that `bytes` are one JSON document, at most [`DEFAULT_DEPTH`] deep.
    ///
    /// # Errors
    ///
    /// The first fault and where it is.
    pub fn parse(bytes: &'b [u8]) -> Result<Self, Error> {
        Self::parse_with_depth(bytes, DEFAULT_DEPTH)
    }

    /// Checks that `bytes` are one JSON document, at most `depth` deep; see [`Tokenizer::with_depth`].
    ///
    /// # Errors
    ///
    /// The first fault and where it is.
    pub fn parse_with_depth(bytes: &'b [u8], depth: usize) -> Result<Self, Error> {
        let mut tokens = Tokenizer::with_depth(bytes, depth);
        let value = tokens.value()?;
        tokens.end()?;
        Ok(value)
    }

    /// `null`
    pub(crate) const NULL: RawJson<'static> = RawJson("null");

    /// `text` is one checked value without surrounding whitespace.
    #[inline]
    pub(crate) const fn new(text: &'b str) -> Self {
        Self(text)
    }

    /// The value as written.
    #[inline]
    #[must_use]
    pub const fn as_str(self) -> &'b str {
        self.0
    }

    /// The value as written.
    #[inline]
    #[must_use]
    pub const fn as_bytes(self) -> &'b [u8] {
        self.0.as_bytes()
    }

    /// What it is.
    #[inline]
    #[must_use]
    pub fn kind(self) -> Kind {
        self.as_bytes()
            .first()
            .copied()
            .and_then(Kind::of)
            .unwrap_or(Kind::Null)
    }

    /// Whether it is `null`.
    #[inline]
    #[must_use]
    pub fn is_null(self) -> bool {
        self.as_bytes().first() == Some(&b'n')
    }

    /// The value, if it is `true` or `false`.
    #[must_use]
    pub fn as_bool(self) -> Option<bool> {
        (self.kind() == Kind::Bool).then_some(self.0 == "true")
    }

    /// The string, if it is one. Looks through it once for escape sequences.
    #[must_use]
    pub fn as_string(self) -> Option<JsonStr<'b>> {
        let text = self.0.strip_prefix('"')?.strip_suffix('"')?;
        // A backslash is all that can end a run in checked text.
        let escaped = scan::string_run(text.as_bytes()) < text.len();
        Some(JsonStr::new(text, escaped))
    }

    /// Whether it is the string `text`, which has nothing that would have to be escaped.
    #[inline]
    pub(crate) fn is_text(self, text: &str) -> bool {
        let plain = self
            .0
            .strip_prefix('"')
            .and_then(|rest| rest.strip_suffix('"'));
        plain == Some(text) || self.as_string().is_some_and(|string| string == text)
    }

    /// The number, if it is one.
    #[must_use]
    pub fn as_number(self) -> Option<Number<'b>> {
        (self.kind() == Kind::Number).then_some(Number::new(self.0))
    }

    /// The members, if it is an object.
    #[must_use]
    pub fn as_object(self) -> Option<Object<'b>> {
        Some(Object(Members::new(
            self.0.strip_prefix('{')?.strip_suffix('}')?,
        )))
    }

    /// The member of this name, null or not; the first, if there are several. `None` if there is none, or if it is no
    /// object. Looks through the members up to there: to read many of a large object, go through
    /// [`as_object`](Self::as_object) once.
    ///
    /// ```
    /// use mcp_core::json::RawJson;
    ///
    /// let value = RawJson::parse(br#"{"a":null,"b":[1]}"#)?;
    /// assert_eq!(value.member("b").map(RawJson::as_str), Some("[1]"));
    /// assert!(value.member("a").is_some_and(RawJson::is_null));
    /// assert_eq!(value.member("c"), None);
    /// # Ok::<(), mcp_core::json::Error>(())
    /// ```
    #[must_use]
    pub fn member(self, name: &str) -> Option<Self> {
        let mut members = self.as_object()?;
        members.find_map(|(known, value)| (known == name).then_some(value))
    }

    /// The elements, if it is an array.
    #[must_use]
    pub fn as_array(self) -> Option<Array<'b>> {
        Some(Array(Members::new(
            self.0.strip_prefix('[')?.strip_suffix(']')?,
        )))
    }
}

impl fmt::Debug for RawJson<'_> {
    /// The value as written, cut after about 64 bytes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 64;
        if self.0.len() <= SHOWN {
            return f.write_str(self.0);
        }
        let shown = (0..=SHOWN)
            .rev()
            .find_map(|end| self.0.get(..end))
            .unwrap_or_default();
        write!(f, "{shown}... ({} bytes)", self.0.len())
    }
}

/// The members of an object, in order, duplicates included.
#[derive(Clone)]
#[must_use]
pub struct Object<'b>(Members<'b>);

impl<'b> Iterator for Object<'b> {
    type Item = (JsonStr<'b>, RawJson<'b>);

    fn next(&mut self) -> Option<Self::Item> {
        let name = self.0.start()?;
        let name = self.0.name(name)?;
        Some((name, self.0.value()?))
    }
}

impl FusedIterator for Object<'_> {}

impl fmt::Debug for Object<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.clone()).finish()
    }
}

/// The elements of an array, in order.
#[derive(Clone)]
#[must_use]
pub struct Array<'b>(Members<'b>);

impl<'b> Iterator for Array<'b> {
    type Item = RawJson<'b>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.at = self.0.start()?;
        self.0.value()
    }
}

impl FusedIterator for Array<'_> {}

impl fmt::Debug for Array<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.clone()).finish()
    }
}

/// A way through the text between the brackets of a checked container. Nothing is checked again: strings are passed
/// over, brackets are counted, the rest is not looked at. What cannot be in checked text gives `None`.
#[derive(Clone)]
struct Members<'b> {
    text: &'b str,
    /// Between calls, just after a value.
    at: usize,
    marks: Marks,
}

impl<'b> Members<'b> {
    const fn new(text: &'b str) -> Self {
        Self {
            text,
            at: 0,
            marks: Marks::NONE,
        }
    }

    /// Where the next member or element begins, past the comma if there is one. `None` if nothing is left.
    #[inline]
    fn start(&self) -> Option<usize> {
        let bytes = self.text.as_bytes();
        let mut at = skip_whitespace(bytes, self.at);
        if bytes.get(at) == Some(&b',') {
            at = skip_whitespace(bytes, at + 1);
        }
        (at < bytes.len()).then_some(at)
    }

    /// Reads the name whose opening quote is at `quote` and goes to the value.
    #[inline]
    fn name(&mut self, quote: usize) -> Option<JsonStr<'b>> {
        let bytes = self.text.as_bytes();
        let name = skip_string(bytes, quote + 1, &mut self.marks)?;
        let colon = skip_whitespace(bytes, name.end);
        self.at = skip_whitespace(bytes, colon + 1);
        Some(JsonStr::new(
            self.text.get(quote + 1..name.end - 1)?,
            name.escaped,
        ))
    }

    /// Reads the value that begins at `at`.
    #[inline]
    fn value(&mut self) -> Option<RawJson<'b>> {
        let start = self.at;
        self.at = self.value_end(start)?;
        Some(RawJson::new(self.text.get(start..self.at)?))
    }

    #[inline]
    fn value_end(&mut self, at: usize) -> Option<usize> {
        let bytes = self.text.as_bytes();
        match bytes.get(at)? {
            b'"' => Some(skip_string(bytes, at + 1, &mut self.marks)?.end),
            b'{' | b'[' => skip_container(bytes, at),
            _ => {
                let scalar = bytes
                    .get(at..)?
                    .iter()
                    .position(|byte| matches!(byte, b',' | ..=b' '));
                Some(scalar.map_or(bytes.len(), |len| at + len))
            }
        }
    }
}
