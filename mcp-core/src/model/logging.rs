//! Log messages to the client (server, utilities, "Logging").

use crate::Cow;

use super::codec::{Decode, DecodeError};
use super::codec::{Target, Write, own_as_is, record, value_impls};
use crate::json::{Json, RawJson, Sink, Writer};

/// How severe a log message is: the levels of RFC 5424, in rising order (LOG-01). A closed set.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[expect(clippy::exhaustive_enums, reason = "the set is closed by RFC 5424")]
pub enum LoggingLevel {
    /// For finding faults.
    Debug,
    /// For information.
    Info,
    /// Normal, but worth knowing.
    Notice,
    /// Something may go wrong.
    Warning,
    /// Something went wrong.
    Error,
    /// Something is broken.
    Critical,
    /// To be seen to at once.
    Alert,
    /// Nothing works.
    Emergency,
}

impl LoggingLevel {
    /// All of them, in rising order.
    pub const ALL: [Self; 8] = [
        Self::Debug,
        Self::Info,
        Self::Notice,
        Self::Warning,
        Self::Error,
        Self::Critical,
        Self::Alert,
        Self::Emergency,
    ];

    /// The level of this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.as_str() == name)
    }

    /// The name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Notice => "notice",
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Critical => "critical",
            Self::Alert => "alert",
            Self::Emergency => "emergency",
        }
    }
}

/// What a level has to be, for those who hear that it is not.
const EXPECTED: &str = "one of debug, info, notice, warning, error, critical, alert, emergency";

impl Decode<'_> for LoggingLevel {
    fn decode(value: RawJson<'_>) -> Result<Self, DecodeError> {
        value
            .as_string()
            .and_then(|name| Self::parse(&name.known()))
            .ok_or(DecodeError::new(EXPECTED))
    }
}

impl Write for LoggingLevel {
    fn write<S: Sink + ?Sized>(&self, _: Target, json: &mut Writer<'_, S>) {
        json.string(self.as_str());
    }
}

own_as_is!(LoggingLevel);
value_impls!(LoggingLevel);

record! {
    /// The params of `notifications/message`.
    pub struct LoggingMessage<'a> {
        /// How severe it is.
        level: req LoggingLevel = "level";
        /// Which part of the server says it.
        logger: opt Cow<'a, str> = "logger";
        /// What it says: any value, null too.
        data: req Json<'a> = "data";
        /// `_meta`.
        meta: opt Json<'a> = "_meta";
    }
}

record! {
    /// The params of `logging/setLevel`. Up to 2025-11-25.
    pub struct SetLevelRequestParams<'a> {
        /// From which level on messages are wanted.
        level: req LoggingLevel = "level";
        /// `_meta`.
        meta: opt Json<'a> = "_meta";
    }
}
