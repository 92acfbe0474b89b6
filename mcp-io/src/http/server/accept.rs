//! Accepts connections.

use std::io::{self, ErrorKind};
use std::time::Duration;

use async_io::Timer;
use futures_lite::future;
use tracing::debug;

use super::listener::Acceptor;
use super::slots::{Slot, Slots};
use super::socket::Socket;

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

/// Starts a task for each connection, for ever.
pub(super) async fn accept(
    acceptor: Acceptor,
    slots: &Slots,
    max_connections: usize,
    mut start: impl FnMut(Socket, Slot, Verdict),
) {
    let mut pause = PAUSE;
    loop {
        for _ in 0..BURST {
            let most = max_connections.saturating_add(REFUSED - 1);
            slots.at_most(most).await;
            match acceptor.accept().await {
                Ok(socket) => {
                    pause = PAUSE;
                    let verdict = if slots.taken() < max_connections {
                        Verdict::Serve
                    } else {
                        Verdict::Refuse
                    };
                    start(socket, slots.take(), verdict);
                }
                Err(error) if is_of_one(&error) => debug!(%error, "a connection was not accepted"),
                Err(error) => {
                    // Most likely out of file descriptors or memory: to ask again at once would only burn time. The
                    // connection stays in the backlog, if it was accepting it that failed.
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
