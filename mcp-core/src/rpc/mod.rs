//! JSON-RPC 2.0 envelopes. Knows no MCP method, no era, no transport.

mod encode;
mod envelope;
mod id;
#[cfg(test)]
mod tests;

#[cfg(feature = "alloc")]
pub(crate) use encode::write_numbered_request;
pub use encode::{ErrorObject, write_error, write_notification, write_request, write_result};
pub use envelope::{Envelope, Malformed, Notification, Outcome, ReadParams, Request, Response};
pub use id::RequestId;
