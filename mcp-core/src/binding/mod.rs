//! What a transport means for the engine: framing, loss, shutdown. Knows no socket.

#[cfg(feature = "alloc")]
pub mod http;
mod stdio;
#[cfg(feature = "alloc")]
mod stdio_client;

pub use stdio::{StdioServer, Step};
#[cfg(feature = "alloc")]
pub use stdio_client::{ClientStep, StdioClient};
