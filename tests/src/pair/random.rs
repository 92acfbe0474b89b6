//! Chance with a seed, so that a schedule can be run again.

/// SplitMix64: each seed is a sequence of its own.
#[derive(Clone, Debug)]
pub(super) struct Random(u64);

impl Random {
    pub(super) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`, which is not 0.
    pub(super) const fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// Whether one of so many hundred times it happens.
    pub(super) const fn percent(&mut self, of_hundred: u64) -> bool {
        self.below(100) < of_hundred
    }

    /// Takes one element out of the list, if it has any.
    pub(super) fn take<T>(&mut self, list: &mut Vec<T>) -> Option<T> {
        let len = list.len() as u64;
        (len > 0).then(|| list.swap_remove(self.below(len) as usize))
    }

    /// One element of the list, if it has any.
    pub(super) fn pick<T: Copy>(&mut self, list: &[T]) -> Option<T> {
        let len = list.len() as u64;
        (len > 0).then(|| list[self.below(len) as usize])
    }
}
