//! Two protocols that talk to each other in one task: what one says is what the other hears, without a copy.

#[cfg(test)]
mod tests;

use std::task::{Context, Poll};
use std::time::Instant;

use crate::alarm::Alarm;
use crate::buf::Output;
use crate::driver::{BATCH, BUDGET};
use crate::{Options, Protocol, Wants};

/// Drives two protocols against each other until one of them [wants](Protocol::wants) the end.
///
/// The other then takes what was said before, if that is to be flushed, and is told that no more will come; what it
/// answers is dropped. [`Options::high_water`] and [`Options::reserve`] apply to both, so take [`Options::client`]: without
/// a reserve, each may wait for the other to listen. Dropping the future drops what has been said and not been heard.
pub async fn pair<A: Protocol, B: Protocol>(a: &mut A, b: &mut B, options: Options) {
    let mut pair = Pair {
        a: Side::new(a),
        b: Side::new(b),
        options,
    };
    std::future::poll_fn(|cx| pair.poll(cx)).await;
}

struct Pair<'p, A, B> {
    a: Side<'p, A>,
    b: Side<'p, B>,
    options: Options,
}

struct Side<'p, P> {
    protocol: &'p mut P,
    /// What it says.
    output: Output,
    alarm: Alarm,
}

impl<A: Protocol, B: Protocol> Pair<'_, A, B> {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Self { a, b, options } = self;
        let mut budget = BUDGET;
        loop {
            a.poll(cx, options);
            b.poll(cx, options);
            if a.protocol.wants() != Wants::More {
                b.finish(a);
                return Poll::Ready(());
            }
            if b.protocol.wants() != Wants::More {
                a.finish(b);
                return Poll::Ready(());
            }
            let mut took = a.take(&mut b.output, options);
            if a.protocol.wants() == Wants::More {
                took += b.take(&mut a.output, options);
            }
            if took == 0 {
                return Poll::Pending;
            }
            budget = budget.saturating_sub(took);
            if budget == 0 {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
        }
    }
}

impl<'p, P: Protocol> Side<'p, P> {
    fn new(protocol: &'p mut P) -> Self {
        Self {
            protocol,
            output: Output::default(),
            alarm: Alarm::default(),
        }
    }

    fn poll(&mut self, cx: &mut Context<'_>, options: &Options) {
        let room = options.high_water.saturating_sub(self.output.len());
        // Whether anything is in flight does not matter: the other may always say more.
        let _ = self.protocol.poll(cx, &mut self.output.bytes, room);
        if let Some(deadline) = self.protocol.deadline()
            && self.alarm.is_due(deadline, cx)
        {
            self.protocol
                .handle_timeout(Instant::now(), &mut self.output.bytes);
            cx.waker().wake_by_ref();
        }
    }

    /// Takes messages of the other's while there are any and there is room for answers. How many.
    fn take(&mut self, input: &mut Output, options: &Options) -> usize {
        let mut took = 0;
        while took < BATCH && self.output.has_room(options) && input.len() > 0 {
            let out = &mut self.output.bytes;
            let before = out.len();
            let consumed = self.protocol.receive(input.unwritten(), out);
            let answer = out.len() - before;
            self.output.answered(answer, options);
            let Some(consumed) = consumed else { break };
            input.consume(consumed);
            took += 1;
            if self.protocol.wants() != Wants::More {
                break;
            }
        }
        took
    }

    /// The other wants the end.
    fn finish<Q: Protocol>(&mut self, other: &mut Side<'_, Q>) {
        if other.protocol.wants() == Wants::Stop {
            other.output.discard();
        }
        while let Some(consumed) = self
            .protocol
            .finish(other.output.unwritten(), &mut self.output.bytes)
        {
            other.output.consume(consumed);
            self.output.discard();
        }
    }
}
