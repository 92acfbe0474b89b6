//! The Model Context Protocol as a sans-IO engine.
#![no_std]
#![deny(clippy::std_instead_of_alloc)]

extern crate alloc;
#[cfg(any(test, feature = "std"))]
extern crate std;

pub mod frame;
pub mod json;
pub mod scan;
