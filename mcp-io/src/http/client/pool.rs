//! Connections that have no exchange, kept for the next one.

use core::task::{Context, Waker};
use core::time::Duration;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use async_channel::{Receiver, Sender};

use super::connect::Origin;
use super::connection::Live;

pub(super) struct Pool {
    idle: Mutex<Vec<Idle>>,
    max_idle: usize,
    timeout: Duration,
}

/// How many connections there may be at once.
#[derive(Clone)]
pub(super) struct Permits {
    /// Holds one entry for each exchange there is.
    entries: Sender<()>,
    exits: Receiver<()>,
}

struct Idle {
    origin: Origin,
    live: Live,
    since: Instant,
}

/// The right to have a connection.
pub(super) struct Permit(Receiver<()>);

impl Drop for Permit {
    fn drop(&mut self) {
        // Its own entry is there, whichever one this is.
        let _ = self.0.try_recv();
    }
}

impl Permits {
    pub(super) fn new(most: usize) -> Self {
        let (entries, exits) = async_channel::bounded(most.max(1));
        Self { entries, exits }
    }

    /// Waits until there may be one more connection.
    pub(super) async fn take(&self) -> Permit {
        // The channel is never closed: both ends are here.
        let _ = self.entries.send(()).await;
        Permit(self.exits.clone())
    }
}

impl Pool {
    pub(super) fn new(max_idle: usize, timeout: Duration) -> Arc<Self> {
        Arc::new(Self {
            idle: Mutex::default(),
            max_idle,
            timeout,
        })
    }

    /// A connection to this origin that seems to be usable. The one that was used last is the least likely to be gone.
    pub(super) fn take(&self, origin: &Origin) -> Option<Live> {
        let mut cx = Context::from_waker(Waker::noop());
        loop {
            let mut live = {
                let mut idle = self.lock();
                idle.retain(|one| one.since.elapsed() < self.timeout);
                let at = idle.iter().rposition(|one| one.origin == *origin)?;
                idle.remove(at).live
            };
            if live.is_usable(&mut cx) {
                return Some(live);
            }
        }
    }

    fn keep(&self, origin: Origin, mut live: Live) {
        let mut cx = Context::from_waker(Waker::noop());
        if self.max_idle == 0 || !live.is_usable(&mut cx) {
            return;
        }
        let mut idle = self.lock();
        idle.retain(|one| one.since.elapsed() < self.timeout);
        if idle.len() >= self.max_idle {
            idle.remove(0);
        }
        idle.push(Idle {
            origin,
            live,
            since: Instant::now(),
        });
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Idle>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where a connection goes when its exchange is over.
pub(super) struct Back {
    pool: Arc<Pool>,
    origin: Origin,
    _permit: Permit,
}

impl Back {
    pub(super) const fn new(pool: Arc<Pool>, origin: Origin, permit: Permit) -> Self {
        Self {
            pool,
            origin,
            _permit: permit,
        }
    }

    pub(super) fn give(self, live: Live) {
        self.pool.keep(self.origin, live);
    }
}
