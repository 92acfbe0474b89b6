//! Connections from clients: bounds, timeouts, and an end in order.
//!
//! [`serve()`] accepts connections of a [`Listener`] and drives a [`tower_service::Service`] for what they ask, with
//! HTTP/1.1 by hyper. What a request means is the service's business, `HEAD` and `OPTIONS` included.
//!
//! - Each connection is one task, on the thread that polls [`serve()`] and as many others as [`Options::threads`] asks for.
//! - One request of a connection is served at a time. Pipelined ones wait in the socket, as far as they are not in the
//!   buffer yet, and are answered in their order.
//! - The body of a response is dropped as soon as its client is gone, also when it has nothing to say: the socket is read
//!   while it is pending. (A client that has pipelined another request is noticed when the next write fails.) That a client
//!   closes its half of the connection is understood as that it is gone.
//! - `Expect: 100-continue` is answered when the service first asks for the body, and never if it does not.
//! - A connection that is closed while its client still sends is read on for a moment, so that the client can read why.
//! - A service that panics ends its connection and no other.
//!
//! Poll [`serve()`] with `async_io::block_on`, where the thread waits for sockets itself: any other executor works, but then
//! each event comes from another thread.

mod accept;
mod body;
mod collect;
mod connection;
mod error;
mod exchange;
mod io;
mod listener;
mod options;
mod parked;
mod serve;
mod shutdown;
mod slots;
mod socket;
mod turn;
mod watch;

pub use collect::{BodyError, collect};
pub use error::Error;
pub use listener::Listener;
pub use options::Options;
pub use parked::Parkable;
pub use serve::{serve, serve_local};
pub use shutdown::ShuttingDown;
