//! The events of a body.

use mcp_core::frame::{SseOutcome, SseParser};

use super::super::adapters::{Delta, MAX_REPLY, ReplyFault, ReplyStream};

/// Cuts a body into events, and puts the answer together of them.
pub(super) struct Events<'t> {
    parser: SseParser,
    buffer: Vec<u8>,
    stream: ReplyStream<'t>,
}

impl<'t> Events<'t> {
    pub(super) fn new(stream: ReplyStream<'t>) -> Self {
        Self {
            parser: SseParser::new(MAX_REPLY),
            buffer: Vec::new(),
            stream,
        }
    }

    /// More of the body. `true`: the answer is whole, whatever else comes.
    pub(super) fn add(
        &mut self,
        bytes: &[u8],
        each: &mut (dyn FnMut(Delta) + Send),
    ) -> Result<bool, ReplyFault> {
        self.buffer.extend_from_slice(bytes);
        self.take(false, each)
    }

    /// The body has ended.
    pub(super) fn end(
        mut self,
        each: &mut (dyn FnMut(Delta) + Send),
    ) -> Result<ReplyStream<'t>, ReplyFault> {
        self.take(true, each)?;
        Ok(self.stream)
    }

    fn take(
        &mut self,
        ended: bool,
        each: &mut (dyn FnMut(Delta) + Send),
    ) -> Result<bool, ReplyFault> {
        let mut at = 0;
        loop {
            let rest = &self.buffer[at..];
            let step = if ended {
                self.parser.finish(rest)
            } else {
                self.parser.next(rest)
            };
            match step.outcome {
                SseOutcome::Event(event) if event.data.is_empty() => {}
                SseOutcome::Event(event) => {
                    for delta in self.stream.event(&event.data)? {
                        each(delta);
                    }
                }
                SseOutcome::TooLong { .. } => {
                    return Err(ReplyFault::TooLarge("an event has more than 16 MiB"));
                }
                SseOutcome::NeedMore => {
                    at += step.consumed;
                    break;
                }
                _ => {}
            }
            at += step.consumed;
        }
        self.buffer.drain(..at);
        Ok(self.stream.is_whole())
    }
}
