//! The server, the harness that answers its calls, and the model that knows what has to come out.

use std::collections::BTreeMap;
use std::slice;
use std::sync::Arc;

use mcp_core::binding::{StdioServer, Step};
use mcp_core::engine::{Batch, CallKey, Catalog, Incoming, ReplyToken, ServerEngine, ToolCall};
use mcp_core::json::RawJson;
use mcp_core::model::{CallToolResult, ContentBlock, Progress, ProtocolVersion};
use mcp_core::rpc::ErrorObject;
use mcp_core::{EnvelopeFault, ErrorCode, Limits, PeerFault, SendError};
use serde_json::value::RawValue;

use super::TOOLS;
use super::answer::{Answer, member};
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
    transcript: Transcript,
}

/// An accepted call.
struct Open {
    token: ReplyToken,
    /// As it is written.
    id: String,
}

/// An id by its value: `1` and `1.0` are one, `1` and `"1"` are two.
#[derive(Debug, Eq, PartialEq)]
enum Id {
    Integer(i128),
    Text(String),
}

impl Id {
    fn new(text: &str) -> Option<Self> {
        let value: &RawValue = serde_json::from_str(text).expect("a value");
        match text.as_bytes()[0] {
            b'"' => Some(Self::Text(reference::text(value))),
            b'-' | b'0'..=b'9' => reference::integer(value).map(Self::Integer),
            _ => None,
        }
    }
}

impl Session {
    pub(super) fn new(catalog: Arc<Catalog>, limits: Limits) -> Self {
        Self {
            server: StdioServer::new(ServerEngine::new(catalog, limits, 0)),
            limits,
            open: Vec::new(),
            cancelled: Vec::new(),
            over: Vec::new(),
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
        let session = self.server.engine().session_version().is_some();
        let before = self.transcript.out.len();
        let step = self.server.receive(input, &mut self.transcript.out);
        self.take(step, messages, before, session)
    }

    /// The same at the end of the stream.
    pub(super) fn finish(
        &mut self,
        input: &[u8],
        messages: &mut Messages<'_, '_>,
    ) -> (usize, bool) {
        let session = self.server.engine().session_version().is_some();
        let before = self.transcript.out.len();
        let step = self.server.finish(input, &mut self.transcript.out);
        self.take(step, messages, before, session)
    }

    /// Answers what is left.
    pub(super) fn end(mut self) -> Transcript {
        self.flush();
        assert_eq!(self.server.engine().in_flight(), 0);
        self.transcript
    }

    fn take(
        &mut self,
        step: Step<'_>,
        messages: &mut Messages<'_, '_>,
        before: usize,
        session: bool,
    ) -> (usize, bool) {
        let Some(incoming) = step.incoming else {
            assert_eq!(self.transcript.out.len(), before, "an answer to nothing");
            return (step.consumed, false);
        };
        assert!(step.consumed > 0, "it would come again for ever");
        let message = messages.next().expect("a message that was not sent");
        self.transcript.incoming.push(format!("{incoming:?}"));
        let expected = match message {
            Item::Line(line) => Some(read(line, &self.limits)),
            Item::TooLong => None,
        };
        if let Incoming::Batch(batch) = incoming {
            let batch_is_due = matches!(
                expected,
                Some(Reading::Malformed {
                    fault: Fault::Envelope(EnvelopeFault::Batch),
                    ..
                })
            );
            assert!(batch_is_due, "a batch where {expected:?} was due");
            self.batch(batch, before);
            assert_eq!(self.server.engine().in_flight(), self.open.len());
            return (step.consumed, true);
        }
        let answers = self.written_since(before);
        self.check(&incoming, expected.as_ref(), &answers, session);
        match (incoming, expected) {
            (Incoming::Call(call), Some(Reading::Request { id, params, .. })) => {
                self.call(call, id, &params.expect("a tool is called by name"));
            }
            (Incoming::Cancelled(key), Some(Reading::Notification { params, .. })) => {
                self.cancelled(key, &params.expect("a request is cancelled by id"));
            }
            _ => {}
        }
        let engine = self.server.engine();
        assert_eq!(engine.in_flight(), self.open.len());
        let mut open = self.open.iter();
        assert!(open.all(|open| engine.is_in_flight(open.token.key())));
        assert!(!self.over.iter().any(|&key| engine.is_in_flight(key)));
        (step.consumed, true)
    }

    /// Takes a batch, answers its calls at once, and looks at what was written: one array of answers, or nothing.
    fn batch(&mut self, mut batch: Batch<'_>, before: usize) {
        let session = self.server.engine().session_version();
        assert_eq!(session, Some(ProtocolVersion::V2025_03_26));
        let mut calls = Vec::new();
        while let Some(incoming) = self
            .server
            .next_in_batch(&mut batch, &mut self.transcript.out)
        {
            self.transcript.incoming.push(format!("{incoming:?}"));
            match incoming {
                Incoming::Call(call) => calls.push(call.token),
                Incoming::Cancelled(key) => {
                    let known = calls.len() + self.open.len();
                    calls.retain(|token: &ReplyToken| token.key() != key);
                    self.open.retain(|open| open.token.key() != key);
                    assert_eq!(calls.len() + self.open.len() + 1, known, "an unknown call");
                }
                Incoming::Handled | Incoming::Rejected(_) => {}
                Incoming::Batch(_) | Incoming::Blocked | _ => panic!("{incoming:?} in a batch"),
            }
        }
        let error = ErrorObject::new(ErrorCode::INTERNAL_ERROR, "batched");
        for token in calls {
            let sent = self.server.fail(token, &error, &mut self.transcript.out);
            sent.expect("the call is in flight");
        }
        let written = &self.transcript.out[before..];
        if written.is_empty() {
            return;
        }
        let answers: Vec<BTreeMap<&str, &RawValue>> =
            serde_json::from_slice(written).expect("one array");
        assert!(!answers.is_empty());
        for answer in answers {
            assert!(answer.contains_key("jsonrpc"));
            assert!(answer.contains_key("result") != answer.contains_key("error"));
        }
    }

    /// Compares what the server did and wrote at once with what it had to; `None` is a message that was too long.
    fn check(
        &self,
        incoming: &Incoming<'_>,
        expected: Option<&Reading>,
        answers: &[Answer],
        session: bool,
    ) {
        let fault = if let Incoming::Rejected(fault) = incoming {
            Some(*fault)
        } else {
            None
        };
        match expected {
            None => {
                let limit = self.limits.max_message;
                let too_long =
                    matches!(fault, Some(PeerFault::TooLong { limit: said, .. }) if said == limit);
                assert!(too_long, "{fault:?}");
                assert_refused(answers, None, fault);
            }
            Some(Reading::Malformed {
                fault: expected,
                id,
                answer_due,
            }) => {
                match (fault, expected) {
                    (Some(PeerFault::Json(_)), Fault::Json) => {}
                    (Some(PeerFault::Envelope(fault)), Fault::Envelope(expected)) => {
                        // In a session with batches an array is refused for its size alone.
                        let size = matches!(
                            fault,
                            EnvelopeFault::EmptyBatch | EnvelopeFault::LongBatch { .. }
                        );
                        let batches = Some(ProtocolVersion::V2025_03_26);
                        let version = self.server.engine().session_version();
                        assert!(
                            fault == *expected
                                && (*expected != EnvelopeFault::Batch || version != batches)
                                || size && *expected == EnvelopeFault::Batch && version == batches,
                            "{fault:?} where {expected:?} was due"
                        );
                    }
                    _ => panic!("{incoming:?} where {expected:?} was due"),
                }
                if *answer_due {
                    assert_refused(answers, id.as_ref(), fault);
                } else {
                    assert_eq!(answers, []);
                }
            }
            Some(Reading::Result { .. } | Reading::Error { .. }) => {
                assert_eq!(fault, Some(PeerFault::UnexpectedResponse));
                assert_eq!(answers, []);
            }
            Some(Reading::Notification { method, .. }) => {
                let cancels = method == "notifications/cancelled";
                let cancelled = matches!(incoming, Incoming::Cancelled(_));
                assert!(matches!(incoming, Incoming::Handled) || cancels && cancelled);
                assert_eq!(answers, []);
            }
            Some(Reading::Request { id, method, params }) => {
                let taken = self.holder(id).is_some();
                assert_eq!(fault == Some(PeerFault::IdInUse), taken);
                if fault.is_some() {
                    assert_refused(answers, Some(id), fault);
                } else if matches!(incoming, Incoming::Call(_)) {
                    assert_eq!(method, "tools/call");
                    assert!(self.open.len() < self.limits.max_in_flight);
                    assert_eq!(answers, []);
                } else {
                    assert!(matches!(incoming, Incoming::Handled), "{incoming:?}");
                    let [Answer::Result { id: sent, result }] = answers else {
                        panic!("one result was due, not {answers:?}");
                    };
                    assert_eq!(sent, id);
                    assert_ne!(method, "tools/call");
                    assert!(method != "ping" || result == "{}");
                    assert!(method != "initialize" || !session, "a second handshake");
                }
                // PING-01: nothing but an id in use stands in its way.
                if method == "ping" && params.is_none() && !taken {
                    assert!(matches!(incoming, Incoming::Handled));
                }
            }
        }
        if let Some(PeerFault::Busy { limit, .. }) = fault {
            assert_eq!(self.open.len(), limit);
        }
    }

    /// A call was accepted: it is the tool and the arguments that were sent, and is answered as the tool says.
    fn call(&mut self, call: ToolCall<'_>, id: String, params: &str) {
        let name = member(params, "name").expect("a tool is called by name");
        let name: &RawValue = serde_json::from_str(&name).expect("a value");
        assert_eq!(reference::text(name), TOOLS[call.tool]);
        let arguments = member(params, "arguments");
        assert_eq!(call.arguments.map(RawJson::as_str), arguments.as_deref());
        let token = member(params, "_meta").and_then(|meta| member(&meta, "progressToken"));
        assert_eq!(call.wants_progress, token.is_some());
        let open = Open {
            token: call.token,
            id,
        };
        match TOOLS[call.tool] {
            "later" => self.open.push(open),
            "fail" => self.fail(open, call.arguments),
            "flush" => {
                self.open.push(open);
                self.flush();
            }
            "progress" => {
                let key = open.token.key();
                for (progress, more) in [(1.0, true), (1.0, false), (f64::NAN, false), (1.5, true)]
                {
                    let before = self.transcript.out.len();
                    let progress = Progress::new(progress).of(2.0).saying("\n");
                    let sent = self
                        .server
                        .progress(key, &progress, &mut self.transcript.out);
                    assert_eq!(sent, Ok(()));
                    let due = token.iter().filter(|_| more);
                    let due: Vec<_> = due
                        .map(|it| Answer::Progress { token: it.clone() })
                        .collect();
                    assert_eq!(self.written_since(before), due);
                }
                self.reply(open, call.arguments);
                let before = self.transcript.out.len();
                let late = Progress::new(2.0);
                let sent = self.server.progress(key, &late, &mut self.transcript.out);
                assert_eq!(sent, Err(SendError::Stale));
                assert_eq!(self.transcript.out.len(), before);
            }
            _ => self.reply(open, call.arguments),
        }
    }

    /// A call was cancelled: it is the one of that id.
    fn cancelled(&mut self, key: CallKey, params: &str) {
        let id = member(params, "requestId").expect("a request is cancelled by id");
        let at = self.holder(&id).expect("nothing of that id is open");
        let open = self.open.remove(at);
        assert_eq!(open.token.key(), key);
        self.over.push(key);
        self.cancelled.push(open.token);
    }

    /// Answers what is open. What was cancelled is answered too, and comes too late.
    fn flush(&mut self) {
        for token in self.cancelled.drain(..) {
            let before = self.transcript.out.len();
            let result = CallToolResult::new(&[]);
            let sent = self.server.reply(token, &result, &mut self.transcript.out);
            assert_eq!(sent, Err(SendError::Stale));
            assert_eq!(self.transcript.out.len(), before);
        }
        while let Some(open) = self.open.pop() {
            self.reply(open, None);
        }
    }

    fn reply(&mut self, open: Open, structured: Option<RawJson<'_>>) {
        let content = [ContentBlock::text("\"\u{2028}\n")];
        let mut result = CallToolResult::new(&content);
        result.structured_content = structured;
        self.over.push(open.token.key());
        let before = self.transcript.out.len();
        let sent = self
            .server
            .reply(open.token, &result, &mut self.transcript.out);
        assert_eq!(sent, Ok(()));
        match self.written_since(before).as_slice() {
            [Answer::Result { id, .. }] => assert_eq!(*id, open.id),
            other => panic!("one result was due, not {other:?}"),
        }
    }

    fn fail(&mut self, open: Open, data: Option<RawJson<'_>>) {
        let mut error = ErrorObject::new(ErrorCode::new(-1), "as asked\n");
        error.data = data;
        self.over.push(open.token.key());
        let before = self.transcript.out.len();
        let sent = self
            .server
            .fail(open.token, &error, &mut self.transcript.out);
        assert_eq!(sent, Ok(()));
        let due = Answer::Error {
            id: Some(open.id),
            code: -1,
        };
        assert_eq!(self.written_since(before), [due]);
    }

    /// Which open call has this id.
    fn holder(&self, id: &str) -> Option<usize> {
        let id = Id::new(id)?;
        self.open
            .iter()
            .position(|open| Id::new(&open.id).as_ref() == Some(&id))
    }

    fn written_since(&self, before: usize) -> Vec<Answer> {
        let written = &self.transcript.out[before..];
        let lines = written.split_inclusive(|&byte| byte == b'\n');
        lines
            .map(|line| Answer::read(line.strip_suffix(b"\n").expect("a line ends")))
            .collect()
    }
}

/// One error with this id and the code of the fault, and nothing else.
fn assert_refused(answers: &[Answer], id: Option<&String>, fault: Option<PeerFault>) {
    let due = Answer::Error {
        id: id.cloned(),
        code: fault.expect("a fault").code().value(),
    };
    assert_eq!(answers, [due]);
}
