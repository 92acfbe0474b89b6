//! The state machines of both roles: messages in, answers and calls out. They know no socket, no framing and no clock.

mod call;
pub mod server;
