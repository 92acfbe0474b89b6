//! The state machines of both roles: messages in, answers and calls out. They know no socket, no framing and no clock.

mod call;
#[cfg(feature = "alloc")]
pub mod client;
mod memory;
mod pending;
pub mod server;

pub use call::{CallKey, ReplyToken};
#[cfg(feature = "alloc")]
pub use memory::Growing;
pub(crate) use memory::Standard;
pub use memory::{Fixed, Memory};
pub use pending::{Lookup, Pending, RequestKey};
