//! What an era decides about a request: whether it may come now, and for which version it is answered.
//!
//! Each request says for itself which era it belongs to, so one stream can carry both at once (VER-05, VER-09):
//! `initialize` is legacy, a request whose `_meta` has any of the modern keys is modern, and every other one belongs to
//! the session that `initialize` opened.

mod legacy;
mod modern;

pub(super) use legacy::{Session, negotiate};
pub(super) use modern::admit as admit_modern;

use crate::error::PeerFault;
use crate::model::{ClientCapabilities, LoggingLevel, Method, ProtocolVersion, RequestMeta};

/// What a request is answered under.
#[derive(Clone, Copy, Debug)]
pub(super) struct Terms {
    pub(super) version: ProtocolVersion,
    pub(super) capabilities: ClientCapabilities,
    /// From which level on a modern request wants to be told what is logged; `None`: not at all (LOG-04).
    pub(super) log_level: Option<LoggingLevel>,
}

/// Decides for a request other than `initialize`; `None` is a method that is not known here.
pub(super) fn admit(
    method: Option<Method>,
    meta: &RequestMeta<'_>,
    session: Option<&Session>,
) -> Result<Terms, PeerFault> {
    // A modern method is modern even if the client forgot its `_meta`: it is then told what is missing.
    let modern = match method {
        Some(Method::Discover) => true,
        Some(Method::SubscriptionsListen) => session.is_none(),
        _ => false,
    };
    if modern || meta.is_modern() {
        return modern::admit(method, meta);
    }
    legacy::admit(method.ok_or(PeerFault::MethodNotFound)?, session)
}

/// The same for a request that an extension claims: the engine does not know its method.
pub(super) fn admit_claimed(
    meta: &RequestMeta<'_>,
    session: Option<&Session>,
    stateless: bool,
) -> Result<Terms, PeerFault> {
    if stateless || meta.is_modern() {
        return modern::terms(meta);
    }
    session.map(legacy::terms).ok_or(PeerFault::NotInitialized)
}
