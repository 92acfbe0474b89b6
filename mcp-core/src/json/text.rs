//! Strings: where they end, and what they say.

#[cfg(feature = "alloc")]
use crate::Cow;
#[cfg(feature = "alloc")]
use alloc::string::String;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::str;

use super::error::{Error, ErrorKind};
use super::marks::{Marks, Scanned};

/// Checks the string whose text begins at `at`, just after the opening quote. UTF-8 is not looked at.
#[cfg_attr(feature = "alloc", inline(always))]
pub(super) fn scan_string(bytes: &[u8], at: usize, marks: &mut Marks) -> Result<Scanned, Error> {
    let at = marks.plain_end(bytes, at);
    match bytes.get(at) {
        Some(b'"') => Ok(Scanned {
            end: at + 1,
            escaped: false,
        }),
        Some(_) | None => scan_escaped(bytes, at, marks),
    }
}

#[inline(never)]
fn scan_escaped(bytes: &[u8], mut at: usize, marks: &mut Marks) -> Result<Scanned, Error> {
    loop {
        match bytes.get(at) {
            Some(b'"') => {
                return Ok(Scanned {
                    end: at + 1,
                    escaped: true,
                });
            }
            Some(b'\\') => at = marks.plain_end(bytes, escape_end(bytes, at)?),
            Some(_) => return Err(Error::new(ErrorKind::ControlCharacter, at)),
            None => return Err(Error::new(ErrorKind::UnexpectedEnd, at)),
        }
    }
}

/// Checks the escape sequence whose backslash is at `at` and returns the position after it.
fn escape_end(bytes: &[u8], at: usize) -> Result<usize, Error> {
    match bytes.get(at + 1) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(at + 2),
        Some(b'u') => {
            for digit in at + 2..at + 6 {
                match bytes.get(digit) {
                    Some(byte) if byte.is_ascii_hexdigit() => {}
                    Some(_) => return Err(Error::new(ErrorKind::BadEscape, at)),
                    None => return Err(Error::new(ErrorKind::UnexpectedEnd, digit)),
                }
            }
            Ok(at + 6)
        }
        Some(_) => Err(Error::new(ErrorKind::BadEscape, at)),
        None => Err(Error::new(ErrorKind::UnexpectedEnd, at + 1)),
    }
}

/// A checked JSON string, borrowed from the input and decoded only on demand.
///
/// Comparing and hashing go by the decoded text: `"me\u0074hod"` is `"method"`. A hash is that of the decoded text as a
/// `str`, so either can look up the other.
#[derive(Clone, Copy)]
pub struct JsonStr<'b> {
    raw: &'b str,
    escaped: bool,
}

impl<'b> JsonStr<'b> {
    /// `raw` is the text between the quotes of a checked string, and `escaped` says whether it has a backslash.
    #[inline]
    pub(super) const fn new(raw: &'b str, escaped: bool) -> Self {
        Self { raw, escaped }
    }

    /// The text between the quotes, escapes as written.
    #[inline]
    #[must_use]
    pub const fn raw(self) -> &'b str {
        self.raw
    }

    /// Whether the text has escape sequences.
    #[inline]
    #[must_use]
    pub const fn has_escapes(self) -> bool {
        self.escaped
    }

    /// The text, if it has no escape sequences.
    #[inline]
    #[must_use]
    pub const fn as_plain(self) -> Option<&'b str> {
        if self.escaped { None } else { Some(self.raw) }
    }

    /// The decoded text: borrowed if there are no escapes, else allocated, never longer than [`raw`](Self::raw).
    ///
    /// Each surrogate that is not part of a pair becomes U+FFFD.
    #[cfg(feature = "alloc")]
    #[inline]
    #[must_use]
    pub fn decode(self) -> Cow<'b, str> {
        if self.escaped {
            Cow::Owned(self.decode_escapes())
        } else {
            Cow::Borrowed(self.raw)
        }
    }

    /// The text, to be compared with names that are known here: of up to 64 bytes and without a backslash.
    #[cfg(feature = "alloc")]
    #[cfg_attr(feature = "alloc", inline(always))]
    pub(crate) fn known(self) -> Cow<'b, str> {
        self.decode()
    }

    /// The same without allocation: what is longer stays as written, with its backslash.
    #[cfg(not(feature = "alloc"))]
    pub(crate) fn known(self) -> Known<'b> {
        match self.escaped {
            true => self.decode_known(),
            false => Known::Plain(self.raw),
        }
    }

    #[cfg(not(feature = "alloc"))]
    #[cold]
    fn decode_known(self) -> Known<'b> {
        let mut text = heapless::String::new();
        match self.chars().all(|char| text.push(char).is_ok()) {
            true => Known::Decoded(text),
            false => Known::Plain(self.raw),
        }
    }

    /// Kept out of the callers: names and most values have no escapes.
    #[cfg(feature = "alloc")]
    #[cold]
    fn decode_escapes(self) -> String {
        let mut text = String::with_capacity(self.raw.len());
        let mut rest = self.raw;
        while let Some((plain, escape)) = rest.split_once('\\') {
            text.push_str(plain);
            let (decoded, after) = decode_escape(escape);
            text.push(decoded);
            rest = after;
        }
        text.push_str(rest);
        text
    }

    /// The decoded text, one character at a time and without allocation. Surrogates as in [`decode`](Self::decode).
    #[must_use]
    pub fn chars(self) -> DecodedChars<'b> {
        DecodedChars {
            rest: self.raw.chars(),
        }
    }

    /// Whether the string is Unicode text: no escape in it is half of a surrogate pair (RFC 8259, section 8.2). Two
    /// strings that are not may decode to the same text.
    #[must_use]
    pub fn is_unicode(self) -> bool {
        let mut rest = if self.escaped { self.raw } else { "" };
        while let Some((_, escape)) = rest.split_once('\\') {
            let (decoded, after) = decode_escape(escape);
            let digits = escape.get(1..5).unwrap_or_default();
            if decoded == char::REPLACEMENT_CHARACTER && !digits.eq_ignore_ascii_case("fffd") {
                return false;
            }
            rest = after;
        }
        true
    }

    #[cold]
    fn decodes_to(self, other: &str) -> bool {
        // Every escape sequence is longer than what it stands for.
        self.raw.len() > other.len() && self.chars().eq(other.chars())
    }
}

impl PartialEq<str> for JsonStr<'_> {
    #[cfg_attr(feature = "alloc", inline(always))]
    fn eq(&self, other: &str) -> bool {
        if self.escaped {
            self.decodes_to(other)
        } else {
            self.raw == other
        }
    }
}

impl PartialEq<&str> for JsonStr<'_> {
    #[cfg_attr(feature = "alloc", inline(always))]
    fn eq(&self, other: &&str) -> bool {
        *self == **other
    }
}

impl PartialEq for JsonStr<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (self.as_plain(), other.as_plain()) {
            (_, Some(other)) => *self == *other,
            (Some(plain), None) => *other == *plain,
            (None, None) => self.raw == other.raw || self.chars().eq(other.chars()),
        }
    }
}

impl Eq for JsonStr<'_> {}

impl Hash for JsonStr<'_> {
    /// Allocates if there are escapes: hashing in pieces would not give the hash of the whole.
    fn hash<H: Hasher>(&self, state: &mut H) {
        #[cfg(feature = "alloc")]
        self.decode().hash(state);
        // One with escapes and one without that say the same hash alike, but not as a `str` does.
        #[cfg(not(feature = "alloc"))]
        self.chars().for_each(|char| char.hash(state));
    }
}

impl fmt::Debug for JsonStr<'_> {
    /// The string as written, quotes included.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.raw)
    }
}

/// See [`JsonStr::known`].
#[cfg(not(feature = "alloc"))]
pub(crate) enum Known<'b> {
    Plain(&'b str),
    Decoded(heapless::String<64>),
}

#[cfg(not(feature = "alloc"))]
impl core::ops::Deref for Known<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        match self {
            Self::Plain(text) => text,
            Self::Decoded(text) => text,
        }
    }
}

/// The characters of a [`JsonStr`], decoded.
#[derive(Clone, Debug)]
pub struct DecodedChars<'b> {
    rest: str::Chars<'b>,
}

impl Iterator for DecodedChars<'_> {
    type Item = char;

    #[inline]
    fn next(&mut self) -> Option<char> {
        let next = self.rest.next()?;
        if next != '\\' {
            return Some(next);
        }
        let (decoded, after) = decode_escape(self.rest.as_str());
        self.rest = after.chars();
        Some(decoded)
    }
}

/// Decodes the checked escape sequence that `text` begins with, just after its backslash; also returns what follows.
fn decode_escape(text: &str) -> (char, &str) {
    let mut rest = text.chars();
    let decoded = match rest.next() {
        Some('b') => '\u{8}',
        Some('f') => '\u{c}',
        Some('n') => '\n',
        Some('r') => '\r',
        Some('t') => '\t',
        Some('u') => return decode_unicode(rest.as_str()),
        Some(itself) => itself,
        None => char::REPLACEMENT_CHARACTER,
    };
    (decoded, rest.as_str())
}

/// Decodes the digits after `\u`, and the second half of a surrogate pair if it follows (RFC 8259, section 7).
fn decode_unicode(text: &str) -> (char, &str) {
    let Some((high, after)) = hex4(text) else {
        return (char::REPLACEMENT_CHARACTER, "");
    };
    let low = match high {
        0xd800..=0xdbff => after.strip_prefix("\\u").and_then(hex4),
        _ => None,
    };
    match low {
        Some((low @ 0xdc00..=0xdfff, after)) => {
            let code = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
            (
                char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER),
                after,
            )
        }
        Some(_) | None => (
            char::from_u32(high).unwrap_or(char::REPLACEMENT_CHARACTER),
            after,
        ),
    }
}

fn hex4(text: &str) -> Option<(u32, &str)> {
    let (digits, after) = text.split_at_checked(4)?;
    Some((u32::from_str_radix(digits, 16).ok()?, after))
}
