//! What an app wants, and what it is answered.

use core::fmt;

use mcp_core::json::Json;
use mcp_core::model::{
    CallToolResult, ContentBlock, EncodeResult, LoggingLevel, ProtocolVersion, ReadResourceResult,
};
use serde_json::{Map, Value, json};

/// How an app is displayed.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum DisplayMode {
    /// Within the conversation.
    Inline,
    /// On the whole screen.
    Fullscreen,
    /// Above everything, small.
    Pip,
}

impl DisplayMode {
    /// Its name in messages.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Inline => "inline",
            Self::Fullscreen => "fullscreen",
            Self::Pip => "pip",
        }
    }

    pub(super) fn read(name: &Value) -> Option<Self> {
        let all = [Self::Inline, Self::Fullscreen, Self::Pip];
        all.into_iter().find(|mode| name == mode.as_str())
    }
}

/// What happened at an app.
#[derive(Debug)]
#[non_exhaustive]
pub enum AppEvent {
    /// The sandbox is there, and has been given the app.
    SandboxReady,
    /// The app is there: what was held back for it is on its way.
    Initialized(AppInfo),
    /// It wants something. The host decides, or asks its user, and [answers](super::AppBridge::answer).
    Wants(AppRequest, AppAsk),
    /// Its content has this size in pixels, within the container; a dimension that the host has fixed is not told.
    #[non_exhaustive]
    SizeChanged {
        /// If it is told.
        width: Option<f64>,
        /// If it is told.
        height: Option<f64>,
    },
    /// It wrote a line for logs. It is what the app says, and no more to be trusted than the app is.
    #[non_exhaustive]
    Log {
        /// How bad it is.
        level: LoggingLevel,
        /// Which part of the app.
        logger: Option<String>,
        /// What it says: any JSON.
        data: Value,
    },
    /// It has ended, and can be taken away. `Err`: it says that it could not end well.
    TornDown(Result<(), String>),
    /// It broke a rule: for an audit. It has been answered, if an answer was due.
    Fault(BridgeFault),
}

/// What an app says of itself when it begins.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct AppInfo {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The revision that it asked for; this one is spoken whatever it is.
    pub protocol_version: String,
    /// How it can be displayed. `None`: it does not say.
    pub display_modes: Option<Vec<DisplayMode>>,
}

/// A request of an app that waits for its answer: to be given to [`AppBridge::answer`](super::AppBridge::answer), once.
#[derive(Debug, Eq, PartialEq)]
#[must_use = "the app waits for an answer"]
pub struct AppRequest(pub(super) u64);

/// What an app wants.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum AppAsk {
    /// A tool called, of its own server. Answer: [`AppReply::Tool`].
    #[non_exhaustive]
    CallTool {
        /// Its name at the server.
        name: String,
        /// Its arguments.
        arguments: Map<String, Value>,
    },
    /// A resource read, of its own server. Answer: [`AppReply::Resource`].
    #[non_exhaustive]
    ReadResource {
        /// Its URI.
        uri: String,
    },
    /// A page opened in the user's browser. Answer: [`AppReply::Done`].
    #[non_exhaustive]
    OpenLink {
        /// Its address: `http` or `https`, and with a host that nothing hides.
        url: String,
    },
    /// A message of the user put into the conversation, and answered by the model. Answer: [`AppReply::Done`].
    #[non_exhaustive]
    Message {
        /// What it says.
        content: Vec<ContentBlock<'static>>,
    },
    /// Something known to the model from its next turn on, in the place of what was said before. Answer: [`AppReply::Done`].
    #[non_exhaustive]
    UpdateModelContext {
        /// In words.
        content: Vec<ContentBlock<'static>>,
        /// As data.
        structured_content: Option<Map<String, Value>>,
    },
    /// To be displayed otherwise, in a way that both sides know. Answer: [`AppReply::Displayed`].
    #[non_exhaustive]
    RequestDisplayMode {
        /// How.
        mode: DisplayMode,
    },
}

impl AppAsk {
    pub(super) const fn kind(&self) -> Kind {
        match self {
            Self::CallTool { .. } => Kind::Tool,
            Self::ReadResource { .. } => Kind::Resource,
            Self::OpenLink { .. } | Self::Message { .. } | Self::UpdateModelContext { .. } => {
                Kind::Done
            }
            Self::RequestDisplayMode { .. } => Kind::Displayed,
        }
    }
}

/// What a request is to be answered with.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Kind {
    Tool,
    Resource,
    Done,
    Displayed,
}

/// What an app is answered.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum AppReply {
    /// The result of a tool.
    Tool(Box<CallToolResult<'static>>),
    /// What a resource has in it.
    Resource(ReadResourceResult<'static>),
    /// It is done.
    Done,
    /// How it is displayed now, whether that has changed or not.
    Displayed(DisplayMode),
    /// No: the user does not want it, or a policy. Any request can be answered so.
    Denied(String),
    /// An error of the server's. Any request can be answered so.
    #[non_exhaustive]
    Failed {
        /// The code of JSON-RPC.
        code: i64,
        /// In words.
        message: String,
    },
}

impl AppReply {
    /// An error of the server's.
    pub fn failed(code: i64, message: impl Into<String>) -> Self {
        Self::Failed {
            code,
            message: message.into(),
        }
    }

    pub(super) const fn fits(&self, kind: Kind) -> bool {
        match self {
            Self::Tool(_) => matches!(kind, Kind::Tool),
            Self::Resource(_) => matches!(kind, Kind::Resource),
            Self::Done => matches!(kind, Kind::Done),
            Self::Displayed(_) => matches!(kind, Kind::Displayed),
            Self::Denied(_) | Self::Failed { .. } => true,
        }
    }
}

/// A result as apps have it: that of the newest revision with sessions, whose types they speak.
pub(super) fn written(result: &impl EncodeResult) -> Value {
    let json = Json::written(|json| {
        json.begin_object();
        result.members(ProtocolVersion::V2025_11_25, json);
        if let Some(meta) = result.meta() {
            json.key("_meta");
            json.raw(meta);
        }
        json.end_object();
    });
    serde_json::from_str(json.as_str()).unwrap_or_else(|_| json!({}))
}

/// A rule that an app broke.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum BridgeFault {
    /// A message is larger than messages may be: it was not looked at.
    TooLarge,
    /// A message is no JSON, or not a message of JSON-RPC 2.0.
    Malformed(&'static str),
    /// A request or notification came at a time when it is not to be sent.
    #[non_exhaustive]
    OutOfOrder {
        /// Which.
        method: String,
    },
    /// There is no such method for apps, or the host does not offer it.
    #[non_exhaustive]
    UnknownMethod {
        /// Which.
        method: String,
    },
    /// What a request or notification says cannot be used.
    #[non_exhaustive]
    Invalid {
        /// Which.
        method: String,
        /// Why.
        problem: String,
    },
    /// A tool that is none of this server's, or not for apps.
    #[non_exhaustive]
    ToolRefused {
        /// Its name, as far as there is room for it.
        tool: String,
    },
    /// An address that is not to be opened.
    #[non_exhaustive]
    LinkRefused {
        /// Why.
        problem: &'static str,
    },
    /// So many requests wait for their answers that there can be no more.
    TooManyPending,
    /// An answer to nothing that was asked.
    UnexpectedAnswer,
}

impl fmt::Display for BridgeFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge => f.write_str("the app sent a message that is too large"),
            Self::Malformed(problem) => write!(f, "the app sent what is no message: {problem}"),
            Self::OutOfOrder { method } => write!(f, "the app sent `{method}` when it may not"),
            Self::UnknownMethod { method } => {
                write!(f, "the app sent `{method}`, which there is not for apps")
            }
            Self::Invalid { method, problem } => write!(f, "the app sent `{method}`: {problem}"),
            Self::ToolRefused { tool } => write!(
                f,
                "the app called `{tool}`, which is no tool of its server for apps"
            ),
            Self::LinkRefused { problem } => {
                write!(f, "the app wants a link opened that {problem}")
            }
            Self::TooManyPending => f.write_str("too many requests of the app wait for answers"),
            Self::UnexpectedAnswer => f.write_str("the app answered what was not asked"),
        }
    }
}

impl core::error::Error for BridgeFault {}
