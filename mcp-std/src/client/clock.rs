//! Time, as the client sees it: the machine's, or a test's.

use core::fmt;
use core::time::Duration;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Instant;

use mcp_core::time;

/// Where the client takes the time from for what it caches: the machine's monotonic clock, or one that a test moves.
///
/// ```
/// # use core::time::Duration;
/// use mcp_std::client::Clock;
///
/// let clock = Clock::simulated();
/// clock.advance(Duration::from_secs(60));
/// ```
#[derive(Clone, Default)]
pub struct Clock(Option<Arc<AtomicU64>>);

/// What the machine's clock is counted from.
static START: LazyLock<Instant> = LazyLock::new(Instant::now);

impl Clock {
    /// The machine's.
    #[must_use]
    pub const fn machine() -> Self {
        Self(None)
    }

    /// One that stands still until it is moved. Its clones move with it.
    #[must_use]
    pub fn simulated() -> Self {
        Self(Some(Arc::default()))
    }

    /// Moves a simulated clock, to the microsecond. The machine's goes by itself.
    pub fn advance(&self, by: Duration) {
        if let Some(now) = &self.0 {
            let by = u64::try_from(by.as_micros()).unwrap_or(u64::MAX);
            now.fetch_add(by, Ordering::SeqCst);
        }
    }

    /// Since some moment in the past.
    pub(crate) fn now(&self) -> Duration {
        match &self.0 {
            Some(now) => Duration::from_micros(now.load(Ordering::SeqCst)),
            None => START.elapsed(),
        }
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() {
            "Clock(simulated)"
        } else {
            "Clock(machine)"
        })
    }
}

/// Now, as the engine counts it.
pub(crate) fn engine_now() -> time::Instant {
    let micros = START.elapsed().as_micros();
    time::Instant::from_micros(u64::try_from(micros).unwrap_or(u64::MAX))
}

/// When that is on the machine's clock.
pub(crate) fn machine_instant(at: time::Instant) -> Instant {
    const FAR: Duration = Duration::from_secs(1 << 32);
    let after = Duration::from_micros(at.as_micros());
    START.checked_add(after).unwrap_or(*START + FAR)
}
