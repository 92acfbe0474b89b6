//! What is known about the server, and which requests it takes.

use alloc::boxed::Box;
use alloc::string::String;

use super::detect::{member, string};
use super::error::CallError;
use crate::json::{Json, RawJson};
use crate::model::{Decode, Era, Implementation, ProtocolVersion, ServerCapabilities, key};

/// The server as it described itself when the client connected.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServerInfo {
    /// The revision of the protocol that is spoken.
    pub revision: ProtocolVersion,
    /// Who the server says it is, if it does: for display and logs only (META-13).
    pub implementation: Option<Implementation<'static>>,
    /// What it declared. `None`: it was not asked, see [`ClientConfig::discover`](super::ClientConfig::discover).
    pub capabilities: Option<ServerCapabilities<'static>>,
    /// How to use the server, in its own words; untrusted text.
    pub instructions: Option<String>,
    /// The result it answered with, checked; empty if it was not asked.
    result: Box<str>,
}

impl ServerInfo {
    /// What cannot be read of the result counts as not declared: the version is settled, and a server is of use without
    /// a name.
    pub(super) fn read(version: ProtocolVersion, result: RawJson<'_>) -> Self {
        let implementation = match version.era() {
            Era::Legacy => member(result, "serverInfo"),
            Era::Modern => member(result, "_meta").and_then(|it| member(it, key::SERVER_INFO)),
        };
        let implementation = implementation.and_then(|it| Implementation::decode(it).ok());
        let capabilities = member(result, "capabilities")
            .and_then(|it| ServerCapabilities::decode(it).ok())
            .unwrap_or_default();
        Self {
            revision: version,
            implementation: implementation.map(Implementation::into_owned),
            capabilities: Some(capabilities.into_owned()),
            instructions: string(result, "instructions").map(|text| text.decode().into_owned()),
            result: result.as_str().into(),
        }
    }

    /// A server that was not asked: it may offer anything.
    pub(super) fn unasked(version: ProtocolVersion) -> Self {
        Self {
            revision: version,
            implementation: None,
            capabilities: None,
            instructions: None,
            result: Box::default(),
        }
    }

    /// The era that is spoken.
    #[must_use]
    pub const fn era(&self) -> Era {
        self.revision.era()
    }

    /// The `InitializeResult` or `DiscoverResult` as it stands; `None` if the server was not asked.
    #[must_use]
    pub fn result(&self) -> Option<RawJson<'_>> {
        (!self.result.is_empty()).then(|| RawJson::new(&self.result))
    }

    /// Whether the server takes requests of this method, and what may come of one. Unknown methods are an extension's
    /// business.
    pub(super) fn admit(&self, method: &str) -> Result<RequestKind, CallError> {
        use RequestKind::{Listen, MayAsk, Plain};
        let legacy = self.era() == Era::Legacy;
        // Who is not asked may offer all of it.
        let offers = |offer: fn(&ServerCapabilities<'_>) -> bool| {
            self.capabilities.as_ref().is_none_or(offer)
        };
        let tools = ("tools", offers(|it| it.tools.is_some()));
        let resources = ("resources", offers(|it| it.resources.is_some()));
        let subscribe = offers(|it| it.resources.is_some_and(|it| it.subscribe));
        let subscribe = ("resources.subscribe", subscribe);
        let prompts = ("prompts", offers(|it| it.prompts.is_some()));
        // CAP-04: the first revision has no capability for it.
        let completions = self.revision == ProtocolVersion::V2024_11_05;
        let completions = ("completions", completions || offers(|it| it.completions));
        let logging = ("logging", offers(|it| it.logging));
        let tasks = self.revision >= ProtocolVersion::V2025_11_25;
        let anyway = ("", true);
        let (there, (capability, offered), kind) = match method {
            "initialize" => (false, anyway, Plain),
            "server/discover" => (!legacy, anyway, Plain),
            "ping" => (legacy, anyway, Plain),
            "tools/list" => (true, tools, Plain),
            "tools/call" => (true, tools, MayAsk),
            "resources/list" | "resources/templates/list" => (true, resources, Plain),
            "resources/read" => (true, resources, MayAsk),
            "resources/subscribe" | "resources/unsubscribe" => (legacy, subscribe, Plain),
            "prompts/list" => (true, prompts, Plain),
            "prompts/get" => (true, prompts, MayAsk),
            "completion/complete" => (true, completions, Plain),
            "logging/setLevel" => (legacy, logging, Plain),
            "subscriptions/listen" => (!legacy, anyway, Listen),
            // Of one legacy revision, and two of them of the extension that came of that.
            "tasks/get" => (tasks, self.offers_tasks(None), MayAsk),
            "tasks/cancel" => (tasks, self.offers_tasks(Some("cancel")), MayAsk),
            "tasks/list" => (tasks && legacy, self.offers_tasks(Some("list")), Plain),
            "tasks/result" => (tasks && legacy, self.offers_tasks(None), Plain),
            // From server to client.
            "sampling/createMessage" | "roots/list" | "elicitation/create" => {
                (false, anyway, Plain)
            }
            _ => (true, anyway, MayAsk),
        };
        if !there {
            return Err(CallError::NotInVersion(self.revision));
        }
        if !offered {
            return Err(CallError::NotOffered(capability));
        }
        Ok(kind)
    }

    /// Whether the server keeps tasks, and does this with them, which a legacy one declares by itself (TL-01).
    fn offers_tasks(&self, what: Option<&str>) -> (&'static str, bool) {
        let capabilities = self.capabilities.as_ref();
        let declares = |object: Option<&Json<'_>>, name: &str| {
            object.is_some_and(|object| member(object.raw(), name).is_some())
        };
        match self.era() {
            Era::Legacy => {
                let offered = capabilities.is_none_or(|it| match what {
                    Some(what) => declares(it.tasks.as_ref(), what),
                    None => it.tasks.is_some(),
                });
                ("tasks", offered)
            }
            Era::Modern => {
                let offered = capabilities.is_none_or(|it| declares(it.extensions.as_ref(), TASKS));
                (TASKS, offered)
            }
        }
    }
}

/// The extension that has tasks in the modern era.
const TASKS: &str = "io.modelcontextprotocol/tasks";

/// What a request of ours is, as far as its answers differ.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum RequestKind {
    /// The engine's own, to get connected.
    Connecting,
    /// Answered by a result or an error.
    Plain,
    /// The server may also ask for input first (MRTR-02).
    MayAsk,
    /// A subscription: answered when it ends.
    Listen,
}
