//! A seed from the operating system.

use core::hash::BuildHasher;
use std::hash::RandomState;

/// Different in each call, and unpredictable to peers: the standard library seeds its hash maps the same way.
pub(crate) fn seed() -> u64 {
    RandomState::new().hash_one(0_u8)
}

/// A key nobody can guess.
pub(crate) fn key() -> [u8; 32] {
    let mut key = [0; 32];
    // Without a source of randomness there can be no seal: better no server than one whose seals can be forged.
    getrandom::fill(&mut key).expect("the operating system gives random bytes");
    key
}
