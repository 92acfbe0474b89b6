//! A stream, and how it arrives.

/// Splits an input into how a stream arrives and the stream: the first line is for the harness, the rest is the stream.
/// Both are text where the stream is, so that inputs can be written by hand.
pub(crate) fn split_header(data: &[u8]) -> (&[u8], &[u8]) {
    match data.iter().position(|&byte| byte == b'\n') {
        Some(end) => (&data[..end], &data[end + 1..]),
        None => (data, &[]),
    }
}

/// What a byte of the header stands for: digits are themselves, and all values are below 48.
pub(crate) fn size(byte: u8) -> usize {
    usize::from(byte % 48)
}

/// Cuts a stream into reads of these sizes, taken in turn and over again; in one read if they are all zero.
pub(crate) fn reads<'s>(sizes: &[u8], stream: &'s [u8]) -> Vec<&'s [u8]> {
    if sizes.iter().all(|&byte| size(byte) == 0) {
        return vec![stream];
    }
    let mut rest = stream;
    let mut reads = Vec::new();
    for &byte in sizes.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (read, after) = rest.split_at(size(byte).min(rest.len()));
        reads.push(read);
        rest = after;
    }
    reads
}
