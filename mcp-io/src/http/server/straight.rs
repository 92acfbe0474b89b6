//! Requests that are answered as soon as they are there.
//!
//! hyper makes a map of the headers of each request and writes its response by way of a queue of buffers, which takes as
//! long as an MCP server takes over an ordinary call. So with a service that is [`Straight`] a connection begins here: its
//! requests are read where the system has put them, and a response that is there at once is written at once. The first
//! request that is anything else makes the connection hyper's, with all that was read, and it stays so.

use std::cell::Cell;
use std::io::IoSlice;
use std::io::Write as _;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use http::Request;
use hyper::body::Incoming;
use hyper::rt::Write;
use tower_service::Service;

use super::io::Io;
use super::plain::{Bounds, Plain};
use super::socket::CHUNK;
use super::turn::{CALLED, Turn};

/// A service that answers ordinary requests at once, and is always ready.
pub trait Straight: Service<Request<Incoming>> {
    /// Takes a request, or declines it: then it is [called](Service::call) with it.
    ///
    /// It is to do the same as `call` would: which requests come this way depends on how they came.
    fn straight(&mut self, request: &Plain<'_>) -> Taken<Self::Future>;
}

/// What has become of a request.
#[derive(Debug)]
#[expect(
    clippy::exhaustive_enums,
    reason = "made by services: a new variant would never be used"
)]
pub enum Taken<F> {
    /// Nothing: the service is to be called with it.
    Declined,
    /// It is answered: 200, and this is the JSON text.
    Json(Vec<u8>),
    /// It is being served, and this is what comes of it.
    Begun(F),
}

/// [`Straight::straight`].
pub(super) type Take<S> =
    fn(&mut S, &Plain<'_>) -> Taken<<S as Service<Request<Incoming>>>::Future>;

/// How many requests are answered before other connections have their turn.
const BURST: usize = 16;

/// A connection before it is hyper's.
#[derive(Debug)]
pub(super) struct Lane<'connection> {
    turn: &'connection Turn,
    bounds: Bounds,
    /// What the socket has not taken at once: a response, or the body of one.
    out: Vec<u8>,
    written: usize,
    /// No more requests are read.
    pub(super) stopping: bool,
}

/// How the lane ends.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum End {
    /// With bytes that are for hyper.
    Others,
    /// With the connection.
    Over,
}

impl<'connection> Lane<'connection> {
    pub(super) const fn new(turn: &'connection Turn, bounds: Bounds) -> Self {
        Self {
            turn,
            bounds,
            out: Vec::new(),
            written: 0,
            stopping: false,
        }
    }

    /// Answers with what `take` makes of requests. What it has begun is left in `begun`.
    pub(super) fn poll<F>(
        &mut self,
        io: &mut Io,
        mut take: impl FnMut(&Plain<'_>) -> Taken<F>,
        begun: &Cell<Option<F>>,
        cx: &mut Context<'_>,
    ) -> Poll<End> {
        for _ in 0..BURST {
            while self.written < self.out.len() {
                match ready!(Pin::new(&mut *io).poll_write(cx, &self.out[self.written..])) {
                    Ok(more @ 1..) => self.written += more,
                    Ok(0) | Err(_) => return Poll::Ready(End::Over),
                }
            }
            self.out = Vec::new();
            if self.stopping {
                return Poll::Ready(End::Over);
            }
            let (mut taken, mut ahead) = (Taken::Declined, Bytes::new());
            let read = io.poll_bytes(cx, CHUNK, |bytes| {
                taken = Plain::read(bytes, self.bounds, &mut take).unwrap_or(Taken::Declined);
                if !matches!(taken, Taken::Json(_)) {
                    ahead = Bytes::copy_from_slice(bytes);
                }
            });
            let Ok(1..) = ready!(read) else {
                return Poll::Ready(End::Over);
            };
            match taken {
                Taken::Json(body) => self.answer(io, body, cx),
                Taken::Declined => {
                    io.unread(ahead);
                    return Poll::Ready(End::Others);
                }
                Taken::Begun(future) => {
                    begun.set(Some(future));
                    io.unread(ahead);
                    return Poll::Ready(End::Others);
                }
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    fn answer(&mut self, io: &mut Io, body: Vec<u8>, cx: &mut Context<'_>) {
        self.turn.set(CALLED);
        let mut space = [0; HEAD];
        let head = head(&mut space, body.len());
        let pieces = [IoSlice::new(head), IoSlice::new(&body)];
        let written = match Pin::new(io).poll_write_vectored(cx, &pieces) {
            Poll::Ready(Ok(written)) => written,
            // If it has failed it fails again.
            Poll::Ready(Err(_)) | Poll::Pending => 0,
        };
        if let Some(written) = written.checked_sub(head.len()) {
            self.out = body;
            self.written = written;
        } else {
            self.out = [head, &body].concat();
            self.written = written;
        }
    }
}

/// More than a head takes.
const HEAD: usize = 160;

/// As hyper writes it.
fn head(space: &mut [u8; HEAD], length: usize) -> &[u8] {
    const BEFORE: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ";
    let mut free = &mut space[..];
    // There is room for it.
    let _ = free.write_all(BEFORE);
    let _ = write!(free, "{length}");
    let _ = free.write_all(b"\r\ndate: ");
    let _ = free.write_all(&date());
    let _ = free.write_all(b"\r\n\r\n");
    let left = free.len();
    &space[..HEAD - left]
}

/// Now, for the header `Date`; put together once in a second.
fn date() -> [u8; 29] {
    thread_local! {
        static LAST: Cell<(u64, [u8; 29])> = const { Cell::new((0, *b"Thu, 01 Jan 1970 00:00:00 GMT")) };
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.map_or(0, |since| since.as_secs());
    let (at, mut date) = LAST.get();
    if at != now {
        let time = httpdate::HttpDate::from(UNIX_EPOCH + Duration::from_secs(now));
        // That is how long they all are.
        let _ = write!(&mut date[..], "{time}");
        LAST.set((now, date));
    }
    date
}
#[cfg(all(test, not(mcp_loom)))]
mod tests;
