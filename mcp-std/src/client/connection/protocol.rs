//! The connection as its driver sees it.

use core::task::{Context, Poll};
use std::time::Instant;

use futures_lite::Stream;
use mcp_core::frame::Lines;
use mcp_core::json::Json;
use mcp_core::model::{Era, ProtocolVersion};
use mcp_io::{Protocol, Wants};

use super::{ClientConnection, Phase, Purpose};
use crate::client::error::{Closed, ClosedReason};
use crate::client::frames::Direction;
use crate::panic::contain;

impl ClientConnection<'_> {
    /// When the server has been silent for too long.
    fn silent_at(&self) -> Option<Instant> {
        let ready = matches!(self.phase, Phase::Ready) && self.probe.is_none();
        let idle = self.shared.timeouts.idle.filter(|_| ready)?;
        self.heard.checked_add(idle)
    }

    fn probe(&mut self, out: &mut Vec<u8>) {
        let modern = self.version.map(ProtocolVersion::era) == Some(Era::Modern);
        let method = if modern { "server/discover" } else { "ping" };
        let params = Json::EMPTY_OBJECT;
        match self.ask(method, params.raw(), Purpose::Probe, out) {
            Ok(key) => self.probe = Some(key),
            // As many calls wait as may: they will say whether the server is there.
            Err(_) => self.heard = Instant::now(),
        }
    }
}

impl Protocol for ClientConnection<'_> {
    fn window(&self) -> usize {
        self.stdio.window()
    }

    fn receive(&mut self, input: &[u8], out: &mut Vec<u8>) -> Option<usize> {
        let written = out.len();
        let step = self.stdio.receive(self.pause.now(), input, out);
        let tap = &self.shared.settings.tap;
        if step.incoming.is_some() {
            tap.tell(Direction::Received, &input[..step.consumed]);
        }
        let taken = self.take(step.consumed, step.incoming, out);
        tap.tell(Direction::Sent, &out[written..]);
        taken
    }

    fn finish(&mut self, rest: &[u8], out: &mut Vec<u8>) -> Option<usize> {
        let step = self.stdio.finish(self.pause.now(), rest, out);
        if step.incoming.is_some() {
            let tap = &self.shared.settings.tap;
            tap.tell(Direction::Received, &rest[..step.consumed]);
        }
        let taken = self.take(step.consumed, step.incoming, out);
        if taken.is_none() {
            // Everything has been heard: nothing will be answered any more.
            self.end(None);
        }
        taken
    }

    fn poll(&mut self, cx: &mut Context<'_>, out: &mut Vec<u8>, room: usize) -> Poll<()> {
        match &mut self.waker {
            Some(waker) => waker.clone_from(cx.waker()),
            none => *none = Some(cx.waker().clone()),
        }
        let written = out.len();
        if matches!(self.phase, Phase::New) {
            self.phase = Phase::Connecting;
            let now = self.now();
            let engine = self.stdio.engine_mut();
            // A `Vec` is never full.
            let _ = engine.connect(now, &mut Lines::new(out));
        }
        if !self.is_over() && self.ends.closing.as_mut().poll_next(cx).is_ready() {
            // What was said before the end comes before it: the server is told of calls that nobody waits for.
            while matches!(self.phase, Phase::Ready)
                && let Poll::Ready(Some(control)) = self.ends.control.as_mut().poll_next(cx)
            {
                self.control(control, out);
            }
            self.end(Some(ClosedReason::Us));
        }
        let full = out.len() + room;
        while matches!(self.phase, Phase::Ready) && out.len() < full {
            if let Poll::Ready(Some(control)) = self.ends.control.as_mut().poll_next(cx) {
                self.control(control, out);
            } else if let Poll::Ready((token, done)) = self.running.poll_next(cx) {
                self.answer(token, done, out);
            } else if self.has_room() && (self.repeat_level(out) || self.ask_about_resources(out)) {
            } else if self.has_room()
                && let Poll::Ready(Some(call)) = self.ends.calls.as_mut().poll_next(cx)
            {
                self.start(call, out);
            } else {
                break;
            }
        }
        self.take_events();
        let takes_calls = matches!(self.phase, Phase::Ready) && self.has_room();
        self.shared.take_calls(takes_calls);
        let tap = &self.shared.settings.tap;
        tap.tell(Direction::Sent, &out[written..]);
        if self.is_over() || self.stdio.engine().pending() == 0 && self.running.is_empty() {
            return Poll::Ready(());
        }
        Poll::Pending
    }

    fn deadline(&self) -> Option<Instant> {
        let engine = self.stdio.engine().poll_timeout();
        let engine = engine.map(|at| self.pause.instant(at));
        [engine, self.silent_at(), self.again_at()]
            .into_iter()
            .flatten()
            .min()
    }

    fn handle_timeout(&mut self, now: Instant, out: &mut Vec<u8>) {
        let written = out.len();
        let counted = self.now();
        let engine = self.stdio.engine_mut();
        // A `Vec` is never full.
        let _ = engine.handle_timeout(counted, &mut Lines::new(out));
        self.take_events();
        self.make_again(now, out);
        if self.silent_at().is_some_and(|at| at <= now) {
            self.probe(out);
        }
        let tap = &self.shared.settings.tap;
        tap.tell(Direction::Sent, &out[written..]);
    }

    fn wants(&self) -> Wants {
        match &self.phase {
            // What was said to the server is still to reach it, such as a cancellation.
            Phase::Ended(Some(ClosedReason::Us)) => Wants::Flush,
            Phase::Ended(_) | Phase::Failed(_) => Wants::Stop,
            Phase::New | Phase::Connecting | Phase::Ready => Wants::More,
        }
    }
}

impl Drop for ClientConnection<'_> {
    fn drop(&mut self) {
        // There are some only if the task is dropped that drove this: see `Session`.
        if !self.asked.is_empty() {
            self.fail_calls(&Closed::new(ClosedReason::Us));
        }
        for index in 0..self.running.places() {
            if let Some((future, _)) = self.running.remove(index) {
                let _ = contain(|| drop(future));
            }
        }
    }
}
