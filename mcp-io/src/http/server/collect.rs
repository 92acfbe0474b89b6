//! The body of a request as a whole.

use std::error::Error as StdError;
use std::fmt;
use std::future::{Future as _, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use async_io::Timer;
use bytes::{Buf, BufMut, Bytes, BytesMut};
use http::StatusCode;
use http_body::{Body, Frame};

/// How much is allocated because a client says that it will come. What is more is allocated as it comes.
const ANNOUNCED: usize = 256 << 10;

/// Reads a body whole, at most `limit` bytes in at most `timeout`.
///
/// What the client says is too long is not read at all, and what turns out so is not read on: the connection is closed
/// after the response. A body that came in one piece is not copied. Such a one shares the buffer of its connection, 8 KiB
/// and more: whoever keeps it for long better copies what they keep.
///
/// # Errors
///
/// See [`BodyError`].
pub async fn collect<B>(body: B, limit: usize, timeout: Duration) -> Result<Bytes, BodyError>
where
    B: Body,
    B::Error: Into<Box<dyn StdError + Send + Sync>>,
{
    if body.size_hint().lower() > limit as u64 {
        return Err(BodyError::TooLarge);
    }
    let mut body = pin!(body);
    let mut read = Whole {
        left: limit,
        ..Whole::default()
    };
    let mut timer = None;
    poll_fn(|cx| {
        while let Poll::Ready(frame) = body.as_mut().poll_frame(cx) {
            let ended = match frame {
                Some(Ok(frame)) => {
                    read.push(frame, body.size_hint().lower())?;
                    body.is_end_stream()
                }
                Some(Err(error)) => return Poll::Ready(Err(BodyError::Failed(error.into()))),
                None => true,
            };
            if ended {
                return Poll::Ready(Ok(core::mem::take(&mut read).end()));
            }
        }
        // Made when the body is first waited for, and in a box, since that is rare: nearly every body is there already.
        let timer = timer.get_or_insert_with(|| Box::pin(Timer::after(timeout)));
        timer.as_mut().poll(cx).map(|_| Err(BodyError::TimedOut))
    })
    .await
}

/// What has come of a body.
#[derive(Default)]
struct Whole {
    /// How much more it may be.
    left: usize,
    /// All there is, if that is one piece.
    first: Bytes,
    /// All there is, if that is more.
    pieces: BytesMut,
}

impl Whole {
    /// `rest` is what the client says will come at least.
    fn push<D: Buf>(&mut self, frame: Frame<D>, rest: u64) -> Result<(), BodyError> {
        // Trailers are of no interest.
        let Ok(mut data) = frame.into_data() else {
            return Ok(());
        };
        let more = data.remaining();
        self.left = self.left.checked_sub(more).ok_or(BodyError::TooLarge)?;
        if self.first.is_empty() && self.pieces.is_empty() {
            self.first = data.copy_to_bytes(more);
            return Ok(());
        }
        if self.pieces.is_empty() && more > 0 {
            // At most what may come, and the limit was looked at.
            let rest = rest.min(ANNOUNCED as u64) as usize;
            self.pieces.reserve(self.first.len() + more + rest);
            self.pieces.put(core::mem::take(&mut self.first));
        }
        self.pieces.put(data);
        Ok(())
    }

    fn end(self) -> Bytes {
        match self.pieces.is_empty() {
            true => self.first,
            false => self.pieces.freeze(),
        }
    }
}

/// A body that could not be read.
#[derive(Debug)]
#[non_exhaustive]
pub enum BodyError {
    /// It is longer than it may be.
    TooLarge,
    /// It took longer than it may.
    TimedOut,
    /// The connection has failed, or what came on it is no HTTP.
    Failed(Box<dyn StdError + Send + Sync>),
}

impl BodyError {
    /// What the client is to be told: 413, 408 or 400.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        match self {
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::TimedOut => StatusCode::REQUEST_TIMEOUT,
            Self::Failed(_) => StatusCode::BAD_REQUEST,
        }
    }
}

impl fmt::Display for BodyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge => f.write_str("the body is too large"),
            Self::TimedOut => f.write_str("the body took too long"),
            Self::Failed(error) => write!(f, "the body could not be read: {error}"),
        }
    }
}

impl StdError for BodyError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self {
            Self::TooLarge | Self::TimedOut => None,
            Self::Failed(error) => Some(&**error),
        }
    }
}

#[cfg(test)]
mod tests;
