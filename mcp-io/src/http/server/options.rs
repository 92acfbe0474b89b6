//! What [`serve()`](super::serve()) is told.

use std::time::Duration;

/// The bounds of a server.
///
/// The time a request's body may take is an argument of [`collect()`](super::collect()), which reads it.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Options {
    /// How many threads serve. Default: 1, which is the fastest for handlers that do not compute much. A handler that
    /// blocks its thread holds up nobody as long as there is another one.
    pub threads: usize,
    /// How many connections are served at a time, idle ones included. Default: 10,000. Further ones are told
    /// `503 Service Unavailable`, up to 64 at a time; those beyond wait to be accepted. Each connection takes a file
    /// descriptor: without any left, nobody is accepted until one is.
    pub max_connections: usize,
    /// How many bytes the head of a request may have, request line included. Default: 64 KiB. More is answered
    /// `431 Request Header Fields Too Large`.
    pub max_head: usize,
    /// How many headers a request may have. Default: 100. More is answered `431 Request Header Fields Too Large`.
    /// Any other number costs an allocation per request.
    pub max_headers: usize,
    /// How long the head of a request may take to arrive, from its first byte on; for the first one, from when the
    /// connection was accepted. Default: 10 seconds. The connection is closed without a word.
    pub head_timeout: Duration,
    /// How long a connection may wait for its next request. Default: 75 seconds.
    pub idle_timeout: Duration,
    /// How long a client that is being written to may read nothing. Default: 30 seconds. A stream that is quiet is not
    /// being written to.
    pub write_timeout: Duration,
    /// How long exchanges in flight may go on after the shutdown has begun. Default: 10 seconds.
    pub grace: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            threads: 1,
            max_connections: 10_000,
            max_head: 64 << 10,
            max_headers: MAX_HEADERS,
            head_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(75),
            write_timeout: Duration::from_secs(30),
            grace: Duration::from_secs(10),
        }
    }
}

/// Up to here hyper parses headers on its stack.
pub(super) const MAX_HEADERS: usize = 100;
