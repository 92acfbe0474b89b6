//! One connection.

use std::convert::Infallible;
use std::error::Error as StdError;
use std::future::{Future, poll_fn};
use std::io::IoSlice;
use std::pin::{Pin, pin};
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

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
use super::slots::Slot;
use super::socket::Socket;
use super::turn::{
    BLOCKED, BODY, BUSY, CALLED, LINGERING, PARKING, QUIET, RECEIVED, Turn, WRITTEN,
};
use crate::alarm::Alarm;

/// How much of a response waits for the socket before its body is asked for more, and how much of a request's body is
/// read at a time.
const BUFFER: usize = 64 << 10;

/// How long a client may go on sending after all was said.
const LINGER: Duration = Duration::from_secs(2);

const REFUSAL: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";

/// What the connections of a server have in common.
#[derive(Debug)]
pub(super) struct Settings {
    http: Builder,
    head_timeout: Duration,
    idle_timeout: Duration,
    write_timeout: Duration,
    stopped: Receiver<Infallible>,
}

impl Settings {
    /// `stopped` is closed when the shutdown begins.
    pub(super) fn new(options: &Options, stopped: Receiver<Infallible>) -> Self {
        let mut http = Builder::new();
        // Its timer is made anew for each request; ours, which knows idle connections too, once per connection.
        http.header_read_timeout(None)
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
            stopped,
        }
    }
}

/// Serves the requests of one connection until either side ends it.
pub(super) async fn serve<S, B>(socket: Socket, service: S, settings: Arc<Settings>, slot: Slot)
where
    S: Clone + Service<Request<Incoming>, Response = Response<B>, Error = Infallible>,
    B: Body<Data = Bytes> + 'static,
    B::Error: Into<Box<dyn StdError + Send + Sync>>,
{
    let turn = Arc::new(Turn::default());
    let place = Arc::new(Place::default());
    let mut exchanges = Exchanges::new(service, Arc::clone(&turn), Arc::clone(&place));
    let mut io = Io::new(socket, Arc::clone(&turn));
    let mut stopped = pin!(Some(settings.stopped.clone()));
    let mut watch = Watch::new(&settings, &turn);
    loop {
        let mut http = settings.http.serve_connection(io, exchanges);
        if stopped.is_none() {
            Pin::new(&mut http).graceful_shutdown();
        }
        let end = poll_fn(|cx| {
            if poll_stopped(&mut stopped, cx).is_ready() {
                Pin::new(&mut http).graceful_shutdown();
            }
            if let Poll::Ready(end) = Pin::new(&mut http).poll(cx) {
                if let Err(error) = end {
                    debug!(?error, "connection failed");
                }
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
            let _ = poll_stopped(&mut stopped, cx);
            if let Poll::Ready(end) = parked.poll(&mut io, cx) {
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

/// Ready once, when the shutdown begins.
fn poll_stopped(
    stopped: &mut Pin<&mut Option<Receiver<Infallible>>>,
    cx: &mut Context<'_>,
) -> Poll<()> {
    let Some(receiver) = stopped.as_mut().as_pin_mut() else {
        return Poll::Pending;
    };
    let _closed = ready!(receiver.poll_next(cx));
    stopped.set(None);
    Poll::Ready(())
}

/// Why hyper is done with a connection, for now or for good.
enum End {
    /// Either side has ended it.
    Over,
    /// Something has taken too long.
    Late(&'static str),
    /// Its response can be parked.
    Quiet,
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

/// Watches over the time a connection takes.
struct Watch<'connection> {
    settings: &'connection Settings,
    turn: &'connection Turn,
    phase: Phase,
    /// When the client must have read something.
    stalled: Option<Instant>,
    alarm: Alarm,
}

#[derive(Clone, Copy)]
enum Phase {
    /// The head of a request arrives.
    Head(Instant),
    /// The service's turn: it looks at its own clock.
    Busy,
    /// The service's turn, and it has had nothing to say for some time.
    Quiet(Instant),
    Idle(Instant),
    Lingering(Instant),
}

impl<'connection> Watch<'connection> {
    fn new(settings: &'connection Settings, turn: &'connection Turn) -> Self {
        Self {
            settings,
            turn,
            phase: Phase::Head(Instant::now() + settings.head_timeout),
            stalled: None,
            alarm: Alarm::default(),
        }
    }

    /// To be polled after the connection.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<End> {
        self.follow();
        if self.is_stalled(cx) {
            return Poll::Ready(End::Late("the client does not read"));
        }
        let (deadline, end) = match self.phase {
            Phase::Head(deadline) => (deadline, End::Late("the head of a request took too long")),
            Phase::Busy => return Poll::Pending,
            Phase::Quiet(deadline) => (deadline, End::Quiet),
            Phase::Idle(deadline) => (deadline, End::Late("no request came")),
            Phase::Lingering(deadline) => (deadline, End::Late("the client sent on")),
        };
        if self.alarm.is_due(deadline, cx) {
            return Poll::Ready(end);
        }
        Poll::Pending
    }

    /// To be polled after a parked response.
    fn poll_parked(&mut self, cx: &mut Context<'_>) -> Poll<parked::End> {
        // When it has ended the connection is as new.
        self.phase = Phase::Busy;
        if self.is_stalled(cx) {
            return Poll::Ready(parked::End::Broken);
        }
        Poll::Pending
    }

    fn follow(&mut self) {
        if self.turn.is(LINGERING) {
            if !matches!(self.phase, Phase::Lingering(_)) {
                self.phase = Phase::Lingering(Instant::now() + LINGER);
            }
            return;
        }
        let called = self.turn.take(CALLED);
        if self.turn.is(BUSY) {
            // Nothing is left in hyper's buffer then: it was flushed after the body was asked last.
            let quiet = self.turn.is(QUIET) && !self.turn.is(BLOCKED);
            if !quiet {
                self.phase = Phase::Busy;
            } else if called || !matches!(self.phase, Phase::Quiet(_)) {
                self.phase = Phase::Quiet(Instant::now() + parked::QUIET);
            }
            return;
        }
        if called {
            self.phase = Phase::Busy;
        }
        if !self.turn.is(BLOCKED) {
            // The connection goes on after the response, so all of the request was read.
            self.turn.clear(BODY);
        }
        self.phase = match self.phase {
            Phase::Busy | Phase::Quiet(_) | Phase::Idle(_) if self.turn.is(RECEIVED) => {
                Phase::Head(Instant::now() + self.settings.head_timeout)
            }
            Phase::Busy | Phase::Quiet(_) => {
                Phase::Idle(Instant::now() + self.settings.idle_timeout)
            }
            same @ (Phase::Head(_) | Phase::Idle(_) | Phase::Lingering(_)) => same,
        };
    }

    fn is_stalled(&mut self, cx: &mut Context<'_>) -> bool {
        let written = self.turn.take(WRITTEN);
        if !self.turn.is(BLOCKED) {
            self.stalled = None;
        } else if written || self.stalled.is_none() {
            self.stalled = Some(Instant::now() + self.settings.write_timeout);
        }
        self.stalled
            .is_some_and(|deadline| self.alarm.is_due(deadline, cx))
    }
}
