//! What a client is, and how long it waits.

use core::time::Duration;

use crate::json::Json;
use crate::model::{ClientCapabilities, ClientCapabilitiesObject, Implementation, ProtocolVersion};

/// Which era the client speaks.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum EraMode {
    /// Finds out: `server/discover` first, `initialize` if the server is not modern (DET-01, DET-02).
    #[default]
    Auto,
    /// This modern version and no other. Asks with `server/discover` all the same, because some legacy servers run
    /// requests without a handshake (DET-04); never falls back.
    Modern(ProtocolVersion),
    /// `initialize` at once, offering this version. The server may settle on another legacy one.
    Legacy(ProtocolVersion),
}

/// What a [`ClientEngine`](super::ClientEngine) is made of.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ClientConfig {
    /// Who the client says it is.
    pub info: Implementation<'static>,
    /// What it can do for a server. Requests of the server's for anything else are refused by the engine.
    pub capabilities: ClientCapabilities,
    /// Extensions it takes part in, by their identifiers: an object. Declared to servers of 2026-07-28.
    pub extensions: Option<Json<'static>>,
    /// Experiments it takes part in, by names of the caller's choice: an object.
    pub experimental: Option<Json<'static>>,
    /// Which era to speak.
    pub mode: EraMode,
    /// What [`ClientEngine::version`](super::ClientEngine::version) said of this server before, if the caller has kept it
    /// (VER-07). In [`EraMode::Auto`] its era is tried first; the other one still is when that fails.
    pub known_version: Option<ProtocolVersion>,
    /// With [`EraMode::Modern`]: whether to ask with `server/discover` before anything else. Without it the client is
    /// connected at once (DISC-02), knows nothing about the server, and leaves refusing to it. Default: yes.
    pub discover: bool,
    /// How long connecting may take in all. Default: 60 s.
    pub connect_timeout: Duration,
    /// How long a server may be silent on `server/discover` before it is taken for a legacy one. Default: 10 s. A server
    /// known to be modern gets [`connect_timeout`](Self::connect_timeout).
    pub probe_timeout: Duration,
    /// How long a request may go without an answer or progress, unless it says otherwise. Default: 60 s.
    pub request_timeout: Duration,
    /// How long a request may take however much progress it makes (TMO-02), unless it says otherwise. Default: 10 min.
    pub max_total: Duration,
}

impl ClientConfig {
    /// A client of this name that can do nothing for servers, with the defaults named at each field.
    #[must_use]
    pub const fn new(info: Implementation<'static>) -> Self {
        Self {
            info,
            capabilities: ClientCapabilities::NONE,
            extensions: None,
            experimental: None,
            mode: EraMode::Auto,
            known_version: None,
            discover: true,
            connect_timeout: Duration::from_secs(60),
            probe_timeout: Duration::from_secs(10),
            request_timeout: Duration::from_secs(60),
            max_total: Duration::from_secs(600),
        }
    }

    /// All that is declared.
    pub(super) fn declared(&self) -> ClientCapabilitiesObject<'_> {
        let mut declared = ClientCapabilitiesObject::from(self.capabilities);
        declared.extensions = self.extensions.as_ref().map(Json::from);
        declared.experimental = self.experimental.as_ref().map(Json::from);
        declared
    }
}
