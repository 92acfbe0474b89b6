//! What reading JSON text in one pass takes: the whole as `str`, and marks for the bytes that matter, block by block.

use core::ops::Shr;
use core::str::{self, Utf8Error};

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(crate) use self::sse2::{nesting_marks, string_marks};
#[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
pub(crate) use self::swar::{nesting_marks, string_marks};

/// How many bytes the marks are for: one bit each, the lowest for the first.
pub(crate) const BLOCK: usize = 64;

/// The marks of what a search for the end of a container looks at.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct NestingMarks {
    /// `"`
    pub(crate) quotes: u64,
    /// `\`
    pub(crate) backslashes: u64,
    /// `{` and `[`
    pub(crate) open: u64,
    /// `}` and `]`
    pub(crate) close: u64,
}

/// Leaves out the marks of the first bytes.
impl Shr<u32> for NestingMarks {
    type Output = Self;

    #[inline]
    fn shr(self, bytes: u32) -> Self {
        Self {
            quotes: self.quotes >> bytes,
            backslashes: self.backslashes >> bytes,
            open: self.open >> bytes,
            close: self.close >> bytes,
        }
    }
}

/// The bytes as text. ASCII, which nearly all messages are, takes a fraction of what [`str::from_utf8`] does.
#[inline]
pub(crate) fn text(bytes: &[u8]) -> Result<&str, Utf8Error> {
    if !super::SMALL && is_ascii(bytes) {
        // SAFETY: ASCII is UTF-8.
        return Ok(unsafe { str::from_utf8_unchecked(bytes) });
    }
    str::from_utf8(bytes)
}

/// `is_ascii` of slices, without its byte by byte end, which is most of its cost for a short message.
#[inline]
fn is_ascii(bytes: &[u8]) -> bool {
    let (blocks, rest) = bytes.as_chunks::<BLOCK>();
    let rest = bytes
        .last_chunk::<BLOCK>()
        .map_or(rest, <[u8; BLOCK]>::as_slice);
    blocks.iter().all(|block| block.is_ascii()) && rest.is_ascii()
}

/// Sixteen bytes at a time, on every x86-64 with an operating system.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod sse2 {
    use core::arch::x86_64::{
        __m128i, _mm_cmpeq_epi8, _mm_loadu_si128, _mm_min_epu8, _mm_movemask_epi8, _mm_or_si128,
        _mm_set1_epi8, _mm_xor_si128,
    };

    use super::{BLOCK, NestingMarks};

    /// Marks `"`, `\` and what is below 0x20.
    #[cfg_attr(feature = "alloc", inline(always))]
    pub(crate) fn string_marks(block: &[u8; BLOCK]) -> u64 {
        // SAFETY: the features that the intrinsics need are compiled in.
        marks(block, |bytes| unsafe {
            // Exchanges 0x20 and 0x22, so that one comparison finds the quote and the control characters.
            let swapped = _mm_xor_si128(bytes, _mm_set1_epi8(2));
            let low = _mm_cmpeq_epi8(_mm_min_epu8(swapped, _mm_set1_epi8(0x20)), swapped);
            _mm_or_si128(low, _mm_cmpeq_epi8(bytes, _mm_set1_epi8(0x5c)))
        })
    }

    #[cfg_attr(feature = "alloc", inline(always))]
    pub(crate) fn nesting_marks(block: &[u8; BLOCK]) -> NestingMarks {
        let equal = |byte: i8| {
            // SAFETY: the features that the intrinsics need are compiled in.
            let find = |bytes| unsafe { _mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte)) };
            marks(block, find)
        };
        let bracket = |byte: i8| {
            // Square and curly brackets differ in this bit only.
            // SAFETY: the features that the intrinsics need are compiled in.
            let find = |bytes| unsafe {
                _mm_cmpeq_epi8(
                    _mm_or_si128(bytes, _mm_set1_epi8(0x20)),
                    _mm_set1_epi8(byte),
                )
            };
            marks(block, find)
        };
        NestingMarks {
            quotes: equal(0x22),
            backslashes: equal(0x5c),
            open: bracket(0x7b),
            close: bracket(0x7d),
        }
    }

    /// One bit for each byte that `find` sets to 0xff.
    #[cfg_attr(feature = "alloc", inline(always))]
    fn marks(block: &[u8; BLOCK], find: impl Fn(__m128i) -> __m128i) -> u64 {
        let lanes = block.as_ptr().cast::<__m128i>();
        let marks = |lane: usize| {
            // SAFETY: a block is four lanes of 16 bytes, `lane` is 0 to 3, the load needs no alignment, and the
            // features are compiled in.
            let bits = unsafe { _mm_movemask_epi8(find(_mm_loadu_si128(lanes.add(lane)))) };
            // Only the low 16 bits are ever set.
            u64::from(bits.cast_unsigned()) << (16 * lane)
        };
        marks(0) | marks(1) | marks(2) | marks(3)
    }
}

/// Eight bytes at a time in a plain register, everywhere else.
#[cfg(any(test, not(all(target_arch = "x86_64", target_feature = "sse2"))))]
mod swar {
    use super::{BLOCK, NestingMarks};

    const EACH: u64 = 0x0101_0101_0101_0101;
    const TOP: u64 = EACH * 0x80;

    /// Marks `"`, `\` and what is below 0x20.
    #[inline]
    pub(crate) fn string_marks(block: &[u8; BLOCK]) -> u64 {
        marks(block, |word| {
            // Exchanges 0x20 and 0x22, so that one comparison finds the quote and the control characters.
            below(word ^ (EACH * 2), 0x21) | equal(word, b'\\')
        })
    }

    #[inline]
    pub(crate) fn nesting_marks(block: &[u8; BLOCK]) -> NestingMarks {
        // Square and curly brackets differ in this bit only.
        let curly = |word: u64| word | (EACH * 0x20);
        NestingMarks {
            quotes: marks(block, |word| equal(word, b'"')),
            backslashes: marks(block, |word| equal(word, b'\\')),
            open: marks(block, |word| equal(curly(word), b'{')),
            close: marks(block, |word| equal(curly(word), b'}')),
        }
    }

    /// The top bit of each byte that is less than `limit`, which is at most 0x80. The sum carries into the top bit of
    /// its own byte only, and sets it if the byte is not less.
    fn below(word: u64, limit: u8) -> u64 {
        !(((word & !TOP) + EACH * u64::from(0x80 - limit)) | word) & TOP
    }

    /// The top bit of each byte that is `byte`.
    fn equal(word: u64, byte: u8) -> u64 {
        below(word ^ (EACH * u64::from(byte)), 1)
    }

    /// One bit for each byte of which `find` sets the top bit.
    fn marks(block: &[u8; BLOCK], find: impl Fn(u64) -> u64) -> u64 {
        let (words, _) = block.as_chunks::<8>();
        words.iter().enumerate().fold(0, |marks, (place, word)| {
            let bits = find(u64::from_le_bytes(*word)) >> 7;
            // The product's top byte gathers the lowest bits of the eight bytes in order.
            marks | (bits.wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * place)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_exact_for_every_byte_at_every_place() {
        for place in 0..BLOCK {
            for byte in 0..=u8::MAX {
                // Neighbours that are one off what is looked for, or have only the top bit more.
                for filler in [
                    b'a', b' ', b'!', b'#', b'Z', b'^', b'z', b'|', b'~', 0x7f, 0x80, 0xa2, 0xdc,
                    0xfb,
                ] {
                    let mut block = [filler; BLOCK];
                    block[place] = byte;
                    let shown = (byte, place, filler);
                    let string = u64::from(byte == b'"' || byte == b'\\' || byte < 0x20) << place;
                    assert_eq!(string_marks(&block), string, "{shown:?}");
                    assert_eq!(swar::string_marks(&block), string, "{shown:?}");
                    let bit = |set: &[u8]| u64::from(set.contains(&byte)) << place;
                    let nesting = NestingMarks {
                        quotes: bit(b"\""),
                        backslashes: bit(b"\\"),
                        open: bit(b"{["),
                        close: bit(b"}]"),
                    };
                    assert_eq!(nesting_marks(&block), nesting, "{shown:?}");
                    assert_eq!(swar::nesting_marks(&block), nesting, "{shown:?}");
                }
            }
        }
        assert_eq!(string_marks(&[b'"'; BLOCK]), u64::MAX);
        assert_eq!(swar::string_marks(&[b'"'; BLOCK]), u64::MAX);
    }

    #[test]
    fn text_is_what_the_standard_library_says_it_is() {
        for len in 0..200 {
            let mut bytes = [b'a'; 200];
            assert!(text(&bytes[..len]).is_ok_and(|text| text.len() == len));
            for place in 0..len {
                for byte in [0x7f, 0x80, 0xc3, 0xff] {
                    bytes[place] = byte;
                    assert_eq!(
                        text(&bytes[..len]),
                        str::from_utf8(&bytes[..len]),
                        "{byte:#x} at {place} of {len}"
                    );
                }
                bytes[place] = b'a';
            }
        }
    }
}
