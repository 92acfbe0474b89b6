//! The table of requests we sent and that are not answered yet, in either role.

#[cfg(feature = "alloc")]
mod ids;
#[cfg(test)]
mod tests;
#[cfg(feature = "alloc")]
mod wheel;

use core::fmt;
use core::hash::BuildHasher;

use foldhash::fast::FixedState;
#[cfg(feature = "alloc")]
pub(in crate::engine) use ids::Numbered;
#[cfg(feature = "alloc")]
pub(in crate::engine) use wheel::Wheel;

#[cfg(feature = "alloc")]
use super::memory::Growing;
use super::memory::{Deadlines as _, Ids as _, Memory, Rows as _, Standard};
use crate::rpc::RequestId;
#[cfg(feature = "alloc")]
use crate::time::Instant;

/// Names one request that we sent, for as long as it is not answered. A key of a request that is over names nothing any
/// more, even when its place in the table is used again.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct RequestKey {
    index: u32,
    generation: u32,
}

impl RequestKey {
    /// The place in the table: below [`Limits::max_pending`](crate::Limits::max_pending), unique among the requests that
    /// are pending. Good for an index into a table of the caller's.
    #[must_use]
    pub const fn index(self) -> usize {
        self.index as usize
    }
}

/// Requests that were sent and not answered, each with a datum `T` and, if wanted, a deadline.
///
/// Ids are the integers from 0 on, in order; none is used twice in the life of the table (RPC-05, RPC-06). Inserting,
/// finding, removing and running out of time cost the same however many are pending: nothing here is ever scanned or
/// sorted.
pub struct Pending<T, M: Memory = Standard> {
    slots: M::Requests<Slot<T>>,
    free: M::Requests<u32>,
    /// Indices of occupied slots, found by id.
    by_id: M::RequestIds,
    hasher: FixedState,
    next_id: u64,
    limit: usize,
    /// Made when the first deadline is set: tables without any do not pay for it.
    deadlines: M::Deadlines,
}

struct Slot<T> {
    generation: u32,
    id: u64,
    value: Option<T>,
}

/// What an id in an answer refers to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Lookup {
    /// A request that is pending.
    Pending(RequestKey),
    /// A request that is over: answered, cancelled, or out of time.
    Over,
    /// Nothing that was ever sent.
    Unknown,
}

#[cfg(feature = "alloc")]
impl<T> Pending<T, Growing> {
    /// An empty table for at most `limit` requests. Two tables of different `seed` do not take each other's keys, by all
    /// likelihood.
    #[must_use]
    pub const fn new(limit: usize, seed: u64) -> Self {
        Self {
            slots: alloc::vec::Vec::new(),
            free: alloc::vec::Vec::new(),
            by_id: Numbered::new(FixedState::with_seed(seed)),
            hasher: FixedState::with_seed(seed),
            next_id: 0,
            limit: bounded(limit),
            deadlines: None,
        }
    }

    /// Adds a request, which has the id that [`next_id`](Self::next_id) said before. `None`: there is no
    /// [room](Self::has_room).
    pub fn insert(&mut self, value: T, deadline: Option<Instant>) -> Option<RequestKey> {
        let key = self.add(value)?;
        if deadline.is_some() {
            self.set_deadline(key, deadline);
        }
        Some(key)
    }

    /// Moves the deadline of a request, or takes it away. Nothing happens if the request is over.
    pub fn set_deadline(&mut self, key: RequestKey, deadline: Option<Instant>) {
        if self.slot(key).is_none() {
            return;
        }
        match deadline {
            Some(at) => self.deadlines.get_or_insert_default().set(key.index, at),
            None => self.deadlines.clear(key.index),
        }
    }

    /// A request whose deadline has passed: never too early, at most about a millisecond late. It stays pending, and is
    /// named again, until it is [removed](Self::remove) or has [another deadline](Self::set_deadline).
    pub fn expired(&mut self, now: Instant) -> Option<RequestKey> {
        let index = self.deadlines.as_mut()?.expired(now)?;
        Some(RequestKey {
            index,
            generation: self.slots.get(index as usize)?.generation,
        })
    }

    /// When to ask for [expired](Self::expired) requests next. That may be before the first deadline, then there are none
    /// yet and the next answer is closer to it; `None` if there are no deadlines.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Instant> {
        self.deadlines.as_ref()?.next()
    }
}

impl<T, M: Memory> Pending<T, M> {
    /// The same as `Pending::new`, in any memory.
    pub(in crate::engine) fn with_memory(limit: usize, seed: u64) -> Self {
        Self {
            slots: Default::default(),
            free: Default::default(),
            by_id: M::RequestIds::new(seed),
            hasher: FixedState::with_seed(seed),
            next_id: 0,
            limit: bounded(limit),
            deadlines: Default::default(),
        }
    }

    /// How many are pending.
    #[must_use]
    pub fn len(&self) -> usize {
        self.by_id.len()
    }

    /// Whether none are.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many may be pending at once.
    #[must_use]
    pub const fn limit(&self) -> usize {
        self.limit
    }

    /// Whether one more may be [inserted](Self::insert).
    #[must_use]
    pub fn has_room(&self) -> bool {
        self.len() < self.limit
    }

    /// The id that the next request inserted will have.
    #[must_use]
    pub const fn next_id(&self) -> u64 {
        self.next_id
    }

    /// Adds a request without a deadline; see `insert`.
    pub(in crate::engine) fn add(&mut self, value: T) -> Option<RequestKey> {
        if !self.has_room() {
            return None;
        }
        let id = self.next_id;
        let index = match self.free.pop() {
            Some(index) => index,
            None => {
                let index = self.slots.len() as u32;
                let generation = self.hasher.hash_one(index) as u32;
                let value = None;
                self.slots.push(Slot {
                    generation,
                    id,
                    value,
                })?;
                index
            }
        };
        let slot = &mut self.slots[index as usize];
        slot.id = id;
        slot.value = Some(value);
        let generation = slot.generation;
        self.by_id.insert(id, index);
        self.next_id += 1;
        Some(RequestKey { index, generation })
    }

    /// What the id of an answer refers to.
    #[must_use]
    pub fn find(&self, id: RequestId<'_>) -> Lookup {
        id.as_integer()
            .and_then(|id| u64::try_from(id).ok())
            .map_or(Lookup::Unknown, |id| self.find_number(id))
    }

    /// The same, for a number.
    #[must_use]
    pub fn find_number(&self, id: u64) -> Lookup {
        let slots = &self.slots;
        let is = |index: u32| {
            let slot = &slots[index as usize];
            slot.id == id && slot.value.is_some()
        };
        match self.by_id.get(id, slots.len(), is) {
            Some(index) => Lookup::Pending(RequestKey {
                index,
                generation: self.slots[index as usize].generation,
            }),
            None if id < self.next_id => Lookup::Over,
            None => Lookup::Unknown,
        }
    }

    /// The id of a request; `None` if it is over.
    #[must_use]
    pub fn id(&self, key: RequestKey) -> Option<u64> {
        self.slot(key).map(|slot| slot.id)
    }

    /// The datum of a request; `None` if it is over.
    #[must_use]
    pub fn get(&self, key: RequestKey) -> Option<&T> {
        self.slot(key)?.value.as_ref()
    }

    /// The datum of a request; `None` if it is over.
    #[must_use]
    pub fn get_mut(&mut self, key: RequestKey) -> Option<&mut T> {
        self.slots
            .get_mut(key.index())
            .filter(|slot| slot.generation == key.generation)?
            .value
            .as_mut()
    }

    /// Takes a request out: it is over, and its key is stale. `None` if it already was.
    pub fn remove(&mut self, key: RequestKey) -> Option<T> {
        let slot = self
            .slots
            .get_mut(key.index())
            .filter(|slot| slot.generation == key.generation)?;
        let value = slot.value.take()?;
        slot.generation = slot.generation.wrapping_add(1);
        self.by_id.remove(slot.id);
        // As many as there are slots.
        let _ = self.free.push(key.index);
        self.deadlines.clear(key.index);
        Some(value)
    }

    /// The first request at or after a [place](RequestKey::index) in the table, to visit all of them.
    #[must_use]
    pub fn first_from(&self, index: usize) -> Option<RequestKey> {
        let mut slots = self.slots.iter().enumerate().skip(index);
        let (index, slot) = slots.find(|(_, slot)| slot.value.is_some())?;
        Some(RequestKey {
            index: index as u32,
            generation: slot.generation,
        })
    }

    fn slot(&self, key: RequestKey) -> Option<&Slot<T>> {
        self.slots
            .get(key.index())
            .filter(|slot| slot.generation == key.generation && slot.value.is_some())
    }
}

/// The largest index has a meaning of its own in the wheel.
const fn bounded(limit: usize) -> usize {
    if limit < u32::MAX as usize {
        limit
    } else {
        u32::MAX as usize - 1
    }
}

impl<T, M: Memory> fmt::Debug for Pending<T, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pending")
            .field("len", &self.len())
            .field("next_id", &self.next_id)
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}
