//! The server, the harness that answers its calls, and the model that knows what has to come out.

mod calls;

use std::slice;
use std::sync::Arc;

use mcp_core::binding::{StdioServer, Step};
use mcp_core::engine::server::{CallKey, Catalog, Incoming, ReplyToken, ServerEngine};
use mcp_core::frame::Lines;
use mcp_core::model::ProtocolVersion;
use mcp_core::{EnvelopeFault, Limits, PeerFault, SendError};
use serde_json::value::RawValue;

use self::calls::Open;
use super::answer::{Answer, Line};
use super::due::{Batches, Due, Place};
use crate::envelope::{Fault, Reading, read};
use crate::line::Item;
use crate::reference;

/// The messages of the stream that have not come out of the server.
pub(super) type Messages<'i, 's> = slice::Iter<'i, Item<'s>>;

/// What a session gave.
pub(super) struct Transcript {
    pub(super) incoming: Vec<String>,
    pub(super) out: Vec<u8>,
}

/// A server under test. The harness answers a call by its tool: `now` and `needs` with a result, `fail` with an error,
/// `progress` with notifications before the result, `later` when `flush` is called or at the end, the last one first.
pub(super) struct Session {
    server: StdioServer,
    limits: Limits,
    /// The calls that are neither answered nor cancelled.
    open: Vec<Open>,
    /// The tokens of calls that were cancelled, as a handler that did not notice has them.
    cancelled: Vec<ReplyToken>,
    /// The keys of all calls that are over.
    over: Vec<CallKey>,
    batches: Batches,
    transcript: Transcript,
}

impl Session {
    pub(super) fn new(catalog: Arc<Catalog>, limits: Limits) -> Self {
        Self {
            server: StdioServer::new(ServerEngine::new(catalog, limits, 0)),
            limits,
            open: Vec::new(),
            cancelled: Vec::new(),
            over: Vec::new(),
            batches: Batches::default(),
            transcript: Transcript {
                incoming: Vec::new(),
                out: Vec::new(),
            },
        }
    }

    pub(super) const fn window(&self) -> usize {
        self.server.window()
    }

    /// Offers input: says how much of it is used up, and whether to call again.
    pub(super) fn receive(
        &mut self,
        input: &[u8],
        messages: &mut Messages<'_, '_>,
    ) -> (usize, bool) {
        self.offer(StdioServer::receive, input, messages)
    }

    /// The same at the end of the stream.
    pub(super) fn finish(
        &mut self,
        input: &[u8],
        messages: &mut Messages<'_, '_>,
    ) -> (usize, bool) {
        self.offer(StdioServer::finish, input, messages)
    }

    fn offer<'b>(
        &mut self,
        take: fn(&mut StdioServer, &'b [u8], &mut Vec<u8>) -> Step<'b>,
        input: &'b [u8],
        messages: &mut Messages<'_, '_>,
    ) -> (usize, bool) {
        let version = self.server.engine().session_version();
        let before = self.transcript.out.len();
        let step = take(&mut self.server, input, &mut self.transcript.out);
        self.take(step, messages, before, version)
    }

    /// Answers what is left.
    pub(super) fn end(mut self) -> Transcript {
        self.flush();
        assert_eq!(self.server.engine().in_flight(), 0);
        assert!(self.batches.all_answered());
        self.transcript
    }

    fn take(
        &mut self,
        step: Step<'_>,
        messages: &mut Messages<'_, '_>,
        before: usize,
        version: Option<ProtocolVersion>,
    ) -> (usize, bool) {
        let Some(incoming) = step.incoming else {
            assert_eq!(self.transcript.out.len(), before, "an answer to nothing");
            return (step.consumed, false);
        };
        assert!(step.consumed > 0, "it would come again for ever");
        let message = messages.next().expect("a message that was not sent");
        let line = match message {
            Item::Line(line) => line,
            Item::TooLong(start) => {
                let fault = refused(&incoming);
                assert!(matches!(fault, Some(PeerFault::TooLong { limit, .. })
                    if limit == self.limits.max_message));
                self.transcript.incoming.push(format!("{incoming:?}"));
                let due = self.due_to_beginning(start, fault, before);
                self.deliver(None, due, false, before);
                return (step.consumed, true);
            }
        };
        let expected = read(line, &self.limits);
        let batch = version == Some(ProtocolVersion::V2025_03_26)
            && matches!(
                expected,
                Reading::Malformed {
                    fault: Fault::Envelope(EnvelopeFault::Batch),
                    ..
                }
            );
        if batch {
            self.transcript.incoming.push(format!("{incoming:?}"));
            let batch = reference::document(line, self.limits.max_depth);
            let messages = reference::elements(batch.expect("an array"));
            self.batch(incoming, &messages, before);
        } else {
            self.message(incoming, expected, None, before, version);
        }
        (step.consumed, true)
    }

    /// BAT-07: what comes in an array is answered in an array, when all of it has been answered.
    fn batch(&mut self, incoming: Incoming<'_>, messages: &[&RawValue], before: usize) {
        let limit = self.limits.max_batch;
        let fault = if messages.is_empty() {
            Some(EnvelopeFault::EmptyBatch)
        } else if messages.len() > limit {
            Some(refused_as_long(&incoming, limit))
        } else {
            None
        };
        let fault = fault.map(PeerFault::from);
        assert_eq!(refused(&incoming), fault);
        if fault.is_some() {
            return self.deliver(None, Some(Due::refusal(None, fault)), false, before);
        }
        let Incoming::Batch(mut batch) = incoming else {
            panic!("{incoming:?} where a batch was due");
        };
        let place = self.batches.begin();
        let mut messages = messages.iter();
        let mut before = before;
        while let Some(incoming) = self
            .server
            .engine_mut()
            .next_in_batch(&mut batch, &mut Lines::new(&mut self.transcript.out))
        {
            let message = messages.next().expect("a message that is not in the batch");
            let expected = read(message.get().as_bytes(), &self.limits);
            let version = Some(ProtocolVersion::V2025_03_26);
            self.message(incoming, expected, place, before, version);
            before = self.transcript.out.len();
        }
        assert!(messages.next().is_none(), "a message of a batch was lost");
        self.deliver(place, None, true, before);
        let before = self.transcript.out.len();
        let more = self
            .server
            .engine_mut()
            .next_in_batch(&mut batch, &mut Lines::new(&mut self.transcript.out));
        assert!(more.is_none(), "{more:?} after the last message of a batch");
        assert_eq!(self.transcript.out.len(), before);
    }

    /// Takes what the server made of a message, and compares.
    fn message(
        &mut self,
        incoming: Incoming<'_>,
        expected: Reading,
        place: Place,
        before: usize,
        version: Option<ProtocolVersion>,
    ) {
        self.transcript.incoming.push(format!("{incoming:?}"));
        let due = self.check(&incoming, &expected, version);
        match (incoming, expected) {
            (Incoming::Call(call), Reading::Request { id, params, .. }) => {
                self.deliver(place, None, false, before);
                self.call(call, id, &params.expect("a tool is called by name"), place);
            }
            (Incoming::Cancelled(key), Reading::Notification { params, .. }) => {
                let params = params.expect("a request is cancelled by id");
                self.cancelled(key, &params, before);
            }
            _ => self.deliver(place, due, false, before),
        }
        assert_eq!(self.server.engine().in_flight(), self.open.len());
        let keys: Vec<CallKey> = self.open.iter().map(|open| open.token.key()).collect();
        for key in keys {
            assert_eq!(self.touch(key), Ok(()));
        }
        for at in 0..self.over.len() {
            assert_eq!(self.touch(self.over[at]), Err(SendError::Stale));
        }
    }

    /// Compares what the server made of a message with what it had to, and says what is to be answered at once.
    fn check(
        &self,
        incoming: &Incoming<'_>,
        expected: &Reading,
        version: Option<ProtocolVersion>,
    ) -> Option<Due> {
        let fault = refused(incoming);
        if let Some(PeerFault::Busy { limit, .. }) = fault {
            assert_eq!(self.open.len(), limit);
        }
        match expected {
            Reading::Malformed {
                fault: expected,
                id,
                answer_due,
            } => {
                match (fault, expected) {
                    (Some(PeerFault::Json(_)), Fault::Json) => {}
                    (Some(PeerFault::Envelope(fault)), Fault::Envelope(expected)) => {
                        assert_eq!(fault, *expected);
                    }
                    _ => panic!("{incoming:?} where {expected:?} was due"),
                }
                answer_due.then(|| Due::refusal(id.clone(), fault))
            }
            Reading::Result { .. } | Reading::Error { .. } => {
                assert_eq!(fault, Some(PeerFault::UnexpectedResponse));
                None
            }
            Reading::Notification { method, .. } => {
                let cancels = method == "notifications/cancelled";
                let cancelled = matches!(incoming, Incoming::Cancelled(_));
                assert!(matches!(incoming, Incoming::Handled) || cancels && cancelled);
                None
            }
            Reading::Request { id, method, params } => {
                let taken = self.holder(id).is_some();
                assert_eq!(fault == Some(PeerFault::IdInUse), taken);
                // PING-01: nothing but an id in use stands in its way.
                if method == "ping" && params.is_none() && !taken {
                    assert!(matches!(incoming, Incoming::Handled));
                }
                if fault.is_some() {
                    return Some(Due::refusal(Some(id.clone()), fault));
                }
                if matches!(incoming, Incoming::Call(_)) {
                    assert_eq!(method, "tools/call");
                    assert!(self.open.len() < self.limits.max_in_flight);
                    return None;
                }
                assert!(matches!(incoming, Incoming::Handled), "{incoming:?}");
                assert_ne!(method, "tools/call");
                assert!(method != "initialize" || version.is_none(), "once more");
                Some(Due::Result {
                    id: id.clone(),
                    text: (method == "ping").then_some("{}"),
                })
            }
        }
    }

    /// What may be answered to a message that begins so: with an id that stands there, or with none; nothing, if it may be
    /// an answer.
    fn due_to_beginning(
        &self,
        start: &[u8],
        fault: Option<PeerFault>,
        before: usize,
    ) -> Option<Due> {
        let start = String::from_utf8_lossy(start);
        let written = self.written_since(before);
        let Some(Line::One(Answer::Error { id, .. })) = written.first() else {
            assert!(start.starts_with('{'), "nobody is told: {start}");
            return None;
        };
        if let Some(id) = id {
            let mut after = start.split(id);
            let before = after.next().unwrap_or_default();
            assert!(before.starts_with('{') && after.next().is_some(), "{start}");
        }
        Some(Due::refusal(id.clone(), fault))
    }

    /// Compares what was written since `before`, see [`Batches::deliver`].
    fn deliver(&mut self, place: Place, due: Option<Due>, awaited_less: bool, before: usize) {
        let written = self.written_since(before);
        self.batches.deliver(place, due, awaited_less, &written);
    }

    /// The lines but for acknowledgements: nothing is offered that could be subscribed to, so each is followed by the
    /// result of the same request (LI-04).
    fn written_since(&self, before: usize) -> Vec<Line> {
        let written = &self.transcript.out[before..];
        let mut due: Option<String> = None;
        let mut lines = Vec::new();
        for line in written.split_inclusive(|&byte| byte == b'\n') {
            let line = Line::read(line.strip_suffix(b"\n").expect("a line ends"));
            if let Some(due) = due.take() {
                assert!(matches!(&line, Line::One(Answer::Result { id, .. }) if *id == due));
            }
            match line {
                Line::One(Answer::Acknowledged { id }) => due = Some(id),
                line @ (Line::One(_) | Line::Batch(_)) => lines.push(line),
            }
        }
        assert_eq!(due, None, "an acknowledgement of nothing");
        lines
    }
}

fn refused(incoming: &Incoming<'_>) -> Option<PeerFault> {
    if let Incoming::Rejected(fault) = incoming {
        Some(*fault)
    } else {
        None
    }
}

/// The fault, if it is that a batch has more messages than `limit`.
fn refused_as_long(incoming: &Incoming<'_>, limit: usize) -> EnvelopeFault {
    match refused(incoming) {
        Some(PeerFault::Envelope(fault @ EnvelopeFault::LongBatch { limit: said, .. })) => {
            assert_eq!(said, limit);
            fault
        }
        other => panic!("{other:?} of a batch that is too long"),
    }
}
