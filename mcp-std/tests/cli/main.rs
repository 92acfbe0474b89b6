//! The commands of `mcp` that are clients, as their users run them.

#[cfg(unix)]
mod asking;
mod commands;
#[cfg(unix)]
mod failures;
#[cfg(unix)]
mod interrupting;
mod program;
mod showing;
