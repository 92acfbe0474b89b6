//! How long a whole call may take, whatever it consists of: waiting, requests, input, pauses, and all of it once more.

use core::future::Future;
use core::time::Duration;
use std::time::Instant;

use async_io::Timer;
use futures_lite::future::or;

use super::error::{CallError, Timeout};

/// When a call is over in any case. The engine ends what is on its way to the server by then; the rest is for
/// [`guard`](Self::guard).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ceiling {
    total: Duration,
    /// `None`: never.
    at: Option<Instant>,
}

impl Ceiling {
    /// From now on.
    pub(crate) fn new(total: Duration) -> Self {
        Self {
            total,
            at: Instant::now().checked_add(total),
        }
    }

    pub(crate) const fn total(self) -> Duration {
        self.total
    }

    /// How much time is left, [`Duration::MAX`] if there is no end to it. `None`: it is over.
    pub(crate) fn left(self) -> Option<Duration> {
        let Some(at) = self.at else {
            return Some(Duration::MAX);
        };
        let left = at.saturating_duration_since(Instant::now());
        (!left.is_zero()).then_some(left)
    }

    pub(crate) const fn error(self) -> CallError {
        CallError::Timeout(Timeout::Total(self.total))
    }

    /// `doing`, or the error when it is over.
    pub(crate) async fn guard<T>(
        self,
        doing: impl Future<Output = Result<T, CallError>>,
    ) -> Result<T, CallError> {
        let Some(at) = self.at else {
            return doing.await;
        };
        let over = async {
            Timer::at(at).await;
            Err(self.error())
        };
        or(doing, over).await
    }
}
