//! One connection: the engine on its stream, the calls that wait, and the handlers that answer the server.

#[cfg(feature = "http")]
mod http;
mod protocol;
mod questions;

use core::task::Waker;
use core::time::Duration;
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;

use mcp_core::Limits;
use mcp_core::binding::StdioClient;
use mcp_core::binding::http::client::HttpFault;
use mcp_core::engine::RequestKey;
use mcp_core::engine::client::{
    CallError as EngineError, CallOptions, ClientConfig, ClientEngine, Counters, Event, Incoming,
    Outcome as EngineOutcome, ReplyToken,
};
use mcp_core::frame::Lines;
use mcp_core::json::{Json, RawJson};
use mcp_core::model::{
    Encode as _, Era, InputResponse, LoggingLevel, ProtocolVersion, SetLevelRequestParams,
};
use mcp_core::rpc::write_notification;
use mcp_io::{End, Error, Tasks};

use super::clock::Pause;
use super::error::{
    CallError, Closed, ClosedReason, ConnectError, ErrorAnswer, Timeout, Unsupported,
};
use super::handle::{Call, CallKind, Control, Ends, Progressing, Shared};
use super::handlers::Refusal;
use super::relisten::Again;
use super::reply::{Outcome, Slot};
use super::subscribing::Listening;
use super::subscription::Channel;
use super::watches::{Ask, Watches};
use crate::entropy;
use crate::panic::contain;

type Handling = dyn Future<Output = Result<InputResponse<'static>, Refusal>> + Send;

/// Drives the engine with what clients want and what the server says.
///
/// ```text
///  clients --calls, control--> poll ----> engine ----> out
///  clients <--slots, channels-- handle <-- engine <--- input
///                                 \--> handlers --poll--> engine ---> out
/// ```
pub(crate) struct ClientConnection<'s> {
    pub(super) stdio: StdioClient,
    pub(super) shared: &'s Shared,
    ends: &'s mut Ends,
    /// By the place the engine gave them.
    asked: Vec<Option<(RequestKey, Purpose)>>,
    running: Tasks<Handling, ReplyToken>,
    /// Those that are to be, on any connection.
    pub(super) channels: &'s mut Vec<Arc<Channel>>,
    /// Those that are, on this one.
    pub(super) listening: Vec<Listening>,
    /// And the resources that they are about, in the legacy era.
    pub(super) watches: Watches,
    /// Which log messages are wanted, if the server does not know any more.
    level_due: Option<LoggingLevel>,
    phase: Phase,
    /// When something last came.
    heard: Instant,
    /// The server is being asked whether it is there.
    probe: Option<RequestKey>,
    /// Of the task that drives this.
    waker: Option<Waker>,
    /// Subscriptions that are to be made again.
    pub(super) again: Vec<Again>,
    /// Why the request that is being given up has no answer.
    fault: Option<HttpFault>,
    /// What the engine had counted when it was last looked at.
    counted: Counters,
    /// `server/discover` was on its way when the stream ended.
    probing: bool,
    version: Option<ProtocolVersion>,
    pause: Pause,
}

enum Phase {
    New,
    Connecting,
    Ready,
    /// There is no connection, and there will be none.
    Failed(Option<ConnectError>),
    /// The stream is to end, or has ended.
    Ended(Option<ClosedReason>),
}

/// What a request is for.
pub(super) enum Purpose {
    Call {
        method: Cow<'static, str>,
        slot: Arc<Slot>,
        on_progress: Progressing,
        timeout: Duration,
        total: Duration,
    },
    /// `subscriptions/listen`
    Listen(Arc<Channel>),
    /// `resources/subscribe` or its opposite, for the subscriptions of the legacy era.
    Watch(Ask, Arc<str>),
    /// `logging/setLevel`, as a server was told before.
    Level,
    /// Whether the server is there.
    Probe,
}

impl<'s> ClientConnection<'s> {
    pub(crate) fn new(
        config: ClientConfig,
        limits: Limits,
        shared: &'s Shared,
        ends: &'s mut Ends,
        channels: &'s mut Vec<Arc<Channel>>,
    ) -> Self {
        let engine = ClientEngine::new(config, limits, entropy::seed());
        Self {
            stdio: StdioClient::new(engine),
            shared,
            ends,
            asked: Vec::new(),
            running: Tasks::new(),
            channels,
            listening: Vec::new(),
            watches: Watches::default(),
            level_due: None,
            phase: Phase::New,
            heard: Instant::now(),
            probe: None,
            waker: None,
            again: Vec::new(),
            fault: None,
            counted: Counters::default(),
            probing: false,
            version: None,
            pause: Pause::default(),
        }
    }

    /// Time that does not count is told there.
    #[cfg(feature = "http")]
    pub(crate) fn paused_by(&mut self, pause: Pause) {
        self.pause = pause;
    }

    /// Now, as the engine counts it.
    pub(crate) fn now(&self) -> mcp_core::time::Instant {
        self.pause.now()
    }

    /// The revision that was spoken.
    pub(crate) const fn version(&self) -> Option<ProtocolVersion> {
        self.version
    }

    /// Why it ended.
    pub(crate) fn reason(&mut self, end: Result<End, Error>) -> ClosedReason {
        let known = match &mut self.phase {
            Phase::Ended(reason) => reason.take(),
            Phase::New | Phase::Connecting | Phase::Ready | Phase::Failed(_) => None,
        };
        match (known, end) {
            (Some(reason), _) => reason,
            (None, Err(error)) => ClosedReason::Transport(error),
            (None, Ok(_)) => ClosedReason::Server,
        }
    }

    /// Fails what waits for an answer. What the ladder of the handshake came to, if there was no connection; and whether the
    /// server was being asked for the newest revision.
    pub(crate) fn lost(&mut self, closed: &Closed) -> Option<(Option<ConnectError>, bool)> {
        self.stdio.engine_mut().lost();
        self.take_events();
        self.shared.take_calls(false);
        // Those that were not sent wait for the next connection, each with an eye on its time.
        while let Ok(call) = self.ends.calls.try_recv() {
            let slot = call.slot.clone();
            slot.give_back(call);
        }
        self.fail_calls(closed);
        if self.version.is_some() {
            return None;
        }
        let failure = match &mut self.phase {
            Phase::Failed(error) => error.take(),
            Phase::New | Phase::Connecting | Phase::Ready | Phase::Ended(_) => None,
        };
        Some((failure, self.probing))
    }

    pub(super) fn fail_calls(&mut self, closed: &Closed) {
        for (_, purpose) in self.asked.drain(..).flatten() {
            if let Purpose::Call { slot, .. } = purpose {
                slot.answer(Err(CallError::Closed(closed.clone())));
            }
        }
    }

    /// Whether one more request may be sent.
    fn has_room(&self) -> bool {
        let engine = self.stdio.engine();
        engine.pending() < engine.limits().max_pending
    }

    fn is_over(&self) -> bool {
        matches!(self.phase, Phase::Failed(_) | Phase::Ended(_))
    }

    fn end(&mut self, reason: Option<ClosedReason>) {
        if !self.is_over() {
            self.phase = Phase::Ended(reason);
        }
        // What ends it may have come while the driver was not polling this.
        if let Some(waker) = &self.waker {
            waker.wake_by_ref();
        }
    }

    /// Sends a request that is not a client's.
    pub(super) fn ask(
        &mut self,
        method: &str,
        params: RawJson<'_>,
        purpose: Purpose,
        out: &mut Vec<u8>,
    ) -> Result<RequestKey, EngineError> {
        let options = CallOptions::default();
        self.send(method, params, &options, purpose, out)
    }

    fn send(
        &mut self,
        method: &str,
        params: RawJson<'_>,
        options: &CallOptions<'_>,
        purpose: Purpose,
        out: &mut Vec<u8>,
    ) -> Result<RequestKey, EngineError> {
        let now = self.now();
        let engine = self.stdio.engine_mut();
        let key = engine.call(now, method, &params, options, &mut Lines::new(out))?;
        let index = key.index();
        if self.asked.len() <= index {
            self.asked.resize_with(index + 1, || None);
        }
        self.asked[index] = Some((key, purpose));
        Ok(key)
    }

    /// What the request was for; `None` if it is over.
    fn take_purpose(&mut self, key: RequestKey) -> Option<Purpose> {
        let place = self.asked.get_mut(key.index())?;
        let (_, purpose) = place.take_if(|(asked, _)| *asked == key)?;
        Some(purpose)
    }

    /// Sends a client's call.
    fn start(&mut self, call: Call, out: &mut Vec<u8>) {
        let Call {
            method,
            kind,
            params,
            input,
            options: wishes,
            slot,
        } = call;
        if !slot.is_wanted() {
            return;
        }
        if kind == CallKind::Notification {
            // A `Vec` is never full.
            let _ =
                write_notification(&mut Lines::new(out), &method, |json| json.raw(params.raw()));
            slot.answer(Ok(Outcome::Complete(Json::EMPTY_OBJECT)));
            return;
        }
        let ceiling = wishes.ceiling;
        let Some(left) = ceiling.left() else {
            slot.answer(Err(ceiling.error()));
            return;
        };
        let mut options = CallOptions::default();
        options.timeout = wishes.timeout;
        options.max_total = Some(left);
        options.progress = wishes.on_progress.0.is_some();
        options.log_level = wishes.log_level;
        options.meta = wishes.meta.as_ref().map(Json::raw);
        options.input_responses = input.responses.as_ref().map(Json::raw);
        options.request_state = input.state.as_ref().map(Json::raw);
        let config = self.stdio.engine().config();
        let purpose = Purpose::Call {
            method: method.clone(),
            slot: slot.clone(),
            on_progress: wishes.on_progress,
            timeout: wishes.timeout.unwrap_or(config.request_timeout),
            total: ceiling.total(),
        };
        match self.send(&method, params.raw(), &options, purpose, out) {
            Ok(key) => {
                if !slot.sent(key) {
                    self.cancel(key, out);
                }
            }
            Err(error) => slot.answer(Err(refused(error))),
        }
    }

    /// Tells the server which log messages are wanted, if others were told. Whether something was sent.
    fn repeat_level(&mut self, out: &mut Vec<u8>) -> bool {
        let Some(level) = self.level_due.take() else {
            return false;
        };
        let params = SetLevelRequestParams::new(level);
        let params = Json::written(|json| params.encode(ProtocolVersion::LATEST_LEGACY, json));
        // The server is another one by now, which has no such messages.
        let asked = self.ask("logging/setLevel", params.raw(), Purpose::Level, out);
        asked.is_ok()
    }

    /// Tells the server that nobody waits for the answer.
    pub(super) fn cancel(&mut self, key: RequestKey, out: &mut Vec<u8>) {
        // Stale: the answer was on its way.
        let _ = self
            .stdio
            .engine_mut()
            .cancel(key, None, &mut Lines::new(out));
        self.take_purpose(key);
    }

    fn control(&mut self, control: Control, out: &mut Vec<u8>) {
        match control {
            Control::Abandon(slot) => {
                if let Some(key) = slot.abandoned() {
                    self.cancel(key, out);
                }
            }
            Control::Subscribe(channel) => {
                self.channels.push(channel.clone());
                self.listen(channel, out);
            }
            Control::Unsubscribe(channel) => {
                self.channels.retain(|known| !Arc::ptr_eq(known, &channel));
                self.unlisten(&channel, out);
            }
            Control::RootsChanged => {
                // A `Vec` is never full.
                let _ = self.stdio.engine_mut().roots_changed(&mut Lines::new(out));
            }
        }
    }

    fn handle(&mut self, incoming: Incoming<'_>, out: &mut Vec<u8>) {
        match incoming {
            Incoming::Connected => self.connected(out),
            Incoming::ConnectFailed(error) => self.failed(error),
            Incoming::Answer { key, outcome, .. } => self.answered(key, outcome),
            Incoming::Progress { key, progress, .. } => {
                if let Some(Some((asked, Purpose::Call { on_progress, .. }))) =
                    self.asked.get(key.index())
                    && *asked == key
                    && let Some(told) = &on_progress.0
                {
                    // The server chooses when this runs: a panic in it is not to end the connection.
                    let _ = contain(|| told(&progress));
                }
            }
            Incoming::Request(request) => self.asked_by_server(request, out),
            Incoming::Cancelled(key) => {
                if let Some((future, _)) = self.running.remove(key.index()) {
                    let _ = contain(|| drop(future));
                }
            }
            Incoming::Notification(notification) => self.notified(&notification),
            Incoming::Batch(mut batch) => loop {
                let now = self.now();
                let engine = self.stdio.engine_mut();
                let next = engine.next_in_batch(now, &mut batch, &mut Lines::new(out));
                let Some(incoming) = next else { break };
                self.handle(incoming, out);
            },
            Incoming::Complaint(error) => {
                tracing::debug!(
                    code = error.code.value(),
                    "the server could not read a message of ours"
                );
            }
            Incoming::Rejected(fault) => tracing::debug!(%fault, "the server broke a rule"),
            Incoming::Late => tracing::debug!("an answer that nobody waits for any more"),
            // A `Vec` is never full.
            Incoming::Handled | Incoming::Blocked | _ => {}
        }
    }

    fn connected(&mut self, out: &mut Vec<u8>) {
        let Some(server) = self.stdio.engine().server().cloned() else {
            return;
        };
        self.phase = Phase::Ready;
        self.fault = None;
        self.version = Some(server.revision);
        tracing::info!(
            revision = server.revision.as_str(),
            era = ?server.era(),
            "connected"
        );
        // Whatever changed while there was no connection was not told (SUB-18).
        self.shared.cache.clear();
        #[cfg(feature = "validate")]
        if let Some(outputs) = &self.shared.settings.outputs {
            outputs.forget();
        }
        // Before anybody finds it connected, who may set another one.
        let level = self.shared.level();
        self.level_due = level.filter(|_| server.era() == Era::Legacy);
        self.shared.connected(server);
        for channel in self.channels.clone() {
            self.listen(channel, out);
        }
        if let Some(waker) = &self.waker {
            // Calls may be waiting.
            waker.wake_by_ref();
        }
    }

    fn failed(&mut self, error: mcp_core::engine::client::ConnectError) {
        // The stream ended: the session knows more about that.
        if let mcp_core::engine::client::ConnectError::Closed { method, .. } = error {
            self.probing = method == "server/discover";
            return;
        }
        if !self.is_over() {
            // What the transport says is said more clearly.
            let fault = self.fault.take().map(ConnectError::Http);
            let error = fault.unwrap_or(ConnectError::Handshake(error));
            self.phase = Phase::Failed(Some(error));
        }
    }

    fn answered(&mut self, key: RequestKey, outcome: EngineOutcome<'_>) {
        if self.probe == Some(key) {
            self.probe = None;
        }
        // What went wrong while connecting is not about this one.
        let fault = self
            .fault
            .take()
            .filter(|_| matches!(outcome, EngineOutcome::Unanswered));
        match self.take_purpose(key) {
            Some(Purpose::Call { method, slot, .. }) => slot.answer(match (outcome, fault) {
                (_, Some(fault)) => Err(CallError::Http { method, fault }),
                (EngineOutcome::Complete(result), None) => Ok(Outcome::Complete(owned(result))),
                (EngineOutcome::InputRequired(result), None) => {
                    Ok(Outcome::InputRequired(owned(result)))
                }
                (EngineOutcome::Extension(result), None) => Ok(Outcome::Extension(owned(result))),
                (EngineOutcome::Error(error), None) => {
                    Err(ErrorAnswer::new(&error).into_call_error(self.version))
                }
                (EngineOutcome::Invalid(fault), None) => Err(CallError::Answer {
                    method,
                    fault: fault.to_string(),
                }),
                (EngineOutcome::Ended | _, None) => Err(CallError::Answer {
                    method,
                    fault: "the server ended it".to_owned(),
                }),
            }),
            Some(Purpose::Listen(channel)) => {
                let again = fault.is_some_and(|fault| self.listen_again(&channel, &fault));
                if !again {
                    self.listen_ended(&channel, &outcome);
                }
            }
            Some(Purpose::Watch(ask, uri)) => {
                let done = matches!(outcome, EngineOutcome::Complete(_));
                self.watched(ask, &uri, done);
            }
            Some(Purpose::Level) => {
                if !matches!(outcome, EngineOutcome::Complete(_)) {
                    tracing::info!("the server was not told again which log messages are wanted");
                }
            }
            Some(Purpose::Probe) | None => {}
        }
    }

    /// What happened other than by a message.
    fn take_events(&mut self) {
        while let Some(event) = self.stdio.engine_mut().poll_event() {
            match event {
                Event::ConnectFailed(error) => self.failed(error),
                Event::TimedOut { key, total, .. } => self.timed_out(key, total),
                // Of a connection that is lost: all of them are failed together.
                Event::Closed(_) | Event::Connected | _ => {}
            }
        }
    }

    fn timed_out(&mut self, key: RequestKey, total: bool) {
        let silence = self.shared.timeouts.idle.unwrap_or_default();
        if self.probe == Some(key) && self.heard.elapsed() < silence {
            // It has other things to say.
            self.probe = None;
        } else if self.probe == Some(key) {
            tracing::info!(?silence, "the server does not answer");
            self.end(Some(ClosedReason::Silent(silence)));
        }
        match self.take_purpose(key) {
            Some(Purpose::Call {
                method,
                slot,
                timeout,
                total: most,
                ..
            }) => {
                tracing::debug!(method = &*method, total, "a call timed out");
                slot.answer(Err(CallError::Timeout(if total {
                    Timeout::Total(most)
                } else {
                    Timeout::Request(timeout)
                })));
            }
            Some(Purpose::Watch(ask, uri)) => self.watch_timed_out(ask, &uri),
            Some(Purpose::Listen(_) | Purpose::Level | Purpose::Probe) | None => {}
        }
    }

    fn take(
        &mut self,
        consumed: usize,
        incoming: Option<Incoming<'_>>,
        out: &mut Vec<u8>,
    ) -> Option<usize> {
        let nothing = consumed == 0 && incoming.is_none();
        if let Some(incoming) = incoming {
            self.heard = Instant::now();
            self.handle(incoming, out);
        }
        let counted = *self.stdio.engine().counters();
        if counted != self.counted {
            self.shared.count(&self.counted, &counted);
            self.counted = counted;
        }
        (!nothing).then_some(consumed)
    }
}

/// Why the engine did not send a call.
fn refused(error: EngineError) -> CallError {
    match error {
        EngineError::NotInVersion(version) => {
            CallError::Unsupported(Unsupported::Revision(version))
        }
        EngineError::NotOffered(name) => CallError::Unsupported(Unsupported::Capability(name)),
        // Calls are sent while there is a connection and a place for them, and a `Vec` is never full.
        EngineError::Params
        | EngineError::NotConnected
        | EngineError::Closed
        | EngineError::Full
        | EngineError::Busy { .. }
        | _ => CallError::Arguments(error.to_string()),
    }
}

fn owned(value: RawJson<'_>) -> Json<'static> {
    Json::from(value).into_owned()
}
