//! The sessions of an endpoint, found by their ids.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt::Write as _;
use core::hash::BuildHasher as _;
use core::time::Duration;

use foldhash::fast::FixedState;
use hashbrown::HashTable;

use super::Refusal;
use crate::time::Instant;

/// Bounds of the sessions of an endpoint.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct SessionLimits {
    /// How many sessions there may be. For one more, one ends that was never initialised, else the one that was not used
    /// for the longest time; if all are in use, the new one is refused. Default: 1,024.
    ///
    /// A session of the transport of 2024-11-05 begins with its stream and is in use as long as that is open, once it is
    /// initialised. Until then the stream alone keeps nobody out.
    pub max_sessions: usize,
    /// How many of them one principal may have. For one more, one of its own ends in the same way, or the new one is
    /// refused. Where nobody is told apart this bounds nothing. Default: 256.
    pub max_per_principal: usize,
    /// A session that nothing came of for so long, and that has no stream open, or was never initialised, ends, and what
    /// runs in it as well. Default: 30 minutes.
    pub idle: Duration,
}

/// Whether a session has to stay when there is no room for another one.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
#[expect(
    clippy::exhaustive_enums,
    reason = "made by the caller: a new variant would never be used"
)]
pub enum Usage {
    /// It was never initialised: it is the first one to go.
    Unused,
    /// Nothing of it is open now.
    Idle,
    /// It stays.
    Busy,
}

impl Default for SessionLimits {
    fn default() -> Self {
        Self {
            max_sessions: 1_024,
            max_per_principal: 256,
            idle: Duration::from_secs(30 * 60),
        }
    }
}

/// The id of a session: 32 hexadecimal digits.
pub type SessionId = heapless::String<32>;

/// An id of 128 random bits. They have to come from a generator that nobody can predict (LH-22, LH-34).
#[must_use]
pub fn session_id(random: [u8; 16]) -> SessionId {
    let mut id = SessionId::new();
    for byte in random {
        // 16 times two digits: that is what it holds.
        let _ = write!(id, "{byte:02x}");
    }
    id
}

/// Sessions by their ids, each with what is the caller's (`T`).
///
/// A session belongs to who opened it: to anybody else it does not exist (LH-34). Ids are found by a keyed hash, so that
/// how long it takes tells nothing about them.
#[derive(Debug)]
pub struct Sessions<T> {
    limits: SessionLimits,
    table: HashTable<Entry<T>>,
    hasher: FixedState,
}

#[derive(Debug)]
struct Entry<T> {
    id: SessionId,
    principal: Option<Box<str>>,
    used: Instant,
    value: T,
}

impl<T> Sessions<T> {
    /// No sessions. `seed` should be unpredictable to clients.
    #[must_use]
    pub const fn new(limits: SessionLimits, seed: u64) -> Self {
        Self {
            limits,
            table: HashTable::new(),
            hasher: FixedState::with_seed(seed),
        }
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    /// Adds a session of `principal`, whoever that is; `None` where nobody is told apart. Returns the one that had to make
    /// room for it: one that is unused, else one that is idle, of these the one that was not used for the longest time.
    ///
    /// # Errors
    ///
    /// There are as many as may be, of this principal or of all, and all are busy.
    pub fn open(
        &mut self,
        now: Instant,
        id: SessionId,
        principal: Option<&str>,
        value: T,
        usage: impl Fn(&T) -> Usage,
    ) -> Result<Option<T>, Refusal> {
        let own =
            |entry: &&Entry<T>| principal.is_some() && entry.principal.as_deref() == principal;
        let has_its_share = self.table.iter().filter(own).count() >= self.limits.max_per_principal;
        let mut ended = None;
        if has_its_share || self.table.len() >= self.limits.max_sessions {
            let entries = self.table.iter();
            let candidates = entries.filter(|entry| !has_its_share || own(entry));
            let first = candidates
                .map(|entry| (usage(&entry.value), entry.used, &entry.id))
                .filter(|(usage, ..)| *usage != Usage::Busy)
                .min_by_key(|(usage, used, _)| (*usage, *used));
            let first = first.map(|(.., id)| id.clone()).ok_or(Refusal::BUSY)?;
            ended = self.remove(&first);
        }
        let hasher = &self.hasher;
        let entry = Entry {
            principal: principal.map(Into::into),
            used: now,
            value,
            id,
        };
        let hash = hasher.hash_one(entry.id.as_str());
        self.table
            .insert_unique(hash, entry, |entry| hasher.hash_one(entry.id.as_str()));
        Ok(ended)
    }

    /// The session of this id, which is in use now.
    ///
    /// # Errors
    ///
    /// There is none, or it is of another principal: that is told to be the same.
    pub fn find(
        &mut self,
        now: Instant,
        id: &str,
        principal: Option<&str>,
    ) -> Result<&mut T, Refusal> {
        let hash = self.hasher.hash_one(id);
        let entry = self.table.find_mut(hash, |entry| entry.id == id);
        let entry = entry
            .filter(|entry| entry.principal.as_deref() == principal)
            .ok_or(Refusal::NO_SESSION)?;
        entry.used = now;
        Ok(&mut entry.value)
    }

    /// Ends a session.
    ///
    /// # Errors
    ///
    /// The same.
    pub fn close(&mut self, now: Instant, id: &str, principal: Option<&str>) -> Result<T, Refusal> {
        self.find(now, id, principal)?;
        self.remove(id).ok_or(Refusal::NO_SESSION)
    }

    /// Takes out a session whoever it belongs to.
    pub fn remove(&mut self, id: &str) -> Option<T> {
        let hash = self.hasher.hash_one(id);
        let entry = self.table.find_entry(hash, |entry| entry.id == id);
        Some(entry.ok()?.remove().0.value)
    }

    /// Takes out those that were not used for too long; one that is busy counts as used now. Returns when to come again.
    pub fn expire(
        &mut self,
        now: Instant,
        usage: impl Fn(&T) -> Usage,
        ended: &mut Vec<T>,
    ) -> Option<Instant> {
        let idle = self.limits.idle;
        for entry in self.table.iter_mut() {
            if usage(&entry.value) == Usage::Busy {
                entry.used = now;
            }
        }
        let over = self.table.extract_if(|entry| now.since(entry.used) >= idle);
        ended.extend(over.map(|entry| entry.value));
        let oldest = self.table.iter().map(|entry| entry.used).min();
        oldest.map(|used| used + idle)
    }

    /// Takes out all of them.
    pub fn drain(&mut self) -> impl Iterator<Item = T> {
        self.table.drain().map(|entry| entry.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(n: u8) -> SessionId {
        session_id([n; 16])
    }

    const fn at(seconds: u64) -> Instant {
        Instant::from_micros(seconds * 1_000_000)
    }

    fn limits(max_sessions: usize) -> SessionLimits {
        SessionLimits {
            max_sessions,
            max_per_principal: 3,
            idle: Duration::from_secs(10),
        }
    }

    #[test]
    fn a_session_is_there_for_its_owner_until_it_is_closed() {
        let mut sessions = Sessions::new(limits(9), 7);
        for (n, owner) in [(1, Some("a")), (2, None)] {
            let opened = sessions.open(at(0), id(n), owner, n, |_| Usage::Idle);
            assert_eq!(opened, Ok(None));
        }
        assert_eq!(sessions.find(at(1), &id(1), Some("a")), Ok(&mut 1));
        for (n, other) in [(1, Some("b")), (1, None), (2, Some("a")), (3, None)] {
            let found = sessions.find(at(1), &id(n), other);
            assert_eq!(found, Err(Refusal::NO_SESSION), "{n} {other:?}");
            let closed = sessions.close(at(1), &id(n), other);
            assert_eq!(closed, Err(Refusal::NO_SESSION));
        }
        assert_eq!(sessions.close(at(1), &id(1), Some("a")), Ok(1));
        // SN-04.
        let again = sessions.close(at(1), &id(1), Some("a"));
        assert_eq!(again, Err(Refusal::NO_SESSION));
        assert_eq!(sessions.len(), 1);
    }

    /// SN-06.
    #[test]
    fn there_are_never_more_than_may_be_and_unused_ones_end() {
        let mut sessions = Sessions::new(limits(3), 7);
        let usage = |n: &u8| match n {
            0 => Usage::Busy,
            _ => Usage::Idle,
        };
        for n in 0..3 {
            assert_eq!(sessions.open(at(n.into()), id(n), None, n, usage), Ok(None));
        }
        assert!(sessions.find(at(5), &id(1), None).is_ok());
        assert_eq!(sessions.open(at(6), id(3), None, 3, usage), Ok(Some(2)));
        let refused = sessions.open(at(7), id(4), None, 4, |_| Usage::Busy);
        assert_eq!(refused, Err(Refusal::BUSY));
        assert_eq!(sessions.len(), 3);
        let mut ended = Vec::new();
        assert_eq!(sessions.expire(at(14), usage, &mut ended), Some(at(15)));
        assert!(ended.is_empty());
        assert_eq!(sessions.expire(at(15), usage, &mut ended), Some(at(16)));
        assert_eq!(sessions.expire(at(16), usage, &mut ended), Some(at(26)));
        assert_eq!(ended, [1, 3]);
        assert_eq!(sessions.expire(at(26), |_| Usage::Idle, &mut ended), None);
        assert!(sessions.is_empty());
    }

    /// Streams that nobody initialised a session in keep nobody out, and cost nobody else a session.
    #[test]
    fn unused_sessions_give_way_first() {
        let mut sessions = Sessions::new(limits(4), 7);
        let usage = |n: &u8| match n {
            0 => Usage::Busy,
            1 => Usage::Idle,
            _ => Usage::Unused,
        };
        for n in 0..4 {
            assert_eq!(sessions.open(at(n.into()), id(n), None, n, usage), Ok(None));
        }
        for n in 4..50 {
            let opened = sessions.open(at(n.into()), id(n), None, n, usage);
            assert_eq!(opened, Ok(Some(n - 2)));
        }
        assert!(sessions.find(at(50), &id(0), None).is_ok());
        assert!(sessions.find(at(50), &id(1), None).is_ok());
        // They are not kept for ever either, though their streams are open.
        let mut ended = Vec::new();
        sessions.expire(at(59), usage, &mut ended);
        ended.sort_unstable();
        assert_eq!(ended, [48, 49]);
    }

    #[test]
    fn a_principal_has_its_share_and_no_more() {
        let mut sessions = Sessions::new(limits(5), 7);
        let busy = |_: &u8| Usage::Busy;
        for n in 0..3 {
            assert_eq!(sessions.open(at(0), id(n), Some("a"), n, busy), Ok(None));
        }
        let refused = sessions.open(at(1), id(3), Some("a"), 3, busy);
        assert_eq!(refused, Err(Refusal::BUSY));
        assert_eq!(sessions.open(at(2), id(4), Some("b"), 4, busy), Ok(None));
        // Its own have to make room, however old those of others are.
        assert!(sessions.find(at(3), &id(0), Some("a")).is_ok());
        assert!(sessions.find(at(3), &id(2), Some("a")).is_ok());
        let opened = sessions.open(at(4), id(5), Some("a"), 5, |_| Usage::Idle);
        assert_eq!(opened, Ok(Some(1)));
        assert_eq!(sessions.len(), 4);
    }

    #[test]
    fn ids_are_visible_ascii_of_128_bits() {
        let id = session_id([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 254, 255]);
        assert_eq!(id, "000102030405060708090a0b0c0dfeff");
    }
}
