//! Requests that a transport with exchanges of its own knows more about than a stream does: which request an answer is to,
//! and that there will be none.

use super::detect::{DISCOVER, Reply};
use super::receive::{Incoming, Outcome};
use super::{ClientEngine, ConnectError, Phase, RequestKind};
use crate::engine::pending::Lookup;
use crate::json::Sink;
use crate::time::Instant;

/// What a transport makes of a request that it has no answer to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Unanswered {
    /// The exchange failed. That says nothing about the server's era (DET-10).
    Failed,
    /// The request was refused in a way that is no modern server's (DET-07): if it was `server/discover`, the server is
    /// asked in the old way.
    NotModern,
    /// It was refused as modern servers refuse what they do not know (DET-08): if it was `server/discover`, the server is
    /// modern and has nothing to say about itself.
    Modern,
}

impl ClientEngine {
    /// Takes a message that came as the answer to the request of this id, as the body of an HTTP response does. An error is
    /// then the answer to that one, whatever request it names, if any (SN-03): servers answer so what they have not read as
    /// far as its id.
    pub fn receive_answer<'b, S: Sink + ?Sized>(
        &mut self,
        now: Instant,
        id: u64,
        message: &'b [u8],
        out: &mut S,
    ) -> Incoming<'b> {
        self.answering = Some(id);
        let incoming = self.receive(now, message, out);
        self.answering = None;
        incoming
    }

    /// There will be no answer to the request of this id. A call is over then: [`Outcome::Unanswered`]. While connecting,
    /// the next thing is tried, if that may help. Nothing happens if the request is over.
    pub fn unanswered<'b, S: Sink + ?Sized>(
        &mut self,
        now: Instant,
        id: u64,
        why: Unanswered,
        out: &mut S,
    ) -> Incoming<'b> {
        let Lookup::Pending(key) = self.pending.find_number(id) else {
            return Incoming::Handled;
        };
        let kind = self.pending.get(key).map(|entry| entry.kind);
        if kind != Some(RequestKind::Connecting) {
            self.pending.remove(key);
            return Incoming::Answer {
                key,
                outcome: Outcome::Unanswered,
            };
        }
        let reply = match why {
            Unanswered::NotModern => Reply::Malformed,
            Unanswered::Modern if self.is_probing() => Reply::Undiscovered,
            Unanswered::Modern => Reply::Malformed,
            Unanswered::Failed => return self.connect_failed(),
        };
        self.connect_answered(now, reply, out)
            .unwrap_or(Incoming::Blocked)
    }

    fn is_probing(&self) -> bool {
        matches!(&self.phase, Phase::Connecting(connecting) if connecting.is_probing())
    }

    fn connect_failed<'b>(&mut self) -> Incoming<'b> {
        let method = if self.is_probing() {
            DISCOVER
        } else {
            super::detect::INITIALIZE
        };
        if let Phase::Connecting(connecting) = &self.phase {
            self.pending.remove(connecting.key());
        }
        self.phase = Phase::Over;
        Incoming::ConnectFailed(ConnectError::Unanswered { method })
    }
}
