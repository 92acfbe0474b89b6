use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_lite::future::block_on;
use http_body::SizeHint;

use super::*;

const LONG: Duration = Duration::from_secs(5);

/// Pieces, and then nothing: an end, or a wait without one.
struct Pieces {
    pieces: VecDeque<Bytes>,
    announced: u64,
    ends: bool,
}

impl Pieces {
    fn new(pieces: &[&'static [u8]], announced: u64) -> Self {
        Self {
            pieces: pieces.iter().copied().map(Bytes::from_static).collect(),
            announced,
            ends: true,
        }
    }
}

impl Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.pieces.pop_front() {
            Some(piece) => {
                self.announced = self.announced.saturating_sub(piece.len() as u64);
                Poll::Ready(Some(Ok(Frame::data(piece))))
            }
            None if self.ends => Poll::Ready(None),
            None => Poll::Pending,
        }
    }

    fn size_hint(&self) -> SizeHint {
        let mut hint = SizeHint::new();
        hint.set_lower(self.announced);
        hint
    }
}

#[test]
fn one_piece_is_not_copied() {
    static PIECE: &[u8] = b"all of it";
    let body = Pieces::new(&[b"", PIECE, b""], 0);
    let whole = block_on(collect(body, PIECE.len(), LONG)).expect("as long as may be");
    assert_eq!(whole.as_ptr(), PIECE.as_ptr());
    assert_eq!(whole, PIECE);
}

#[test]
fn many_pieces_are_put_together() {
    for announced in [0, 6] {
        let body = Pieces::new(&[b"ab", b"", b"cd", b"ef"], announced);
        let whole = block_on(collect(body, 6, LONG)).expect("as long as may be");
        assert_eq!(whole, "abcdef");
    }
    let nothing = block_on(collect(Pieces::new(&[], 0), 0, LONG)).expect("nothing is not too much");
    assert!(nothing.is_empty());
}

#[test]
fn an_announcement_allocates_a_bounded_amount() {
    let body = Pieces::new(&[b"ab", b"cd"], 1 << 40);
    let whole = block_on(collect(body, usize::MAX, LONG)).expect("as long as may be");
    let buffer = whole.try_into_mut().expect("nobody else has it");
    assert!(buffer.capacity() <= ANNOUNCED + 4);
}

#[test]
fn what_is_too_long_is_refused_as_soon_as_it_is_known() {
    // Never ends: the answer cannot be from the end.
    let mut announced = Pieces::new(&[], 7);
    announced.ends = false;
    let mut first = Pieces::new(&[b"abcdefg"], 0);
    first.ends = false;
    let mut later = Pieces::new(&[b"abc", b"def", b"g"], 0);
    later.ends = false;
    for body in [announced, first, later] {
        let error = block_on(collect(body, 6, LONG)).expect_err("7 are more than 6");
        assert!(matches!(error, BodyError::TooLarge), "{error}");
        assert_eq!(error.status(), 413);
    }
}

#[test]
fn what_takes_too_long_is_refused() {
    let mut body = Pieces::new(&[b"abc"], 6);
    body.ends = false;
    let error = block_on(collect(body, 6, Duration::from_millis(20))).expect_err("it never ends");
    assert_eq!(error.status(), 408);
}
