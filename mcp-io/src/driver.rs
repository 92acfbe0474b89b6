//! The loop: bytes in, handlers polled, bytes out, in one task.

#[cfg(test)]
mod tests;

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use async_io::Timer;
use futures_io::{AsyncRead, AsyncWrite};

use crate::Error;
use crate::alarm::Alarm;
use crate::buf::{Input, Output};
use crate::error::Failure;

/// What the driver drives: a protocol on one pair of byte streams.
pub trait Protocol {
    /// So many bytes of input hold any message: after [`receive`](Self::receive) has returned `None` fewer are left.
    fn window(&self) -> usize;

    /// Takes at most one message from `input`, which starts at the first byte not yet consumed, and appends what is to
    /// be sent to `out`. Returns how many bytes are used up; `None` if there is no whole message and nothing to use up.
    fn receive(&mut self, input: &[u8], out: &mut Vec<u8>) -> Option<usize>;

    /// The same when no more input will come. Called until it returns `None`, at least once: with an empty `rest`, if all
    /// was taken before.
    fn finish(&mut self, rest: &[u8], out: &mut Vec<u8>) -> Option<usize>;

    /// Goes on with what is in flight and appends what is to be sent to `out`, until that is `room` bytes longer or more.
    /// Ready: nothing is in flight. Pending: the task of `cx` is woken when there is more to do, unless the room was used
    /// up; then this is called again when the output has been written. While a peer does not read, `room` is zero: what
    /// needs no output can go on.
    fn poll(&mut self, cx: &mut Context<'_>, out: &mut Vec<u8>, room: usize) -> Poll<()>;

    /// When [`handle_timeout`](Self::handle_timeout) is due. `None`: never. It is asked for before each wait.
    fn deadline(&self) -> Option<Instant> {
        None
    }

    /// The [`deadline`](Self::deadline) has passed, `now` is later. Appends what is to be sent, whether there is room or
    /// not: little, for each thing that was waited for. The deadline moves on, or this is called again and again.
    fn handle_timeout(&mut self, now: Instant, out: &mut Vec<u8>) {
        let _ = (now, out);
    }

    /// Whether the stream is to go on. It is asked for after each of the calls above.
    fn wants(&self) -> Wants {
        Wants::More
    }
}

/// What a protocol wants of its stream.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Wants {
    /// To go on.
    More,
    /// To end when the output is written. No more input is taken. A peer that does not read is given up after
    /// [`Options::grace`].
    Flush,
    /// To end here and now, whatever is left to be written: nobody is there to read it.
    Stop,
}

/// Where the driver reads from: any [`AsyncRead`], or [`Stdin`](crate::stdio::Stdin).
pub trait Source {
    /// Reads into `buf` like [`AsyncRead::poll_read`]. `idle`: nothing but input can happen next, so that a source that
    /// has the thread to itself may wait for it right here.
    fn poll_fill(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut [u8],
        idle: bool,
    ) -> Poll<io::Result<usize>>;
}

impl<R: AsyncRead> Source for R {
    fn poll_fill(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut [u8],
        _: bool,
    ) -> Poll<io::Result<usize>> {
        self.poll_read(cx, buf)
    }
}

/// Bounds of the loop.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Options {
    /// After the input has ended, requests in flight may take this long to be answered; and as long as all are answered and
    /// the peer still reads, this long without reading anything. Default: 5 seconds.
    pub grace: Duration,
    /// While more than this many bytes wait to be written, no input is taken and no handler is polled: a peer that does
    /// not read is not served. Default: 1 MiB.
    pub high_water: usize,
    /// While the output is full, input is taken all the same until so many bytes of answers to it were added. Default: 0.
    ///
    /// Of two peers one needs this, or each may wait for the other to read. It is the client: answers that come in make it
    /// say nothing. See [`Options::client`].
    pub reserve: usize,
    /// Whether a peer that reads no more is heard out: what it has sent is taken until its end, for at most
    /// [`grace`](Self::grace). Default: no, who does not read needs no answers.
    pub hear_out: bool,
}

impl Options {
    /// For the side that asks: the default with a [`reserve`](Self::reserve) of 1 MiB, and a server that has died is
    /// [heard out](Self::hear_out).
    #[must_use]
    pub fn client() -> Self {
        Self {
            reserve: 1024 * 1024,
            hear_out: true,
            ..Self::default()
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            grace: Duration::from_secs(5),
            high_water: 1024 * 1024,
            reserve: 0,
            hear_out: false,
        }
    }
}

/// How a stream ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum End {
    /// The input ended, and all that was in flight has been answered.
    Complete,
    /// The input ended, and within [`Options::grace`] something in flight was not answered, or not read by the peer.
    GraceExpired,
    /// The protocol [wanted](Protocol::wants) it.
    Finished,
    /// The peer has closed its end and reads no more: whatever was in flight was given up.
    Closed,
}

/// At most this many messages are taken in one turn, so that others on this executor get theirs.
pub(crate) const BUDGET: usize = 1024;

/// After so many messages their answers are written, though more have come: the peer reads the first ones while the rest
/// are worked on. Among so many the price of a write is small.
pub(crate) const BATCH: usize = 32;

/// Drives `protocol` until its input ends and all that is in flight is done.
///
/// Each turn takes what has come, polls the handlers that were woken, and writes all their answers in one call. Dropping
/// the future drops what is in flight.
///
/// # Errors
///
/// The transport's. A peer that closes its end is none: that is how sessions end.
pub async fn drive<P, R, W>(
    protocol: &mut P,
    reader: R,
    writer: W,
    options: Options,
) -> Result<End, Error>
where
    P: Protocol,
    R: Source,
    W: AsyncWrite,
{
    let mut reader = std::pin::pin!(reader);
    let mut writer = std::pin::pin!(writer);
    let mut turn = Turn {
        input: Input::new(protocol.window()),
        protocol,
        output: Output::default(),
        options,
        stage: Stage::Open,
        told: false,
        deaf: None,
        alarm: Alarm::default(),
    };
    let end = match std::future::poll_fn(|cx| turn.poll(reader.as_mut(), writer.as_mut(), cx)).await
    {
        Ok(end) => Ok(end),
        Err(Failure::Closed) => Ok(End::Closed),
        Err(Failure::Failed(error)) => Err(error),
    };
    match &end {
        Ok(end) => tracing::debug!(?end, "the stream has ended"),
        Err(error) => tracing::debug!(%error, "the stream has failed"),
    }
    end
}

struct Turn<'p, P> {
    protocol: &'p mut P,
    input: Input,
    output: Output,
    options: Options,
    stage: Stage,
    /// The protocol has been told of the end of the input.
    told: bool,
    /// The peer reads no more, and is heard out until then.
    deaf: Option<Timer>,
    alarm: Alarm,
}

/// ```text
///  Open --end of input--> Draining --all taken, nothing in flight, all written--> done
///    |                      |   \--no progress for the grace period------------> done
///    |                      v
///    \--Wants::Flush--> Closing --all written, or no progress for that long----> done
/// ```
enum Stage {
    Open,
    Draining(Timer),
    Closing(Timer),
}

impl<P: Protocol> Turn<'_, P> {
    fn poll<R, W>(
        &mut self,
        mut reader: Pin<&mut R>,
        mut writer: Pin<&mut W>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<End, Failure>>
    where
        R: Source,
        W: AsyncWrite,
    {
        let mut budget = BUDGET;
        loop {
            let idle = self.poll_handlers(cx);
            match self.protocol.wants() {
                Wants::More => {}
                Wants::Stop => return Poll::Ready(Ok(End::Finished)),
                Wants::Flush if matches!(self.stage, Stage::Closing(_)) => {}
                Wants::Flush => self.stage = Stage::Closing(Timer::after(self.options.grace)),
            }
            let before = self.output.len();
            let written = self.poll_write(writer.as_mut(), cx)?;
            let moved = self.output.len() < before;
            self.output.compact();
            if let Stage::Closing(timer) = &mut self.stage {
                if written {
                    return Poll::Ready(Ok(End::Finished));
                }
                if moved {
                    timer.set_after(self.options.grace);
                }
                return Pin::new(timer).poll(cx).map(|_| Ok(End::GraceExpired));
            }
            let full = before >= self.options.high_water;
            if full && written {
                // The protocol stopped for want of room and goes on in the next turn: a handler that never runs out of
                // things to say keeps neither the input nor the executor waiting.
                cx.waker().wake_by_ref();
            }
            if self.take(&mut budget) {
                continue;
            }
            if budget == 0 {
                // There may be whole messages left, which no read would wake this task for.
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            if let Stage::Draining(timer) = &mut self.stage {
                if idle && written {
                    let end = self.deaf.as_ref().map_or(End::Complete, |_| End::Closed);
                    return Poll::Ready(Ok(end));
                }
                if idle && moved {
                    // All is answered, and the peer reads: it is given its time.
                    timer.set_after(self.options.grace);
                }
                if Pin::new(timer).poll(cx).is_ready() {
                    return Poll::Ready(Ok(End::GraceExpired));
                }
                return Poll::Pending;
            }
            if let Some(timer) = &mut self.deaf
                && Pin::new(timer).poll(cx).is_ready()
            {
                return Poll::Ready(Ok(End::Closed));
            }
            // While the output is full, input is read ahead as far as a message may need, and not taken: so the end of the
            // input is noticed though the peer does not read. The writer is pending then, and wakes this task.
            if !self.output.has_room(&self.options) && self.input.is_full() {
                return Poll::Pending;
            }
            let alone = idle && written && self.protocol.deadline().is_none();
            match self.input.poll_fill(reader.as_mut(), cx, alone)? {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(0) => self.stage = Stage::Draining(Timer::after(self.options.grace)),
                Poll::Ready(_) => {}
            }
        }
    }

    /// Whether nothing is in flight.
    fn poll_handlers(&mut self, cx: &mut Context<'_>) -> bool {
        if matches!(self.stage, Stage::Closing(_)) {
            return true;
        }
        let room = self.options.high_water.saturating_sub(self.output.len());
        let idle = self
            .protocol
            .poll(cx, &mut self.output.bytes, room)
            .is_ready();
        if let Some(deadline) = self.protocol.deadline()
            && self.alarm.is_due(deadline, cx)
        {
            self.protocol
                .handle_timeout(Instant::now(), &mut self.output.bytes);
            // What has timed out may let something else go on.
            cx.waker().wake_by_ref();
        }
        idle
    }

    /// Whether all is written.
    fn poll_write<W: AsyncWrite>(
        &mut self,
        writer: Pin<&mut W>,
        cx: &mut Context<'_>,
    ) -> Result<bool, Failure> {
        if self.deaf.is_none() {
            match self.output.poll_write(writer, cx) {
                Poll::Ready(Err(Failure::Closed)) if self.options.hear_out => {
                    self.deaf = Some(Timer::after(self.options.grace));
                }
                Poll::Ready(written) => return written.map(|()| true),
                Poll::Pending => return Ok(false),
            }
        }
        self.output.discard();
        Ok(true)
    }

    /// Takes messages while there are any, the budget lasts and the output has room. Whether it took one, or the end.
    fn take(&mut self, budget: &mut usize) -> bool {
        let mut took = false;
        let rest = budget.saturating_sub(BATCH);
        while *budget > rest && self.output.has_room(&self.options) {
            let (input, out) = (self.input.unconsumed(), &mut self.output.bytes);
            let before = out.len();
            let consumed = match self.stage {
                Stage::Open => self.protocol.receive(input, out),
                Stage::Draining(_) | Stage::Closing(_) => self.protocol.finish(input, out),
            };
            let answer = out.len() - before;
            tracing::trace!(?consumed, answer, "bytes");
            self.output.answered(answer, &self.options);
            let Some(consumed) = consumed else {
                // All is taken, and the protocol knows now that no more will come.
                took |= matches!(&mut self.stage, Stage::Draining(_))
                    && !std::mem::replace(&mut self.told, true);
                break;
            };
            self.input.consume(consumed);
            *budget -= 1;
            took = true;
            if self.protocol.wants() != Wants::More {
                break;
            }
        }
        took
    }
}
