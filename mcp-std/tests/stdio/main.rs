//! `mcp serve` as a process of its own, on real pipes, sockets, files and terminals.
#![cfg(unix)]

mod child;
mod descriptors;
mod ending;
mod examples;
#[cfg(target_os = "linux")]
mod hostile;
mod ids;
#[cfg(target_os = "linux")]
mod memory;
mod messages;
mod prints;
mod terminal;
