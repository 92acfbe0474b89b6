//! The calls of a connection: accepted, waiting for their turn, running, answered.

use core::pin::Pin;
use core::task::Poll;
use std::borrow::Cow;
use std::time::{Instant, SystemTime};

use mcp_core::ErrorCode;
use mcp_core::engine::server::{Call, CallKey, CallRequest, Declared, InputError, ReplyToken};
use mcp_core::json::Json;
use mcp_core::model::{
    ClientCapabilities, CompleteResult, Completion, EncodeResult, Era, InputRequest,
    InputRequiredResult, List, ReadResourceResult, ResourceContents,
};
use mcp_core::rpc::ErrorObject;

use super::subject::{Kept, Subject, given};
use super::{Connection, Outlets, Wire};
use crate::panic::contain;
use crate::server::context::Context;
use crate::server::error::{Instead, ProtocolError};
use crate::server::extension::ExtensionResult;
use crate::server::handler::{Finished, Given, Outcome, Sharing, Started};
use crate::server::output::ToolResult;
use crate::server::principal::Principal;
use crate::server::round::{Next, Round};
use crate::server::state::{Binding, State};
#[cfg(feature = "tasks")]
use crate::server::tasks::{Begun, Slot, TASKS};
#[cfg(feature = "tasks")]
use mcp_core::model::{Decode as _, ProtocolVersion, TaskMetadata};
#[cfg(feature = "tasks")]
use std::sync::Arc;

/// A call that waits for its turn.
pub(super) struct Waiting<S: Sharing> {
    running: Running<S>,
    context: Context,
    given: Kept,
    /// How many bytes of the client's all of that holds.
    bytes: usize,
}

/// What answering a call takes.
pub(super) struct Running<S: Sharing> {
    token: ReplyToken,
    subject: Subject<S>,
    /// Of asking a modern client, if the handler can.
    round: Option<Round>,
    /// `None` if nobody wants to know how long it takes.
    began: Option<Instant>,
}

impl<S: Sharing, W: Wire> Connection<S, W> {
    pub(super) fn accept<O: Outlets>(&mut self, call: Call<'_>, out: &mut O) {
        let Some(subject) = Subject::new(&self.offer.definitions, &call.request) else {
            let error = ProtocolError::new(ErrorCode::INTERNAL_ERROR, "Unknown kind of request");
            return self.fail(call.token, &error, out);
        };
        #[cfg(feature = "tasks")]
        let task = match self.task(&call, &subject) {
            Ok(task) => task,
            Err(instead) => {
                let running = Running::new(call.token, subject, None);
                return self.instead(running, instead, out);
            }
        };
        if call.version.era() == Era::Legacy
            && call.extensions != Declared::NONE
            && self.link.extensions.get().is_none()
            && let Some(extensions) = self.wire.engine_mut().session_extensions()
        {
            let _ = self
                .link
                .extensions
                .set(Json::from(extensions).into_owned());
        }
        let round = match self.round(&call, &subject) {
            Ok(round) => round,
            Err(instead) => {
                let running = Running::new(call.token, subject, None);
                return self.instead(running, instead, out);
            }
        };
        let settings = &self.hub.settings;
        let context = Context {
            key: call.token.key(),
            version: call.version,
            capabilities: call.capabilities,
            wants_progress: call.wants_progress,
            logs: settings.logging && call.log_level.is_some(),
            ask_timeout: settings.ask_timeout,
            principal: self.principal.clone(),
            link: self.link.clone(),
            round,
            #[cfg(feature = "tasks")]
            task,
        };
        let given = given(&call);
        let running = Running::new(call.token, subject, context.round());
        // Nobody overtakes those who wait, though a cancelled handler may have left a free place.
        if self.waiting.is_empty() && self.running.len() < settings.max_concurrent {
            self.start(running, context, given, out);
        } else {
            self.postpone(running, context, given, out);
        }
    }

    /// Whether a call becomes a task, or may.
    ///
    /// # Errors
    ///
    /// Its tool wants one and its client does not, or the other way round.
    #[cfg(feature = "tasks")]
    fn task(&self, call: &Call<'_>, subject: &Subject<S>) -> Result<Option<Arc<Slot>>, Instead> {
        let (Some(service), Subject::Tool(tool)) = (&self.hub.settings.tasks, subject) else {
            return Ok(None);
        };
        let name = &tool.definition.name;
        let slot = |at_once, experimental| {
            let (service, session) = (service.clone(), self.link.session);
            let slot = Slot::new(service, name, call.version, at_once, experimental, session);
            Ok(Some(Arc::new(slot)))
        };
        let unknown =
            |message: String| Err(ProtocolError::new(ErrorCode::METHOD_NOT_FOUND, message).into());
        if call.version.era() == Era::Modern {
            let Some(how) = tool.task else {
                return Ok(None);
            };
            let extension = self.offer.catalog.extension(TASKS);
            if extension.is_some_and(|extension| call.extensions.contains(extension)) {
                return slot(how.at_once, None);
            }
            // TX-02.
            return match how.required {
                true => Err(Instead::MissingExtension(TASKS.to_owned())),
                false => Ok(None),
            };
        }
        let has_tasks = call.version == ProtocolVersion::V2025_11_25;
        let params = call.params.filter(|_| has_tasks);
        let asked = params.and_then(|params| params.member("task"));
        // TL-03.
        match (asked.filter(|asked| !asked.is_null()), tool.task) {
            (Some(asked), Some(_)) => {
                let asked = TaskMetadata::decode(asked).map_err(|error| {
                    Instead::invalid_params(format!("Invalid params: task: {error}"))
                })?;
                slot(true, Some(asked.ttl))
            }
            (Some(_), None) => unknown(format!("Tool {name} cannot be run as a task")),
            (None, Some(how)) if how.required => {
                unknown(format!("Tool {name} can be run as a task only"))
            }
            (None, _) => Ok(None),
        }
    }

    /// Lets a handler go on without its client, who is told where to ask.
    #[cfg(feature = "tasks")]
    pub(super) fn detach<O: Outlets>(&mut self, key: CallKey, begun: Begun, out: &mut O) {
        let running = self.running.get(key.index());
        if running.is_none_or(|running| running.token.key() != key) {
            // It was cancelled meanwhile.
            return;
        }
        let Some((future, running)) = self.running.remove(key.index()) else {
            return;
        };
        #[cfg(feature = "validate")]
        let check_outputs = self.hub.settings.check_outputs;
        #[cfg(not(feature = "validate"))]
        let check_outputs = false;
        let detached = match &running.subject {
            Subject::Tool(tool) => S::detach(future, tool.clone(), check_outputs),
            Subject::Prompt(_)
            | Subject::Resource(..)
            | Subject::Template(..)
            | Subject::Completer(_)
            | Subject::NoCompleter
            | Subject::Extension(_) => None,
        };
        let Some(detached) = detached else {
            let message = format!("{} cannot be a task", running.subject);
            let error = ProtocolError::new(ErrorCode::INTERNAL_ERROR, message);
            return self.fail(running.token, &error, out);
        };
        self.reply_extension(running.token, &begun.answer(), out);
        begun.run(detached);
    }

    /// What is kept of a request for its handler to look at.
    fn round(&self, call: &Call<'_>, subject: &Subject<S>) -> Result<Option<Round>, Instead> {
        // Of a handler that takes no context nothing is kept; a state that comes back to it is checked all the same.
        let takes_context = subject.takes_context();
        let retried = call.request_state.is_some() || call.input_responses.is_some();
        let modern = call.version.era() == Era::Modern;
        if !retried && !(takes_context && (modern || call.meta.is_some())) {
            return Ok(None);
        }
        let arguments = match call.request {
            CallRequest::Tool { arguments, .. } | CallRequest::Prompt { arguments, .. }
                if modern =>
            {
                arguments
            }
            CallRequest::Tool { .. }
            | CallRequest::Resource { .. }
            | CallRequest::Prompt { .. }
            | CallRequest::Complete { .. }
            | _ => None,
        };
        let binding = Binding {
            principal: self.principal.as_ref().map(Principal::name),
            method: subject.method(),
            name: subject.name(),
            arguments,
        };
        let state = call.request_state.map(|state| state.decode());
        let round = Round::begin(
            &self.hub.settings.sealer,
            binding,
            call.meta,
            state.as_deref(),
            call.input_responses,
        )?;
        Ok(takes_context.then_some(round))
    }

    fn postpone<O: Outlets>(
        &mut self,
        running: Running<S>,
        context: Context,
        given: Given<'_>,
        out: &mut O,
    ) {
        let given = Kept::new(given);
        let bytes = given.len() + running.round.as_ref().map_or(0, Round::len);
        if self.waiting_bytes + bytes > self.hub.settings.max_waiting {
            let message = "Server busy: too many calls are waiting for their turn, retry later";
            let error = ProtocolError::new(ErrorCode::INTERNAL_ERROR, message);
            return self.fail(running.token, &error, out);
        }
        self.waiting_bytes += bytes;
        self.waiting.push_back(Waiting {
            running,
            context,
            given,
            bytes,
        });
    }

    pub(super) fn cancel(&mut self, key: CallKey) {
        if let Some((future, running)) = self.running.remove(key.index()) {
            drop_handler(future);
            running.end();
            tracing::debug!(
                method = running.subject.method(),
                name = running.subject.name(),
                "cancelled"
            );
        } else {
            self.forget_waiting(key);
        }
    }

    /// A cancelled call gives back its room at once, or a peer could fill the queue with calls that nobody waits for.
    fn forget_waiting(&mut self, key: CallKey) {
        let at = self
            .waiting
            .iter()
            .position(|waiting| waiting.running.token.key() == key);
        if let Some(Waiting { bytes, .. }) = at.and_then(|at| self.waiting.remove(at)) {
            self.waiting_bytes -= bytes;
        }
    }

    /// Starts calls that waited, as many as may run, while there is room for answers.
    pub(super) fn start_waiting<O: Outlets>(&mut self, out: &mut O) {
        while self.running.len() < self.hub.settings.max_concurrent && !out.is_full() {
            let Some(Waiting {
                running,
                context,
                given,
                bytes,
            }) = self.waiting.pop_front()
            else {
                return;
            };
            self.waiting_bytes -= bytes;
            self.start(running, context, given.given(), out);
        }
    }

    fn start<O: Outlets>(
        &mut self,
        mut running: Running<S>,
        context: Context,
        given: Given<'_>,
        out: &mut O,
    ) {
        let index = context.key.index();
        if tracing::enabled!(tracing::Level::DEBUG) {
            running.began = Some(Instant::now());
            tracing::debug!(
                method = running.subject.method(),
                name = running.subject.name(),
                "began"
            );
        }
        let Some(start) = running.subject.start() else {
            let nothing = CompleteResult::new(Completion::new(List::EMPTY));
            return self.finish_call(running, Ok(Outcome::Completion(nothing)), out);
        };
        // Decoding the arguments runs code of the handler's author as well.
        let begin = || {
            #[cfg(feature = "validate")]
            if let Subject::Tool(tool) = &running.subject
                && let Some(refusal) = tool.refuse(&given)
            {
                return Started::Done(Outcome::Tool(refusal));
            }
            start(context, given)
        };
        let (running, finished) = match contain(begin) {
            Err(panic) => (running, Err(panic)),
            Ok(Started::Done(outcome)) => (running, Ok(outcome)),
            Ok(Started::Running(future)) => match self.running.start(index, future, running) {
                Poll::Pending => return,
                Poll::Ready(finished) => finished,
            },
        };
        self.finish_call(running, finished, out);
    }

    pub(super) fn finish_call<O: Outlets>(
        &mut self,
        running: Running<S>,
        finished: Finished,
        out: &mut O,
    ) {
        // What the handler sent before it ended comes before its result; what others send meanwhile can wait.
        for _ in 0..self.notes.len() {
            if let Ok(note) = self.notes.try_recv() {
                self.send(note, out);
            }
        }
        if let Some(began) = running.began {
            let micros = began.elapsed().as_micros() as u64;
            tracing::debug!(
                method = running.subject.method(),
                name = running.subject.name(),
                micros,
                "ended"
            );
        }
        match finished {
            Ok(Outcome::Tool(result)) => {
                #[cfg(feature = "validate")]
                if let Some(error) = self.misfit(&running.subject, &result) {
                    return self.fail(running.token, &error, out);
                }
                self.reply(running.token, &result, out);
            }
            Ok(Outcome::Resource(result)) => self.reply_read(running, result, out),
            Ok(Outcome::Prompt(result)) => {
                self.answer(running.token, &result, out);
            }
            Ok(Outcome::Completion(result)) => {
                self.answer(running.token, &result, out);
            }
            Ok(Outcome::Extension(result)) => self.reply_extension(running.token, &result, out),
            #[cfg(feature = "host")]
            Ok(Outcome::Relayed(result)) => self.answer(running.token, &result, out),
            Ok(Outcome::Instead(instead)) => self.instead(running, instead, out),
            Ok(Outcome::Asked) => self.ask_modern(running, out),
            Err(_) => {
                tracing::warn!(
                    method = running.subject.method(),
                    name = running.subject.name(),
                    "panicked"
                );
                let message = format!("{} panicked", running.subject);
                let error = ProtocolError::new(ErrorCode::INTERNAL_ERROR, message);
                self.fail(running.token, &error, out);
            }
        }
    }

    /// What is answered instead of a result that breaks the promise of the tool's output schema (TOOL-16).
    #[cfg(feature = "validate")]
    fn misfit(&self, subject: &Subject<S>, result: &ToolResult) -> Option<ProtocolError> {
        let Subject::Tool(tool) = subject else {
            return None;
        };
        if !self.hub.settings.check_outputs {
            return None;
        }
        let violations = tool.misfit(result)?;
        let message =
            format!("The result of {subject} does not fit its output schema: {violations}");
        // The violations quote values: no content above debug.
        tracing::warn!("The result of {subject} does not fit its output schema");
        tracing::debug!("{message}");
        Some(ProtocolError::new(ErrorCode::INTERNAL_ERROR, message))
    }

    fn reply<O: Outlets>(&mut self, token: ReplyToken, result: &ToolResult, out: &mut O) {
        let Some(borrowed) = result.borrowed() else {
            let message = "The tool's structured content is not JSON, or nests deeper than 512";
            let error = ProtocolError::new(ErrorCode::INTERNAL_ERROR, message);
            return self.fail(token, &error, out);
        };
        self.answer(token, &borrowed, out);
    }

    fn answer<O: Outlets>(&mut self, token: ReplyToken, result: &impl EncodeResult, out: &mut O) {
        let key = token.key();
        // Stale, here and below: cancelled while its handler ended. Nobody waits for it.
        let _ = self.engine().reply(token, result, out.answer(key));
        out.ended(key);
    }

    fn reply_read<O: Outlets>(
        &mut self,
        running: Running<S>,
        mut result: ReadResourceResult<'static>,
        out: &mut O,
    ) {
        let mime_type = running.subject.mime_type();
        if let Some(mime_type) = mime_type.filter(|_| {
            result
                .contents
                .iter()
                .any(|contents| contents.mime_type().is_none())
        }) {
            let contents =
                result
                    .contents
                    .into_vec()
                    .into_iter()
                    .map(|contents| match contents.mime_type() {
                        Some(_) => contents,
                        None => contents.of_type(mime_type.to_owned()),
                    });
            result.contents = contents.collect::<List<'static, ResourceContents<'static>>>();
        }
        self.answer(running.token, &result, out);
    }

    fn fail<O: Outlets>(&mut self, token: ReplyToken, error: &ProtocolError, out: &mut O) {
        let mut object = ErrorObject::new(error.code, &error.message);
        object.data = error.data.as_ref().map(Json::raw);
        let key = token.key();
        let _ = self.engine().fail(token, &object, out.answer(key));
        out.ended(key);
    }

    fn lacks_capability<O: Outlets>(
        &mut self,
        token: ReplyToken,
        missing: ClientCapabilities,
        out: &mut O,
    ) {
        let key = token.key();
        out.lacks_capability(key);
        let _ = self
            .engine()
            .missing_capability(token, missing, out.answer(key));
        out.ended(key);
    }

    pub(super) fn lacks_extension<O: Outlets>(&mut self, token: ReplyToken, id: &str, out: &mut O) {
        let key = token.key();
        let Some(extension) = self.offer.catalog.extension(id) else {
            let message = format!("This takes the extension {id}, which the server does not have");
            let error = ProtocolError::new(ErrorCode::INTERNAL_ERROR, message);
            return self.fail(token, &error, out);
        };
        out.lacks_capability(key);
        let _ = self
            .engine()
            .missing_extension(token, extension, out.answer(key));
        out.ended(key);
    }

    pub(super) fn reply_extension<O: Outlets>(
        &mut self,
        token: ReplyToken,
        result: &ExtensionResult,
        out: &mut O,
    ) {
        let key = token.key();
        let _ = self
            .engine()
            .reply_extension(token, &result.borrowed(), out.answer(key));
        out.ended(key);
    }

    /// Answers with what is no result.
    fn instead<O: Outlets>(&mut self, running: Running<S>, instead: Instead, out: &mut O) {
        match instead {
            Instead::Error(error) => self.fail(running.token, &error, out),
            Instead::NotFound => {
                let key = running.token.key();
                let uri = running.subject.name();
                let _ = self.engine().not_found(running.token, uri, out.answer(key));
                out.ended(key);
            }
            Instead::MissingCapability(missing) => {
                self.lacks_capability(running.token, missing, out);
            }
            Instead::MissingExtension(id) => self.lacks_extension(running.token, &id, out),
            Instead::Extension(result) => self.reply_extension(running.token, &result, out),
            Instead::InputRequired(input) => {
                let Some(round) = &running.round else {
                    let message =
                        "The server needs input that it can ask a client of 2026-07-28 for only";
                    let error = ProtocolError::new(ErrorCode::INTERNAL_ERROR, message);
                    return self.fail(running.token, &error, out);
                };
                let state = round.own_next(input.state);
                self.require(running, input.requests, state, out);
            }
        }
    }

    /// Asks a modern client what its handler waits for.
    fn ask_modern<O: Outlets>(&mut self, running: Running<S>, out: &mut O) {
        let next = running.round.as_ref().map(Round::next);
        match next {
            Some(Next::Ask(requests, state)) => self.require(running, requests, state, out),
            Some(Next::Astray(place)) => {
                tracing::warn!(
                    method = running.subject.method(),
                    name = running.subject.name(),
                    place,
                    "asked something else than in the run before"
                );
                let message = format!(
                    "{} asked something else than before as its question {place}",
                    running.subject
                );
                let error = ProtocolError::new(ErrorCode::INTERNAL_ERROR, message);
                self.fail(running.token, &error, out);
            }
            None => {
                let message = format!("{} asked without a context", running.subject);
                let error = ProtocolError::new(ErrorCode::INTERNAL_ERROR, message);
                self.fail(running.token, &error, out);
            }
        }
    }

    fn require<O: Outlets>(
        &mut self,
        running: Running<S>,
        requests: Vec<(String, InputRequest<'static>)>,
        state: State,
        out: &mut O,
    ) {
        let settings = &self.hub.settings;
        let rounds = settings.max_rounds;
        if state.round > rounds {
            let message = format!("Gave up after asking for input {rounds} times");
            let error = ProtocolError::new(ErrorCode::INTERNAL_ERROR, message);
            return self.fail(running.token, &error, out);
        }
        let binding = Binding {
            principal: self.principal.as_ref().map(Principal::name),
            method: running.subject.method(),
            name: running.subject.name(),
            arguments: running.round.as_ref().and_then(Round::arguments),
        };
        let sealed = settings.sealer.seal(binding, &state, SystemTime::now());
        // The client has to send it back along with everything else.
        if sealed.len() > settings.limits.max_message / 2 {
            let message = "The answers so far are too long to go on asking";
            let error = ProtocolError::new(ErrorCode::INTERNAL_ERROR, message);
            return self.fail(running.token, &error, out);
        }
        let mut result = InputRequiredResult::default();
        result.request_state = Some(Cow::Owned(sealed));
        if !requests.is_empty() {
            result.input_requests = Some(requests.into_iter().collect());
        }
        let key = running.token.key();
        match self
            .engine()
            .require_input(running.token, &result, out.answer(key))
        {
            Ok(()) | Err(InputError::Send(_)) => out.ended(key),
            Err(InputError::Undeclared { missing, token, .. }) => {
                self.lacks_capability(token, missing, out);
            }
            Err(InputError::Unsupported(token) | InputError::Invalid(token)) => {
                let message =
                    "The server asked for input in a way that this request does not allow";
                let error = ProtocolError::new(ErrorCode::INTERNAL_ERROR, message);
                self.fail(token, &error, out);
            }
            Err(_) => {}
        }
    }
}

impl<S: Sharing> Running<S> {
    const fn new(token: ReplyToken, subject: Subject<S>, round: Option<Round>) -> Self {
        Self {
            token,
            subject,
            round,
            began: None,
        }
    }

    /// Whoever took its context elsewhere and waits for an answer is told that none will come.
    pub(super) fn end(&self) {
        if let Some(round) = &self.round {
            round.end();
        }
    }
}

/// What a handler does when it is dropped is its own business; the others go on.
pub(super) fn drop_handler<F: ?Sized>(future: Pin<Box<F>>) {
    let _ = contain(|| drop(future));
}
