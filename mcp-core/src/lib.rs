//! The Model Context Protocol as a sans-IO engine.
#![no_std]
#![deny(clippy::std_instead_of_alloc)]

extern crate alloc;
#[cfg(any(test, feature = "std"))]
extern crate std;

pub mod binding;
pub mod engine;
mod error;
pub mod frame;
pub mod json;
mod limits;
pub mod model;
pub mod rpc;
pub mod scan;

pub use error::{EnvelopeFault, ErrorCode, PeerFault, SendError};
pub use limits::Limits;
