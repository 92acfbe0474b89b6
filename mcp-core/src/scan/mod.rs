//! Bytes to positions: the searches everything above is built on. No JSON grammar here.
//!
//! Every function is safe for any input and gives the same answer on every machine; only the speed depends on the
//! instruction set. [`string_run`] is a ladder:
//!
//! | rung | where | used |
//! | --- | --- | --- |
//! | byte at a time | `tests.rs` | the oracle all others are tested against |
//! | eight bytes in a `u64` | `swar.rs`, no `unsafe` | inputs under 16 bytes; targets without a vector unit |
//! | one vector algorithm | `generic.rs`, over a `Vector` trait | instantiated by the shells below |
//! | SSE2 and AVX2, NEON | `x86_64.rs`, `aarch64.rs` | what is compiled in; AVX2 also when feature `std` finds it at run time |
//!
//! Marks of whole blocks (`text.rs`) have two rungs of the same kind: SSE2, and eight bytes in a `u64`.
//!
//! This is the only module with `unsafe`: vector loads from arrays of the right size, calls of code for an instruction
//! set that is compiled in or that the CPU was just asked for, and text that was just found to be ASCII.
#![allow(
    unsafe_code,
    reason = "vector intrinsics and checked text, and nothing else in the crate; not `expect`, since targets without vectors have none"
)]

#[cfg(all(
    target_arch = "aarch64",
    target_feature = "neon",
    target_endian = "little"
))]
mod aarch64;
#[cfg(any(
    all(target_arch = "x86_64", target_feature = "sse2"),
    all(
        target_arch = "aarch64",
        target_feature = "neon",
        target_endian = "little"
    )
))]
mod generic;
mod swar;
#[cfg(test)]
mod tests;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod x86_64;

#[cfg(all(
    target_arch = "aarch64",
    target_feature = "neon",
    target_endian = "little"
))]
use self::aarch64 as kernel;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
use self::x86_64 as kernel;

#[cfg(not(any(
    all(target_arch = "x86_64", target_feature = "sse2"),
    all(
        target_arch = "aarch64",
        target_feature = "neon",
        target_endian = "little"
    )
)))]
mod kernel {
    pub(super) use super::swar::string_run;

    pub(super) fn head(pair: &[[u8; super::HEAD / 2]; 2]) -> super::StringRun {
        string_run(pair.as_flattened())
    }
}

mod text;

pub(crate) use text::{BLOCK, nesting_marks, string_marks, text};

/// The position of the first `\n` in `bytes`.
#[must_use]
#[inline]
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

/// Bytes looked at before the kernel for long runs is called, in two blocks. Most member names and short values end
/// within them.
const HEAD: usize = 32;

/// Measures the run of bytes that stand for themselves inside a JSON string (RFC 8259, section 7): everything up to
/// the first `"`, `\` or byte below 0x20.
///
/// Meant to be called with everything that follows the opening quote, up to the end of the message: bytes after the
/// run are not touched beyond the vector in which it ends.
#[must_use]
#[inline]
pub fn string_run(bytes: &[u8]) -> StringRun {
    let Some(pair) = bytes.as_chunks::<{ HEAD / 2 }>().0.first_chunk::<2>() else {
        return short_run(bytes);
    };
    let head = kernel::head(pair);
    if head.len < HEAD {
        return head;
    }
    if bytes.len() <= 2 * HEAD {
        return last_run(bytes, head);
    }
    let rest = kernel::string_run(&bytes[HEAD..]);
    StringRun {
        len: HEAD + rest.len,
        ascii: head.ascii && rest.ascii,
    }
}

/// The same for up to two heads, the first of which, `head`, has no stop: the second may overlap it.
#[inline]
fn last_run(bytes: &[u8], head: StringRun) -> StringRun {
    match bytes.as_rchunks::<{ HEAD / 2 }>().1.last_chunk::<2>() {
        Some(pair) => {
            let last = kernel::head(pair);
            StringRun {
                len: bytes.len() - HEAD + last.len,
                ascii: head.ascii && last.ascii,
            }
        }
        None => head,
    }
}

/// The same for fewer than [`HEAD`] bytes.
#[inline]
fn short_run(bytes: &[u8]) -> StringRun {
    let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) else {
        return swar::string_run(bytes);
    };
    // Two blocks that overlap. A stop in both is found in the first.
    let run = kernel::head(&[*first, *last]);
    StringRun {
        len: match run.len {
            len if len < HEAD / 2 => len,
            len => len + bytes.len() - HEAD,
        },
        ascii: run.ascii,
    }
}

/// `bytes` as text, without a copy.
///
/// # Errors
///
/// The offset of the first byte that does not belong to a well-formed UTF-8 sequence. A sequence cut off by the end of
/// the input is reported at its first byte.
#[inline]
pub fn utf8(bytes: &[u8]) -> Result<&str, usize> {
    core::str::from_utf8(bytes).map_err(|error| error.valid_up_to())
}
