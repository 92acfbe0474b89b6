//! What a transport means for the engine: framing, loss, shutdown. Knows no socket.

mod stdio;

pub use stdio::{StdioServer, Step};
