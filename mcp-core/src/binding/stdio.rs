//! stdio: one stream in each direction, one message on a line (basic, transports, "stdio").

use crate::engine::server::{Incoming, Message, ServerEngine};
use crate::engine::{Memory, Standard};
use crate::error::PeerFault;
use crate::frame::{LineFramer, LineOutcome, LineStep, Lines};
use crate::json::Sink;

/// A server on a pair of byte streams: an engine, and the lines around its messages.
///
/// Answers and other commands go to [`engine_mut`](Self::engine_mut), with [`Lines`] around the same output.
///
/// If the engine's output is [blocked](Incoming::Blocked) while it is empty, [`give_up`](Self::give_up).
///
/// Other streams, such as a Unix socket or a serial line, use the same framing (STD-17).
///
/// ```text
///  input   [ line \n line \n li|ne …            receive() takes one line, says how many bytes are used up
///  output  { … }\n{ … }\n                       whole lines: the engine writes through `Lines`
/// ```
#[derive(Debug)]
pub struct StdioServer<M: Memory = Standard> {
    framer: LineFramer,
    engine: ServerEngine<M>,
}

/// What one call of [`StdioServer::receive`] did.
#[derive(Debug)]
#[must_use = "`consumed` bytes are not to be offered again"]
#[non_exhaustive]
pub struct Step<'b> {
    /// So many bytes of the input are used up.
    pub consumed: usize,
    /// What came of the message among them; `None`: no whole message is there, more input is needed.
    pub incoming: Option<Incoming<'b>>,
}

impl<M: Memory> StdioServer<M> {
    /// Puts an engine on a stream.
    #[must_use]
    pub const fn new(engine: ServerEngine<M>) -> Self {
        Self {
            framer: LineFramer::new(engine.limits().max_message),
            engine,
        }
    }

    /// The engine.
    #[must_use]
    pub const fn engine(&self) -> &ServerEngine<M> {
        &self.engine
    }

    /// The engine, to be commanded. Its output belongs in [`Lines`].
    pub const fn engine_mut(&mut self) -> &mut ServerEngine<M> {
        &mut self.engine
    }

    /// A buffer of so many bytes holds any message: fewer are left unconsumed when more input is needed.
    #[must_use]
    pub const fn window(&self) -> usize {
        self.framer.window()
    }

    /// Takes at most one message from `input`, which starts at the first byte not yet reported as consumed.
    ///
    /// A line that is too long is refused once and discarded as it comes. If there is no room for the answer
    /// ([`Incoming::Blocked`]) nothing is consumed.
    pub fn receive<'b, S: Sink + ?Sized>(&mut self, input: &'b [u8], out: &mut S) -> Step<'b> {
        self.take(LineFramer::next, input, out)
    }

    /// The same when no more input will come: a last line without a line end is a message too. To be called until
    /// `incoming` is `None`.
    pub fn finish<'b, S: Sink + ?Sized>(&mut self, rest: &'b [u8], out: &mut S) -> Step<'b> {
        self.take(LineFramer::finish, rest, out)
    }

    /// Takes the next message as [`receive`](Self::receive) does, and answers that there is no room for its answer: for a
    /// message that is [blocked](Incoming::Blocked) although the output is empty, and would be for ever.
    pub fn give_up<'b, S: Sink + ?Sized>(&mut self, input: &'b [u8], out: &mut S) -> Step<'b> {
        let LineStep { consumed, outcome } = self.framer.next(input);
        let incoming = match outcome {
            LineOutcome::NeedMore => None,
            LineOutcome::Line(line) => {
                let message = Message::read(line, self.engine.limits());
                let out = &mut Lines::new(out);
                Some(self.engine.refuse(&message, PeerFault::NoRoom, out))
            }
            // There is no shorter answer than the one that had no room.
            LineOutcome::TooLong { limit, .. } => {
                Some(Incoming::Rejected(PeerFault::TooLong { limit }))
            }
        };
        Step { consumed, incoming }
    }

    fn take<'b, S: Sink + ?Sized>(
        &mut self,
        next: fn(&mut LineFramer, &'b [u8]) -> LineStep<'b>,
        input: &'b [u8],
        out: &mut S,
    ) -> Step<'b> {
        let before = self.framer.clone();
        let LineStep { consumed, outcome } = next(&mut self.framer, input);
        let out = &mut Lines::new(out);
        let incoming = match outcome {
            LineOutcome::NeedMore => None,
            LineOutcome::Line(line) => Some(self.engine.receive(line, out)),
            LineOutcome::TooLong { start, .. } => Some(self.engine.too_long(start, out)),
        };
        if matches!(incoming, Some(Incoming::Blocked)) {
            self.framer = before;
            return Step {
                consumed: 0,
                incoming,
            };
        }
        Step { consumed, incoming }
    }
}

#[cfg(test)]
mod tests {
    use alloc::sync::Arc;
    use alloc::vec::Vec;

    use super::*;
    use crate::Limits;
    use crate::engine::server::Catalog;
    use crate::model::Implementation;

    #[test]
    fn a_blocked_message_is_offered_again_and_its_line_ends_once() {
        let identity = Implementation::new("s", "1");
        let catalog = Catalog::builder(&identity)
            .build()
            .expect("nothing to refuse");
        let mut limits = Limits::DEFAULT;
        limits.max_message = 64;
        let mut server = StdioServer::new(ServerEngine::new(Arc::new(catalog), limits, 1));
        let ping = b" {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
        let long = [&[b'x'; 80][..], b"\n"].concat();
        for (line, expected) in [
            (&ping[..], "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n"),
            (
                &long,
                "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32600,\"message\":\"Message longer than 64 bytes, discarded\"}}\n",
            ),
        ] {
            // Room for the message, but not for its line end.
            let mut small = heapless::Vec::<u8, 36>::new();
            let step = server.receive(line, &mut small);
            assert!(matches!(step.incoming, Some(Incoming::Blocked)), "{step:?}");
            assert_eq!(step.consumed, 0);
            assert!(small.is_empty());
            let mut out = Vec::new();
            let step = server.receive(line, &mut out);
            assert_eq!(step.consumed, line.len());
            assert_eq!(core::str::from_utf8(&out), Ok(expected));
        }
    }
}
