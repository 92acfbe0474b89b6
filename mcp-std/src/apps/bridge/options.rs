//! What a host says of itself to an app, and what it bounds.

use serde_json::{Map, Value, json};

use super::super::meta::{AppMeta, Permissions};
use super::DisplayMode;

/// What a host is, for its apps.
#[derive(Clone, Debug)]
#[must_use = "it is for a bridge"]
pub struct BridgeOptions {
    pub(super) name: String,
    pub(super) version: String,
    pub(super) capabilities: HostCapabilities,
    pub(super) context: Map<String, Value>,
    pub(super) limits: BridgeLimits,
}

impl BridgeOptions {
    /// A host program of this name and version, which apps see.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            version: version.into(),
            capabilities: HostCapabilities::new(),
            context: Map::new(),
            limits: BridgeLimits::DEFAULT,
        }
    }

    /// What it does for apps. Default: nothing.
    pub fn capabilities(mut self, capabilities: HostCapabilities) -> Self {
        self.capabilities = capabilities;
        self
    }

    /// A member of the `hostContext`: `theme`, `styles`, `locale`, `timeZone`, `platform`, `toolInfo` and so on, as the
    /// specification has them.
    pub fn context(mut self, member: impl Into<String>, value: impl Into<Value>) -> Self {
        self.context.insert(member.into(), value.into());
        self
    }

    /// How the app is displayed at first, and how it could be: an app that wants something else is told how it is.
    pub fn display_modes(self, now: DisplayMode, available: &[DisplayMode]) -> Self {
        let available: Value = available.iter().map(|mode| mode.as_str()).collect();
        self.context("displayMode", now.as_str())
            .context("availableDisplayModes", available)
    }

    /// What is bounded.
    pub const fn limits(mut self, limits: BridgeLimits) -> Self {
        self.limits = limits;
        self
    }
}

/// What an app cannot exceed. A bridge keeps at most `max_pending` ids of 256 bytes, and one of each thing that the host tells.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct BridgeLimits {
    /// Bytes of one message. Larger ones are not looked at. Default: 4 MiB.
    pub max_message: usize,
    /// Requests that wait for the host's answers; one more is refused. Default: 32.
    pub max_pending: usize,
}

impl BridgeLimits {
    /// What is bounded without a word.
    pub const DEFAULT: Self = Self {
        max_message: 4 * 1024 * 1024,
        max_pending: 32,
    };

    /// Bytes of one message.
    #[must_use]
    pub const fn max_message(mut self, bytes: usize) -> Self {
        self.max_message = bytes;
        self
    }

    /// Requests that wait for the host's answers.
    #[must_use]
    pub const fn max_pending(mut self, requests: usize) -> Self {
        self.max_pending = requests;
        self
    }
}

impl Default for BridgeLimits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// What a host does for apps: `hostCapabilities`. What is not in it is answered as if it did not exist.
#[derive(Clone, Debug, Default)]
#[must_use = "it is for a bridge"]
pub struct HostCapabilities {
    pub(super) open_links: bool,
    pub(super) server_tools: bool,
    pub(super) server_resources: bool,
    pub(super) logging: bool,
    sandbox: Option<AppMeta>,
}

impl HostCapabilities {
    /// Nothing.
    pub const fn new() -> Self {
        Self {
            open_links: false,
            server_tools: false,
            server_resources: false,
            logging: false,
            sandbox: None,
        }
    }

    /// Pages are opened: [`AppAsk::OpenLink`](super::AppAsk::OpenLink).
    pub const fn open_links(mut self) -> Self {
        self.open_links = true;
        self
    }

    /// Tools of the server are called: [`AppAsk::CallTool`](super::AppAsk::CallTool).
    pub const fn server_tools(mut self) -> Self {
        self.server_tools = true;
        self
    }

    /// Resources of the server are read: [`AppAsk::ReadResource`](super::AppAsk::ReadResource).
    pub const fn server_resources(mut self) -> Self {
        self.server_resources = true;
        self
    }

    /// Log messages are taken: [`AppEvent::Log`](super::AppEvent::Log).
    pub const fn logging(mut self) -> Self {
        self.logging = true;
        self
    }

    /// What the host gives of what the app's resource asks for: origins and permissions.
    pub fn sandbox(mut self, granted: &AppMeta) -> Self {
        self.sandbox = Some(granted.clone());
        self
    }

    pub(super) fn value(&self) -> Value {
        let mut members = Map::new();
        for (name, has) in [
            ("openLinks", self.open_links),
            ("serverTools", self.server_tools),
            ("serverResources", self.server_resources),
            ("logging", self.logging),
        ] {
            if has {
                members.insert(name.to_owned(), json!({}));
            }
        }
        if let Some(granted) = &self.sandbox {
            members.insert("sandbox".to_owned(), page_rules(granted));
        }
        Value::Object(members)
    }
}

/// The page of an app, for a sandbox to load.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AppPage {
    /// The document, as the server has it.
    pub html: String,
    /// What was declared of it, as far as the host grants it.
    pub meta: AppMeta,
}

impl AppPage {
    /// A page, and what is granted to it.
    #[must_use]
    pub fn new(html: impl Into<String>, meta: AppMeta) -> Self {
        Self {
            html: html.into(),
            meta,
        }
    }

    pub(super) fn value(&self) -> Value {
        let mut members = page_rules(&self.meta);
        members["html"] = self.html.clone().into();
        members
    }
}

/// `csp` and `permissions`.
fn page_rules(meta: &AppMeta) -> Value {
    let mut members = Map::new();
    if let Some(csp) = &meta.csp {
        members.insert("csp".to_owned(), csp.value());
    }
    if meta.permissions != Permissions::NONE {
        members.insert("permissions".to_owned(), meta.permissions.value());
    }
    Value::Object(members)
}
