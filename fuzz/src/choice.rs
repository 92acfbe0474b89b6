//! Choices that a target has to make, drawn from the input itself: the same input makes the same ones.

/// A small generator (xorshift) seeded with a hash of the input (FNV-1a).
#[derive(Debug)]
pub(crate) struct Choice(u64);

impl Choice {
    pub(crate) fn of(data: &[u8]) -> Self {
        let hash = data.iter().fold(0xcbf2_9ce4_8422_2325, |hash: u64, &byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Self(hash.max(1))
    }

    /// A number below `end`, which is not 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % end
    }

    pub(crate) fn flip(&mut self) -> bool {
        self.below(2) == 0
    }
}
