//! Without an allocator there is nothing to make extensions of: the engine is the same, and finds none.

use crate::json::RawJson;
use crate::model::ProtocolVersion;

/// There is none.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Extension {}

impl Extension {
    pub(in crate::engine::server) const fn id(&self) -> &'static str {
        match *self {}
    }

    pub(in crate::engine::server) const fn declares(&self) -> RawJson<'static> {
        match *self {}
    }

    pub(in crate::engine::server) const fn is_required(&self) -> bool {
        match *self {}
    }

    pub(in crate::engine::server) const fn is_capability(&self) -> bool {
        match *self {}
    }

    pub(in crate::engine::server) const fn is_in(&self, _: ProtocolVersion) -> bool {
        match *self {}
    }

    pub(in crate::engine::server) const fn methods(&self) -> &'static [ExtensionMethod] {
        match *self {}
    }

    pub(in crate::engine::server) const fn is_declared_by(&self, _: RawJson<'_>) -> bool {
        match *self {}
    }

    pub(in crate::engine::server) const fn is_private(&self) -> bool {
        match *self {}
    }

    pub(in crate::engine::server) const fn topic(&self) -> Option<(&'static str, &'static str)> {
        match *self {}
    }
}

/// There is none.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum ExtensionMethod {}

impl ExtensionMethod {
    pub(in crate::engine::server) const fn name(&self) -> &'static str {
        match *self {}
    }

    pub(in crate::engine::server) const fn is_request(&self) -> bool {
        match *self {}
    }

    pub(in crate::engine::server) const fn mirrored(&self) -> Option<&'static str> {
        match *self {}
    }
}
