//! What comes of a message.

use super::{Batch, Declared, Listening};
use crate::engine::{CallKey, ReplyToken, RequestKey};
use crate::error::PeerFault;
use crate::json::{JsonStr, RawJson};
use crate::model::{ClientCapabilities, LoggingLevel, ProtocolVersion};
use crate::rpc::Outcome;

/// What came of a message.
#[derive(Debug)]
#[must_use = "a call in it has to be answered"]
#[non_exhaustive]
pub enum Incoming<'b> {
    /// The engine has dealt with it; if an answer was due, it is in the output.
    Handled,
    /// Something is to be done, and answered.
    Call(Call<'b>),
    /// Several messages in one, of a peer of 2025-03-26: take them with
    /// [`next_in_batch`](super::ServerEngine::next_in_batch) until there are none.
    Batch(Batch<'b>),
    /// The peer no longer wants the answer of this call. Its token is stale; stop the work (CAN-04).
    Cancelled(CallKey),
    /// The peer answered a request of ours.
    Answer(Answer<'b>),
    /// A client wants to listen for topics of extensions: to be given to
    /// [`listen_to`](super::ServerEngine::listen_to), with a word on each of them.
    Listen(Listening<'b>),
    /// A notification of an extension.
    Notification(ExtensionNotification<'b>),
    /// What the client lets servers work on is not what it was: ask for its roots again.
    RootsChanged,
    /// The peer broke a rule; if an answer was due, it is in the output.
    Rejected(PeerFault),
    /// The output has no room for the answer. Nothing has changed: flush it and offer the same message again.
    Blocked,
}

/// A request that was accepted: what it names exists, and the client can do what that requires.
#[derive(Debug)]
#[non_exhaustive]
pub struct Call<'b> {
    /// Answers it.
    pub token: ReplyToken,
    /// What is wanted.
    pub request: CallRequest<'b>,
    /// The version it is served under.
    pub version: ProtocolVersion,
    /// What the client declared for this request or session.
    pub capabilities: ClientCapabilities,
    /// The extensions that the client declared for this request or session.
    pub extensions: Declared,
    /// The params as they came.
    pub params: Option<RawJson<'b>>,
    /// Whether progress notifications are wanted.
    pub wants_progress: bool,
    /// From which level on log messages are sent to the client about this request; `None`: none are.
    pub log_level: Option<LoggingLevel>,
    /// `_meta` as it came: trace context and what else clients put there (META-15).
    pub meta: Option<RawJson<'b>>,
    /// Answers to what was [asked for](super::ServerEngine::require_input) when the request was made before: an object,
    /// its members to be checked (MRTR-18). Modern requests only.
    pub input_responses: Option<RawJson<'b>>,
    /// What was given along with that, as the client says: it may have been changed (MRTR-15). Modern requests only.
    pub request_state: Option<JsonStr<'b>>,
}

/// What is wanted.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum CallRequest<'b> {
    /// `tools/call`, answered with a [`CallToolResult`](crate::model::CallToolResult).
    #[non_exhaustive]
    Tool {
        /// Which one: its position in the [`Catalog`](super::Catalog).
        tool: usize,
        /// The arguments, an object; `None` if absent or null. Not checked against the tool's schema.
        arguments: Option<RawJson<'b>>,
    },
    /// `resources/read`, answered with a [`ReadResourceResult`](crate::model::ReadResourceResult).
    #[non_exhaustive]
    Resource {
        /// The URI as it was asked for.
        uri: JsonStr<'b>,
        /// What it belongs to.
        target: ResourceTarget,
    },
    /// `prompts/get`, answered with a [`GetPromptResult`](crate::model::GetPromptResult).
    #[non_exhaustive]
    Prompt {
        /// Which one: its position in the [`Catalog`](super::Catalog).
        prompt: usize,
        /// The arguments, an object of strings; all that are required are there.
        arguments: Option<RawJson<'b>>,
    },
    /// `completion/complete`, answered with a [`CompleteResult`](crate::model::CompleteResult).
    #[non_exhaustive]
    Complete {
        /// What the argument belongs to.
        reference: CompletionTarget,
        /// The name of the argument.
        argument: JsonStr<'b>,
        /// What it begins with.
        value: JsonStr<'b>,
        /// `context`, an object; its `arguments`, if it has any, is an object of strings.
        context: Option<RawJson<'b>>,
    },
    /// A method of an extension, answered with an [`ExtensionResult`](super::ExtensionResult).
    #[non_exhaustive]
    Extension {
        /// Which extension: its position among those of the [`Catalog`](super::Catalog).
        extension: usize,
        /// Which of its methods and notifications.
        method: usize,
    },
}

/// A notification that an extension claims.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ExtensionNotification<'b> {
    /// Which extension: its position among those of the [`Catalog`](super::Catalog).
    pub extension: usize,
    /// Which of its methods and notifications.
    pub method: usize,
    /// The params as they came.
    pub params: Option<RawJson<'b>>,
}

/// What a URI belongs to, by its position in the [`Catalog`](super::Catalog).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ResourceTarget {
    /// A resource of the list.
    Fixed(usize),
    /// The first template that it fits.
    Template(usize),
}

/// What a completed argument belongs to, by its position in the [`Catalog`](super::Catalog).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum CompletionTarget {
    /// A prompt.
    Prompt(usize),
    /// A resource template: named by its text, or by a URI that it fits.
    Template(usize),
    /// A resource of the list.
    Resource(usize),
}

/// The answer to a request of ours.
#[derive(Debug)]
#[non_exhaustive]
pub struct Answer<'b> {
    /// Which request; it is over.
    pub key: RequestKey,
    /// How it went.
    pub outcome: Outcome<'b>,
}
