//! Deadlines in a hierarchical timing wheel: setting, clearing and running out cost the same however many there are.
//!
//! Time is cut into ticks. A deadline that first differs from now in the n-th group of six bits of its tick hangs in a list
//! of level n, in the place those six bits name. So all of one level come before all of the next, and those of a level in
//! the order of their places: the next list to look at is the lowest bit of the lowest level that has any. When its time
//! begins, a list of level 0 is due, and those of another one move down at least one level: each deadline moves at most
//! once per level in its life.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::engine::memory::Deadlines;
use crate::time::Instant;

/// A tick is 2^10 microseconds.
const TICK_BITS: u32 = 10;
const LEVEL_BITS: u32 = 6;
const PLACES: usize = 1 << LEVEL_BITS;
/// Enough that any two ticks differ in one of the levels: 54 bits.
const LEVELS: usize = (u64::BITS - TICK_BITS).div_ceil(LEVEL_BITS) as usize;
/// The list of those whose time has passed, after those of the levels.
const DUE: usize = LEVELS * PLACES;

/// No entry, no list.
const NONE: u32 = u32::MAX;

#[derive(Debug)]
pub(in crate::engine) struct Wheel {
    /// The tick up to which all has become due.
    now: u64,
    /// For each level, which of its lists have entries.
    occupied: [u64; LEVELS],
    /// The first entry of each list; the lists are circular.
    heads: [u32; DUE + 1],
    /// By index of the entry.
    links: Vec<Link>,
}

#[derive(Clone, Copy, Debug)]
struct Link {
    tick: u64,
    /// The list it is in, or `NONE`.
    list: u32,
    previous: u32,
    next: u32,
}

impl Default for Wheel {
    fn default() -> Self {
        Self {
            now: 0,
            occupied: [0; LEVELS],
            heads: [NONE; DUE + 1],
            links: Vec::new(),
        }
    }
}

impl Deadlines for Option<Box<Wheel>> {
    #[inline]
    fn clear(&mut self, place: u32) {
        if let Some(wheel) = self {
            wheel.clear(place);
        }
    }
}

impl Wheel {
    /// Sets the deadline of entry `index`, which may have one already.
    pub(super) fn set(&mut self, index: u32, deadline: Instant) {
        self.clear(index);
        if self.links.len() <= index as usize {
            let none = Link {
                tick: 0,
                list: NONE,
                previous: NONE,
                next: NONE,
            };
            self.links.resize(index as usize + 1, none);
        }
        // Rounded up: a deadline is not due in the tick in which it is still to come. Time ends within the last one.
        let tick = deadline.as_micros().div_ceil(1 << TICK_BITS);
        self.links[index as usize].tick = tick.min(u64::MAX >> TICK_BITS);
        self.hang(index);
    }

    /// Takes the deadline of entry `index` away, if it has one.
    pub(super) fn clear(&mut self, index: u32) {
        let Some(link) = self.links.get_mut(index as usize) else {
            return;
        };
        let Link {
            list,
            previous,
            next,
            ..
        } = *link;
        if list == NONE {
            return;
        }
        link.list = NONE;
        let list = list as usize;
        if next == index {
            self.heads[list] = NONE;
            if let Some(occupied) = self.occupied.get_mut(list / PLACES) {
                *occupied &= !(1 << (list % PLACES));
            }
            return;
        }
        self.links[previous as usize].next = next;
        self.links[next as usize].previous = previous;
        if self.heads[list] == index {
            self.heads[list] = next;
        }
    }

    /// The entry that has been due for longest at `now`; it stays so until it is cleared or set again.
    pub(super) fn expired(&mut self, now: Instant) -> Option<u32> {
        let now = (now.as_micros() >> TICK_BITS).max(self.now);
        while let Some((list, start)) = self.first()
            && start <= now
        {
            self.now = self.now.max(start);
            if list < PLACES {
                self.fall_due(list);
                continue;
            }
            loop {
                let index = self.heads[list];
                if index == NONE {
                    break;
                }
                self.clear(index);
                self.hang(index);
            }
        }
        // What still hangs hangs right: its list has not begun, so `now` differs from it where the time before did.
        self.now = now;
        let due = self.heads[DUE];
        (due != NONE).then_some(due)
    }

    /// When something happens next: an entry is due, or a list moves down.
    pub(super) fn next(&self) -> Option<Instant> {
        let tick = if self.heads[DUE] == NONE {
            self.first()?.1
        } else {
            self.now
        };
        Some(Instant::from_micros(tick.saturating_mul(1 << TICK_BITS)))
    }

    /// The first list that has entries, and the tick with which its time begins.
    fn first(&self) -> Option<(usize, u64)> {
        let level = self.occupied.iter().position(|&places| places != 0)?;
        let place = self.occupied[level].trailing_zeros() as usize;
        let shift = LEVEL_BITS * level as u32;
        // Above the level it is the time of now. The topmost level has nothing above.
        let above = self.now & u64::MAX.checked_shl(shift + LEVEL_BITS).unwrap_or(0);
        Some((level * PLACES + place, above | (place as u64) << shift))
    }

    /// Puts entry `index` into the list that its tick belongs to.
    fn hang(&mut self, index: u32) {
        // One that has passed is due with the tick of now.
        let tick = self.links[index as usize].tick.max(self.now);
        let differ = (self.now ^ tick) | (PLACES as u64 - 1);
        let level = (differ.ilog2() / LEVEL_BITS) as usize;
        let place = (tick >> (LEVEL_BITS * level as u32)) as usize % PLACES;
        self.occupied[level] |= 1 << place;
        self.append(level * PLACES + place, index);
    }

    /// All of a list of level 0 is due.
    fn fall_due(&mut self, list: usize) {
        loop {
            let index = self.heads[list];
            if index == NONE {
                return;
            }
            self.clear(index);
            self.append(DUE, index);
        }
    }

    fn append(&mut self, list: usize, index: u32) {
        let head = self.heads[list];
        let (previous, next) = if head == NONE {
            self.heads[list] = index;
            (index, index)
        } else {
            let last = self.links[head as usize].previous;
            self.links[head as usize].previous = index;
            self.links[last as usize].next = index;
            (last, head)
        };
        let link = &mut self.links[index as usize];
        link.list = list as u32;
        link.previous = previous;
        link.next = next;
    }
}
