//! How many bytes may wait together.

use core::future::poll_fn;
use core::mem::take;
use core::task::{Poll, Waker};
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
    wakers: Vec<Waker>,
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
        poll_fn(|cx| {
            let mut taken = self.lock();
            if taken.bytes < self.most {
                taken.bytes += bytes;
                return Poll::Ready(());
            }
            if !taken.wakers.iter().any(|it| it.will_wake(cx.waker())) {
                taken.wakers.push(cx.waker().clone());
            }
            Poll::Pending
        })
        .await;
        Share {
            of: self.clone(),
            bytes,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut taken = self.of.lock();
        taken.bytes -= self.bytes;
        let wakers = take(&mut taken.wakers);
        drop(taken);
        wakers.into_iter().for_each(Waker::wake);
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
        });
    }
}
