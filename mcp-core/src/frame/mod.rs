//! Byte stream to messages, resumable at any byte, and messages to lines and events. Knows no JSON and no MCP.

#[cfg(test)]
pub(crate) mod feed;
mod line;
mod lines;
#[cfg(feature = "alloc")]
mod sse;

pub use line::{LineFramer, LineOutcome, LineStep};
pub use lines::Lines;
#[cfg(feature = "alloc")]
pub use sse::{SseEvent, SseOutcome, SseParser, SseStep, write_comment, write_event, write_retry};
