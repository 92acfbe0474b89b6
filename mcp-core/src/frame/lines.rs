//! Messages to lines: what the stdio transport puts behind each.

use crate::json::{Full, Sink, StandardSink};

/// Ends each message with LF, and appends to a buffer of the caller's: hand it to the engine's commands wherever the
/// transport is one message on a line.
///
/// ```
/// use mcp_core::frame::Lines;
/// use mcp_core::rpc::write_notification;
///
/// let mut out = Vec::new();
/// let mut lines = Lines::new(&mut out);
/// write_notification(&mut lines, "notifications/initialized", |json| {
///     json.begin_object();
///     json.end_object();
/// })?;
/// assert!(out.ends_with(b"}\n"));
/// # Ok::<(), mcp_core::json::Full>(())
/// ```
#[derive(Debug)]
pub struct Lines<'o, S: Sink + ?Sized = StandardSink>(&'o mut S);

impl<'o, S: Sink + ?Sized> Lines<'o, S> {
    /// Lines at the end of what `out` already has.
    #[inline]
    pub const fn new(out: &'o mut S) -> Self {
        Self(out)
    }
}

impl<S: Sink + ?Sized> Sink for Lines<'_, S> {
    #[inline]
    fn append(&mut self, bytes: &[u8]) -> Result<(), Full> {
        self.0.append(bytes)
    }

    #[inline]
    fn len(&self) -> usize {
        self.0.len()
    }

    #[inline]
    fn truncate(&mut self, len: usize) {
        self.0.truncate(len);
    }

    #[inline]
    fn end_message(&mut self) -> Result<(), Full> {
        self.0.append(b"\n")
    }
}
