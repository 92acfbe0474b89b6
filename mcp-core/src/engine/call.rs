//! The table of requests that were accepted and not yet answered.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::hash::BuildHasher;

use foldhash::fast::FixedState;
use hashbrown::HashTable;

use super::server::{BatchKey, Served};
use crate::error::PeerFault;
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
#[derive(Debug)]
pub(in crate::engine) struct Call {
    pub(in crate::engine) version: ProtocolVersion,
    /// The batch it came in: its answer is gathered there.
    pub(in crate::engine) batch: Option<BatchKey>,
    /// The server role's own, to be set after the request was accepted.
    pub(in crate::engine) served: Served,
    id: Text,
    progress_token: Option<Text>,
    /// The last progress sent: the next one has to be more (PRG-03).
    progress: f64,
    hash: u64,
}

impl Call {
    pub(in crate::engine) fn id(&self) -> RawJson<'_> {
        self.id.raw()
    }

    pub(in crate::engine) fn progress_token(&self) -> Option<RawJson<'_>> {
        self.progress_token.as_ref().map(Text::raw)
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

#[derive(Debug)]
pub(in crate::engine) struct Slot {
    generation: u32,
    call: Option<Call>,
}

/// Insert, find by id, find by key and remove cost the same however many are in flight.
#[derive(Debug)]
pub(in crate::engine) struct Calls {
    slots: Vec<Slot>,
    free: Vec<u32>,
    /// Indices of occupied slots, found by the id's value.
    by_id: HashTable<u32>,
    hasher: FixedState,
}

impl Calls {
    /// An empty table. Ids come from the peer: `seed` keeps it from choosing ones that collide.
    pub(in crate::engine) fn new(seed: u64) -> Self {
        Self {
            slots: Vec::new(),
            free: Vec::new(),
            by_id: HashTable::new(),
            hasher: FixedState::with_seed(seed),
        }
    }

    pub(in crate::engine) fn len(&self) -> usize {
        self.by_id.len()
    }

    pub(in crate::engine) fn find(&self, id: RequestId<'_>) -> Option<CallKey> {
        if self.by_id.is_empty() {
            return None;
        }
        self.find_hashed(id, self.hasher.hash_one(id))
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
        let hash = self.hasher.hash_one(id);
        if !self.by_id.is_empty() && self.find_hashed(id, hash).is_some() {
            return Err(PeerFault::IdInUse);
        }
        let call = Call {
            version,
            batch,
            served: Served::default(),
            id: Text::new(id.raw()),
            progress_token: progress_token.map(|token| Text::new(token.raw())),
            progress: f64::NEG_INFINITY,
            hash,
        };
        let index = self.free.pop().unwrap_or_else(|| {
            // `max_in_flight` slots at most; whoever raises it beyond 2^32 runs out of memory first.
            let index = self.slots.len() as u32;
            // From the seed, so that a token of one engine does not fit a call of another.
            let generation = self.hasher.hash_one(index) as u32;
            self.slots.push(Slot {
                generation,
                call: None,
            });
            index
        });
        let slot = &mut self.slots[index as usize];
        slot.call = Some(call);
        let slots = &self.slots;
        self.by_id.insert_unique(hash, index, |&other| {
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

    pub(in crate::engine) fn get_mut(&mut self, key: CallKey) -> Option<&mut Call> {
        self.slots
            .get_mut(key.index as usize)
            .filter(|slot| slot.generation == key.generation)?
            .call
            .as_mut()
    }

    #[inline(always)]
    pub(in crate::engine) fn remove(&mut self, key: CallKey) -> Option<Call> {
        let slot = self
            .slots
            .get_mut(key.index as usize)
            .filter(|slot| slot.generation == key.generation)?;
        let call = slot.call.take()?;
        slot.generation = slot.generation.wrapping_add(1);
        self.free.push(key.index);
        if let Ok(entry) = self
            .by_id
            .find_entry(call.hash, |&index| index == key.index)
        {
            entry.remove();
        }
        Some(call)
    }

    fn find_hashed(&self, id: RequestId<'_>, hash: u64) -> Option<CallKey> {
        let index = *self.by_id.find(hash, |&index| {
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

/// The JSON text of an id or a token: those of up to 38 bytes stay in the table, which takes a UUID in its quotes.
#[derive(Debug)]
enum Text {
    Inline(heapless::String<38, u8>),
    Spilled(Box<str>),
}

impl Text {
    fn new(raw: RawJson<'_>) -> Self {
        heapless::String::try_from(raw.as_str())
            .map_or_else(|_| Self::Spilled(raw.as_str().into()), Self::Inline)
    }

    fn raw(&self) -> RawJson<'_> {
        RawJson::new(match self {
            Self::Inline(text) => text.as_str(),
            Self::Spilled(text) => text,
        })
    }
}
