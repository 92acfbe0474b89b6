//! Newline framing against a splitter that sees the whole stream at once.

use mcp_core::frame::{LineFramer, LineOutcome};

use crate::reads::{reads, size, split_header};

/// What a stream holds between its line ends.
#[derive(Debug, Eq, PartialEq)]
pub(crate) enum Item<'s> {
    /// A message.
    Line(&'s [u8]),
    /// So much of a line above the limit as the limit allows.
    TooLong(&'s [u8]),
}

/// Frames a stream that arrives in pieces, and compares with splitting it whole.
///
/// The first line of the input says how: its first byte the limit, the others the sizes of the reads, each modulo 48
/// (so digits are themselves). The rest is the stream.
///
/// # Panics
///
/// On a finding: another line than the splitter's, or more bytes held back than the window promises.
pub fn line(data: &[u8]) {
    let (header, stream) = split_header(data);
    let (limit, sizes) = match header.split_first() {
        Some((&limit, sizes)) => (size(limit), sizes),
        None => (0, header),
    };
    let expected = split(stream, limit);
    for reads in [reads(sizes, stream), vec![stream]] {
        let framed = frame(&reads, limit);
        let framed: Vec<Item<'_>> = framed
            .iter()
            .map(|item| match item {
                Ok(line) => Item::Line(line),
                Err(start) => Item::TooLong(start),
            })
            .collect();
        assert_eq!(framed, expected, "limit {limit}, reads {reads:?}");
    }
}

/// What the framer reports; `Err` is the beginning of a line that is too long.
fn frame(reads: &[&[u8]], limit: usize) -> Vec<Result<Vec<u8>, Vec<u8>>> {
    let mut framer = LineFramer::new(limit);
    let mut items = Vec::new();
    let mut buffer: Vec<u8> = Vec::new();
    let ends = (0..reads.len()).map(|_| false).chain([true]);
    for (read, at_end) in reads.iter().chain([&[].as_slice()]).zip(ends) {
        buffer.extend_from_slice(read);
        let mut start = 0;
        loop {
            let input = &buffer[start..];
            let step = if at_end {
                framer.finish(input)
            } else {
                framer.next(input)
            };
            assert!(step.consumed <= input.len(), "more than there is");
            start += step.consumed;
            match step.outcome {
                LineOutcome::NeedMore => break,
                LineOutcome::Line(line) => {
                    assert!(!line.is_empty() && line.len() <= limit);
                    items.push(Ok(line.to_vec()));
                }
                LineOutcome::TooLong {
                    limit: reported,
                    start,
                    ..
                } => {
                    assert_eq!(reported, limit);
                    items.push(Err(start.to_vec()));
                }
                other => panic!("an outcome that this target does not know: {other:?}"),
            }
            assert!(step.consumed > 0, "it would come again for ever");
        }
        buffer.drain(..start);
        assert!(buffer.len() < framer.window(), "held: {buffer:?}");
        assert!(!at_end || buffer.is_empty(), "left over: {buffer:?}");
    }
    items
}

/// The rules of [`LineFramer`], read off a stream that is all there.
pub(crate) fn split(stream: &[u8], limit: usize) -> Vec<Item<'_>> {
    stream
        .split(|&byte| byte == b'\n')
        .filter_map(|line| {
            let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
            let first = line
                .iter()
                .position(|byte| !matches!(byte, b' ' | b'\t' | b'\r'))?;
            let line = &line[first..];
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            Some(if line.len() > limit {
                Item::TooLong(&line[..limit])
            } else {
                Item::Line(line)
            })
        })
        .collect()
}
