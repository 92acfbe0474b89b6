//! Model Context Protocol servers in a few lines.

mod arguments;
mod connection;
mod context;
mod entropy;
mod output;
mod server;
mod tool;

pub use context::ToolContext;
pub use mcp_core::engine::CacheHint;
pub use mcp_core::model::{ClientCapabilities, ContentBlock, Progress, ProtocolVersion};
pub use mcp_core::{Limits, PeerFault};
pub use mcp_io::{End, Error};
pub use output::{IntoToolResult, Structured, ToolResult};
pub use server::{BuildError, Server, ServerBuilder};
pub use tool::{Handler, Local, NoArguments, Shared, Sharing, Tool};
