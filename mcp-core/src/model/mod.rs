//! MCP's vocabulary: borrowed structs, one file per page of the specification. Knows no engine state.
//!
//! Names are the specification's. A struct that is read borrows the message (`'b`); one that is written borrows the
//! caller's text or owns it (`Cow`). What a revision does not have is left out when writing to it, and tolerated when
//! reading.

mod capability;
mod content;
mod implementation;
mod meta;
mod method;
mod params;
mod progress;
#[cfg(test)]
mod tests;
mod tool;
mod version;

pub use capability::ClientCapabilities;
pub use content::ContentBlock;
pub use implementation::Implementation;
pub use meta::{RequestMeta, key};
pub use method::Method;
pub use params::Params;
pub use progress::Progress;
pub(crate) use tool::is_object_schema;
pub use tool::{CallToolResult, Tool, ToolAnnotations};
pub use version::{Era, ProtocolVersion};
