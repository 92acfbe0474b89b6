//! A histogram of durations in constant memory.

use core::time::Duration;

/// Bits kept of each value: a bucket is at most 1/128 of its value wide.
const BITS: u32 = 7;
const STEPS: usize = 1 << BITS;
/// Values below `STEPS` have a bucket each; every doubling above has `STEPS` more.
const BUCKETS: usize = STEPS * (64 - BITS as usize + 1);

/// Counts durations in nanoseconds, in about 60 KiB, whatever their number.
///
/// A percentile is exact to 0.8 percent; the maximum is exact.
#[derive(Clone, Debug)]
pub struct Histogram {
    buckets: Vec<u64>,
    count: u64,
    max: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

impl Histogram {
    /// An empty histogram.
    #[must_use]
    pub fn new() -> Self {
        Self {
            buckets: vec![0; BUCKETS],
            count: 0,
            max: 0,
        }
    }

    /// Counts one duration of so many nanoseconds.
    pub fn record(&mut self, nanos: u64) {
        self.buckets[bucket(nanos)] += 1;
        self.count += 1;
        self.max = self.max.max(nanos);
    }

    /// How many durations were counted.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// The longest duration; zero if there is none.
    #[must_use]
    pub const fn max(&self) -> Duration {
        Duration::from_nanos(self.max)
    }

    /// The duration that `percent` of all do not exceed (nearest rank, upper end of its bucket); zero if there is none.
    #[must_use]
    pub fn percentile(&self, percent: f64) -> Duration {
        let rank = (self.count as f64 * percent / 100.0).ceil().max(1.0) as u64;
        let mut seen = 0;
        for (index, &count) in self.buckets.iter().enumerate() {
            seen += count;
            if seen >= rank {
                return Duration::from_nanos(upper_end(index).min(self.max));
            }
        }
        self.max()
    }
}

fn bucket(nanos: u64) -> usize {
    let shift = (64 - BITS).saturating_sub((nanos | 1).leading_zeros() + 1);
    // The shifted value is below 2 * STEPS, the shift below 64.
    (shift as usize) * STEPS + (nanos >> shift) as usize
}

fn upper_end(index: usize) -> u64 {
    let shift = (index / STEPS).saturating_sub(1);
    let low = (index - shift * STEPS) as u64;
    ((low + 1) << shift).wrapping_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_holds_its_value_and_is_narrow() {
        for exponent in 0..64 {
            for offset in [0, 1, 2, 77] {
                let value = (1_u64 << exponent).saturating_add(offset);
                let end = upper_end(bucket(value));
                assert!(end >= value, "{value} {end}");
                assert!(end - value <= value / 128, "{value} {end}");
            }
        }
        assert_eq!(upper_end(bucket(u64::MAX)), u64::MAX);
        assert!(bucket(u64::MAX) < BUCKETS);
    }

    #[test]
    fn buckets_are_in_order() {
        let mut last = 0;
        for value in 0..100_000 {
            let now = bucket(value);
            assert!(now == last || now == last + 1, "{value}");
            last = now;
        }
    }

    #[test]
    fn percentiles_of_a_known_series() {
        let mut histogram = Histogram::new();
        for value in (1..=10_000).rev() {
            histogram.record(value * 1_000);
        }
        assert_eq!(histogram.count(), 10_000);
        for (percent, exact) in [(50.0, 5_000), (90.0, 9_000), (99.0, 9_900), (0.0, 1)] {
            let exact = Duration::from_micros(exact);
            let got = histogram.percentile(percent);
            assert!(got >= exact && got <= exact.mul_f64(1.008), "{got:?}");
        }
        assert_eq!(histogram.percentile(100.0), Duration::from_millis(10));
        assert_eq!(histogram.max(), Duration::from_millis(10));
    }

    #[test]
    fn nothing_counted_is_zero() {
        assert_eq!(Histogram::new().percentile(50.0), Duration::ZERO);
        assert_eq!(Histogram::new().max(), Duration::ZERO);
    }
}
