//! Servers and their handlers, in one process with their clients.
#![cfg(unix)]

mod arguments;
mod batches;
mod concurrency;
mod fairness;
mod lifetime;
mod panics;
mod peer;
mod progress;
mod results;
mod runtimes;
