//! A word of eight bytes at a time in plain safe Rust: the kernel where there is no vector unit, and for inputs that
//! do not fill a vector.

const WORD: usize = size_of::<u64>();
const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x80 * ONES;

pub(super) fn string_run(bytes: &[u8]) -> usize {
    let (words, tail) = bytes.as_chunks::<WORD>();
    let mut len = 0;
    for word in words {
        let stops = stops(u64::from_le_bytes(*word));
        if stops != 0 {
            return len + position(stops);
        }
        len += WORD;
    }
    match stops(partial(tail)) {
        0 => bytes.len(),
        stops => len + position(stops),
    }
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

fn position(stops: u64) -> usize {
    stops.trailing_zeros() as usize / WORD
}

/// Up to seven bytes as a word, filled up with bytes that do not stop a run.
fn partial(tail: &[u8]) -> u64 {
    const FILL: u64 = b' ' as u64 * ONES;
    let len = tail.len();
    let word = if let (Some(first), Some(last)) = (tail.first_chunk::<4>(), tail.last_chunk::<4>())
    {
        // Where the two halves overlap they are the same bytes.
        u64::from(u32::from_le_bytes(*first))
            | u64::from(u32::from_le_bytes(*last)) << (8 * (len - 4))
    } else if let (Some(first), Some(last)) = (tail.first(), tail.last()) {
        let middle = len / 2;
        u64::from(*first)
            | u64::from(tail[middle]) << (8 * middle)
            | u64::from(*last) << (8 * (len - 1))
    } else {
        0
    };
    word | FILL << (8 * len)
}
