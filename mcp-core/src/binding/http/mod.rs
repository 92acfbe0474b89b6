//! Streamable HTTP: what MCP means over it. Knows header names and status numbers, no HTTP library and no socket.

pub mod client;
mod param;
mod value;

pub use param::{
    AnnotationFault, ArgumentFault, MAX_PARAM_HEADERS, ParamFault, ParamHeader, ParamKind,
    param_headers,
};
pub use value::{ValueFault, decode_value, encode_value};
