//! Responses that are quiet for long.
//!
//! hyper keeps two buffers of 8 KiB per connection. A server with thousands of event streams, that say something once in
//! a while, pays for little else: so a connection whose response has nothing to say is taken out of hyper. What is left to
//! be written is a chunked body, which takes no buffer while there is nothing to write; after its end the connection is
//! hyper's again. Doing so at once costs less than a timer that tells which responses stay quiet for long.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use http::{Response, StatusCode, header};
use http_body::{Body, Frame};
use hyper::rt::Write;

use super::body::Kept;
use super::io::Io;
use super::reactor::Peer;

/// In the extensions of a response: while it has nothing to say its connection may let go of its buffers. An idle event
/// stream then takes about 2 KiB instead of 18, besides what the service keeps for it.
///
/// The service must have read the request whole: what is left of it is taken for the next request. Trailers are not sent.
/// Responses whose length is known, and those of a status other than 200, are not affected.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Parkable;

impl Parkable {
    /// The mark.
    #[must_use]
    pub const fn new() -> Self {
        Self
    }
}

/// Whether this goes out chunked, with the connection used on.
pub(super) fn is_parkable<B: Body>(response: &Response<B>) -> bool {
    let decides = [
        header::CONNECTION,
        header::CONTENT_LENGTH,
        header::TRAILER,
        header::TRANSFER_ENCODING,
    ];
    response.extensions().get::<Parkable>().is_some()
        && response.status() == StatusCode::OK
        && response.body().size_hint().exact().is_none()
        && !decides
            .iter()
            .any(|name| response.headers().contains_key(name))
}

/// The rest of a response.
pub(super) struct Parked<B> {
    /// `None`: it has ended, and all of it is in `out`.
    body: Option<Kept<B>>,
    /// Chunks to be written.
    out: Vec<u8>,
    written: usize,
}

/// How a parked response ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum End {
    /// In order: the connection can be used on.
    Done,
    /// The client has left, or the body has failed.
    Broken,
}

impl<B> Parked<B>
where
    B: Body<Data = Bytes>,
{
    pub(super) fn new(body: Kept<B>) -> Self {
        Self {
            body: Some(body),
            out: Vec::new(),
            written: 0,
        }
    }

    pub(super) fn poll(&mut self, io: &mut Io, peer: &Peer, cx: &mut Context<'_>) -> Poll<End> {
        if peer.poll_left(cx).is_ready() {
            return Poll::Ready(End::Broken);
        }
        loop {
            while self.written < self.out.len() {
                let rest = &self.out[self.written..];
                match ready!(Pin::new(&mut *io).poll_write(cx, rest)) {
                    Ok(more @ 1..) => self.written += more,
                    Ok(0) | Err(_) => return Poll::Ready(End::Broken),
                }
            }
            // Not kept for the next event, which may be long in coming.
            self.out = Vec::new();
            self.written = 0;
            if self.body.is_none() {
                return Poll::Ready(End::Done);
            }
            if self.gather(cx).is_err() {
                return Poll::Ready(End::Broken);
            }
            if self.out.is_empty() {
                return Poll::Pending;
            }
        }
    }

    /// Puts together the next thing the body has to say. It is not asked again before that is written: a body that waits
    /// for something may stand in the way of others.
    fn gather(&mut self, cx: &mut Context<'_>) -> Result<(), B::Error> {
        while let Some(kept) = &mut self.body
            && self.out.is_empty()
        {
            match kept.body.as_mut().poll_frame(cx) {
                Poll::Ready(Some(frame)) => {
                    if let Ok(data) = frame.map(Frame::into_data)?
                        && data.has_remaining()
                    {
                        chunk(&mut self.out, &data);
                    }
                }
                Poll::Ready(None) => {
                    self.out.extend_from_slice(b"0\r\n\r\n");
                    self.body = None;
                }
                Poll::Pending => break,
            }
        }
        Ok(())
    }
}

/// RFC 9112, section 7.1. An empty chunk would be the last one.
fn chunk(out: &mut Vec<u8>, data: &[u8]) {
    use std::io::Write as _;

    out.reserve(data.len() + 20);
    // Cannot fail.
    let _ = write!(out, "{:x}\r\n", data.len());
    out.extend_from_slice(data);
    out.extend_from_slice(b"\r\n");
}
