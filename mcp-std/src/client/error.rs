//! What can go wrong, sorted by who can do something about it.

use core::fmt::{self, Write as _};
use core::time::Duration;
use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use mcp_core::ErrorCode;
use mcp_core::binding::http::client::HttpFault;
use mcp_core::engine::client::{ConnectError as HandshakeError, RemoteError};
use mcp_core::json::{Json, RawJson};
use mcp_core::model::{
    CallToolResult, ContentBlock, Decode, DecodeError, ElicitRequestUrlParams, ProtocolVersion,
};
use mcp_io::child::{Exit, SpawnError, Step};

use super::pager::PagingFault;

/// A call did not bring what it was to bring.
#[derive(Debug)]
#[non_exhaustive]
pub enum CallError {
    /// The server refused the call, with a JSON-RPC error. The connection goes on.
    Protocol(ErrorAnswer),
    /// The user is to visit these pages first; then the call can be made again. Only servers of 2025-11-25 answer
    /// so. The user has to see each address whole and to agree before it is opened.
    // ELI-13, ELI-17.
    #[non_exhaustive]
    UrlElicitationRequired {
        /// The pages, and why: one at least.
        elicitations: Vec<ElicitRequestUrlParams<'static>>,
        /// The error itself.
        answer: ErrorAnswer,
    },
    /// The tool ran and failed: its result says `isError`. Only [`ToolOutcome::into_result`](super::ToolOutcome::into_result) makes an error
    /// of that, since it is the model that is to read it.
    Tool(Box<CallToolResult<'static>>),
    /// No answer in time. The server was told that nobody waits any more.
    Timeout(Timeout),
    /// [`Canceller::cancel`](super::Canceller::cancel) was called. The server was told.
    Cancelled,
    /// The connection is gone, and the call with it: the server may have done its work or not.
    Closed(Closed),
    /// The server at a URL did not answer. The connection goes on.
    /// [`is_uncommitted`](HttpFault::is_uncommitted) tells whether the server can have done its work.
    #[non_exhaustive]
    Http {
        /// The method that was called.
        method: Cow<'static, str>,
        /// What went wrong.
        fault: HttpFault,
    },
    /// The answer is not what the method's answer is to be.
    #[non_exhaustive]
    Decode {
        /// The method that was called.
        method: Cow<'static, str>,
        /// What is wrong.
        error: DecodeError,
    },
    /// The answer breaks the protocol itself: `result` beside `error`, a `resultType` nobody has heard of, input required
    /// where none may be.
    // RES-03.
    #[non_exhaustive]
    Answer {
        /// The method that was called.
        method: Cow<'static, str>,
        /// What is wrong.
        fault: String,
    },
    /// The call was not made: the server did not declare what it needs, or its revision does not have it.
    Unsupported(Unsupported),
    /// The call was not made: the arguments are not a JSON object, or cannot be written as JSON.
    Arguments(String),
    /// The server asked for input again and again.
    // MRTR-20.
    #[non_exhaustive]
    TooManyRounds {
        /// So many times it was answered.
        limit: usize,
    },
    /// The server needs something that this client's user, or its program, does not give.
    #[non_exhaustive]
    Declined {
        /// The method of what was asked for, such as `sampling/createMessage`.
        what: String,
        /// Why.
        reason: String,
    },
    /// A list that cannot be read to its end.
    Paging(PagingFault),
    /// The result does not fit the tool's output schema.
    Schema(String),
}

/// A JSON-RPC error that a server answered with.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct ErrorAnswer {
    /// The code.
    pub code: ErrorCode,
    /// One sentence, the server's. Not to be trusted.
    pub message: String,
    /// More, if there is more.
    pub data: Option<Json<'static>>,
}

impl ErrorAnswer {
    pub(super) fn new(error: &RemoteError<'_>) -> Self {
        Self {
            code: error.code,
            message: error.message.decode().into_owned(),
            data: error.data.map(|data| Json::from(data).into_owned()),
        }
    }

    /// One that stands as a value in a result. `None`: it is none.
    pub(super) fn read(error: RawJson<'_>) -> Option<Self> {
        let code = error.member("code")?.as_number()?.as_i64()?;
        let message = error.member("message")?.as_string()?;
        let data = error.member("data").filter(|data| !data.is_null());
        Some(Self {
            code: ErrorCode::new(code),
            message: message.decode().into_owned(),
            data: data.map(|data| Json::from(data).into_owned()),
        })
    }

    /// As the error of a call of the revision that is spoken.
    pub(super) fn into_call_error(self, version: Option<ProtocolVersion>) -> CallError {
        let is_one = self.code == ErrorCode::URL_ELICITATION_REQUIRED
            && version == Some(ProtocolVersion::V2025_11_25);
        let elicitations = self.data.as_ref().filter(|_| is_one).and_then(elicitations);
        match elicitations {
            Some(elicitations) => CallError::UrlElicitationRequired {
                elicitations,
                answer: self,
            },
            None => CallError::Protocol(self),
        }
    }

    /// What was not sent, since the engine knows how it would be answered.
    pub(super) fn own(error: &impl fmt::Display) -> Self {
        Self {
            code: ErrorCode::METHOD_NOT_FOUND,
            message: error.to_string(),
            data: None,
        }
    }

    /// Whether it says that a resource does not exist, in the way of any revision; beside `resources/read` the second code
    /// says other things too.
    // ERR-06.
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        const LEGACY: ErrorCode = ErrorCode::new(-32002);
        self.code == LEGACY || self.code == ErrorCode::INVALID_PARAMS
    }
}

/// The pages of an error that asks for some. `None`: there are none, or one of them is none.
fn elicitations(data: &Json<'_>) -> Option<Vec<ElicitRequestUrlParams<'static>>> {
    let mut members = data.raw().as_object()?;
    let (_, pages) = members.find(|(name, _)| *name == "elicitations")?;
    let page = |page| {
        ElicitRequestUrlParams::decode(page)
            .ok()
            .map(ElicitRequestUrlParams::into_owned)
    };
    let pages: Vec<_> = pages.as_array()?.map(page).collect::<Option<_>>()?;
    (!pages.is_empty()).then_some(pages)
}

/// Which time was over.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Timeout {
    /// Nothing came for so long: no answer, no progress.
    Request(Duration),
    /// There was no end for so long altogether: whatever came, and whatever the call waited for.
    Total(Duration),
}

/// Why there is no connection any more. Cheap to clone.
#[derive(Clone)]
pub struct Closed(pub(super) Arc<Ending>);

pub(super) struct Ending {
    pub(super) reason: ClosedReason,
    pub(super) exit: OnceLock<Exit>,
    pub(super) stderr: String,
}

/// What ended a connection.
#[derive(Debug)]
#[non_exhaustive]
pub enum ClosedReason {
    /// This side: [`Client::close`](super::Client::close), or the last client was dropped, or the task of the connection was
    /// ([`ClientBuilder::spawner`](super::ClientBuilder::spawner)).
    Us,
    /// The server: its process ended, or it closed the stream.
    Server,
    /// The stream failed.
    Transport(mcp_io::Error),
    /// The server was silent for the idle time, and did not answer when asked.
    Silent(Duration),
    /// There is no way any more to the server at its URL.
    Http(HttpFault),
    /// No connection could be made after the last one had ended.
    Connect(ConnectError),
}

impl Closed {
    pub(super) fn new(reason: ClosedReason) -> Self {
        Self(Arc::new(Ending {
            reason,
            exit: OnceLock::new(),
            stderr: String::new(),
        }))
    }

    pub(super) fn with_child(reason: ClosedReason, exit: Option<Exit>, stderr: String) -> Self {
        Self(Arc::new(Ending {
            reason,
            exit: exit.map(OnceLock::from).unwrap_or_default(),
            stderr,
        }))
    }

    /// How the process ended is known now.
    pub(super) fn exited(&self, exit: Exit) {
        // Known already: nothing new.
        let _ = self.0.exit.set(exit);
    }

    /// What ended it.
    #[must_use]
    pub fn reason(&self) -> &ClosedReason {
        &self.0.reason
    }

    /// How the process ended, if the server is a child process of ours and has ended.
    #[must_use]
    pub fn exit(&self) -> Option<Exit> {
        self.0.exit.get().copied()
    }

    /// The last that the process wrote to standard error. Empty if that was not captured.
    #[must_use]
    pub fn stderr(&self) -> &str {
        &self.0.stderr
    }
}

impl fmt::Debug for Closed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Closed")
            .field("reason", self.reason())
            .field("exit", &self.exit().map(|exit| exit.to_string()))
            .field("stderr", &self.stderr())
            .finish()
    }
}

/// No connection came about.
#[derive(Debug)]
#[non_exhaustive]
pub enum ConnectError {
    /// The program cannot be started.
    Spawn(SpawnError),
    /// The URL, a header, the proxy or an authority cannot be used; nothing was sent.
    Config(String),
    /// The server at the URL did not answer.
    Http(HttpFault),
    /// The connection ended before the server had said who it is.
    Closed(Closed),
    /// The two did not come to terms: no revision in common, a refusal, no answer in time, or none that is one.
    Handshake(HandshakeError),
}

/// What this needs is not there, as far as the server declared.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Unsupported {
    /// The revision that is spoken does not have it.
    Revision(ProtocolVersion),
    /// The server did not declare this capability.
    Capability(&'static str),
    /// This client did not declare it: no roots were set before it was connected.
    Roots,
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Protocol(answer) => answer.fmt(f),
            Self::UrlElicitationRequired {
                elicitations,
                answer,
            } => {
                let count = elicitations.len();
                write!(f, "{answer}; pages to be visited first: {count}")
            }
            Self::Tool(result) => {
                f.write_str("the tool failed")?;
                let text = result.content.iter().find_map(|block| {
                    if let ContentBlock::Text(text) = block {
                        Some(&text.text)
                    } else {
                        None
                    }
                });
                text.map_or(Ok(()), |text| write!(f, ": {text}"))
            }
            Self::Timeout(timeout) => timeout.fmt(f),
            Self::Cancelled => f.write_str("the call was cancelled"),
            Self::Closed(closed) => closed.fmt(f),
            Self::Http { method, fault } => write!(f, "no answer to `{method}`: {fault}"),
            Self::Decode { method, error } => {
                write!(
                    f,
                    "the answer to `{method}` is not as the protocol has it: {error}"
                )
            }
            Self::Answer { method, fault } => {
                write!(f, "the answer to `{method}` breaks the protocol: {fault}")
            }
            Self::Unsupported(what) => write!(f, "not sent: {what}"),
            Self::Arguments(fault) => write!(f, "not sent: {fault}"),
            Self::TooManyRounds { limit } => write!(
                f,
                "the server asked for input {limit} times without an end; raise `ClientBuilder::max_rounds` if it may"
            ),
            Self::Declined { what, reason } => {
                write!(f, "the server needs `{what}`, which was declined: {reason}")
            }
            Self::Paging(fault) => fault.fmt(f),
            Self::Schema(fault) => {
                write!(
                    f,
                    "the result does not fit the tool's output schema: {fault}"
                )
            }
        }
    }
}

impl core::error::Error for CallError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Closed(closed) => closed.source(),
            Self::Decode { error, .. } => Some(error),
            Self::Http { fault, .. } => Some(fault),
            Self::Protocol(_)
            | Self::UrlElicitationRequired { .. }
            | Self::Tool(_)
            | Self::Timeout(_)
            | Self::Cancelled
            | Self::Answer { .. }
            | Self::Unsupported(_)
            | Self::Arguments(_)
            | Self::TooManyRounds { .. }
            | Self::Declined { .. }
            | Self::Paging(_)
            | Self::Schema(_) => None,
        }
    }
}

impl fmt::Display for ErrorAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the server refused: {} ({})",
            self.message,
            self.code.value()
        )
    }
}

impl core::error::Error for ErrorAnswer {}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Revision(version) => write!(
                f,
                "revision {}, which the server speaks, does not have it",
                version.as_str()
            ),
            Self::Capability(name) => write!(f, "the server does not offer `{name}`"),
            Self::Roots => f.write_str(
                "servers were not told of roots; set them with `ClientBuilder::roots` before connecting",
            ),
        }
    }
}

impl fmt::Display for Timeout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Request(time) => write!(
                f,
                "no answer within {time:?}; `CallOptions::timeout` or `Timeouts::request` allows more"
            ),
            Self::Total(time) => write!(
                f,
                "no end within {time:?} altogether; `CallOptions::max_total` or `Timeouts::max_total` allows more"
            ),
        }
    }
}

impl fmt::Display for Closed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What became of a process that was sent a signal says nothing of why the connection ended.
        let exit = self.exit().filter(|exit| exit.step <= Step::Closed);
        match self.reason() {
            ClosedReason::Us => f.write_str("the connection was closed on this side")?,
            ClosedReason::Server if exit.is_some_and(|exit| exit.step == Step::Itself) => {
                f.write_str("the server's process ended")?
            }
            ClosedReason::Server => f.write_str("the server closed the connection")?,
            ClosedReason::Transport(error) => write!(f, "the connection failed: {error}")?,
            ClosedReason::Silent(time) => {
                write!(
                    f,
                    "the server was silent for {time:?} and did not answer when asked"
                )?;
            }
            ClosedReason::Http(fault) => write!(f, "the server is gone: {fault}")?,
            ClosedReason::Connect(error) => {
                write!(f, "the server could not be started again: {error}")?
            }
        }
        if let Some(exit) = exit {
            write!(f, " ({exit})")?;
        }
        let last = self.stderr().trim_end();
        if !last.is_empty() {
            f.write_str("; its last words: ")?;
            tail(last)
                .chars()
                .map(shown)
                .try_for_each(|char| f.write_char(char))?;
        }
        Ok(())
    }
}

/// Messages end up on terminals and in logs: what would steer them, or turn the direction of a text, is not let through.
fn shown(char: char) -> char {
    match char {
        '\n' => char,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => char::REPLACEMENT_CHARACTER,
        _ if char.is_control() => char::REPLACEMENT_CHARACTER,
        _ => char,
    }
}

/// The last lines, for an error message.
fn tail(text: &str) -> &str {
    const SHOWN: usize = 500;
    let start = text.len().saturating_sub(SHOWN);
    let start = (start..=text.len())
        .find(|&at| text.is_char_boundary(at))
        .unwrap_or_default();
    &text[start..]
}

impl core::error::Error for Closed {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self.reason() {
            ClosedReason::Transport(error) => Some(error),
            ClosedReason::Http(fault) => Some(fault),
            ClosedReason::Connect(error) => Some(error),
            ClosedReason::Us | ClosedReason::Server | ClosedReason::Silent(_) => None,
        }
    }
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Spawn(error) => error.fmt(f),
            Self::Config(reason) => f.write_str(reason),
            Self::Http(fault) => write!(f, "no handshake: {fault}"),
            Self::Closed(closed) => write!(f, "no handshake: {closed}"),
            Self::Handshake(error @ HandshakeError::TimedOut { .. }) => write!(
                f,
                "{error}; it is no MCP server, or needs more time (`ClientBuilder::connect_timeout`)"
            ),
            Self::Handshake(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for ConnectError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Spawn(error) => Some(error),
            Self::Config(_) => None,
            Self::Http(fault) => Some(fault),
            Self::Closed(closed) => closed.source(),
            Self::Handshake(error) => Some(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_words_steer_no_terminal() {
        let words = "\u{1b}[31mred\u{7}\r\nnext\u{202e}line\u{2066}\u{9b}2J é";
        let closed = Closed::with_child(ClosedReason::Server, None, words.to_owned());
        let text = closed.to_string();
        let said =
            "its last words: \u{fffd}[31mred\u{fffd}\u{fffd}\nnext\u{fffd}line\u{fffd}\u{fffd}2J é";
        assert!(text.ends_with(said), "{text:?}");
        assert_eq!(closed.stderr(), words, "as it was, for who asks");
    }
}
