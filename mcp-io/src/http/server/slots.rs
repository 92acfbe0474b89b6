//! How many connections there are.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_channel::{Receiver, Sender};

/// Counts connections, for the one task that accepts them.
#[derive(Debug)]
pub(super) struct Slots {
    taken: Arc<Taken>,
    freed: Receiver<()>,
}

#[derive(Debug)]
struct Taken {
    count: AtomicUsize,
    freed: Sender<()>,
}

/// One connection; dropped with it.
#[derive(Debug)]
pub(super) struct Slot(Arc<Taken>);

impl Slots {
    pub(super) fn new() -> Self {
        let (sender, freed) = async_channel::bounded(1);
        Self {
            taken: Arc::new(Taken {
                count: AtomicUsize::new(0),
                freed: sender,
            }),
            freed,
        }
    }

    pub(super) fn taken(&self) -> usize {
        self.taken.count.load(Ordering::Acquire)
    }

    pub(super) fn take(&self) -> Slot {
        self.taken.count.fetch_add(1, Ordering::Relaxed);
        Slot(Arc::clone(&self.taken))
    }

    /// Waits until no more than `most` are taken.
    pub(super) async fn at_most(&self, most: usize) {
        // A slot that is freed between the two leaves its word in the channel.
        while self.taken() > most {
            if self.freed.recv().await.is_err() {
                return;
            }
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.count.fetch_sub(1, Ordering::Release);
        // Full: the word of another is not heard yet, and whoever hears it counts anew.
        let _ = self.0.freed.try_send(());
    }
}
