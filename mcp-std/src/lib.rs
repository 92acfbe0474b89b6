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
//! A handler is a function of its arguments, of a [`Context`] and its arguments, in this order, of one of them, or of
//! nothing:
//!
//! ```
//! use mcp_std::{Context, Progress, Server};
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! #[serde(deny_unknown_fields)]
//! struct Copy {
//!     from: String,
//!     to: String,
//! }
//!
//! async fn copy(context: Context, args: Copy) -> Result<String, std::io::Error> {
//!     context.progress(Progress::new(0.5).saying("half of it")).await;
//!     Ok(format!("{} is {} now", args.from, args.to))
//! }
//!
//! let server = Server::builder("files", "1.0.0").tool("copy", "Copies a file", copy).build()?;
//! # Ok::<(), mcp_std::BuildError>(())
//! ```
//!
//! Members that the type does not have, a misspelt name say, are ignored, as serde does, unless
//! `#[serde(deny_unknown_fields)]` says otherwise: then the schema says so as well, and the model is told.
//!
//! A function that also takes a [`Context`] can report progress, send log messages and ask the client. [`Tool`] says more
//! about a tool than a name: title, hints, icons, what it requires of the client. [`#[tool]`](macro@tool) makes a tool of
//! a documented function.
//!
//! # Resources, prompts, completion
//!
//! ```
//! use mcp_std::{Prompt, ResourceTemplate, Server};
//!
//! #[derive(serde::Deserialize)]
//! struct Page {
//!     title: String,
//! }
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct Summary {
//!     /// Which page.
//!     title: String,
//!     /// How many words.
//!     words: Option<u32>,
//! }
//!
//! let titles = |typed: String, _| async move {
//!     ["Home", "Help"].into_iter().filter(|it| it.starts_with(&typed)).collect::<Vec<_>>()
//! };
//! let page = ResourceTemplate::new("wiki://{title}", "page", |page: Page| async move {
//!     // `None`: there is no such resource.
//!     (page.title == "Home").then(|| "Welcome!".to_owned())
//! })
//! .mime_type("text/plain")
//! .complete("title", titles);
//! let summary = Prompt::new("summarise", "Sums up a page", |it: Summary| async move {
//!     format!("Sum up wiki://{} in {} words", it.title, it.words.unwrap_or(100))
//! })
//! .complete("title", titles);
//!
//! let server = Server::builder("wiki", "1.0.0")
//!     .resource("wiki://index", "index", || async { "Home\nHelp" })
//!     .with_template(page)
//!     .with_prompt(summary)
//!     .build()?;
//! # Ok::<(), mcp_std::BuildError>(())
//! ```
//!
//! Resources return what is [`IntoResource`]: text, bytes (sent in base64), [`model::ResourceContents`]. Prompts return
//! what is [`IntoPrompt`]: a text, which becomes a message of the user, or messages. Arguments of prompts and variables of
//! templates are text on the wire; numbers, booleans, enums and `Option`s are read from it. Completers return lists of
//! strings.
//!
//! # Asking the client
//!
//! ```
//! use mcp_std::{AskError, Context, Elicited, Server};
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct Seat {
//!     /// By the window?
//!     window: bool,
//! }
//!
//! async fn book(context: Context) -> Result<String, AskError> {
//!     Ok(match context.elicit_form::<Seat>("Which seat?").await? {
//!         Elicited::Accepted(seat) => format!("booked; window: {}", seat.window),
//!         Elicited::Declined | Elicited::Cancelled => "not booked".to_owned(),
//!     })
//! }
//!
//! let server = Server::builder("trains", "1.0.0").tool("book", "Books a seat", book).build()?;
//! # Ok::<(), mcp_std::BuildError>(())
//! ```
//!
//! The same function serves clients of both eras, and in one of them it is run again from its beginning: [`Context`] says
//! what that asks of it. [`InputRequired`] is for those who would rather steer that themselves.
//!
//! # Changes while serving
//!
//! With [`list_changes`](ServerBuilder::list_changes), [`Server::add_tool`], [`Server::remove_tool`] and their like change
//! what all clients are offered; with [`subscriptions`](ServerBuilder::subscriptions), [`Server::resource_updated`] says
//! that a resource has. Who subscribed is told, in the way of their era, once for all the changes that came while they did
//! not read. Without either, nothing is spent on it.
//!
//! # Extensions
//!
//! [`Extension`] is methods, notifications and things to listen for that the protocol does not have: `com.example/lamps` in
//! `examples/server_extension.rs` is one of somebody else's, and those below are no more than that. Nothing is declared, and
//! nothing is spent, before a server is built with one. [`Context::extension`] says what the client declared, and
//! [`Instead::MissingExtension`] that it would have to.
//!
//! - `io.modelcontextprotocol/tasks`: [`Tool::as_task`], [`Tool::begins_task`] and [`tasks`]. A call is answered with a handle,
//!   and its handler goes on; in it, [`Context::elicit`] and the like ask through the task. Clients of 2025-11-25 have the form
//!   that was experimental then. A client that [knows tasks](client::ClientBuilder::tasks) waits for them by itself.
//! - `io.modelcontextprotocol/skills`: `skills`, with the feature of that name.
//! - `io.modelcontextprotocol/ui`: `apps`, with the feature of that name. What is for clients only that show apps is not listed
//!   for others, by [`Extension::private_tool`] and its like.
//!
//! # Publishing
//!
//! `registry`, with the feature of that name, reads and checks the `server.json` that a server is published with, and makes of
//! somebody else's what a host starts.
//!
//! # What goes wrong, and who is told
//!
//! - Arguments of a tool that do not fit the type: the model, with `isError: true` and the member's name.
//! - `Err` from a tool: the model, with `isError: true`. From a resource or prompt: the client, with a JSON-RPC error.
//! - [`ProtocolError`] from any of them: the client, with this JSON-RPC error.
//! - [`ResourceError::NotFound`], or `None`, from a resource: the client, with the error that its revision has for that.
//! - [`AskError::Unsupported`] from any of them: the client, with the error that names what it would have to declare.
//! - A panic in a handler: the client, with a JSON-RPC error (`-32603`). Other calls go on.
//! - An unknown tool, a malformed request, a request state that is not this server's: the client, with a JSON-RPC error.
//! - Broken rules of the protocol: the client, and [`ServerBuilder::on_fault`].
//!
//! Calls and faults are also told to [`tracing`], at the level debug: methods, names and how long it took, never what is
//! in a message. Panics are warnings.
//!
//! # Deprecated
//!
//! Log messages, sampling and roots are deprecated by SEP-2577 as of 2026-07-28. They stay for a year at least, and older
//! clients have nothing else: so they are served here, and marked in the documentation only, without warnings.
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
//! # Over HTTP
//!
//! [`Server::serve_http`] serves this machine; [`Server::http`] begins with what can be chosen: hosts and origins
//! ([`HttpRules`](http::HttpRules)), threads and bounds ([`Options`](http::Options), [`SessionLimits`](http::SessionLimits),
//! [`StreamLimits`](http::StreamLimits)), where handlers run. [`Http::service`](http::Http::service) is a tower service for
//! another HTTP server, which may tell it who asks ([`Principal`]). Any path is the endpoint. With
//! [`Http::auth`](http::Http::auth) clients need an access token: [`http::auth`] is about that.
//!
//! - A handler of a modern request is dropped when its client goes away, as by a cancellation. One of a legacy session goes
//!   on, and its answer is kept for the client to come back for, as far as [`StreamLimits`](http::StreamLimits) go.
//!   [`Context::hang_up`] lets the client of a long call go on purpose.
//! - Handlers of modern requests run on the threads of the HTTP server, those of sessions on others once they wait for the
//!   first time: tools that need tokio want [`around_threads`](http::Http::around_threads), or the service in axum. One that
//!   blocks its thread holds up whoever else that serves.
//! - [`max_concurrent`](ServerBuilder::max_concurrent) and [`max_waiting`](ServerBuilder::max_waiting) are for each request
//!   of the modern era, and for each session of the legacy ones.
//!
//! # Clients, and tests of servers
//!
//! [`client`] is about them, with examples; [`blocking`] is the same without futures. A client that is connected
//! [in this process](client::ClientBuilder#method.connect_in_process) is how a server is tested, without a stream.
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
//! | [`max_rounds`](ServerBuilder::max_rounds) | 16 | a call that asks a modern client once more is answered with an error |
//! | [`state_lifetime`](ServerBuilder::state_lifetime) | 10 minutes | the call has to begin anew |
//! | [`ask_timeout`](ServerBuilder::ask_timeout) | none | the handler is told that a legacy client did not answer |
//! | [`Limits::max_pending`] | 1 048 576 questions | the handler is told that there are too many |
//! | [`Tasks::max_running`](tasks::Tasks::max_running) | 1024 tasks | the call is answered with an error |
//! | [`MemoryTaskStore`](tasks::MemoryTaskStore) | 16 384 tasks, 64 MiB of results | the same, until some are forgotten |
//! | [`Tasks::ttl`](tasks::Tasks::ttl) | 1 hour | the task is ended, and forgotten |
//! | topics of extensions not yet told to a client | 16 384 | the news is lost |
//! | changes not yet told to a client | one of each list, 16 384 resources | it is told that the list has changed |
//!
//! # Threads
//!
//! The handlers of [`Server::builder`] are `Send`, and so is its future: it can be spawned on an executor of several
//! threads. [`Server::local`] takes handlers that are not, and stays on its thread.
//!
//! # Names of rules
//!
//! A few manuals and many comments name the rule that a line keeps, such as RPC-07. `tests/requirements.md` in the
//! repository says what each of them is.
//!
//! # Features
//!
//! - `apps`, off: `apps`, pages that servers have for the results of their tools, and the host's side of them.
//! - `auth`, on: [`auth`], for clients of servers that want to know who asks, and [`http::auth`], for those servers. It needs
//!   `client` and `http`.
//! - `client`, on: [`Client`]. A program that only serves does without.
//! - `host`, off: [`host`], for programs between a model and many servers, and gateways. It needs `client` and `http`.
//! - `http`, on: [`Server::http`] and [`Client::http`], by hyper and rustls.
//! - `macros`, on: [`#[tool]`](macro@tool). It adds one small crate to what serde's derive builds anyway.
//! - `skills`, off: `skills`, directories of instructions that a server serves, and what a host looks at before it uses one.
//! - `tasks`, on: [`tasks`], tools whose calls go on after their answer. `tasks-redb`, off, keeps them in a file.
//! - `validate`, on: arguments are checked against their JSON Schema before they are decoded, results on request, and
//!   schemas when the server is built: see [`schema`]. Off, what a type cannot tell of its values is not checked.
//! - `cli` builds the program `mcp`; a library does not need it.

#[cfg(feature = "apps")]
pub mod apps;
#[cfg(feature = "auth")]
pub mod auth;
#[cfg(feature = "client")]
pub mod blocking;
#[cfg(feature = "client")]
pub mod client;
mod entropy;
#[cfg(feature = "host")]
pub mod host;
#[cfg(feature = "macros")]
mod macros;
#[cfg(feature = "http")]
pub mod http {
    //! Serving over Streamable HTTP: what is chosen there, and what is made of a server.
    //!
    //! [`Server::http`](crate::Server::http) begins it; the repository's examples `server_http`, `server_http_tokio`,
    //! `server_auth`, `server_axum` and `server_axum_auth` are whole programs.
    //!
    //! # Behind a reverse proxy
    //!
    //! TLS is for something in front to do. What that is has to know of this:
    //!
    //! - **`Host`.** A proxy that keeps the name which clients use: permit it, by [`HttpRules::host`]. One that rewrites it to the
    //!   address of this server, `127.0.0.1:8000` say, needs nothing; but then whatever stands there for a browser's page is
    //!   for the proxy to check. `X-Forwarded-…` and `Forwarded` are not looked at. What is refused is told to `tracing` at
    //!   debug, as it came.
    //! - **Streams.** Answers that take longer than a second, and what a server says by itself, are streams of events
    //!   (`text/event-stream`): they are not to be buffered (nginx heeds the `X-Accel-Buffering: no` that they carry) or
    //!   compressed, nor cut after less quiet than [`Http::keep_alive`]: every 15 seconds a comment goes by.
    //! - **Paths.** Any path is the endpoint. With [`Http::auth`] clients read
    //!   [`/.well-known/oauth-protected-resource…`](auth::ResourceServer::metadata_paths) at the root of the host, which has to
    //!   come here with its path as it is; the resource is named by the URL that clients use, `https` and path included, and
    //!   not by the one behind the proxy.
    //! - **Several processes.** Modern requests (2026-07-28) stand for themselves: any process serves any of them, if all seal the
    //!   state of calls that ask their client with one [`state_key`](crate::ServerBuilder::state_key). Sessions of older revisions
    //!   live in the process where they began: route by the header `Mcp-Session-Id`, or a cookie of the proxy's, or serve none,
    //!   with [`HttpRules::sessions`]. A change that is told in one process is not told to the subscribers of another.
    //! - **Sizes.** A body may have as many bytes as a message, [`Limits::max_message`](crate::Limits::max_message): 4 MiB, and 413
    //!   beyond it. A smaller limit of the proxy's, or of a layer in axum, is the one that counts.
    //!
    //! # CORS
    //!
    //! Pages of other origins may use a server if they are permitted by [`HttpRules::origin`], or are on a permitted host:
    //! preflights (`OPTIONS`) are answered, and responses have `Access-Control-Allow-Origin` and expose the headers that MCP
    //! needs. Any other `Origin` gets 403. No further layer for CORS is needed in front, and two that both answer do harm.

    pub use crate::server::Principal;
    #[cfg(feature = "auth")]
    pub use crate::server::auth;
    pub use crate::server::http::{Http, HttpBody, HttpService};
    pub use mcp_core::binding::http::{HttpRules, SessionLimits, StreamLimits};
    pub use mcp_io::http::server::{Around, Error, Listener, Options};
}
mod panic;
#[cfg(feature = "registry")]
pub mod registry;
#[cfg(feature = "validate")]
pub mod schema;
mod server;
#[cfg(feature = "skills")]
pub mod skills;
/// Tools whose calls go on after their answer, which is a handle to ask by.
#[cfg(feature = "tasks")]
pub mod tasks {
    #[cfg(feature = "tasks-redb")]
    pub use crate::server::tasks::RedbTaskStore;
    pub use crate::server::tasks::{
        MemoryTaskStore, TaskEnd, TaskRecord, TaskStore, TaskStoreError, Tasks, check_task_store,
    };
}
#[cfg(any(feature = "client", feature = "http", feature = "tasks"))]
mod spawn;

#[cfg(feature = "client")]
pub use client::Client;
#[cfg(feature = "macros")]
#[doc(hidden)]
pub use macros::support as __macros;
#[cfg(feature = "macros")]
pub use macros::tool;
pub use mcp_core::engine::server::Cacheable;
pub use mcp_core::json::{Json, RawJson};
pub use mcp_core::model::{
    self, CacheHint, CacheScope, ClientCapabilities, ContentBlock, LoggingLevel, Progress,
    ProtocolVersion,
};
pub use mcp_core::{ErrorCode, Limits, PeerFault};
pub use mcp_io::{End, Error};
/// The crate whose `JsonSchema` arguments of tools derive, in the version that is asked for.
pub use schemars;
pub use server::{
    AskError, BuildError, Context, Elicited, Extension, ExtensionResult, Handler, InputRequired,
    Instead, IntoCompletion, IntoExtensionResult, IntoPrompt, IntoResource, IntoToolResult,
    Listening, Local, NoArguments, Principal, Prompt, ProtocolError, Resource, ResourceError,
    ResourceTemplate, Server, ServerBuilder, Settled, Shared, Sharing, Structured, Tool,
    ToolResult, TraceContext,
};
#[cfg(any(feature = "client", feature = "http", feature = "tasks"))]
pub use spawn::Spawner;
