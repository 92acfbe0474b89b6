//! Text to structure: JSON as checked spans of the input, and back.
//!
//! Nothing here knows JSON-RPC or MCP, nothing recurses, and reading allocates only when an escaped string is asked
//! for as one piece of text ([`JsonStr::decode`]).
//!
//! # What is accepted
//!
//! RFC 8259, strictly:
//!
//! - whitespace is space, tab, line feed and carriage return;
//! - no trailing commas, comments, `NaN`, `Infinity`, leading zeros or leading `+`, no byte order mark;
//! - any value may be the document; after it only whitespace may follow;
//! - the whole text must be UTF-8, inside strings too;
//! - numbers of any size and precision: they are kept as text, and [`Number`] says what fits where;
//! - duplicate names: they are all reported, in order, and what they mean is decided above;
//! - escaped lone surrogates (`"\ud800"`), which RFC 8259 allows and no Rust string can hold: they decode to U+FFFD,
//!   so that one odd string does not cost a whole message. [`JsonStr::raw`] still has them as written.
//!
//! # Depth
//!
//! A document may have [`DEFAULT_DEPTH`] arrays and objects open at once, or what [`RawJson::parse_with_depth`] and
//! [`Tokenizer::with_depth`] are told, up to [`MAX_DEPTH`]; one more is [`ErrorKind::TooDeep`]. A value counts from
//! where its document begins, so a [`RawJson`] never nests deeper than the limit it was read under.
//!
//! # Cost
//!
//! Reading is linear in the input. Walking an [`Object`] or [`Array`] passes over each member once and checks nothing
//! again, so a full walk costs at most the length of the text times its depth.

mod constant;
mod error;
mod grammar;
mod marks;
mod number;
mod owned;
mod raw;
#[cfg(test)]
mod tests;
mod text;
mod token;
mod write;

pub use error::{Error, ErrorKind};
pub use grammar::{DEFAULT_DEPTH, MAX_DEPTH};
pub use number::Number;
pub use owned::Json;
pub use raw::{Array, Kind, Object, RawJson};
pub use text::{DecodedChars, JsonStr};
pub use token::Tokenizer;
pub(crate) use write::StandardSink;
pub use write::{Full, Mark, Sink, Writer};

/// The position of the first byte at or after `at` that is not whitespace; the length of the input if there is none.
#[cfg_attr(feature = "alloc", inline(always))]
fn skip_whitespace(bytes: &[u8], at: usize) -> usize {
    match bytes.get(at) {
        Some(&byte) if byte <= b' ' => skip_whitespace_run(bytes, at),
        Some(_) | None => at,
    }
}

/// Compact text, which is what peers send, has none: kept out of the callers.
#[inline(never)]
fn skip_whitespace_run(bytes: &[u8], mut at: usize) -> usize {
    loop {
        match bytes.get(at) {
            Some(b' ' | b'\n' | b'\r' | b'\t') => at += 1,
            Some(_) | None => return at,
        }
        // Indentation.
        while next_bytes(bytes, at) == Some(b"    ") {
            at += 4;
        }
    }
}

/// The `N` bytes at `at`, if there are so many.
#[cfg_attr(feature = "alloc", inline(always))]
fn next_bytes<const N: usize>(bytes: &[u8], at: usize) -> Option<&[u8; N]> {
    bytes.get(at..)?.first_chunk()
}
