//! HTTP/1.1: hyper moves the bytes, here is what it leaves open.

#[cfg(feature = "http-client")]
pub mod client;
#[cfg(feature = "http-server")]
pub mod server;
