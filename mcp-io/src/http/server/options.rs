//! What [`serve()`](super::serve()) is told.

use std::fmt;
use std::sync::Arc;
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
    /// being written to. One that reads a little each time has its response to the end, however long that takes: what it
    /// holds meanwhile is that response and one of [`max_connections`](Self::max_connections). Where that is too much, put
    /// a proxy that asks for a least rate in front.
    pub write_timeout: Duration,
    /// How long exchanges in flight may go on after the shutdown has begun. Default: 10 seconds.
    pub grace: Duration,
    /// What each thread runs in. Default: nothing.
    pub around: Around,
}

/// Something to be there on each thread of a server for as long as it serves, such as the context of a runtime that
/// handlers need: `|run| { let _entered = handle.enter(); run() }`, with a `Handle` of tokio's.
#[derive(Clone, Default)]
pub struct Around(Option<Arc<Outer>>);

/// Runs what it is given.
type Outer = dyn Fn(&mut dyn FnMut()) + Send + Sync;

impl Around {
    /// `around` is called once on each thread, and has to call what it is given, once. That returns when the server ends.
    pub fn new(around: impl Fn(&mut dyn FnMut()) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(around)))
    }

    pub(super) fn run(&self, mut thread: impl FnMut()) {
        match &self.0 {
            Some(around) => around(&mut thread),
            None => thread(),
        }
    }
}

impl PartialEq for Around {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        }
    }
}

impl Eq for Around {}

impl fmt::Debug for Around {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() {
            "Around(…)"
        } else {
            "Around"
        })
    }
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
            around: Around::default(),
        }
    }
}

/// Up to here hyper parses headers on its stack.
pub(super) const MAX_HEADERS: usize = 100;
