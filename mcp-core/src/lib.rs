//! The Model Context Protocol as a sans-IO engine: bytes in, bytes and calls out.
//!
//! No sockets, no clock, no executor, no standard library; only `alloc`, and [not even that](guide#memory) in fixed memory. Messages are borrowed from the bytes they came
//! in, answers are appended to a buffer of yours. All five revisions of the protocol are served, 2024-11-05 to
//! 2026-07-28, both eras on one stream.
//!
//! Most programs want `mcp-std`, which puts this on real streams and calls your functions. Use this crate alone to embed
//! the protocol in a loop of your own.
//!
//! # The run loop
//!
//! On standard input and output, blocking, without any runtime; `examples/stdio.rs` is the same program.
//!
//! ```no_run
#![doc = include_str!("../examples/stdio.rs")]
//! ```
//!
//! `call.request` says what is wanted: here it can only be the one tool; what names a tool is its position in the catalog. A call need
//! not be answered at once: its token can be kept, and [`Incoming::Cancelled`](engine::server::Incoming::Cancelled) says when nobody
//! waits for it any more. With a `Vec` as output nothing is ever [`Blocked`](engine::server::Incoming::Blocked).
//!
//! # The layers
//!
//! Arrows go one way: each layer knows only those before it.
//!
//! | Module | From | To | Does not know |
//! | --- | --- | --- | --- |
//! | [`scan`] | bytes | positions | JSON |
//! | [`json`] | text | checked spans, and back | JSON-RPC |
//! | [`frame`] | a stream | lines, server-sent events | JSON |
//! | [`rpc`] | a message | its envelope, and back | MCP |
//! | [`model`] | spans | MCP's vocabulary, and back | state |
//! | [`engine`] | messages | answers and calls | framing, sockets |
//! | [`binding`] | a transport's bytes | the engine's messages | sockets |
//!
//! [`binding::http`] has the rules of Streamable HTTP, for any HTTP library.
//!
//! # Promises
//!
//! - Peers' input never panics. What they do wrong is a [`PeerFault`], answered where an answer is due, and the stream
//!   goes on.
//! - Memory is bounded by [`Limits`], with the worst case of each written there.
//! - An accepted request is not answered twice: the right to answer is a token that cannot be cloned. To use each of
//!   them is the caller's duty.
//! - In steady state nothing is allocated for a message, and none of its bytes are copied but its id and its progress
//!   token; the exceptions are named at [`ServerEngine`](engine::server::ServerEngine).
//! - The same construction and the same calls give the same bytes.
//!
//! # Choices where the specification leaves one
//!
//! - A request belongs to the era that it shows: `initialize` opens a legacy session, `server/discover` and a request
//!   with a modern key in `_meta` are modern, any other belongs to the session. Both may come on one stream.
//! - A second `initialize` is refused, as is an id that is still in flight.
//! - Ids are strings, or integers from -2^63 to 2^63-1 in any notation (`1`, `1.0`, `1e0` are one id); they are echoed in
//!   the text they came in. Other numbers are refused.
//! - A member of the envelope, of `params` or of `_meta` that the engine reads and that occurs twice refuses the message
//!   (`-32600`): two readers of it could see two messages. Members are matched exactly, after decoding escapes.
//! - `null` for an optional member means that it is absent.
//! - Batches are taken in sessions of 2025-03-26 and nowhere else. All answers to one leave in one array, when the last is
//!   there.
//! - Any URI can be subscribed to, also one that is no resource yet; changes are told of the very URI that was subscribed
//!   to, and of each once however often it changed before it could be told.
//! - A cursor is good for one list in one state: after a change the client starts the list again.
//! - A subscription of which nothing is honoured is acknowledged and ends at once; on stdio a server that ends one cancels
//!   it first and then answers it.
//! - Until the client sets a level, a legacy session is sent every log message.
//! - The tasks of 2025-11-25 are neither declared nor served by the server role.
//! - Arguments that do not fit the tool's schema are not the engine's business; a caller answers them with
//!   [`is_error`](model::CallToolResult::is_error), so that the model can correct itself.
//!
//! # Features
//!
//! - `alloc`, the default: tables that grow, the client, HTTP, values that own their text. Without it there is no allocator
//!   at all: a server in [`Fixed`](engine::Fixed) memory, and what it needs; see the [guide].
//! - `std`: the SIMD kernels are chosen at run time by what the CPU has. Without it, by what the compile target has.
#![no_std]
#![cfg_attr(
    not(feature = "alloc"),
    allow(
        dead_code,
        unused_imports,
        unused_macros,
        reason = "much of what reads and owns values is only there with an allocator"
    )
)]
#![warn(
    clippy::alloc_instead_of_core,
    clippy::std_instead_of_alloc,
    clippy::std_instead_of_core
)]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(any(test, feature = "std"))]
extern crate std;

#[cfg(all(test, not(feature = "alloc")))]
compile_error!("the tests in here need the feature `alloc`; `tests/fixed.rs` does not");

pub mod binding;
#[cfg(not(feature = "alloc"))]
mod cow;
pub mod engine;
mod error;
pub mod frame;
#[doc = include_str!("guide.md")]
pub mod guide {}
pub mod json;
mod limits;
pub mod model;
pub mod rpc;
pub mod scan;
pub mod time;

#[cfg(feature = "alloc")]
pub use alloc::borrow::Cow;
#[cfg(not(feature = "alloc"))]
pub use cow::Cow;
pub use error::{EnvelopeFault, ErrorCode, HeaderProblem, MirroredHeader, PeerFault, SendError};
pub use limits::Limits;
