//! Servers whose clients need an access token, over real sockets, with an authorization server in this process.
//!
//! The tests of `attacks` are named after what an attacker tries.
#![cfg(unix)]

mod attacks;
#[path = "../http/example.rs"]
#[expect(dead_code, reason = "the tests of HTTP use all of it")]
mod example;
mod examples;
mod introspection;
mod issuer;
mod keys;
mod metadata;
#[cfg(feature = "cli")]
mod program;
mod protected;
mod rotation;
mod scopes;
#[path = "../http/site.rs"]
#[expect(dead_code, reason = "the tests of HTTP use all of it")]
mod site;
mod streams;
mod tokens;
