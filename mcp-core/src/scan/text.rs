//! What reading JSON text in one pass takes: the whole as `str`, and marks where strings may end.

use core::str::{self, Utf8Error};

/// How many bytes [`string_marks`] looks at.
pub(crate) const BLOCK: usize = 64;

/// The bytes as text. ASCII, which nearly all messages are, takes a fraction of what [`str::from_utf8`] does.
#[inline]
pub(crate) fn text(bytes: &[u8]) -> Result<&str, Utf8Error> {
    if is_ascii(bytes) {
        // SAFETY: ASCII is UTF-8.
        #[allow(unsafe_code)]
        return Ok(unsafe { str::from_utf8_unchecked(bytes) });
    }
    str::from_utf8(bytes)
}

/// [`u8::is_ascii`] for slices, without its byte by byte end, which is most of its cost for a short message.
#[inline]
fn is_ascii(bytes: &[u8]) -> bool {
    let (blocks, rest) = bytes.as_chunks::<BLOCK>();
    let rest = bytes
        .last_chunk::<BLOCK>()
        .map_or(rest, <[u8; BLOCK]>::as_slice);
    blocks.iter().all(|block| block.is_ascii()) && rest.is_ascii()
}

/// A bit for each byte, the lowest for the first: set if it is `"`, `\` or below 0x20.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
#[inline(always)]
pub(crate) fn string_marks(block: &[u8; BLOCK]) -> u64 {
    use core::arch::x86_64::{
        __m128i, _mm_cmpeq_epi8, _mm_loadu_si128, _mm_min_epu8, _mm_movemask_epi8, _mm_or_si128,
        _mm_set1_epi8, _mm_xor_si128,
    };

    let lanes = block.as_ptr().cast::<__m128i>();
    let marks = |lane: usize| {
        // SAFETY: a block is four lanes of 16 bytes, `lane` is 0 to 3, the load needs no alignment, and the features
        // are compiled in.
        #[allow(unsafe_code)]
        let bits = unsafe {
            let bytes = _mm_loadu_si128(lanes.add(lane));
            // Exchanges 0x20 and 0x22, so that one comparison finds the quote and the control characters.
            let swapped = _mm_xor_si128(bytes, _mm_set1_epi8(2));
            let low = _mm_cmpeq_epi8(_mm_min_epu8(swapped, _mm_set1_epi8(0x20)), swapped);
            let backslash = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(b'\\'.cast_signed()));
            _mm_movemask_epi8(_mm_or_si128(low, backslash))
        };
        // Only the low 16 bits are ever set.
        u64::from(bits.cast_unsigned()) << (16 * lane)
    };
    marks(0) | marks(1) | marks(2) | marks(3)
}

/// A bit for each byte, the lowest for the first: set if it is `"`, `\` or below 0x20.
#[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
#[inline(always)]
pub(crate) fn string_marks(block: &[u8; BLOCK]) -> u64 {
    swar_marks(block)
}

/// [`string_marks`] eight bytes at a time in a plain register.
#[cfg(any(test, not(all(target_arch = "x86_64", target_feature = "sse2"))))]
fn swar_marks(block: &[u8; BLOCK]) -> u64 {
    const EACH: u64 = 0x0101_0101_0101_0101;
    const TOP: u64 = EACH * 0x80;
    let (words, _) = block.as_chunks::<8>();
    let mut marks = 0;
    for (place, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        // Exchanges 0x20 and 0x22, so that one comparison finds the quote and the control characters. The sums carry
        // into the top bit of their own byte only: set there, the byte is not one of those looked for.
        let swapped = word ^ (EACH * 2);
        let not_low = (swapped & !TOP) + EACH * (0x80 - 0x21);
        let other = word ^ (EACH * b'\\' as u64);
        let not_backslash = (other & !TOP) + EACH * 0x7f;
        let bits = !((not_low | word) & (not_backslash | word)) & TOP;
        // Gathers the top bits of the eight bytes in the lowest byte's order.
        marks |= ((bits >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * place);
    }
    marks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_exact_for_every_byte_at_every_place() {
        for place in 0..BLOCK {
            for byte in 0..=u8::MAX {
                for filler in [
                    b'a', b' ', b'!', b'#', b'[', b']', 0x7f, 0x80, 0xa2, 0xdc, 0xff,
                ] {
                    let mut block = [filler; BLOCK];
                    block[place] = byte;
                    let expected = u64::from(byte == b'"' || byte == b'\\' || byte < 0x20) << place;
                    assert_eq!(
                        string_marks(&block),
                        expected,
                        "{byte:#x} at {place} in {filler:#x}"
                    );
                    assert_eq!(
                        swar_marks(&block),
                        expected,
                        "{byte:#x} at {place} in {filler:#x}"
                    );
                }
            }
        }
        assert_eq!(string_marks(&[b'"'; BLOCK]), u64::MAX);
        assert_eq!(swar_marks(&[b'"'; BLOCK]), u64::MAX);
    }
}
