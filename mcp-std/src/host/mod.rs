//! Hosts: many servers, one model.
//!
//! What stands between a model and its servers, in an agent, an IDE or a chat program:
//!
//! ```
//! use mcp_std::Server;
//! use mcp_std::host::{CallHooks, Host, HostConfig, ServerConfig, ToolCall};
//!
//! # smol::block_on(async {
//! let clock = Server::builder("clock", "1").tool("now", "The time", || async { "noon" }).build()?;
//! let config = HostConfig::new()
//!     .server(ServerConfig::in_process("clock", &clock))
//!     .server(ServerConfig::stdio("files", "no-such-program"));
//! let host = Host::builder(config).start();
//! host.settled().await;
//!
//! // A round: the model is shown these tools …
//! let session = host.session();
//! let snapshot = session.snapshot();
//! assert_eq!(snapshot.tools()[0].name, "clock__now");
//! // … and calls some of them, at once.
//! let calls = vec![
//!     ToolCall::new("call_1", "clock__now", serde_json::json!({})),
//!     ToolCall::new("call_2", "clock__then", serde_json::json!({})),
//! ];
//! let replies = session.call_all(&snapshot, calls, &CallHooks::new()).await;
//! assert_eq!(replies[0].text(), "noon");
//! assert!(replies[1].is_error());
//! host.close().await;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # }).expect("it works");
//! ```
//!
//! # Steps
//!
//! | Step | Here |
//! | --- | --- |
//! | which servers | [`HostConfig`]: the JSON that hosts and editors share, or a builder |
//! | connect | [`Pool`]: all at once; one that fails is started again, and holds up nobody |
//! | discover and name | a [`Snapshot`] for each round, of tools with [names](Naming) that providers take |
//! | find | [`Disclosure`]: a tool that searches, when there are too many to show |
//! | approve and call | [`Session::call_all`], through [`Middleware`] and [approval](HostBuilder::approval), within bounds |
//! | talk to models | [`adapters`]: tools, calls and results as providers have them; [`model`]: models over HTTP |
//! | think and act | [`Agent`]: rounds of a model and of what a [`Session`] offers |
//! | pass on | [`gateway`]: all servers behind one endpoint, without a model |
//! | watch | [`Guards`], an [`AuditLog`], spans of `tracing` |
//!
//! # Frames of a run
//!
//! What happens in one run of an [`Agent`], here one of three rounds in which the tools change after the first:
//!
//! | Frame | | |
//! | --- | --- | --- |
//! | 0 | connect | each server, at once: `server/discover` or `initialize`, and a subscription to changes of its tools |
//! | 1 | discover | `tools/list`, page by page |
//! | 2 | map | the tools get their names, and their schemas are lowered for the provider |
//! | 3 | think | the model is asked, and asks for calls |
//! | 4 | act | `tools/call`, all at once; a tool that fails is one result among others |
//! | 5 | backfill | the results, in the order of the calls, marked as the servers' words |
//! | 6 | refresh | a server tells `notifications/tools/list_changed`, and its list is read again |
//! | 7 | map | the next round's tools; those of the round before stayed as they were until its end |
//! | 8, 9 | think, act | the model is asked with the results, and calls what is new |
//! | 10 | think | it has its answer, and asks for nothing |
//! | 11 | close | connections are closed, processes have ended |
//!
//! `tests/agent` of the repository has them as a golden file, of servers of two official SDKs.
//!
//! # What changes
//!
//! When a server tells that its tools have changed, or it ends and comes back, the next [snapshot](Session::snapshot) has it;
//! the ones that there are stay as they are. Tools of a server that is being connected to again stay in snapshots, so that the
//! model does not see them come and go; calls of them wait for 10 seconds. When it has failed for good they go.
//!
//! # Bounds
//!
//! | Bound | Default | Beyond it |
//! | --- | --- | --- |
//! | [`max_concurrent`](HostBuilder::max_concurrent) | 16 calls | the call waits |
//! | [`ServerConfig::max_concurrent`] | as above | the call waits |
//! | [`ServerConfig::rate_limit`] | none | the call waits |
//! | [`call_timeout`](HostBuilder::call_timeout) | 10 minutes | the call ends; the server is told |
//! | [`circuit_breaker`](HostBuilder::circuit_breaker) | 5 failures in a row | calls fail for 30 seconds |
//! | [`Backoff`] | 5 attempts in a row, 0.5 to 30 seconds apart | the server is left alone |
//! | tools of one server | 10 000 | the others are not offered |
//!
//! # Spans
//!
//! Each call is a span `execute_tool` of `tracing`, with the names that OpenTelemetry has for its fields, and with the numbers
//! of its trace and span; the server gets them as `traceparent` in `_meta`.

pub mod adapters;
mod agent;
mod builder;
mod catalog;
mod config;
mod execute;
pub mod gateway;
mod glob;
pub mod guard;
#[expect(
    clippy::module_inception,
    reason = "the type's own file, in the module of its name"
)]
mod host;
pub mod model;
mod naming;
mod offer;
mod pool;
mod redact;
mod search;
mod session;
mod snapshot;
mod tool;
mod tools;
mod trust;

pub use agent::{Agent, AgentError, AgentEvent, Finish, Outcome};
pub use builder::{HostBuilder, HostElicitation};
pub use config::{ConfigError, HostConfig, RateLimit, ServerConfig, Text, Transport, Variables};
pub use execute::{
    ApprovalRequest, AskAbout, AuditLog, CallHooks, CircuitBreaker, Decision, Doing, ExecuteError,
    Flow, Invocation, LimitTexts, Middleware, RedactResults, ResultCache, ToolCall, ToolReply,
    Trace,
};
pub use glob::Glob;
pub use guard::{Action, Finding, Guards, Rule};
pub use host::{Disclosure, Host};
pub use naming::Naming;
pub use pool::{Backoff, Fault, Pool, PoolOptions, ServerState, ServerStatus, Unavailable};
pub use redact::Redactor;
pub use session::Session;
pub use snapshot::Snapshot;
pub use tool::ToolDefinition;
pub use tools::{Tools, ToolsError};
pub use trust::TrustStore;
