//! What of a message is repeated in the headers of the HTTP request that carries it, and how it is written there
//! (2026-07-28, Streamable HTTP, "Value Encoding"; server, tools, "x-mcp-header").

mod param;
mod value;

pub use param::{
    AnnotationFault, ArgumentFault, MAX_PARAM_HEADERS, ParamFault, ParamHeader, ParamKind,
    param_headers,
};
pub use value::{ValueFault, decode_value, encode_value};
