//! Model Context Protocol servers in a few lines.
//!
//! ```no_run
//! use mcp_std::Server;
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct Echo {
//!     /// What to say again.
//!     text: String,
//! }
//!
//! Server::builder("parrot", "1.0.0")
//!     .tool("echo", "Says the text again", |args: Echo| async move { args.text })
//!     .build()?
//!     .run_stdio()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Tools
//!
//! A tool is a name, a description and a function that returns a future. Its arguments are any type that serde decodes
//! and schemars describes: the schema a client sees is that of the type, with the doc comments of its fields. What it
//! returns is anything that is [`IntoToolResult`]:
//!
//! | Returned | The client gets |
//! | --- | --- |
//! | `String`, `&'static str` | one text |
//! | [`Structured<T>`](Structured) | structured content, the same as text, and an output schema in the list |
//! | [`ContentBlock`], `Vec<ContentBlock>` | these blocks |
//! | `Result<T, E>` | what `T` gives; for an `Err`, its text with `isError: true` |
//! | [`ToolResult`] | all of that by hand |
//! | `()` | a result without content |
//!
//! A function that also takes a [`Context`] can report progress. [`Tool`] says more about a tool than a name: title,
//! hints, what it requires of the client.
//!
//! # What goes wrong, and who is told
//!
//! - Arguments that do not fit the type: the model, with `isError: true` and the member's name.
//! - `Err` from a tool: the model, with `isError: true`.
//! - A panic in a tool: the client, with a JSON-RPC error (`-32603`). Other calls go on.
//! - An unknown tool, a malformed request: the client, with a JSON-RPC error.
//! - Broken rules of the protocol: the client, and [`ServerBuilder::on_fault`].
//!
//! # Running
//!
//! [`Server::run_stdio`] is for programs that only serve. [`Server::serve_stdio`] and [`Server::serve`] are futures for any
//! executor, tokio's included: handlers run inside them, concurrently, on the thread that polls. A handler that blocks its
//! thread holds up the others. Dropping the future drops the handlers.
//!
//! On standard input and output, what the program prints by mistake goes to standard error: see [`mcp_io::stdio::take`].
//! When the input ends, calls in flight are answered before the future completes, for at most
//! [`grace`](ServerBuilder::grace). When the client cancels a call, its handler is dropped at its next `await`.
//!
//! # Bounds
//!
//! | Bound | Default | Beyond it |
//! | --- | --- | --- |
//! | [`Limits::max_message`] | 4 MiB | the message is discarded and refused |
//! | [`Limits::max_in_flight`] | 16 384 | the request is refused |
//! | [`max_concurrent`](ServerBuilder::max_concurrent) | 1024 handlers | the call waits for its turn |
//! | [`max_waiting`](ServerBuilder::max_waiting) | 16 MiB of arguments | the call is refused |
//! | output not read by the client | 1 MiB | nothing is read or run until the client reads |
//!
//! # Threads
//!
//! The handlers of [`Server::builder`] are `Send`, and so is its future: it can be spawned on an executor of several
//! threads. [`Server::local`] takes handlers that are not, and stays on its thread.
//!
//! # Features
//!
//! `client`, on by default, has [`Client`]; a program that only serves does without. `cli` builds the program `mcp`; a library does not need it.

#[cfg(feature = "client")]
pub mod blocking;
#[cfg(feature = "client")]
pub mod client;
mod entropy;
mod panic;
mod server;

#[cfg(feature = "client")]
pub use client::Client;
pub use mcp_core::engine::server::{CacheHint, CacheScope};
pub use mcp_core::model::{ClientCapabilities, ContentBlock, Progress, ProtocolVersion};
pub use mcp_core::{Limits, PeerFault, json, model};
pub use mcp_io::{End, Error};
pub use server::{
    BuildError, Context, Handler, IntoToolResult, Local, NoArguments, Server, ServerBuilder,
    Shared, Sharing, Structured, Tool, ToolResult,
};
