//! Connections from clients: bounds, timeouts, and an end in order.
//!
//! [`serve()`] accepts connections of a [`Listener`] and drives a [`tower_service::Service`] for what they ask, with
//! HTTP/1.1 by hyper. What a request means is the service's business, `HEAD` and `OPTIONS` included.
//!
//! - Each connection is one task, on one of [`Options::threads`] threads of the server's own.
//! - One request of a connection is served at a time. Pipelined ones wait in the socket, as far as they are not in the
//!   buffer yet, and are answered in their order.
//! - The body of a response is dropped as soon as its client is gone, also when it has nothing to say. That a client closes
//!   its half of the connection is understood as that it is gone, once the body of its request is read.
//! - `Expect: 100-continue` is answered when the service first asks for the body, and never if it does not.
//! - A connection that is closed while its client still sends is read on for a moment, so that the client can read why.
//! - A service that panics ends its connection and no other.

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
mod plain;
mod reactor;
mod serve;
mod shutdown;
mod sleeper;
mod slots;
mod socket;
mod straight;
mod turn;
mod watch;

pub use collect::{BodyError, collect};
pub use error::Error;
pub use listener::Listener;
pub use options::{Around, Options};
pub use parked::Parkable;
pub use plain::Plain;
pub use serve::{serve, serve_straight};
pub use shutdown::ShuttingDown;
pub use straight::{Straight, Taken};
