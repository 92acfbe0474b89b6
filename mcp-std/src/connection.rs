//! One peer being served: the engine, and the handlers of its calls.

use core::pin::Pin;
use core::task::{Context, Poll};
use std::collections::VecDeque;
use std::sync::Arc;

use async_channel::{Receiver, Sender};
use futures_lite::Stream;
use mcp_core::ErrorCode;
use mcp_core::binding::StdioServer;
use mcp_core::engine::server::{Call, CallKey, CallRequest, Incoming, ReplyToken, ServerEngine};
use mcp_core::frame::Lines;
use mcp_core::json::{MAX_DEPTH, RawJson};
use mcp_core::rpc::ErrorObject;
use mcp_io::{Protocol, Tasks};

use crate::context::{Note, ToolContext};
use crate::entropy;
use crate::output::ToolResult;
use crate::panic::contain;
use crate::server::Offer;
use crate::tool::{Finished, Sharing, Started};

/// Notes that handlers may have waiting for the client to read; one more makes its handler wait.
const NOTES: usize = 256;

pub(crate) struct Connection<S: Sharing> {
    offer: Arc<Offer<S>>,
    stdio: StdioServer,
    running: Tasks<S::Running, (ReplyToken, usize)>,
    /// Accepted while as many handlers ran as may, first come first served.
    waiting: VecDeque<Waiting>,
    /// The bytes of their arguments.
    waiting_bytes: usize,
    notes: Pin<Box<Receiver<Note>>>,
    notes_in: Sender<Note>,
}

/// A call that waits for its turn; its arguments are the only copy of a message's bytes.
struct Waiting {
    job: Job,
    arguments: Option<Box<str>>,
}

struct Job {
    token: ReplyToken,
    tool: usize,
    context: ToolContext,
}

impl<S: Sharing> Connection<S> {
    pub(crate) fn new(offer: Arc<Offer<S>>) -> Self {
        let engine = ServerEngine::new(offer.catalog.clone(), offer.limits, entropy::seed());
        let (notes_in, notes) = async_channel::bounded(NOTES);
        Self {
            offer,
            stdio: StdioServer::new(engine),
            running: Tasks::new(),
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            notes: Box::pin(notes),
            notes_in,
        }
    }

    fn handle(&mut self, incoming: Incoming<'_>, out: &mut Vec<u8>) {
        match incoming {
            Incoming::Call(Call {
                token,
                request:
                    CallRequest::Tool {
                        tool, arguments, ..
                    },
                version,
                capabilities,
                wants_progress,
                ..
            }) => {
                let context = ToolContext {
                    key: token.key(),
                    version,
                    capabilities,
                    notes: wants_progress.then(|| self.notes_in.clone()),
                };
                let job = Job {
                    token,
                    tool,
                    context,
                };
                // Nobody overtakes those who wait, though a cancelled handler may have left a free place.
                if self.waiting.is_empty() && self.running.len() < self.offer.max_concurrent {
                    self.start(job, arguments, out);
                } else {
                    self.postpone(job, arguments, out);
                }
            }
            Incoming::Batch(mut batch) => {
                while let Some(incoming) = self
                    .stdio
                    .engine_mut()
                    .next_in_batch(&mut batch, &mut Lines::new(out))
                {
                    self.handle(incoming, out);
                }
            }
            Incoming::Cancelled(key) => {
                if let Some((future, _)) = self.running.remove(key.index()) {
                    drop_handler(future);
                } else {
                    self.forget_waiting(key);
                }
            }
            Incoming::Rejected(fault) => {
                if let Some(report) = &self.offer.on_fault {
                    // The peer chooses when this runs: a panic in it is not to end the connection.
                    let _ = contain(|| report(&fault));
                }
            }
            // A `Vec` is never full.
            Incoming::Handled | Incoming::Blocked | _ => {}
        }
    }

    fn postpone(&mut self, job: Job, arguments: Option<RawJson<'_>>, out: &mut Vec<u8>) {
        let bytes = arguments.map_or(0, |arguments| arguments.as_bytes().len());
        if self.waiting_bytes + bytes > self.offer.max_waiting {
            let message = "Server busy: too many calls are waiting for their turn, retry later";
            self.fail(job.token, message, out);
            return;
        }
        self.waiting_bytes += bytes;
        self.waiting.push_back(Waiting {
            job,
            arguments: arguments.map(|arguments| arguments.as_str().into()),
        });
    }

    /// A cancelled call gives back its room at once, or a peer could fill the queue with calls that nobody waits for.
    fn forget_waiting(&mut self, key: CallKey) {
        let at = self
            .waiting
            .iter()
            .position(|waiting| waiting.job.token.key() == key);
        if let Some(Waiting { arguments, .. }) = at.and_then(|at| self.waiting.remove(at)) {
            self.waiting_bytes -= length(&arguments);
        }
    }

    /// Starts calls that waited, as many as may run, until `out` is `full` bytes long.
    fn start_waiting(&mut self, out: &mut Vec<u8>, full: usize) {
        while self.running.len() < self.offer.max_concurrent && out.len() < full {
            let Some(Waiting { job, arguments }) = self.waiting.pop_front() else {
                return;
            };
            self.waiting_bytes -= length(&arguments);
            let arguments = arguments
                .as_deref()
                .and_then(|text| RawJson::parse_with_depth(text.as_bytes(), MAX_DEPTH).ok());
            self.start(job, arguments, out);
        }
    }

    fn start(&mut self, job: Job, arguments: Option<RawJson<'_>>, out: &mut Vec<u8>) {
        let Job {
            token,
            tool,
            context,
        } = job;
        let index = context.key.index();
        let start = &self.offer.tools[tool];
        // Decoding the arguments runs code of the tool's author as well.
        let started = contain(|| start(context, arguments));
        let (data, finished) = match started {
            Err(panic) => ((token, tool), Err(panic)),
            Ok(Started::Done(result)) => ((token, tool), Ok(result)),
            Ok(Started::Running(future)) => {
                match self.running.start(index, future, (token, tool)) {
                    Poll::Pending => return,
                    Poll::Ready(finished) => finished,
                }
            }
        };
        self.finish(data, finished, out);
    }

    fn finish(
        &mut self,
        (token, tool): (ReplyToken, usize),
        finished: Finished,
        out: &mut Vec<u8>,
    ) {
        // What the handler sent before it ended comes before its result; what others send meanwhile can wait.
        for _ in 0..self.notes.len() {
            if let Ok(note) = self.notes.try_recv() {
                self.send(&note, out);
            }
        }
        match finished {
            Ok(result) => self.reply(token, &result, out),
            Err(_) => {
                let name = self.offer.catalog.tool_name(tool).unwrap_or_default();
                let message = format!("Tool {name} panicked");
                self.fail(token, &message, out);
            }
        }
    }

    fn reply(&mut self, token: ReplyToken, result: &ToolResult, out: &mut Vec<u8>) {
        // Either way a stale token is a call cancelled while its handler ended: nobody waits for it.
        let Some(borrowed) = result.borrowed() else {
            self.fail(
                token,
                "The tool's structured content is not JSON, or nests deeper than 512",
                out,
            );
            return;
        };
        let _ = self
            .stdio
            .engine_mut()
            .reply(token, &borrowed, &mut Lines::new(out));
    }

    fn fail(&mut self, token: ReplyToken, message: &str, out: &mut Vec<u8>) {
        let _ = self.stdio.engine_mut().fail(
            token,
            &ErrorObject::new(ErrorCode::INTERNAL_ERROR, message),
            &mut Lines::new(out),
        );
    }

    fn send(&mut self, note: &Note, out: &mut Vec<u8>) {
        // Stale: the call is over, and whoever holds on to its context talks to nobody.
        let _ = self
            .stdio
            .engine_mut()
            .progress(note.key, &note.progress(), &mut Lines::new(out));
    }
}

impl<S: Sharing> Protocol for Connection<S> {
    fn window(&self) -> usize {
        self.stdio.window()
    }

    fn receive(&mut self, input: &[u8], out: &mut Vec<u8>) -> Option<usize> {
        let step = self.stdio.receive(input, out);
        self.take(step.consumed, step.incoming, out)
    }

    fn finish(&mut self, rest: &[u8], out: &mut Vec<u8>) -> Option<usize> {
        let step = self.stdio.finish(rest, out);
        self.take(step.consumed, step.incoming, out)
    }

    fn poll(&mut self, cx: &mut Context<'_>, out: &mut Vec<u8>, room: usize) -> Poll<()> {
        let full = out.len() + room;
        self.start_waiting(out, full);
        while out.len() < full {
            let Poll::Ready((data, finished)) = self.running.poll_next(cx) else {
                return self.poll_notes(cx, out, full);
            };
            Self::finish(self, data, finished, out);
            self.start_waiting(out, full);
        }
        Poll::Pending
    }
}

impl<S: Sharing> Drop for Connection<S> {
    fn drop(&mut self) {
        for index in 0..self.running.places() {
            if let Some((future, _)) = self.running.remove(index) {
                drop_handler(future);
            }
        }
    }
}

/// What a handler does when it is dropped is its own business; the others go on.
fn drop_handler<F: ?Sized>(future: Pin<Box<F>>) {
    let _ = contain(|| drop(future));
}

fn length(arguments: &Option<Box<str>>) -> usize {
    arguments.as_ref().map_or(0, |arguments| arguments.len())
}

impl<S: Sharing> Connection<S> {
    /// Sends the notes that are there. Handlers that this makes room for go on in the next turn, for which they wake the
    /// task: one that never runs out of notes is not to keep this turn from ending.
    fn poll_notes(&mut self, cx: &mut Context<'_>, out: &mut Vec<u8>, full: usize) -> Poll<()> {
        for _ in 0..=NOTES {
            if out.len() >= full {
                return Poll::Pending;
            }
            let Poll::Ready(Some(note)) = self.notes.as_mut().poll_next(cx) else {
                let idle = self.running.is_empty() && self.waiting.is_empty();
                return if idle { Poll::Ready(()) } else { Poll::Pending };
            };
            self.send(&note, out);
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    fn take(
        &mut self,
        consumed: usize,
        incoming: Option<Incoming<'_>>,
        out: &mut Vec<u8>,
    ) -> Option<usize> {
        let nothing = consumed == 0 && incoming.is_none();
        if let Some(incoming) = incoming {
            self.handle(incoming, out);
        }
        (!nothing).then_some(consumed)
    }
}
