//! What a transport means for the engine: framing, loss, shutdown. Knows no socket.

pub mod http;
mod stdio;
mod stdio_client;

pub use stdio::{StdioServer, Step};
pub use stdio_client::{ClientStep, StdioClient};
