//! What can be wrong with a text.

use core::fmt;

/// The first fault found in a text, and where.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Error {
    /// What is wrong.
    pub kind: ErrorKind,
    /// The position in bytes from the start of the input: of the byte that cannot be where it is, of the backslash for
    /// a bad escape, of the end of the input if it ended too early.
    pub offset: usize,
}

impl Error {
    pub(super) const fn new(kind: ErrorKind, offset: usize) -> Self {
        Self { kind, offset }
    }

    /// Whether the input is the beginning of some valid document, so that more bytes could have made it right.
    ///
    /// A number at the top level is complete at each of its digits: `12` is not reported, although `123` begins so.
    #[must_use]
    pub const fn is_incomplete(&self) -> bool {
        matches!(self.kind, ErrorKind::UnexpectedEnd)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.kind, self.offset)
    }
}

impl core::error::Error for Error {}

/// The faults a text can have.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The input ends inside a value, or before one.
    UnexpectedEnd,
    /// No value begins with this byte.
    ExpectedValue,
    /// An object must go on with a name in quotes; its first place may also hold the closing `}`.
    ExpectedName,
    /// A name is not followed by `:`.
    ExpectedColon,
    /// A member is followed by neither `,` nor `}`.
    ExpectedCommaOrBrace,
    /// An element is followed by neither `,` nor `]`.
    ExpectedCommaOrBracket,
    /// The value is not an object, where one was asked for.
    ExpectedObject,
    /// The value is not an array, where one was asked for.
    ExpectedArray,
    /// A word that begins like `true`, `false` or `null` and goes on differently.
    BadLiteral,
    /// A number that is not written as RFC 8259 wants it, such as `1.` or `-x`. A leading zero is not this fault: `01`
    /// is the number `0` followed by something unexpected.
    BadNumber,
    /// A backslash is followed by something other than `"\/bfnrt` or `u` and four hexadecimal digits.
    BadEscape,
    /// A byte below 0x20 stands in a string.
    ControlCharacter,
    /// The bytes are not UTF-8.
    BadUtf8,
    /// More arrays and objects are open at once than the limit allows.
    TooDeep,
    /// Something other than whitespace follows the document.
    TrailingData,
    /// The caller asked for something that cannot come at this place, such as a member when the innermost open value
    /// is an array, or for anything after an error. Not the peer's fault.
    Misplaced,
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::UnexpectedEnd => "unexpected end",
            Self::ExpectedValue => "expected a value",
            Self::ExpectedName => "expected a name in quotes",
            Self::ExpectedColon => "expected `:`",
            Self::ExpectedCommaOrBrace => "expected `,` or `}`",
            Self::ExpectedCommaOrBracket => "expected `,` or `]`",
            Self::ExpectedObject => "expected an object",
            Self::ExpectedArray => "expected an array",
            Self::BadLiteral => "expected `true`, `false` or `null`",
            Self::BadNumber => "malformed number",
            Self::BadEscape => "malformed escape sequence",
            Self::ControlCharacter => "unescaped control character",
            Self::BadUtf8 => "invalid UTF-8",
            Self::TooDeep => "nested too deeply",
            Self::TrailingData => "unexpected data after the document",
            Self::Misplaced => "tokenizer call out of place",
        })
    }
}
