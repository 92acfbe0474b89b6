//! The host's side of the messages between an app and its host, without I/O.

mod ask;
mod link;
mod options;
mod receive;
mod send;
#[cfg(test)]
mod tests;

use core::fmt;
use std::collections::HashMap;

use serde_json::{Map, Value, json};

pub use ask::{AppAsk, AppEvent, AppInfo, AppReply, AppRequest, BridgeFault, DisplayMode};
pub use options::{AppPage, BridgeLimits, BridgeOptions, HostCapabilities};

use super::meta::Visibility;
use ask::Kind;

/// The host's side of one app: what the page sends goes in, what is to be posted to it comes out.
///
/// [`receive`](Self::receive) takes one message, as JSON; whatever else is told to the app has a method of its own. All of
/// them append the messages that are to be posted to `out`, each a text of JSON. Nothing is posted before the app has said
/// that it is there: until then the bridge keeps what it has to know, at most one of each kind.
///
/// The bridge decides what rules decide, and tells of the rest: what an app [wants](AppEvent::Wants) is for the host, and for
/// its user, to allow. That the messages are those of this app's window is for the page to check, and no bridge serves two.
///
/// ```
/// use mcp_std::apps::{AppAsk, AppBridge, AppEvent, AppReply, BridgeOptions, HostCapabilities};
///
/// let can = HostCapabilities::new().open_links();
/// let mut bridge = AppBridge::new(BridgeOptions::new("chat", "1.0.0").capabilities(can));
/// let mut out = Vec::new();
/// bridge.tool_input(&serde_json::json!({ "city": "Rome" }), &mut out)?;
/// assert!(out.is_empty(), "the app is not there yet");
///
/// let hello = r#"{"jsonrpc":"2.0","id":1,"method":"ui/initialize","params":{"protocolVersion":"2026-01-26",
///     "appInfo":{"name":"map","version":"1"},"appCapabilities":{}}}"#;
/// bridge.receive(hello.as_bytes(), &mut out);
/// bridge.receive(br#"{"jsonrpc":"2.0","method":"ui/notifications/initialized"}"#, &mut out);
/// assert!(out[0].contains("hostCapabilities") && out[1].contains("Rome"));
///
/// let link = r#"{"jsonrpc":"2.0","id":2,"method":"ui/open-link","params":{"url":"https://example.com"}}"#;
/// let Some(AppEvent::Wants(request, AppAsk::OpenLink { .. })) = bridge.receive(link.as_bytes(), &mut out) else {
///     unreachable!("it is well-formed, and offered");
/// };
/// bridge.answer(request, AppReply::Denied("Link opening denied by user".to_owned()), &mut out)?;
/// # Ok::<(), mcp_std::apps::BridgeError>(())
/// ```
#[derive(Debug)]
pub struct AppBridge {
    options: BridgeOptions,
    tools: HashMap<String, Visibility>,
    page: Option<AppPage>,
    phase: Phase,
    info: Option<AppInfo>,
    /// Requests of the app that wait for answers, by the numbers that the host has for them.
    pending: HashMap<u64, Pending>,
    next: u64,
    /// What is said of the call that the app shows.
    call: Call,
    /// What waits for the app to be there.
    held: Held,
}

/// How far app and host have come.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Phase {
    /// The sandbox is not there yet.
    Sandbox,
    /// The app has said nothing.
    New,
    /// `ui/initialize` is answered.
    Greeted,
    /// The app is there.
    Ready,
    /// The app has been told to end.
    Closing,
    /// It is gone.
    Closed,
}

#[derive(Debug)]
struct Pending {
    /// As the app has it.
    id: Value,
    kind: Kind,
}

/// How far the call has come, as far as the app is, or will be, told.
#[derive(Debug, Default)]
struct Call {
    has_input: bool,
    has_ended: bool,
}

/// One of each.
#[derive(Debug, Default)]
struct Held {
    partial: Option<String>,
    input: Option<String>,
    end: Option<String>,
    context: Map<String, Value>,
}

/// A mistake of the host program: nothing was posted.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum BridgeError {
    /// The arguments, or the change of the context, are no object.
    NotAnObject,
    /// The app has been told the whole input: nothing more of it is to come.
    InputIsComplete,
    /// The result comes after the whole input.
    NoInput,
    /// The app has been told how the call ended.
    HasEnded,
    /// The request is none of this bridge that waits for an answer.
    NotPending,
    /// The request is of another kind than the answer: the app has been told of an internal error.
    WrongAnswer,
    /// The app cannot be displayed so.
    DisplayMode,
    /// The app is gone, or about to be.
    Closed,
}

impl fmt::Display for BridgeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotAnObject => "what an app is told is an object",
            Self::InputIsComplete => "the app has the whole input already",
            Self::NoInput => "the app is told the input before the result",
            Self::HasEnded => "the app knows already how the call ended",
            Self::NotPending => "no such request of the app waits for an answer",
            Self::WrongAnswer => "the answer is of another kind than the request",
            Self::DisplayMode => "the app does not say that it can be displayed so",
            Self::Closed => "the app is gone",
        })
    }
}

impl core::error::Error for BridgeError {}

impl AppBridge {
    /// The host's side of an app whose page loads it itself: without a sandbox between the two.
    #[must_use]
    pub fn new(options: BridgeOptions) -> Self {
        Self {
            options,
            tools: HashMap::new(),
            page: None,
            phase: Phase::New,
            info: None,
            pending: HashMap::new(),
            next: 0,
            call: Call::default(),
            held: Held::default(),
        }
    }

    /// The host's side of an app that a sandbox loads, which a host that is a web page has to put between itself and the app:
    /// when the sandbox says that it is ready, it is given the page.
    #[must_use]
    pub fn sandboxed(options: BridgeOptions, page: AppPage) -> Self {
        Self {
            page: Some(page),
            phase: Phase::Sandbox,
            ..Self::new(options)
        }
    }

    /// Says which tools there are at the server of the app, in the place of those said before: it can call those that are for
    /// apps, and there is no other way to call one. None, unless it is said.
    pub fn tools<'t>(&mut self, tools: impl IntoIterator<Item = &'t mcp_core::model::Tool<'t>>) {
        let tools = tools.into_iter().map(|tool| {
            let ui = super::ToolUi::read(tool.meta.as_ref().map(mcp_core::json::Json::raw));
            (tool.name.to_string(), ui.visibility)
        });
        self.tools = tools.collect();
    }

    /// What the app says of itself, once it has.
    #[must_use]
    pub const fn info(&self) -> Option<&AppInfo> {
        self.info.as_ref()
    }

    /// Whether the app is there, and is told things as they come.
    #[must_use]
    pub const fn is_ready(&self) -> bool {
        matches!(self.phase, Phase::Ready | Phase::Closing)
    }

    /// Whether the app is gone: whatever comes from it is left alone.
    #[must_use]
    pub const fn is_closed(&self) -> bool {
        matches!(self.phase, Phase::Closed)
    }

    /// How it is displayed, as far as the host has said.
    #[must_use]
    pub fn display_mode(&self) -> DisplayMode {
        let mode = self.options.context.get("displayMode");
        mode.and_then(DisplayMode::read)
            .unwrap_or(DisplayMode::Inline)
    }
}

fn notification(method: &str, params: Value) -> String {
    let mut message = json!({ "jsonrpc": "2.0", "method": method });
    message["params"] = params;
    message.to_string()
}

fn result(id: &Value, result: Value) -> String {
    let mut message = json!({ "jsonrpc": "2.0", "id": id });
    message["result"] = result;
    message.to_string()
}

fn error(id: &Value, code: i64, text: &str) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": text } }).to_string()
}
