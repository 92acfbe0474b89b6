//! Servers whose clients need an access token: OAuth 2.1 resource servers. Their clients are the business of
//! [`mcp_std::auth`](crate::auth).
//!
//! ```no_run
//! use mcp_std::http::HttpRules;
//! use mcp_std::http::auth::ResourceServer;
//! use mcp_std::{Context, Server};
//!
//! async fn deploy(context: Context) -> String {
//!     let who = context.principal().and_then(|it| it.subject()).unwrap_or("somebody");
//!     format!("deployed for {who}")
//! }
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let auth = ResourceServer::builder("https://mcp.example.com/mcp")
//!     .issuer("https://as.example.com")
//!     .scopes(["mcp:read"])
//!     .tool_scopes("deploy", ["mcp:deploy"])
//!     .implies("mcp:admin", ["mcp:read", "mcp:deploy"])
//!     .build()?;
//! Server::builder("ops", "1.0.0")
//!     .tool("deploy", "Deploys what is merged", deploy)
//!     .build()?
//!     .http()
//!     .rules(HttpRules::new().host("mcp.example.com"))
//!     .auth(auth)
//!     .serve("0.0.0.0:8000")
//!     .await?;
//! # Ok(())
//! # }
//! ```
//!
//! TLS is for something in front of it to do: nothing here makes tokens safe on an open wire.
//!
//! # What a request goes through
//!
//! 1. `Host` and `Origin`: 403. A preflight of a browser is answered, and so are the
//!    [metadata](ResourceServer::metadata_url), without a token.
//! 2. The header `Authorization`, once, with `Bearer`: else 401, or 400 if it cannot be understood. A token in the query is
//!    not looked at.
//! 3. The token is genuine, of a trusted [`Issuer`], for this resource, and now is its time: else 401 `invalid_token`, and
//!    the reason for people in `error_description`; 503 if the issuer is not there to tell.
//! 4. It has the scopes that everything takes, and those of the method and the tool that the *body* names, of all of them
//!    if it is a batch: else 403 `insufficient_scope`, and all scopes that it takes. No handler has run.
//! 5. The session that it names, and the `requestState` that it brings, are those of the same [`Principal`]: to anybody
//!    else they do not exist. Whoever gets hold of a session's name has nothing.
//!
//! # Tokens
//!
//! JWTs are verified with the keys of their issuer, which are fetched, kept and renewed as [`Issuer`] says; an [`Algorithm`]
//! belongs to a key, and what a token says about how it is signed is compared with that, never followed. Others are asked
//! about, by [`Introspection`]. For what is neither there is [`Verifier`].
//!
//! Issuer and audience are compared as texts, never taken apart or normalised: `https://as.example.com` and
//! `https://as.example.com/` are two.
//!
//! Accepted tokens are remembered, by their digests, for as long as [`Verifier::cache_for`] says: a minute for JWTs.
//!
//! # No token gets further than this
//!
//! A handler learns who asks, by [`Context::principal`](crate::Context::principal): issuer, subject, client, scopes, and the
//! claims that were [asked for](ResourceServerBuilder::claims). It does not get the token, and there is no way to it: not in
//! the [`Context`](crate::Context), not in the [`Principal`], not in a log or a `Debug`. So it cannot pass it on to another
//! service, which the specification forbids, because that service would then trust whoever this server was fooled by. To
//! call another service as the user, get a token *for that service*: its issuer gives one to this server, as a client of its
//! own, by a grant such as token exchange (RFC 8693).
//!
//! # Bounds
//!
//! | Bound | Value | Beyond it |
//! | --- | --- | --- |
//! | a token | 16 KiB | 400 |
//! | fetches of an issuer's keys | one at a time, one in [30 seconds](Issuer::refresh_interval) | unknown keys are unknown: 401 |
//! | what an issuer answers | 256 KiB, in [5 seconds](ResourceServerBuilder::timeout) | as if it were not there |
//! | keys of an issuer | 100 | the rest is not looked at |
//! | keys that cannot be fetched again | [1 hour](Issuer::stale_for) | 503 |
//! | questions to an issuer | 32 at a time | one waits for 5 seconds, then 503 |
//! | remembered tokens | 8192 | the oldest ones are verified again |
//!
//! A stream of what comes some day (a GET, `subscriptions/listen`) ends when its token does, and its client opens it again
//! with another one. A call that runs then is answered.

mod bearer;
mod builder;
mod cache;
mod challenge;
mod claims;
mod discovery;
mod fetch;
mod introspection;
mod issuer;
mod jwk;
mod jwks;
mod jwt;
mod resource;
mod scopes;
mod url;
mod verifier;

pub use builder::{AuthError, ResourceServerBuilder};
pub use claims::Claims;
pub use introspection::Introspection;
pub use issuer::Issuer;
pub use jwk::Algorithm;
pub use resource::ResourceServer;
pub use verifier::{Rejection, StaticTokens, Verifier, Verifying};

pub use super::principal::Principal;
