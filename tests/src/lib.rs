//! The harness of the tests that see the crates as their users do.
//!
//! [`Dialogue`] reads a conversation from a text file and holds the engine of a server or of a client to it, and [`Record`]
//! says what it was about; [`Bounded`] is an output that runs full; [`server`] is the server that all of them talk to.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a harness names what a test is about, and fails on whatever else there is"
)]

extern crate alloc;

mod client;
mod dialogue;
pub mod pair;
mod player;
mod record;
mod script;
pub mod server;
mod sink;

pub use dialogue::{Dialogue, client_dialogues, dialogues};
pub use record::{Direction, Outcome, Record};
pub use script::Role;
pub use sink::Bounded;
