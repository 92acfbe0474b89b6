//! The bodies of responses.

use core::convert::Infallible;
use core::pin::Pin;
use core::task::{Context, Poll};
use core::time::Duration;
#[cfg(feature = "auth")]
use std::time::SystemTime;

#[cfg(feature = "auth")]
use async_io::Timer;
use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

use super::exchange::Exchange;
use super::session::Reader;

/// The body of a response: nothing, one JSON text, or a stream of events. Dropping a stream of the modern era before its
/// end cancels what it is the answer to (HTTP-22).
#[derive(Debug)]
pub struct HttpBody {
    /// What was ready when the response was begun.
    first: Bytes,
    kind: Kind,
    /// When it ends, whatever there is still to come.
    #[cfg(feature = "auth")]
    until: Option<Box<Timer>>,
}

#[derive(Debug)]
pub(super) enum Kind {
    Empty,
    Exchange(Box<Exchange>),
    Session(Box<Reader>, Duration),
}

impl HttpBody {
    pub(in crate::server) const EMPTY: Self = Self {
        first: Bytes::new(),
        kind: Kind::Empty,
        #[cfg(feature = "auth")]
        until: None,
    };

    pub(super) const fn is_nothing(&self) -> bool {
        self.first.is_empty() && matches!(self.kind, Kind::Empty)
    }

    pub(in crate::server) fn whole(bytes: Vec<u8>) -> Self {
        Self::stream(bytes, Kind::Empty)
    }

    pub(super) fn stream(first: Vec<u8>, kind: Kind) -> Self {
        Self {
            first: first.into(),
            kind,
            #[cfg(feature = "auth")]
            until: None,
        }
    }
}

#[cfg(feature = "auth")]
impl HttpBody {
    /// A stream ends at this time.
    pub(super) fn end_at(&mut self, end: SystemTime) {
        if !matches!(self.kind, Kind::Empty) {
            let left = end.duration_since(SystemTime::now()).unwrap_or_default();
            self.until = Some(Box::new(Timer::after(left)));
        }
    }

    fn is_over(&mut self, cx: &mut Context<'_>) -> bool {
        let over = |timer: &mut Box<Timer>| Pin::new(&mut **timer).poll(cx).is_ready();
        self.until.as_mut().is_some_and(over)
    }
}

impl Body for HttpBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if !self.first.is_empty() {
            let first = core::mem::take(&mut self.first);
            return Poll::Ready(Some(Ok(Frame::data(first))));
        }
        #[cfg(feature = "auth")]
        if self.is_over(cx) {
            self.until = None;
            self.kind = Kind::Empty;
        }
        let bytes = match &mut self.kind {
            Kind::Empty => return Poll::Ready(None),
            Kind::Exchange(exchange) => core::task::ready!(exchange.poll_events(cx)),
            Kind::Session(reader, keep_alive) => {
                core::task::ready!(reader.poll_events(cx, *keep_alive))
            }
        };
        if bytes.is_none() {
            self.kind = Kind::Empty;
        }
        Poll::Ready(bytes.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.is_nothing()
    }

    fn size_hint(&self) -> SizeHint {
        match &self.kind {
            Kind::Empty => SizeHint::with_exact(self.first.len() as u64),
            Kind::Exchange(_) | Kind::Session(..) => SizeHint::default(),
        }
    }
}
