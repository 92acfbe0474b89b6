//! The pull tokenizer: the one pass that checks everything.

use core::fmt;
use core::str;

use super::error::{Error, ErrorKind};
use super::grammar::{DEFAULT_DEPTH, Nesting, scan_name, unexpected, value_end};
use super::marks::Marks;
use super::raw::{Kind, RawJson};
use super::text::JsonStr;
use super::{next_bytes, skip_whitespace};
use crate::scan;

/// Reads one JSON document piece by piece, the caller deciding which containers to enter and which values to take
/// whole.
///
/// Everything passed over is checked, so a document has been found valid when [`end`](Self::end) returns `Ok`. An error
/// is final: after it every call gives [`ErrorKind::Misplaced`]. The exceptions are [`ErrorKind::ExpectedObject`] and
/// [`ErrorKind::ExpectedArray`], after which the value is still there to be read another way. So is a call that fits
/// the document but not the place (a member when an array is open, a second value without asking for the next element)
/// `Misplaced` too, never a wrong answer.
///
/// ```
/// use mcp_core::json::Tokenizer;
///
/// let mut tokens = Tokenizer::new(br#"{"id": 7, "params": {"name": "echo"}}"#);
/// let mut id = None;
/// tokens.begin_object()?;
/// while let Some(name) = tokens.next_member()? {
///     let value = tokens.value()?;
///     if name == "id" {
///         id = value.as_number().and_then(|number| number.as_i64());
///     }
/// }
/// tokens.end()?;
/// assert_eq!(id, Some(7));
/// # Ok::<(), mcp_core::json::Error>(())
/// ```
#[derive(Clone)]
pub struct Tokenizer<'b> {
    bytes: &'b [u8],
    /// `bytes` up to the first that is not UTF-8. Only strings can go past its end without another fault, and slicing
    /// it is how that is noticed.
    text: &'b str,
    /// Whether the bytes after `text` are the beginning of a character, cut off by the end of the input.
    cut: bool,
    at: usize,
    due: Due,
    open: Nesting,
    marks: Marks,
}

/// What may be asked for next.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Due {
    Value,
    /// The first member or element of a container, or its end.
    First,
    /// What follows a value: more, or the end of the container or of the document.
    Next,
    /// Nothing, after an error.
    Nothing,
}

impl<'b> Tokenizer<'b> {
    /// A tokenizer for the document in `bytes`, at most [`DEFAULT_DEPTH`] deep.
    #[must_use]
    pub fn new(bytes: &'b [u8]) -> Self {
        Self::with_depth(bytes, DEFAULT_DEPTH)
    }

    /// A tokenizer for the document in `bytes`, at most `depth` or [`MAX_DEPTH`](super::MAX_DEPTH) deep, whichever is less. With 0 only
    /// strings, numbers and literals are accepted.
    #[must_use]
    pub fn with_depth(bytes: &'b [u8], depth: usize) -> Self {
        let (text, cut) = match scan::text(bytes) {
            Ok(text) => (text, false),
            Err(error) => valid_part(bytes, error),
        };
        Self {
            bytes,
            text,
            cut,
            at: 0,
            due: Due::Value,
            open: Nesting::new(depth),
            marks: Marks::NONE,
        }
    }

    /// How many bytes have been read.
    #[must_use]
    pub const fn offset(&self) -> usize {
        self.at
    }

    /// Enters the object that comes next.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::ExpectedObject`] if it is another value, [`ErrorKind::TooDeep`], or what is wrong with the text.
    #[inline]
    pub fn begin_object(&mut self) -> Result<(), Error> {
        self.begin(b'{', ErrorKind::ExpectedObject)
    }

    /// Enters the array that comes next.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::ExpectedArray`] if it is another value, [`ErrorKind::TooDeep`], or what is wrong with the text.
    pub fn begin_array(&mut self) -> Result<(), Error> {
        self.begin(b'[', ErrorKind::ExpectedArray)
    }

    #[cfg_attr(feature = "alloc", inline(always))]
    fn begin(&mut self, open: u8, otherwise: ErrorKind) -> Result<(), Error> {
        if self.due != Due::Value {
            return Err(self.misplaced());
        }
        self.at = skip_whitespace(self.bytes, self.at);
        if self.bytes.get(self.at) != Some(&open) {
            self.peek()?;
            return Err(Error::new(otherwise, self.at));
        }
        if !self.open.push(open == b'{') {
            return Err(self.fault(Error::new(ErrorKind::TooDeep, self.at)));
        }
        self.at += 1;
        self.due = Due::First;
        Ok(())
    }

    /// Reads the next member's name and the colon: its value is to be read next. `None` if the object ends here, which
    /// leaves it.
    ///
    /// # Errors
    ///
    /// What is wrong with the text, or [`ErrorKind::Misplaced`] if the innermost open value is not an object or a value
    /// is due.
    #[cfg_attr(feature = "alloc", inline(always))]
    pub fn next_member(&mut self) -> Result<Option<JsonStr<'b>>, Error> {
        match self.plain_member() {
            None if self.at_plain_end() => {
                self.leave(self.at + 1);
                Ok(None)
            }
            None => self.any_member(),
            name => Ok(name),
        }
    }

    /// Whether an object ends just here.
    #[cfg_attr(feature = "alloc", inline(always))]
    fn at_plain_end(&self) -> bool {
        self.bytes.get(self.at) == Some(&b'}')
            && self.due != Due::Value
            && self.due != Due::Nothing
            && self.open.is_object()
    }

    /// [`next_member`](Self::next_member) of text as nearly all is: without whitespace and without escapes in names.
    /// `None`, and nothing done, if it is something else.
    #[cfg_attr(feature = "alloc", inline(always))]
    fn plain_member(&mut self) -> Option<JsonStr<'b>> {
        if !self.open.is_object() {
            return None;
        }
        let bytes = self.text.as_bytes();
        let start = if self.due == Due::Next && next_bytes(bytes, self.at) == Some(b",\"") {
            self.at + 2
        } else if self.due == Due::First && bytes.get(self.at) == Some(&b'"') {
            self.at + 1
        } else {
            return None;
        };
        let end = self.marks.plain_end(self.bytes, start);
        if next_bytes(bytes, end) != Some(b"\":") {
            return None;
        }
        let raw = slice(self.text, start, end)?;
        self.at = end + 2;
        self.due = Due::Value;
        Some(JsonStr::new(raw, false))
    }

    #[inline(never)]
    fn any_member(&mut self) -> Result<Option<JsonStr<'b>>, Error> {
        if !self.open.is_object() {
            return Err(self.misplaced());
        }
        let start = match self.next(b'}', ErrorKind::ExpectedCommaOrBrace) {
            Ok(Some(start)) => start,
            Ok(None) => return Ok(None),
            Err(error) => return Err(self.fault(error)),
        };
        let name = match scan_name(self.bytes, start, &mut self.marks) {
            Ok(name) => name,
            Err(error) => return Err(self.fault(error)),
        };
        match self.text.get(start + 1..name.end - 1) {
            Some(raw) => {
                self.at = name.value;
                self.due = Due::Value;
                Ok(Some(JsonStr::new(raw, name.escaped)))
            }
            None => Err(self.bad_utf8()),
        }
    }

    /// Goes to the next element of an array, whose value is to be read next. `false` if the array ends here, which
    /// leaves it.
    ///
    /// # Errors
    ///
    /// What is wrong with the text, or [`ErrorKind::Misplaced`] if the innermost open value is not an array or a value
    /// is due.
    #[inline]
    pub fn next_element(&mut self) -> Result<bool, Error> {
        if !self.open.is_array() {
            return Err(self.misplaced());
        }
        match self.next(b']', ErrorKind::ExpectedCommaOrBracket) {
            Ok(Some(start)) => {
                self.at = start;
                self.due = Due::Value;
                Ok(true)
            }
            Ok(None) => Ok(false),
            Err(error) => Err(self.fault(error)),
        }
    }

    /// Where the next member or element begins. `None` if the container ends, which leaves it.
    #[cfg_attr(feature = "alloc", inline(always))]
    fn next(&mut self, close: u8, otherwise: ErrorKind) -> Result<Option<usize>, Error> {
        let at = skip_whitespace(self.bytes, self.at);
        let byte = self.bytes.get(at).copied();
        match self.due {
            Due::Value | Due::Nothing => return Err(Error::new(ErrorKind::Misplaced, self.at)),
            Due::First | Due::Next if byte == Some(close) => {
                self.leave(at + 1);
                return Ok(None);
            }
            Due::First => return Ok(Some(at)),
            Due::Next => {}
        }
        match byte {
            Some(b',') => Ok(Some(skip_whitespace(self.bytes, at + 1))),
            _ => Err(unexpected(self.bytes, at, otherwise)),
        }
    }

    /// Goes on after a container that ends before `at`.
    #[cfg_attr(feature = "alloc", inline(always))]
    fn leave(&mut self, at: usize) {
        self.open.pop();
        self.at = at;
        self.due = Due::Next;
    }

    /// Reads the value that comes next, whole.
    ///
    /// # Errors
    ///
    /// What is wrong with the text, or [`ErrorKind::Misplaced`] if no value is due.
    #[cfg_attr(feature = "alloc", inline(always))]
    pub fn value(&mut self) -> Result<RawJson<'b>, Error> {
        match self.plain_string() {
            Some(value) => Ok(value),
            None => self.any_value(),
        }
    }

    /// [`value`](Self::value) of a string without escapes. `None`, and nothing done, if it is something else.
    #[cfg_attr(feature = "alloc", inline(always))]
    fn plain_string(&mut self) -> Option<RawJson<'b>> {
        let bytes = self.text.as_bytes();
        if self.due != Due::Value || bytes.get(self.at) != Some(&b'"') {
            return None;
        }
        let end = self.marks.plain_end(self.bytes, self.at + 1);
        if bytes.get(end) != Some(&b'"') {
            return None;
        }
        let text = slice(self.text, self.at, end + 1)?;
        self.at = end + 1;
        self.due = Due::Next;
        Some(RawJson::new(text))
    }

    #[inline(never)]
    fn any_value(&mut self) -> Result<RawJson<'b>, Error> {
        if self.due != Due::Value {
            return Err(self.misplaced());
        }
        let start = skip_whitespace(self.bytes, self.at);
        let end = match value_end(self.bytes, start, &mut self.open, &mut self.marks) {
            Ok(end) => end,
            Err(error) => return Err(self.fault(error)),
        };
        match slice(self.text, start, end) {
            Some(text) => {
                self.at = end;
                self.due = Due::Next;
                Ok(RawJson::new(text))
            }
            None => Err(self.bad_utf8()),
        }
    }

    /// Walks the object that comes next: `member` is told each name and has to read its value. Returns the object, whole.
    ///
    /// # Errors
    ///
    /// Those of [`begin_object`](Self::begin_object) and [`next_member`](Self::next_member), and those of `member`.
    #[inline]
    pub fn object(
        &mut self,
        mut member: impl FnMut(&mut Self, JsonStr<'b>) -> Result<(), Error>,
    ) -> Result<RawJson<'b>, Error> {
        self.begin_object()?;
        let start = self.at - 1;
        while let Some(name) = self.next_member()? {
            member(self, name)?;
        }
        match slice(self.text, start, self.at) {
            Some(text) => Ok(RawJson::new(text)),
            None => Err(self.bad_utf8()),
        }
    }

    /// The kind of the value that comes next, as its first byte tells.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::ExpectedValue`] or [`ErrorKind::UnexpectedEnd`] if there is none, [`ErrorKind::Misplaced`] if none
    /// is due.
    #[inline]
    pub fn peek(&mut self) -> Result<Kind, Error> {
        if self.due != Due::Value {
            return Err(self.misplaced());
        }
        self.at = skip_whitespace(self.bytes, self.at);
        match self.bytes.get(self.at).copied().and_then(Kind::of) {
            Some(kind) => Ok(kind),
            None => Err(self.fault(unexpected(self.bytes, self.at, ErrorKind::ExpectedValue))),
        }
    }

    /// Checks that the document is complete and that only whitespace follows it.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::TrailingData`], [`ErrorKind::UnexpectedEnd`] if the input ends where something is due, or
    /// [`ErrorKind::Misplaced`] if more of the document is there to be read.
    pub fn end(&mut self) -> Result<(), Error> {
        let at = skip_whitespace(self.bytes, self.at);
        let complete = self.due == Due::Next && self.open.depth == 0;
        match (complete, at == self.bytes.len()) {
            (true, true) => {
                self.at = at;
                Ok(())
            }
            (true, false) => Err(self.fault(Error::new(ErrorKind::TrailingData, at))),
            (false, true) if self.due != Due::Nothing => {
                Err(self.fault(Error::new(ErrorKind::UnexpectedEnd, at)))
            }
            (false, _) => Err(self.misplaced()),
        }
    }

    #[cold]
    fn misplaced(&mut self) -> Error {
        self.fault(Error::new(ErrorKind::Misplaced, self.at))
    }

    #[cold]
    /// RPC-02.
    fn bad_utf8(&mut self) -> Error {
        self.fault(Error::new(ErrorKind::BadUtf8, self.text.len()))
    }

    /// Stops the tokenizer. Bytes before the fault that are not UTF-8 are the first fault, unless they can be the last
    /// character of an input that ended too early.
    #[cold]
    fn fault(&mut self, error: Error) -> Error {
        self.due = Due::Nothing;
        let valid = self.text.len();
        if error.offset > valid && !(self.cut && error.kind == ErrorKind::UnexpectedEnd) {
            return Error::new(ErrorKind::BadUtf8, valid);
        }
        error
    }
}

impl fmt::Debug for Tokenizer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tokenizer")
            .field("at", &self.at)
            .field("len", &self.bytes.len())
            .field("depth", &self.open.depth)
            .finish_non_exhaustive()
    }
}

/// `text[start..end]`, in two steps that the compiler takes on the spot; one it makes a call.
#[cfg_attr(feature = "alloc", inline(always))]
fn slice(text: &str, start: usize, end: usize) -> Option<&str> {
    text.get(..end)?.get(start..)
}

/// The text before the first byte that is not UTF-8, and whether what follows is a character cut off.
#[cold]
fn valid_part(bytes: &[u8], error: str::Utf8Error) -> (&str, bool) {
    let valid = bytes
        .get(..error.valid_up_to())
        .and_then(|bytes| str::from_utf8(bytes).ok());
    (valid.unwrap_or_default(), error.error_len().is_none())
}
