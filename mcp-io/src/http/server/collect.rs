//! The body of a request as a whole.

use std::error::Error as StdError;
use std::fmt;
use std::future::poll_fn;
use std::pin::pin;
use std::time::Duration;

use async_io::Timer;
use bytes::{Buf, BufMut, Bytes, BytesMut};
use futures_lite::future;
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
    // The timer is made when the body is first waited for.
    future::or(read(body, limit), async {
        Timer::after(timeout).await;
        Err(BodyError::TimedOut)
    })
    .await
}

async fn read<B>(body: B, limit: usize) -> Result<Bytes, BodyError>
where
    B: Body,
    B::Error: Into<Box<dyn StdError + Send + Sync>>,
{
    let mut body = pin!(body);
    let mut first = Bytes::new();
    let mut whole = BytesMut::new();
    while let Some(frame) = poll_fn(|cx| body.as_mut().poll_frame(cx)).await {
        // Trailers are of no interest.
        let Ok(mut data) = frame
            .map_err(|error| BodyError::Failed(error.into()))
            .map(Frame::into_data)?
        else {
            continue;
        };
        let more = data.remaining();
        let left = limit - first.len() - whole.len();
        if more > left {
            return Err(BodyError::TooLarge);
        }
        if more == 0 {
            continue;
        }
        if first.is_empty() && whole.is_empty() {
            first = data.copy_to_bytes(more);
            continue;
        }
        if whole.is_empty() {
            // At most what may come, and the limit was looked at.
            let rest = body.size_hint().lower().min(ANNOUNCED as u64) as usize;
            whole.reserve(first.len() + more + rest);
            whole.put(core::mem::take(&mut first));
        }
        whole.put(data);
    }
    if whole.is_empty() {
        return Ok(first);
    }
    Ok(whole.freeze())
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
