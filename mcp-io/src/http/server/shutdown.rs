//! Word of a shutdown, for those who have to end by themselves.

use std::convert::Infallible;
use std::fmt;

use async_channel::{Receiver, Sender};

/// Tells a service that its server shuts down, so that it ends the streams that would never end by themselves.
///
/// Clones are one. A server and its service share it like this:
///
/// ```
/// use mcp_io::http::server::ShuttingDown;
///
/// # async fn signal() {}
/// # let serve = |_| ();
/// let token = ShuttingDown::new();
/// let for_the_service = token.clone();
/// // The future that `serve` is given:
/// serve(async move {
///     signal().await;
///     token.begin();
/// });
/// ```
#[derive(Clone)]
pub struct ShuttingDown {
    /// Closed when the shutdown begins.
    sender: Sender<Infallible>,
    receiver: Receiver<Infallible>,
}

impl ShuttingDown {
    /// A server that is not shut down yet.
    #[must_use]
    pub fn new() -> Self {
        let (sender, receiver) = async_channel::bounded(1);
        Self { sender, receiver }
    }

    /// Tells all who wait. Doing so again does nothing.
    pub fn begin(&self) {
        self.sender.close();
    }

    /// Whether the shutdown has begun.
    #[must_use]
    pub fn has_begun(&self) -> bool {
        self.sender.is_closed()
    }

    /// Waits until the shutdown begins.
    pub async fn begun(&self) {
        // Nothing can be sent.
        let Err(_closed) = self.receiver.recv().await;
    }

    pub(super) fn receiver(&self) -> Receiver<Infallible> {
        self.receiver.clone()
    }
}

impl Default for ShuttingDown {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for ShuttingDown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ShuttingDown")
            .field("has_begun", &self.has_begun())
            .finish()
    }
}
