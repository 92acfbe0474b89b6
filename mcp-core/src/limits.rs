//! Every bound in one place: what it protects, its default, and what the worst case costs in memory.

/// The bounds an engine works within.
///
/// Input that would cross one is refused with a JSON-RPC error and nothing else is hurt.
///
/// | Limit | Default | Worst case in memory |
/// | --- | --- | --- |
/// | [`max_message`](Self::max_message) | 4 MiB | the driver's input buffer: 3 bytes more than this; as much again while one name of that length, written with escapes, is decoded |
/// | [`max_depth`](Self::max_depth) | 128 | nothing: nesting is kept in a bit stack of fixed size |
/// | [`max_in_flight`](Self::max_in_flight) | 16 384 | 144 bytes for each, and the text of ids and progress tokens of more than 38 bytes |
/// | [`max_pending`](Self::max_pending) | 1 048 576 | 400 bytes for each, if one of every sixteen in a row is left unanswered; else 200 |
/// | [`max_id`](Self::max_id) | 4 096 bytes | `max_in_flight` × 2 × this, if every id and token is that long |
/// | [`max_batch`](Self::max_batch) | 1 024 | the answers of a batch, until the last one is there |
/// | [`max_subscriptions`](Self::max_subscriptions) | 256 | 24 bytes for each, beside the request in flight that it is |
/// | [`max_subscribed_uris`](Self::max_subscribed_uris) | 4 096 | 64 bytes for each, and the text of its URI |
/// | [`max_subscribed_uri`](Self::max_subscribed_uri) | 2 048 bytes | `max_subscribed_uris` × this: 8 MiB by default |
///
/// There may be more limits one day, so a set of one's own begins with the defaults:
///
/// ```
/// use mcp_core::Limits;
///
/// let mut limits = Limits::DEFAULT;
/// limits.max_message = 64 * 1024;
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Limits {
    /// The largest message accepted, in bytes, without its framing.
    pub max_message: usize,
    /// How many JSON arrays and objects may be open at once inside one message; at most [`json::MAX_DEPTH`](crate::json::MAX_DEPTH).
    pub max_depth: usize,
    /// How many requests may be accepted and not yet answered. One more is refused with an internal error that says so.
    pub max_in_flight: usize,
    /// How many requests of ours may be sent and not yet answered. One more is not sent.
    pub max_pending: usize,
    /// The longest request id or progress token, in bytes of JSON text.
    pub max_id: usize,
    /// How many messages a batch of 2025-03-26 may hold. A longer one is refused whole.
    pub max_batch: usize,
    /// How many `subscriptions/listen` one peer may have open. One more is refused with an internal error that says so.
    pub max_subscriptions: usize,
    /// How many resources one peer may be subscribed to, in all its subscriptions together. One more is refused.
    pub max_subscribed_uris: usize,
    /// The longest URI that can be subscribed to, in bytes.
    pub max_subscribed_uri: usize,
}

impl Limits {
    /// The defaults of the table above.
    pub const DEFAULT: Self = Self {
        max_message: 4 * 1024 * 1024,
        max_depth: crate::json::DEFAULT_DEPTH,
        max_in_flight: 16_384,
        max_pending: 1_048_576,
        max_id: 4_096,
        max_batch: 1_024,
        max_subscriptions: 256,
        max_subscribed_uris: 4_096,
        max_subscribed_uri: 2_048,
    };
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}
