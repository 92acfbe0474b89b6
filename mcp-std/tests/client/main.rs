//! The client, against servers by hand, against ours, and against processes.
#![cfg(unix)]

mod blocking;
mod cache;
mod calls;
mod children;
mod drops;
mod eras;
mod handlers;
mod in_process;
mod lists;
mod peer;
mod robustness;
mod runtimes;
mod subscriptions;
#[cfg(feature = "tasks")]
mod tasks;
mod timeouts;
