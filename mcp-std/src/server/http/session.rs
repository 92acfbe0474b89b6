//! A legacy session over HTTP: one engine with its handlers, and many responses that carry what it says.
//!
//! ```text
//!  POST, GET --> [ lock: connection, streams ] <-- task of the session: polls handlers, ends the session
//!                         |
//!                         v  wakes the readers of streams that have something new
//!                   bodies of responses
//! ```
//!
//! A handler may compute for long while the lock is held. So nobody waits for it but as a task: a thread that serves
//! other clients goes on.

use core::fmt;
use core::future::poll_fn;
use core::mem;
use core::pin::Pin;
use core::sync::atomic::{AtomicBool, Ordering};
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use std::sync::{self, Arc, PoisonError, Weak};

use async_lock::futures::LockArc;
use async_lock::{Mutex, MutexGuardArc};
use bytes::Bytes;
use mcp_core::binding::http::{
    Accepts, Output, Refusal, Reply, SESSION_PARAMETER, SessionId, StreamId, Streams, Usage, status,
};
use mcp_core::engine::CallKey;
use mcp_core::engine::server::{Incoming, Message, ServerEngine};
use mcp_core::json::Sink as _;
use mcp_core::model::{Era, ProtocolVersion};
use mcp_core::rpc::{Envelope, write_error};

use super::endpoint::Endpoint;
use super::exchange::Quiet;
use crate::entropy;
use crate::server::connection::{Connection, Outlets};
use crate::server::handler::Shared;
use crate::server::principal::Principal;

/// Notes that the handlers of one session may have waiting.
const NOTES: usize = 64;

pub(super) struct Session {
    pub(super) id: SessionId,
    state: Arc<Mutex<State>>,
    signals: sync::Mutex<Signals>,
    over: AtomicBool,
}

/// What is told to the session without waiting for its lock.
#[derive(Default)]
struct Signals {
    driver: Option<Waker>,
    /// Streams whose readers have left.
    left: Vec<StreamId>,
}

struct State {
    /// `None` once the session has ended.
    connection: Option<Box<Connection<Shared, ServerEngine>>>,
    streams: Streams,
    /// By the place of a stream: who waits for it.
    readers: Vec<Option<Waker>>,
}

impl Session {
    pub(super) fn new(endpoint: &Endpoint, id: SessionId) -> Arc<Self> {
        let hub = endpoint.server.hub.clone();
        let limits = hub.settings.limits;
        let connection = Connection::new(hub, NOTES, |offer| {
            ServerEngine::new(offer.catalog.clone(), limits, entropy::seed())
        });
        Arc::new(Self {
            id,
            state: Arc::new(Mutex::new(State {
                connection: Some(Box::new(connection)),
                streams: Streams::new(endpoint.stream_limits).numbered_from(entropy::seed() as u32),
                readers: Vec::new(),
            })),
            signals: sync::Mutex::default(),
            over: AtomicBool::new(false),
        })
    }

    fn signals(&self) -> sync::MutexGuard<'_, Signals> {
        self.signals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the task of the session look around.
    fn wake(&self) {
        let driver = self.signals().driver.take();
        if let Some(driver) = driver {
            driver.wake();
        }
    }

    async fn lock(&self) -> Result<MutexGuardArc<State>, Refusal> {
        let state = self.state.lock_arc().await;
        match self.over.load(Ordering::Acquire) {
            true => Err(Refusal::NO_SESSION),
            false => Ok(state),
        }
    }

    /// Polls the handlers until the session ends.
    pub(super) async fn drive(self: Arc<Self>, endpoint: Weak<Endpoint>) {
        let mut lock = None;
        poll_fn(|cx| {
            let mut state = core::task::ready!(poll_lock(&self.state, &mut lock, cx));
            let left = {
                let mut signals = self.signals();
                signals.driver = Some(cx.waker().clone());
                mem::take(&mut signals.left)
            };
            for stream in left {
                state.streams.leave(stream);
            }
            let endpoint = endpoint.upgrade();
            if endpoint.is_none() || self.over.load(Ordering::Acquire) {
                state.streams.end();
                let connection = state.connection.take();
                state.wake_readers();
                drop(state);
                drop(connection);
                return Poll::Ready(());
            }
            let State {
                connection,
                streams,
                ..
            } = &mut *state;
            let Some(connection) = connection else {
                return Poll::Ready(());
            };
            if endpoint.is_some_and(|endpoint| endpoint.is_closing()) {
                streams.end_listening();
            }
            let _ = connection.poll(cx, &mut Routed::new(streams));
            state.wake_readers();
            Poll::Pending
        })
        .await;
    }

    /// Takes a message that came in a POST. The reader has what is answered.
    pub(super) async fn post(
        self: &Arc<Self>,
        principal: Option<Principal>,
        accepts: Accepts,
        message: &Message<'_>,
    ) -> Result<Reader, Refusal> {
        let mut state = self.lock().await?;
        let State {
            connection,
            streams,
            ..
        } = &mut *state;
        let connection = connection.as_mut().ok_or(Refusal::NO_SESSION)?;
        let quiet = matches!(
            message.envelope(),
            Ok(Envelope::Notification(_) | Envelope::Response(_))
        );
        if !quiet && !streams.has_room() {
            return Err(Refusal::BUSY);
        }
        let version = connection.engine().session_version();
        let stream = streams.post(accepts, version);
        take(connection, streams, principal, message);
        streams.taken();
        state.wake_readers();
        drop(state);
        self.wake();
        Ok(Reader::new(self, stream))
    }

    /// Takes a message in a session of 2024-11-05: what is answered goes into its one stream (SSE-04).
    pub(super) async fn post_old(
        &self,
        principal: Option<Principal>,
        message: &Message<'_>,
    ) -> Result<(), Refusal> {
        let mut state = self.lock().await?;
        let State {
            connection,
            streams,
            ..
        } = &mut *state;
        let connection = connection.as_mut().ok_or(Refusal::NO_SESSION)?;
        take(connection, streams, principal, message);
        state.wake_readers();
        drop(state);
        self.wake();
        Ok(())
    }

    /// Opens a stream for what is about no request, or takes up one where it was left.
    pub(super) async fn get(
        self: &Arc<Self>,
        last_event_id: Option<&str>,
    ) -> Result<Reader, Refusal> {
        let mut state = self.lock().await?;
        let State {
            connection,
            streams,
            ..
        } = &mut *state;
        let connection = connection.as_mut().ok_or(Refusal::NO_SESSION)?;
        if !streams.has_room() {
            return Err(Refusal::BUSY);
        }
        let version = connection.engine().session_version();
        let version = version.unwrap_or(ProtocolVersion::LATEST_LEGACY);
        let resumed = last_event_id.and_then(|id| streams.resume(id));
        let stream = resumed.unwrap_or_else(|| streams.get(version));
        state.wake_readers();
        drop(state);
        self.wake();
        Ok(Reader::new(self, stream))
    }

    /// Opens the stream of a session of 2024-11-05 (SSE-02).
    pub(super) async fn open(
        self: &Arc<Self>,
        endpoint: &Arc<Endpoint>,
    ) -> Result<Reader, Refusal> {
        let reference = format!("?{SESSION_PARAMETER}={}", self.id);
        let stream = self.lock().await?.streams.only(&reference);
        let mut reader = Reader::new(self, stream);
        reader.whole_session = Some(endpoint.clone());
        Ok(reader)
    }

    /// Whether `initialize` was answered with a version.
    pub(super) async fn is_initialized(&self) -> bool {
        let Ok(mut state) = self.lock().await else {
            return false;
        };
        let connection = state.connection.as_mut();
        connection.is_some_and(|it| it.engine().session_version().is_some())
    }

    /// Busy while a stream is open: a call whose client has left and does not come back ends with its session. The stream of
    /// 2024-11-05, which may be that of anybody, counts when the session is initialised.
    pub(super) fn usage(&self) -> Usage {
        let Some(mut state) = self.state.try_lock() else {
            // Somebody is at it.
            return Usage::Busy;
        };
        let connection = state.connection.as_mut();
        if connection.is_none_or(|it| it.engine().session_version().is_none()) {
            Usage::Unused
        } else if state.streams.open() > 0 {
            Usage::Busy
        } else {
            Usage::Idle
        }
    }

    /// Ends the session, its handlers and its streams: its task does, as soon as it can.
    pub(super) fn end(&self) {
        self.over.store(true, Ordering::Release);
        self.wake();
    }
}

/// Waits for the lock as a task. `waiting` is kept from one poll to the next.
fn poll_lock(
    mutex: &Arc<Mutex<State>>,
    waiting: &mut Option<Pin<Box<LockArc<State>>>>,
    cx: &mut Context<'_>,
) -> Poll<MutexGuardArc<State>> {
    if waiting.is_none()
        && let Some(state) = mutex.try_lock_arc()
    {
        return Poll::Ready(state);
    }
    let lock = waiting.get_or_insert_with(|| Box::pin(mutex.lock_arc()));
    let state = core::task::ready!(lock.as_mut().poll(cx));
    *waiting = None;
    Poll::Ready(state)
}

fn take(
    connection: &mut Connection<Shared, ServerEngine>,
    streams: &mut Streams,
    principal: Option<Principal>,
    message: &Message<'_>,
) {
    // The one whose session it is, with the scopes that it has by now.
    connection.principal = principal;
    connection.refresh();
    let mut routed = Routed::new(streams);
    if !message.is_request() {
        routed.aside = Some(Reply::new(Accepts::Both));
    }
    let incoming = connection.engine().take(message, routed.sender());
    if let Incoming::Rejected(fault) = &incoming {
        let status = status(*fault, Era::Legacy);
        routed.settle(None);
        let own = routed.own();
        own.set_status(status);
        if status >= 400 && own.is_empty() {
            // HTTP-09. A `Reply` is never full.
            let _ = write_error(own, None, fault.code(), fault, |_| {});
        }
    }
    connection.handle(incoming, &mut routed);
    routed.settle(None);
}

impl State {
    fn wake_readers(&mut self) {
        self.streams.trim();
        while let Some(stream) = self.streams.next_changed() {
            let reader = self.readers.get_mut(stream.index());
            if let Some(waker) = reader.and_then(Option::take) {
                waker.wake();
            }
        }
    }
}

/// The body of one response of a session.
pub(super) struct Reader {
    session: Arc<Session>,
    stream: StreamId,
    quiet: Quiet,
    lock: Option<Pin<Box<LockArc<State>>>>,
    /// The stream has been quiet for long.
    say_something: bool,
    /// The session ends with the stream.
    whole_session: Option<Arc<Endpoint>>,
}

impl Reader {
    fn new(session: &Arc<Session>, stream: StreamId) -> Self {
        Self {
            session: session.clone(),
            stream,
            quiet: Quiet::default(),
            lock: None,
            say_something: false,
            whole_session: None,
        }
    }

    /// Whether the session has ended.
    pub(super) fn is_over(&self) -> bool {
        self.session.over.load(Ordering::Acquire)
    }

    /// Waits until it is known what the response is.
    pub(super) fn poll_output(
        &mut self,
        cx: &mut Context<'_>,
        keep_alive: Duration,
    ) -> Poll<Output> {
        loop {
            let output = core::task::ready!(self.poll_take(cx));
            if output != Output::Undecided {
                return Poll::Ready(output);
            }
            core::task::ready!(self.quiet.poll(cx, keep_alive));
            self.say_something = true;
        }
    }

    /// The next events. `None`: there are no more.
    pub(super) fn poll_events(
        &mut self,
        cx: &mut Context<'_>,
        keep_alive: Duration,
    ) -> Poll<Option<Bytes>> {
        loop {
            match core::task::ready!(self.poll_take(cx)) {
                Output::Events(events) if !events.is_empty() => {
                    self.quiet.reset();
                    return Poll::Ready(Some(events.into()));
                }
                Output::Json { body, .. } => return Poll::Ready(Some(body.into())),
                Output::End | Output::Accepted => return Poll::Ready(None),
                Output::Undecided | Output::Events(_) | _ => {}
            }
            core::task::ready!(self.quiet.poll(cx, keep_alive));
            self.say_something = true;
        }
    }

    fn poll_take(&mut self, cx: &mut Context<'_>) -> Poll<Output> {
        let mut state = core::task::ready!(poll_lock(&self.session.state, &mut self.lock, cx));
        if mem::take(&mut self.say_something) {
            state.streams.keep_alive(self.stream);
        }
        let output = state.streams.take(self.stream);
        if matches!(output, Output::End | Output::Json { .. } | Output::Accepted) {
            // The place may be that of another reader by now, who waits.
            return Poll::Ready(output);
        }
        let at = self.stream.index();
        if state.readers.len() <= at {
            state.readers.resize(at + 1, None);
        }
        state.readers[at] = Some(cx.waker().clone());
        Poll::Ready(output)
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.lock = None;
        self.session.signals().left.push(self.stream);
        self.session.wake();
        if let Some(endpoint) = &self.whole_session {
            endpoint.end_session(&self.session.id);
        }
    }
}

impl fmt::Debug for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader")
            .field("stream", &self.stream)
            .finish_non_exhaustive()
    }
}

/// What is said goes into the stream it belongs to; what belongs to none that is left, nowhere.
struct Routed<'s> {
    streams: &'s mut Streams,
    nowhere: Reply,
    /// What is said to the sender of a message that is no request. It may be meant for another: a cancellation of the last
    /// call of a batch that was not answered makes the answers of that batch leave (BAT-07).
    aside: Option<Reply>,
}

impl<'s> Routed<'s> {
    const fn new(streams: &'s mut Streams) -> Self {
        Self {
            streams,
            nowhere: Reply::new(Accepts::Both),
            aside: None,
        }
    }

    fn own(&mut self) -> &mut Reply {
        self.streams.sender().unwrap_or(&mut self.nowhere)
    }

    /// Passes on what was set aside: to the stream of a call that was cancelled, else to the sender.
    fn settle(&mut self, cancelled: Option<CallKey>) {
        let Some(aside) = self.aside.as_mut().filter(|aside| aside.buffered() > 0) else {
            return;
        };
        aside.end();
        let said = aside.take();
        *aside = Reply::new(Accepts::Both);
        let out = match cancelled {
            Some(key) => self.answer(key),
            None => self.own(),
        };
        if let Output::Json { body, .. } = said {
            // No reply is ever full.
            let _ = out.append(&body).and_then(|()| out.end_message());
        }
    }
}

impl Outlets for Routed<'_> {
    type Out = Reply;

    fn sender(&mut self) -> &mut Reply {
        self.settle(None);
        match &mut self.aside {
            Some(aside) => aside,
            None => self.streams.sender().unwrap_or(&mut self.nowhere),
        }
    }

    fn answer(&mut self, key: CallKey) -> &mut Reply {
        self.streams.answer(key).unwrap_or(&mut self.nowhere)
    }

    fn about(&mut self, key: CallKey) -> Option<&mut Reply> {
        self.streams.about(key)
    }

    fn unrelated(&mut self) -> Option<&mut Reply> {
        self.streams.unrelated()
    }

    /// Streams whose readers are slow are cut off, each for itself.
    fn is_full(&self) -> bool {
        false
    }

    fn began(&mut self, key: CallKey) {
        self.streams.began(key);
    }

    fn ended(&mut self, key: CallKey) {
        self.settle(Some(key));
        self.streams.ended(key);
    }

    fn disconnect(&mut self, key: CallKey, retry: Duration) {
        self.streams.disconnect(key, retry);
    }
}
