//! stdio, from the client's side: the server's output in, lines for its input out.

use crate::engine::client::{ClientEngine, Incoming};
use crate::frame::{LineFramer, LineOutcome, LineStep, Lines};
use crate::json::Sink;
use crate::time::Instant;

/// A client on a pair of byte streams: an engine, and the lines around its messages.
///
/// Calls and other commands go to [`engine_mut`](Self::engine_mut), with [`Lines`] around the same output.
///
/// ```text
///  input   [ line \n line \n li|ne …            receive() takes one line, says how many bytes are used up
///  output  { … }\n{ … }\n                       whole lines: the engine writes through `Lines`
/// ```
#[derive(Debug)]
pub struct StdioClient {
    framer: LineFramer,
    engine: ClientEngine,
}

/// What one call of [`StdioClient::receive`] did.
#[derive(Debug)]
#[must_use = "`consumed` bytes are not to be offered again"]
#[non_exhaustive]
pub struct ClientStep<'b> {
    /// So many bytes of the input are used up.
    pub consumed: usize,
    /// What came of the message among them; `None`: no whole message is there, more input is needed.
    pub incoming: Option<Incoming<'b>>,
}

impl StdioClient {
    /// Puts an engine on a stream.
    #[must_use]
    pub const fn new(engine: ClientEngine) -> Self {
        Self {
            framer: LineFramer::new(engine.limits().max_message),
            engine,
        }
    }

    /// The engine.
    #[must_use]
    pub const fn engine(&self) -> &ClientEngine {
        &self.engine
    }

    /// The engine, to be commanded. Its output belongs in [`Lines`].
    pub const fn engine_mut(&mut self) -> &mut ClientEngine {
        &mut self.engine
    }

    /// A buffer of so many bytes holds any message: fewer are left unconsumed when more input is needed.
    #[must_use]
    pub const fn window(&self) -> usize {
        self.framer.window()
    }

    /// Takes at most one message from `input`, which starts at the first byte not yet reported as consumed.
    ///
    /// What is not a message is counted and passed over, lines that are too long included. If there is no room for an
    /// answer ([`Incoming::Blocked`]) nothing is consumed.
    pub fn receive<'b, S: Sink + ?Sized>(
        &mut self,
        now: Instant,
        input: &'b [u8],
        out: &mut S,
    ) -> ClientStep<'b> {
        self.take(LineFramer::next, now, input, out)
    }

    /// The same when no more input will come: a last line without a line end is a message too. To be called until
    /// `incoming` is `None`; then it is time for [`ClientEngine::lost`].
    pub fn finish<'b, S: Sink + ?Sized>(
        &mut self,
        now: Instant,
        rest: &'b [u8],
        out: &mut S,
    ) -> ClientStep<'b> {
        self.take(LineFramer::finish, now, rest, out)
    }

    fn take<'b, S: Sink + ?Sized>(
        &mut self,
        next: fn(&mut LineFramer, &'b [u8]) -> LineStep<'b>,
        now: Instant,
        input: &'b [u8],
        out: &mut S,
    ) -> ClientStep<'b> {
        let before = self.framer.clone();
        let LineStep { consumed, outcome } = next(&mut self.framer, input);
        let incoming = match outcome {
            LineOutcome::NeedMore => None,
            LineOutcome::Line(line) => Some(self.engine.receive(now, line, &mut Lines::new(out))),
            LineOutcome::TooLong { .. } => Some(self.engine.too_long()),
        };
        if matches!(incoming, Some(Incoming::Blocked)) {
            self.framer = before;
            return ClientStep {
                consumed: 0,
                incoming,
            };
        }
        ClientStep { consumed, incoming }
    }
}
