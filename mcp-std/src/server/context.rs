//! What a handler can do while it runs.

use core::fmt;
use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use std::sync::{Arc, OnceLock};

use async_channel::Sender;
use mcp_core::engine::server::CallKey;
use mcp_core::json::{Json, RawJson};
use mcp_core::model::{
    ClientCapabilities, Decode, DecodeError, Era, InputRequest, LoggingLevel, Progress,
    ProtocolVersion, key,
};
use serde::Serialize;

use super::allowance::{Allowance, Share};
use super::changes::Board;
use super::error::ProtocolError;
use super::principal::Principal;
use super::round::Round;
#[cfg(feature = "tasks")]
use super::tasks::{Begun, Live, Slot};

/// A future that runs anywhere.
#[cfg(feature = "tasks")]
type BoxFuture<T> = core::pin::Pin<Box<dyn Future<Output = T> + Send>>;

/// The request a handler serves, and the client it came from. Dropping the handler's future is how a request is
/// cancelled: it ends at its next `await`.
///
/// # Asking the client
///
/// [`elicit`](Self::elicit), [`sample`](Self::sample) and [`roots`](Self::roots) ask the client while the request runs;
/// one handler serves both eras, but they do it in different ways:
///
/// - A legacy client gets a request, and the handler waits at its `await` until that is answered.
/// - A client of 2026-07-28 takes no requests. The handler is *dropped* where it waits, the client is told what is needed
///   and repeats its request with the answers, and the handler is run *from its beginning* with the answers at hand. All
///   that is asked before the handler waits is asked at once; what was answered in earlier rounds travels with the client,
///   sealed.
///
/// So, in a handler that asks:
///
/// - What comes before an `await` of an answer runs again in each round. Do it in a way that is harmless to repeat, or
///   do it after the last answer.
/// - Ask the same in each run: in the same order, with the same words. Answers are found by the order of asking. A handler
///   that asks something else in the place of a question that was answered is an error of the server (`-32603`).
/// - Answers in a state are signed, not encrypted: its client can read them, as it gave them.
///
/// An answer may never come. [`ask_timeout`](super::ServerBuilder::ask_timeout) bounds how long a handler waits for a
/// legacy client, [`state_lifetime`](super::ServerBuilder::state_lifetime) how long a modern one may take.
#[derive(Clone, Debug)]
pub struct Context {
    pub(crate) key: CallKey,
    pub(crate) version: ProtocolVersion,
    pub(crate) capabilities: ClientCapabilities,
    pub(crate) wants_progress: bool,
    /// Whether messages of the log may be sent.
    pub(crate) logs: bool,
    pub(crate) ask_timeout: Option<Duration>,
    pub(crate) principal: Option<Principal>,
    pub(crate) link: Arc<Link>,
    /// `None` if there is nothing that it could say.
    pub(crate) round: Option<Round>,
    /// `None` if it cannot become a task.
    #[cfg(feature = "tasks")]
    pub(crate) task: Option<Arc<Slot>>,
}

/// While so many bytes of log messages and progress of the handlers of one connection wait for the client to read, handlers
/// with more of them wait.
const NOTE_BYTES: usize = 64 * 1024;

/// The way from the handlers of a connection to it.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) notes: Sender<Note>,
    /// Of the notes that wait: they are bounded by number as well.
    room: Arc<Allowance>,
    /// Where changes are told, to all connections.
    board: Arc<Board>,
    /// Somebody no longer waits for an answer.
    pub(crate) deserted: AtomicBool,
    /// What the client of a session declared of the extensions that the server has.
    pub(crate) extensions: OnceLock<Json<'static>>,
    /// Names the connection.
    #[cfg(feature = "tasks")]
    pub(crate) session: u64,
}

impl Link {
    pub(crate) fn new(notes: Sender<Note>, board: Arc<Board>) -> Self {
        Self {
            notes,
            room: Allowance::new(NOTE_BYTES),
            board,
            deserted: AtomicBool::new(false),
            extensions: OnceLock::new(),
            #[cfg(feature = "tasks")]
            session: crate::entropy::seed(),
        }
    }

    pub(crate) fn desert(&self) {
        self.deserted.store(true, Ordering::Release);
        // If it is full, the connection is about to look anyway.
        let _ = self.notes.try_send(Note::Wake);
    }
}

/// A request to a legacy client.
#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) key: CallKey,
    pub(crate) request: InputRequest<'static>,
    /// Closed when nobody waits for it any more.
    pub(crate) answer: Sender<Answered>,
}

/// What comes of a question.
pub(crate) type Answered = Result<Json<'static>, AskError>;

/// Something to be sent about a call that is still running.
#[derive(Debug)]
pub(crate) enum Note {
    Progress {
        key: CallKey,
        progress: Progress<'static>,
        share: Share,
    },
    Log {
        key: CallKey,
        level: LoggingLevel,
        logger: Option<String>,
        data: Json<'static>,
        share: Share,
    },
    Ask(Box<Question>),
    ElicitationComplete(CallKey, String),
    /// Lets the client go until it asks again.
    #[cfg(feature = "http")]
    HangUp(CallKey, Duration),
    /// A handler goes on by itself, as a task.
    #[cfg(feature = "tasks")]
    Detach(CallKey, Box<Begun>),
    /// There is something to look at.
    Wake,
}

impl Context {
    /// The protocol version the request is served under.
    #[must_use]
    pub const fn version(&self) -> ProtocolVersion {
        self.version
    }

    /// What the client declared that it can do.
    #[must_use]
    pub const fn capabilities(&self) -> ClientCapabilities {
        self.capabilities
    }

    /// Who asks, if something has found that out: over HTTP, a [resource server](crate::http) or the layer in front of it.
    /// The access token itself is not to be had.
    #[must_use]
    pub const fn principal(&self) -> Option<&Principal> {
        self.principal.as_ref()
    }

    /// Whether the client asked to be told about progress.
    #[must_use]
    pub const fn wants_progress(&self) -> bool {
        self.wants_progress
    }

    /// Tells the client how far the call has come. It waits while the client is slow to read; without a client that
    /// asked for it, it does nothing. Progress that is not more than last time is left out.
    // PRG-03.
    pub async fn progress(&self, progress: Progress<'_>) {
        #[cfg(feature = "tasks")]
        if let Some((slot, live)) = self.running_task() {
            if let Some(message) = &progress.message {
                slot.say(live, message);
            }
            return;
        }
        if !self.wants_progress {
            return;
        }
        let progress = progress.into_owned();
        let key = self.key;
        let message = progress.message.as_ref();
        let share = self.link.room.take(message.map_or(0, |it| it.len())).await;
        self.note(Note::Progress {
            key,
            progress,
            share,
        })
        .await;
    }

    /// Sends the client a message for its log: `data` is text or anything else that serde can write as JSON, `logger` the
    /// part of the server it comes from.
    ///
    /// Nothing is sent where nobody asked: without [`ServerBuilder::logging`](super::ServerBuilder::logging), below the
    /// level that a legacy client has set, and in 2026-07-28 if this request did not ask for messages of this level. It
    /// waits while the client is slow to read. Put no secrets into it.
    ///
    /// Deprecated by SEP-2577 as of 2026-07-28, where it stays for a year at least.
    pub async fn log(
        &self,
        level: LoggingLevel,
        logger: Option<&str>,
        data: &(impl Serialize + ?Sized),
    ) {
        // A task talks to nobody, and is not to wait for whoever its connection serves now.
        #[cfg(feature = "tasks")]
        if self.running_task().is_some() {
            return;
        }
        if !self.logs {
            return;
        }
        // What cannot be written as JSON, or nests too deep, cannot be logged.
        let Ok(data) = serde_json::to_string(data) else {
            return;
        };
        let Ok(data) = Json::owned(data) else { return };
        let bytes = data.as_str().len() + logger.map_or(0, str::len);
        let share = self.link.room.take(bytes).await;
        self.note(Note::Log {
            key: self.key,
            level,
            logger: logger.map(str::to_owned),
            data,
            share,
        })
        .await;
    }

    /// What is in the resource of this URI has changed: whoever subscribed to it is told, as by
    /// [`Server::resource_updated`](super::Server::resource_updated).
    pub fn resource_updated(&self, uri: &str) {
        self.link.board.resource_updated(uri);
    }

    /// Lets the client of a legacy HTTP session hang up: its response ends here, and it is to ask for the rest after
    /// `retry`. What is sent from now on is kept until then. For handlers that take long, so that no connection
    /// has to be held; the handler goes on. Where the client's revision does not know this, which only 2025-11-25 does,
    /// and on other transports, it does nothing.
    // LH-12.
    #[cfg(feature = "http")]
    pub async fn hang_up(&self, retry: Duration) {
        self.note(Note::HangUp(self.key, retry)).await;
    }

    /// What the client says of an extension, for this request or this session: its settings, an object. `None`: it does
    /// not declare it.
    // CAP-07.
    #[must_use]
    pub fn extension(&self, id: &str) -> Option<RawJson<'_>> {
        let all = match self.version.era() {
            Era::Legacy => self.link.extensions.get().map(Json::raw),
            Era::Modern | _ => {
                let declared = self.meta()?.member(key::CLIENT_CAPABILITIES);
                declared.and_then(|it| it.member("extensions"))
            }
        };
        all?.member(id).filter(|it| it.as_object().is_some())
    }

    /// `_meta` of the request, an object, as the client sent it.
    #[must_use]
    pub fn meta(&self) -> Option<RawJson<'_>> {
        self.round.as_ref()?.meta()
    }

    /// The trace the request belongs to, for spans of this server to belong to it as well.
    #[must_use]
    pub fn trace_context(&self) -> TraceContext {
        let mut trace = TraceContext::default();
        for (name, value) in self
            .meta()
            .into_iter()
            .flat_map(RawJson::as_object)
            .flatten()
        {
            let text = || value.as_string().map(|text| text.decode().into_owned());
            if name == "traceparent" {
                trace.traceparent = text();
            } else if name == "tracestate" {
                trace.tracestate = text();
            } else if name == "baggage" {
                trace.baggage = text();
            }
        }
        trace
    }

    /// What the client answered to an [`InputRequired`](super::InputRequired) of this handler: an object with an answer
    /// by the name of each question. `None` on the first run, and in the legacy eras.
    #[must_use]
    pub fn input_responses(&self) -> Option<RawJson<'_>> {
        self.round.as_ref()?.responses()
    }

    /// The answer to one question of an [`InputRequired`](super::InputRequired), such as an `ElicitResult`; `None` if it
    /// was not answered.
    ///
    /// # Errors
    ///
    /// The client's answer is not of this type: a [`ProtocolError`] to be returned.
    pub fn input_response<'s, T: Decode<'s>>(
        &'s self,
        name: &str,
    ) -> Result<Option<T>, ProtocolError> {
        let answer = self.input_responses().and_then(|all| all.member(name));
        answer
            .map(T::decode)
            .transpose()
            .map_err(|error| super::round::malformed(name, &error))
    }

    /// The [`state`](super::InputRequired::state) that this handler gave to its [`InputRequired`](super::InputRequired);
    /// its seal has been checked.
    #[must_use]
    pub fn request_state(&self) -> Option<&str> {
        self.round.as_ref()?.own_state()
    }

    /// From here on the call is a task, if it can be one: its tool [may](super::Tool::begins_task), and its client knows
    /// tasks. `false`: it cannot, and goes on as a call. When it already is one, nothing happens.
    ///
    /// # Errors
    ///
    /// The task could not be kept, or there are too many: to be returned, which answers the call.
    #[cfg(feature = "tasks")]
    pub async fn begin_task(&self) -> Result<bool, super::Instead> {
        match &self.task {
            Some(slot) => slot.begin(self).await.map(|()| true),
            None => Ok(false),
        }
    }

    /// The id of the task that the call has become.
    #[cfg(feature = "tasks")]
    #[must_use]
    pub fn task_id(&self) -> Option<&str> {
        self.running_task().map(|(_, live)| live.id())
    }

    #[cfg(feature = "tasks")]
    pub(super) fn running_task(&self) -> Option<(&Slot, &Live)> {
        let slot = self.task.as_deref()?;
        Some((slot, slot.live()?))
    }

    /// What comes before the handler of a call that is a task from its beginning.
    #[cfg(feature = "tasks")]
    pub(super) fn begins_at_once(&self) -> Option<BoxFuture<Result<(), super::Instead>>> {
        let slot = self.task.as_ref().filter(|slot| slot.at_once())?.clone();
        let context = self.clone();
        Some(Box::pin(async move { slot.begin(&context).await }))
    }

    #[cfg(feature = "tasks")]
    pub(super) fn session(&self) -> u64 {
        self.link.session
    }

    /// The round of asking a modern client, shared with the handler's future.
    pub(crate) fn round(&self) -> Option<Round> {
        self.round
            .clone()
            .filter(|_| self.version.era() != Era::Legacy)
    }

    pub(crate) async fn note(&self, note: Note) {
        // A task talks to nobody: its connection has other things to do, or is gone.
        #[cfg(feature = "tasks")]
        if !matches!(note, Note::Detach(..)) && self.running_task().is_some() {
            return;
        }
        // Refused only when the connection is gone, and this handler with it.
        let _ = self.link.notes.send(note).await;
    }
}

/// W3C Trace Context and Baggage of a request (basic, "`_meta`").
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct TraceContext {
    /// Which trace, and which span of it asked.
    pub traceparent: Option<String>,
    /// What the tracing systems on the way add.
    pub tracestate: Option<String>,
    /// What the application adds.
    pub baggage: Option<String>,
}

/// Why a question to the client has no answer.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum AskError {
    /// The client did not declare that it can be asked this. Returned by a handler it becomes the JSON-RPC error for that.
    Unsupported(ClientCapabilities),
    /// It answered with a JSON-RPC error.
    Refused(ProtocolError),
    /// Its answer is not of the type that belongs to the question.
    Malformed(DecodeError),
    /// What its user filled in is not what was asked for.
    Content(String),
    /// It did not answer in time.
    TimedOut,
    /// It is gone, or its request is over.
    Closed,
    /// As many questions as it may be asked at a time are waiting.
    Busy,
    /// The question itself cannot be asked: a mistake of the server's author.
    Invalid(String),
}

impl AskError {
    /// The protocol has no such question.
    pub(super) fn no_question() -> Self {
        Self::Invalid("no client can be asked for this".to_owned())
    }
}

impl fmt::Display for AskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsupported(missing) => {
                write!(
                    f,
                    "The client cannot be asked: it does not support {missing}"
                )
            }
            Self::Refused(error) => write!(f, "The client refused to answer: {}", error.message),
            Self::Malformed(error) => write!(f, "The client's answer is malformed: {error}"),
            Self::Content(problem) => {
                write!(f, "The answer is not what was asked for: {problem}")
            }
            Self::TimedOut => f.write_str("The client did not answer in time"),
            Self::Closed => f.write_str("The client is gone"),
            Self::Busy => f.write_str("Too many questions to the client are waiting"),
            Self::Invalid(problem) => write!(f, "This cannot be asked: {problem}"),
        }
    }
}

impl core::error::Error for AskError {}
