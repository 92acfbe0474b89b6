//! The state machines of both roles: messages in, answers and calls out. They know no socket, no framing and no clock.

mod call;
pub mod client;
mod pending;
pub mod server;

pub use call::{CallKey, ReplyToken};
pub use pending::{Lookup, Pending, RequestKey};
