//! One peer being served: the engine, and the handlers of its calls.

mod asks;
mod calls;
mod outlets;
mod stdio;
mod subject;

use core::pin::Pin;
use core::task::{self, Poll};
use std::collections::VecDeque;
use std::sync::Arc;

use async_channel::Receiver;
use futures_lite::Stream;
use mcp_core::engine::server::{self as engine, Change, Incoming, ServerEngine};
use mcp_core::model::LoggingMessage;
use mcp_io::Tasks;

use super::changes::{Hub, Mailbox};
use super::context::{Link, Note};
use super::extension::{Extension, ExtensionMessage, Listening};
use super::handler::Sharing;
use super::offer::Offer;
use super::principal::Principal;
use super::topics::Told;
use crate::panic::contain;
use asks::Asks;
use calls::{Running, Waiting};
pub(crate) use outlets::{Outlets, Wire};

pub(crate) struct Connection<S: Sharing, W> {
    hub: Arc<Hub<S>>,
    /// What is offered: the same as the engine's catalog.
    offer: Arc<Offer<S>>,
    /// [`Hub::changes`] when the mailbox was last emptied.
    seen: u64,
    mailbox: Arc<Mailbox>,
    wire: W,
    /// Who has sent the message that is being handled, where somebody has checked it.
    pub(crate) principal: Option<Principal>,
    running: Tasks<S::Running, Running<S>>,
    /// Accepted while as many handlers ran as may, first come first served.
    waiting: VecDeque<Waiting<S>>,
    /// The bytes of their arguments.
    waiting_bytes: usize,
    notes: Pin<Box<Receiver<Note>>>,
    link: Arc<Link>,
    asks: Asks,
    /// There may be something to tell of what the client listens for.
    hears: bool,
    /// The client sends no more.
    ended: bool,
}

impl<S: Sharing, W: Wire> Connection<S, W> {
    /// `most_notes` may wait for the client to read; one more makes its handler wait.
    pub(crate) fn new(
        hub: Arc<Hub<S>>,
        most_notes: usize,
        wire: impl FnOnce(&Offer<S>) -> W,
    ) -> Self {
        let (notes_in, notes) = async_channel::bounded(most_notes);
        let seen = hub.changes();
        let (offer, mailbox) = hub.join(notes_in.clone());
        let link = Arc::new(Link::new(notes_in, hub.board.clone()));
        Self {
            wire: wire(&offer),
            hub,
            offer,
            seen,
            mailbox,
            principal: None,
            running: Tasks::new(),
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            notes: Box::pin(notes),
            link,
            asks: Asks::default(),
            hears: false,
            ended: false,
        }
    }

    pub(crate) fn engine(&mut self) -> &mut ServerEngine {
        self.wire.engine_mut()
    }

    pub(crate) fn handle<O: Outlets>(&mut self, incoming: Incoming<'_>, out: &mut O) {
        match incoming {
            Incoming::Call(call) => {
                out.began(call.token.key());
                self.accept(call, out);
            }
            Incoming::Batch(mut batch) => {
                while let Some(incoming) = self
                    .wire
                    .engine_mut()
                    .next_in_batch(&mut batch, out.sender())
                {
                    self.handle(incoming, out);
                }
            }
            Incoming::Cancelled(key) => {
                self.cancel(key);
                out.ended(key);
            }
            Incoming::Answer(answer) => self.asks.answer(answer),
            Incoming::Listen(listening) => self.listen(listening, out),
            Incoming::Notification(notification) => {
                let extensions = &self.offer.definitions.extensions;
                let found = extensions.get(notification.extension);
                let found = found.and_then(|it| it.messages.get(notification.method));
                if let Some(ExtensionMessage::Notification(told)) = found {
                    // As below.
                    let _ = contain(|| told(notification.params, self.principal.as_ref()));
                }
            }
            Incoming::Rejected(fault) => {
                tracing::debug!(%fault, "the peer broke a rule");
                if let Some(report) = &self.hub.settings.on_fault {
                    // The peer chooses when this runs: a panic in it is not to end the connection.
                    let _ = contain(|| report(&fault));
                }
            }
            // A handler that wants to know the roots asks for them. No outlet is ever full.
            Incoming::Handled | Incoming::RootsChanged | Incoming::Blocked | _ => {}
        }
    }

    /// Lets a client listen for the topics of extensions that it may hear of.
    fn listen<O: Outlets>(&mut self, listening: engine::Listening<'_>, out: &mut O) {
        let extensions = &self.offer.definitions.extensions;
        let principal = self.principal.as_ref();
        let mailbox = &self.mailbox;
        let may = |extension: usize, topic: &str| {
            // Before the extension is asked, so that nothing which happens meanwhile is missed.
            mailbox.topics().want(extension, topic);
            match listening_of(extensions, extension, topic, principal) {
                Listening::Accepted => true,
                Listening::AcceptedWith(_) => {
                    mailbox.topics().tell_state(extension, topic, principal);
                    true
                }
                Listening::Refused => false,
            }
        };
        let engine = self.wire.engine_mut();
        let incoming = engine.listen_to(listening, may, out.sender());
        let listens = |extension: usize, topic: &str| engine.has_listener(extension, topic);
        mailbox.topics().retain(listens);
        self.hears = true;
        self.handle(incoming, out);
    }

    /// Nobody is served any more for now, and nothing is in flight.
    #[cfg(feature = "http")]
    pub(crate) fn sleep(&mut self) {
        self.principal = None;
        self.mailbox.set_asleep(true);
        self.throw_away_letters();
    }

    /// Somebody is served again.
    #[cfg(feature = "http")]
    pub(crate) fn wake_up(&mut self) {
        self.mailbox.set_asleep(false);
        self.throw_away_letters();
        self.refresh();
    }

    /// They are for nobody.
    #[cfg(feature = "http")]
    fn throw_away_letters(&self) {
        // The number goes up after each letter: where it has not, there is none.
        if self.hub.changes() != self.seen {
            drop(self.mailbox.take());
        }
        // Nobody listens any more.
        self.mailbox.topics().retain(|_, _| false);
    }

    /// Looks whether anything has changed since the last turn. Where nothing has, it costs one load.
    pub(crate) fn refresh(&mut self) {
        let changes = self.hub.changes();
        if changes == self.seen {
            return;
        }
        self.seen = changes;
        let news = self.mailbox.take();
        let engine = self.wire.engine_mut();
        // Whatever the letters say: one may have been thrown away while nobody was served here.
        let offer = self.hub.offer();
        if !Arc::ptr_eq(&offer, &self.offer) {
            engine.set_catalog(offer.catalog.clone());
            self.offer = offer;
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
        self.hears = true;
    }

    /// Writes what subscribers are due to be told.
    fn notify<O: Outlets>(&mut self, out: &mut O) {
        while !out.is_full() && (self.wire.engine_mut().has_notifications() || self.hear()) {
            let engine = self.wire.engine_mut();
            let Some(sink) = out.unrelated() else { return };
            // No outlet is ever full.
            let _ = engine.next_notification(sink);
        }
    }

    /// Takes the next topic of which there is something to tell. Whether there was one.
    fn hear(&mut self) -> bool {
        let engine = self.wire.engine_mut();
        while self.hears {
            let listens = |extension: usize, topic: &str| engine.has_listener(extension, topic);
            let next = self.mailbox.topics().next(listens);
            let Some((extension, topic, told)) = next else {
                self.hears = false;
                break;
            };
            let params = match told {
                Told::News(params) => params,
                Told::State(principal) => {
                    let extensions = &self.offer.definitions.extensions;
                    let now = listening_of(extensions, extension, &topic, principal.as_ref());
                    let Listening::AcceptedWith(params) = now else {
                        continue;
                    };
                    Arc::new(params)
                }
            };
            engine.announce(Change::extension(extension, &topic, params.raw()));
            return true;
        }
        false
    }

    fn send<O: Outlets>(&mut self, note: Note, out: &mut O) {
        let engine = self.wire.engine_mut();
        // Stale: the call is over, and whoever holds on to its context talks to nobody.
        match note {
            Note::Progress {
                key,
                progress,
                share,
            } => {
                if let Some(sink) = out.about(key) {
                    let _ = engine.progress(key, &progress, sink);
                }
                drop(share);
            }
            Note::Log {
                key,
                level,
                logger,
                data,
                share,
            } => {
                let mut message = LoggingMessage::new(level, data);
                message.logger = logger.map(Into::into);
                if let Some(sink) = out.about(key) {
                    let _ = engine.log(Some(key), &message, sink);
                }
                drop(share);
            }
            Note::Ask(question) => self.asks.ask(*question, self.ended, engine, out),
            Note::ElicitationComplete(key, id) => {
                if let Some(sink) = out.about(key) {
                    let _ = engine.elicitation_complete(&id, sink);
                }
            }
            #[cfg(feature = "http")]
            Note::HangUp(key, retry) => out.disconnect(key, retry),
            #[cfg(feature = "tasks")]
            Note::Detach(key, begun) => self.detach(key, *begun, out),
            Note::Wake => {}
        }
    }

    /// Sends the notes that are there. Handlers that this makes room for go on in the next turn, for which they wake the
    /// task: one that never runs out of notes is not to keep this turn from ending.
    fn poll_notes<O: Outlets>(&mut self, cx: &mut task::Context<'_>, out: &mut O) -> Poll<()> {
        let most = self.notes.capacity().unwrap_or(0);
        for _ in 0..=most {
            if out.is_full() {
                return Poll::Pending;
            }
            let Poll::Ready(Some(note)) = self.notes.as_mut().poll_next(cx) else {
                self.asks.settle(&self.link, self.wire.engine_mut(), out);
                // What woke this turn, or found no room among the notes, may have come after this turn had looked.
                if self.hub.changes() != self.seen {
                    cx.waker().wake_by_ref();
                }
                let idle = self.running.is_empty() && self.waiting.is_empty();
                return if idle { Poll::Ready(()) } else { Poll::Pending };
            };
            self.send(note, out);
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// No more input will come: who waits for an answer waits in vain, and subscriptions end.
    pub(crate) fn end<O: Outlets>(&mut self, out: &mut O) {
        self.ended = true;
        self.asks.close();
        // No outlet is ever full.
        let _ = self.wire.engine_mut().end_subscriptions(out.sender());
    }

    pub(crate) const fn has_ended(&self) -> bool {
        self.ended
    }

    /// Goes on with what is in flight. Ready: nothing is.
    pub(crate) fn poll<O: Outlets>(&mut self, cx: &mut task::Context<'_>, out: &mut O) -> Poll<()> {
        self.refresh();
        self.notify(out);
        self.start_waiting(out);
        while !out.is_full() {
            let Poll::Ready((running, finished)) = self.running.poll_next(cx) else {
                return self.poll_notes(cx, out);
            };
            self.finish_call(running, finished, out);
            self.start_waiting(out);
        }
        Poll::Pending
    }
}

/// What an extension says to somebody who wants to listen for a topic of it.
fn listening_of<S: Sharing>(
    extensions: &[Extension<S>],
    extension: usize,
    topic: &str,
    principal: Option<&Principal>,
) -> Listening {
    let may = extensions.get(extension);
    let Some(may) = may.and_then(|it| it.may_listen.as_ref()) else {
        return Listening::Refused;
    };
    contain(|| may(topic, principal)).unwrap_or(Listening::Refused)
}

impl<S: Sharing, W> Drop for Connection<S, W> {
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
