//! Answers kept for as long as the server says they hold (2026-07-28, server, utilities, "Caching").

#[cfg(test)]
mod tests;

use core::time::Duration;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use mcp_core::json::Json;

use super::clock::Clock;

/// How much of what servers allow to be kept is kept.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct CacheLimits {
    /// At most so many answers. Zero: nothing is kept. Default: 1024.
    pub entries: usize,
    /// At most so many bytes, keys included. An answer longer than that is not kept. Default: 16 MiB.
    pub bytes: usize,
    /// No answer is kept longer than this, whatever its server says. Default: one day.
    pub longest: Duration,
}

impl CacheLimits {
    /// The defaults.
    pub const DEFAULT: Self = Self {
        entries: 1024,
        bytes: 16 * 1024 * 1024,
        longest: Duration::from_secs(24 * 60 * 60),
    };

    /// Nothing is kept.
    pub const OFF: Self = Self {
        entries: 0,
        ..Self::DEFAULT
    };
}

impl Default for CacheLimits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// What a change makes stale. Each kind has a count of its own, so that an answer that was on its way while something
/// changed is not kept.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(crate) enum Kind {
    Discovery,
    Tools,
    Prompts,
    Resources,
    Templates,
    Reads,
}

impl Kind {
    /// The six methods whose answers may be kept (CAC-01).
    pub(crate) fn of(method: &str) -> Option<Self> {
        Some(match method {
            "server/discover" => Self::Discovery,
            "tools/list" => Self::Tools,
            "prompts/list" => Self::Prompts,
            "resources/list" => Self::Resources,
            "resources/templates/list" => Self::Templates,
            "resources/read" => Self::Reads,
            _ => return None,
        })
    }
}

/// The answers of one client, which is one authorization: a private answer is never seen by another (CAC-08).
#[derive(Debug)]
pub(crate) struct Cache {
    limits: CacheLimits,
    clock: Clock,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// `what` is all that decides the answer: the URI, or the cursor with its length in front, so that no cursor and an
    /// empty one differ (CAC-03).
    entries: HashMap<Key, Entry>,
    /// The entries by when they were last of use, oldest first.
    order: BTreeMap<u64, Key>,
    uses: u64,
    bytes: usize,
    /// How often each kind was made stale.
    epochs: [u64; 6],
}

type Key = (Kind, Arc<str>);

#[derive(Debug)]
struct Entry {
    value: Arc<Json<'static>>,
    /// From then on it is stale.
    until: Duration,
    used: u64,
    size: usize,
}

/// When a question was asked: its answer is kept only if nothing was made stale since.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked {
    epoch: u64,
}

impl Cache {
    pub(crate) fn new(limits: CacheLimits, clock: Clock) -> Self {
        Self {
            limits,
            clock,
            state: Mutex::default(),
        }
    }

    /// The answer, if it is fresh.
    pub(crate) fn get(&self, kind: Kind, what: &str) -> Option<Arc<Json<'static>>> {
        let now = self.clock.now();
        let mut state = self.lock();
        let key = (kind, Arc::from(what));
        let entry = state.entries.get(&key)?;
        if now >= entry.until {
            state.remove(&key);
            return None;
        }
        state.touch(&key)
    }

    /// To be called before the question goes out.
    pub(crate) fn asked(&self, kind: Kind) -> Asked {
        Asked {
            epoch: self.lock().epochs[kind as usize],
        }
    }

    /// Keeps an answer that came just now and holds for `ttl`.
    pub(crate) fn put(
        &self,
        kind: Kind,
        what: &str,
        asked: Asked,
        ttl: Duration,
        value: &Arc<Json<'static>>,
    ) {
        let now = self.clock.now();
        let ttl = ttl.min(self.limits.longest);
        let size = value.raw().as_bytes().len() + what.len();
        if ttl.is_zero() || size > self.limits.bytes || self.limits.entries == 0 {
            return;
        }
        let key: Key = (kind, Arc::from(what));
        let mut state = self.lock();
        if state.epochs[kind as usize] != asked.epoch {
            return;
        }
        state.remove(&key);
        while state.entries.len() >= self.limits.entries || state.bytes + size > self.limits.bytes {
            if !state.remove_oldest() {
                break;
            }
        }
        state.insert(
            key,
            Entry {
                value: value.clone(),
                until: now.saturating_add(ttl),
                used: 0,
                size,
            },
        );
    }

    /// Makes all answers of a kind stale (CAC-10).
    pub(crate) fn forget(&self, kind: Kind) {
        let mut state = self.lock();
        state.epochs[kind as usize] += 1;
        state.retain(|(of, _)| *of != kind);
    }

    /// A resource changed: what was read of it is stale, and of those above and below it too, for the URI may name a part
    /// of what was read (SUB-15).
    pub(crate) fn forget_resource(&self, uri: &str) {
        let mut state = self.lock();
        state.epochs[Kind::Reads as usize] += 1;
        state.retain(|(kind, what)| {
            *kind != Kind::Reads || !(what.starts_with(uri) || uri.starts_with(&**what))
        });
    }

    /// Makes everything stale: changes of a time without connection are not told (SUB-18).
    pub(crate) fn clear(&self) {
        let mut state = self.lock();
        state.retain(|_| false);
        for epoch in &mut state.epochs {
            *epoch += 1;
        }
    }

    #[cfg(test)]
    /// How many answers there are, stale ones not yet noticed included.
    pub(crate) fn len(&self) -> usize {
        self.lock().entries.len()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        // Nothing in here panics half-way; and stale or missing entries would cost a question, no more.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn insert(&mut self, key: Key, mut entry: Entry) {
        self.uses += 1;
        entry.used = self.uses;
        self.bytes += entry.size;
        self.order.insert(entry.used, key.clone());
        self.entries.insert(key, entry);
    }

    fn touch(&mut self, key: &Key) -> Option<Arc<Json<'static>>> {
        self.uses += 1;
        let entry = self.entries.get_mut(key)?;
        self.order.remove(&entry.used);
        entry.used = self.uses;
        self.order.insert(self.uses, key.clone());
        Some(entry.value.clone())
    }

    fn remove(&mut self, key: &Key) {
        if let Some(entry) = self.entries.remove(key) {
            self.order.remove(&entry.used);
            self.bytes -= entry.size;
        }
    }

    /// Whether there was one.
    fn remove_oldest(&mut self) -> bool {
        let oldest = self.order.first_key_value().map(|(_, key)| key.clone());
        if let Some(key) = &oldest {
            self.remove(key);
        }
        oldest.is_some()
    }

    fn retain(&mut self, keep: impl Fn(&Key) -> bool) {
        let Self {
            entries,
            order,
            bytes,
            ..
        } = self;
        entries.retain(|key, entry| {
            let kept = keep(key);
            if !kept {
                order.remove(&entry.used);
                *bytes -= entry.size;
            }
            kept
        });
    }
}
