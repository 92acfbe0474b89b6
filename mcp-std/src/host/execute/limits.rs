//! How much a server is asked, and whether it is asked at all.

use core::time::Duration;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use async_lock::Semaphore;

use super::super::config::{RateLimit, ServerConfig};

/// When a server that fails is left alone.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct CircuitBreaker {
    /// After so many failures in a row: no answer in time, no connection, answers that are none. A tool that fails is no such
    /// failure. Default: 5; 0: it is asked whatever happens.
    pub failures: u32,
    /// For so long. Then one call is let through, and if that goes well, all are. Default: 30 seconds.
    pub pause: Duration,
}

impl CircuitBreaker {
    /// The defaults.
    pub const DEFAULT: Self = Self {
        failures: 5,
        pause: Duration::from_secs(30),
    };

    /// After so many failures in a row, for so long.
    #[must_use]
    pub const fn new(failures: u32, pause: Duration) -> Self {
        Self { failures, pause }
    }
}

impl Default for CircuitBreaker {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// What holds calls of one server back.
#[derive(Debug)]
pub(in crate::host) struct Lane {
    pub(super) permits: Semaphore,
    bucket: Option<Mutex<Bucket>>,
    breaker: Mutex<Breaker>,
}

impl Lane {
    pub(in crate::host) fn new(config: &ServerConfig, most: usize, rule: CircuitBreaker) -> Self {
        let now = Instant::now();
        Self {
            permits: Semaphore::new(config.max_concurrent.unwrap_or(most).max(1)),
            bucket: config.rate.map(|limit| Mutex::new(Bucket::new(limit, now))),
            breaker: Mutex::new(Breaker {
                rule,
                failures: 0,
                open_until: None,
                trying: false,
            }),
        }
    }

    /// How long a call has to wait for its turn, which it has from now on.
    pub(super) fn turn(&self) -> Duration {
        self.bucket.as_ref().map_or(Duration::ZERO, |bucket| {
            let mut bucket = bucket.lock().unwrap_or_else(PoisonError::into_inner);
            bucket.take(Instant::now())
        })
    }

    /// Whether a call may be made; else how long not.
    pub(super) fn enter(&self) -> Result<Pass<'_>, Duration> {
        let mut breaker = self.breaker.lock().unwrap_or_else(PoisonError::into_inner);
        breaker.enter(Instant::now())?;
        Ok(Pass {
            lane: self,
            told: false,
        })
    }
}

/// A call that is let through.
#[derive(Debug)]
pub(super) struct Pass<'l> {
    lane: &'l Lane,
    told: bool,
}

impl Pass<'_> {
    pub(super) fn done(mut self, well: bool) {
        self.told = true;
        let breaker = &self.lane.breaker;
        let mut breaker = breaker.lock().unwrap_or_else(PoisonError::into_inner);
        breaker.done(well, Instant::now());
    }
}

impl Drop for Pass<'_> {
    /// A call that was given up says nothing of the server; another one may try.
    fn drop(&mut self) {
        if !self.told {
            let breaker = &self.lane.breaker;
            breaker
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .trying = false;
        }
    }
}

/// Tokens, of which there are more as time goes by. There may be a debt: those who wait have their turns already.
#[derive(Debug)]
struct Bucket {
    limit: RateLimit,
    tokens: f64,
    at: Instant,
}

impl Bucket {
    fn new(limit: RateLimit, now: Instant) -> Self {
        Self {
            limit,
            tokens: f64::from(limit.calls),
            at: now,
        }
    }

    fn take(&mut self, now: Instant) -> Duration {
        let rate = f64::from(self.limit.calls) / self.limit.per.as_secs_f64();
        let grown = now.saturating_duration_since(self.at).as_secs_f64() * rate;
        self.tokens = (self.tokens + grown).min(f64::from(self.limit.calls)) - 1.0;
        self.at = now;
        if self.tokens >= 0.0 {
            return Duration::ZERO;
        }
        Duration::try_from_secs_f64(-self.tokens / rate).unwrap_or(Duration::MAX)
    }
}

/// Closed, open, or open with one call on trial.
#[derive(Debug)]
struct Breaker {
    rule: CircuitBreaker,
    failures: u32,
    open_until: Option<Instant>,
    trying: bool,
}

impl Breaker {
    fn enter(&mut self, now: Instant) -> Result<(), Duration> {
        let Some(until) = self.open_until else {
            return Ok(());
        };
        if now < until {
            return Err(until - now);
        }
        if self.trying {
            return Err(Duration::ZERO);
        }
        self.trying = true;
        Ok(())
    }

    fn done(&mut self, well: bool, now: Instant) {
        self.trying = false;
        if well {
            self.failures = 0;
            self.open_until = None;
            return;
        }
        self.failures = self.failures.saturating_add(1);
        if self.rule.failures > 0 && self.failures >= self.rule.failures {
            self.open_until = now.checked_add(self.rule.pause);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn calls_beyond_the_rate_wait_for_their_turns() {
        let start = Instant::now();
        let mut bucket = Bucket::new(RateLimit::new(2, SECOND), start);
        let waits = [0, 0, 0, 0].map(|_| bucket.take(start).as_millis());
        assert_eq!(waits, [0, 0, 500, 1000]);
        assert_eq!(bucket.take(start + SECOND).as_millis(), 500);
        assert_eq!(bucket.take(start + 60 * SECOND), Duration::ZERO);
    }

    #[test]
    fn a_server_that_fails_is_left_alone_and_then_tried_by_one_call() {
        let start = Instant::now();
        let mut breaker = Breaker {
            rule: CircuitBreaker::new(2, SECOND),
            failures: 0,
            open_until: None,
            trying: false,
        };
        for well in [false, true, false] {
            breaker.enter(start).expect("it is closed");
            breaker.done(well, start);
        }
        breaker.enter(start).expect("two in a row it takes");
        breaker.done(false, start);
        assert_eq!(breaker.enter(start), Err(SECOND));
        let later = start + SECOND;
        assert_eq!(breaker.enter(later), Ok(()));
        assert_eq!(breaker.enter(later), Err(Duration::ZERO));
        breaker.done(false, later);
        assert_eq!(breaker.enter(later), Err(SECOND));
        let at_last = later + SECOND;
        assert_eq!(breaker.enter(at_last), Ok(()));
        breaker.done(true, at_last);
        assert_eq!(
            [breaker.enter(at_last), breaker.enter(at_last)],
            [Ok(()), Ok(())]
        );
    }
}
