//! Input in the middle of a request (2026-07-28, basic, patterns, "Multi Round-Trip Requests"). Older revisions send the
//! same questions as requests of their own.

use crate::Cow;

#[cfg(feature = "alloc")]
use super::codec::Own;
use super::codec::{Decode, DecodeError, optional, required};
use super::codec::{Target, Write, record, result_impls, value_impls};
use super::content::tag;
use super::{
    ClientCapabilities, CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams,
    ElicitResult, ListRootsResult, Map, Method, ProtocolVersion,
};
use crate::json::{Json, RawJson, Sink, Writer};

record! {
    /// What answers a request instead of its result: more is wanted first (MRTR-03). At least one of the two is there.
    #[derive(Default)]
    pub struct InputRequiredResult<'a> {
        /// What is asked, by keys of the server's choice (MRTR-05).
        input_requests: opt Map<'a, InputRequest<'a>> = "inputRequests";
        /// To be given back as it is with the next attempt; nothing that a client may look into (MRTR-13).
        request_state: opt Cow<'a, str> = "requestState";
    }
    around {
        /// `_meta`.
        meta: opt Json<'a> = "_meta" [A E];
    }
}
result_impls!(InputRequiredResult);

/// Something that a server asks of a client.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum InputRequest<'a> {
    /// `elicitation/create`.
    Elicit(ElicitRequestParams<'a>),
    /// `sampling/createMessage`.
    Sample(CreateMessageRequestParams<'a>),
    /// `roots/list`.
    ListRoots,
    /// Anything else.
    Unknown {
        /// The name of the method.
        method: Cow<'a, str>,
        /// What it is given.
        params: Option<Json<'a>>,
    },
}

impl<'b> InputRequest<'b> {
    /// Reads the request of this method.
    ///
    /// # Errors
    ///
    /// The params are not what the method has.
    #[cfg(feature = "alloc")]
    pub fn of(method: Cow<'b, str>, params: Option<RawJson<'b>>) -> Result<Self, DecodeError> {
        const ELICIT: &str = Method::ElicitationCreate.as_str();
        const SAMPLE: &str = Method::SamplingCreateMessage.as_str();
        const ROOTS: &str = Method::RootsList.as_str();
        Ok(match &*method {
            ELICIT => Self::Elicit(required(params)?),
            SAMPLE => Self::Sample(required(params)?),
            ROOTS => Self::ListRoots,
            _ => Self::Unknown {
                method,
                params: optional(params)?,
            },
        })
    }

    /// The name of the method.
    #[must_use]
    pub fn method(&self) -> &str {
        match self {
            Self::Elicit(_) => Method::ElicitationCreate.as_str(),
            Self::Sample(_) => Method::SamplingCreateMessage.as_str(),
            Self::ListRoots => Method::RootsList.as_str(),
            Self::Unknown { method, .. } => method,
        }
    }

    /// What a client has to have declared to be asked this (ELI-02, SMP-04); `None` if nothing in the protocol asks it.
    #[must_use]
    pub fn required(&self) -> Option<ClientCapabilities> {
        Some(match self {
            Self::Sample(params) if params.tools.is_some() || params.tool_choice.is_some() => {
                ClientCapabilities::SAMPLING_TOOLS
            }
            Self::Sample(_) => ClientCapabilities::SAMPLING,
            Self::Elicit(ElicitRequestParams::Form(_)) => ClientCapabilities::ELICITATION,
            Self::Elicit(ElicitRequestParams::Url(_)) => ClientCapabilities::ELICITATION_URL,
            Self::ListRoots => ClientCapabilities::ROOTS,
            Self::Elicit(_) | Self::Unknown { .. } => return None,
        })
    }

    /// Writes what the method is given, as one value; `{}` if that is nothing.
    pub fn encode_params<S: Sink + ?Sized>(
        &self,
        version: ProtocolVersion,
        json: &mut Writer<'_, S>,
    ) {
        self.write_params(Target::of(version), json);
    }

    fn write_params<S: Sink + ?Sized>(&self, target: Target, json: &mut Writer<'_, S>) {
        match self {
            Self::Elicit(params) => params.write(target, json),
            Self::Sample(params) => params.write(target, json),
            Self::Unknown {
                params: Some(params),
                ..
            } => json.raw(params.raw()),
            Self::ListRoots | Self::Unknown { params: None, .. } => {
                json.raw(Json::EMPTY_OBJECT.raw());
            }
        }
    }
}

#[cfg(feature = "alloc")]
impl<'b> Decode<'b> for InputRequest<'b> {
    fn decode(value: RawJson<'b>) -> Result<Self, DecodeError> {
        let not_named = DecodeError::new("a string").at("InputRequest", "method");
        let method = tag(value, "method").ok_or(not_named)?;
        let mut params = value
            .as_object()
            .into_iter()
            .flatten()
            .filter(|(name, _)| *name == "params")
            .map(|(_, params)| params);
        let found = params.next().filter(|params| !params.is_null());
        if params.next().is_some() {
            return Err(DecodeError::new("one of it only").at("InputRequest", "params"));
        }
        Self::of(method, found)
    }
}

impl Write for InputRequest<'_> {
    fn write<S: Sink + ?Sized>(&self, target: Target, json: &mut Writer<'_, S>) {
        json.begin_object();
        json.key("method");
        json.string(self.method());
        match self {
            Self::Elicit(_)
            | Self::Sample(_)
            | Self::Unknown {
                params: Some(_), ..
            } => {
                json.key("params");
                self.write_params(target, json);
            }
            Self::ListRoots | Self::Unknown { params: None, .. } => {}
        }
        json.end_object();
    }
}

#[cfg(feature = "alloc")]
impl Own for InputRequest<'_> {
    type Owned = InputRequest<'static>;

    fn own(self) -> Self::Owned {
        match self {
            Self::Elicit(params) => InputRequest::Elicit(params.own()),
            Self::Sample(params) => InputRequest::Sample(params.own()),
            Self::ListRoots => InputRequest::ListRoots,
            Self::Unknown { method, params } => InputRequest::Unknown {
                method: method.own(),
                params: params.own(),
            },
        }
    }
}

value_impls!(InputRequest<'_>);

/// What a client answers to an [`InputRequest`]: the bare result. It is told by what was asked, never by its shape
/// (TYP-12).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum InputResponse<'a> {
    /// To `elicitation/create`.
    Elicit(ElicitResult<'a>),
    /// To `sampling/createMessage`.
    Sample(CreateMessageResult<'a>),
    /// To `roots/list`.
    Roots(ListRootsResult<'a>),
    /// To anything else.
    Unknown(Json<'a>),
}

impl<'b> InputResponse<'b> {
    /// Reads the answer to a request of this method.
    ///
    /// # Errors
    ///
    /// It is not what the method's result is.
    #[cfg(feature = "alloc")]
    pub fn of(method: &str, value: RawJson<'b>) -> Result<Self, DecodeError> {
        const ELICIT: &str = Method::ElicitationCreate.as_str();
        const SAMPLE: &str = Method::SamplingCreateMessage.as_str();
        const ROOTS: &str = Method::RootsList.as_str();
        Ok(match method {
            ELICIT => Self::Elicit(ElicitResult::decode(value)?),
            SAMPLE => Self::Sample(CreateMessageResult::decode(value)?),
            ROOTS => Self::Roots(ListRootsResult::decode(value)?),
            _ => Self::Unknown(value.into()),
        })
    }

    /// The same, kept for as long as wanted: what was borrowed is copied.
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn into_owned(self) -> InputResponse<'static> {
        match self {
            Self::Elicit(result) => InputResponse::Elicit(result.own()),
            Self::Sample(result) => InputResponse::Sample(result.own()),
            Self::Roots(result) => InputResponse::Roots(result.own()),
            Self::Unknown(result) => InputResponse::Unknown(result.own()),
        }
    }
}

impl Write for InputResponse<'_> {
    fn write<S: Sink + ?Sized>(&self, target: Target, json: &mut Writer<'_, S>) {
        match self {
            Self::Elicit(result) => result.write(target, json),
            Self::Sample(result) => result.write(target, json),
            Self::Roots(result) => result.write(target, json),
            Self::Unknown(result) => json.raw(result.raw()),
        }
    }
}

impl super::Encode for InputResponse<'_> {
    fn encode<S: Sink + ?Sized>(&self, version: ProtocolVersion, json: &mut Writer<'_, S>) {
        self.write(Target::of(version), json);
    }
}
