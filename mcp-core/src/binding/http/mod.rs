//! Streamable HTTP: what MCP means over it. Knows header names and status numbers, no HTTP library and no socket.

mod param;
mod value;

pub use value::{ValueFault, decode_value, encode_value};
