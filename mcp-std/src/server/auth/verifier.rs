//! Who can tell a genuine token from another.

use core::fmt;
use core::pin::Pin;
use core::time::Duration;
use std::collections::HashMap;

use sha2::{Digest as _, Sha256};

use super::claims::Claims;

/// A verification under way.
pub type Verifying<'a> = Pin<Box<dyn Future<Output = Result<Claims, Rejection>> + Send + 'a>>;

/// Tells whether tokens are genuine and what they say: for tokens of a kind that this crate does not know.
///
/// It does not decide whether a token is for this server, still good, or good for what is asked: issuer, audience, times
/// and scopes of its claims are checked by the resource server, whoever has verified it.
///
/// ```
/// use mcp_std::http::auth::{Claims, Rejection, Verifier, Verifying};
///
/// /// Tokens that a database knows.
/// struct Database;
///
/// impl Verifier for Database {
///     fn verify<'a>(&'a self, token: &'a str) -> Verifying<'a> {
///         Box::pin(async move {
///             match token {
///                 "s3cret" => Ok(Claims::new("alice").with("aud", "https://mcp.example.com/mcp")),
///                 _ => Err(Rejection::INVALID),
///             }
///         })
///     }
/// }
/// ```
pub trait Verifier: Send + Sync {
    /// What the token says, if it is genuine.
    ///
    /// A claim `iss` may be left out: then it is the issuer that this verifier belongs to.
    fn verify<'a>(&'a self, token: &'a str) -> Verifying<'a>;

    /// For how long the answer may be used again for the same token; never beyond the token's own end. Default: not at
    /// all.
    fn cache_for(&self) -> Duration {
        Duration::ZERO
    }
}

/// Why a token is not accepted.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Rejection {
    pub(super) kind: Kind,
    pub(super) reason: &'static str,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Kind {
    Invalid,
    Unavailable,
}

impl Rejection {
    /// The token is not genuine; it is not said why.
    pub const INVALID: Self = Self::invalid("The access token is not valid");

    /// The client is to get another token: 401 `invalid_token`. The reason is a sentence for whoever looks for the mistake;
    /// it goes out in a header.
    #[must_use]
    pub const fn invalid(reason: &'static str) -> Self {
        Self {
            kind: Kind::Invalid,
            reason,
        }
    }

    /// It cannot be told now, and the client is to try again later: 503.
    #[must_use]
    pub const fn unavailable(reason: &'static str) -> Self {
        Self {
            kind: Kind::Unavailable,
            reason,
        }
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.reason)
    }
}

impl core::error::Error for Rejection {}

/// Tokens that are known beforehand, for tests. A token in a configuration file is a password that everybody shares who can
/// read it: it is nothing for production.
///
/// Their claims need an audience as those of all others do.
#[derive(Clone, Default)]
pub struct StaticTokens(HashMap<[u8; 32], Claims>);

impl StaticTokens {
    /// None so far.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one.
    #[must_use]
    pub fn token(mut self, token: &str, claims: Claims) -> Self {
        self.0.insert(digest(token), claims);
        self
    }
}

impl Verifier for StaticTokens {
    fn verify<'a>(&'a self, token: &'a str) -> Verifying<'a> {
        // By its digest: how long the search takes says nothing about the tokens that are there.
        let found = self.0.get(&digest(token)).cloned();
        Box::pin(async move { found.ok_or(Rejection::INVALID) })
    }
}

impl fmt::Debug for StaticTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StaticTokens")
            .field("count", &self.0.len())
            .finish_non_exhaustive()
    }
}

/// What a token is remembered by: whoever reads this memory has no token.
pub(super) fn digest(token: &str) -> [u8; 32] {
    Sha256::digest(token).into()
}
