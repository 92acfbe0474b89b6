//! The time a connection takes.

use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use super::connection::Settings;
use super::parked;
use super::turn::{BLOCKED, BODY, BUSY, CALLED, LINGERING, QUIET, RECEIVED, Turn, WRITTEN};
use crate::alarm::Alarm;

/// How long a client may go on sending after all was said.
pub(super) const LINGER: Duration = Duration::from_secs(2);

/// So long from now; as good as never, if that is further than times go.
fn after(time: Duration) -> Instant {
    const NEVER: Duration = Duration::from_secs(60 * 60 * 24 * 365);
    let now = Instant::now();
    now.checked_add(time).unwrap_or(now + NEVER)
}

/// Why hyper is done with a connection, for now or for good.
#[derive(Debug)]
pub(super) enum End {
    /// Either side has ended it.
    Over,
    /// Something has taken too long.
    Late(&'static str),
    /// Its response can be parked.
    Quiet,
}

/// Watches over the time a connection takes.
pub(super) struct Watch<'connection> {
    settings: &'connection Settings,
    turn: &'connection Turn,
    phase: Phase,
    /// When the client must have read something.
    stalled: Option<Instant>,
    alarm: Alarm,
}

#[derive(Clone, Copy)]
enum Phase {
    /// The head of a request arrives.
    Head(Instant),
    /// The service's turn, which looks at its own clock, or that of a client that reads a response.
    Busy,
    Idle(Instant),
    Lingering(Instant),
}

impl<'connection> Watch<'connection> {
    pub(super) fn new(settings: &'connection Settings, turn: &'connection Turn) -> Self {
        Self {
            settings,
            turn,
            phase: Phase::Head(after(settings.head_timeout)),
            stalled: None,
            alarm: Alarm::default(),
        }
    }

    /// To be polled after the connection.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<End> {
        self.follow();
        if self.is_stalled(cx) {
            return Poll::Ready(End::Late("the client does not read"));
        }
        let (deadline, end) = match self.phase {
            Phase::Head(deadline) => (deadline, End::Late("the head of a request took too long")),
            // Nothing is left in hyper's buffer then: it was flushed after the body was asked last.
            Phase::Busy if self.turn.is(QUIET) && !self.turn.is(BLOCKED) => {
                return Poll::Ready(End::Quiet);
            }
            Phase::Busy => return Poll::Pending,
            Phase::Idle(deadline) => (deadline, End::Late("no request came")),
            Phase::Lingering(deadline) => (deadline, End::Late("the client sent on")),
        };
        if self.alarm.is_due(deadline, cx) {
            return Poll::Ready(end);
        }
        Poll::Pending
    }

    /// To be polled after a parked response.
    pub(super) fn poll_parked(&mut self, cx: &mut Context<'_>) -> Poll<parked::End> {
        // When it has ended the connection is as new.
        self.phase = Phase::Busy;
        if self.is_stalled(cx) {
            return Poll::Ready(parked::End::Broken);
        }
        Poll::Pending
    }

    fn follow(&mut self) {
        if self.turn.is(LINGERING) {
            if !matches!(self.phase, Phase::Lingering(_)) {
                self.phase = Phase::Lingering(Instant::now() + LINGER);
            }
            return;
        }
        let called = self.turn.take(CALLED);
        if self.turn.is(BUSY) {
            self.phase = Phase::Busy;
            return;
        }
        if called {
            self.phase = Phase::Busy;
        }
        if !self.turn.is(BLOCKED) && !matches!(self.phase, Phase::Busy) {
            // The connection goes on in the turn after the response, so all of the request was read: what was not would
            // have been read on then, or the connection closed.
            self.turn.clear(BODY);
        }
        self.phase = match self.phase {
            // The end of its response waits for the client to read.
            Phase::Busy if self.turn.is(BLOCKED) => Phase::Busy,
            Phase::Busy | Phase::Idle(_) if self.turn.is(RECEIVED) => {
                Phase::Head(after(self.settings.head_timeout))
            }
            Phase::Busy => Phase::Idle(after(self.settings.idle_timeout)),
            same @ (Phase::Head(_) | Phase::Idle(_) | Phase::Lingering(_)) => same,
        };
    }

    fn is_stalled(&mut self, cx: &mut Context<'_>) -> bool {
        let written = self.turn.take(WRITTEN);
        if !self.turn.is(BLOCKED) {
            self.stalled = None;
        } else if written || self.stalled.is_none() {
            self.stalled = Some(after(self.settings.write_timeout));
        }
        self.stalled
            .is_some_and(|deadline| self.alarm.is_due(deadline, cx))
    }
}
