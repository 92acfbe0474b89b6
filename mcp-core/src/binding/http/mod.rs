//! Streamable HTTP: what MCP means over it. Knows header names and status numbers, no HTTP library and no socket.
//!
//! Whatever HTTP server there is asks here what a request is and what is to be answered:
//!
//! ```text
//!  head --> HttpRules::admit --> Verb: POST, GET, DELETE …, or a Refusal with its status
//!             |
//!  body --> Message::read, Head::route --> Route: stateless, initialize, or of a session
//!             |                              |
//!             |  modern era                  |  legacy eras
//!             v                              v
//!        check_mirrors                  Sessions --> one engine each, and its Streams
//!        a stateless engine                          (which response a message belongs to, and what is kept of it)
//!             |                              |
//!             +-------> Reply <--------------+
//!                         |
//!                         v
//!                 Output: a status and JSON, or a stream of events
//! ```
//!
//! `mcp-std` does all of that for a hyper or tower service. By hand, one modern request:
//!
//! ```
//! use std::sync::Arc;
//!
//! use mcp_core::Limits;
//! use mcp_core::binding::http::{Head, HttpRules, Output, Reply, Route, Verb, check_mirrors, status};
//! use mcp_core::engine::server::{Catalog, Incoming, Message, ServerEngine};
//! use mcp_core::model::{Era, Implementation};
//!
//! let catalog = Arc::new(Catalog::builder(&Implementation::new("s", "1")).build()?);
//! let rules = HttpRules::new();
//!
//! // From the HTTP library:
//! let mut head = Head::new("POST", None);
//! for (name, value) in [
//!     ("host", "127.0.0.1:8000"),
//!     ("content-type", "application/json"),
//!     ("accept", "application/json, text/event-stream"),
//!     ("mcp-protocol-version", "2026-07-28"),
//!     ("mcp-method", "server/discover"),
//! ] {
//!     head.push(name, value.as_bytes());
//! }
//! let body = br#"{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{
//!     "io.modelcontextprotocol/protocolVersion":"2026-07-28",
//!     "io.modelcontextprotocol/clientCapabilities":{}}}}"#;
//!
//! let Ok(Verb::Post(accepts)) = rules.admit(&head).verb else { panic!("it is a POST") };
//! let message = Message::read(body, &Limits::DEFAULT);
//! assert_eq!(head.route(&message), Ok(Route::Stateless));
//! let mut engine = ServerEngine::stateless(catalog, Limits::DEFAULT, 7);
//! let mut reply = Reply::new(accepts);
//! let incoming = match check_mirrors(&head, &message, engine.catalog()) {
//!     Ok(()) => engine.take(&message, &mut reply),
//!     Err(fault) => engine.refuse(&message, fault, &mut reply),
//! };
//! match incoming {
//!     // To be answered later: poll `Reply::take` for the stream meanwhile.
//!     Incoming::Call(_) => panic!("this server has no tools"),
//!     Incoming::Rejected(fault) => reply.set_status(status(fault, Era::Modern)),
//!     _ => {}
//! }
//! reply.end();
//! let Output::Json { status, body, .. } = reply.take() else { panic!("nothing was streamed") };
//! assert_eq!(status, 200);
//! assert!(body.starts_with(br#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","#));
//! # Ok::<(), mcp_core::engine::server::CatalogError>(())
//! ```
//!
//! # Choices where the specification leaves one
//!
//! - `Host` is checked beside `Origin`: without more being permitted both have to name this machine.
//! - A request that has any modern key in `_meta`, or names a modern version in its header, is modern, whatever session it
//!   names. Every other POST needs a session, or is `initialize`. The version header of a legacy session may name any
//!   legacy revision.
//! - JSON-RPC errors that the specification gives no status are sent with 200: the HTTP request was served.
//! - A JSON body is sent if the answer is the first thing there is to say, a stream otherwise. A client that takes JSON
//!   only is told the answer only; what is asked of it goes to its GET stream.
//! - Streams of legacy sessions have event ids and can be taken up again in all revisions; the empty first event and
//!   hanging up are for 2025-11-25 only. An id that nothing is known of opens a new stream.
//! - Messages about no request go to the oldest GET stream, and wait while there is none.
//! - A slow reader of a legacy stream is cut off and can take it up again; in the modern era its handlers wait for it.
//! - A session belongs to the principal that opened it, if the caller knows one. When there are too many, one ends that was
//!   never initialised, or the one that was not used for the longest time: see [`SessionLimits`].
//! - `Mcp-Name` and `Mcp-Method` of legacy requests are not looked at.

mod accept;
pub mod client;
mod head;
mod mirror;
mod refusal;
mod reply;
mod route;
mod rules;
mod sessions;
mod streams;

pub use accept::Accepts;
pub use head::Head;
pub use mirror::check_mirrors;
pub use refusal::{MISSING_CAPABILITY, Refusal, status};
pub use reply::{Output, Reply};
pub use route::{Route, SESSION_PARAMETER};
pub use rules::{Admission, HttpRules, Verb};
pub use sessions::{SessionId, SessionLimits, Sessions, Usage, session_id};
pub use streams::{StreamId, StreamLimits, Streams};
