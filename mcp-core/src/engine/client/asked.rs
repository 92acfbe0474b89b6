//! Requests of the server's: those of the legacy era, and ours to answer.

use super::detect::{member, string};
use super::receive::Incoming;
use super::{CallKey, ClientEngine, Phase, ReplyToken};
use crate::error::{ErrorCode, PeerFault, SendError};
use crate::json::{Full, RawJson, Sink};
use crate::model::{ClientCapabilities, Encode, Era, Progress, ProtocolVersion};
use crate::rpc::{ErrorObject, Request, RequestId, write_error, write_result};

/// A request of the server's that this client has declared it can answer.
#[derive(Debug)]
#[non_exhaustive]
pub struct ServerRequest<'b> {
    /// Answers it.
    pub token: ReplyToken,
    /// What is asked.
    pub kind: ServerRequestKind,
    /// Its params, an object; not checked further.
    pub params: Option<RawJson<'b>>,
    /// The version that is spoken.
    pub version: ProtocolVersion,
    /// Whether [progress](ClientEngine::progress) notifications are wanted.
    pub wants_progress: bool,
}

/// What a server asks of a client.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum ServerRequestKind {
    /// `roots/list`
    ListRoots,
    /// `sampling/createMessage`
    CreateMessage,
    /// `elicitation/create`
    Elicit,
}

/// Why a request of the server's is refused.
struct Refusal {
    code: ErrorCode,
    message: &'static str,
    fault: PeerFault,
}

impl Refusal {
    const fn of(code: ErrorCode, message: &'static str, fault: PeerFault) -> Self {
        Self {
            code,
            message,
            fault,
        }
    }

    const NO_METHOD: Self = Self::of(
        ErrorCode::METHOD_NOT_FOUND,
        "Method not found",
        PeerFault::MethodNotFound,
    );

    /// Nothing is declared before the handshake is over.
    const EARLY: Self = Self::of(
        ErrorCode::INVALID_REQUEST,
        "Not initialized",
        PeerFault::NotInitialized,
    );

    const fn undeclared(message: &'static str, missing: ClientCapabilities) -> Self {
        let fault = PeerFault::MissingCapability {
            missing,
            era: Era::Legacy,
        };
        Self::of(ErrorCode::INVALID_PARAMS, message, fault)
    }
}

impl ClientEngine {
    pub(super) fn request<'b, S: Sink + ?Sized>(
        &mut self,
        request: &Request<'b>,
        out: &mut S,
    ) -> Result<Incoming<'b>, Full> {
        let version = match &self.phase {
            Phase::Ready(server) if server.era() == Era::Modern => {
                return Ok(self.reject(PeerFault::UnexpectedRequest));
            }
            Phase::Ready(server) => Some(server.revision),
            Phase::Idle | Phase::Connecting(_) => None,
            Phase::Over => return Ok(Incoming::Handled),
        };
        // PING-01: at any time.
        if request.method == "ping" {
            write_result(out, request.id.raw(), |json| {
                json.begin_object();
                json.end_object();
            })?;
            return Ok(Incoming::Handled);
        }
        let admitted = version
            .ok_or(Refusal::EARLY)
            .and_then(|version| Ok((version, self.admit(request, version)?)));
        let refusal = match admitted {
            Ok((version, kind)) => match self.accept(request, kind, version) {
                Ok(incoming) => return Ok(incoming),
                Err(refusal) => refusal,
            },
            Err(refusal) => refusal,
        };
        write_error(
            out,
            Some(request.id.raw()),
            refusal.code,
            refusal.message,
            |_| {},
        )?;
        Ok(self.reject(refusal.fault))
    }

    /// Whether the server may ask this, and what it is.
    fn admit(
        &self,
        request: &Request<'_>,
        version: ProtocolVersion,
    ) -> Result<ServerRequestKind, Refusal> {
        use ClientCapabilities as C;
        let declared = self.config.capabilities;
        let given = |name| request.params.and_then(|params| member(params, name));
        match &*request.method.decode() {
            "roots/list" if declared.contains(C::ROOTS) => Ok(ServerRequestKind::ListRoots),
            "sampling/createMessage" if declared.contains(C::SAMPLING) => {
                let tools = given("tools").or_else(|| given("toolChoice"));
                if tools.is_some() && !declared.contains(C::SAMPLING_TOOLS) {
                    // SMP-04.
                    let message = "The client did not declare `sampling.tools`";
                    return Err(Refusal::undeclared(message, C::SAMPLING_TOOLS));
                }
                Ok(ServerRequestKind::CreateMessage)
            }
            "elicitation/create"
                if version >= ProtocolVersion::V2025_06_18
                    && (declared.contains(C::ELICITATION)
                        || declared.contains(C::ELICITATION_URL)) =>
            {
                // ELI-03: without a mode it is a form.
                let mode = request.params.and_then(|params| string(params, "mode"));
                let needed = match mode.map(|mode| mode.decode()).as_deref() {
                    None if given("mode").is_none() => C::ELICITATION,
                    Some("form") => C::ELICITATION,
                    Some("url") => C::ELICITATION_URL,
                    _ => {
                        let message = "Unknown elicitation mode";
                        return Err(Refusal::undeclared(message, C::NONE));
                    }
                };
                if !declared.contains(needed) {
                    // ELI-14.
                    let message = "The client did not declare this elicitation mode";
                    return Err(Refusal::undeclared(message, needed));
                }
                Ok(ServerRequestKind::Elicit)
            }
            _ => Err(Refusal::NO_METHOD),
        }
    }

    fn accept<'b>(
        &mut self,
        request: &Request<'b>,
        kind: ServerRequestKind,
        version: ProtocolVersion,
    ) -> Result<Incoming<'b>, Refusal> {
        let token = request
            .params
            .and_then(|params| member(params, "_meta"))
            .and_then(|meta| member(meta, "progressToken"))
            .filter(|token| token.as_bytes().len() <= self.limits.max_id)
            .and_then(RequestId::new);
        let key = self
            .calls
            .insert(request.id, token, version, None, &self.limits)
            .map_err(|fault| {
                let message = if fault == PeerFault::IdInUse {
                    "Invalid request: `id` belongs to a request that is not answered yet"
                } else {
                    "Client busy"
                };
                Refusal::of(fault.code(), message, fault)
            })?;
        Ok(Incoming::Request(ServerRequest {
            token: ReplyToken(key),
            kind,
            params: request.params,
            version,
            wants_progress: token.is_some(),
        }))
    }

    /// Answers a request of the server's with a result.
    ///
    /// # Errors
    ///
    /// The server has taken it back, or there is no room: then the token comes back.
    pub fn reply<S: Sink + ?Sized>(
        &mut self,
        token: ReplyToken,
        result: &(impl Encode + ?Sized),
        out: &mut S,
    ) -> Result<(), SendError<ReplyToken>> {
        let key = token.key();
        let call = self.calls.get_mut(key).ok_or(SendError::Stale)?;
        if write_result(out, call.id(), |json| result.encode(call.version, json)).is_err() {
            return Err(SendError::Full(token));
        }
        self.calls.remove(key);
        Ok(())
    }

    /// Answers a request of the server's with an error, such as -1 where the user said no to sampling (SMP-07).
    ///
    /// # Errors
    ///
    /// The server has taken it back, or there is no room: then the token comes back.
    pub fn fail<S: Sink + ?Sized>(
        &mut self,
        token: ReplyToken,
        error: &ErrorObject<'_>,
        out: &mut S,
    ) -> Result<(), SendError<ReplyToken>> {
        let key = token.key();
        let call = self.calls.get_mut(key).ok_or(SendError::Stale)?;
        let written = write_error(out, Some(call.id()), error.code, error.message, |json| {
            if let Some(data) = error.data {
                json.key("data");
                json.raw(data);
            }
        });
        if written.is_err() {
            return Err(SendError::Full(token));
        }
        self.calls.remove(key);
        Ok(())
    }

    /// Tells the server how far the answer to its request is. Writes nothing if the server did not ask for it, or if it is
    /// not more progress than last time (PRG-03).
    ///
    /// # Errors
    ///
    /// The request is over, or there is no room.
    pub fn progress<S: Sink + ?Sized>(
        &mut self,
        key: CallKey,
        progress: &Progress<'_>,
        out: &mut S,
    ) -> Result<(), SendError<()>> {
        let call = self.calls.get_mut(key).ok_or(SendError::Stale)?;
        call.progress(progress, out)
            .map_err(|Full| SendError::Full(()))
    }

    /// Forgets a request of the server's without answering it.
    ///
    /// # Errors
    ///
    /// It is over already.
    pub fn abandon(&mut self, key: CallKey) -> Result<(), SendError<()>> {
        self.calls.remove(key).map(drop).ok_or(SendError::Stale)
    }
}
