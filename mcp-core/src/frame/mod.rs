//! Byte stream to messages, resumable at any byte. Knows no JSON and no MCP.

#[cfg(test)]
pub(crate) mod feed;
mod line;

pub use line::{LineFramer, LineOutcome, LineStep};
