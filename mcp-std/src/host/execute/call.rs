//! A call that a model makes, and what comes of it.

use core::fmt;
use core::time::Duration;
use std::sync::Arc;

use mcp_core::model::{CallToolResult, ContentBlock};
use serde_json::Value;

use super::super::adapters::fenced;
use super::super::guard::{Finding, Rule};
use super::super::pool::Unavailable;
use crate::client::CallError;

/// A call of a tool, as a model makes it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolCall {
    /// Names the call for the model; its reply has the same.
    pub id: String,
    /// The tool, by the name that the model was told.
    pub name: String,
    /// Its arguments: an object, or null for none.
    pub arguments: Value,
}

impl ToolCall {
    /// A call.
    pub fn new(
        id: impl Into<String>,
        name: impl Into<String>,
        arguments: impl Into<Value>,
    ) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            arguments: arguments.into(),
        }
    }
}

/// What came of a call.
#[derive(Debug)]
#[non_exhaustive]
pub struct ToolReply {
    /// That of the call.
    pub id: String,
    /// The tool, by the name that the model was told.
    pub name: String,
    /// The server; empty if there is no such tool, or if it is one of the host itself.
    pub server: Arc<str>,
    /// The result, which may say that the tool failed; or why there is none.
    pub outcome: Result<CallToolResult<'static>, ExecuteError>,
    /// It was written by a server, an error that it answered with included: what it says is for the model to read, and not to
    /// be obeyed.
    pub untrusted: bool,
    /// What is suspicious in it.
    pub findings: Vec<Finding>,
    /// How long it took, questions to the user and waiting included.
    pub elapsed: Duration,
}

impl ToolReply {
    /// Whether the model has to try something else: the tool failed, or there is no result.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.outcome.as_ref().map_or(true, |result| result.is_error)
    }

    /// The result for the model: what could not be done is said in one that says `isError`.
    #[must_use]
    pub fn for_model(&self) -> CallToolResult<'static> {
        /// A server's error is a sentence.
        const LONGEST: usize = 2000;
        match &self.outcome {
            Ok(result) => result.clone(),
            Err(error) => failed(&error.to_string().chars().take(LONGEST).collect::<String>()),
        }
    }

    /// [`for_model`](Self::for_model), with all that is a text for a model between marks that say from whom it is, if it is
    /// [untrusted](Self::untrusted): links, embedded resources and structured content become texts. What is between marks
    /// cannot end them: they have a number that nobody can guess.
    #[must_use]
    pub fn fenced(&self) -> CallToolResult<'static> {
        let result = self.for_model();
        if !self.untrusted {
            return result;
        }
        let key = crate::entropy::key();
        let number = u64::from_le_bytes(*key.first_chunk().expect("a key has 32 bytes"));
        let from = &self.server;
        fenced(&result, |text| {
            format!(
                "<untrusted from=\"{from}\" id=\"{number:016x}\">\n{text}\n</untrusted id=\"{number:016x}\">"
            )
        })
    }

    /// The texts of [`for_model`](Self::for_model), with line ends between them.
    #[must_use]
    pub fn text(&self) -> String {
        let result = self.for_model();
        let texts = result.content.iter().filter_map(|block| match block {
            ContentBlock::Text(block) => Some(&*block.text),
            ContentBlock::Image(_)
            | ContentBlock::Audio(_)
            | ContentBlock::ResourceLink(_)
            | ContentBlock::Resource(_)
            | ContentBlock::ToolUse(_)
            | ContentBlock::ToolResult(_)
            | ContentBlock::Unknown(_)
            | _ => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }
}

/// A result that says that it failed.
pub(super) fn failed(text: &str) -> CallToolResult<'static> {
    let mut result = CallToolResult::new(vec![ContentBlock::text(text.to_owned())]);
    result.is_error = true;
    result
}

/// Why there is no result.
#[derive(Debug)]
#[non_exhaustive]
pub enum ExecuteError {
    /// The model was not offered a tool of this name in this round.
    #[non_exhaustive]
    UnknownTool {
        /// The name.
        name: String,
        /// Names that it may have meant.
        near: Vec<String>,
    },
    /// The arguments are no object.
    Arguments(String),
    /// Somebody was asked, and said no; or nobody could be.
    NotApproved(String),
    /// A guard holds the tool back.
    Held(Rule),
    /// This server does not have the tool any more.
    Gone(Arc<str>),
    /// The server is not connected.
    Unavailable(Unavailable),
    /// The server failed too often, and is not asked for a while.
    #[non_exhaustive]
    CircuitOpen {
        /// The server.
        server: Arc<str>,
        /// When it is asked again.
        retry_in: Duration,
    },
    /// It did not come to its turn, or to its end, within this time.
    TimedOut(Duration),
    /// Something between the model and the server said no.
    Refused(String),
    /// The server was asked, and there is no result.
    Call(Box<CallError>),
}

impl ExecuteError {
    /// Whether it may hold words of the server's.
    pub(in crate::host) fn is_told_by_server(&self) -> bool {
        match self {
            // What a server that failed wrote is in it.
            Self::Unavailable(_) => true,
            Self::Call(error) => !matches!(**error, CallError::Cancelled | CallError::Timeout(_)),
            Self::UnknownTool { .. }
            | Self::Arguments(_)
            | Self::NotApproved(_)
            | Self::Held(_)
            | Self::Gone(_)
            | Self::CircuitOpen { .. }
            | Self::TimedOut(_)
            | Self::Refused(_) => false,
        }
    }

    /// Whether it says that the server is not well, and not only that this call was wrong.
    pub(super) fn is_of_server(&self) -> bool {
        match self {
            Self::Unavailable(_) | Self::TimedOut(_) => true,
            Self::Call(error) => matches!(
                **error,
                CallError::Timeout(_)
                    | CallError::Closed(_)
                    | CallError::Http { .. }
                    | CallError::Decode { .. }
                    | CallError::Answer { .. }
            ),
            Self::UnknownTool { .. }
            | Self::Arguments(_)
            | Self::NotApproved(_)
            | Self::Held(_)
            | Self::Gone(_)
            | Self::CircuitOpen { .. }
            | Self::Refused(_) => false,
        }
    }
}

impl fmt::Display for ExecuteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownTool { name, near } => {
                write!(f, "there is no tool `{name}`")?;
                if !near.is_empty() {
                    write!(f, "; is one of these meant: {}?", near.join(", "))?;
                }
                Ok(())
            }
            Self::Arguments(fault) => write!(f, "the arguments cannot be used: {fault}"),
            Self::NotApproved(reason) => write!(f, "the call was not approved: {reason}"),
            Self::Held(rule) => write!(f, "the tool is held back ({})", rule.as_str()),
            Self::Gone(server) => write!(f, "`{server}` does not offer the tool any more"),
            Self::Unavailable(error) => error.fmt(f),
            Self::CircuitOpen { server, retry_in } => write!(
                f,
                "`{server}` failed too often and is not asked for the next {} s",
                retry_in.as_secs() + 1
            ),
            Self::TimedOut(time) => write!(f, "it was not done within {time:?}"),
            Self::Refused(reason) => write!(f, "the call was refused: {reason}"),
            Self::Call(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for ExecuteError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Call(error) => Some(&**error),
            Self::Unavailable(error) => Some(error),
            Self::UnknownTool { .. }
            | Self::Arguments(_)
            | Self::NotApproved(_)
            | Self::Held(_)
            | Self::Gone(_)
            | Self::CircuitOpen { .. }
            | Self::TimedOut(_)
            | Self::Refused(_) => None,
        }
    }
}
