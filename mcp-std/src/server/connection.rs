//! One peer being served: the engine, and the handlers of its calls.

mod asks;
mod calls;
mod subject;

use core::pin::Pin;
use core::task::{self, Poll};
use std::collections::VecDeque;
use std::sync::Arc;

use async_channel::Receiver;
use futures_lite::Stream;
use mcp_core::binding::StdioServer;
use mcp_core::engine::server::{Change, Incoming, ServerEngine};
use mcp_core::frame::Lines;
use mcp_core::model::LoggingMessage;
use mcp_io::{Protocol, Tasks};

use super::changes::{Hub, Mailbox};
use super::context::{Link, Note};
use super::handler::Sharing;
use super::offer::Offer;
use crate::entropy;
use crate::panic::contain;
use asks::Asks;
use calls::{Running, Waiting};

/// Notes that handlers may have waiting for the client to read; one more makes its handler wait.
const NOTES: usize = 256;

pub(crate) struct Connection<S: Sharing> {
    hub: Arc<Hub<S>>,
    /// What is offered: the same as the engine's catalog.
    offer: Arc<Offer<S>>,
    /// [`Hub::changes`] when the mailbox was last emptied.
    seen: u64,
    mailbox: Arc<Mailbox>,
    stdio: StdioServer,
    running: Tasks<S::Running, Running<S>>,
    /// Accepted while as many handlers ran as may, first come first served.
    waiting: VecDeque<Waiting<S>>,
    /// The bytes of their arguments.
    waiting_bytes: usize,
    notes: Pin<Box<Receiver<Note>>>,
    link: Arc<Link>,
    asks: Asks,
    /// The client sends no more.
    ended: bool,
}

impl<S: Sharing> Connection<S> {
    pub(crate) fn new(hub: Arc<Hub<S>>) -> Self {
        let (notes_in, notes) = async_channel::bounded(NOTES);
        let seen = hub.changes();
        let (offer, mailbox) = hub.join(notes_in.clone());
        let limits = hub.settings.limits;
        let engine = ServerEngine::new(offer.catalog.clone(), limits, entropy::seed());
        Self {
            hub,
            offer,
            seen,
            mailbox,
            stdio: StdioServer::new(engine),
            running: Tasks::new(),
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            notes: Box::pin(notes),
            link: Arc::new(Link::new(notes_in)),
            asks: Asks::default(),
            ended: false,
        }
    }

    fn handle(&mut self, incoming: Incoming<'_>, out: &mut Vec<u8>) {
        match incoming {
            Incoming::Call(call) => self.accept(call, out),
            Incoming::Batch(mut batch) => {
                while let Some(incoming) = self
                    .stdio
                    .engine_mut()
                    .next_in_batch(&mut batch, &mut Lines::new(out))
                {
                    self.handle(incoming, out);
                }
            }
            Incoming::Cancelled(key) => self.cancel(key),
            Incoming::Answer(answer) => self.asks.answer(answer),
            Incoming::Rejected(fault) => {
                tracing::debug!(%fault, "the peer broke a rule");
                if let Some(report) = &self.hub.settings.on_fault {
                    // The peer chooses when this runs: a panic in it is not to end the connection.
                    let _ = contain(|| report(&fault));
                }
            }
            // A handler that wants to know the roots asks for them. A `Vec` is never full.
            Incoming::Handled | Incoming::RootsChanged | Incoming::Blocked | _ => {}
        }
    }

    /// Looks whether anything has changed since the last turn. Where nothing has, it costs one load.
    fn refresh(&mut self) {
        let changes = self.hub.changes();
        if changes == self.seen {
            return;
        }
        self.seen = changes;
        let news = self.mailbox.take();
        let engine = self.stdio.engine_mut();
        if news.lists() {
            self.offer = self.hub.offer();
            engine.set_catalog(self.offer.catalog.clone());
        }
        for (changed, change) in [
            (news.tools, Change::ToolsList),
            (news.resources, Change::ResourcesList),
            (news.prompts, Change::PromptsList),
        ] {
            if changed {
                engine.announce(change);
            }
        }
        for uri in &news.updated {
            engine.announce(Change::ResourceUpdated(uri));
        }
    }

    /// Writes what subscribers are due to be told.
    fn notify(&mut self, out: &mut Vec<u8>, full: usize) {
        // A `Vec` is never full.
        while out.len() < full
            && self
                .stdio
                .engine_mut()
                .next_notification(&mut Lines::new(out))
                .unwrap_or(false)
        {}
    }

    fn send(&mut self, note: Note, out: &mut Vec<u8>) {
        let engine = self.stdio.engine_mut();
        let lines = &mut Lines::new(out);
        // Stale: the call is over, and whoever holds on to its context talks to nobody.
        match note {
            Note::Progress { key, progress } => {
                let _ = engine.progress(key, &progress, lines);
            }
            Note::Log {
                key,
                level,
                logger,
                data,
            } => {
                let mut message = LoggingMessage::new(level, data);
                message.logger = logger.map(Into::into);
                let _ = engine.log(Some(key), &message, lines);
            }
            Note::Ask(question) => self.asks.ask(*question, self.ended, engine, lines),
            Note::ElicitationComplete(id) => {
                let _ = engine.elicitation_complete(&id, lines);
            }
            Note::Wake => {}
        }
    }

    /// Sends the notes that are there. Handlers that this makes room for go on in the next turn, for which they wake the
    /// task: one that never runs out of notes is not to keep this turn from ending.
    fn poll_notes(
        &mut self,
        cx: &mut task::Context<'_>,
        out: &mut Vec<u8>,
        full: usize,
    ) -> Poll<()> {
        for _ in 0..=NOTES {
            if out.len() >= full {
                return Poll::Pending;
            }
            let Poll::Ready(Some(note)) = self.notes.as_mut().poll_next(cx) else {
                self.asks
                    .settle(&self.link, self.stdio.engine_mut(), &mut Lines::new(out));
                let idle = self.running.is_empty() && self.waiting.is_empty();
                return if idle { Poll::Ready(()) } else { Poll::Pending };
            };
            self.send(note, out);
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

    /// No more input will come: who waits for an answer waits in vain, and subscriptions end.
    fn end(&mut self, out: &mut Vec<u8>) {
        self.ended = true;
        self.asks.close();
        // A `Vec` is never full.
        let _ = self
            .stdio
            .engine_mut()
            .end_subscriptions(&mut Lines::new(out));
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
        let consumed = self.take(step.consumed, step.incoming, out);
        if consumed.is_none() && !self.ended {
            self.end(out);
            // There may be something to write, and handlers that were told to go on.
            return Some(0);
        }
        consumed
    }

    fn poll(&mut self, cx: &mut task::Context<'_>, out: &mut Vec<u8>, room: usize) -> Poll<()> {
        let full = out.len() + room;
        self.refresh();
        self.notify(out, full);
        self.start_waiting(out, full);
        while out.len() < full {
            let Poll::Ready((running, finished)) = self.running.poll_next(cx) else {
                return self.poll_notes(cx, out, full);
            };
            self.finish_call(running, finished, out);
            self.start_waiting(out, full);
        }
        Poll::Pending
    }
}

impl<S: Sharing> Drop for Connection<S> {
    fn drop(&mut self) {
        for index in 0..self.running.places() {
            if let Some((future, running)) = self.running.remove(index) {
                calls::drop_handler(future);
                running.end();
            }
        }
        // The same goes for those who wait for an answer in a session.
        self.notes.close();
        while self.notes.try_recv().is_ok() {}
    }
}
