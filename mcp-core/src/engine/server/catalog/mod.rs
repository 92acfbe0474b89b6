//! What a server offers, serialised once and shared by all its engines, or as it is asked for.

#[cfg(feature = "alloc")]
mod build;
mod builder;
mod capabilities;
mod cursor;
#[cfg(feature = "alloc")]
mod error;
#[cfg(feature = "alloc")]
mod list;
#[cfg(feature = "alloc")]
mod names;
mod offering;
#[cfg(feature = "alloc")]
mod prepared;
#[cfg(feature = "alloc")]
mod private;
mod served;
#[cfg(feature = "alloc")]
mod text;

pub use builder::CatalogBuilder;
#[cfg(feature = "alloc")]
pub use error::CatalogError;
pub use offering::Offering;
#[cfg(feature = "alloc")]
pub use prepared::Catalog;

pub(super) use offering::Offered;

use crate::json::{Sink, Writer};
use crate::model::{CacheHint, ProtocolVersion};

/// What modern clients may keep, each for its time (CAC-01).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Cacheable {
    /// The result of `server/discover`.
    Discovery,
    /// The pages of `tools/list`.
    Tools,
    /// The pages of `resources/list`.
    Resources,
    /// The pages of `resources/templates/list`.
    ResourceTemplates,
    /// The pages of `prompts/list`.
    Prompts,
    /// The results of `resources/read` that do not say so themselves.
    Reads,
}

impl Cacheable {
    const COUNT: usize = 6;
}

/// One of the lists that are served in pages.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Listed {
    Tools,
    Resources,
    ResourceTemplates,
    Prompts,
}

impl Listed {
    const fn name(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Resources => "resources",
            Self::ResourceTemplates => "resourceTemplates",
            Self::Prompts => "prompts",
        }
    }

    const fn cacheable(self) -> Cacheable {
        match self {
            Self::Tools => Cacheable::Tools,
            Self::Resources => Cacheable::Resources,
            Self::ResourceTemplates => Cacheable::ResourceTemplates,
            Self::Prompts => Cacheable::Prompts,
        }
    }
}

/// The `resultType` of a result that is final.
pub(super) const COMPLETE: &str = "complete";

/// Writes `ttlMs` and `cacheScope`.
pub(super) fn write_cache<S: Sink + ?Sized>(cache: CacheHint, json: &mut Writer<'_, S>) {
    json.key("ttlMs");
    json.unsigned(cache.ttl_ms);
    json.key("cacheScope");
    json.string(cache.scope.as_str());
}

/// Writes the array of the versions that `which` picks, newest first.
pub(super) fn write_versions<S: Sink + ?Sized>(
    which: impl Fn(ProtocolVersion) -> bool,
    json: &mut Writer<'_, S>,
) {
    json.begin_array();
    for &version in ProtocolVersion::ALL {
        if which(version) {
            json.string(version.as_str());
        }
    }
    json.end_array();
}
