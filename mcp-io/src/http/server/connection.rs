//! One connection.

use std::convert::Infallible;
use std::error::Error as StdError;
use std::future::{Future, poll_fn};
use std::io::IoSlice;
use std::pin::Pin;
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use async_channel::Receiver;
use async_io::Timer;
use bytes::Bytes;
use futures_lite::{Stream, future};
use http::{Request, Response};
use http_body::Body;
use hyper::body::Incoming;
use hyper::rt::Write;
use hyper::server::conn::http1::Builder;
use tower_service::Service;
use tracing::debug;

use super::Options;
use super::body::Place;
use super::exchange::Exchanges;
use super::io::Io;
use super::options::MAX_HEADERS;
use super::parked::{self, Parked};
use super::plain::Bounds;
use super::slots::Slot;
use super::socket::Socket;
use super::straight::{self, Lane, Take};
use super::turn::{BODY, BUSY, LINGERING, MORE, PARKING, Turn};
use super::watch::{End, LINGER, Watch};

/// How much of a response waits for the socket before its body is asked for more, and how much of a request's body is
/// read at a time.
const BUFFER: usize = 64 << 10;

const REFUSAL: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";

/// What the connections of a server have in common.
#[derive(Debug)]
pub(super) struct Settings {
    http: Builder,
    pub(super) head_timeout: Duration,
    pub(super) idle_timeout: Duration,
    pub(super) write_timeout: Duration,
    plain: Bounds,
    stopped: Receiver<Infallible>,
}

impl Settings {
    /// `stopped` is closed when the shutdown begins.
    pub(super) fn new(options: &Options, stopped: Receiver<Infallible>) -> Self {
        let mut http = Builder::new();
        // Its timer is made anew for each request; ours, which knows idle connections too, once per connection.
        http.header_read_timeout(None)
            // It would read while the service works to see whether the client has left, for which it takes another buffer.
            // `Peer` knows.
            .half_close(true)
            .max_header_size(options.max_head)
            .max_buf_size(options.max_head.max(BUFFER));
        if options.max_headers != MAX_HEADERS {
            http.max_headers(options.max_headers);
        }
        Self {
            http,
            head_timeout: options.head_timeout,
            idle_timeout: options.idle_timeout,
            write_timeout: options.write_timeout,
            plain: Bounds {
                head: options.max_head,
                headers: options.max_headers,
            },
            stopped,
        }
    }
}

/// Serves the requests of one connection until either side ends it; by `take`, if there is one, as long as it can.
pub(super) async fn serve<S, B>(
    socket: Socket,
    service: S,
    take: Option<Take<S>>,
    settings: Arc<Settings>,
    slot: Slot,
) where
    S: Clone + Service<Request<Incoming>, Response = Response<B>, Error = Infallible>,
    B: Body<Data = Bytes> + 'static,
    B::Error: Into<Box<dyn StdError + Send + Sync>>,
{
    let turn = Arc::new(Turn::default());
    let place = Arc::new(Place::default());
    let mut exchanges = Exchanges::new(service, Arc::clone(&turn), Arc::clone(&place));
    let peer = socket.peer();
    let mut io = Io::new(socket, Arc::clone(&turn));
    let mut stopped = Stopped::new(settings.stopped.clone());
    let mut watch = Watch::new(&settings, &turn);
    if let Some(take) = take {
        let mut lane = Lane::new(&turn, settings.plain);
        let end = poll_fn(|cx| {
            let mut polled = exchanges.poll_straight(&mut lane, take, &mut io, cx);
            // After it has seen what had come: that is answered.
            if polled.is_pending() && stopped.poll(cx).is_ready() {
                io.look_again();
                polled = exchanges.poll_straight(&mut lane, take, &mut io, cx);
                lane.stopping = true;
            }
            if polled.is_pending() && lane.stopping {
                polled = exchanges.poll_straight(&mut lane, take, &mut io, cx);
            }
            if let Poll::Ready(end) = polled {
                return Poll::Ready(end);
            }
            match watch.poll(cx) {
                Poll::Ready(end) => {
                    debug!(?end, "connection closed");
                    Poll::Ready(straight::End::Over)
                }
                Poll::Pending => Poll::Pending,
            }
        })
        .await;
        if end == straight::End::Over {
            return;
        }
    }
    loop {
        let mut http = settings.http.serve_connection(io, exchanges);
        if stopped.receiver.is_none() {
            Pin::new(&mut http).graceful_shutdown();
        }
        let end = poll_fn(|cx| {
            let mut polled = Pin::new(&mut http).poll(cx);
            // After it has seen the request that it was given, if it was: that one is served.
            if polled.is_pending() && stopped.poll(cx).is_ready() {
                Pin::new(&mut http).graceful_shutdown();
                polled = Pin::new(&mut http).poll(cx);
            }
            if let Poll::Ready(end) = polled {
                if let Err(error) = end {
                    debug!(?error, "connection failed");
                }
                return Poll::Ready(End::Over);
            }
            // Whoever sends a body and closes their half has not left before the body is read.
            let sends = turn.is(BODY) && turn.is(MORE);
            if turn.is(BUSY) && !sends && peer.poll_left(cx).is_ready() {
                debug!("the client has left");
                return Poll::Ready(End::Over);
            }
            watch.poll(cx)
        })
        .await;
        match end {
            End::Over => break,
            End::Late(late) => {
                debug!(late, "connection closed");
                break;
            }
            End::Quiet => {}
        }

        // The request was read, or else it was not to be marked as one whose response can be parked.
        turn.change(PARKING, BODY);
        let parts = http.into_parts();
        turn.clear(PARKING);
        (io, exchanges) = (parts.io, parts.service);
        io.unread(parts.read_buf);
        let kept = place.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(kept) = kept else { break };
        let mut parked = Parked::new(kept);
        let end = poll_fn(|cx| {
            let _ = stopped.poll(cx);
            if let Poll::Ready(end) = parked.poll(&mut io, &peer, cx) {
                return Poll::Ready(end);
            }
            watch.poll_parked(cx)
        })
        .await;
        if end == parked::End::Broken {
            debug!("connection ended with its response");
            break;
        }
        // Ends the service's turn.
        drop(parked);
    }
    drop(slot);
}

/// The shutdown, as a connection hears of it.
struct Stopped {
    receiver: Option<Pin<Box<Receiver<Infallible>>>>,
    /// The task's waker is known, which stays the same.
    heard: bool,
}

impl Stopped {
    fn new(receiver: Receiver<Infallible>) -> Self {
        Self {
            receiver: Some(Box::pin(receiver)),
            heard: false,
        }
    }

    /// Ready once, when the shutdown begins.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(receiver) = &mut self.receiver else {
            return Poll::Pending;
        };
        if self.heard && !receiver.is_closed() {
            return Poll::Pending;
        }
        self.heard = true;
        let _closed = ready!(receiver.as_mut().poll_next(cx));
        self.receiver = None;
        Poll::Ready(())
    }
}

/// Tells a client that there are too many.
pub(super) async fn refuse(socket: Socket, slot: Slot) {
    let turn = Arc::new(Turn::default());
    turn.set(LINGERING);
    let mut io = Io::new(socket, turn);
    let said = async {
        // A fresh socket takes this much at once, and one that does not is not worth more.
        let refusal = [IoSlice::new(REFUSAL)];
        let _ = poll_fn(|cx| Pin::new(&mut io).poll_write_vectored(cx, &refusal)).await;
        let _ = poll_fn(|cx| Pin::new(&mut io).poll_shutdown(cx)).await;
    };
    future::or(said, async {
        Timer::after(LINGER).await;
    })
    .await;
    drop(slot);
}
