//! The Model Context Protocol as a sans-IO engine: bytes in, bytes and calls out.
//!
//! No sockets, no clock, no executor, no standard library; only `alloc`. Messages are borrowed from the bytes they came
//! in, answers are appended to a buffer of yours. All five revisions of the protocol are served, 2024-11-05 to
//! 2026-07-28, both eras on one stream.
//!
//! Most programs want `mcp-std`, which puts this on real streams and calls your functions. Use this crate alone to embed
//! the protocol in a loop of your own.
//!
//! # The run loop
//!
//! ```
//! extern crate alloc;
//! use alloc::sync::Arc;
//! use mcp_core::Limits;
//! use mcp_core::binding::StdioServer;
//! use mcp_core::engine::{CacheHint, Catalog, Incoming, ServerEngine};
//! use mcp_core::json::RawJson;
//! use mcp_core::model::{CallToolResult, ContentBlock, Implementation, Tool};
//!
//! // What is offered, serialised once and shared by all connections.
//! let schema = RawJson::parse(br#"{"type":"object","properties":{}}"#)?;
//! let tools = [Tool::new("now", schema)];
//! let catalog = Catalog::new(&Implementation::new("clock", "1.0.0"), None, &tools, CacheHint::NONE)?;
//!
//! // One engine for each peer. The seed should be unpredictable to it.
//! let engine = ServerEngine::new(Arc::new(catalog), Limits::DEFAULT, 0x5EED);
//! let mut server = StdioServer::new(engine);
//!
//! # let mut stream: &[u8] = concat!(
//! #     r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"#,
//! #     r#""clientInfo":{"name":"c","version":"1"}}}"#, "\n",
//! #     r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"now"}}"#, "\n",
//! # ).as_bytes();
//! # let mut read = |input: &mut Vec<u8>| { input.extend_from_slice(stream); !core::mem::take(&mut stream).is_empty() };
//! # let mut sent = Vec::new();
//! # let mut write = |out: &[u8]| sent.extend_from_slice(out);
//! let (mut input, mut out) = (Vec::new(), Vec::new());
//! while read(&mut input) {                                          // your transport appends what came
//!     let mut used = 0;
//!     loop {
//!         let step = server.receive(&input[used..], &mut out);       // one message, borrowed from `input`
//!         used += step.consumed;
//!         match step.incoming {
//!             Some(Incoming::Call(call)) => {                        // yours to answer, now or later
//!                 let content = [ContentBlock::text("half past nine")];
//!                 server.reply(call.token, &CallToolResult::new(&content), &mut out)?;
//!             }
//!             Some(_) => {}                                          // dealt with: the answer is in `out`
//!             None => break,                                         // no whole message left
//!         }
//!     }
//!     input.drain(..used);
//!     write(&out);                                                   // all answers of the turn at once
//!     out.clear();
//! }
//! # assert!(sent.ends_with(b"\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"half past nine\"}]}}\n"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The layers
//!
//! Arrows go one way: each layer knows only those before it.
//!
//! | Module | From | To | Does not know |
//! | --- | --- | --- | --- |
//! | [`scan`] | bytes | positions | JSON |
//! | [`json`] | text | checked spans, and back | JSON-RPC |
//! | [`frame`] | a stream | lines | JSON |
//! | [`rpc`] | a message | its envelope, and back | MCP |
//! | [`model`] | spans | MCP's vocabulary, and back | state |
//! | [`engine`] | messages | answers and calls | framing, sockets |
//! | [`binding`] | a transport's bytes | the engine's messages | sockets |
//!
//! # Promises
//!
//! - Peers' input never panics. What they do wrong is a [`PeerFault`], answered where an answer is due, and the stream
//!   goes on.
//! - Memory is bounded by [`Limits`], with the worst case of each written there.
//! - An accepted request is not answered twice: the right to answer is a token that cannot be cloned. To use each of
//!   them is the caller's duty.
//! - In steady state nothing is allocated for a message, and none of its bytes are copied but its id and its progress
//!   token; the exceptions are named at [`ServerEngine`](engine::ServerEngine).
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
//! - Arguments that do not fit the tool's schema are not the engine's business; a caller answers them with
//!   [`is_error`](model::CallToolResult::is_error), so that the model can correct itself.
//!
//! # Features
//!
//! `std`: the SIMD kernels are chosen at run time by what the CPU has. Without it, by what the compile target has.
#![no_std]
#![warn(
    clippy::alloc_instead_of_core,
    clippy::std_instead_of_alloc,
    clippy::std_instead_of_core
)]

extern crate alloc;
#[cfg(any(test, feature = "std"))]
extern crate std;

pub mod binding;
pub mod engine;
mod error;
pub mod frame;
pub mod json;
mod limits;
pub mod model;
pub mod rpc;
pub mod scan;

pub use error::{EnvelopeFault, ErrorCode, PeerFault, SendError};
pub use limits::Limits;
