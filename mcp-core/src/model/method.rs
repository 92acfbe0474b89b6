//! All methods and notifications of all revisions.

use super::ProtocolVersion;
use crate::json::JsonStr;

/// A method or notification of MCP; the names are an open set, what is not here is answered with
/// [`METHOD_NOT_FOUND`](crate::ErrorCode::METHOD_NOT_FOUND).
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Method {
    /// `initialize` (legacy): opens the session.
    Initialize,
    /// `ping` (legacy): wants an empty result.
    Ping,
    /// `server/discover` (modern): versions, capabilities, identity.
    Discover,
    /// `tools/list`.
    ToolsList,
    /// `tools/call`.
    ToolsCall,
    /// `resources/list`.
    ResourcesList,
    /// `resources/templates/list`.
    ResourceTemplatesList,
    /// `resources/read`.
    ResourcesRead,
    /// `resources/subscribe` (legacy).
    ResourcesSubscribe,
    /// `resources/unsubscribe` (legacy).
    ResourcesUnsubscribe,
    /// `prompts/list`.
    PromptsList,
    /// `prompts/get`.
    PromptsGet,
    /// `completion/complete`.
    CompletionComplete,
    /// `logging/setLevel` (legacy).
    LoggingSetLevel,
    /// `subscriptions/listen` (modern).
    SubscriptionsListen,
    /// `sampling/createMessage`: of the server; a request in the legacy era, inside a result in the modern one.
    SamplingCreateMessage,
    /// `roots/list`: as above.
    RootsList,
    /// `elicitation/create`: as above, from 2025-06-18 on.
    ElicitationCreate,
    /// `tasks/get` (2025-11-25).
    TasksGet,
    /// `tasks/result` (2025-11-25).
    TasksResult,
    /// `tasks/list` (2025-11-25).
    TasksList,
    /// `tasks/cancel` (2025-11-25).
    TasksCancel,
    /// `notifications/initialized` (legacy): the client is ready.
    Initialized,
    /// `notifications/cancelled`: the sender no longer waits for an answer.
    Cancelled,
    /// `notifications/progress`: how far a request has come.
    Progress,
    /// `notifications/message`: a log message.
    Message,
    /// `notifications/tools/list_changed`.
    ToolsListChanged,
    /// `notifications/prompts/list_changed`.
    PromptsListChanged,
    /// `notifications/resources/list_changed`.
    ResourcesListChanged,
    /// `notifications/resources/updated`.
    ResourcesUpdated,
    /// `notifications/roots/list_changed` (legacy).
    RootsListChanged,
    /// `notifications/elicitation/complete` (2025-11-25).
    ElicitationComplete,
    /// `notifications/tasks/status` (2025-11-25).
    TasksStatus,
    /// `notifications/subscriptions/acknowledged` (modern).
    SubscriptionsAcknowledged,
}

/// Whether a message of a method wants an answer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "JSON-RPC has these two")]
pub enum MethodKind {
    /// It does.
    Request,
    /// It does not.
    Notification,
}

/// What there is to know of a method: who sends it in the legacy and the modern era, its first and its last revision.
struct Row(
    Method,
    &'static str,
    From,
    From,
    ProtocolVersion,
    ProtocolVersion,
);

/// Who sends a method as a message of its own.
#[derive(Clone, Copy, Eq, PartialEq)]
enum From {
    Client,
    Server,
    Both,
    Nobody,
}

const A: ProtocolVersion = ProtocolVersion::V2024_11_05;
const C: ProtocolVersion = ProtocolVersion::V2025_06_18;
const D: ProtocolVersion = ProtocolVersion::V2025_11_25;
const E: ProtocolVersion = ProtocolVersion::V2026_07_28;

/// In the order of the variants.
#[rustfmt::skip]
const TABLE: [Row; 34] = [
    Row(Method::Initialize, "initialize", From::Client, From::Nobody, A, D),
    Row(Method::Ping, "ping", From::Both, From::Nobody, A, D),
    Row(Method::Discover, "server/discover", From::Nobody, From::Client, E, E),
    Row(Method::ToolsList, "tools/list", From::Client, From::Client, A, E),
    Row(Method::ToolsCall, "tools/call", From::Client, From::Client, A, E),
    Row(Method::ResourcesList, "resources/list", From::Client, From::Client, A, E),
    Row(Method::ResourceTemplatesList, "resources/templates/list", From::Client, From::Client, A, E),
    Row(Method::ResourcesRead, "resources/read", From::Client, From::Client, A, E),
    Row(Method::ResourcesSubscribe, "resources/subscribe", From::Client, From::Nobody, A, D),
    Row(Method::ResourcesUnsubscribe, "resources/unsubscribe", From::Client, From::Nobody, A, D),
    Row(Method::PromptsList, "prompts/list", From::Client, From::Client, A, E),
    Row(Method::PromptsGet, "prompts/get", From::Client, From::Client, A, E),
    Row(Method::CompletionComplete, "completion/complete", From::Client, From::Client, A, E),
    Row(Method::LoggingSetLevel, "logging/setLevel", From::Client, From::Nobody, A, D),
    Row(Method::SubscriptionsListen, "subscriptions/listen", From::Nobody, From::Client, E, E),
    Row(Method::SamplingCreateMessage, "sampling/createMessage", From::Server, From::Nobody, A, E),
    Row(Method::RootsList, "roots/list", From::Server, From::Nobody, A, E),
    Row(Method::ElicitationCreate, "elicitation/create", From::Server, From::Nobody, C, E),
    Row(Method::TasksGet, "tasks/get", From::Both, From::Nobody, D, D),
    Row(Method::TasksResult, "tasks/result", From::Both, From::Nobody, D, D),
    Row(Method::TasksList, "tasks/list", From::Both, From::Nobody, D, D),
    Row(Method::TasksCancel, "tasks/cancel", From::Both, From::Nobody, D, D),
    Row(Method::Initialized, "notifications/initialized", From::Client, From::Nobody, A, D),
    Row(Method::Cancelled, "notifications/cancelled", From::Both, From::Both, A, E),
    Row(Method::Progress, "notifications/progress", From::Both, From::Server, A, E),
    Row(Method::Message, "notifications/message", From::Server, From::Server, A, E),
    Row(Method::ToolsListChanged, "notifications/tools/list_changed", From::Server, From::Server, A, E),
    Row(Method::PromptsListChanged, "notifications/prompts/list_changed", From::Server, From::Server, A, E),
    Row(Method::ResourcesListChanged, "notifications/resources/list_changed", From::Server, From::Server, A, E),
    Row(Method::ResourcesUpdated, "notifications/resources/updated", From::Server, From::Server, A, E),
    Row(Method::RootsListChanged, "notifications/roots/list_changed", From::Client, From::Nobody, A, D),
    Row(Method::ElicitationComplete, "notifications/elicitation/complete", From::Server, From::Nobody, D, D),
    Row(Method::TasksStatus, "notifications/tasks/status", From::Both, From::Nobody, D, D),
    Row(Method::SubscriptionsAcknowledged, "notifications/subscriptions/acknowledged", From::Nobody, From::Server, E, E),
];

impl Method {
    /// All of them.
    pub const ALL: [Self; TABLE.len()] = {
        let mut all = [Self::Ping; TABLE.len()];
        let mut at = 0;
        while at < all.len() {
            all[at] = TABLE[at].0;
            at += 1;
        }
        all
    };

    /// The method of this name, matched exactly.
    #[must_use]
    pub fn parse(name: JsonStr<'_>) -> Option<Self> {
        // What nearly all messages are.
        const COMMON: [Method; 2] = [Method::ToolsCall, Method::ToolsList];
        let mut common = COMMON.into_iter();
        if let Some(method) = common.find(|method| name == method.as_str()) {
            return Some(method);
        }
        let mut rows = TABLE.iter();
        rows.find(|row| name == *row.1).map(|row| row.0)
    }

    /// The method of this name, matched exactly.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let mut rows = TABLE.iter();
        rows.find(|row| row.1 == name).map(|row| row.0)
    }

    const fn row(self) -> &'static Row {
        &TABLE[self as usize]
    }

    /// The name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.row().1
    }

    /// Whether it wants an answer.
    #[must_use]
    pub const fn kind(self) -> MethodKind {
        if self as usize >= Self::Initialized as usize {
            MethodKind::Notification
        } else {
            MethodKind::Request
        }
    }

    /// The first and the last revision that has it, be it only inside a result.
    #[must_use]
    pub const fn revisions(self) -> (ProtocolVersion, ProtocolVersion) {
        (self.row().4, self.row().5)
    }

    /// Whether `version` has it, be it only inside a result.
    #[must_use]
    pub const fn is_in(self, version: ProtocolVersion) -> bool {
        let (first, last) = self.revisions();
        first.index() <= version.index() && version.index() <= last.index()
    }

    /// Whether clients of `version` send it as a message of its own.
    #[must_use]
    pub const fn is_of_client(self, version: ProtocolVersion) -> bool {
        self.is_in(version) && matches!(self.sender(version), From::Client | From::Both)
    }

    /// Whether servers of `version` send it as a message of its own.
    #[must_use]
    pub const fn is_of_server(self, version: ProtocolVersion) -> bool {
        self.is_in(version) && matches!(self.sender(version), From::Server | From::Both)
    }

    const fn sender(self, version: ProtocolVersion) -> From {
        match version.era() {
            super::Era::Legacy => self.row().2,
            super::Era::Modern => self.row().3,
        }
    }

    /// Whether `version` lets it be answered with [`InputRequiredResult`](super::InputRequiredResult) (MRTR-02).
    #[must_use]
    pub const fn may_require_input(self, version: ProtocolVersion) -> bool {
        matches!(version.era(), super::Era::Modern)
            && matches!(
                self,
                Self::ToolsCall | Self::PromptsGet | Self::ResourcesRead
            )
    }
}
