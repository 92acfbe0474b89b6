//! What is known about the server, and which requests it takes.

use alloc::boxed::Box;
use alloc::string::String;

use super::detect::{member, string};
use super::error::CallError;
use crate::json::{Kind, RawJson};
use crate::model::{Era, ProtocolVersion, key};

/// The server as it described itself when the client connected.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServerInfo {
    /// The version that is spoken.
    pub version: ProtocolVersion,
    /// How to use the server, in its own words; untrusted text.
    pub instructions: Option<String>,
    /// The result it answered with, checked; empty if it was not asked.
    result: Box<str>,
    offers: Offers,
}

impl ServerInfo {
    pub(super) fn read(version: ProtocolVersion, result: RawJson<'_>) -> Self {
        Self {
            version,
            instructions: string(result, "instructions").map(|text| text.decode().into_owned()),
            result: result.as_str().into(),
            offers: member(result, "capabilities").map_or(Offers::NONE, Offers::read),
        }
    }

    /// A server that was not asked: it may offer anything.
    pub(super) fn unasked(version: ProtocolVersion) -> Self {
        Self {
            version,
            instructions: None,
            result: Box::default(),
            offers: Offers::ANY,
        }
    }

    /// The era that is spoken.
    #[must_use]
    pub const fn era(&self) -> Era {
        self.version.era()
    }

    /// The `InitializeResult` or `DiscoverResult`; `None` if the server was not asked.
    #[must_use]
    pub fn result(&self) -> Option<RawJson<'_>> {
        (!self.result.is_empty()).then(|| RawJson::new(&self.result))
    }

    /// Who the server says it is: for display and logs only (META-13).
    #[must_use]
    pub fn implementation(&self) -> Option<RawJson<'_>> {
        let result = self.result()?;
        match self.era() {
            Era::Legacy => member(result, "serverInfo"),
            Era::Modern => member(member(result, "_meta")?, key::SERVER_INFO),
        }
    }

    /// What it declared it can do.
    #[must_use]
    pub fn capabilities(&self) -> Option<RawJson<'_>> {
        member(self.result()?, "capabilities")
    }

    /// Whether the server takes requests of this method, and what may come of one. Unknown methods are an extension's
    /// business.
    pub(super) fn admit(&self, method: &str) -> Result<RequestKind, CallError> {
        use Offers as O;
        let legacy = self.era() == Era::Legacy;
        let (there, needed, kinds) = match method {
            "initialize" => (false, O::NONE, RequestKind::Plain),
            "server/discover" => (!legacy, O::NONE, RequestKind::Plain),
            "ping" => (legacy, O::NONE, RequestKind::Plain),
            "tools/list" => (true, O::TOOLS, RequestKind::Plain),
            "tools/call" => (true, O::TOOLS, RequestKind::MayAsk),
            "resources/list" | "resources/templates/list" => {
                (true, O::RESOURCES, RequestKind::Plain)
            }
            "resources/read" => (true, O::RESOURCES, RequestKind::MayAsk),
            "resources/subscribe" | "resources/unsubscribe" => {
                (legacy, O::SUBSCRIBE, RequestKind::Plain)
            }
            "prompts/list" => (true, O::PROMPTS, RequestKind::Plain),
            "prompts/get" => (true, O::PROMPTS, RequestKind::MayAsk),
            // CAP-04: the first revision has no capability for it.
            "completion/complete" if self.version == ProtocolVersion::V2024_11_05 => {
                (true, O::NONE, RequestKind::Plain)
            }
            "completion/complete" => (true, O::COMPLETIONS, RequestKind::Plain),
            "logging/setLevel" => (legacy, O::LOGGING, RequestKind::Plain),
            "subscriptions/listen" => (!legacy, O::NONE, RequestKind::Listen),
            // From server to client.
            "sampling/createMessage" | "roots/list" | "elicitation/create" => {
                (false, O::NONE, RequestKind::Plain)
            }
            _ => (true, O::NONE, RequestKind::MayAsk),
        };
        if !there {
            return Err(CallError::NotInVersion(self.version));
        }
        match self.offers.missing(needed) {
            Some(name) => Err(CallError::NotOffered(name)),
            None => Ok(kinds),
        }
    }
}

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

/// The server capabilities that decide about requests.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Offers(u8);

impl Offers {
    const NONE: Self = Self(0);
    const TOOLS: Self = Self(1);
    const RESOURCES: Self = Self(1 << 1);
    const SUBSCRIBE: Self = Self(1 << 2);
    const PROMPTS: Self = Self(1 << 3);
    const COMPLETIONS: Self = Self(1 << 4);
    const LOGGING: Self = Self(1 << 5);
    const ANY: Self = Self(u8::MAX);

    const NAMES: [(&'static str, Self); 5] = [
        ("tools", Self::TOOLS),
        ("resources", Self::RESOURCES),
        ("prompts", Self::PROMPTS),
        ("completions", Self::COMPLETIONS),
        ("logging", Self::LOGGING),
    ];

    /// A capability is declared if its value is an object (CAP-05).
    fn read(capabilities: RawJson<'_>) -> Self {
        let declared = |name: &str| {
            member(capabilities, name).filter(|settings| settings.kind() == Kind::Object)
        };
        let mut offers = Self::NONE;
        for (name, bit) in Self::NAMES {
            if declared(name).is_some() {
                offers.0 |= bit.0;
            }
        }
        let subscribe = declared("resources").and_then(|settings| member(settings, "subscribe"));
        if subscribe.and_then(RawJson::as_bool) == Some(true) {
            offers.0 |= Self::SUBSCRIBE.0;
        }
        offers
    }

    fn missing(self, needed: Self) -> Option<&'static str> {
        if self.0 & needed.0 == needed.0 {
            return None;
        }
        let mut names = Self::NAMES.iter();
        let name = names.find(|(_, bit)| *bit == needed);
        Some(name.map_or("resources.subscribe", |(name, _)| name))
    }
}
