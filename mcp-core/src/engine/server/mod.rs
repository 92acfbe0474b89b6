//! The server's state machine: messages in, answers and calls out. Knows no socket, no framing, no clock.

mod answer;
mod batch;
mod catalog;
mod era;
mod extension;
mod incoming;
mod listen;
mod logging;
mod message;
mod outgoing;
mod refusal;
mod request;
mod serve;
mod subscriptions;
#[cfg(test)]
mod tests;

#[cfg(feature = "alloc")]
use alloc::boxed::Box;
#[cfg(feature = "alloc")]
use alloc::sync::Arc;
use core::fmt;
use core::ops::Deref;

pub use super::call::{CallKey, ReplyToken};
pub use super::pending::RequestKey;
pub use answer::InputError;
pub use batch::Batch;
pub use catalog::{Cacheable, CatalogBuilder, Offering};
#[cfg(feature = "alloc")]
pub use catalog::{Catalog, CatalogError};
pub use extension::{Declared, Extension, ExtensionMethod, ExtensionResult};
pub use incoming::{
    Answer, Call, CallRequest, CompletionTarget, ExtensionNotification, Incoming, ResourceTarget,
};
pub use listen::Listening;
pub use message::Message;
pub use outgoing::RequestError;
pub use subscriptions::Change;

pub use crate::model::{CacheHint, CacheScope};

use super::call::Calls;
use super::memory::{Memory, Standard};
use super::pending::{Lookup, Pending};
pub(in crate::engine) use batch::BatchKey;
use batch::Batches;
use era::{Session, Terms};
use refusal::{refuse, refuse_unread};
use serve::Stop;
use subscriptions::Subscriptions;

use crate::error::{EnvelopeFault, PeerFault, SendError};
use crate::json::{RawJson, Sink};
use crate::limits::Limits;
use crate::model::{ClientCapabilities, LoggingLevel, ProtocolVersion};
use crate::rpc::{Envelope, Malformed};

/// One server talking to one peer.
///
/// # Contract
///
/// 1. [`receive`](Self::receive) takes one whole message. It answers by itself what needs no handler: the handshake,
///    `ping`, discovery, the lists, levels and subscriptions, and everything that is wrong. What is to be done comes back
///    as [`Incoming::Call`], to be answered by [`reply`](Self::reply), [`fail`](Self::fail),
///    [`not_found`](Self::not_found), [`missing_capability`](Self::missing_capability) or
///    [`require_input`](Self::require_input): exactly once, because the token is consumed.
/// 2. Each method appends at most one whole message to `out`, as compact JSON without a line end, or leaves `out` as it
///    was; two are written where a subscription ends. Where messages end, the [`Sink`] is told:
///    [`Lines`](crate::frame::Lines) makes lines of them.
/// 3. A message that comes back borrows the bytes, not the engine: it stays usable while the engine is commanded.
/// 4. No call copies input bytes, but for ids, progress tokens and the URIs of subscriptions. No call allocates in steady
///    state, except through `out`, tables growing to their limits, subscriptions, URIs that are matched with templates,
///    ids of more than 38 bytes or with escapes, and names and URIs with escapes.
/// 5. The same construction and the same calls give the same outputs, byte for byte.
/// 6. A peer's input cannot make it panic. Memory is bounded by [`Limits`].
///
/// # Memory
///
/// `M` is where it keeps what it remembers. If nothing else is said, in tables that grow to their limits; in
/// [`Fixed`](super::Fixed) memory nothing is allocated, and an engine is made by [`with_memory`](Self::with_memory). See the
/// [guide](crate::guide).
///
/// # What it does not do
///
/// What belongs to an [`Extension`] is handed over, and so are the tasks of 2025-11-25: without one that claims them,
/// `tasks/*` is answered as an unknown method, no capability is declared, and a call that asks to be run as a task is run as
/// a call. No argument is checked against a schema. Nobody is timed out: the
/// engine has no clock.
pub struct ServerEngine<M: Memory = Standard> {
    catalog: M::Catalog,
    limits: Limits,
    /// Nothing of an earlier request counts: there are no sessions.
    stateless: bool,
    session: Option<Session>,
    calls: Calls<M>,
    batches: Batches<M>,
    subscriptions: Subscriptions<M>,
    /// Requests of ours that are not answered.
    requests: Pending<(), M>,
    /// `extensions` as the client of a session declared them.
    #[cfg(feature = "alloc")]
    client_extensions: Option<Box<str>>,
}

/// What is remembered of a request besides what it takes to answer it.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::engine) struct Served {
    kind: ServedKind,
    capabilities: ClientCapabilities,
    log_level: Option<LoggingLevel>,
    /// Whether it brought answers to what was asked before.
    retried: bool,
}

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum ServedKind {
    #[default]
    Tool,
    Resource,
    Prompt,
    Complete,
    /// `subscriptions/listen`: answered when the server ends it.
    Listen,
    /// A method of an extension.
    Extension,
}

impl Served {
    const fn new(kind: ServedKind, terms: &Terms) -> Self {
        Self {
            kind,
            capabilities: terms.capabilities,
            log_level: terms.log_level,
            retried: false,
        }
    }
}

#[cfg(feature = "alloc")]
impl ServerEngine {
    /// An engine for one peer, whose tables grow to their limits. `seed` should be unpredictable to the peer: it chooses
    /// the ids that are looked up here.
    #[must_use]
    pub fn new(catalog: Arc<Catalog>, limits: Limits, seed: u64) -> Self {
        Self::with_memory(catalog, limits, seed)
    }

    /// The same for requests of the modern era only, which stand for themselves: `initialize` does not exist. An HTTP
    /// exchange without a session is served so.
    #[must_use]
    pub fn stateless(catalog: Arc<Catalog>, limits: Limits, seed: u64) -> Self {
        Self::stateless_with_memory(catalog, limits, seed)
    }
}

impl<M: Memory> fmt::Debug for ServerEngine<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerEngine")
            .field("catalog", &self.catalog)
            .field("limits", &self.limits)
            .field("stateless", &self.stateless)
            .field("session", &self.session)
            .field("calls", &self.calls)
            .field("requests", &self.requests)
            .finish_non_exhaustive()
    }
}

impl<M: Memory> ServerEngine<M> {
    /// An engine for one peer, in the memory of its type. `seed` should be unpredictable to the peer: it chooses the ids
    /// that are looked up here. The limits are lowered to what there is room for.
    #[must_use]
    pub fn with_memory(catalog: M::Catalog, limits: Limits, seed: u64) -> Self {
        let limits = M::bound(limits);
        Self {
            catalog,
            limits,
            stateless: false,
            session: None,
            calls: Calls::new(seed),
            batches: Batches::default(),
            subscriptions: Subscriptions::new(seed),
            requests: Pending::with_memory(limits.max_pending, seed),
            #[cfg(feature = "alloc")]
            client_extensions: None,
        }
    }

    /// The same for requests of the modern era only, which stand for themselves: `initialize` does not exist. An HTTP
    /// exchange without a session is served so.
    #[must_use]
    pub fn stateless_with_memory(catalog: M::Catalog, limits: Limits, seed: u64) -> Self {
        Self {
            stateless: true,
            ..Self::with_memory(catalog, limits, seed)
        }
    }

    /// What this server offers.
    #[must_use]
    pub fn catalog(&self) -> &<M::Catalog as Deref>::Target {
        &self.catalog
    }

    /// The bounds it works within.
    #[must_use]
    pub const fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Offers something else from now on. Who is to be told that a list is another one is told by
    /// [`announce`](Self::announce); positions in the lists, and cursors, are those of the new catalog.
    ///
    /// A session keeps what it was told at its beginning: what was not declared then is not used by a client, so catalogs
    /// that follow each other declare the same.
    pub fn set_catalog(&mut self, catalog: M::Catalog) {
        self.catalog = catalog;
    }

    /// How many calls are handed over and not answered.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.calls.len() - self.subscriptions.listens()
    }

    /// How many `subscriptions/listen` are open.
    #[must_use]
    pub fn subscriptions(&self) -> usize {
        self.subscriptions.listens()
    }

    /// The version that `initialize` settled; `None` before that, and for peers that are modern throughout.
    #[must_use]
    pub fn session_version(&self) -> Option<ProtocolVersion> {
        self.session.map(|session| session.version)
    }

    /// `extensions` as the client of a session declared them at its beginning: an object, if the catalog has any itself. A
    /// modern client declares them on each request.
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn session_extensions(&self) -> Option<RawJson<'_>> {
        self.client_extensions.as_deref().map(RawJson::new)
    }

    /// Takes one message: one JSON text, without framing.
    pub fn receive<'b, S: Sink + ?Sized>(
        &mut self,
        message: &'b [u8],
        out: &mut S,
    ) -> Incoming<'b> {
        if message.len() > self.limits.max_message {
            return self.too_long(message, out);
        }
        let incoming = self.single(message, None, out);
        self.settle(incoming, out)
    }

    /// The same for a message that was [read](Message::read) before.
    pub fn take<'b, S: Sink + ?Sized>(
        &mut self,
        message: &Message<'b>,
        out: &mut S,
    ) -> Incoming<'b> {
        let Message {
            bytes,
            envelope,
            params,
        } = message;
        let incoming = self.message(bytes, envelope, params, None, out);
        self.settle(incoming, out)
    }

    /// Refuses a request for what its transport found wrong with it; nothing of it is served. What is no request is not
    /// answered (RPC-12).
    pub fn refuse<'b, S: Sink + ?Sized>(
        &self,
        message: &Message<'b>,
        fault: PeerFault,
        out: &mut S,
    ) -> Incoming<'b> {
        let Ok(Envelope::Request(request)) = &message.envelope else {
            return Incoming::Rejected(fault);
        };
        let about = Some((request, &message.params, &*self.catalog));
        refuse(out, Some(request.id), fault, about)
    }

    /// Takes the next message of a batch; `None` when there are no more. Until then no answer of the batch leaves.
    ///
    /// A message that is refused in a batch is the peer's fault like any other. `initialize` and batches do not belong
    /// there (BAT-03), nor do requests of the modern era, which has no batches.
    pub fn next_in_batch<'b, S: Sink + ?Sized>(
        &mut self,
        batch: &mut Batch<'b>,
        out: &mut S,
    ) -> Option<Incoming<'b>> {
        if !M::BATCHES {
            return None;
        }
        let key = batch.key?;
        let before = batch.messages.clone();
        let Some(message) = batch.messages.next() else {
            if self.batches.settle(key, out).is_err() {
                return Some(Incoming::Blocked);
            }
            batch.key = None;
            return None;
        };
        // Taken out, so that the engine and the answers can be written to at once.
        let mut batches = core::mem::take(&mut self.batches);
        let incoming = batches.gather(key, |answers| {
            self.single(message.as_bytes(), Some(key), answers)
        });
        self.batches = batches;
        if matches!(incoming, Incoming::Call(_)) {
            self.batches.expect(key);
        }
        let incoming = self.settle(incoming, out);
        if matches!(incoming, Incoming::Blocked) {
            // It comes again.
            batch.messages = before;
        }
        Some(incoming)
    }

    fn open_batch<'b>(&mut self, message: &'b [u8]) -> Result<Batch<'b>, PeerFault> {
        if !M::BATCHES {
            return Err(EnvelopeFault::LongBatch { limit: 0 }.into());
        }
        let message = RawJson::parse_with_depth(message, self.limits.max_depth);
        let messages = message.map_err(PeerFault::Json)?.as_array();
        let messages = messages.ok_or(EnvelopeFault::Batch)?;
        let limit = self.limits.max_batch;
        if messages.clone().next().is_none() {
            return Err(EnvelopeFault::EmptyBatch.into());
        }
        if messages.clone().nth(limit).is_some() {
            return Err(EnvelopeFault::LongBatch { limit }.into());
        }
        let key = self.batches.open();
        let key = key.ok_or(EnvelopeFault::LongBatch { limit })?;
        Ok(Batch {
            messages,
            key: Some(key),
        })
    }

    /// Refuses a message that the framing has discarded because it was above [`Limits::max_message`]. `start` is its
    /// beginning: if its id stands there, before what makes it long, the answer carries it, and none otherwise (RPC-09).
    pub fn too_long<'b, S: Sink + ?Sized>(&mut self, start: &'b [u8], out: &mut S) -> Incoming<'b> {
        let fault = PeerFault::TooLong {
            limit: self.limits.max_message,
        };
        let beginning = Malformed::beginning(start, fault, &self.limits);
        match beginning.id {
            Some(id) if !beginning.answer_due => match self.requests.find(id) {
                Lookup::Pending(key) => self.answered_wrongly(key),
                Lookup::Over | Lookup::Unknown => Incoming::Rejected(fault),
            },
            id => refuse_unread(out, id, fault),
        }
    }

    /// Forgets the call that a message has cancelled, which is still in the table. If the rest of its batch waited for it
    /// alone, that leaves now.
    fn settle<'b, S: Sink + ?Sized>(
        &mut self,
        incoming: Incoming<'b>,
        out: &mut S,
    ) -> Incoming<'b> {
        let Incoming::Cancelled(key) = incoming else {
            return incoming;
        };
        match self.abandon(key, out) {
            Err(SendError::Full(())) => Incoming::Blocked,
            Ok(()) | Err(SendError::Stale) => Incoming::Cancelled(key),
        }
    }
}
