//! How much a server is asked, and whether it is asked at all.

use core::time::Duration;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use async_io::Timer;
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
    /// Locked by whoever is next: the others wait in their order.
    bucket: Option<async_lock::Mutex<Bucket>>,
    breaker: Mutex<Breaker>,
}

impl Lane {
    pub(in crate::host) fn new(config: &ServerConfig, most: usize, rule: CircuitBreaker) -> Self {
        let now = Instant::now();
        Self {
            permits: Semaphore::new(config.max_concurrent.unwrap_or(most).max(1)),
            bucket: config
                .rate
                .map(|limit| async_lock::Mutex::new(Bucket::new(limit, now))),
            breaker: Mutex::new(Breaker {
                rule,
                failures: 0,
                open_until: None,
                trying: false,
            }),
        }
    }

    /// Returns when it is the turn of a call. One that is given up before leaves its turn to the next.
    pub(super) async fn turn(&self) {
        let Some(bucket) = &self.bucket else {
            return;
        };
        let mut bucket = bucket.lock().await;
        while let Err(wait) = bucket.take(Instant::now()) {
            // Of less than a millisecond timers know nothing.
            Timer::after(wait.max(Duration::from_millis(1))).await;
        }
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

/// Tokens, of which there are more as time goes by.
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

    /// Takes one; else how long there is none.
    fn take(&mut self, now: Instant) -> Result<(), Duration> {
        let rate = f64::from(self.limit.calls) / self.limit.per.as_secs_f64();
        let grown = now.saturating_duration_since(self.at).as_secs_f64() * rate;
        self.tokens = (self.tokens + grown).min(f64::from(self.limit.calls));
        self.at = now;
        // What is lost in rounding is nobody's.
        const WHOLE: f64 = 1.0 - 1e-9;
        if self.tokens >= WHOLE {
            self.tokens -= 1.0;
            return Ok(());
        }
        let wait = Duration::try_from_secs_f64((1.0 - self.tokens) / rate);
        Err(wait.unwrap_or(Duration::MAX))
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
        let half = SECOND / 2;
        assert_eq!([bucket.take(start), bucket.take(start)], [Ok(()), Ok(())]);
        // However often somebody asks, and gives it up: there is no debt.
        for _ in 0..1000 {
            assert_eq!(bucket.take(start), Err(half));
        }
        assert_eq!(bucket.take(start + half), Ok(()));
        assert_eq!(bucket.take(start + half), Err(half));
        let later = start + 60 * SECOND;
        let takes = [0; 3].map(|_| bucket.take(later));
        assert_eq!(takes, [Ok(()), Ok(()), Err(half)]);
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
