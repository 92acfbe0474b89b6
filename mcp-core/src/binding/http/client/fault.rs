//! Why a request has no answer.

use alloc::string::String;
use core::fmt;

/// What went wrong with an exchange, or with a session.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum HttpFault {
    /// There was no exchange, or it broke before the head of the response.
    #[non_exhaustive]
    Exchange {
        /// Nothing was sent.
        unsent: bool,
        /// What the driver says.
        reason: String,
    },
    /// The server wants to know who asks, and there is nothing that it would take: so the driver found out (DET-10).
    #[non_exhaustive]
    Unauthorized {
        /// What the driver says.
        reason: String,
    },
    /// The status is an error, and the body is no answer.
    #[non_exhaustive]
    Status {
        /// The status.
        status: u16,
        /// What the body says: the message of a JSON-RPC error, or the beginning of any other text; untrusted.
        body: String,
        /// The scopes that the request takes, if it is refused for lack of them (RFC 6750, section 3.1); untrusted.
        scope: Option<String>,
    },
    /// The body is neither JSON nor an event stream.
    #[non_exhaustive]
    ContentType {
        /// What it says it is; untrusted.
        found: String,
    },
    /// The body has a content coding, though none was offered (DX-03).
    #[non_exhaustive]
    ContentCoding {
        /// Which one; untrusted.
        found: String,
    },
    /// The body ended, or broke, without the answer (HC-06). Whether the request was carried out is unknown.
    #[non_exhaustive]
    Truncated {
        /// What the driver says, if the body broke.
        reason: Option<String>,
    },
    /// The stream could not be resumed.
    #[non_exhaustive]
    Unresumable {
        /// The status of the attempt; `None`: there were too many attempts.
        status: Option<u16>,
    },
    /// The server accepted the request as if it wanted no answer.
    #[non_exhaustive]
    Unanswered {
        /// The status.
        status: u16,
    },
    /// The body, or an event, is longer than the limit.
    #[non_exhaustive]
    TooLong {
        /// The limit, in bytes.
        limit: usize,
    },
    /// Session ids that differ from each other, or one that is not visible ASCII (HC-08).
    SessionId,
    /// An argument that is mirrored into a header has no text there (XH-17): the call was not sent.
    #[non_exhaustive]
    Argument {
        /// Where it is, from `arguments` on.
        path: String,
        /// What is wrong.
        reason: String,
    },
    /// The session is over, and could not be begun anew, or was over again at once (SN-01).
    #[non_exhaustive]
    SessionLost {
        /// Why there is no new one.
        reason: &'static str,
    },
    /// The server's own endpoint, where messages are to go, is of another origin or is none (DX-08).
    #[non_exhaustive]
    Endpoint {
        /// What the server named; untrusted.
        found: String,
    },
}

impl HttpFault {
    /// Whether the server cannot have carried out the request: sending it again does nothing twice.
    #[must_use]
    pub const fn is_uncommitted(&self) -> bool {
        match self {
            Self::Exchange { unsent, .. } => *unsent,
            Self::Status { status, .. } => 400 <= *status && *status < 500,
            Self::Argument { .. } | Self::Unauthorized { .. } => true,
            Self::ContentType { .. }
            | Self::ContentCoding { .. }
            | Self::Truncated { .. }
            | Self::Unresumable { .. }
            | Self::Unanswered { .. }
            | Self::TooLong { .. }
            | Self::SessionId
            | Self::SessionLost { .. }
            | Self::Endpoint { .. } => false,
        }
    }

    /// Whether the same request, with a new id, may go better: the exchange broke, and nothing that was said was wrong
    /// (HTTP-20). Whether it may be sent twice is another question.
    #[must_use]
    pub const fn is_transient(&self) -> bool {
        match self {
            Self::Exchange { .. } | Self::Truncated { .. } => true,
            Self::Status { status, .. } => matches!(status, 502..=504),
            Self::Unauthorized { .. }
            | Self::ContentType { .. }
            | Self::ContentCoding { .. }
            | Self::Unresumable { .. }
            | Self::Unanswered { .. }
            | Self::TooLong { .. }
            | Self::SessionId
            | Self::Argument { .. }
            | Self::SessionLost { .. }
            | Self::Endpoint { .. } => false,
        }
    }
}

impl fmt::Display for HttpFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exchange { reason, .. } => f.write_str(reason),
            Self::Unauthorized { reason } => {
                write!(f, "the server wants to know who asks: {reason}")
            }
            Self::Status {
                status,
                body,
                scope,
            } => {
                write!(f, "the server answers with status {status}")?;
                match status {
                    401 => f.write_str(", it wants to know who asks")?,
                    404 => f.write_str(", there is nothing at this URL")?,
                    413 | 431 => f.write_str(", the request is too large for it")?,
                    _ => {}
                }
                if !body.is_empty() {
                    write!(f, ": {body}")?;
                }
                let Some(scope) = scope else { return Ok(()) };
                write!(f, "; the scopes that it takes: {scope}")
            }
            Self::ContentType { found } => write!(
                f,
                "the answer is neither JSON nor an event stream but `{found}`: this may not be the URL of an MCP server"
            ),
            Self::ContentCoding { found } => {
                write!(
                    f,
                    "the answer has the content coding `{found}`, which was not offered"
                )
            }
            Self::Truncated { reason } => {
                f.write_str("the stream ended without the answer, and what became of the request is unknown")?;
                reason
                    .as_ref()
                    .map_or(Ok(()), |reason| write!(f, ": {reason}"))
            }
            Self::Unresumable { status } => {
                f.write_str("the stream was interrupted and could not be resumed")?;
                status.map_or(Ok(()), |status| write!(f, " (status {status})"))
            }
            Self::Unanswered { status } => {
                write!(
                    f,
                    "the server took the request for a notification (status {status})"
                )
            }
            Self::TooLong { limit } => write!(f, "the answer is longer than {limit} bytes"),
            Self::SessionId => f.write_str("the server's session id is not one"),
            Self::Argument { path, reason } => write!(f, "the argument `{path}`: {reason}"),
            Self::SessionLost { reason } => write!(f, "the session is over, {reason}"),
            Self::Endpoint { found } => write!(
                f,
                "the server wants messages at `{found}`, which is not of its origin"
            ),
        }
    }
}

impl core::error::Error for HttpFault {}
