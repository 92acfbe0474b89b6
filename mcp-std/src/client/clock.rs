//! Time, as the client sees it: the machine's, or a test's.

use core::fmt;
use core::time::Duration;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
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

/// Time that does not count for a connection: its user is doing something, such as logging in. By default there is none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pause(Option<Arc<Mutex<Paused>>>);

#[derive(Debug, Default)]
struct Paused {
    before: Duration,
    since: Option<Instant>,
}

/// While it is there, time does not count.
#[cfg(feature = "auth")]
pub(crate) struct Held(Arc<Mutex<Paused>>);

impl Pause {
    /// One that can be begun.
    #[cfg(feature = "auth")]
    pub(crate) fn new() -> Self {
        Self(Some(Arc::default()))
    }

    /// Time stands still from now on. One at a time.
    #[cfg(feature = "auth")]
    pub(crate) fn begin(&self) -> Option<Held> {
        let paused = self.0.as_ref()?;
        locked(paused).since = Some(Instant::now());
        Some(Held(paused.clone()))
    }

    /// How much time did not count so far, and whether it stands still.
    pub(crate) fn total(&self) -> (Duration, bool) {
        let Some(paused) = &self.0 else {
            return (Duration::ZERO, false);
        };
        let paused = locked(paused);
        let running = paused.since.map(|since| since.elapsed());
        (
            paused.before + running.unwrap_or_default(),
            running.is_some(),
        )
    }

    /// Now, as the engine counts it.
    pub(crate) fn now(&self) -> time::Instant {
        let (lost, _) = self.total();
        let lost = u64::try_from(lost.as_micros()).unwrap_or(u64::MAX);
        time::Instant::from_micros(engine_now().as_micros().saturating_sub(lost))
    }

    /// When that is on the machine's clock, as far as that can be told.
    pub(crate) fn instant(&self, at: time::Instant) -> Instant {
        /// How often is looked again while time stands still.
        const LOOK: Duration = Duration::from_millis(200);
        let (lost, still) = self.total();
        let at = machine_instant(at);
        let at = at.checked_add(lost).unwrap_or(at);
        if still {
            at.max(Instant::now() + LOOK)
        } else {
            at
        }
    }
}

fn locked(paused: &Mutex<Paused>) -> MutexGuard<'_, Paused> {
    paused.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(feature = "auth")]
impl Drop for Held {
    fn drop(&mut self) {
        let mut paused = locked(&self.0);
        if let Some(since) = paused.since.take() {
            paused.before += since.elapsed();
        }
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
