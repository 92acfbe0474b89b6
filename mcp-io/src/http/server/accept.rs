//! Accepts connections.

use std::future::Future;
use std::io::{self, ErrorKind};
use std::time::Duration;

use async_io::Timer;
use futures_lite::future;
use tracing::debug;

use super::slots::{Slot, Slots};
use super::socket::Socket;
use super::{Listener, Options};

/// How many connections are told at a time that there are too many.
const REFUSED: usize = 64;

/// How many connections are accepted before those that are there have their turn.
const BURST: usize = 64;

/// How long nobody is accepted after the system has said that it cannot: at first.
const PAUSE: Duration = Duration::from_millis(10);

/// And if it goes on.
const MOST: Duration = Duration::from_secs(1);

/// What is to be done with a connection.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Verdict {
    Serve,
    /// There are too many.
    Refuse,
}

/// Starts a task for each connection until `shutdown` resolves, then waits until they have ended or their time is up.
/// `stop` is called in between.
pub(super) async fn accept(
    listener: Listener,
    options: &Options,
    shutdown: impl Future<Output = ()>,
    stop: impl FnOnce(),
    start: impl Fn(Socket, Slot, Verdict),
) {
    let slots = Slots::new();
    future::or(shutdown, forever(&listener, &slots, options, start)).await;
    drop(listener);
    debug!(connections = slots.taken(), "shutting down");
    stop();
    future::or(slots.at_most(0), async {
        Timer::after(options.grace).await;
    })
    .await;
}

async fn forever(
    listener: &Listener,
    slots: &Slots,
    options: &Options,
    start: impl Fn(Socket, Slot, Verdict),
) {
    let mut pause = PAUSE;
    loop {
        for _ in 0..BURST {
            let most = options.max_connections.saturating_add(REFUSED - 1);
            slots.at_most(most).await;
            match listener.accept().await {
                Ok(socket) => {
                    pause = PAUSE;
                    let verdict = if slots.taken() < options.max_connections {
                        Verdict::Serve
                    } else {
                        Verdict::Refuse
                    };
                    start(socket, slots.take(), verdict);
                }
                Err(error) if is_of_one(&error) => debug!(%error, "a connection was not accepted"),
                Err(error) => {
                    // Most likely out of file descriptors or memory: the connection stays in the backlog, and to ask for it
                    // again at once would only burn time.
                    debug!(%error, ?pause, "cannot accept connections");
                    Timer::after(pause).await;
                    pause = (pause * 2).min(MOST);
                }
            }
        }
        future::yield_now().await;
    }
}

/// Whether an error is about the connection that was to be accepted, rather than about accepting.
fn is_of_one(error: &io::Error) -> bool {
    use ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted};
    matches!(
        error.kind(),
        ConnectionAborted | ConnectionReset | Interrupted
    )
}
