//! 2024-11-05 to 2025-11-25: `initialize` opens a session, and the session says how the rest is answered.

use super::Terms;
use crate::engine::server::extension::Declared;
use crate::engine::server::subscriptions::ListenerId;
use crate::error::PeerFault;
use crate::json::RawJson;
use crate::model::{ClientCapabilities, Era, LoggingLevel, Method, Params, ProtocolVersion};

/// What `initialize` settled.
///
/// ```text
///  none --initialize--> Session --notifications/initialized--> Session
/// ```
///
/// Requests are served as soon as there is a session, whether or not the client has confirmed it (OR-01): only requests
/// and changes of ours wait for that (INIT-05).
#[derive(Clone, Copy, Debug)]
pub(in crate::engine::server) struct Session {
    pub(in crate::engine::server) version: ProtocolVersion,
    pub(in crate::engine::server) capabilities: ClientCapabilities,
    /// Whether the client has confirmed it.
    pub(in crate::engine::server) ready: bool,
    /// What `logging/setLevel` has set.
    pub(in crate::engine::server) log_level: Option<LoggingLevel>,
    /// Who is told of changes.
    pub(in crate::engine::server) listener: ListenerId,
    /// The extensions that the client declared.
    pub(in crate::engine::server) extensions: Declared,
}

/// What `initialize` asks for, as far as it is granted.
#[derive(Clone, Copy, Debug)]
pub(in crate::engine::server) struct Opening {
    pub(in crate::engine::server) version: ProtocolVersion,
    capabilities: ClientCapabilities,
}

impl Opening {
    pub(in crate::engine::server) const fn session(
        self,
        listener: ListenerId,
        extensions: Declared,
    ) -> Session {
        Session {
            version: self.version,
            capabilities: self.capabilities,
            ready: false,
            log_level: None,
            listener,
            extensions,
        }
    }
}

/// Reads the params of `initialize` (INIT-01) and settles the version: the one asked for if it has a handshake, else
/// the latest one that has (INIT-07, INIT-10). Never an error for a version's sake.
pub(in crate::engine::server) fn negotiate(
    params: &Params<'_>,
    session: Option<&Session>,
) -> Result<Opening, PeerFault> {
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
    let named = |member: &str| params.client_info?.member(member)?.as_string();
    if named("name").is_none() || named("version").is_none() {
        let expected = "an object with the strings `name` and `version`";
        return Err(PeerFault::Params {
            field: "clientInfo",
            expected,
        });
    }
    let version = ProtocolVersion::parse(&asked.known())
        .filter(|version| version.era() == Era::Legacy)
        .unwrap_or(ProtocolVersion::LATEST_LEGACY);
    Ok(Opening {
        version,
        capabilities,
    })
}

pub(super) fn admit(method: Method, session: Option<&Session>) -> Result<Terms, PeerFault> {
    let Some(session) = session else {
        // PING-01: answered at any time, also before the handshake (OR-02).
        if method == Method::Ping {
            return Ok(Terms {
                version: ProtocolVersion::LATEST_LEGACY,
                capabilities: ClientCapabilities::NONE,
                log_level: None,
            });
        }
        return Err(if method.is_of_client(ProtocolVersion::LATEST_LEGACY) {
            PeerFault::NotInitialized
        } else {
            PeerFault::MethodNotFound
        });
    };
    if !method.is_of_client(session.version) {
        return Err(PeerFault::MethodNotFound);
    }
    Ok(terms(session))
}

pub(super) const fn terms(session: &Session) -> Terms {
    Terms {
        version: session.version,
        capabilities: session.capabilities,
        log_level: None,
    }
}
