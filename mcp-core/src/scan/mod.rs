//! Bytes to positions: the searches everything above is built on. No JSON grammar here.
//!
//! Every function is safe for any input and gives the same answer on every machine; only the speed depends on the
//! instruction set. [`string_run`] is a ladder:
//!
//! | rung | where | used |
//! | --- | --- | --- |
//! | byte at a time | `bytes.rs` | without an allocator, where size counts; the oracle all others are tested against |
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
mod bytes;
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

    pub(super) fn head(pair: &[[u8; super::HEAD / 2]; 2]) -> usize {
        string_run(pair.as_flattened())
    }
}

mod text;

pub(crate) use text::{BLOCK, nesting_marks, string_marks, text};

/// Whether the program is to be small rather than fast: without an allocator, every search goes from byte to byte.
pub(crate) const SMALL: bool = cfg!(not(feature = "alloc"));

/// The position of the first `\n` in `bytes`.
#[must_use]
#[inline]
pub fn newline(bytes: &[u8]) -> Option<usize> {
    if SMALL {
        return bytes.iter().position(|&byte| byte == b'\n');
    }
    memchr::memchr(b'\n', bytes)
}

/// Bytes looked at before the kernel for long runs is called, in two blocks. Most member names and short values end
/// within them.
const HEAD: usize = 32;

/// Measures the run of bytes that stand for themselves inside a JSON string (RFC 8259, section 7): how many come before
/// the first `"`, `\` or control character (below 0x20); all of them if there is none.
///
/// Meant to be called with everything that follows the opening quote, up to the end of the message: bytes after the
/// run are not touched beyond the vector in which it ends.
#[must_use]
#[inline]
pub fn string_run(bytes: &[u8]) -> usize {
    if SMALL {
        return bytes::string_run(bytes);
    }
    let Some(pair) = bytes.as_chunks::<{ HEAD / 2 }>().0.first_chunk::<2>() else {
        return short_run(bytes);
    };
    let head = kernel::head(pair);
    if head < HEAD {
        return head;
    }
    if bytes.len() > 2 * HEAD {
        return HEAD + kernel::string_run(&bytes[HEAD..]);
    }
    // One more head, which may overlap the first: that one has no stop.
    match bytes.as_rchunks::<{ HEAD / 2 }>().1.last_chunk::<2>() {
        Some(pair) => bytes.len() - HEAD + kernel::head(pair),
        None => head,
    }
}

/// The same for fewer than [`HEAD`] bytes.
#[inline]
fn short_run(bytes: &[u8]) -> usize {
    let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) else {
        return swar::string_run(bytes);
    };
    // Two blocks that overlap. A stop in both is found in the first.
    match kernel::head(&[*first, *last]) {
        at if at < HEAD / 2 => at,
        at => at + bytes.len() - HEAD,
    }
}
