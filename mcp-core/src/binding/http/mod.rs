//! Streamable HTTP: what MCP means over it. Knows header names and status numbers, no HTTP library and no socket.

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
pub use sessions::{SessionId, SessionLimits, Sessions, session_id};
pub use streams::{StreamId, StreamLimits, Streams};
