//! From ids to places in the table.
//!
//! Ids are counted, so those of requests that were sent together are next to each other: sixteen in a row share a block. The
//! newest block is at hand, and a request that is answered before sixteen more are sent costs no look-up at all; the others
//! are in a hash table, and what comes in the order of ids, as most answers do, finds its block in the cache.

use core::hash::BuildHasher;

use foldhash::fast::FixedState;
use hashbrown::HashTable;

use crate::engine::memory::Ids;

/// So many ids share a block: one cache line of places.
const WIDTH: u64 = 16;

/// No place.
const NONE: u32 = u32::MAX;

#[derive(Debug)]
pub(in crate::engine) struct Numbered {
    newest: Block,
    older: HashTable<Block>,
    hasher: FixedState,
    len: usize,
}

#[derive(Debug)]
struct Block {
    /// The ids divided by [`WIDTH`].
    number: u64,
    used: u64,
    places: [u32; WIDTH as usize],
}

impl Block {
    const fn new(number: u64) -> Self {
        Self {
            number,
            used: 0,
            places: [NONE; WIDTH as usize],
        }
    }

    const fn place(&mut self, id: u64) -> &mut u32 {
        &mut self.places[(id % WIDTH) as usize]
    }
}

impl Numbered {
    pub(super) const fn new(hasher: FixedState) -> Self {
        Self {
            newest: Block::new(0),
            older: HashTable::new(),
            hasher,
            len: 0,
        }
    }
}

impl Ids for Numbered {
    fn new(seed: u64) -> Self {
        Self::new(FixedState::with_seed(seed))
    }

    #[inline]
    fn len(&self) -> usize {
        self.len
    }

    #[inline]
    fn insert(&mut self, id: u64, place: u32) {
        let number = id / WIDTH;
        if self.newest.number != number {
            let block = core::mem::replace(&mut self.newest, Block::new(number));
            if block.used > 0 {
                let hasher = &self.hasher;
                let hash = hasher.hash_one(block.number);
                self.older
                    .insert_unique(hash, block, |other| hasher.hash_one(other.number));
            }
        }
        self.newest.used += 1;
        *self.newest.place(id) = place;
        self.len += 1;
    }

    #[inline]
    fn get(&self, id: u64, _: usize, _: impl FnMut(u32) -> bool) -> Option<u32> {
        let number = id / WIDTH;
        let block = if self.newest.number == number {
            &self.newest
        } else {
            let hash = self.hasher.hash_one(number);
            self.older.find(hash, |block| block.number == number)?
        };
        let place = block.places[(id % WIDTH) as usize];
        (place != NONE).then_some(place)
    }

    #[inline]
    fn remove(&mut self, id: u64) {
        let number = id / WIDTH;
        self.len -= 1;
        if self.newest.number == number {
            self.newest.used -= 1;
            *self.newest.place(id) = NONE;
            return;
        }
        let hash = self.hasher.hash_one(number);
        if let Ok(mut entry) = self.older.find_entry(hash, |block| block.number == number) {
            let block = entry.get_mut();
            block.used -= 1;
            *block.place(id) = NONE;
            if block.used == 0 {
                entry.remove();
            }
        }
    }
}
