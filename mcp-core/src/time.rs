//! Time as an argument: the engine has no clock, its caller does.

use core::ops::Add;
use core::time::Duration;

/// A point in time: microseconds since whatever moment the caller chose. It must not run backwards; one that does is
/// taken for the latest one there was.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Instant(u64);

impl Instant {
    /// The moment that the others are counted from.
    pub const ZERO: Self = Self(0);

    /// So many microseconds after [`ZERO`](Self::ZERO).
    #[must_use]
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros)
    }

    /// So long after [`ZERO`](Self::ZERO), the last moment there is at most.
    #[must_use]
    pub fn from_origin(elapsed: Duration) -> Self {
        Self::ZERO + elapsed
    }

    /// Microseconds since [`ZERO`](Self::ZERO).
    #[must_use]
    pub const fn as_micros(self) -> u64 {
        self.0
    }

    /// How long after `earlier` this is; nothing if it is before that.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_micros(self.0.saturating_sub(earlier.0))
    }
}

/// Parts of a microsecond are cut off. There is a last moment, about 584 000 years on: nothing is added to that.
impl Add<Duration> for Instant {
    type Output = Self;

    fn add(self, duration: Duration) -> Self {
        let micros = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        Self(self.0.saturating_add(micros))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_has_an_end_and_no_way_back() {
        let now = Instant::from_micros(5);
        assert_eq!((now + Duration::from_nanos(2_999)).as_micros(), 7);
        assert_eq!((now + Duration::MAX).as_micros(), u64::MAX);
        assert_eq!(now.since(Instant::from_micros(2)), Duration::from_micros(3));
        assert_eq!(now.since(Instant::from_micros(9)), Duration::ZERO);
        assert_eq!(
            Instant::from_origin(Duration::from_secs(1)).as_micros(),
            1_000_000
        );
    }
}
