//! Tokens that were accepted a short time ago.

use core::mem;
use core::time::Duration;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::server::principal::Principal;

/// Each of the two generations has so many.
const GENERATION: usize = 4096;

type Generation = HashMap<[u8; 32], (Principal, Instant)>;

/// Remembers accepted tokens by their digests, at most twice [`GENERATION`] of them: when the young ones are that many, they
/// become the old ones, and those are forgotten. Nobody gets in without a good token.
#[derive(Default)]
pub(super) struct Cache(Mutex<Generations>);

#[derive(Default)]
struct Generations {
    young: Generation,
    old: Generation,
}

impl Cache {
    fn lock(&self) -> MutexGuard<'_, Generations> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn get(&self, digest: &[u8; 32]) -> Option<Principal> {
        let now = Instant::now();
        let generations = self.lock();
        let found = generations
            .young
            .get(digest)
            .or_else(|| generations.old.get(digest));
        let (principal, until) = found?;
        (now < *until).then(|| principal.clone())
    }

    pub(super) fn put(&self, digest: [u8; 32], principal: Principal, time: Duration) {
        let Some(until) = Instant::now().checked_add(time) else {
            return;
        };
        if time.is_zero() {
            return;
        }
        let mut generations = self.lock();
        if generations.young.len() >= GENERATION {
            generations.old = mem::take(&mut generations.young);
        }
        generations.young.insert(digest, (principal, until));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(n: usize) -> [u8; 32] {
        let mut digest = [0; 32];
        digest[..8].copy_from_slice(&n.to_le_bytes());
        digest
    }

    #[test]
    fn it_forgets_in_time_and_holds_no_more_than_it_may() {
        let cache = Cache::default();
        let hour = Duration::from_secs(3600);
        cache.put(digest(0), Principal::new("a"), Duration::ZERO);
        cache.put(digest(1), Principal::new("a"), Duration::from_nanos(1));
        std::thread::sleep(Duration::from_millis(1));
        assert_eq!(cache.get(&digest(0)), None);
        assert_eq!(cache.get(&digest(1)), None);
        for n in 2..3 * GENERATION + 2 {
            cache.put(digest(n), Principal::new("a"), hour);
            let generations = cache.lock();
            assert!(generations.young.len() + generations.old.len() <= 2 * GENERATION);
        }
        assert_eq!(cache.get(&digest(2)), None);
        assert!(cache.get(&digest(3 * GENERATION)).is_some());
    }
}
