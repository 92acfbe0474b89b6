//! Bytes to positions: the searches everything above is built on.

mod text;

pub(crate) use text::{BLOCK, nesting_marks, string_marks, text};

/// The position of the first `\n` in `bytes`.
#[must_use]
pub fn newline(bytes: &[u8]) -> Option<usize> {
    memchr::memchr(b'\n', bytes)
}

/// What [`string_run`] found.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct StringRun {
    /// How many bytes come before the first `"`, `\` or control character (below 0x20); the whole input if there is none.
    pub len: usize,
    /// Whether every byte of the run is ASCII.
    pub ascii: bool,
}

/// Measures the run of bytes that stand for themselves inside a JSON string (RFC 8259, section 7): everything up to
/// the first `"`, `\` or byte below 0x20.
#[must_use]
pub fn string_run(bytes: &[u8]) -> StringRun {
    let len = bytes.iter().position(|&b| b == b'"' || b == b'\\' || b < 0x20).unwrap_or(bytes.len());
    StringRun { len, ascii: bytes[..len].is_ascii() }
}
