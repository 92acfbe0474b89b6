//! The harness of the tests that see the crates as their users do.
//!
//! [`Dialogue`] reads a conversation from a text file and holds a server engine to it; [`Bounded`] is an output that
//! runs full; [`server`] is the server that all of them talk to.

extern crate alloc;

mod dialogue;
pub mod pair;
mod player;
mod script;
pub mod server;
mod sink;

pub use dialogue::{Dialogue, dialogues};
pub use sink::Bounded;
