//! The table of requests that were accepted and not yet answered.

use core::fmt;
use core::hash::BuildHasher;

use foldhash::fast::FixedState;

use super::memory::{Index as _, Memory, Rows as _, Standard, Text};
use super::server::{BatchKey, Served};
use crate::error::{EnvelopeFault, PeerFault};
use crate::json::{Full, RawJson, Sink};
use crate::limits::Limits;
use crate::model::{Progress, ProtocolVersion};
use crate::rpc::{RequestId, write_notification};

/// Names one accepted request for as long as it is in flight. A key of a request that is over names nothing any more,
/// even when its place in the table is used again.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct CallKey {
    index: u32,
    generation: u32,
}

impl CallKey {
    /// The place in the table: below [`Limits::max_in_flight`], unique among the requests in flight. Good for an index
    /// into a table of the caller's.
    #[must_use]
    pub const fn index(self) -> usize {
        self.index as usize
    }

    /// Of a call that nobody made.
    #[cfg(test)]
    pub(crate) const fn for_tests(index: u32, generation: u32) -> Self {
        Self { index, generation }
    }
}

/// The right and the duty to answer one request, once: it cannot be cloned, and answering consumes it.
///
/// A token that is dropped leaves its request unanswered until it is cancelled.
#[derive(Debug, Eq, PartialEq)]
#[must_use = "each accepted request is answered once"]
pub struct ReplyToken(pub(in crate::engine) CallKey);

impl ReplyToken {
    /// The key of the request.
    #[must_use]
    pub const fn key(&self) -> CallKey {
        self.0
    }
}

/// What has to be remembered of a request to answer it.
pub(in crate::engine) struct Call<M: Memory = Standard> {
    pub(in crate::engine) version: ProtocolVersion,
    /// The batch it came in: its answer is gathered there.
    pub(in crate::engine) batch: Option<BatchKey>,
    /// The server role's own, to be set after the request was accepted.
    pub(in crate::engine) served: Served,
    id: M::Id,
    progress_token: Option<M::Id>,
    /// The last progress sent: the next one has to be more (PRG-03).
    progress: f64,
    hash: u64,
}

impl<M: Memory> fmt::Debug for Call<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call")
            .field("version", &self.version)
            .field("batch", &self.batch)
            .field("served", &self.served)
            .field("id", &self.id)
            .field("progress_token", &self.progress_token)
            .finish_non_exhaustive()
    }
}

impl<M: Memory> Call<M> {
    pub(in crate::engine) fn id(&self) -> RawJson<'_> {
        RawJson::new(self.id.as_str())
    }

    pub(in crate::engine) fn progress_token(&self) -> Option<RawJson<'_>> {
        let token = self.progress_token.as_ref()?;
        Some(RawJson::new(token.as_str()))
    }

    /// Tells whoever asked how far it has come. Writes nothing if they did not ask for it, or if it is not more than last
    /// time (PRG-03).
    pub(in crate::engine) fn progress<S: Sink + ?Sized>(
        &mut self,
        progress: &Progress<'_>,
        out: &mut S,
    ) -> Result<(), Full> {
        let Some(token) = self.progress_token() else {
            return Ok(());
        };
        // JSON has neither NaN nor infinities, so they are no progress either.
        if !progress.progress.is_finite() || progress.progress <= self.progress {
            return Ok(());
        }
        write_notification(out, "notifications/progress", |json| {
            progress.write_params(token, self.version, json)
        })?;
        self.progress = progress.progress;
        Ok(())
    }
}

pub(in crate::engine) struct Slot<M: Memory> {
    generation: u32,
    call: Option<Call<M>>,
}

/// Insert, find by id, find by key and remove cost the same however many are in flight, where tables grow.
pub(in crate::engine) struct Calls<M: Memory = Standard> {
    slots: M::Calls<Slot<M>>,
    free: M::Calls<u32>,
    /// Indices of occupied slots, found by the id's value.
    by_id: M::Index,
    hasher: FixedState,
}

impl<M: Memory> fmt::Debug for Calls<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let calls = self.slots.iter().filter_map(|slot| slot.call.as_ref());
        f.debug_list().entries(calls).finish()
    }
}

impl<M: Memory> Calls<M> {
    /// An empty table. Ids come from the peer: `seed` keeps it from choosing ones that collide.
    pub(in crate::engine) fn new(seed: u64) -> Self {
        Self {
            slots: Default::default(),
            free: Default::default(),
            by_id: Default::default(),
            hasher: FixedState::with_seed(seed),
        }
    }

    pub(in crate::engine) fn len(&self) -> usize {
        self.by_id.len()
    }

    pub(in crate::engine) fn find(&self, id: RequestId<'_>) -> Option<CallKey> {
        if self.len() == 0 {
            return None;
        }
        self.find_hashed(id, self.hash(id))
    }

    /// Accepts a request.
    pub(in crate::engine) fn insert(
        &mut self,
        id: RequestId<'_>,
        progress_token: Option<RequestId<'_>>,
        version: ProtocolVersion,
        batch: Option<BatchKey>,
        limits: &Limits,
    ) -> Result<CallKey, PeerFault> {
        let limit = limits.max_in_flight;
        if self.len() >= limit {
            return Err(PeerFault::Busy { limit });
        }
        let hash = self.hash(id);
        if self.len() > 0 && self.find_hashed(id, hash).is_some() {
            return Err(PeerFault::IdInUse);
        }
        let call = Call {
            version,
            batch,
            served: Served::default(),
            id: kept(id)?,
            progress_token: progress_token.map(kept).transpose()?,
            progress: f64::NEG_INFINITY,
            hash,
        };
        let index = match self.free.pop() {
            Some(index) => index,
            None => {
                // `max_in_flight` slots at most; whoever raises it beyond 2^32 runs out of memory first.
                let index = self.slots.len() as u32;
                // From the seed, so that a token of one engine does not fit a call of another.
                let generation = self.hasher.hash_one(index) as u32;
                let call = None;
                let slot = self.slots.push(Slot { generation, call });
                slot.ok_or(PeerFault::Busy { limit })?;
                index
            }
        };
        let slot = &mut self.slots[index as usize];
        slot.call = Some(call);
        let slots = &self.slots;
        self.by_id.insert(hash, index, |other| {
            slots[other as usize]
                .call
                .as_ref()
                .map_or(0, |call| call.hash)
        });
        Ok(CallKey {
            index,
            generation: self.slots[index as usize].generation,
        })
    }

    pub(in crate::engine) fn get_mut(&mut self, key: CallKey) -> Option<&mut Call<M>> {
        self.slots
            .get_mut(key.index as usize)
            .filter(|slot| slot.generation == key.generation)?
            .call
            .as_mut()
    }

    #[cfg_attr(feature = "alloc", inline(always))]
    pub(in crate::engine) fn remove(&mut self, key: CallKey) -> Option<Call<M>> {
        let slot = self
            .slots
            .get_mut(key.index as usize)
            .filter(|slot| slot.generation == key.generation)?;
        let call = slot.call.take()?;
        slot.generation = slot.generation.wrapping_add(1);
        // As many as there are slots.
        let _ = self.free.push(key.index);
        self.by_id.remove(call.hash, key.index);
        Some(call)
    }

    fn hash(&self, id: RequestId<'_>) -> u64 {
        M::Index::hash(|| self.hasher.hash_one(id))
    }

    fn find_hashed(&self, id: RequestId<'_>, hash: u64) -> Option<CallKey> {
        let index = self.by_id.find(hash, self.slots.len(), |index| {
            let call = self.slots[index as usize].call.as_ref();
            call.and_then(|call| RequestId::new(call.id()))
                .is_some_and(|other| other == id)
        })?;
        Some(CallKey {
            index,
            generation: self.slots[index as usize].generation,
        })
    }
}

/// The JSON text of an id or a token.
fn kept<T: Text>(id: RequestId<'_>) -> Result<T, PeerFault> {
    let text = T::new(id.raw().as_str());
    // Ids beyond `Limits::max_id` were refused before, and so were tokens.
    text.ok_or(EnvelopeFault::Id.into())
}
