//! Bodies: the request's, which is there as a whole, and the response's, which comes.

use core::convert::Infallible;
use core::fmt;
use core::future::poll_fn;
use core::pin::Pin;
use core::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};
use hyper::body::Incoming;

use super::connection::Live;
use super::error::Error;
use super::pool::Back;

/// A body that is there.
#[derive(Debug)]
pub(super) struct Once(Option<Bytes>);

impl Once {
    pub(super) fn new(bytes: Bytes) -> Self {
        Self(Some(bytes).filter(|bytes| !bytes.is_empty()))
    }
}

impl HttpBody for Once {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.take().map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0.as_ref().map_or(0, |bytes| bytes.len() as u64))
    }
}

/// The body of a response, as it comes. One that was read to its end leaves its connection for the next request; dropping
/// it before that closes the connection.
pub struct Body {
    incoming: Incoming,
    /// `None`: all is read.
    live: Option<(Live, Back)>,
}

impl Body {
    pub(super) const fn new(incoming: Incoming, live: Live, back: Back) -> Self {
        Self {
            incoming,
            live: Some((live, back)),
        }
    }

    /// The next bytes; `None` at the end. After an error there is nothing more.
    pub async fn chunk(&mut self) -> Option<Result<Bytes, Error>> {
        poll_fn(|cx| self.poll_chunk(cx)).await
    }

    /// The same, to be polled.
    pub fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        loop {
            let Some((live, _)) = &mut self.live else {
                return Poll::Ready(None);
            };
            let mut next = Pin::new(&mut self.incoming).poll_frame(cx);
            if next.is_pending() {
                // Bytes come in while the connection is polled, and its end is for the body to tell.
                live.poll(cx);
                next = Pin::new(&mut self.incoming).poll_frame(cx);
            }
            match next {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Some(Ok(frame))) => {
                    // Trailers say nothing here.
                    if let Ok(data) = frame.into_data() {
                        return Poll::Ready(Some(Ok(data)));
                    }
                }
                Poll::Ready(Some(Err(error))) => {
                    self.live = None;
                    return Poll::Ready(Some(Err(Error::Broken(error))));
                }
                Poll::Ready(None) => {
                    if let Some((mut live, back)) = self.live.take() {
                        live.poll(cx);
                        back.give(live);
                    }
                    return Poll::Ready(None);
                }
            }
        }
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Body")
            .field("ended", &self.live.is_none())
            .finish_non_exhaustive()
    }
}
