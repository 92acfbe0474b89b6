//! Between those who call and the task that has the connection.

use core::fmt;
use core::future::{Future, poll_fn};
use core::pin::Pin;
use core::task::{Poll, Waker};
use core::time::Duration;
use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_channel::{Receiver, Sender};
use mcp_core::engine::client::{Counters, ServerInfo};
use mcp_core::json::Json;
use mcp_core::model::LoggingLevel;

use super::builder::CheckResult;
use super::cache::Cache;
use super::ceiling::Ceiling;
use super::error::{CallError, Closed, ClosedReason, ConnectError};
use super::frames::Tap;
use super::handlers::Handlers;
use super::notification::Listeners;
use super::options::{OnProgress, Timeouts};
use super::reply::{Reply, Settled, Slot, Waiting};
use super::rounds::Input;

use super::subscription::Channel;

/// So many calls may wait to be taken by the connection; who makes one more waits with it.
const CALLS: usize = 1024;

/// A call to be sent.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) method: Cow<'static, str>,
    pub(crate) kind: CallKind,
    pub(crate) params: Json<'static>,
    pub(crate) input: Input,
    pub(crate) options: Wishes,
    pub(crate) slot: Arc<Slot>,
}

/// Whether a call is answered.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum CallKind {
    Request,
    /// The answer is our own: that it was sent.
    Notification,
}

/// What the engine and the connection are to know of a call's options.
#[derive(Clone, Debug)]
pub(crate) struct Wishes {
    pub(crate) timeout: Option<Duration>,
    pub(crate) ceiling: Ceiling,
    pub(crate) log_level: Option<LoggingLevel>,
    pub(crate) meta: Option<Json<'static>>,
    pub(crate) on_progress: Progressing,
}

/// Who is told of a call's progress.
#[derive(Clone, Default)]
pub(crate) struct Progressing(pub(crate) Option<OnProgress>);

impl fmt::Debug for Progressing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.is_some().fmt(f)
    }
}

/// What the connection is told beside calls.
#[derive(Debug)]
pub(crate) enum Control {
    /// Nobody waits for this call any more.
    Abandon(Arc<Slot>),
    Subscribe(Arc<Channel>),
    Unsubscribe(Arc<Channel>),
    /// The roots are others (ROOT-04).
    RootsChanged,
}

/// What all clones of a client have in common. When the last one is dropped, the connection is closed.
#[derive(Debug)]
pub(crate) struct Handle {
    pub(crate) shared: Arc<Shared>,
    calls: Sender<Call>,
    control: Sender<Control>,
    /// Nothing is ever sent: it is closed to say that the connection is to end.
    closing: Sender<()>,
    /// Closed when it has.
    closed: Receiver<()>,
}

/// The other ends of a [`Handle`]'s channels.
#[derive(Debug)]
pub(crate) struct Ends {
    pub(crate) calls: Pin<Box<Receiver<Call>>>,
    pub(crate) control: Pin<Box<Receiver<Control>>>,
    pub(crate) closing: Pin<Box<Receiver<()>>>,
    /// Dropped when the connection has ended for good.
    pub(crate) _closed: Sender<()>,
}

/// What the connection and the clients see.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) handlers: Handlers,
    pub(crate) cache: Cache,
    pub(crate) timeouts: Timeouts,
    pub(crate) listeners: Listeners,
    pub(crate) settings: Settings,
    /// Calls that are given to the connection are sent at once.
    takes_calls: AtomicBool,
    counters: Mutex<Counters>,
    /// From which level on the server was asked to send log messages: each connection is.
    level: Mutex<Option<LoggingLevel>>,
    /// The last of what the process of the server says on standard error.
    stderr: Mutex<Tail>,
    status: Mutex<Status>,
}

/// What was said when the client was built.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) max_rounds: usize,
    pub(crate) log_level: Option<LoggingLevel>,
    pub(crate) check_result: Option<CheckResult>,
    #[cfg(feature = "validate")]
    pub(crate) outputs: Option<super::outputs::Outputs>,
    pub(crate) tap: Tap,
    /// Whether there may be another connection after one that was lost.
    pub(crate) restarts: bool,
    /// Whether calls of tools may be answered with tasks.
    pub(crate) tasks: bool,
}

/// `None`: there was no process yet.
#[derive(Default)]
struct Tail(Option<Box<dyn Fn() -> String + Send + Sync>>);

impl fmt::Debug for Tail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.is_some().fmt(f)
    }
}

#[derive(Debug, Default)]
struct Status {
    server: Option<Arc<ServerInfo>>,
    /// How often a connection was made.
    connections: u64,
    closed: Option<Closed>,
    /// Why the first connection did not come about.
    failed: Option<ConnectError>,
    wakers: Vec<Waker>,
}

impl Shared {
    pub(crate) fn new(
        handlers: Handlers,
        cache: Cache,
        timeouts: Timeouts,
        settings: Settings,
    ) -> Self {
        Self {
            handlers,
            cache,
            timeouts,
            listeners: Listeners::default(),
            settings,
            takes_calls: AtomicBool::new(false),
            counters: Mutex::default(),
            level: Mutex::default(),
            stderr: Mutex::default(),
            status: Mutex::default(),
        }
    }

    pub(crate) fn connected(&self, server: ServerInfo) {
        self.change(|status| {
            status.server = Some(Arc::new(server));
            status.connections += 1;
        });
    }

    /// The first connection did not come about.
    pub(crate) fn failed(&self, error: ConnectError) {
        self.change(|status| status.failed = Some(error));
    }

    /// There is no connection any more, and there will be none.
    pub(crate) fn closed(&self, closed: Closed) {
        self.change(|status| {
            status.closed.get_or_insert(closed);
        });
    }

    pub(crate) fn server(&self) -> Option<Arc<ServerInfo>> {
        self.lock().server.clone()
    }

    pub(crate) fn why_closed(&self) -> Option<Closed> {
        self.lock().closed.clone()
    }

    pub(crate) fn set_stderr(&self, tail: impl Fn() -> String + Send + Sync + 'static) {
        let mut known = self.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        *known = Tail(Some(Box::new(tail)));
    }

    pub(crate) fn stderr(&self) -> String {
        let known = self.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        known.0.as_ref().map(|tail| tail()).unwrap_or_default()
    }

    pub(crate) fn level(&self) -> Option<LoggingLevel> {
        *self.level.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns what it was.
    pub(crate) fn set_level(&self, level: Option<LoggingLevel>) -> Option<LoggingLevel> {
        let mut known = self.level.lock().unwrap_or_else(PoisonError::into_inner);
        core::mem::replace(&mut known, level)
    }

    /// How often a connection was made.
    pub(crate) fn connections(&self) -> u64 {
        self.lock().connections
    }

    pub(crate) fn takes_calls(&self) -> bool {
        self.takes_calls.load(Ordering::SeqCst)
    }

    pub(crate) fn take_calls(&self, takes: bool) {
        // One order with the queue: whoever finds this true after sending is among those given back when it changes.
        self.takes_calls.store(takes, Ordering::SeqCst);
    }

    /// What was not as it should be, on all connections.
    pub(crate) fn counters(&self) -> Counters {
        *self.counted()
    }

    /// An engine that had counted `before` has counted `now`.
    pub(crate) fn count(&self, before: &Counters, now: &Counters) {
        let mut sum = self.counted();
        sum.late += now.late - before.late;
        sum.unknown += now.unknown - before.unknown;
        sum.mistyped += now.mistyped - before.mistyped;
        sum.rejected += now.rejected - before.rejected;
        sum.dropped += now.dropped - before.dropped;
    }

    fn counted(&self) -> MutexGuard<'_, Counters> {
        self.counters.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut Status)) {
        let mut status = self.lock();
        change(&mut status);
        let wakers = core::mem::take(&mut status.wakers);
        drop(status);
        wakers.into_iter().for_each(Waker::wake);
    }

    fn lock(&self) -> MutexGuard<'_, Status> {
        self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Handle {
    pub(crate) fn new(shared: Arc<Shared>) -> (Arc<Self>, Ends) {
        let (calls, calls_out) = async_channel::bounded(CALLS);
        let (control, control_out) = async_channel::unbounded();
        let (closing, closing_out) = async_channel::bounded(1);
        let (closed_in, closed) = async_channel::bounded(1);
        let handle = Self {
            shared,
            calls,
            control,
            closing,
            closed,
        };
        let ends = Ends {
            calls: Box::pin(calls_out),
            control: Box::pin(control_out),
            closing: Box::pin(closing_out),
            _closed: closed_in,
        };
        (Arc::new(handle), ends)
    }

    /// Until the first connection is there.
    pub(crate) fn connected(&self) -> impl Future<Output = Result<(), ConnectError>> {
        poll_fn(|cx| {
            let mut status = self.shared.lock();
            if let Some(error) = status.failed.take() {
                return Poll::Ready(Err(error));
            }
            if status.server.is_some() {
                return Poll::Ready(Ok(()));
            }
            if let Some(closed) = &status.closed {
                return Poll::Ready(Err(ConnectError::Closed(closed.clone())));
            }
            if !status
                .wakers
                .iter()
                .any(|known| known.will_wake(cx.waker()))
            {
                status.wakers.push(cx.waker().clone());
            }
            Poll::Pending
        })
    }

    /// Makes a call. Dropping the future tells the server that nobody waits (CAN-02).
    pub(crate) async fn call(
        &self,
        method: Cow<'static, str>,
        kind: CallKind,
        params: Json<'static>,
        input: Input,
        options: Wishes,
    ) -> Reply {
        let ceiling = options.ceiling;
        let mut call = Call {
            method,
            kind,
            params,
            input,
            options,
            slot: Arc::default(),
        };
        if self.shared.takes_calls() {
            match self.once(call, false).await {
                Settled::Reply(reply) => return reply,
                Settled::Unsent(unsent) => call = *unsent,
            }
        }
        // It waits for a connection, or for room: the engine does not know of it yet, and ends nothing.
        let again = async {
            loop {
                match self.once(call, true).await {
                    Settled::Reply(reply) => return reply,
                    Settled::Unsent(unsent) => call = *unsent,
                }
            }
        };
        ceiling.guard(again).await
    }

    /// Gives a call to the connection and waits for what becomes of it. `guarded`: somebody looks after its time.
    async fn once(&self, mut call: Call, guarded: bool) -> Settled {
        let ceiling = call.options.ceiling;
        let closed = || Settled::Reply(Err(CallError::Closed(self.why_closed())));
        if self.shared.why_closed().is_some() {
            return closed();
        }
        let slot = Arc::new(Slot::default());
        call.slot = slot.clone();
        // Before it is sent, so that a call is never on its way with nobody to abandon it.
        let waiting = Waiting {
            slot,
            abandon: |slot: &Arc<Slot>| {
                let _ = self.control(Control::Abandon(slot.clone()));
            },
        };
        if self.calls.send(call).await.is_err() {
            return closed();
        }
        if guarded || self.shared.takes_calls() {
            return waiting.await;
        }
        // The connection was lost meanwhile, and what waited was given back before this came.
        let settled = ceiling.guard(async { Ok(waiting.await) }).await;
        settled.unwrap_or_else(|late| Settled::Reply(Err(late)))
    }

    pub(crate) fn control(&self, control: Control) -> Result<(), CallError> {
        self.control
            .try_send(control)
            .map_err(|_| CallError::Closed(self.why_closed()))
    }

    /// Ends the connection, and waits until the process, if there is one, is gone.
    pub(crate) async fn close(&self) -> Closed {
        self.closing.close();
        // Nothing is ever sent: this ends with the channel.
        let _ = self.closed.recv().await;
        self.why_closed()
    }

    fn why_closed(&self) -> Closed {
        self.shared
            .why_closed()
            .unwrap_or_else(|| Closed::new(ClosedReason::Us))
    }
}
