//! A seed from the operating system.

use core::hash::BuildHasher;
use std::hash::RandomState;

/// Different in each call, and unpredictable to peers: the standard library seeds its hash maps the same way.
pub(crate) fn seed() -> u64 {
    RandomState::new().hash_one(0_u8)
}
