//! Messages in: which is an answer to what, and what becomes of the others.

use super::asked::ServerRequest;
use super::batch::Batch;
use super::detect::{Reply, member};
use super::notification::ServerNotification;
use super::{CallKey, ClientEngine, ConnectError, Entry, Phase, RequestKey, RequestKind};
use crate::engine::pending::Lookup;
use crate::error::{EnvelopeFault, ErrorCode, PeerFault};
use crate::json::{Full, JsonStr, RawJson, Sink};
use crate::model::{Era, Progress};
use crate::rpc::{self, Envelope, Malformed, RequestId, Response, write_error};
use crate::time::Instant;

/// What came of a message.
#[derive(Debug)]
#[must_use = "a request in it has to be answered"]
#[non_exhaustive]
pub enum Incoming<'b> {
    /// The engine has dealt with it; if an answer was due, it is in the output.
    Handled,
    /// The client is connected: [`ClientEngine::server`] says to whom.
    Connected,
    /// There is no connection, and there will be none.
    ConnectFailed(ConnectError),
    /// A call is over.
    #[non_exhaustive]
    Answer {
        /// Which call.
        key: RequestKey,
        /// How it ended.
        outcome: Outcome<'b>,
    },
    /// A call that wanted to know how far it is.
    #[non_exhaustive]
    Progress {
        /// Which call.
        key: RequestKey,
        /// How far; its message is untrusted text.
        progress: Progress<'b>,
    },
    /// The server asks for something, and is to be answered.
    Request(ServerRequest<'b>),
    /// The server no longer wants the answer to this request of its. Its token is stale.
    Cancelled(CallKey),
    /// The server tells something.
    Notification(ServerNotification<'b>),
    /// Several messages in one: take them with [`next_in_batch`](ClientEngine::next_in_batch) until there are none.
    Batch(Batch<'b>),
    /// An answer to a request that was over already. It is counted and dropped.
    Late,
    /// The server could not read a message of ours, and does not know which (RPC-09). All calls go on.
    Complaint(RemoteError<'b>),
    /// The server broke a rule. It is counted, and if an answer was due, that is in the output.
    Rejected(PeerFault),
    /// The output has no room for the answer. Nothing has changed: flush it and offer the same message again.
    Blocked,
}

/// How a call ended.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Outcome<'b> {
    /// With a result. Its members are not checked.
    Complete(RawJson<'b>),
    /// The server needs input first: call again with it, see
    /// [`CallOptions::input_responses`](super::CallOptions::input_responses). An `InputRequiredResult`, not checked.
    InputRequired(RawJson<'b>),
    /// With a result of another `resultType`, which only an extension can have: for clients that declare some, and calls
    /// that may be answered with something else than their result at all. Its members are not checked.
    Extension(RawJson<'b>),
    /// With an error.
    Error(RemoteError<'b>),
    /// With a response that is not one. What the server did is unknown.
    Invalid(PeerFault),
    /// A subscription that the server has ended (SUB-12).
    Ended,
    /// Not at all: see [`ClientEngine::unanswered`]. What the server did is unknown.
    Unanswered,
}

/// An error as the server gave it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct RemoteError<'b> {
    /// What kind of error.
    pub code: ErrorCode,
    /// One sentence about it; untrusted text.
    pub message: JsonStr<'b>,
    /// More, if the server gave more.
    pub data: Option<RawJson<'b>>,
}

impl ClientEngine {
    /// Takes one message: one JSON text, without framing.
    ///
    /// Answers are found by their id alone, whatever their order. One that is not a valid response and whose id can be
    /// read fails its call at once. An id that comes back as a string, `"7"` for `7`, is taken for the number, which is
    /// counted: servers do that, and no id of ours is a string.
    pub fn receive<'b, S: Sink + ?Sized>(
        &mut self,
        now: Instant,
        message: &'b [u8],
        out: &mut S,
    ) -> Incoming<'b> {
        if message.len() > self.limits.max_message {
            return self.too_long(now, message, out);
        }
        self.single(now, message, None, out)
    }

    /// Counts a message that the framing has discarded because it was above [`Limits::max_message`](crate::Limits).
    /// `start` is its beginning: if it is an answer and its id stands there, before what makes it long, its call fails.
    /// Otherwise whose answer it was cannot be known, and that call runs out of time.
    pub fn too_long<'b, S: Sink + ?Sized>(
        &mut self,
        now: Instant,
        start: &'b [u8],
        out: &mut S,
    ) -> Incoming<'b> {
        let fault = PeerFault::TooLong {
            limit: self.limits.max_message,
        };
        let beginning = Malformed::beginning(start, fault, &self.limits);
        if matches!(self.phase, Phase::Over) {
            return Incoming::Handled;
        }
        if beginning.answer_due {
            return self.reject(fault);
        }
        let incoming = self.invalid(now, beginning.id, fault, out);
        incoming.unwrap_or(Incoming::Blocked)
    }

    /// Takes a message, alone or of a batch, which may be one that is refused.
    pub(super) fn single<'b, S: Sink + ?Sized>(
        &mut self,
        now: Instant,
        message: &'b [u8],
        refused_batch: Option<bool>,
        out: &mut S,
    ) -> Incoming<'b> {
        if matches!(self.phase, Phase::Over) {
            return Incoming::Handled;
        }
        let envelope = Envelope::parse(message, &self.limits);
        let incoming = match envelope {
            Ok(Envelope::Response(response)) if refused_batch == Some(true) => {
                self.invalid(now, response.id, EnvelopeFault::Batch.into(), out)
            }
            Ok(_) if refused_batch == Some(true) => Ok(self.reject(EnvelopeFault::Batch.into())),
            Ok(Envelope::Response(response)) => self.response(now, &response, out),
            Ok(Envelope::Request(request)) => self.request(&request, out),
            Ok(Envelope::Notification(notification)) => Ok(self.notification(now, &notification)),
            Err(malformed)
                if malformed.fault == EnvelopeFault::Batch.into() && refused_batch.is_none() =>
            {
                Ok(self.open_batch(message))
            }
            Err(malformed) => self.malformed(now, &malformed, out),
        };
        incoming.unwrap_or(Incoming::Blocked)
    }

    fn response<'b, S: Sink + ?Sized>(
        &mut self,
        now: Instant,
        response: &Response<'b>,
        out: &mut S,
    ) -> Result<Incoming<'b>, Full> {
        let outcome = match response.outcome {
            rpc::Outcome::Result(result) => Ok(result),
            rpc::Outcome::Error {
                code,
                message,
                data,
            } => Err(RemoteError {
                code,
                message,
                data,
            }),
        };
        let reply = match outcome {
            Ok(result) => Reply::Result(result),
            Err(error) => Reply::Error {
                code: error.code,
                message: error.message,
                data: error.data,
            },
        };
        if let Some(number) = self.answering
            && outcome.is_err()
            && let Lookup::Pending(key) = self.pending.find_number(number)
            && let Some(&entry) = self.pending.get(key)
        {
            return self.answered(now, key, entry, reply, outcome, out);
        }
        let Some(id) = response.id else {
            // While nothing but the probe waits, it is what was not understood.
            if matches!(&self.phase, Phase::Connecting(connecting) if connecting.is_probing()) {
                return self.connect_answered(now, reply, out);
            }
            let Err(error) = outcome else {
                return Ok(self.reject(EnvelopeFault::Id.into()));
            };
            return Ok(Incoming::Complaint(error));
        };
        let (key, entry) = match self.find(id) {
            Ok(found) => found,
            Err(incoming) => return Ok(incoming),
        };
        self.answered(now, key, entry, reply, outcome, out)
    }

    fn answered<'b, S: Sink + ?Sized>(
        &mut self,
        now: Instant,
        key: RequestKey,
        entry: Entry,
        reply: Reply<'b>,
        outcome: Result<RawJson<'b>, RemoteError<'b>>,
        out: &mut S,
    ) -> Result<Incoming<'b>, Full> {
        if entry.kind == RequestKind::Connecting {
            return self.connect_answered(now, reply, out);
        }
        self.pending.remove(key);
        let outcome = match outcome {
            Ok(result) => self.judge(entry.kind, result),
            Err(error) => Outcome::Error(error),
        };
        if matches!(outcome, Outcome::Invalid(_)) {
            self.counters.rejected += 1;
        }
        Ok(Incoming::Answer { key, outcome })
    }

    /// What kind of result it is. Before 2026-07-28 there was one kind.
    fn judge<'b>(&self, kind: RequestKind, result: RawJson<'b>) -> Outcome<'b> {
        let modern = self
            .server()
            .is_some_and(|server| server.era() == Era::Modern);
        let Some(result_type) = member(result, "resultType").filter(|_| modern) else {
            // RES-02.
            return Outcome::Complete(result);
        };
        if result_type.is_text("complete") {
            Outcome::Complete(result)
        } else if result_type.is_text("input_required") && kind == RequestKind::MayAsk {
            Outcome::InputRequired(result)
        } else if kind == RequestKind::MayAsk
            && self.config.extensions.is_some()
            && result_type.as_string().is_some()
        {
            Outcome::Extension(result)
        } else {
            // RES-03.
            Outcome::Invalid(PeerFault::ResultType)
        }
    }

    /// A message that cannot be taken. If it is an answer for all that can be read of it, the call it names fails (ID-08);
    /// if it is a request, it is answered. What does not even call itself JSON-RPC is noise (FR-04).
    fn malformed<'b, S: Sink + ?Sized>(
        &mut self,
        now: Instant,
        malformed: &Malformed<'b>,
        out: &mut S,
    ) -> Result<Incoming<'b>, Full> {
        let Malformed {
            fault,
            id,
            answer_due,
            ..
        } = *malformed;
        if malformed.is_answer() {
            return self.invalid(now, id, fault, out);
        }
        let PeerFault::Envelope(envelope) = fault else {
            return Ok(self.reject(fault));
        };
        let noise = matches!(
            envelope,
            EnvelopeFault::Version | EnvelopeFault::NotAnObject | EnvelopeFault::Batch
        );
        let Some(id) = id.filter(|_| answer_due && !noise) else {
            return Ok(self.reject(fault));
        };
        let modern = self
            .server()
            .is_some_and(|server| server.era() == Era::Modern);
        if !modern {
            write_error(out, Some(id.raw()), fault.code(), &fault, |_| {})?;
        }
        Ok(self.reject(fault))
    }

    /// An answer that is not to be taken: what waits for it fails.
    fn invalid<'b, S: Sink + ?Sized>(
        &mut self,
        now: Instant,
        id: Option<RequestId<'b>>,
        fault: PeerFault,
        out: &mut S,
    ) -> Result<Incoming<'b>, Full> {
        let Some(id) = id else {
            return Ok(self.reject(fault));
        };
        let (key, entry) = match self.find(id) {
            Ok(found) => found,
            Err(incoming) => return Ok(incoming),
        };
        if entry.kind == RequestKind::Connecting {
            let incoming = self.connect_answered(now, Reply::Malformed, out)?;
            self.counters.rejected += 1;
            return Ok(incoming);
        }
        self.pending.remove(key);
        self.counters.rejected += 1;
        Ok(Incoming::Answer {
            key,
            outcome: Outcome::Invalid(fault),
        })
    }

    /// The request that an answer is to, or what the answer is if there is none.
    fn find<'b>(&mut self, id: RequestId<'_>) -> Result<(RequestKey, Entry), Incoming<'b>> {
        let mut found = self.pending.find(id);
        if let Some(number) = id.as_string().and_then(canonical) {
            found = self.pending.find_number(number);
            if found != Lookup::Unknown {
                self.counters.mistyped += 1;
            }
        }
        match found {
            Lookup::Pending(key) => match self.pending.get(key) {
                Some(entry) => Ok((key, *entry)),
                None => Err(Incoming::Late),
            },
            Lookup::Over => {
                self.counters.late += 1;
                Err(Incoming::Late)
            }
            Lookup::Unknown => {
                self.counters.unknown += 1;
                Err(Incoming::Rejected(PeerFault::UnexpectedResponse))
            }
        }
    }

    pub(super) const fn reject<'b>(&mut self, fault: PeerFault) -> Incoming<'b> {
        self.counters.rejected += 1;
        Incoming::Rejected(fault)
    }
}

/// The number of an id that is one of ours: it, or the text that is written so and not otherwise (ID-02).
pub(crate) fn number(id: RequestId<'_>) -> Option<u64> {
    let integer = id.as_integer().and_then(|id| u64::try_from(id).ok());
    integer.or_else(|| id.as_string().and_then(canonical))
}

fn canonical(text: JsonStr<'_>) -> Option<u64> {
    let text = text.as_plain()?;
    let plain = text == "0" || text.starts_with(|first: char| matches!(first, '1'..='9'));
    if plain { text.parse().ok() } else { None }
}
