//! How many bytes may wait together.

use core::future::poll_fn;
use core::mem::take;
use core::task::{Context, Poll, Waker};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Whoever wants to add something waits while more than this waits.
#[derive(Debug)]
pub(crate) struct Allowance {
    most: usize,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    bytes: usize,
    /// Of those that wait.
    wakers: BTreeMap<u64, Waker>,
    next: u64,
}

/// Bytes that wait, until this is dropped.
#[derive(Debug)]
pub(crate) struct Share {
    of: Arc<Allowance>,
    bytes: usize,
}

impl Allowance {
    pub(crate) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self {
            most,
            taken: Mutex::default(),
        })
    }

    /// Waits until there is room: for whatever comes then, so that nothing is too long to ever have its turn.
    pub(crate) async fn take(self: &Arc<Self>, bytes: usize) -> Share {
        let mut place = Place {
            of: self,
            number: None,
        };
        poll_fn(|cx| place.poll(cx, bytes)).await;
        Share {
            of: self.clone(),
            bytes,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Of one who waits.
struct Place<'a> {
    of: &'a Allowance,
    number: Option<u64>,
}

impl Place<'_> {
    fn poll(&mut self, cx: &Context<'_>, bytes: usize) -> Poll<()> {
        let mut taken = self.of.lock();
        if taken.bytes < self.of.most {
            taken.bytes += bytes;
            return Poll::Ready(());
        }
        let number = *self.number.get_or_insert(taken.next);
        taken.next = taken.next.max(number + 1);
        taken.wakers.insert(number, cx.waker().clone());
        Poll::Pending
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        if let Some(number) = self.number {
            self.of.lock().wakers.remove(&number);
        }
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut taken = self.of.lock();
        taken.bytes -= self.bytes;
        let wakers = take(&mut taken.wakers);
        drop(taken);
        wakers.into_values().for_each(Waker::wake);
    }
}

#[cfg(test)]
mod tests {
    use core::pin::pin;

    use futures_lite::future::{block_on, poll_once};

    use super::*;

    #[test]
    fn there_is_room_again_when_something_is_gone() {
        let allowance = Allowance::new(10);
        block_on(async {
            let first = allowance.take(9).await;
            let long = allowance.take(1_000).await;
            let mut waiting = pin!(allowance.take(1));
            assert!(poll_once(&mut waiting).await.is_none());
            drop(first);
            assert!(poll_once(&mut waiting).await.is_none());
            drop(long);
            let last = waiting.await;
            assert_eq!(allowance.lock().bytes, 1);
            drop(last);
            assert_eq!(allowance.lock().bytes, 0);
            // Who waits no more leaves nothing behind.
            let all = allowance.take(10).await;
            let mut given_up = Box::pin(allowance.take(1));
            assert!(poll_once(&mut given_up).await.is_none());
            assert_eq!(allowance.lock().wakers.len(), 1);
            drop(given_up);
            assert!(allowance.lock().wakers.is_empty());
            drop(all);
        });
    }
}
