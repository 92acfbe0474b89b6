//! Why there is no connection, and why a call did not go out.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::error::ErrorCode;
use crate::model::ProtocolVersion;

/// Why connecting failed. The text of the server's in it is cut to what people read.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ConnectError {
    /// The two have no version in common that this client may speak.
    #[non_exhaustive]
    NoCommonVersion {
        /// What the client may speak.
        ours: Vec<ProtocolVersion>,
        /// What the server says it speaks, the first of them.
        theirs: Vec<String>,
    },
    /// The server answered with an error and named no versions.
    #[non_exhaustive]
    Refused {
        /// What was asked.
        method: &'static str,
        /// The error's code.
        code: ErrorCode,
        /// The error's message.
        message: String,
    },
    /// The server's answer is not one to that question.
    #[non_exhaustive]
    Malformed {
        /// What was asked.
        method: &'static str,
    },
    /// The transport has no answer, and knows why.
    #[non_exhaustive]
    Unanswered {
        /// What was asked.
        method: &'static str,
    },
    /// No answer in time.
    #[non_exhaustive]
    TimedOut {
        /// What was asked.
        method: &'static str,
    },
    /// The stream ended while the server was to answer. If that was `server/discover`, it may be a legacy server that does
    /// not survive it: start it again with a legacy [`known_version`](super::ClientConfig::known_version) (DET-05).
    #[non_exhaustive]
    Closed {
        /// What was asked.
        method: &'static str,
    },
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoCommonVersion { ours, theirs } => {
                f.write_str("no protocol version in common: the client speaks ")?;
                list(f, ours.iter().map(|version| version.as_str()))?;
                f.write_str("; the server speaks ")?;
                list(f, theirs.iter().map(String::as_str))
            }
            Self::Refused {
                method,
                code,
                message,
            } => write!(f, "the server refused `{method}`: {message} ({code})"),
            Self::Malformed { method } => {
                write!(f, "the server's answer to `{method}` is not one")
            }
            Self::Unanswered { method } => write!(f, "`{method}` was not answered"),
            Self::TimedOut { method } => write!(f, "the server did not answer `{method}` in time"),
            Self::Closed { method } => {
                write!(f, "the server's stream ended before it answered `{method}`")
            }
        }
    }
}

impl core::error::Error for ConnectError {}

fn list<'a>(f: &mut fmt::Formatter<'_>, mut names: impl Iterator<Item = &'a str>) -> fmt::Result {
    f.write_str(names.next().unwrap_or("none"))?;
    names.try_for_each(|name| write!(f, ", {name}"))
}

/// Why a call did not go out. Nothing was written, and no id was used up.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum CallError {
    /// Not connected yet: no request goes before the server's version is known (INIT-04).
    NotConnected,
    /// The connection is over, or never came to be.
    Closed,
    /// The version that is spoken has no such method from client to server, or it is the engine's own.
    NotInVersion(ProtocolVersion),
    /// The server did not declare this capability, such as `resources.subscribe`.
    NotOffered(&'static str),
    /// The params are not a JSON object.
    Params,
    /// As many requests are pending as [`Limits::max_pending`](crate::Limits::max_pending) allows.
    #[non_exhaustive]
    Busy {
        /// The limit.
        limit: usize,
    },
    /// The output has no room: flush it and try again.
    Full,
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotConnected => f.write_str("not connected yet"),
            Self::Closed => f.write_str("the connection is closed"),
            Self::NotInVersion(version) => {
                let version = version.as_str();
                write!(f, "no such request in version {version} of the protocol")
            }
            Self::NotOffered(capability) => {
                write!(f, "the server does not offer `{capability}`")
            }
            Self::Params => f.write_str("the params are not a JSON object"),
            Self::Busy { limit } => write!(f, "{limit} requests are pending already"),
            Self::Full => f.write_str("the output buffer is full: flush it and try again"),
        }
    }
}

impl core::error::Error for CallError {}
