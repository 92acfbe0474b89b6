//! 2024-11-05 to 2025-11-25: `initialize` opens a session, and the session says how the rest is answered.

use super::Terms;
use crate::error::PeerFault;
use crate::json::RawJson;
use crate::model::{ClientCapabilities, Era, Method, Params, ProtocolVersion};

/// What `initialize` settled.
///
/// ```text
///  none --initialize--> Session --notifications/initialized--> Session
/// ```
///
/// Requests are served as soon as there is a session, whether or not the client has confirmed it (OR-01): the
/// confirmation only matters to a server that sends requests of its own.
#[derive(Clone, Copy, Debug)]
pub(in crate::engine::server) struct Session {
    pub(in crate::engine::server) version: ProtocolVersion,
    pub(in crate::engine::server) capabilities: ClientCapabilities,
}

/// Reads the params of `initialize` (INIT-01) and settles the version: the one asked for if it has a handshake, else
/// the latest one that has (INIT-07, INIT-10). Never an error for a version's sake.
pub(in crate::engine::server) fn negotiate(
    params: &Params<'_>,
    session: Option<Session>,
) -> Result<Session, PeerFault> {
    if let Some(session) = session {
        return Err(PeerFault::AlreadyInitialized(session.version));
    }
    let asked = params
        .protocol_version
        .and_then(RawJson::as_string)
        .ok_or(PeerFault::Params {
            field: "protocolVersion",
            expected: "a string",
        })?;
    let capabilities = params
        .capabilities
        .and_then(ClientCapabilities::read)
        .ok_or(PeerFault::Params {
            field: "capabilities",
            expected: "an object",
        })?;
    let named = |member: &str| {
        let mut members = params.client_info?.as_object()?;
        members.find(|(name, value)| *name == *member && value.as_string().is_some())
    };
    if named("name").is_none() || named("version").is_none() {
        let expected = "an object with the strings `name` and `version`";
        return Err(PeerFault::Params {
            field: "clientInfo",
            expected,
        });
    }
    let version = ProtocolVersion::parse(&asked.decode())
        .filter(|version| version.era() == Era::Legacy)
        .unwrap_or(ProtocolVersion::LATEST_LEGACY);
    Ok(Session {
        version,
        capabilities,
    })
}

pub(super) fn admit(method: Method, session: Option<Session>) -> Result<Terms, PeerFault> {
    match (method, session) {
        // PING-01: answered at any time, also before the handshake (OR-02).
        (Method::Ping, None) => Ok(Terms {
            version: ProtocolVersion::LATEST_LEGACY,
            capabilities: ClientCapabilities::NONE,
        }),
        (
            Method::Ping | Method::ToolsList | Method::ToolsCall,
            Some(Session {
                version,
                capabilities,
            }),
        ) => Ok(Terms {
            version,
            capabilities,
        }),
        (Method::ToolsList | Method::ToolsCall, None) => Err(PeerFault::NotInitialized),
        (_, _) => Err(PeerFault::MethodNotFound),
    }
}
