//! The commands of `mcp` that are clients, as their users run them.

#[cfg(unix)]
mod asking;
mod chatting;
#[cfg(unix)]
mod chatting_by_hand;
mod commands;
#[cfg(unix)]
mod failures;
#[cfg(unix)]
mod interrupting;
mod program;
mod provider;
mod showing;
#[cfg(unix)]
mod terminal;
