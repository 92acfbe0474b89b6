//! How long results may be kept (server, utilities, "Caching").

use super::codec::{Decode, DecodeError};
use super::codec::{Target, Write, own_as_is};
use crate::json::{RawJson, Sink, Writer};

/// How long, and for whom, a result may be cached.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct CacheHint {
    /// For so many milliseconds; 0 means not at all.
    pub ttl_ms: u64,
    /// For whom.
    pub scope: CacheScope,
}

/// Whom a cached result may serve.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum CacheScope {
    /// Anyone.
    Public,
    /// Only those with the same authorization as the one who asked (CAC-08).
    Private,
}

impl CacheHint {
    /// Not at all, and for nobody else: what is always safe.
    pub const NONE: Self = Self::new(0, CacheScope::Private);

    /// For so many milliseconds.
    #[must_use]
    pub const fn new(ttl_ms: u64, scope: CacheScope) -> Self {
        Self { ttl_ms, scope }
    }

    /// What the two members of a result say, if any is there: what is missing is taken in its safe sense, and a negative
    /// time is none (CAC-05, CAC-09).
    pub(crate) fn read(ttl_ms: Option<i64>, scope: Option<CacheScope>) -> Option<Self> {
        (ttl_ms.is_some() || scope.is_some()).then(|| {
            let ttl_ms = ttl_ms.and_then(|ttl| u64::try_from(ttl).ok());
            Self::new(ttl_ms.unwrap_or(0), scope.unwrap_or(CacheScope::Private))
        })
    }
}

impl CacheScope {
    /// The name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::Private => "private",
        }
    }
}

/// A scope that is not known is the narrowest.
impl Decode<'_> for CacheScope {
    fn decode(value: RawJson<'_>) -> Result<Self, DecodeError> {
        let name = value.as_string().ok_or(DecodeError::new("a string"))?;
        Ok(if name == "public" {
            Self::Public
        } else {
            Self::Private
        })
    }
}

impl Write for CacheScope {
    fn write<S: Sink + ?Sized>(&self, _: Target, json: &mut Writer<'_, S>) {
        json.string(self.as_str());
    }
}

own_as_is!(CacheScope);
