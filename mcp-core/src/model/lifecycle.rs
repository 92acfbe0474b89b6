//! How a connection begins: `initialize` up to 2025-11-25 (basic, "Lifecycle"), `server/discover` since (server,
//! "Discovery").

use crate::Cow;

use super::codec::{record, result_impls};
use super::{CacheScope, Implementation, List, ServerCapabilities};
use crate::json::Json;

record! {
    /// The params of `initialize`.
    pub struct InitializeRequestParams<'a> {
        /// The newest revision that the client likes.
        protocol_version: req Cow<'a, str> = "protocolVersion";
        /// What the client can do, as it stands; see
        /// [`ClientCapabilities::read`](super::ClientCapabilities::read) and
        /// [`ClientCapabilitiesObject`](super::ClientCapabilitiesObject).
        capabilities: req Json<'a> = "capabilities";
        /// Who the client says it is.
        client_info: req Implementation<'a> = "clientInfo";
        /// `_meta`.
        meta: opt Json<'a> = "_meta";
    }
}

record! {
    /// The result of `initialize`.
    pub struct InitializeResult<'a> {
        /// The revision to be spoken.
        protocol_version: req Cow<'a, str> = "protocolVersion";
        /// What the server offers.
        capabilities: req ServerCapabilities<'a> = "capabilities";
        /// Who the server says it is.
        server_info: req Implementation<'a> = "serverInfo";
        /// How to use it, for the model.
        instructions: opt Cow<'a, str> = "instructions";
    }
    around {
        /// `_meta`.
        meta: opt Json<'a> = "_meta" [A E];
    }
}
result_impls!(InitializeResult);

record! {
    /// The result of `server/discover`.
    pub struct DiscoverResult<'a> {
        /// The revisions that the server speaks.
        supported_versions: req List<'a, Cow<'a, str>> = "supportedVersions";
        /// What the server offers.
        capabilities: req ServerCapabilities<'a> = "capabilities";
        /// How to use it, for the model.
        instructions: opt Cow<'a, str> = "instructions";
    }
    around {
        /// For how many milliseconds it may be kept.
        ttl_ms: opt i64 = "ttlMs" [E E];
        /// For whom it may be kept.
        cache_scope: opt CacheScope = "cacheScope" [E E];
        /// `_meta`; says who the server is.
        meta: opt Json<'a> = "_meta" [A E];
    }
}
result_impls!(DiscoverResult cacheable);

record! {
    /// The params of the lists.
    #[derive(Default)]
    pub struct PaginatedRequestParams<'a> {
        /// Where the page begins, as the page before said; the first page if absent.
        cursor: opt Cow<'a, str> = "cursor";
        /// `_meta`.
        meta: opt Json<'a> = "_meta";
    }
}

record! {
    /// The params of requests and notifications that are given nothing.
    #[derive(Default)]
    pub struct EmptyParams<'a> {
        /// `_meta`.
        meta: opt Json<'a> = "_meta";
    }
}

record! {
    /// The result of requests that give nothing.
    #[derive(Default)]
    pub struct EmptyResult<'a> {}
    around {
        /// `_meta`.
        meta: opt Json<'a> = "_meta" [A E];
    }
}
result_impls!(EmptyResult);

record! {
    /// The params of `notifications/cancelled`.
    #[derive(Default)]
    pub struct CancelledParams<'a> {
        /// The id of the request, as it was written there: a string or an integer. Required but in 2025-11-25, where a
        /// task has a request of its own for it.
        request_id: opt Json<'a> = "requestId";
        /// Why.
        reason: opt Cow<'a, str> = "reason";
        /// `_meta`.
        meta: opt Json<'a> = "_meta";
    }
}
