//! Futures that run at the same time, a bounded number of them.

use core::future::{Future, poll_fn};
use core::pin::Pin;
use core::task::{Context, Poll};
use core::time::Duration;
use std::time::Instant;

/// Futures, each with its place. At most `most` of them are polled at once, the first ones first; all are polled whenever one
/// of them wakes, which is cheap for the number of calls that a model makes.
pub(super) struct Join<F> {
    most: usize,
    all: Vec<(usize, Pin<Box<F>>, Option<Instant>)>,
}

impl<F: Future> Join<F> {
    pub(super) const fn new(most: usize) -> Self {
        Self {
            most,
            all: Vec::new(),
        }
    }

    pub(super) fn push(&mut self, at: usize, future: F) {
        self.all.push((at, Box::pin(future), None));
    }

    /// The next one that is done, and how long it took. `None`: all are.
    pub(super) async fn next(&mut self) -> Option<(usize, F::Output, Duration)> {
        if self.all.is_empty() {
            return None;
        }
        Some(poll_fn(|context| self.poll(context)).await)
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<(usize, F::Output, Duration)> {
        for place in 0..self.all.len().min(self.most) {
            let (at, future, begun) = &mut self.all[place];
            let begun = *begun.get_or_insert_with(Instant::now);
            if let Poll::Ready(output) = future.as_mut().poll(context) {
                let at = *at;
                // In order, so that those that wait get their turn in order.
                self.all.remove(place);
                return Poll::Ready((at, output, begun.elapsed()));
            }
        }
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use futures_lite::future::{block_on, yield_now};

    use super::*;

    #[test]
    fn no_more_run_at_once_than_may() {
        let running = core::sync::atomic::AtomicUsize::new(0);
        let most = core::sync::atomic::AtomicUsize::new(0);
        let work = |times: usize| {
            let (running, most) = (&running, &most);
            async move {
                let now = running.fetch_add(1, core::sync::atomic::Ordering::Relaxed) + 1;
                most.fetch_max(now, core::sync::atomic::Ordering::Relaxed);
                for _ in 0..times {
                    yield_now().await;
                }
                running.fetch_sub(1, core::sync::atomic::Ordering::Relaxed);
            }
        };
        let mut join = Join::new(2);
        for (at, times) in [9, 1, 1, 1].into_iter().enumerate() {
            join.push(at, work(times));
        }
        let mut order = Vec::new();
        block_on(async {
            while let Some((at, ..)) = join.next().await {
                order.push(at);
            }
        });
        assert_eq!(order, [1, 2, 3, 0], "the long one is done last");
        assert_eq!(most.into_inner(), 2);
    }
}
