//! The answers to calls, and what is said about them meanwhile.

use core::fmt;

use super::catalog::{COMPLETE, Cacheable, Offered, write_cache};
use super::{ExtensionResult, ServedKind, ServerEngine};
use crate::engine::call::Call as Accepted;
use crate::engine::{CallKey, Memory, ReplyToken};
use crate::error::{ErrorCode, PeerFault, SendError};
use crate::json::{Full, Sink, Writer};
use crate::model::{
    CacheHint, ClientCapabilities, EncodeResult, Era, InputRequiredResult, Progress,
    ProtocolVersion,
};
use crate::rpc::{ErrorObject, write_error, write_result};

/// Why a client is not asked for input.
#[derive(Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum InputError {
    /// The client did not declare what is asked of it, on this request: it is to be answered with
    /// [`missing_capability`](ServerEngine::missing_capability), or without that input (MRTR-06).
    #[non_exhaustive]
    Undeclared {
        /// What was not declared.
        missing: ClientCapabilities,
        /// The call, not answered.
        token: ReplyToken,
    },
    /// The request cannot be answered like this: it is a legacy one, whose client is [asked](ServerEngine::request)
    /// directly; or neither `tools/call`, `prompts/get` nor `resources/read` (MRTR-02).
    Unsupported(ReplyToken),
    /// Nothing is asked for and no state is given, or something that no client can be asked for (MRTR-03, MRTR-04).
    Invalid(ReplyToken),
    /// The call is over, or there is no room.
    Send(SendError<ReplyToken>),
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Undeclared { missing, .. } => {
                write!(
                    f,
                    "the client did not declare what is asked of it: {missing}"
                )
            }
            Self::Unsupported(_) => {
                f.write_str("this request cannot be answered by asking for input")
            }
            Self::Invalid(_) => f.write_str("no client can be asked for this"),
            Self::Send(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for InputError {}

impl<M: Memory> ServerEngine<M> {
    /// Answers a call with a result.
    ///
    /// # Errors
    ///
    /// The call is over, or there is no room: then the token comes back.
    pub fn reply<S: Sink + ?Sized>(
        &mut self,
        token: ReplyToken,
        result: &impl EncodeResult,
        out: &mut S,
    ) -> Result<(), SendError<ReplyToken>> {
        self.answer(token, &Complete(result), out)
    }

    /// Answers a call with a JSON-RPC error: the request could not be carried out at all. A tool that ran and failed is
    /// a result with [`is_error`](crate::model::CallToolResult::is_error) instead (TOOL-22).
    ///
    /// A code that the peer's revision must not see is replaced by the one it has for this (ERR-05).
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
        self.answer(token, error, out)
    }

    /// Answers that there is no resource of this URI after all (RSC-03).
    ///
    /// # Errors
    ///
    /// The call is over, or there is no room: then the token comes back.
    pub fn not_found<S: Sink + ?Sized>(
        &mut self,
        token: ReplyToken,
        uri: &str,
        out: &mut S,
    ) -> Result<(), SendError<ReplyToken>> {
        self.answer(token, &NotFound(uri), out)
    }

    /// Answers that the client would have to be able to do more: with `requiredCapabilities` (ERR-08).
    ///
    /// # Errors
    ///
    /// The call is over, or there is no room: then the token comes back.
    pub fn missing_capability<S: Sink + ?Sized>(
        &mut self,
        token: ReplyToken,
        missing: ClientCapabilities,
        out: &mut S,
    ) -> Result<(), SendError<ReplyToken>> {
        self.answer(token, &Missing(missing), out)
    }

    /// Answers that the client would have to declare an extension, by its position in the catalog: with
    /// `requiredCapabilities` (ERR-08).
    ///
    /// # Errors
    ///
    /// The call is over, or there is no room: then the token comes back.
    pub fn missing_extension<S: Sink + ?Sized>(
        &mut self,
        token: ReplyToken,
        extension: usize,
        out: &mut S,
    ) -> Result<(), SendError<ReplyToken>> {
        self.answer(token, &MissingExtension(extension), out)
    }

    /// Answers a call with a result of an extension.
    ///
    /// # Errors
    ///
    /// The call is over, or there is no room: then the token comes back.
    pub fn reply_extension<S: Sink + ?Sized>(
        &mut self,
        token: ReplyToken,
        result: &ExtensionResult<'_>,
        out: &mut S,
    ) -> Result<(), SendError<ReplyToken>> {
        self.answer(token, result, out)
    }

    /// Answers a call by asking the client for input: it will make the request again, with what it was asked for in
    /// [`input_responses`](super::Call::input_responses) and the state as it was given here. Modern requests only.
    ///
    /// Nothing is remembered here, and the client may as well never come back (MRTR-07).
    ///
    /// # Errors
    ///
    /// [`InputError`]; but for a call that is over, the token comes back.
    pub fn require_input<S: Sink + ?Sized>(
        &mut self,
        token: ReplyToken,
        result: &InputRequiredResult<'_>,
        out: &mut S,
    ) -> Result<(), InputError> {
        let Some(call) = self.calls.get_mut(token.key()) else {
            return Err(InputError::Send(SendError::Stale));
        };
        let asks = matches!(
            call.served.kind,
            ServedKind::Tool | ServedKind::Prompt | ServedKind::Resource
        );
        if call.version.era() == Era::Legacy || !asks {
            return Err(InputError::Unsupported(token));
        }
        let mut needed = ClientCapabilities::NONE;
        let requests = result.input_requests.as_ref();
        for (_, request) in requests.into_iter().flat_map(|requests| requests.iter()) {
            match request.required() {
                Some(capabilities) => needed = needed | capabilities,
                None => return Err(InputError::Invalid(token)),
            }
        }
        if requests.is_none() && result.request_state.is_none() {
            return Err(InputError::Invalid(token));
        }
        let missing = needed.without(call.served.capabilities);
        if !missing.is_empty() {
            return Err(InputError::Undeclared { missing, token });
        }
        self.answer(token, &InputRequired(result), out)
            .map_err(InputError::Send)
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
        call.progress(progress, out)
            .map_err(|Full| SendError::Full(()))
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

    fn answer<S: Sink + ?Sized>(
        &mut self,
        token: ReplyToken,
        answer: &impl Written,
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
            Some(_) if !M::BATCHES => Err(Full),
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
}

/// What a call is answered with.
trait Written {
    fn write<M: Memory, S: Sink + ?Sized>(
        &self,
        catalog: &M::Catalog,
        call: &Accepted<M>,
        out: &mut S,
    ) -> Result<(), Full>;
}

struct Complete<'a, R>(&'a R);

impl<R: EncodeResult> Written for Complete<'_, R> {
    #[inline]
    fn write<M: Memory, S: Sink + ?Sized>(
        &self,
        catalog: &M::Catalog,
        call: &Accepted<M>,
        out: &mut S,
    ) -> Result<(), Full> {
        write_result(out, call.id(), |json| {
            json.begin_object();
            catalog.write_head(COMPLETE, self.0.meta(), call.version, json);
            if call.version.era() == Era::Modern && call.served.kind == ServedKind::Resource {
                // MRTR-19: what was made of a client's answers is of use to nobody else.
                let hint = match call.served.retried {
                    true => CacheHint::NONE,
                    false => {
                        let default = || catalog.cache_hint(Cacheable::Reads);
                        self.0.cache().unwrap_or_else(default)
                    }
                };
                write_cache(hint, json);
            }
            self.0.members(call.version, json);
            json.end_object();
        })
    }
}

struct InputRequired<'a>(&'a InputRequiredResult<'a>);

impl Written for InputRequired<'_> {
    fn write<M: Memory, S: Sink + ?Sized>(
        &self,
        catalog: &M::Catalog,
        call: &Accepted<M>,
        out: &mut S,
    ) -> Result<(), Full> {
        write_result(out, call.id(), |json| {
            json.begin_object();
            catalog.write_head("input_required", self.0.meta(), call.version, json);
            self.0.members(call.version, json);
            json.end_object();
        })
    }
}

impl Written for ErrorObject<'_> {
    #[inline]
    fn write<M: Memory, S: Sink + ?Sized>(
        &self,
        _: &M::Catalog,
        call: &Accepted<M>,
        out: &mut S,
    ) -> Result<(), Full> {
        let code = permitted(self.code, call.version);
        write_error(out, Some(call.id()), code, self.message, |json| {
            if let Some(data) = self.data {
                json.key("data");
                json.raw(data);
            }
        })
    }
}

/// ERR-05: two codes are of some revisions only.
fn permitted(code: ErrorCode, version: ProtocolVersion) -> ErrorCode {
    match code {
        ErrorCode::RESOURCE_NOT_FOUND if version.era() == Era::Modern => ErrorCode::INVALID_PARAMS,
        ErrorCode::URL_ELICITATION_REQUIRED if version != ProtocolVersion::V2025_11_25 => {
            ErrorCode::INVALID_PARAMS
        }
        code => code,
    }
}

struct NotFound<'a>(&'a str);

impl Written for NotFound<'_> {
    fn write<M: Memory, S: Sink + ?Sized>(
        &self,
        _: &M::Catalog,
        call: &Accepted<M>,
        out: &mut S,
    ) -> Result<(), Full> {
        let era = call.version.era();
        let fault = PeerFault::UnknownResource { era };
        write_error(out, Some(call.id()), fault.code(), &fault, |json| {
            json.key("data");
            json.begin_object();
            json.key("uri");
            json.string(self.0);
            json.end_object();
        })
    }
}

struct Missing(ClientCapabilities);

impl Written for Missing {
    fn write<M: Memory, S: Sink + ?Sized>(
        &self,
        _: &M::Catalog,
        call: &Accepted<M>,
        out: &mut S,
    ) -> Result<(), Full> {
        let era = call.version.era();
        let missing = self.0;
        let fault = PeerFault::MissingCapability { missing, era };
        write_error(out, Some(call.id()), fault.code(), &fault, |json| {
            write_required(missing, json);
        })
    }
}

impl Written for ExtensionResult<'_> {
    fn write<M: Memory, S: Sink + ?Sized>(
        &self,
        catalog: &M::Catalog,
        call: &Accepted<M>,
        out: &mut S,
    ) -> Result<(), Full> {
        write_result(out, call.id(), |json| {
            json.begin_object();
            let meta = self.members.member("_meta");
            catalog.write_head(self.result_type, meta, call.version, json);
            for (name, value) in self.own(call.version.era()) {
                json.decoded_key(name);
                json.raw(value);
            }
            json.end_object();
        })
    }
}

struct MissingExtension(usize);

impl Written for MissingExtension {
    fn write<M: Memory, S: Sink + ?Sized>(
        &self,
        catalog: &M::Catalog,
        call: &Accepted<M>,
        out: &mut S,
    ) -> Result<(), Full> {
        let (extension, era) = (self.0, call.version.era());
        let fault = PeerFault::MissingExtension { extension, era };
        write_error(out, Some(call.id()), fault.code(), &fault, |json| {
            if let Some(known) = catalog.extensions().get(extension) {
                write_required_extension(known.id(), json);
            }
        })
    }
}

/// The same for an extension.
pub(super) fn write_required_extension<S: Sink + ?Sized>(id: &str, json: &mut Writer<'_, S>) {
    json.key("data");
    json.begin_object();
    json.key("requiredCapabilities");
    json.begin_object();
    json.key("extensions");
    json.begin_object();
    json.key(id);
    json.begin_object();
    json.end_object();
    json.end_object();
    json.end_object();
    json.end_object();
}

/// ERR-08: an object, not a list of names.
pub(super) fn write_required<S: Sink + ?Sized>(
    missing: ClientCapabilities,
    json: &mut Writer<'_, S>,
) {
    json.key("data");
    json.begin_object();
    json.key("requiredCapabilities");
    missing.write(json);
    json.end_object();
}
