//! The connection where it is no stream: HTTP.

use std::time::Instant;

use mcp_core::binding::http::client::HttpFault;
use mcp_core::engine::client::Unanswered;
use mcp_core::frame::Lines;

use super::ClientConnection;
use crate::client::error::ClosedReason;
use crate::client::frames::Direction;
use crate::client::watches::Watches;

impl ClientConnection<'_> {
    /// A message has come, as the answer to the request of this id if it is one.
    pub(crate) fn message(&mut self, message: &[u8], answers: Option<u64>, out: &mut Vec<u8>) {
        let written = out.len();
        self.shared.settings.tap.tell(Direction::Received, message);
        let now = self.now();
        let engine = self.stdio.engine_mut();
        let lines = &mut Lines::new(out);
        let incoming = match answers {
            Some(id) => engine.receive_answer(now, id, message, lines),
            None => engine.receive(now, message, lines),
        };
        self.handle(incoming, out);
        self.shared
            .settings
            .tap
            .tell(Direction::Sent, &out[written..]);
    }

    /// The request of this id gets no answer.
    pub(crate) fn unanswered(
        &mut self,
        id: u64,
        why: Unanswered,
        fault: HttpFault,
        out: &mut Vec<u8>,
    ) {
        tracing::debug!(id, %fault, "no answer");
        let written = out.len();
        self.fault = Some(fault);
        let now = self.now();
        let engine = self.stdio.engine_mut();
        let incoming = engine.unanswered(now, id, why, &mut Lines::new(out));
        self.handle(incoming, out);
        self.shared
            .settings
            .tap
            .tell(Direction::Sent, &out[written..]);
    }

    /// The server has forgotten what it was told, and is told again.
    pub(crate) fn renewed(&mut self, out: &mut Vec<u8>) {
        tracing::info!("the server had ended the session; there is a new one");
        self.shared.cache.clear();
        self.listening.clear();
        self.watches = Watches::default();
        self.level_due = self.shared.level();
        for channel in self.channels.clone() {
            self.listen(channel, out);
        }
        if let Some(waker) = &self.waker {
            waker.wake_by_ref();
        }
    }

    /// What the server said may not be for whoever asks now.
    pub(crate) fn forget_cached(&self) {
        self.shared.cache.clear();
    }

    /// There is no way to the server any more.
    pub(crate) fn gone(&mut self, fault: HttpFault) {
        self.end(Some(ClosedReason::Http(fault)));
    }

    /// The server has said something, whatever it was.
    pub(crate) fn heard(&mut self) {
        self.heard = Instant::now();
    }
}
