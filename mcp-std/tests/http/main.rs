//! Servers over HTTP, as a client sees them that writes its requests byte by byte.
#![cfg(unix)]

mod asking;
mod batches;
mod blocking;
mod eras;
mod example;
mod examples;
mod heads;
mod hostile;
mod listening;
mod media;
mod mirrors;
mod modern;
mod old;
mod pages;
mod resuming;
mod sessions;
mod shutdown;
mod site;
mod slow;
mod status;
mod straight;
mod streams;
#[cfg(feature = "tasks")]
mod tasks;
