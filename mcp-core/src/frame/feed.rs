//! For tests of framers: a driver in miniature that offers a stream in chunks and keeps the books.

use alloc::vec::Vec;

/// What one step of a framer said, without the borrow.
pub(crate) struct Fed<T> {
    pub(crate) consumed: usize,
    /// None: more bytes are needed.
    pub(crate) item: Option<T>,
}

/// What a whole stream gave.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct Harvest<T> {
    pub(crate) items: Vec<T>,
    /// The most bytes that were left unconsumed while more were needed.
    pub(crate) most_held: usize,
}

/// Feeds `chunks` as reads of one stream, then its end, through a buffer that holds unconsumed bytes only.
///
/// `step` gets the unconsumed input, and whether the stream has ended. It is called until it wants more.
pub(crate) fn feed<'c, T>(
    chunks: impl IntoIterator<Item = &'c [u8]>,
    mut step: impl FnMut(&[u8], bool) -> Fed<T>,
) -> Harvest<T> {
    let mut harvest = Harvest {
        items: Vec::new(),
        most_held: 0,
    };
    let mut buffer = Vec::new();
    let mut drain = |buffer: &mut Vec<u8>, at_end| {
        let mut start = 0;
        loop {
            let fed = step(&buffer[start..], at_end);
            start += fed.consumed;
            let Some(item) = fed.item else { break };
            assert!(
                fed.consumed > 0,
                "an item that consumes nothing would come again for ever"
            );
            harvest.items.push(item);
        }
        buffer.drain(..start);
        harvest.most_held = harvest.most_held.max(buffer.len());
    };
    for chunk in chunks {
        buffer.extend_from_slice(chunk);
        drain(&mut buffer, false);
    }
    drain(&mut buffer, true);
    assert!(
        buffer.is_empty(),
        "bytes left over at the end: {buffer:02x?}"
    );
    harvest
}

/// The stream in one read, cut in two at every byte, and in reads of every small size.
pub(crate) fn every_cut(stream: &[u8]) -> impl Iterator<Item = Vec<&[u8]>> {
    let whole = [Vec::from([stream])];
    let in_two = (0..=stream.len()).map(|at| Vec::from([&stream[..at], &stream[at..]]));
    let in_many = (1..8).map(|size| stream.chunks(size).collect());
    whole.into_iter().chain(in_two).chain(in_many)
}
