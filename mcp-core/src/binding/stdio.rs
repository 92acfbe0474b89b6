//! stdio: one stream in each direction, one message on a line (basic, transports, "stdio").

use crate::engine::server::{Batch, CallKey, Incoming, ReplyToken, ServerEngine};
use crate::error::SendError;
use crate::frame::{LineFramer, LineOutcome};
use crate::model::{CallToolResult, Progress};
use crate::rpc::ErrorObject;
use alloc::vec::Vec;

/// A server on a pair of byte streams: an engine, and the lines around its messages.
///
/// Other streams, such as a Unix socket or a serial line, use the same framing (STD-17).
///
/// ```text
///  input   [ line \n line \n li|ne …            receive() takes one line, says how many bytes are used up
///  output  { … }\n{ … }\n                       each method appends at most one line, always whole
/// ```
#[derive(Debug)]
pub struct StdioServer {
    framer: LineFramer,
    engine: ServerEngine,
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

impl StdioServer {
    /// Puts an engine on a stream.
    #[must_use]
    pub const fn new(engine: ServerEngine) -> Self {
        Self {
            framer: LineFramer::new(engine.limits().max_message),
            engine,
        }
    }

    /// The engine, for what is not input or output.
    #[must_use]
    pub const fn engine(&self) -> &ServerEngine {
        &self.engine
    }

    /// A buffer of so many bytes holds any message: fewer are left unconsumed when more input is needed.
    #[must_use]
    pub const fn window(&self) -> usize {
        self.framer.window()
    }

    /// Takes at most one message from `input`, which starts at the first byte not yet reported as consumed.
    ///
    /// A line that is too long is refused once and discarded as it comes.
    pub fn receive<'b>(&mut self, input: &'b [u8], out: &mut Vec<u8>) -> Step<'b> {
        let line = self.framer.next(input);
        self.take(line.consumed, line.outcome, out)
    }

    /// The same when no more input will come: a last line without a line end is a message too. To be called until
    /// `incoming` is `None`.
    pub fn finish<'b>(&mut self, rest: &'b [u8], out: &mut Vec<u8>) -> Step<'b> {
        let line = self.framer.finish(rest);
        self.take(line.consumed, line.outcome, out)
    }

    /// [`ServerEngine::next_in_batch`], on a line.
    pub fn next_in_batch<'b>(
        &mut self,
        batch: &mut Batch<'b>,
        out: &mut Vec<u8>,
    ) -> Option<Incoming<'b>> {
        let before = out.len();
        let incoming = self.engine.next_in_batch(batch, out);
        end_line(out, before);
        incoming
    }

    /// [`ServerEngine::reply`], on a line.
    ///
    /// # Errors
    ///
    /// The call is over.
    pub fn reply(
        &mut self,
        token: ReplyToken,
        result: &CallToolResult<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), SendError<ReplyToken>> {
        let before = out.len();
        self.engine.reply(token, result, out)?;
        end_line(out, before);
        Ok(())
    }

    /// [`ServerEngine::fail`], on a line.
    ///
    /// # Errors
    ///
    /// The call is over.
    pub fn fail(
        &mut self,
        token: ReplyToken,
        error: &ErrorObject<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), SendError<ReplyToken>> {
        let before = out.len();
        self.engine.fail(token, error, out)?;
        end_line(out, before);
        Ok(())
    }

    /// [`ServerEngine::progress`], on a line.
    ///
    /// # Errors
    ///
    /// The call is over.
    pub fn progress(
        &mut self,
        key: CallKey,
        progress: &Progress<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), SendError<()>> {
        let before = out.len();
        self.engine.progress(key, progress, out)?;
        end_line(out, before);
        Ok(())
    }

    /// [`ServerEngine::abandon`], on a line.
    ///
    /// # Errors
    ///
    /// The call is over.
    pub fn abandon(&mut self, key: CallKey, out: &mut Vec<u8>) -> Result<(), SendError<()>> {
        let before = out.len();
        self.engine.abandon(key, out)?;
        end_line(out, before);
        Ok(())
    }

    fn take<'b>(
        &mut self,
        consumed: usize,
        outcome: LineOutcome<'b>,
        out: &mut Vec<u8>,
    ) -> Step<'b> {
        let before = out.len();
        let incoming = match outcome {
            LineOutcome::NeedMore => None,
            LineOutcome::Line(line) => Some(self.engine.receive(line, out)),
            LineOutcome::TooLong { .. } => Some(self.engine.too_long(out)),
        };
        end_line(out, before);
        Step { consumed, incoming }
    }
}

/// Ends the line if anything was written to it.
fn end_line(out: &mut Vec<u8>, before: usize) {
    if out.len() > before {
        out.push(b'\n');
    }
}
