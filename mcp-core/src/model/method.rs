//! The methods and notifications a server is sent.

use crate::json::JsonStr;

/// A method of MCP that this engine knows; the names are an open set, what is not here is answered with
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
    /// `notifications/initialized` (legacy): the client is ready.
    Initialized,
    /// `notifications/cancelled`: the client no longer waits for an answer.
    Cancelled,
}

impl Method {
    /// The method of this name, matched exactly.
    #[must_use]
    pub fn parse(name: JsonStr<'_>) -> Option<Self> {
        const ALL: [Method; 7] = [
            Method::ToolsCall,
            Method::ToolsList,
            Method::Ping,
            Method::Discover,
            Method::Initialize,
            Method::Cancelled,
            Method::Initialized,
        ];
        ALL.into_iter().find(|method| name == method.as_str())
    }

    /// The name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Initialize => "initialize",
            Self::Ping => "ping",
            Self::Discover => "server/discover",
            Self::ToolsList => "tools/list",
            Self::ToolsCall => "tools/call",
            Self::Initialized => "notifications/initialized",
            Self::Cancelled => "notifications/cancelled",
        }
    }
}
