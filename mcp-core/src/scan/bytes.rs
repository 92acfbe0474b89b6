//! A byte at a time: the fewest instructions that a search can be made of.

pub(super) fn string_run(bytes: &[u8]) -> usize {
    let stop = bytes
        .iter()
        .position(|byte| matches!(byte, b'"' | b'\\' | ..=0x1f));
    stop.unwrap_or(bytes.len())
}
