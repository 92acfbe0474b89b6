//! Where the answer to one call waits for who asked.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mcp_core::engine::client::RequestKey;
use mcp_core::json::Json;

use super::error::CallError;
use super::handle::Call;

/// What a call came to.
pub(crate) type Reply = Result<Outcome, CallError>;

/// What a server answered.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// The result.
    Complete(Json<'static>),
    /// Input is required; then the call is to be made again (MRTR-08).
    InputRequired(Json<'static>),
    /// Something of an extension.
    Extension(Json<'static>),
}

/// What becomes of a call that was given to the connection.
#[derive(Debug)]
pub(crate) enum Settled {
    Reply(Reply),
    /// The connection ended before it was sent: it can be made again.
    Unsent(Box<Call>),
}

/// One call, seen from both ends: who asked has the [`Waiting`], the connection the rest.
#[derive(Debug, Default)]
pub(crate) struct Slot(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    settled: Option<Settled>,
    waker: Option<Waker>,
    /// Set while the server works on it.
    key: Option<RequestKey>,
    /// Answered, or nobody waits any more.
    over: bool,
}

impl Slot {
    /// The call is on its way. `false`: nobody waits for it any more.
    pub(crate) fn sent(&self, key: RequestKey) -> bool {
        let mut state = self.lock();
        state.key = Some(key);
        !state.over
    }

    /// Whether somebody waits.
    pub(crate) fn is_wanted(&self) -> bool {
        !self.lock().over
    }

    /// The key of a call that is on its way and that nobody waits for any more.
    pub(crate) fn abandoned(&self) -> Option<RequestKey> {
        self.lock().key.take()
    }

    /// Hands over the answer; a second one is dropped.
    pub(crate) fn answer(&self, reply: Reply) {
        self.settle(Settled::Reply(reply));
    }

    /// Gives a call of this slot back that was not sent.
    pub(crate) fn give_back(&self, call: Call) {
        self.settle(Settled::Unsent(Box::new(call)));
    }

    fn settle(&self, settled: Settled) {
        let mut state = self.lock();
        if state.over {
            return;
        }
        state.over = true;
        state.key = None;
        state.settled = Some(settled);
        let waker = state.waker.take();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waits for the answer. Dropped before that, it tells `abandon`.
pub(crate) struct Waiting<F: FnMut(&Arc<Slot>)> {
    pub(crate) slot: Arc<Slot>,
    pub(crate) abandon: F,
}

impl<F: FnMut(&Arc<Slot>) + Unpin> Future for Waiting<F> {
    type Output = Settled;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Settled> {
        let mut state = self.slot.lock();
        if let Some(settled) = state.settled.take() {
            return Poll::Ready(settled);
        }
        match &mut state.waker {
            Some(waker) => waker.clone_from(cx.waker()),
            none => *none = Some(cx.waker().clone()),
        }
        Poll::Pending
    }
}

impl<F: FnMut(&Arc<Slot>)> Drop for Waiting<F> {
    fn drop(&mut self) {
        let mut state = self.slot.lock();
        if core::mem::replace(&mut state.over, true) {
            return;
        }
        drop(state);
        (self.abandon)(&self.slot);
    }
}
