//! JSON-RPC and MCP error codes.

use core::fmt;

/// The `code` of a JSON-RPC error: an open set, the known values are constants (2026-07-28, basic, "Error codes").
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ErrorCode(i64);

impl ErrorCode {
    /// The text was not JSON.
    pub const PARSE_ERROR: Self = Self(-32700);
    /// The JSON was not a valid JSON-RPC message.
    pub const INVALID_REQUEST: Self = Self(-32600);
    /// The method does not exist, or belongs to a capability that was not declared (ERR-10).
    pub const METHOD_NOT_FOUND: Self = Self(-32601);
    /// The params do not fit the method; in 2026-07-28 also a missing required `_meta` field (META-11).
    pub const INVALID_PARAMS: Self = Self(-32602);
    /// Something went wrong on the answering side.
    pub const INTERNAL_ERROR: Self = Self(-32603);
    /// 2026-07-28: a header and the body contradict each other (ERR-07).
    pub const HEADER_MISMATCH: Self = Self(-32020);
    /// 2024-11-05 to 2025-11-25: no resource of that URI. Later revisions say [`INVALID_PARAMS`](Self::INVALID_PARAMS)
    /// instead, and this never (RSC-03, ERR-05).
    pub const RESOURCE_NOT_FOUND: Self = Self(-32002);
    /// 2025-11-25 only: the request needs its user at a URL first; `data.elicitations` says which (ELI-13, ERR-05).
    pub const URL_ELICITATION_REQUIRED: Self = Self(-32042);
    /// 2026-07-28: the request needs a client capability that it did not declare (ERR-08).
    pub const MISSING_REQUIRED_CLIENT_CAPABILITY: Self = Self(-32021);
    /// 2026-07-28: the request names a protocol version that this server does not serve (ERR-09).
    pub const UNSUPPORTED_PROTOCOL_VERSION: Self = Self(-32022);

    /// A code by its number. Codes of your own lie outside -32768 to -32000 (ERR-04).
    #[must_use]
    pub const fn new(code: i64) -> Self {
        Self(code)
    }

    /// The number as it stands on the wire.
    #[must_use]
    pub const fn value(self) -> i64 {
        self.0
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
