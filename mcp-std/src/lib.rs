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
//! A function that also takes a [`ToolContext`] can report progress. [`Tool`] says more about a tool than a name: title,
//! hints, what it requires of the client. [`#[tool]`](macro@tool) makes a tool of a documented function.
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
//! - `macros`, on: [`#[tool]`](macro@tool). It adds one small crate to what serde's derive builds anyway.
//! - `cli` builds the program `mcp`; a library does not need it.

mod arguments;
mod connection;
mod context;
mod entropy;
mod output;
mod panic;
mod server;
mod tool;

pub use context::ToolContext;
pub use mcp_core::engine::server::{CacheHint, CacheScope};
pub use mcp_core::model::{ClientCapabilities, ContentBlock, Progress, ProtocolVersion};
pub use mcp_core::{Limits, PeerFault};
pub use mcp_io::{End, Error};
pub use output::{IntoToolResult, Structured, ToolResult};
pub use server::{BuildError, Server, ServerBuilder};
pub use tool::{Handler, Local, NoArguments, Shared, Sharing, Tool};

/// Makes a documented function a tool: `f::tool()` is the [`Tool`] of `f`, which stays a function.
///
/// ```
/// use mcp_std::{Server, tool};
///
/// /// Adds two numbers.
/// #[tool(read_only)]
/// fn add(
///     /// The first number.
///     a: i64,
///     /// The second number.
///     #[default(1)]
///     b: i64,
/// ) -> String {
///     (a + b).to_string()
/// }
///
/// assert_eq!(add(2, 3), "5");
/// let server = Server::builder("sums", "1.0.0").with_tool(add::tool()).build()?;
/// # Ok::<(), mcp_std::BuildError>(())
/// ```
///
/// The function is `async` or not; one that is not holds up other calls while it runs. It returns anything that is
/// [`IntoToolResult`]. The client is told the function's name and documentation, and a JSON Schema of its arguments with
/// the documentation of each.
///
/// | Argument | Is |
/// | --- | --- |
/// | `text: String` | given by the client; any type that serde decodes and schemars describes |
/// | `text: Option<String>` | given, or `None` |
/// | `#[default(3)] days: u8` | given, or 3; the client is told |
/// | `#[default] tags: Vec<String>` | given, or the default of its type |
/// | `context: ToolContext` or `&ToolContext` | the call's [`ToolContext`], told by the name of the type |
/// | `#[state] notes: &Notes` | what calls share: given to `tool`, as `Notes` or `Arc<Notes>` |
/// | `#[state] notes: Notes` | the same, cloned for each call |
///
/// ```
/// use std::sync::{Arc, Mutex};
///
/// use mcp_std::{Server, tool};
///
/// #[derive(Default)]
/// struct Notes(Mutex<Vec<String>>);
///
/// /// Writes a note.
/// #[tool]
/// async fn remember(#[state] notes: &Notes, text: String) {
///     notes.0.lock().expect("no tool panics while it is locked").push(text);
/// }
///
/// /// Reads all notes.
/// #[tool(read_only)]
/// async fn recall(#[state] notes: &Notes) -> String {
///     notes.0.lock().expect("no tool panics while it is locked").join("\n")
/// }
///
/// let notes = Arc::new(Notes::default());
/// let server = Server::builder("notebook", "1.0.0")
///     .with_tool(remember::tool(notes.clone()))
///     .with_tool(recall::tool(notes))
///     .build()?;
/// # Ok::<(), mcp_std::BuildError>(())
/// ```
///
/// Attributes of serde and schemars on an argument are those of its field: `#[serde(rename = "maxLength")]`,
/// `#[schemars(range(min = 1, max = 14))]`.
///
/// # Options
///
/// | `#[tool(…)]` | |
/// | --- | --- |
/// | `name = "…"`, `description = …` | instead of the function's |
/// | `title = …` | its name for people |
/// | `read_only`, `destructive = false`, `idempotent`, `open_world` | the hints of [`Tool`] |
/// | `local` | for [`Server::local`]: its future need not be `Send` |
/// | `crate = mcp` | where this crate is, if `::mcp_std` is not it |
///
/// Whatever else [`Tool`] can be told is told to what `tool` returns.
///
/// # What is refused
///
/// Methods, for which there is `#[state]`:
///
/// ```compile_fail
/// struct Notes;
/// impl Notes {
///     #[mcp_std::tool]
///     fn recall(&self) -> String { String::new() }
/// }
/// ```
///
/// Generic functions, since a client is told types:
///
/// ```compile_fail
/// #[mcp_std::tool]
/// fn shout<T: ToString>(text: T) -> String { text.to_string() }
/// ```
///
/// Arguments without a name, and borrowed ones:
///
/// ```compile_fail
/// #[mcp_std::tool]
/// fn area((width, height): (u32, u32)) -> String { (width * height).to_string() }
/// ```
/// ```compile_fail
/// #[mcp_std::tool]
/// fn shout(text: &str) -> String { text.to_uppercase() }
/// ```
///
/// Results that are none:
///
/// ```compile_fail
/// #[mcp_std::tool]
/// fn add(a: i64, b: i64) -> i64 { a + b }
/// # add::tool();
/// ```
///
/// The tool is an associated function of an empty enum with the function's name: types and functions have names of their
/// own, so both are there, and both come with one `use`.
#[cfg(feature = "macros")]
pub use mcp_macros::tool;

/// What the code that [`macro@tool`] writes refers to.
#[cfg(feature = "macros")]
#[doc(hidden)]
pub mod __macros {
    pub use schemars;
    pub use serde;

    pub use crate::context::ToolContext as Context;
}
