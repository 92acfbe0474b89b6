//! Word of changes, for any number of listeners.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use async_channel::{Receiver, Sender};

/// Tells all listeners that something has changed. Its clones are one.
#[derive(Clone, Debug)]
pub(crate) struct Signal(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    count: AtomicU64,
    /// Closed at the next change, and another one made.
    channel: Mutex<(Sender<()>, Receiver<()>)>,
}

/// Hears of the next change.
#[derive(Debug)]
pub(crate) struct Listener(Receiver<()>);

impl Signal {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Shared {
            count: AtomicU64::new(0),
            channel: Mutex::new(async_channel::bounded(1)),
        }))
    }

    /// To be called before what is waited for is looked at, so that no change is missed.
    pub(crate) fn listen(&self) -> Listener {
        let channel = self
            .0
            .channel
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        Listener(channel.1.clone())
    }

    pub(crate) fn fire(&self) {
        self.0.count.fetch_add(1, Ordering::SeqCst);
        let mut channel = self
            .0
            .channel
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let (old, _) = core::mem::replace(&mut *channel, async_channel::bounded(1));
        old.close();
    }

    /// How many changes there were.
    pub(crate) fn count(&self) -> u64 {
        self.0.count.load(Ordering::SeqCst)
    }
}

impl Listener {
    pub(crate) async fn wait(&self) {
        // Nothing is ever sent: this ends when the channel is closed.
        let _ = self.0.recv().await;
    }
}
