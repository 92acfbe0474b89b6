//! What changes at the server, as a stream.

use core::fmt;
use core::future::poll_fn;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_io::Timer;
use futures_lite::future::or;
use futures_lite::{Stream, StreamExt};
use mcp_core::model::SubscriptionFilter;

use super::changes::{Change, Changes, Named};
use super::error::{CallError, Closed, ErrorAnswer, Timeout};
use super::handle::{Control, Handle};

/// So much may wait for a slow reader by name; of more, only that there is some is kept.
const NAMED: Named = Named {
    count: 1024,
    bytes: 1024 * 1024,
};

/// The changes that were subscribed to, as they come: by [`next`](Self::next), or as a stream. Made by
/// [`Client::subscribe`](super::Client::subscribe).
///
/// A reader that is slow loses no kind of change: what has not been read yet is kept once, however often it happens, and
/// when the names of the resources would be too many, more than 1,024 or 1 MiB together, they become
/// [`Change::ManyResources`].
///
/// After a restart of the server the subscription is made again; since nobody knows what changed meanwhile, all that was
/// subscribed to is given as changed. The stream ends when the server ends the subscription, or the connection is closed for
/// good: [`end`](Self::end) tells.
///
/// Dropping it ends the subscription.
#[must_use = "dropping it ends the subscription"]
pub struct Subscription {
    channel: Arc<Channel>,
    handle: Arc<Handle>,
}

/// Why there are no more changes to come.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum SubscriptionEnd {
    /// The server ended it, in order.
    Server,
    /// The server ended it before it had acknowledged it, which it must not.
    // SUB-03.
    Unacknowledged,
    /// The server refused it.
    Refused(ErrorAnswer),
    /// The server did not say within this time, [`Timeouts::request`](super::Timeouts::request), that it begins.
    TimedOut(Duration),
    /// The connection is closed.
    Closed(Closed),
}

/// The connection's end and the reader's end of a subscription.
#[derive(Debug)]
pub(crate) struct Channel {
    pub(crate) filter: SubscriptionFilter<'static>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    changes: Changes,
    acknowledged: Option<SubscriptionFilter<'static>>,
    /// How often: more than once after restarts.
    acknowledgements: usize,
    end: Option<SubscriptionEnd>,
    waker: Option<Waker>,
}

impl Channel {
    pub(crate) fn new(filter: SubscriptionFilter<'static>) -> Arc<Self> {
        Arc::new(Self {
            filter,
            state: Mutex::new(State {
                changes: Changes::new(NAMED),
                acknowledged: None,
                acknowledgements: 0,
                end: None,
                waker: None,
            }),
        })
    }

    /// The server says what it will tell of. Again: on another connection, and changes may have been missed (SUB-18).
    pub(crate) fn acknowledge(&self, honoured: SubscriptionFilter<'static>) {
        self.with(|state| {
            state.acknowledgements += 1;
            if state.acknowledgements > 1 {
                for change in all(&honoured) {
                    state.changes.push(change);
                }
            }
            state.acknowledged = Some(honoured);
        });
    }

    pub(crate) fn push(&self, change: Change) {
        self.with(|state| state.changes.push(change));
    }

    pub(crate) fn end(&self, end: SubscriptionEnd) {
        self.with(|state| {
            if state.end.is_none() {
                state.end = Some(end);
            }
        });
    }

    /// How often the server has said what it will tell of.
    pub(crate) fn acknowledgements(&self) -> usize {
        self.lock().acknowledgements
    }

    pub(crate) fn is_acknowledged(&self) -> bool {
        self.lock().acknowledged.is_some()
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.lock().end.is_some()
    }

    fn with(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.lock();
        change(&mut state);
        let waker = state.waker.take();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Until it is acknowledged, or cannot be.
    fn poll_begun(&self, waker: &Waker) -> Poll<Result<(), CallError>> {
        let mut state = self.lock();
        if state.acknowledged.is_some() {
            return Poll::Ready(Ok(()));
        }
        let failed = match state.end.clone() {
            Some(SubscriptionEnd::Refused(answer)) => CallError::Protocol(answer),
            Some(SubscriptionEnd::Closed(closed)) => CallError::Closed(closed),
            Some(SubscriptionEnd::TimedOut(time)) => CallError::Timeout(Timeout::Request(time)),
            Some(SubscriptionEnd::Server | SubscriptionEnd::Unacknowledged) => CallError::Answer {
                method: "subscriptions/listen".into(),
                fault: "it ended without an acknowledgement".to_owned(),
            },
            None => {
                state.waker = Some(waker.clone());
                return Poll::Pending;
            }
        };
        Poll::Ready(Err(failed))
    }

    fn poll_next(&self, waker: &Waker) -> Poll<Option<Change>> {
        let mut state = self.lock();
        if let Some(change) = state.changes.pop() {
            return Poll::Ready(Some(change));
        }
        if state.end.is_some() {
            return Poll::Ready(None);
        }
        state.waker = Some(waker.clone());
        Poll::Pending
    }
}

/// Everything a filter names, as changed.
fn all(filter: &SubscriptionFilter<'_>) -> impl Iterator<Item = Change> {
    let lists = [
        (filter.tools_list_changed, Change::Tools),
        (filter.prompts_list_changed, Change::Prompts),
        (filter.resources_list_changed, Change::Resources),
    ];
    let uris = filter
        .resource_subscriptions
        .iter()
        .flat_map(|uris| uris.iter());
    lists
        .into_iter()
        .filter(|(wanted, _)| *wanted)
        .map(|(_, change)| change)
        .chain(uris.map(|uri| Change::Resource(uri.to_string())))
}

impl Subscription {
    /// Waits until the server has said what it will tell of, for as long as a request may be silent.
    pub(crate) async fn open(
        handle: Arc<Handle>,
        filter: SubscriptionFilter<'static>,
    ) -> Result<Self, CallError> {
        let time = handle.shared.timeouts.request;
        let channel = Channel::new(filter);
        handle.control(Control::Subscribe(channel.clone()))?;
        // Dropped when it is late, which ends what the server may still begin.
        let subscription = Self { channel, handle };
        let late = async {
            Timer::after(time).await;
            Err(CallError::Timeout(Timeout::Request(time)))
        };
        let begun = poll_fn(|cx| subscription.channel.poll_begun(cx.waker()));
        or(begun, late).await?;
        Ok(subscription)
    }

    /// The next change, when there is one; `None` when there will be none.
    pub async fn next(&mut self) -> Option<Change> {
        StreamExt::next(self).await
    }

    /// What the server will tell of: what was asked for, or less.
    #[must_use]
    pub fn acknowledged(&self) -> SubscriptionFilter<'static> {
        self.channel.lock().acknowledged.clone().unwrap_or_default()
    }

    /// Why the stream has ended; `None` while it has not.
    #[must_use]
    pub fn end(&self) -> Option<SubscriptionEnd> {
        self.channel.lock().end.clone()
    }
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscription")
            .field("acknowledged", &self.acknowledged())
            .field("end", &self.end())
            .finish_non_exhaustive()
    }
}

impl Stream for Subscription {
    type Item = Change;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Change>> {
        self.channel.poll_next(cx.waker())
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        // Refused: there is no connection, and so nothing to end.
        let _ = self
            .handle
            .control(Control::Unsubscribe(self.channel.clone()));
    }
}
