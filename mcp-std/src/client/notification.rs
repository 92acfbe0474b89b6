//! What servers tell unasked, as a stream.

use core::pin::Pin;
use core::task::{Context, Poll, ready};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use async_channel::{Receiver, Sender, TrySendError};
use futures_lite::{Stream, StreamExt};
use mcp_core::json::Json;

/// So many may wait for a reader.
const WAITING: usize = 256;

/// And so many bytes of them. One that is longer may wait alone.
const WAITING_BYTES: usize = 8 * 1024 * 1024;

/// A notification of the server, as it came.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Notification {
    /// Such as `notifications/message`.
    pub method: String,
    /// What it says.
    pub params: Option<Json<'static>>,
}

impl Notification {
    fn bytes(&self) -> usize {
        let params = self.params.as_ref();
        self.method.len() + params.map_or(0, |params| params.as_str().len())
    }
}

/// The notifications of a server, from now on: all but progress, which belongs to its call.
///
/// At most 256 wait, of 8 MiB together; of more, the new ones are dropped and [counted](Self::dropped). For what must not be
/// lost there are
/// [`Subscription`](super::Subscription) and [`ClientBuilder::on_log`](super::ClientBuilder::on_log).
#[derive(Debug)]
#[must_use = "streams do nothing unless polled"]
pub struct Notifications {
    queue: Pin<Box<Receiver<Notification>>>,
    tally: Arc<Tally>,
}

/// What the two ends of a queue know of it.
#[derive(Debug, Default)]
struct Tally {
    dropped: AtomicU64,
    /// That wait.
    bytes: AtomicUsize,
}

impl Notifications {
    /// The next one, when it comes; `None` when the connection has ended for good.
    pub async fn next(&mut self) -> Option<Notification> {
        StreamExt::next(self).await
    }

    /// How many were dropped because nobody read them.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.tally.dropped.load(Ordering::Relaxed)
    }
}

impl Stream for Notifications {
    type Item = Notification;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Notification>> {
        let next = ready!(self.queue.as_mut().poll_next(cx));
        if let Some(next) = &next {
            self.tally.bytes.fetch_sub(next.bytes(), Ordering::Relaxed);
        }
        Poll::Ready(next)
    }
}

/// Those who read; none any more when the connection has ended for good.
#[derive(Debug)]
pub(crate) struct Listeners(Mutex<Option<Vec<Listener>>>);

impl Default for Listeners {
    fn default() -> Self {
        Self(Mutex::new(Some(Vec::new())))
    }
}

#[derive(Debug)]
struct Listener {
    queue: Sender<Notification>,
    tally: Arc<Tally>,
}

impl Listener {
    /// `false`: nobody listens any more.
    fn tell(&self, notification: &Notification, bytes: usize) -> bool {
        // Counted before it can be read. The connection alone adds, so that what is read here is no less than what waits.
        let waiting = self.tally.bytes.fetch_add(bytes, Ordering::Relaxed);
        if waiting == 0 || waiting.saturating_add(bytes) <= WAITING_BYTES {
            match self.queue.try_send(notification.clone()) {
                Ok(()) => return true,
                Err(TrySendError::Full(_)) => {}
                Err(TrySendError::Closed(_)) => return false,
            }
        }
        self.tally.bytes.fetch_sub(bytes, Ordering::Relaxed);
        self.tally.dropped.fetch_add(1, Ordering::Relaxed);
        !self.queue.is_closed()
    }
}

impl Listeners {
    pub(crate) fn listen(&self) -> Notifications {
        let (queue, receiver) = async_channel::bounded(WAITING);
        let tally = Arc::<Tally>::default();
        let listener = Listener {
            queue,
            tally: tally.clone(),
        };
        if let Some(listeners) = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            listeners.push(listener);
        }
        Notifications {
            queue: Box::pin(receiver),
            tally,
        }
    }

    /// Tells all of them; the notification is made only if there is one.
    pub(crate) fn tell(&self, make: impl FnOnce() -> Notification) {
        let mut listeners = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(listeners) = listeners.as_mut().filter(|all| !all.is_empty()) else {
            return;
        };
        let notification = make();
        let bytes = notification.bytes();
        listeners.retain(|listener| listener.tell(&notification, bytes));
    }

    /// There will be no more.
    pub(crate) fn end(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_lite::future::block_on;

    fn notification(number: usize) -> Notification {
        Notification {
            method: number.to_string(),
            params: None,
        }
    }

    #[test]
    fn each_reader_gets_each_and_one_that_does_not_read_costs_a_bound() {
        let listeners = Listeners::default();
        listeners.tell(|| unreachable!("nobody listens"));
        let (mut one, two) = (listeners.listen(), listeners.listen());
        for number in 0..1000 {
            listeners.tell(|| notification(number));
            if number < 10 {
                let next = block_on(one.next());
                assert_eq!(next, Some(notification(number)));
            }
        }
        assert_eq!(two.dropped(), 1000 - WAITING as u64);
        drop(one);
        listeners.tell(|| notification(0));
        let left = listeners
            .0
            .lock()
            .expect("one thread")
            .as_ref()
            .map(Vec::len);
        assert_eq!(left, Some(1));
        listeners.end();
        assert_eq!(block_on(listeners.listen().next()), None);
        let all = block_on(two.collect::<Vec<_>>());
        assert_eq!(all, (0..WAITING).map(notification).collect::<Vec<_>>());
    }
    #[test]
    fn long_ones_are_held_up_to_a_bound() {
        let long = |bytes: usize| Notification {
            method: "x".repeat(bytes),
            params: None,
        };
        let listeners = Listeners::default();
        let mut reader = listeners.listen();
        for _ in 0..3 {
            listeners.tell(|| long(WAITING_BYTES / 2));
        }
        assert_eq!(reader.dropped(), 1);
        block_on(reader.next());
        listeners.tell(|| long(WAITING_BYTES / 2));
        assert_eq!(reader.dropped(), 1, "there was room again");
        for _ in 0..2 {
            assert!(block_on(reader.next()).is_some());
        }
        listeners.tell(|| long(WAITING_BYTES + 1));
        assert!(block_on(reader.next()).is_some(), "alone it may wait");
        assert_eq!(reader.tally.bytes.load(Ordering::Relaxed), 0);
    }
}
