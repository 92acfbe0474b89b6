//! A connection on a pair of byte streams: what the driver drives.

use core::task::{Context, Poll};
use std::sync::Arc;

use mcp_core::binding::StdioServer;
use mcp_core::engine::server::{Incoming, ServerEngine};
use mcp_io::Protocol;

use super::Connection;
use super::outlets::Stream;
use crate::entropy;
use crate::server::changes::Hub;
use crate::server::handler::Sharing;

/// Notes that may wait for the client to read.
const NOTES: usize = 256;

impl<S: Sharing> Connection<S, StdioServer> {
    pub(crate) fn stdio(hub: Arc<Hub<S>>) -> Self {
        let limits = hub.settings.limits;
        Self::new(hub, NOTES, |offer| {
            let catalog = offer.catalog.clone();
            StdioServer::new(ServerEngine::new(catalog, limits, entropy::seed()))
        })
    }

    fn take(
        &mut self,
        consumed: usize,
        incoming: Option<Incoming<'_>>,
        out: &mut Vec<u8>,
    ) -> Option<usize> {
        let nothing = consumed == 0 && incoming.is_none();
        if let Some(incoming) = incoming {
            self.handle(incoming, &mut Stream::new(out, usize::MAX));
        }
        (!nothing).then_some(consumed)
    }
}

impl<S: Sharing> Protocol for Connection<S, StdioServer> {
    fn window(&self) -> usize {
        self.wire.window()
    }

    fn receive(&mut self, input: &[u8], out: &mut Vec<u8>) -> Option<usize> {
        let step = self.wire.receive(input, out);
        self.take(step.consumed, step.incoming, out)
    }

    fn finish(&mut self, rest: &[u8], out: &mut Vec<u8>) -> Option<usize> {
        let step = self.wire.finish(rest, out);
        let consumed = self.take(step.consumed, step.incoming, out);
        if consumed.is_none() && !self.has_ended() {
            self.end(&mut Stream::new(out, usize::MAX));
            // There may be something to write, and handlers that were told to go on.
            return Some(0);
        }
        consumed
    }

    fn poll(&mut self, cx: &mut Context<'_>, out: &mut Vec<u8>, room: usize) -> Poll<()> {
        let full = out.len() + room;
        Self::poll(self, cx, &mut Stream::new(out, full))
    }
}
