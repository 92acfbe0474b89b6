//! Pauses between attempts.

use core::time::Duration;

/// How long is waited before a server that failed is started again, and how often.
///
/// Each pause is twice the last one, up to the longest, and then cut by a random part of up to a half, so that servers that
/// failed together do not come back together. A connection that held for a minute makes the count begin anew.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Backoff {
    /// The first pause. Default: half a second.
    pub first: Duration,
    /// The longest one. Default: 30 seconds.
    pub longest: Duration,
    /// So many attempts in a row, the first start not included. Default: 5.
    pub attempts: u32,
}

impl Backoff {
    /// The defaults.
    pub const DEFAULT: Self = Self {
        first: Duration::from_millis(500),
        longest: Duration::from_secs(30),
        attempts: 5,
    };

    /// What has failed is left alone.
    pub const NEVER: Self = Self {
        attempts: 0,
        ..Self::DEFAULT
    };

    /// Up to `attempts` in a row, after `first` and then longer pauses.
    #[must_use]
    pub const fn new(attempts: u32, first: Duration) -> Self {
        Self {
            first,
            attempts,
            ..Self::DEFAULT
        }
    }

    /// The pause before attempt number `attempt` in a row, from 0 on. `None`: enough.
    pub(crate) fn pause(self, attempt: u32, random: u64) -> Option<Duration> {
        if attempt >= self.attempts {
            return None;
        }
        let whole = self.first.saturating_mul(1 << attempt.min(16));
        let half = whole.min(self.longest.max(self.first)) / 2;
        // Of 1024 parts: finer than anybody measures.
        let part = u32::try_from(random % 1025).unwrap_or_default();
        Some(half + half.saturating_mul(part) / 1024)
    }
}

impl Default for Backoff {
    fn default() -> Self {
        Self::DEFAULT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_are_cut_by_a_half_at_most_and_end() {
        let backoff = Backoff::new(8, Duration::from_secs(1));
        for (attempt, whole) in [1, 2, 4, 8, 16, 30, 30, 30].into_iter().enumerate() {
            let attempt = u32::try_from(attempt).expect("small");
            for random in [0, 1, 512, 1024, u64::MAX] {
                let pause = backoff
                    .pause(attempt, random)
                    .expect("not enough yet")
                    .as_secs_f64();
                assert!(
                    (f64::from(whole) / 2.0..=f64::from(whole)).contains(&pause),
                    "{attempt} {pause}"
                );
            }
        }
        assert_eq!(backoff.pause(8, 0), None);
        assert_eq!(Backoff::NEVER.pause(0, 0), None);
        assert!(backoff.pause(0, 0) < backoff.pause(0, 1024));
    }
}
