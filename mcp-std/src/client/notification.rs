//! What servers tell unasked, as a stream.

use core::pin::Pin;
use core::task::{Context, Poll};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use async_channel::{Receiver, Sender, TrySendError};
use futures_lite::Stream;
use mcp_core::json::Json;

/// So many may wait for a reader.
const WAITING: usize = 256;

/// A notification of the server, as it came.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Notification {
    /// Such as `notifications/message`.
    pub method: String,
    /// What it says.
    pub params: Option<Json<'static>>,
}

/// The notifications of a server, from now on: all but progress, which belongs to its call.
///
/// At most 256 wait; of more, the new ones are dropped and [counted](Self::dropped). For what must not be lost there are
/// [`Subscription`](super::Subscription) and [`ClientBuilder::on_log`](super::ClientBuilder::on_log).
#[derive(Debug)]
#[must_use = "streams do nothing unless polled"]
pub struct Notifications {
    queue: Pin<Box<Receiver<Notification>>>,
    dropped: Arc<AtomicU64>,
}

impl Notifications {
    /// How many were dropped because nobody read them.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }
}

impl Stream for Notifications {
    type Item = Notification;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Notification>> {
        self.queue.as_mut().poll_next(cx)
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
    dropped: Arc<AtomicU64>,
}

impl Listeners {
    pub(crate) fn listen(&self) -> Notifications {
        let (queue, receiver) = async_channel::bounded(WAITING);
        let dropped = Arc::new(AtomicU64::new(0));
        let listener = Listener {
            queue,
            dropped: dropped.clone(),
        };
        if let Some(listeners) = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            listeners.push(listener);
        }
        Notifications {
            queue: Box::pin(receiver),
            dropped,
        }
    }

    /// Tells all of them; the notification is made only if there is one.
    pub(crate) fn tell(&self, make: impl FnOnce() -> Notification) {
        let mut listeners = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(listeners) = listeners.as_mut().filter(|all| !all.is_empty()) else {
            return;
        };
        let notification = make();
        listeners.retain(
            |listener| match listener.queue.try_send(notification.clone()) {
                Ok(()) => true,
                Err(TrySendError::Full(_)) => {
                    listener.dropped.fetch_add(1, Ordering::Relaxed);
                    true
                }
                Err(TrySendError::Closed(_)) => false,
            },
        );
    }

    /// There will be no more.
    pub(crate) fn end(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_lite::StreamExt;
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
}
