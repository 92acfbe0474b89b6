//! Where what is said to a client goes: one stream for all of it, or one for each of its requests.

use mcp_core::binding::StdioServer;
use mcp_core::engine::CallKey;
use mcp_core::engine::server::ServerEngine;
use mcp_core::frame::Lines;
use mcp_core::json::Sink;

/// What an engine is wrapped in.
pub(crate) trait Wire {
    fn engine_mut(&mut self) -> &mut ServerEngine;
}

impl Wire for StdioServer {
    fn engine_mut(&mut self) -> &mut ServerEngine {
        self.engine_mut()
    }
}

impl Wire for ServerEngine {
    fn engine_mut(&mut self) -> &mut ServerEngine {
        self
    }
}

/// The ways to a client.
pub(crate) trait Outlets {
    type Out: Sink;

    /// For answers to what is being taken.
    fn sender(&mut self) -> &mut Self::Out;

    /// For the answer of a call.
    fn answer(&mut self, key: CallKey) -> &mut Self::Out;

    /// For what is said about a call before its answer. `None`: there is no way.
    fn about(&mut self, key: CallKey) -> Option<&mut Self::Out>;

    /// For what is about no request. `None`: there is no way now.
    fn unrelated(&mut self) -> Option<&mut Self::Out>;

    /// Whether nothing more is to be written in this turn.
    fn is_full(&self) -> bool;

    /// The message that is being taken began a call.
    fn began(&mut self, key: CallKey) {
        let _ = key;
    }

    /// A call was answered, or is no longer to be.
    fn ended(&mut self, key: CallKey) {
        let _ = key;
    }

    /// The answer of a call will be that its client cannot do what it takes.
    fn lacks_capability(&mut self, key: CallKey) {
        let _ = key;
    }

    /// Lets the client of a call go until it asks again.
    #[cfg(feature = "http")]
    fn disconnect(&mut self, key: CallKey, retry: core::time::Duration) {
        let _ = (key, retry);
    }
}

/// One stream of lines.
pub(super) struct Stream<'o> {
    lines: Lines<'o>,
    /// It is full at this length.
    full: usize,
}

impl<'o> Stream<'o> {
    pub(super) const fn new(out: &'o mut Vec<u8>, full: usize) -> Self {
        Self {
            lines: Lines::new(out),
            full,
        }
    }
}

impl<'o> Outlets for Stream<'o> {
    type Out = Lines<'o>;

    fn sender(&mut self) -> &mut Lines<'o> {
        &mut self.lines
    }

    fn answer(&mut self, _: CallKey) -> &mut Lines<'o> {
        &mut self.lines
    }

    fn about(&mut self, _: CallKey) -> Option<&mut Lines<'o>> {
        Some(&mut self.lines)
    }

    fn unrelated(&mut self) -> Option<&mut Lines<'o>> {
        Some(&mut self.lines)
    }

    fn is_full(&self) -> bool {
        self.lines.len() >= self.full
    }
}
