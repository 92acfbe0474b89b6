//! What a server asks its client in a session: requests of its own, which the modern era does not have (RPC-15).

use core::fmt;

use super::ServerEngine;
use super::era::Session;
use super::incoming::{Answer, Incoming};
use crate::engine::{CallKey, Lookup, Memory, RequestKey};
use crate::error::{ErrorCode, PeerFault, SendError};
use crate::json::{Full, RawJson, Sink, Writer};
use crate::model::{
    ClientCapabilities, ElicitRequestParams, Encode, Era, InputRequest, ProtocolVersion,
};
use crate::rpc::{Outcome, RequestId, Response, write_notification, write_request};

/// Why a request does not go to the client. Nothing was written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum RequestError {
    /// There is no session, or the call it is for is a modern one: servers send no requests there (RPC-15). A modern
    /// client is asked by [`require_input`](ServerEngine::require_input).
    NoSession,
    /// The client has not said `notifications/initialized` yet (INIT-05); see [`is_ready`](ServerEngine::is_ready).
    NotReady,
    /// The session's revision does not have this request, or this form of it.
    Version(ProtocolVersion),
    /// The client did not declare what this needs (ELI-02, SMP-04).
    Undeclared(ClientCapabilities),
    /// The call it is for is over.
    Stale,
    /// As many requests are not answered as may be.
    #[non_exhaustive]
    Busy {
        /// The limit: [`Limits::max_pending`](crate::Limits::max_pending).
        limit: usize,
    },
    /// The output has no room: flush it and try again.
    Full,
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSession => f.write_str("there is no session in which a client can be asked"),
            Self::NotReady => f.write_str("the client is not ready to be asked yet"),
            Self::Version(version) => write!(f, "{} has no such request", version.as_str()),
            Self::Undeclared(missing) => {
                write!(f, "the client did not declare what this needs: {missing}")
            }
            Self::Stale => f.write_str("the call is over: it was answered or cancelled"),
            Self::Busy { limit } => write!(f, "{limit} requests are waiting for an answer"),
            Self::Full => f.write_str("the output buffer is full: flush it and try again"),
        }
    }
}

impl core::error::Error for RequestError {}

impl<M: Memory> ServerEngine<M> {
    /// Asks the client something, in a session: for `call`, or for nothing in particular. What it answers comes as
    /// [`Incoming::Answer`]; no answer may ever come, and how long to wait is the caller's to decide.
    ///
    /// # Errors
    ///
    /// [`RequestError`]: nothing is asked that the session's revision does not have or the client did not declare.
    pub fn request<S: Sink + ?Sized>(
        &mut self,
        call: Option<CallKey>,
        request: &InputRequest<'_>,
        out: &mut S,
    ) -> Result<RequestKey, RequestError> {
        if let Some(key) = call {
            let call = self.calls.get_mut(key).ok_or(RequestError::Stale)?;
            if call.version.era() == Era::Modern {
                return Err(RequestError::NoSession);
            }
        }
        let session = self.session.ok_or(RequestError::NoSession)?;
        if !session.ready {
            return Err(RequestError::NotReady);
        }
        if !is_in(request, session.version) {
            return Err(RequestError::Version(session.version));
        }
        let needed = request
            .required()
            .ok_or(RequestError::Version(session.version))?;
        let missing = needed.without(session.capabilities);
        if !missing.is_empty() {
            return Err(RequestError::Undeclared(missing));
        }
        self.send(request.method(), out, |json| match request {
            InputRequest::Elicit(params) => params.encode(session.version, json),
            InputRequest::Sample(params) => params.encode(session.version, json),
            InputRequest::ListRoots | InputRequest::Unknown { .. } => {
                json.begin_object();
                json.end_object();
            }
        })
    }

    /// Asks the client for a sign of life (PING-01), in a session. The answer comes as [`Incoming::Answer`].
    ///
    /// # Errors
    ///
    /// There is no session, no room, or too much is not answered.
    pub fn ping<S: Sink + ?Sized>(&mut self, out: &mut S) -> Result<RequestKey, RequestError> {
        if self.session.is_none() {
            return Err(RequestError::NoSession);
        }
        self.send("ping", out, |json| {
            json.begin_object();
            json.end_object();
        })
    }

    /// Gives up a request of ours, and tells the client. An answer that still comes is one to no request.
    ///
    /// # Errors
    ///
    /// The request is over, or there is no room.
    pub fn cancel_request<S: Sink + ?Sized>(
        &mut self,
        key: RequestKey,
        reason: Option<&str>,
        out: &mut S,
    ) -> Result<(), SendError<()>> {
        let id = self.requests.id(key).ok_or(SendError::Stale)?;
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
        .map_err(|Full| SendError::Full(()))?;
        self.requests.remove(key);
        Ok(())
    }

    /// Whether the client can be asked something: it is in a session, and has said that it is ready.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.session.is_some_and(|session| session.ready)
    }

    /// How many requests of ours are not answered.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.requests.len()
    }

    fn send<S: Sink + ?Sized>(
        &mut self,
        method: &str,
        out: &mut S,
        params: impl FnOnce(&mut Writer<'_, S>),
    ) -> Result<RequestKey, RequestError> {
        let limit = self.requests.limit();
        let busy = RequestError::Busy { limit };
        if !self.requests.has_room() {
            return Err(busy);
        }
        let mut digits = heapless::String::<20>::new();
        // 20 digits take any 64-bit number.
        let _ = fmt::Write::write_fmt(&mut digits, format_args!("{}", self.requests.next_id()));
        let id = RequestId::new(RawJson::new(&digits)).ok_or(busy)?;
        write_request(out, id, method, params).map_err(|Full| RequestError::Full)?;
        self.requests.add(()).ok_or(busy)
    }

    /// A request that was answered with something that is no response is over: whoever asked does not wait for another.
    pub(super) fn answered_wrongly<'b>(&mut self, key: RequestKey) -> Incoming<'b> {
        self.requests.remove(key);
        let message = RawJson::new("\"the client's answer is not a JSON-RPC response\"");
        let outcome = Outcome::Error {
            code: ErrorCode::INVALID_REQUEST,
            message: message.as_string().expect("it is a string"),
            data: None,
        };
        Incoming::Answer(Answer { key, outcome })
    }

    /// What an answer is to. One to no request of ours, or to one that is over, is never answered in its turn.
    pub(super) fn response<'b>(&mut self, response: Response<'b>) -> Incoming<'b> {
        let found = response.id.map(|id| self.requests.find(id));
        let Some(Lookup::Pending(key)) = found else {
            return Incoming::Rejected(PeerFault::UnexpectedResponse);
        };
        self.requests.remove(key);
        let outcome = response.outcome;
        Incoming::Answer(Answer { key, outcome })
    }

    /// `notifications/roots/list_changed`.
    pub(super) fn roots_changed<'b>(&self) -> Incoming<'b> {
        let has_roots = |session: Session| session.capabilities.contains(ClientCapabilities::ROOTS);
        match self.session.is_some_and(has_roots) {
            true => Incoming::RootsChanged,
            false => Incoming::Handled,
        }
    }
}

/// Whether a legacy revision can ask this.
fn is_in(request: &InputRequest<'_>, version: ProtocolVersion) -> bool {
    let first = match request {
        InputRequest::Sample(params) if params.tools.is_some() || params.tool_choice.is_some() => {
            ProtocolVersion::V2025_11_25
        }
        InputRequest::Elicit(ElicitRequestParams::Url(_)) => ProtocolVersion::V2025_11_25,
        InputRequest::Elicit(_) => ProtocolVersion::V2025_06_18,
        InputRequest::Sample(_) | InputRequest::ListRoots => ProtocolVersion::V2024_11_05,
        InputRequest::Unknown { .. } => return false,
    };
    version >= first
}
