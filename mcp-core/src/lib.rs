//! The Model Context Protocol as a sans-IO engine.
#![no_std]
#![warn(
    clippy::alloc_instead_of_core,
    clippy::std_instead_of_alloc,
    clippy::std_instead_of_core
)]

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
