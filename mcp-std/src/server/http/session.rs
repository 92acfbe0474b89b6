//! A legacy session over HTTP: one engine with its handlers, and many responses that carry what it says.
//!
//! ```text
//!  POST, GET, DELETE --> [ lock: connection, streams ] <-- task of the session: polls handlers
//!                              |
//!                              v  wakes the readers of streams that have something new
//!                        bodies of responses
//! ```

use core::fmt;
use core::future::poll_fn;
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use bytes::Bytes;
use mcp_core::binding::http::{
    Accepts, Output, Refusal, Reply, SESSION_PARAMETER, SessionId, StreamId, Streams, status,
};
use mcp_core::engine::CallKey;
use mcp_core::engine::server::{Incoming, Message, ServerEngine};
use mcp_core::model::{Era, ProtocolVersion};

use super::endpoint::Endpoint;
use super::exchange::Quiet;
use crate::entropy;
use crate::server::connection::{Connection, Outlets};
use crate::server::handler::Shared;

/// Notes that the handlers of one session may have waiting.
const NOTES: usize = 64;

pub(super) struct Session {
    pub(super) id: SessionId,
    state: Mutex<State>,
}

struct State {
    /// `None` once the session has ended.
    connection: Option<Box<Connection<Shared, ServerEngine>>>,
    streams: Streams,
    /// By the place of a stream: who waits for it.
    readers: Vec<Option<Waker>>,
    driver: Option<Waker>,
}

impl Session {
    pub(super) fn new(
        endpoint: &Endpoint,
        id: SessionId,
        principal: Option<Arc<str>>,
    ) -> Arc<Self> {
        let hub = endpoint.server.hub.clone();
        let limits = hub.settings.limits;
        let mut connection = Connection::new(hub, NOTES, |offer| {
            ServerEngine::new(offer.catalog.clone(), limits, entropy::seed())
        });
        connection.principal = principal;
        Arc::new(Self {
            id,
            state: Mutex::new(State {
                connection: Some(Box::new(connection)),
                streams: Streams::new(endpoint.stream_limits),
                readers: Vec::new(),
                driver: None,
            }),
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Panics of handlers are contained; what another panic leaves behind is a session all the same.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Polls the handlers until the session ends.
    pub(super) async fn drive(self: Arc<Self>, endpoint: Weak<Endpoint>) {
        poll_fn(|cx| {
            let mut state = self.lock();
            let State {
                connection,
                streams,
                driver,
                ..
            } = &mut *state;
            let Some(connection) = connection else {
                return Poll::Ready(());
            };
            let Some(endpoint) = endpoint.upgrade() else {
                return Poll::Ready(());
            };
            if endpoint.is_closing() {
                streams.end_listening();
            }
            let _ = connection.poll(cx, &mut Routed::new(streams));
            *driver = Some(cx.waker().clone());
            state.wake_readers();
            Poll::Pending
        })
        .await;
    }

    /// Takes a message that came in a POST. The reader has what is answered.
    pub(super) fn post(
        self: &Arc<Self>,
        accepts: Accepts,
        message: &Message<'_>,
    ) -> Result<Reader, Refusal> {
        let mut state = self.lock();
        let State {
            connection,
            streams,
            ..
        } = &mut *state;
        let connection = connection.as_mut().ok_or(Refusal::NO_SESSION)?;
        if message.is_request() && !streams.has_room() {
            return Err(Refusal::BUSY);
        }
        let version = connection.engine().session_version();
        let stream = streams.post(accepts, version);
        take(connection, streams, message);
        streams.taken();
        state.wake();
        drop(state);
        Ok(Reader::new(self, stream))
    }

    /// Takes a message in a session of 2024-11-05: what is answered goes into its one stream (SSE-04).
    pub(super) fn post_old(&self, message: &Message<'_>) -> Result<(), Refusal> {
        let mut state = self.lock();
        let State {
            connection,
            streams,
            ..
        } = &mut *state;
        let connection = connection.as_mut().ok_or(Refusal::NO_SESSION)?;
        take(connection, streams, message);
        state.wake();
        Ok(())
    }

    /// Opens a stream for what is about no request, or takes up one where it was left.
    pub(super) fn get(self: &Arc<Self>, last_event_id: Option<&str>) -> Result<Reader, Refusal> {
        let mut state = self.lock();
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
        state.wake();
        drop(state);
        Ok(Reader::new(self, stream))
    }

    /// Opens the stream of a session of 2024-11-05 (SSE-02).
    pub(super) fn open(self: &Arc<Self>, endpoint: &Arc<Endpoint>) -> Reader {
        let reference = format!("?{SESSION_PARAMETER}={}", self.id);
        let stream = self.lock().streams.only(&reference);
        let mut reader = Reader::new(self, stream);
        reader.whole_session = Some(endpoint.clone());
        reader
    }

    /// Whether `initialize` was answered with a version.
    pub(super) fn is_initialized(&self) -> bool {
        let mut state = self.lock();
        let connection = state.connection.as_mut();
        connection.is_some_and(|it| it.engine().session_version().is_some())
    }

    /// Whether a stream is open, or a call is not answered.
    pub(super) fn is_busy(&self) -> bool {
        let mut state = self.lock();
        let in_flight = state.connection.as_mut().map(|it| it.engine().in_flight());
        in_flight.is_some_and(|calls| calls > 0) || state.streams.open() > 0
    }

    /// Ends the session, its handlers and its streams.
    pub(super) fn end(&self) {
        let mut state = self.lock();
        let connection = state.connection.take();
        state.streams.end();
        state.wake();
        drop(state);
        // What handlers do when they are dropped may take this lock.
        drop(connection);
    }
}

fn take(
    connection: &mut Connection<Shared, ServerEngine>,
    streams: &mut Streams,
    message: &Message<'_>,
) {
    connection.refresh();
    let mut routed = Routed::new(streams);
    let incoming = connection.engine().take(message, routed.sender());
    if let Incoming::Rejected(fault) = &incoming {
        routed.sender().set_status(status(*fault, Era::Legacy));
    }
    connection.handle(incoming, &mut routed);
}

impl State {
    fn wake(&mut self) {
        if let Some(driver) = &self.driver {
            driver.wake_by_ref();
        }
        self.wake_readers();
    }

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
    /// The session ends with the stream.
    whole_session: Option<Arc<Endpoint>>,
}

impl Reader {
    fn new(session: &Arc<Session>, stream: StreamId) -> Self {
        Self {
            session: session.clone(),
            stream,
            quiet: Quiet::default(),
            whole_session: None,
        }
    }

    /// Waits until it is known what the response is.
    pub(super) fn poll_output(
        &mut self,
        cx: &mut Context<'_>,
        keep_alive: Duration,
    ) -> Poll<Output> {
        loop {
            match self.take(cx) {
                Output::Undecided => {}
                output => return Poll::Ready(output),
            }
            core::task::ready!(self.quiet.poll(cx, keep_alive));
            self.keep_alive();
        }
    }

    /// The next events. `None`: there are no more.
    pub(super) fn poll_events(
        &mut self,
        cx: &mut Context<'_>,
        keep_alive: Duration,
    ) -> Poll<Option<Bytes>> {
        loop {
            match self.take(cx) {
                Output::Events(events) if !events.is_empty() => {
                    self.quiet.reset();
                    return Poll::Ready(Some(events.into()));
                }
                Output::Json { body, .. } => return Poll::Ready(Some(body.into())),
                Output::End | Output::Accepted => return Poll::Ready(None),
                Output::Undecided | Output::Events(_) | _ => {}
            }
            core::task::ready!(self.quiet.poll(cx, keep_alive));
            self.keep_alive();
        }
    }

    fn take(&self, cx: &Context<'_>) -> Output {
        let mut state = self.session.lock();
        let output = state.streams.take(self.stream);
        let at = self.stream.index();
        if state.readers.len() <= at {
            state.readers.resize(at + 1, None);
        }
        state.readers[at] = Some(cx.waker().clone());
        output
    }

    fn keep_alive(&self) {
        let mut state = self.session.lock();
        if let Some(reply) = state.streams.reply(self.stream) {
            reply.begin_stream();
            reply.keep_alive();
        }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let mut state = self.session.lock();
        state.streams.leave(self.stream);
        drop(state);
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
}

impl<'s> Routed<'s> {
    const fn new(streams: &'s mut Streams) -> Self {
        Self {
            streams,
            nowhere: Reply::new(Accepts::Both),
        }
    }
}

impl Outlets for Routed<'_> {
    type Out = Reply;

    fn sender(&mut self) -> &mut Reply {
        self.streams.sender().unwrap_or(&mut self.nowhere)
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
        self.streams.ended(key);
    }

    fn disconnect(&mut self, key: CallKey, retry: Duration) {
        self.streams.disconnect(key, retry);
    }
}
