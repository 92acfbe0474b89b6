//! A server on real sockets: what is bounded is, what ends does so in order.

mod bodies;
mod bounds;
mod client;
mod exchanges;
mod resets;
mod service;
mod shutdown;
mod straight;
mod streams;
