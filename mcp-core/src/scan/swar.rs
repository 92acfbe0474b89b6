//! A word of eight bytes at a time in plain safe Rust: the kernel where there is no vector unit, and for inputs that
//! do not fill a vector.

use super::StringRun;

const WORD: usize = size_of::<u64>();
const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x80 * ONES;

pub(super) fn string_run(bytes: &[u8]) -> StringRun {
    let (words, tail) = bytes.as_chunks::<WORD>();
    let mut high = 0;
    for (index, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let stops = stops(word);
        high |= word & below(stops);
        if stops != 0 {
            return StringRun {
                len: index * WORD + position(stops),
                ascii: high & HIGH == 0,
            };
        }
    }
    let word = partial(tail);
    let stops = stops(word);
    high |= word & below(stops);
    let len = if stops == 0 {
        tail.len()
    } else {
        position(stops)
    };
    StringRun {
        len: words.len() * WORD + len,
        ascii: high & HIGH == 0,
    }
}

/// The same for exactly [`HEAD`](super::HEAD) bytes, to be inlined.
#[cfg_attr(
    any(
        all(target_arch = "x86_64", target_feature = "sse2"),
        all(
            target_arch = "aarch64",
            target_feature = "neon",
            target_endian = "little"
        )
    ),
    expect(dead_code, reason = "vector kernels have their own")
)]
#[inline]
pub(super) fn head(bytes: &[u8; super::HEAD]) -> StringRun {
    string_run(bytes)
}

/// Sets the high bit of each byte that ends a run. Bytes above the first such byte may be marked wrongly: a
/// subtraction borrows from the next byte only where it has found something. The lowest mark is exact.
fn stops(word: u64) -> u64 {
    let control = word.wrapping_sub(0x20 * ONES);
    let quote = (word ^ (u64::from(b'"') * ONES)).wrapping_sub(ONES);
    let backslash = (word ^ (u64::from(b'\\') * ONES)).wrapping_sub(ONES);
    // Bytes from 0x80 up may have a high bit left in any of the three, and stop nothing.
    (control | quote | backslash) & !word & HIGH
}

/// All bits below the lowest set one; all bits if none is set.
fn below(stops: u64) -> u64 {
    stops.wrapping_sub(1) & !stops
}

fn position(stops: u64) -> usize {
    stops.trailing_zeros() as usize / WORD
}

/// Up to seven bytes as a word, filled up with bytes that neither stop a run nor count as non-ASCII.
fn partial(tail: &[u8]) -> u64 {
    let mut word = [b' '; WORD];
    for (to, from) in word.iter_mut().zip(tail) {
        *to = *from;
    }
    u64::from_le_bytes(word)
}
