//! Errors, sorted by who has to act: the peer broke a rule ([`PeerFault`]), or a command of ours cannot go out now
//! ([`SendError`]).

mod code;

use core::fmt;

pub use code::ErrorCode;

use crate::json;
use crate::model::{ClientCapabilities, Era, ProtocolVersion};

/// The peer broke a rule. `Copy`, holds no text of the peer's; [`PeerFault::code`] is the one mapping to the wire
/// (ERR-01, ERR-02, ERR-03).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum PeerFault {
    /// The text is not JSON, or nests too deep.
    Json(json::Error),
    /// The message is longer than the limit and was discarded.
    #[non_exhaustive]
    TooLong {
        /// The limit, in bytes.
        limit: usize,
    },
    /// JSON, but not a JSON-RPC message of MCP (RPC-01 to RPC-13).
    Envelope(EnvelopeFault),
    /// A member of `params` is missing or is not what the method takes.
    #[non_exhaustive]
    Params {
        /// The member, as a path below `params`.
        field: &'static str,
        /// What it has to be; empty: it has to be there.
        expected: &'static str,
    },
    /// The method is unknown here, or its capability is not offered.
    MethodNotFound,
    /// No tool of that name (TOOL-21).
    UnknownTool,
    /// No prompt of that name (PMT-06, CMP-04).
    UnknownPrompt,
    /// No resource of that URI, and no template that it fits (RSC-03).
    #[non_exhaustive]
    UnknownResource {
        /// The eras have different codes for this.
        era: Era,
    },
    /// No resource or template to complete, of the URI in `ref` (CMP-04).
    UnknownReference,
    /// A prompt is wanted without an argument that it requires (PMT-06); the answer names it.
    MissingArgument,
    /// More subscriptions, or more URIs in them, than [`Limits`](crate::Limits) allow.
    #[non_exhaustive]
    Subscriptions {
        /// The limit.
        limit: usize,
    },
    /// The version named in `_meta` is not served statelessly (VER-02).
    UnsupportedVersion,
    /// The tool needs client capabilities that were not declared (MRTR-06).
    #[non_exhaustive]
    MissingCapability {
        /// What is needed and was not declared.
        missing: ClientCapabilities,
        /// The legacy era has no code of its own for this.
        era: Era,
    },
    /// The request belongs to an extension that was not declared (ERR-08); the answer names it.
    #[non_exhaustive]
    MissingExtension {
        /// Which: its position in the catalog.
        extension: usize,
        /// The legacy era has no code of its own for this.
        era: Era,
    },
    /// A header of the HTTP request does not say what the message in it says (VAL-01).
    #[non_exhaustive]
    Header {
        /// Which header.
        header: MirroredHeader,
        /// What is wrong with it.
        problem: HeaderProblem,
    },
    /// A request of the legacy era before `initialize`, or of the modern era without its `_meta`.
    NotInitialized,
    /// A second `initialize`: the first one settled the session.
    AlreadyInitialized(ProtocolVersion),
    /// The id belongs to a request that has not been answered yet (RPC-05, RPC-06).
    IdInUse,
    /// More requests in flight than [`Limits::max_in_flight`](crate::Limits::max_in_flight).
    #[non_exhaustive]
    Busy {
        /// The limit.
        limit: usize,
    },
    /// The answer is longer than the output can ever be: the server's fault, told to the peer.
    NoRoom,
    /// A response to nothing we asked. Never answered.
    UnexpectedResponse,
    /// A request from a server of the modern era, which must not send any (RPC-15). Never answered (RPC-16).
    UnexpectedRequest,
    /// A result whose `resultType` is unknown here, or one its request does not allow (RES-03, MRTR-02).
    ResultType,
}

/// A header that repeats something of the message in an HTTP request, for those who do not read the message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum MirroredHeader {
    /// `MCP-Protocol-Version`: the version in `_meta` (HDR-01).
    ProtocolVersion,
    /// `Mcp-Method`: the method (HDR-06).
    Method,
    /// `Mcp-Name`: the tool, prompt or resource that is meant (HDR-07).
    Name,
    /// `Mcp-Param-…`: an argument of the tool (XH-10), by its place among those of the tool that are mirrored.
    Param(u16),
}

/// What is wrong with a header.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum HeaderProblem {
    /// It has to be there, and is not.
    Missing,
    /// It says something else than the message, or is there where the message has nothing that it could repeat.
    Differs,
    /// Its value is not one: characters that do not belong there, base64 that is none (ENC-05), or several lines that
    /// differ (HDR-12).
    Malformed,
}

/// What is wrong with the envelope of a message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum EnvelopeFault {
    /// Not a JSON object.
    NotAnObject,
    /// A JSON array outside a session of 2025-03-26, the only revision with batches; or something in a batch that does
    /// not belong there: another batch, or a request of another era.
    Batch,
    /// A batch without messages.
    EmptyBatch,
    /// A batch of more messages than [`Limits::max_batch`](crate::Limits::max_batch).
    #[non_exhaustive]
    LongBatch {
        /// The limit.
        limit: usize,
    },
    /// `jsonrpc` is missing or is not `"2.0"`.
    Version,
    /// A member occurs twice, so that two readers could see two messages.
    Duplicate(&'static str),
    /// `id` is neither a string nor an integer from -2^63 to 2^63-1, or is too long (RPC-03, RPC-04).
    Id,
    /// `method` is not a string.
    Method,
    /// `params` is not an object (RPC-13).
    Params,
    /// `error` is not an object with an integer `code` and a string `message` (RPC-08).
    Error,
    /// Neither `method`, nor `result`, nor `error`.
    Shapeless,
    /// `method` beside `result` or `error`, or both of those (RPC-10).
    Ambiguous,
}

impl PeerFault {
    /// The code this fault has on the wire.
    #[must_use]
    pub const fn code(self) -> ErrorCode {
        match self {
            // That is JSON, for all we know.
            Self::Json(json::Error {
                kind: json::ErrorKind::TooDeep,
                ..
            }) => ErrorCode::INVALID_REQUEST,
            Self::Json(_) => ErrorCode::PARSE_ERROR,
            Self::TooLong { .. }
            | Self::Envelope(_)
            | Self::AlreadyInitialized(_)
            | Self::IdInUse
            | Self::UnexpectedResponse
            | Self::UnexpectedRequest
            | Self::ResultType => ErrorCode::INVALID_REQUEST,
            Self::MethodNotFound => ErrorCode::METHOD_NOT_FOUND,
            Self::UnknownResource { era: Era::Legacy } => ErrorCode::RESOURCE_NOT_FOUND,
            Self::Params { .. }
            | Self::UnknownTool
            | Self::UnknownPrompt
            | Self::UnknownResource { era: Era::Modern }
            | Self::UnknownReference
            | Self::MissingArgument
            | Self::NotInitialized
            | Self::MissingCapability {
                era: Era::Legacy, ..
            }
            | Self::MissingExtension {
                era: Era::Legacy, ..
            } => ErrorCode::INVALID_PARAMS,
            Self::Header { .. } => ErrorCode::HEADER_MISMATCH,
            Self::UnsupportedVersion => ErrorCode::UNSUPPORTED_PROTOCOL_VERSION,
            Self::MissingCapability {
                era: Era::Modern, ..
            }
            | Self::MissingExtension {
                era: Era::Modern, ..
            } => ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY,
            Self::Busy { .. } | Self::Subscriptions { .. } | Self::NoRoom => {
                ErrorCode::INTERNAL_ERROR
            }
        }
    }
}

impl fmt::Display for PeerFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json(error) if error.kind == json::ErrorKind::TooDeep => {
                write!(f, "Invalid request: {error}")
            }
            Self::Json(error) => write!(f, "Parse error: {error}"),
            Self::TooLong { limit } => {
                write!(f, "Message longer than {limit} bytes, discarded")
            }
            Self::Envelope(fault) => write!(f, "Invalid request: {fault}"),
            Self::Params {
                field,
                expected: "",
            } => write!(f, "Invalid params: `{field}` is missing"),
            Self::Params { field, expected } => {
                write!(f, "Invalid params: `{field}` must be {expected}")
            }
            Self::MethodNotFound => f.write_str("Method not found"),
            Self::UnknownTool => f.write_str("Unknown tool"),
            Self::UnknownPrompt => f.write_str("Unknown prompt"),
            Self::UnknownResource { .. } => f.write_str("Resource not found"),
            Self::UnknownReference => f.write_str("Unknown resource or template"),
            Self::MissingArgument => f.write_str("Missing required argument"),
            Self::Subscriptions { limit } => {
                write!(f, "Too many subscriptions: at most {limit} at once")
            }
            Self::UnsupportedVersion => f.write_str("Unsupported protocol version"),
            Self::MissingCapability { missing, .. } => {
                write!(f, "The client did not declare what this needs: {missing}")
            }
            Self::MissingExtension { .. } => {
                f.write_str("The client did not declare the extension that this belongs to")
            }
            Self::Header { header, problem } => {
                let problem = match problem {
                    HeaderProblem::Missing => "is missing",
                    HeaderProblem::Differs => "does not agree with the body",
                    HeaderProblem::Malformed => "is malformed",
                };
                let header = match header {
                    MirroredHeader::ProtocolVersion => "MCP-Protocol-Version",
                    MirroredHeader::Method => "Mcp-Method",
                    MirroredHeader::Name => "Mcp-Name",
                    MirroredHeader::Param(_) => "Mcp-Param",
                };
                write!(f, "Header mismatch: `{header}` {problem}")
            }
            Self::NotInitialized => f.write_str(
                "Neither era applies: send `initialize` first, or \
                 `params._meta[\"io.modelcontextprotocol/protocolVersion\"]` with every request",
            ),
            Self::AlreadyInitialized(version) => {
                write!(
                    f,
                    "Invalid request: already initialized with {}",
                    version.as_str()
                )
            }
            Self::IdInUse => {
                f.write_str("Invalid request: `id` belongs to a request that is not answered yet")
            }
            Self::NoRoom => f.write_str("the answer is too long for this server"),
            Self::Busy { limit } => {
                write!(
                    f,
                    "Server busy: {limit} requests are in flight, retry later"
                )
            }
            Self::UnexpectedResponse => f.write_str("A response to no request of ours"),
            Self::UnexpectedRequest => f.write_str("Servers of this version send no requests"),
            Self::ResultType => {
                f.write_str("Invalid result: its `resultType` is not one this request can have")
            }
        }
    }
}

impl core::error::Error for PeerFault {}

impl From<EnvelopeFault> for PeerFault {
    fn from(fault: EnvelopeFault) -> Self {
        Self::Envelope(fault)
    }
}

impl fmt::Display for EnvelopeFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotAnObject => "a message is a JSON object",
            Self::Batch => "no batch here, send one message at a time",
            Self::EmptyBatch => "a batch holds at least one message",
            Self::LongBatch { limit } => {
                return write!(f, "a batch holds at most {limit} messages");
            }
            Self::Version => "`jsonrpc` must be \"2.0\"",
            Self::Duplicate(member) => return write!(f, "`{member}` occurs twice"),
            Self::Id => {
                "`id` must be a string of Unicode or an integer of 64 bits, and not too long"
            }
            Self::Method => "`method` must be a string",
            Self::Params => "`params` must be an object",
            Self::Error => {
                "`error` must be an object with an integer `code` and a string `message`"
            }
            Self::Shapeless => "one of `method`, `result` and `error` must be there",
            Self::Ambiguous => "only one of `method`, `result` and `error` may be there",
        })
    }
}

/// A command that cannot go out: not now, or not any more.
#[derive(Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum SendError<T> {
    /// What it is about is over: answered or cancelled. Nothing was written.
    Stale,
    /// The output has no room. Nothing was written; flush and try again, with what comes back here.
    Full(T),
}

impl<T> fmt::Display for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Stale => "the request is over: it was answered or cancelled",
            Self::Full(_) => "the output buffer is full: flush it and try again",
        })
    }
}

impl<T: fmt::Debug> core::error::Error for SendError<T> {}

#[cfg(test)]
mod tests {
    use super::*;

    /// ERR-01, ERR-02, ERR-03: the codes of JSON-RPC, and of the others those that the specification gives a meaning.
    #[test]
    fn hm_06_codes_are_those_of_the_specification() {
        let missing = ClientCapabilities::SAMPLING;
        let expected = "a string";
        let standard = [
            PeerFault::TooLong { limit: 1 },
            EnvelopeFault::Batch.into(),
            PeerFault::Params {
                field: "name",
                expected,
            },
            PeerFault::MethodNotFound,
            PeerFault::UnknownTool,
            PeerFault::UnknownPrompt,
            PeerFault::UnknownResource { era: Era::Modern },
            PeerFault::UnknownReference,
            PeerFault::MissingArgument,
            PeerFault::Subscriptions { limit: 1 },
            PeerFault::MissingCapability {
                missing,
                era: Era::Legacy,
            },
            PeerFault::NotInitialized,
            PeerFault::AlreadyInitialized(ProtocolVersion::V2025_11_25),
            PeerFault::IdInUse,
            PeerFault::Busy { limit: 1 },
            PeerFault::NoRoom,
            PeerFault::UnexpectedResponse,
            PeerFault::UnexpectedRequest,
            PeerFault::ResultType,
        ];
        for fault in standard {
            let code = fault.code().value();
            assert!(
                matches!(code, -32603..=-32600 | -32700),
                "{fault:?}: {code}"
            );
        }
        for (fault, code) in [
            (PeerFault::UnknownResource { era: Era::Legacy }, -32002),
            (
                PeerFault::MissingCapability {
                    missing,
                    era: Era::Modern,
                },
                -32021,
            ),
            (PeerFault::UnsupportedVersion, -32022),
        ] {
            assert_eq!(fault.code().value(), code, "{fault:?}");
        }
    }
}
