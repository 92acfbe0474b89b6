//! Requests that are refused by the transport, before an engine sees a message.

use core::fmt;

use crate::error::{ErrorCode, PeerFault};
use crate::json::{Full, Sink};
use crate::model::Era;
use crate::rpc::write_error;

/// A request that is not served: its status, and a JSON-RPC error without id as the body (HTTP-09).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Refusal {
    status: u16,
    message: &'static str,
    allow: Option<&'static str>,
}

impl Refusal {
    /// The session is not known: it never was, has ended, or is somebody else's (LH-25). The client begins another one.
    pub const NO_SESSION: Self = Self::new(
        404,
        "Session not found: begin another one with `initialize`",
    );
    /// No session is named where there has to be one (LH-24).
    pub const MISSING_SESSION: Self = Self::new(400, "`Mcp-Session-Id` is missing");
    /// The body is longer than a message may be.
    pub const TOO_LARGE: Self = Self::new(413, "The body is longer than this server takes");
    /// The body did not come in time.
    pub const TOO_SLOW: Self = Self::new(408, "The body did not come in time");
    /// The body did not come whole.
    pub const BROKEN: Self = Self::new(400, "The body did not come whole");
    /// The answer is a stream of events, which the client does not take.
    pub const ONLY_EVENTS: Self = Self::new(406, "`Accept` has to list text/event-stream");
    /// There are as many sessions, or streams of one, as there may be.
    pub const BUSY: Self = Self::new(
        503,
        "Server busy: too many sessions or streams, retry later",
    );

    pub(super) const fn new(status: u16, message: &'static str) -> Self {
        Self {
            status,
            message,
            allow: None,
        }
    }

    pub(super) const fn allowing(self, methods: &'static str) -> Self {
        Self {
            allow: Some(methods),
            ..self
        }
    }

    /// The status of the response.
    #[must_use]
    pub const fn status(self) -> u16 {
        self.status
    }

    /// The header `Allow`, of a response that has it.
    #[must_use]
    pub const fn allow(self) -> Option<&'static str> {
        self.allow
    }

    /// Appends the body of the response: JSON.
    ///
    /// # Errors
    ///
    /// [`Full`] if the sink has no room for it.
    pub fn write<S: Sink + ?Sized>(self, out: &mut S) -> Result<(), Full> {
        write_error(out, None, ErrorCode::INVALID_REQUEST, self.message, |_| {})
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.status, self.message)
    }
}

impl core::error::Error for Refusal {}

/// The status of a response whose body is the error that a fault of the request is (spec, Streamable HTTP, and VAL-01).
///
/// Where the specification names none, it is 200: the HTTP request was served, and its JSON-RPC request failed.
#[must_use]
pub fn status(fault: PeerFault, era: Era) -> u16 {
    match (fault, era) {
        (PeerFault::TooLong { .. }, _) => 413,
        (
            PeerFault::Json(_)
            | PeerFault::Envelope(_)
            | PeerFault::NotInitialized
            | PeerFault::AlreadyInitialized(_)
            | PeerFault::IdInUse
            | PeerFault::Header { .. },
            _,
        ) => 400,
        // In a session it may have been too late, which is nobody's fault.
        (PeerFault::UnexpectedResponse, Era::Modern) => 400,
        // HDR-04.
        (PeerFault::MethodNotFound, Era::Modern) => 404,
        // HDR-03, ERR-08.
        (
            PeerFault::UnsupportedVersion
            | PeerFault::MissingCapability { .. }
            | PeerFault::MissingExtension { .. },
            Era::Modern,
        ) => 400,
        // META-11.
        (PeerFault::Params { field, .. }, Era::Modern) if field.starts_with("_meta") => 400,
        (PeerFault::Busy { .. }, _) => 503,
        _ => 200,
    }
}

/// The same for an answer that a handler gave: a capability that it needs and the client did not declare.
pub const MISSING_CAPABILITY: u16 = 400;
