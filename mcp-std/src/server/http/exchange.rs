//! One modern request over HTTP: an engine of its own, taken from a pool, and the reply that it writes.

use core::fmt;
use core::task::{Context, Poll};
use core::time::Duration;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;

use async_io::Timer;
use bytes::Bytes;
use futures_lite::Stream as _;
use mcp_core::binding::http::{Accepts, MISSING_CAPABILITY, Output, Reply, check_mirrors, status};
use mcp_core::engine::CallKey;
use mcp_core::engine::server::{Incoming, Message, ServerEngine};
use mcp_core::model::Era;
use mcp_core::rpc::write_error;

use super::endpoint::Endpoint;
use crate::entropy;
use crate::server::connection::{Connection, Outlets};
use crate::server::handler::Shared;
use crate::server::principal::Principal;

/// Notes that the handlers of one request may have waiting for its client to read.
const NOTES: usize = 16;

/// As good as never, and no time overflows by it.
const NEVER: Duration = Duration::from_secs(60 * 60 * 24 * 365);

/// So many bytes, and one message, may wait for the client before its handlers do. hyper holds up to 64 KiB besides, and one
/// frame, which is all that has waited here: a client that does not read costs the sum of it.
const HIGH_WATER: usize = 16 * 1024;

/// An engine without sessions, and the handlers of one request at a time.
pub(super) type Lane = Box<Connection<Shared, ServerEngine>>;

pub(super) fn lane(endpoint: &Endpoint) -> Lane {
    let hub = endpoint.server.hub.clone();
    let limits = hub.settings.limits;
    Box::new(Connection::new(hub, NOTES, |offer| {
        ServerEngine::stateless(offer.catalog.clone(), limits, entropy::seed())
    }))
}

/// A request that was begun to be served.
pub(super) enum Begun {
    /// Its answer was there at once.
    Ended(Output),
    /// It goes on, or what there is to be said of it is a stream.
    Going(Box<Exchange>),
}

/// A request that is being served. Dropping it before it has ended cancels the request.
pub(super) struct Exchange {
    endpoint: Arc<Endpoint>,
    /// `None` once the answer is given.
    lane: Option<Lane>,
    reply: Reply,
    /// The request, once it is accepted.
    call: Option<CallKey>,
    quiet: Quiet,
    /// The server shuts down, and the streams that would go on for ever have been ended.
    told: bool,
}

impl Exchange {
    /// Takes a message.
    pub(super) fn begin(
        endpoint: &Arc<Endpoint>,
        principal: Option<Principal>,
        head: &mcp_core::binding::http::Head<'_>,
        accepts: Accepts,
        message: &Message<'_>,
    ) -> Begun {
        let mut lane = endpoint.take_lane();
        lane.principal = principal;
        lane.wake_up();
        let (mut reply, mut call) = (Reply::new(accepts), None);
        let engine = lane.engine();
        let incoming = match check_mirrors(head, message, engine.catalog()) {
            Ok(()) => engine.take(message, &mut reply),
            Err(fault) => engine.refuse(message, fault, &mut reply),
        };
        if let Incoming::Rejected(fault) = &incoming {
            reply.set_status(status(*fault, Era::Modern));
            if reply.buffered() == 0 {
                // Nothing answers it, but the HTTP request has to be told that it was refused (HTTP-09). No reply is ever
                // full.
                let _ = write_error(&mut reply, None, fault.code(), fault, |_| {});
            }
        }
        lane.handle(incoming, &mut One(&mut reply, &mut call));
        let lane = settle(endpoint, lane, &mut reply);
        if reply.is_ended() && !reply.is_stream() {
            return Begun::Ended(reply.take());
        }
        Begun::Going(Box::new(Self {
            endpoint: endpoint.clone(),
            lane,
            reply,
            call,
            quiet: Quiet::default(),
            told: false,
        }))
    }

    fn drive(&mut self, cx: &mut Context<'_>) {
        let Some(lane) = &mut self.lane else { return };
        if !self.told && self.endpoint.is_closing() {
            self.told = true;
            lane.end(&mut One(&mut self.reply, &mut self.call));
        }
        let _ = lane.poll(cx, &mut One(&mut self.reply, &mut self.call));
        if let Some(lane) = self.lane.take() {
            self.lane = settle(&self.endpoint, lane, &mut self.reply);
        }
    }

    /// Goes on until it is known what the response is: its status and whether it is a stream.
    pub(super) fn poll_output(&mut self, cx: &mut Context<'_>) -> Poll<Output> {
        loop {
            let output = self.reply.take();
            if output != Output::Undecided {
                return Poll::Ready(output);
            }
            self.drive(cx);
            if self.reply.is_ended() || self.reply.is_stream() {
                continue;
            }
            core::task::ready!(self.quiet.poll(cx, self.endpoint.head_after()));
            // A client that waits for the head of the response is shown that somebody is there.
            self.reply.begin_stream();
            self.reply.keep_alive();
        }
    }

    /// The next events. `None`: there are no more.
    pub(super) fn poll_events(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        loop {
            match self.reply.take() {
                Output::Events(events) if !events.is_empty() => {
                    self.quiet.reset();
                    return Poll::Ready(Some(events.into()));
                }
                Output::End => return Poll::Ready(None),
                Output::Json { body, .. } => return Poll::Ready(Some(body.into())),
                Output::Undecided | Output::Accepted | Output::Events(_) | _ => {}
            }
            self.drive(cx);
            if self.reply.is_ended() || self.reply.buffered() > 0 {
                continue;
            }
            core::task::ready!(self.quiet.poll(cx, self.endpoint.keep_alive));
            self.reply.keep_alive();
        }
    }
}

/// Gives back the engine if nothing is left to be answered, else sees to it that what was said so far leaves.
fn settle(endpoint: &Endpoint, mut lane: Lane, reply: &mut Reply) -> Option<Lane> {
    let engine = lane.engine();
    if engine.in_flight() == 0 && engine.subscriptions() == 0 {
        reply.end();
        endpoint.give_back(lane);
        return None;
    }
    if reply.has_more_than_answer() {
        reply.begin_stream();
    }
    Some(lane)
}

impl fmt::Debug for Exchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exchange")
            .field("reply", &self.reply)
            .finish_non_exhaustive()
    }
}

/// The time a stream has been quiet.
#[derive(Debug, Default)]
pub(super) struct Quiet {
    /// Of the last thing said; `None` until somebody waits.
    since: Option<Instant>,
    timer: Option<Timer>,
}

impl Quiet {
    pub(super) const fn reset(&mut self) {
        self.since = None;
    }

    /// Ready: it is time to say something. Then it begins again.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>, keep_alive: Duration) -> Poll<()> {
        let since = *self.since.get_or_insert_with(Instant::now);
        let at = since.checked_add(keep_alive).unwrap_or(since + NEVER);
        // Left running when something is said: that is cheaper than to set it anew for each message.
        let timer = self.timer.get_or_insert_with(|| Timer::at(at));
        loop {
            core::task::ready!(Pin::new(&mut *timer).poll_next(cx));
            if Instant::now() >= at {
                self.since = None;
                timer.set_after(keep_alive.min(NEVER));
                return Poll::Ready(());
            }
            timer.set_at(at);
        }
    }
}

/// All that is said about one request goes into its reply.
struct One<'r>(&'r mut Reply, &'r mut Option<CallKey>);

impl One<'_> {
    fn before_answer(&mut self) -> Option<&mut Reply> {
        if !self.0.takes_messages() {
            return None;
        }
        self.0.begin_stream();
        Some(self.0)
    }
}

impl Outlets for One<'_> {
    type Out = Reply;

    fn sender(&mut self) -> &mut Reply {
        self.0
    }

    fn answer(&mut self, _: CallKey) -> &mut Reply {
        self.0
    }

    /// What an earlier request has left behind has no way here.
    fn about(&mut self, key: CallKey) -> Option<&mut Reply> {
        (*self.1 == Some(key)).then_some(())?;
        self.before_answer()
    }

    fn began(&mut self, key: CallKey) {
        *self.1 = Some(key);
    }

    fn unrelated(&mut self) -> Option<&mut Reply> {
        self.before_answer()
    }

    fn is_full(&self) -> bool {
        self.0.buffered() >= HIGH_WATER
    }

    fn lacks_capability(&mut self, _: CallKey) {
        self.0.set_status(MISSING_CAPABILITY);
    }
}
