//! The grammar of RFC 8259: values, names and what stands between them. UTF-8 is checked elsewhere.

use super::error::{Error, ErrorKind};
use super::marks::Marks;
use super::number::number_end;
use super::text::scan_string;
use super::{next_bytes, skip_whitespace};

/// How many arrays and objects may be open at once, unless told otherwise.
pub const DEFAULT_DEPTH: usize = 128;

/// The most arrays and objects that may be open at once: each takes one bit in the [`Tokenizer`](super::Tokenizer), 64 bytes in all.
pub const MAX_DEPTH: usize = 512;

/// The error for a byte that cannot be at `at`, or for the end of the input there.
#[cold]
pub(super) fn unexpected(bytes: &[u8], at: usize, kind: ErrorKind) -> Error {
    if at < bytes.len() {
        Error::new(kind, at)
    } else {
        Error::new(ErrorKind::UnexpectedEnd, at)
    }
}

/// A member's name and the colon after it.
pub(super) struct Name {
    /// The position after the closing quote.
    pub(super) end: usize,
    /// The position of the value.
    pub(super) value: usize,
    pub(super) escaped: bool,
}

/// Checks the name at `at` and the colon.
#[cfg_attr(feature = "alloc", inline(always))]
pub(super) fn scan_name(bytes: &[u8], at: usize, marks: &mut Marks) -> Result<Name, Error> {
    match bytes.get(at) {
        Some(b'"') => scan_name_text(bytes, at + 1, marks),
        Some(_) | None => Err(unexpected(bytes, at, ErrorKind::ExpectedName)),
    }
}

/// Checks the name whose text begins at `at`, and the colon.
#[cfg_attr(feature = "alloc", inline(always))]
fn scan_name_text(bytes: &[u8], at: usize, marks: &mut Marks) -> Result<Name, Error> {
    let end = marks.plain_end(bytes, at);
    if next_bytes(bytes, end) == Some(b"\":") {
        // Nearly always: no escapes, and no whitespace before the colon.
        return Ok(Name {
            end: end + 1,
            value: skip_whitespace(bytes, end + 2),
            escaped: false,
        });
    }
    scan_name_end(bytes, end, marks)
}

/// Checks the rest of a name that has nothing special before `at`, and the colon.
#[inline(never)]
fn scan_name_end(bytes: &[u8], at: usize, marks: &mut Marks) -> Result<Name, Error> {
    let name = scan_string(bytes, at, marks)?;
    let colon = skip_whitespace(bytes, name.end);
    match bytes.get(colon) {
        Some(b':') => Ok(Name {
            end: name.end,
            value: skip_whitespace(bytes, colon + 1),
            escaped: name.escaped,
        }),
        Some(_) | None => Err(unexpected(bytes, colon, ErrorKind::ExpectedColon)),
    }
}

/// Checks one whole value that begins at `at` and returns the position after it. UTF-8 is not looked at.
pub(super) fn value_end(
    bytes: &[u8],
    mut at: usize,
    open: &mut Nesting,
    marks: &mut Marks,
) -> Result<usize, Error> {
    let outside = open.depth;
    'value: loop {
        // A value begins at `at`.
        match bytes.get(at) {
            Some(b'"') => at = scan_string(bytes, at + 1, marks)?.end,
            Some(b'{') => {
                if !open.push(true) {
                    return Err(Error::new(ErrorKind::TooDeep, at));
                }
                at = skip_whitespace(bytes, at + 1);
                if bytes.get(at) != Some(&b'}') {
                    at = scan_name(bytes, at, marks)?.value;
                    continue;
                }
                open.pop();
                at += 1;
            }
            Some(b'[') => {
                if !open.push(false) {
                    return Err(Error::new(ErrorKind::TooDeep, at));
                }
                at = skip_whitespace(bytes, at + 1);
                if bytes.get(at) != Some(&b']') {
                    continue;
                }
                open.pop();
                at += 1;
            }
            Some(b'-' | b'0'..=b'9') => at = number_end(bytes, at)?,
            Some(b't') => at = literal_end(bytes, at, b"true")?,
            Some(b'f') => at = literal_end(bytes, at, b"false")?,
            Some(b'n') => at = literal_end(bytes, at, b"null")?,
            Some(_) | None => return Err(unexpected(bytes, at, ErrorKind::ExpectedValue)),
        }
        // A value ends at `at`, and perhaps some containers with it.
        while open.depth != outside {
            let object = open.is_object();
            if object && next_bytes(bytes, at) == Some(b",\"") {
                // Nearly always: no whitespace.
                at = scan_name_text(bytes, at + 2, marks)?.value;
                continue 'value;
            }
            at = skip_whitespace(bytes, at);
            match bytes.get(at) {
                Some(b',') => {
                    at = skip_whitespace(bytes, at + 1);
                    if object {
                        at = scan_name(bytes, at, marks)?.value;
                    }
                    continue 'value;
                }
                Some(b'}') if object => open.pop(),
                Some(b']') if !object => open.pop(),
                Some(_) | None if object => {
                    return Err(unexpected(bytes, at, ErrorKind::ExpectedCommaOrBrace));
                }
                Some(_) | None => {
                    return Err(unexpected(bytes, at, ErrorKind::ExpectedCommaOrBracket));
                }
            }
            at += 1;
        }
        return Ok(at);
    }
}

#[cfg_attr(feature = "alloc", inline(always))]
fn literal_end<const N: usize>(bytes: &[u8], at: usize, word: &[u8; N]) -> Result<usize, Error> {
    if bytes.get(at..at + N) == Some(word) {
        Ok(at + N)
    } else {
        Err(bad_literal(bytes, at, word))
    }
}

#[cold]
fn bad_literal(bytes: &[u8], at: usize, word: &[u8]) -> Error {
    let rest = bytes.get(at..).unwrap_or_default();
    let same = rest
        .iter()
        .zip(word)
        .take_while(|(byte, wanted)| byte == wanted)
        .count();
    unexpected(bytes, at + same, ErrorKind::BadLiteral)
}

/// Which containers are open: a stack of bits, set for an object and clear for an array.
#[derive(Clone)]
pub(super) struct Nesting {
    pub(super) depth: usize,
    limit: usize,
    /// The innermost levels, the last one in the lowest bit; a word's worth at most.
    inner: u64,
    /// The levels outside those, a full word each; the first word is those outside all, none.
    outer: [u64; MAX_DEPTH / LEVELS],
}

/// Levels in a word.
const LEVELS: usize = u64::BITS as usize;

impl Nesting {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            depth: 0,
            limit: limit.min(MAX_DEPTH),
            inner: 0,
            outer: [0; MAX_DEPTH / LEVELS],
        }
    }

    /// `false` if that is one level too many.
    #[cfg_attr(feature = "alloc", inline(always))]
    pub(super) fn push(&mut self, object: bool) -> bool {
        if self.depth >= self.limit {
            return false;
        }
        if self.depth.is_multiple_of(LEVELS) {
            self.outer[self.depth / LEVELS] = self.inner;
        }
        self.inner = self.inner << 1 | u64::from(object);
        self.depth += 1;
        true
    }

    #[cfg_attr(feature = "alloc", inline(always))]
    pub(super) fn pop(&mut self) {
        self.inner >>= 1;
        self.depth = self.depth.saturating_sub(1);
        if self.depth.is_multiple_of(LEVELS) {
            self.inner = self.outer[self.depth / LEVELS];
        }
    }

    #[cfg_attr(feature = "alloc", inline(always))]
    pub(super) fn is_object(&self) -> bool {
        self.inner & 1 == 1
    }

    pub(super) fn is_array(&self) -> bool {
        self.depth > 0 && !self.is_object()
    }
}
