//! Servers and their handlers, in one process with their clients.
#![cfg(unix)]

#[cfg(feature = "apps")]
mod apps;
mod arguments;
mod asking;
mod batches;
mod changes;
mod concurrency;
mod extensions;
mod fairness;
mod features;
mod lifetime;
mod logs;
mod panics;
mod peer;
mod progress;
mod results;
mod robustness;
mod rounds;
mod runtimes;
#[cfg(feature = "validate")]
mod schemas;
#[cfg(feature = "tasks")]
mod task_stores;
#[cfg(feature = "tasks")]
mod tasks;
mod templates;
