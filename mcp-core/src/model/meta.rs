//! `_meta` of a request (2026-07-28, basic, "_meta").

use super::LoggingLevel;
use super::codec::{DecodeError, optional};
use super::params::Once;
use crate::error::PeerFault;
use crate::json::{self, JsonStr, RawJson, Tokenizer};
use crate::limits::Limits;
use crate::rpc::RequestId;

/// Reserved keys of `_meta`.
pub mod key {
    /// The version a modern request speaks. Required there (META-08).
    pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
    /// What the client can do, for this request. Required on modern requests (META-08).
    pub const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
    /// Who the client says it is (META-09).
    pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
    /// From which level on the client wants log messages of this request (META-10).
    pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
    /// Who the server says it is, on results (META-12).
    pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
    /// Names the subscription that a notification belongs to, and on the result that ends it (META-14, SUB-11).
    pub const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
    /// Names the task that a message belongs to (2025-11-25).
    pub const RELATED_TASK: &str = "io.modelcontextprotocol/related-task";
    /// The token that asks for progress notifications (PRG-01).
    pub const PROGRESS_TOKEN: &str = "progressToken";
}

/// The reserved members of a request's `_meta`, as they stand there; null counts as absent.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct RequestMeta<'b> {
    /// [`key::PROTOCOL_VERSION`].
    pub protocol_version: Option<RawJson<'b>>,
    /// [`key::CLIENT_CAPABILITIES`].
    pub client_capabilities: Option<RawJson<'b>>,
    /// [`key::CLIENT_INFO`].
    pub client_info: Option<RawJson<'b>>,
    /// [`key::LOG_LEVEL`].
    pub log_level: Option<RawJson<'b>>,
    /// [`key::PROGRESS_TOKEN`].
    pub progress_token: Option<RawJson<'b>>,
    once: Once,
}

impl<'b> RequestMeta<'b> {
    /// Whether the members can be relied on.
    ///
    /// # Errors
    ///
    /// A reserved key occurs twice.
    pub fn check(&self) -> Result<(), PeerFault> {
        self.once.check()
    }

    /// Whether any key is there that only modern requests carry.
    #[must_use]
    pub const fn is_modern(&self) -> bool {
        self.protocol_version.is_some()
            || self.client_capabilities.is_some()
            || self.client_info.is_some()
            || self.log_level.is_some()
    }

    /// The progress token, if progress is wanted.
    ///
    /// # Errors
    ///
    /// It is neither a string nor an integer (META-16), or longer than [`Limits::max_id`].
    pub fn progress_token(&self, limits: &Limits) -> Result<Option<RequestId<'b>>, PeerFault> {
        let Some(token) = self.progress_token else {
            return Ok(None);
        };
        Some(token)
            .filter(|token| token.as_bytes().len() <= limits.max_id)
            .and_then(RequestId::new)
            .map(Some)
            .ok_or(PeerFault::Params {
                field: "_meta.progressToken",
                expected: "a string or an integer, and not too long",
            })
    }

    /// The level from which on log messages are wanted; `None` if none are.
    ///
    /// # Errors
    ///
    /// It is not one of the eight levels of RFC 5424 (LOG-05).
    pub fn log_level(&self) -> Result<Option<LoggingLevel>, PeerFault> {
        let level = optional(self.log_level);
        level.map_err(|error: DecodeError| PeerFault::Params {
            field: "_meta[\"io.modelcontextprotocol/logLevel\"]",
            expected: error.expected,
        })
    }

    /// Takes a member. Other keys are ignored, whatever they hold (META-06).
    pub(super) fn member(
        &mut self,
        name: JsonStr<'b>,
        json: &mut Tokenizer<'b>,
    ) -> Result<(), json::Error> {
        let (slot, bit, name) = match &*name.known() {
            key::PROTOCOL_VERSION => (&mut self.protocol_version, 1, key::PROTOCOL_VERSION),
            key::CLIENT_CAPABILITIES => (
                &mut self.client_capabilities,
                1 << 1,
                key::CLIENT_CAPABILITIES,
            ),
            key::CLIENT_INFO => (&mut self.client_info, 1 << 2, key::CLIENT_INFO),
            key::LOG_LEVEL => (&mut self.log_level, 1 << 3, key::LOG_LEVEL),
            key::PROGRESS_TOKEN => (&mut self.progress_token, 1 << 4, key::PROGRESS_TOKEN),
            _ => return json.value().map(drop),
        };
        self.once.see(bit, name);
        *slot = Some(json.value()?).filter(|value| !value.is_null());
        Ok(())
    }
}
