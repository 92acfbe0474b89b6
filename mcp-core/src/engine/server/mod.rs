//! The server's state machine: messages in, answers and calls out. Knows no socket, no framing, no clock.

mod batch;
mod catalog;
mod era;
mod refusal;
#[cfg(test)]
mod tests;

use alloc::sync::Arc;

pub use super::call::{CallKey, ReplyToken};
pub use batch::Batch;
pub use catalog::{CacheHint, CacheScope, Catalog, CatalogError};

use super::call::{Call, Calls};
pub(in crate::engine) use batch::BatchKey;
use batch::Batches;
use era::{Session, Terms};
use refusal::refuse;

use crate::error::{EnvelopeFault, PeerFault, SendError};
use crate::json::{Full, Kind, RawJson, Sink};
use crate::limits::Limits;
use crate::model::{
    CallToolResult, ClientCapabilities, EncodeResult, Method, Params, Progress, ProtocolVersion,
};
use crate::rpc::{
    Envelope, ErrorObject, Malformed, Notification, Request, RequestId, write_error,
    write_notification, write_result,
};

/// One server talking to one peer.
///
/// # Contract
///
/// 1. [`receive`](Self::receive) takes one whole message. It answers by itself what needs no handler: the handshake,
///    `ping`, discovery, the lists, and everything that is wrong. A `tools/call` comes back as [`Incoming::Call`], to be
///    answered by [`reply`](Self::reply) or [`fail`](Self::fail): exactly once, because the token is consumed.
/// 2. Each method appends at most one whole message to `out`, as compact JSON on one line without a line end, or leaves
///    `out` as it was. Framing is the caller's; [`binding`](crate::binding) has it for stdio.
/// 3. A message that comes back borrows the bytes, not the engine: it stays usable while the engine is commanded.
/// 4. No call copies input bytes, but for ids and progress tokens. No call allocates in steady state, except through
///    `out`, tables growing to their limits, ids of more than 38 bytes or with escapes, and tool names with escapes.
/// 5. The same construction and the same calls give the same outputs, byte for byte.
/// 6. A peer's input cannot make it panic. Memory is bounded by [`Limits`].
#[derive(Debug)]
pub struct ServerEngine {
    catalog: Arc<Catalog>,
    limits: Limits,
    session: Option<Session>,
    calls: Calls,
    batches: Batches,
}

/// What came of a message.
#[derive(Debug)]
#[must_use = "a call in it has to be answered"]
#[non_exhaustive]
pub enum Incoming<'b> {
    /// The engine has dealt with it; if an answer was due, it is in the output.
    Handled,
    /// A tool is to be called, and the call answered.
    Call(ToolCall<'b>),
    /// Several messages in one, of a peer of 2025-03-26: take them with
    /// [`next_in_batch`](ServerEngine::next_in_batch) until there are none.
    Batch(Batch<'b>),
    /// The peer no longer wants the answer of this call. Its token is stale; stop the work (CAN-04).
    Cancelled(CallKey),
    /// The peer broke a rule; if an answer was due, it is in the output.
    Rejected(PeerFault),
    /// The output has no room for the answer. Nothing has changed: flush it and offer the same message again.
    Blocked,
}

/// A `tools/call` that was accepted: the tool exists, and the client can do what it requires.
#[derive(Debug)]
#[non_exhaustive]
pub struct ToolCall<'b> {
    /// Answers the call.
    pub token: ReplyToken,
    /// Which tool: its position in the [`Catalog`].
    pub tool: usize,
    /// The arguments, an object; `None` if absent or null. Not checked against the tool's schema.
    pub arguments: Option<RawJson<'b>>,
    /// The version the request is served under.
    pub version: ProtocolVersion,
    /// What the client declared for this request or session.
    pub capabilities: ClientCapabilities,
    /// Whether progress notifications are wanted.
    pub wants_progress: bool,
}

/// Why a message ends here: it was refused, or there was no room for the answer.
enum Stop {
    Fault(PeerFault),
    Full,
}

impl From<PeerFault> for Stop {
    fn from(fault: PeerFault) -> Self {
        Self::Fault(fault)
    }
}

impl From<Full> for Stop {
    fn from(_: Full) -> Self {
        Self::Full
    }
}

impl ServerEngine {
    /// An engine for one peer. `seed` should be unpredictable to it: peers choose the ids that are looked up here.
    #[must_use]
    pub fn new(catalog: Arc<Catalog>, limits: Limits, seed: u64) -> Self {
        Self {
            catalog,
            limits,
            session: None,
            calls: Calls::new(seed),
            batches: Batches::default(),
        }
    }

    /// What this server offers.
    #[must_use]
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// The bounds it works within.
    #[must_use]
    pub const fn limits(&self) -> &Limits {
        &self.limits
    }

    /// How many requests are accepted and not answered.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.calls.len()
    }

    /// The version that `initialize` settled; `None` before that, and for peers that are modern throughout.
    #[must_use]
    pub fn session_version(&self) -> Option<ProtocolVersion> {
        self.session.map(|session| session.version)
    }

    /// Takes one message: one JSON text, without framing.
    pub fn receive<'b, S: Sink + ?Sized>(
        &mut self,
        message: &'b [u8],
        out: &mut S,
    ) -> Incoming<'b> {
        if message.len() > self.limits.max_message {
            return self.too_long(out);
        }
        let incoming = self.single(message, None, out);
        self.settle(incoming, out)
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

    /// Reads and serves one message, alone or of a batch. A call that it cancels is still in the table.
    fn single<'b, S: Sink + ?Sized>(
        &mut self,
        message: &'b [u8],
        batch: Option<BatchKey>,
        out: &mut S,
    ) -> Incoming<'b> {
        let mut params = Params::default();
        let malformed = match Envelope::parse_with(message, &self.limits, &mut params) {
            Ok(Envelope::Request(request)) => return self.request(&request, &params, batch, out),
            Ok(Envelope::Notification(notification)) => {
                return self.notification(&notification, &params);
            }
            // This server asks its peers nothing yet, so nothing they answer is expected.
            Ok(Envelope::Response(_)) => return Incoming::Rejected(PeerFault::UnexpectedResponse),
            Err(malformed) => malformed,
        };
        let Malformed {
            mut fault,
            id,
            answer_due,
            ..
        } = malformed;
        let version = self.session_version();
        if fault == EnvelopeFault::Batch.into()
            && batch.is_none()
            && version == Some(ProtocolVersion::V2025_03_26)
        {
            match self.open_batch(message) {
                Ok(batch) => return Incoming::Batch(batch),
                Err(refused) => fault = refused,
            }
        }
        if answer_due {
            refuse(out, id, fault, None)
        } else {
            Incoming::Rejected(fault)
        }
    }

    fn open_batch<'b>(&mut self, message: &'b [u8]) -> Result<Batch<'b>, PeerFault> {
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
        Ok(Batch {
            messages,
            key: Some(self.batches.open()),
        })
    }

    /// Refuses a message that the framing has discarded because it was above [`Limits::max_message`]. Its id is not
    /// known, so the answer carries none (RPC-09).
    pub fn too_long<'b, S: Sink + ?Sized>(&mut self, out: &mut S) -> Incoming<'b> {
        let fault = PeerFault::TooLong {
            limit: self.limits.max_message,
        };
        refuse(out, None, fault, None)
    }

    /// Answers a call with a result.
    ///
    /// # Errors
    ///
    /// The call is over, or there is no room: then the token comes back.
    pub fn reply<S: Sink + ?Sized>(
        &mut self,
        token: ReplyToken,
        result: &CallToolResult<'_>,
        out: &mut S,
    ) -> Result<(), SendError<ReplyToken>> {
        self.answer(token, Answer::Result(result), out)
    }

    /// Answers a call with a JSON-RPC error: the request could not be carried out at all. A tool that ran and failed is
    /// a result with [`CallToolResult::is_error`] instead (TOOL-22).
    ///
    /// # Errors
    ///
    /// The call is over, or there is no room: then the token comes back.
    pub fn fail<S: Sink + ?Sized>(
        &mut self,
        token: ReplyToken,
        error: &ErrorObject<'_>,
        out: &mut S,
    ) -> Result<(), SendError<ReplyToken>> {
        self.answer(token, Answer::Error(error), out)
    }

    /// Tells the peer how far a call has come. Writes nothing if the peer did not ask for it, or if it is not more
    /// progress than last time (PRG-03).
    ///
    /// # Errors
    ///
    /// The call is over, or there is no room.
    pub fn progress<S: Sink + ?Sized>(
        &mut self,
        key: CallKey,
        progress: &Progress<'_>,
        out: &mut S,
    ) -> Result<(), SendError<()>> {
        let call = self.calls.get_mut(key).ok_or(SendError::Stale)?;
        let Some(token) = call.progress_token() else {
            return Ok(());
        };
        // JSON has neither NaN nor infinities, so they are no progress either.
        if !progress.progress.is_finite() || progress.progress <= call.progress {
            return Ok(());
        }
        write_notification(out, "notifications/progress", |json| {
            progress.write_params(token, call.version, json)
        })
        .map_err(|Full| SendError::Full(()))?;
        call.progress = progress.progress;
        Ok(())
    }

    fn answer<S: Sink + ?Sized>(
        &mut self,
        token: ReplyToken,
        answer: Answer<'_>,
        out: &mut S,
    ) -> Result<(), SendError<ReplyToken>> {
        let key = token.key();
        let Self {
            catalog,
            calls,
            batches,
            ..
        } = self;
        let call = calls.get_mut(key).ok_or(SendError::Stale)?;
        let written = match call.batch {
            None => answer.write(catalog, call, out),
            Some(batch) => {
                let length = batches.length(batch);
                batches
                    .gather(batch, |answers| answer.write(catalog, call, answers))
                    .and_then(|()| batches.settle(batch, out))
                    .inspect_err(|_| batches.take_back(batch, length))
            }
        };
        if written.is_err() {
            return Err(SendError::Full(token));
        }
        calls.remove(key);
        Ok(())
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

    /// Gives up a call: its peer has left, or whoever was to answer it has. It is not answered any more, and its token is
    /// stale.
    ///
    /// # Errors
    ///
    /// The call is over; or the rest of its batch waited for it alone, and there is no room for that.
    pub fn abandon<S: Sink + ?Sized>(
        &mut self,
        key: CallKey,
        out: &mut S,
    ) -> Result<(), SendError<()>> {
        let call = self.calls.get_mut(key).ok_or(SendError::Stale)?;
        if let Some(batch) = call.batch {
            self.batches
                .settle(batch, out)
                .map_err(|Full| SendError::Full(()))?;
        }
        self.calls.remove(key);
        Ok(())
    }

    fn request<'b, S: Sink + ?Sized>(
        &mut self,
        request: &Request<'b>,
        params: &Params<'b>,
        batch: Option<BatchKey>,
        out: &mut S,
    ) -> Incoming<'b> {
        match self.serve(request, params, batch, out) {
            Ok(incoming) => incoming,
            Err(Stop::Fault(fault)) => {
                refuse(out, Some(request.id), fault, Some((request, params)))
            }
            Err(Stop::Full) => Incoming::Blocked,
        }
    }

    fn serve<'b, S: Sink + ?Sized>(
        &mut self,
        request: &Request<'b>,
        params: &Params<'b>,
        batch: Option<BatchKey>,
        out: &mut S,
    ) -> Result<Incoming<'b>, Stop> {
        let id = request.id;
        if self.calls.find(id).is_some() {
            return Err(PeerFault::IdInUse.into());
        }
        let method = Method::parse(request.method);
        params.check()?;
        if method == Some(Method::Initialize) {
            let session = era::negotiate(params, self.session)?;
            write_result(out, id.raw(), |json| {
                self.catalog.write_initialize(session.version, json)
            })?;
            self.session = Some(session);
            return Ok(Incoming::Handled);
        }
        let terms = era::admit(method, &params.meta, self.session)?;
        if batch.is_some() && terms.version != ProtocolVersion::V2025_03_26 {
            return Err(PeerFault::from(EnvelopeFault::Batch).into());
        }
        match method {
            Some(Method::Ping) => write_result(out, id.raw(), |json| {
                json.begin_object();
                json.end_object();
            })?,
            Some(Method::Discover) => {
                write_result(out, id.raw(), |json| self.catalog.write_discover(json))?
            }
            // ERR-10: what is not declared does not exist.
            Some(Method::ToolsList | Method::ToolsCall) if !self.catalog.has_tools() => {
                return Err(PeerFault::MethodNotFound.into());
            }
            Some(Method::ToolsList) => {
                // PAG-04: lists are one page here, so no cursor is one of ours, the empty one included (PAG-02).
                if params.cursor.is_some() {
                    let expected = "absent: the list has one page";
                    return Err(PeerFault::Params {
                        field: "cursor",
                        expected,
                    }
                    .into());
                }
                write_result(out, id.raw(), |json| {
                    self.catalog.write_tools(terms.version, json)
                })?;
            }
            Some(Method::ToolsCall) => {
                return self.call_tool(id, params, batch, terms).map_err(Stop::from);
            }
            Some(_) | None => {
                return Err(PeerFault::MethodNotFound.into());
            }
        }
        Ok(Incoming::Handled)
    }

    fn call_tool<'b>(
        &mut self,
        id: RequestId<'b>,
        params: &Params<'b>,
        batch: Option<BatchKey>,
        terms: Terms,
    ) -> Result<Incoming<'b>, PeerFault> {
        let name = params.name.and_then(RawJson::as_string);
        let name = name.ok_or(PeerFault::Params {
            field: "name",
            expected: "a string",
        })?;
        if params
            .arguments
            .is_some_and(|arguments| arguments.kind() != Kind::Object)
        {
            return Err(PeerFault::Params {
                field: "arguments",
                expected: "an object",
            });
        }
        let progress_token = params.meta.progress_token(&self.limits)?;
        let tool = self.catalog.tool(name).ok_or(PeerFault::UnknownTool)?;
        let missing = self.catalog.requires(tool).without(terms.capabilities);
        if !missing.is_empty() {
            let era = terms.version.era();
            return Err(PeerFault::MissingCapability { missing, era });
        }
        let key = self
            .calls
            .insert(id, progress_token, terms.version, batch, &self.limits)?;
        Ok(Incoming::Call(ToolCall {
            token: ReplyToken(key),
            tool,
            arguments: params.arguments,
            version: terms.version,
            capabilities: terms.capabilities,
            wants_progress: progress_token.is_some(),
        }))
    }

    /// Nothing here is ever answered (RPC-12).
    fn notification<'b>(
        &self,
        notification: &Notification<'b>,
        params: &Params<'b>,
    ) -> Incoming<'b> {
        if Method::parse(notification.method) != Some(Method::Cancelled) {
            return Incoming::Handled;
        }
        // CAN-06: a reference that is malformed, unknown or over is ignored.
        let id = if params.check().is_ok() {
            params.request_id
        } else {
            None
        };
        let key = id
            .and_then(RequestId::new)
            .and_then(|id| self.calls.find(id));
        key.map_or(Incoming::Handled, Incoming::Cancelled)
    }
}

/// What a call is answered with.
#[derive(Clone, Copy)]
enum Answer<'a> {
    Result(&'a CallToolResult<'a>),
    Error(&'a ErrorObject<'a>),
}

impl Answer<'_> {
    #[inline]
    fn write<S: Sink + ?Sized>(
        self,
        catalog: &Catalog,
        call: &Call,
        out: &mut S,
    ) -> Result<(), Full> {
        match self {
            Self::Result(result) => write_result(out, call.id(), |json| {
                catalog.write_result(call.version, json, |json| {
                    result.members(call.version, json)
                });
            }),
            Self::Error(error) => {
                write_error(out, Some(call.id()), error.code, error.message, |json| {
                    if let Some(data) = error.data {
                        json.key("data");
                        json.raw(data);
                    }
                })
            }
        }
    }
}
