//! Where strings and containers end, found block by block.

use core::ops::Shr;

use crate::scan::{self, BLOCK};

/// Where a string ends, and whether it needs decoding.
#[derive(Clone, Copy)]
pub(super) struct Scanned {
    /// The position just after the closing quote.
    pub(super) end: usize,
    pub(super) escaped: bool,
}

/// Finds where strings end in one input, and remembers the block it looked at last: names and most values are a few
/// bytes long, so the next one is often in the same.
#[derive(Clone, Copy)]
pub(super) struct Marks {
    /// Which block of the input `bits` are for, counted in blocks from its start.
    block: usize,
    bits: u64,
}

impl Marks {
    pub(super) const NONE: Self = Self {
        block: usize::MAX,
        bits: 0,
    };

    /// The position of the first `"`, `\` or control character at or after `at`; the length of the input if there is
    /// none.
    #[cfg_attr(feature = "alloc", inline(always))]
    pub(super) fn plain_end(&mut self, bytes: &[u8], at: usize) -> usize {
        if scan::SMALL {
            return long_plain_end(bytes, at);
        }
        let block = at / BLOCK;
        if block != self.block {
            *self = Self::look_at(bytes, block);
        }
        match self.bits >> (at % BLOCK) {
            0 => {
                *self = Self::look_at(bytes, block + 1);
                match self.bits {
                    0 => long_plain_end(bytes, (block + 2) * BLOCK),
                    bits => (block + 1) * BLOCK + bits.trailing_zeros() as usize,
                }
            }
            bits => at + bits.trailing_zeros() as usize,
        }
    }

    #[inline(never)]
    fn look_at(bytes: &[u8], block: usize) -> Self {
        Self {
            block,
            bits: block_marks(bytes, block * BLOCK, scan::string_marks),
        }
    }
}

/// What is longer than two blocks is left to a search made for it: it goes on at `at`.
#[inline(never)]
fn long_plain_end(bytes: &[u8], at: usize) -> usize {
    match bytes.get(at..) {
        Some(rest) => at + scan::string_run(rest),
        None => bytes.len(),
    }
}

/// Finds the end of a string that has been checked before, and whose text begins at `at`. `None` only if it has not.
#[cfg_attr(feature = "alloc", inline(always))]
pub(super) fn skip_string(bytes: &[u8], mut at: usize, marks: &mut Marks) -> Option<Scanned> {
    let mut escaped = false;
    loop {
        at = marks.plain_end(bytes, at);
        match bytes.get(at)? {
            b'"' => {
                return Some(Scanned {
                    end: at + 1,
                    escaped,
                });
            }
            b'\\' => at += 2,
            _ => return None,
        }
        escaped = true;
    }
}

/// Finds the end of an array or object that has been checked before, and whose opening bracket is at `at`: brackets
/// outside strings are counted, the rest is not looked at. `None` only if it has not been checked.
pub(super) fn skip_container(bytes: &[u8], at: usize) -> Option<usize> {
    if scan::SMALL {
        return step_over_container(bytes, at);
    }
    let mut depth = 0_usize;
    // All ones if the block begins inside a string.
    let mut inside = 0;
    // One if the block's first byte is escaped.
    let mut escaped = 0;
    let mut start = at;
    while start < bytes.len() {
        let marks = block_marks(bytes, start, scan::nesting_marks);
        let (escapes, next) = escapes(marks.backslashes, escaped);
        escaped = next;
        // Each bit becomes the parity of the quotes up to it: set from an opening quote to just before the closing.
        let mut strings = marks.quotes & !escapes;
        for shift in [1, 2, 4, 8, 16, 32] {
            strings ^= strings << shift;
        }
        strings ^= inside;
        inside = if strings >> 63 == 1 { u64::MAX } else { 0 };

        let mut brackets = (marks.open | marks.close) & !strings;
        while brackets != 0 {
            let bit = brackets & brackets.wrapping_neg();
            if marks.open & bit != 0 {
                depth += 1;
            } else {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(start + bit.trailing_zeros() as usize + 1);
                }
            }
            brackets ^= bit;
        }
        start += BLOCK;
    }
    None
}

/// The same, byte by byte.
fn step_over_container(bytes: &[u8], mut at: usize) -> Option<usize> {
    let mut marks = Marks::NONE;
    let mut depth = 0_usize;
    loop {
        match bytes.get(at)? {
            b'"' => {
                at = skip_string(bytes, at + 1, &mut marks)?.end;
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
        at += 1;
    }
}

/// Which bytes of a block are escaped by the backslash before them, and whether the next block's first is, as a bit.
#[cfg_attr(feature = "alloc", inline(always))]
fn escapes(backslashes: u64, first: u64) -> (u64, u64) {
    let mut escapes = first;
    let mut rest = backslashes & !first;
    while rest != 0 {
        let backslash = rest & rest.wrapping_neg();
        let next = backslash << 1;
        if next == 0 {
            return (escapes, 1);
        }
        escapes |= next;
        // What is escaped escapes nothing.
        rest &= !(backslash | next);
    }
    (escapes, 0)
}

/// What `find` marks in the block that begins at `start`, nothing past the end of the input.
#[cfg_attr(feature = "alloc", inline(always))]
fn block_marks<M: Default + Shr<u32, Output = M>>(
    bytes: &[u8],
    start: usize,
    find: impl Fn(&[u8; BLOCK]) -> M,
) -> M {
    match bytes.get(start..).and_then(<[u8]>::first_chunk) {
        Some(block) => find(block),
        None => last_marks(bytes, start, find),
    }
}

#[inline(never)]
fn last_marks<M: Default + Shr<u32, Output = M>>(
    bytes: &[u8],
    start: usize,
    find: impl Fn(&[u8; BLOCK]) -> M,
) -> M {
    let rest = bytes.get(start..).unwrap_or_default();
    if rest.is_empty() {
        return M::default();
    }
    if let Some(last) = bytes.last_chunk() {
        // Some of the bytes before, rather than a copy, which would have to be waited for.
        return find(last) >> (BLOCK - rest.len()) as u32;
    }
    let mut block = [b' '; BLOCK];
    for (to, from) in block.iter_mut().zip(rest) {
        *to = *from;
    }
    find(&block)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the program has without an allocator: it is compiled here, and not called.
    #[test]
    fn byte_by_byte_a_container_ends_where_it_ends_block_by_block() {
        let inner = r#"[1,"a]\\",{"b\"{":"\u00e9}"},[[]],"", {"c" : "\\\\\\"}]"#;
        for before in 0..70 {
            for text in ["[]", "{}", inner, r#"{"x":"]","y":[[{}]]}"#] {
                let long = "a".repeat(before);
                let text = alloc::format!("{{\"{long}\":{text}}},[]");
                let bytes = text.as_bytes();
                let end = skip_container(bytes, 0);
                assert_eq!(end, Some(bytes.len() - 3), "{text}");
                assert_eq!(step_over_container(bytes, 0), end, "{text}");
                let inside = before + 4;
                let end = skip_container(bytes, inside);
                assert_eq!(end, Some(bytes.len() - 4), "{text}");
                assert_eq!(step_over_container(bytes, inside), end, "{text}");
                // What has not been checked has no end.
                for cut in 0..bytes.len() - 3 {
                    assert_eq!(step_over_container(&bytes[..cut], 0), None, "{text}");
                }
            }
        }
    }
}
