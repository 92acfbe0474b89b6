//! The client's state machine: calls and time in, messages out; messages in, answers out. Knows no socket, no framing and
//! no clock.

mod asked;
mod batch;
mod config;
mod connect;
mod detect;
mod error;
mod notification;
mod receive;
mod request;
mod server;
#[cfg(test)]
mod tests;
mod unanswered;

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::time::Duration;

pub use super::call::{CallKey, ReplyToken};
pub use super::pending::RequestKey;
pub use asked::{ServerRequest, ServerRequestKind};
pub use batch::Batch;
pub use config::{ClientConfig, EraMode};
pub use error::{CallError, ConnectError};
pub use notification::{NotificationKind, ServerNotification};
pub(crate) use receive::number;
pub use receive::{Incoming, Outcome, RemoteError};
pub use request::CallOptions;
pub use server::ServerInfo;
pub use unanswered::Unanswered;

use super::call::Calls;
use super::pending::Pending;
use connect::Connecting;
use server::RequestKind;

use crate::error::SendError;
use crate::json::{Full, Sink};
use crate::limits::Limits;
use crate::model::{ClientCapabilities, Era, ProtocolVersion};
use crate::rpc::write_notification;
use crate::time::Instant;

/// One client talking to one server.
///
/// ```text
///  Idle --connect--> Connecting --receive, handle_timeout--> Ready --lost--> Over
///                        |                                                    ^
///                        +---------------- failed, lost ----------------------+
/// ```
///
/// # Contract
///
/// 1. [`connect`](Self::connect) begins, [`receive`](Self::receive) takes one whole message. The engine finds out the
///    server's era and version by itself, and answers by itself what needs nobody: `ping`, and all that is wrong.
/// 2. Time is an argument. When [`poll_timeout`](Self::poll_timeout) says so, or later, [`handle_timeout`](Self::handle_timeout)
///    is due; what comes of it, and of [`lost`](Self::lost), is in [`poll_event`](Self::poll_event).
/// 3. Every [`call`](Self::call) ends exactly once: with an [`Incoming::Answer`], an [`Event::TimedOut`], an
///    [`Event::Closed`], or because it was [cancelled](Self::cancel). Its key is stale from then on. Its place may be used
///    again, so events are to be polled before the next call.
/// 4. Each method appends at most one whole message to `out`, or leaves it as it was; [`handle_timeout`](Self::handle_timeout)
///    alone may append several. Framing is the caller's; [`binding`](crate::binding) has it for stdio.
/// 5. A message that comes back borrows the bytes, not the engine: it stays usable while the engine is commanded.
/// 6. The same construction and the same calls give the same outputs, byte for byte.
/// 7. A peer's input cannot make it panic. Memory is bounded by [`Limits`], and by the largest params that were sent.
#[derive(Debug)]
pub struct ClientEngine {
    config: ClientConfig,
    limits: Limits,
    seed: u64,
    phase: Phase,
    pending: Pending<Entry>,
    /// Requests of the server's that wait for an answer of ours.
    calls: Calls,
    events: VecDeque<Event>,
    counters: Counters,
    /// The members of `_meta` that every modern request has, without braces.
    meta: Box<str>,
    /// Params while they are looked through for `_meta`.
    scratch: Vec<u8>,
    /// The request that the message at hand came as the answer to, as far as its transport knows.
    answering: Option<u64>,
}

#[derive(Debug)]
enum Phase {
    Idle,
    Connecting(Connecting),
    Ready(Box<ServerInfo>),
    Over,
}

/// What is remembered of a request that is pending.
#[derive(Clone, Copy, Debug)]
struct Entry {
    kind: RequestKind,
    wants_progress: bool,
    /// How long it may go without progress.
    timeout: Duration,
    /// When it ends in any case.
    ceiling: Instant,
    /// The last progress: the next one has to be more (PRG-03).
    progress: f64,
}

impl Entry {
    /// When it ends if nothing comes; `None` if it may wait for ever.
    fn deadline(&self, now: Instant) -> Option<Instant> {
        let at = (now + self.timeout).min(self.ceiling);
        (at < FOREVER).then_some(at)
    }
}

const FOREVER: Instant = Instant::from_micros(u64::MAX);

/// What happened other than by a message.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// Connected, with nothing to wait for: see [`ClientConfig::discover`].
    Connected,
    /// There is no connection, and there will be none.
    ConnectFailed(ConnectError),
    /// The call was not answered in time. The server has been told.
    #[non_exhaustive]
    TimedOut {
        /// Which call.
        key: RequestKey,
        /// Whether it ran into [`max_total`](ClientConfig::max_total), and not into silence.
        total: bool,
    },
    /// The connection ended before the call was answered. Whether it was carried out is unknown.
    Closed(RequestKey),
}

/// What was not as it should be, counted since the beginning.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Counters {
    /// Answers to requests that were over: answered before, cancelled, or out of time.
    pub late: u64,
    /// Answers to nothing that was ever asked.
    pub unknown: u64,
    /// Answers that were found only because their id, a string, was read as the number in it.
    pub mistyped: u64,
    /// Messages that broke a rule, those answers included that failed a call.
    pub rejected: u64,
    /// Notifications about nothing: progress that was not asked for or is no more than before, and those of subscriptions
    /// that are over.
    pub dropped: u64,
}

impl ClientEngine {
    /// A client that is not connected. `seed` should be unpredictable to the server: it chooses the ids of its requests.
    #[must_use]
    pub fn new(config: ClientConfig, limits: Limits, seed: u64) -> Self {
        Self {
            config,
            limits,
            seed,
            phase: Phase::Idle,
            // Without room for one there would be no connecting.
            pending: Pending::new(limits.max_pending.max(1), seed),
            calls: Calls::new(seed),
            events: VecDeque::new(),
            counters: Counters::default(),
            meta: Box::default(),
            scratch: Vec::new(),
            answering: None,
        }
    }

    /// The bounds it works within.
    #[must_use]
    pub const fn limits(&self) -> &Limits {
        &self.limits
    }

    /// What it is made of.
    #[must_use]
    pub const fn config(&self) -> &ClientConfig {
        &self.config
    }

    /// What was not as it should be.
    #[must_use]
    pub const fn counters(&self) -> &Counters {
        &self.counters
    }

    /// The server; `None` before the client is connected and after it was.
    #[must_use]
    pub fn server(&self) -> Option<&ServerInfo> {
        match &self.phase {
            Phase::Ready(server) => Some(server),
            Phase::Idle | Phase::Connecting(_) | Phase::Over => None,
        }
    }

    /// The version that is spoken. Worth keeping with what is known of the server, for
    /// [`known_version`](ClientConfig::known_version) (VER-07).
    #[must_use]
    pub fn version(&self) -> Option<ProtocolVersion> {
        self.server().map(|server| server.revision)
    }

    /// How many requests are pending, those for connecting included.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.pending.len()
    }

    /// When [`handle_timeout`](Self::handle_timeout) is due; `None` if nothing waits. It may turn out that nothing has
    /// happened yet.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.pending.next_deadline()
    }

    /// What has happened other than by a message; `None` if nothing more has.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Ends what has waited too long: calls are cancelled and become [`Event::TimedOut`]; if the server was silent while
    /// connecting, the next thing is tried. May append several messages.
    ///
    /// # Errors
    ///
    /// There is no room for all of them. What was done is done; call again for the rest.
    pub fn handle_timeout<S: Sink + ?Sized>(
        &mut self,
        now: Instant,
        out: &mut S,
    ) -> Result<(), Full> {
        while let Some(key) = self.pending.expired(now) {
            let Some(&Entry { kind, ceiling, .. }) = self.pending.get(key) else {
                break;
            };
            if kind == RequestKind::Connecting {
                self.connect_timed_out(now, out)?;
                continue;
            }
            self.write_cancelled(key, Some("timeout"), out)?;
            self.pending.remove(key);
            let total = ceiling <= now;
            self.events.push_back(Event::TimedOut { key, total });
        }
        Ok(())
    }

    /// Gives up a call: the server is told, and its answer is dropped if it still comes (CAN-05). So a subscription is
    /// ended, too (SUB-10).
    ///
    /// # Errors
    ///
    /// The call is over, or there is no room.
    pub fn cancel<S: Sink + ?Sized>(
        &mut self,
        key: RequestKey,
        reason: Option<&str>,
        out: &mut S,
    ) -> Result<(), SendError<()>> {
        // INIT-12: the engine's own requests are nobody's to cancel.
        if self
            .pending
            .get(key)
            .is_none_or(|entry| entry.kind == RequestKind::Connecting)
        {
            return Err(SendError::Stale);
        }
        self.write_cancelled(key, reason, out)
            .map_err(|Full| SendError::Full(()))?;
        self.pending.remove(key);
        Ok(())
    }

    fn write_cancelled<S: Sink + ?Sized>(
        &self,
        key: RequestKey,
        reason: Option<&str>,
        out: &mut S,
    ) -> Result<(), Full> {
        let Some(id) = self.pending.id(key) else {
            return Ok(());
        };
        write_notification(out, "notifications/cancelled", |json| {
            json.begin_object();
            json.key("requestId");
            json.unsigned(id);
            if let Some(reason) = reason {
                json.key("reason");
                json.string(reason);
            }
            json.end_object();
        })
    }

    /// Tells the server that the roots are others now, if it can be told: only servers of the legacy era take this
    /// (ROOT-04), and only if it was declared. Says whether anything was written.
    ///
    /// # Errors
    ///
    /// There is no room.
    pub fn roots_changed<S: Sink + ?Sized>(&mut self, out: &mut S) -> Result<bool, Full> {
        let legacy = self
            .server()
            .is_some_and(|server| server.era() == Era::Legacy);
        if !legacy
            || !self
                .config
                .capabilities
                .contains(ClientCapabilities::ROOTS_LIST_CHANGED)
        {
            return Ok(false);
        }
        write_notification(out, "notifications/roots/list_changed", |json| {
            json.begin_object();
            json.end_object();
        })?;
        Ok(true)
    }

    /// The connection has ended: there is an [`Event::Closed`] for each call that is pending, and an
    /// [`Event::ConnectFailed`] if the client was still connecting. Requests of the server's are forgotten. Whoever connects
    /// again makes a new engine.
    pub fn lost(&mut self) {
        if let Phase::Connecting(connecting) = &self.phase {
            let error = connecting.closed();
            self.events.push_back(Event::ConnectFailed(error));
        }
        self.phase = Phase::Over;
        let mut from = 0;
        while let Some(key) = self.pending.first_from(from) {
            from = key.index() + 1;
            if let Some(Entry { kind, .. }) = self.pending.remove(key)
                && kind != RequestKind::Connecting
            {
                self.events.push_back(Event::Closed(key));
            }
        }
        // With another seed, so that tokens from before do not fit.
        self.seed = self.seed.wrapping_add(1);
        self.calls = Calls::new(self.seed);
    }
}
