//! Drives the sans-IO MCP engine of `mcp-core` over real streams.
//!
//! This crate moves bytes, polls handlers and arms timers. It knows no method of MCP, parses nothing and decides
//! nothing: that is done by what it drives, a [`Protocol`].
//!
//! - [`drive`] is the loop, for any pair of byte streams.
//! - [`pair`](fn@pair) is the same for two protocols in one process, without streams.
//! - [`stdio`] takes over standard input and output of the process.
//! - `child` starts servers as child processes, for clients. Feature `child`.
//! - `http::server` serves HTTP/1.1 connections, feature `http-server`; `http::client` makes them, feature `http-client`.
//! - [`Tasks`] holds the handlers in flight.
//!
//! What happens is traced with `tracing`, at level debug: children that start and end and what they say on standard
//! error, streams that end. At level trace come the sizes of messages; their contents are never traced.
//!
//! Nothing here names a runtime: streams are those of `futures-io`, timers come from `async-io`, which brings its own
//! reactor thread where no smol executor runs. A future of this crate can be polled by any executor, tokio included.

mod alarm;
mod buf;
#[cfg(feature = "child")]
pub mod child;
mod driver;
mod error;
#[cfg(any(feature = "http-server", feature = "http-client"))]
pub mod http;
mod pair;
pub mod stdio;
mod tasks;

pub use driver::{End, Options, Protocol, Source, Wants, drive};
pub use error::Error;
pub use pair::pair;
pub use tasks::Tasks;
