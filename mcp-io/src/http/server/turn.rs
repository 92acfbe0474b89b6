//! Whose turn it is on a connection.

use std::sync::atomic::{AtomicU16, Ordering};

/// What the parts of a connection that hyper holds (socket, service, body of the response) tell the task around it.
///
/// They are all polled by that task, hence never at the same time: a load and a store are enough for a change.
#[derive(Debug, Default)]
pub(super) struct Turn(AtomicU16);

/// A request is served, or its response is not written yet.
pub(super) const BUSY: u16 = 1;
/// A request was begun to be served since this was last taken.
pub(super) const CALLED: u16 = 1 << 1;
/// Bytes have come since the last request was begun to be served.
pub(super) const RECEIVED: u16 = 1 << 2;
/// The last request has a body, of which something may still come.
pub(super) const BODY: u16 = 1 << 3;
/// The socket takes no more bytes for now.
pub(super) const BLOCKED: u16 = 1 << 4;
/// The socket has taken bytes since this was last taken.
pub(super) const WRITTEN: u16 = 1 << 5;
/// All is said; what the client still sends is thrown away.
pub(super) const LINGERING: u16 = 1 << 6;
/// The response can be parked, and has nothing to say for now.
pub(super) const QUIET: u16 = 1 << 7;
/// The response is being parked: whoever drops its body keeps it.
pub(super) const PARKING: u16 = 1 << 8;

/// The last read has filled its buffer, or there is more of what was read before.
pub(super) const MORE: u16 = 1 << 9;

impl Turn {
    pub(super) fn is(&self, flag: u16) -> bool {
        self.0.load(Ordering::Relaxed) & flag != 0
    }

    pub(super) fn set(&self, flags: u16) {
        self.change(flags, 0);
    }

    pub(super) fn clear(&self, flags: u16) {
        self.change(0, flags);
    }

    pub(super) fn take(&self, flag: u16) -> bool {
        let was = self.is(flag);
        if was {
            self.clear(flag);
        }
        was
    }

    pub(super) fn change(&self, set: u16, clear: u16) {
        let old = self.0.load(Ordering::Relaxed);
        self.0.store(old & !clear | set, Ordering::Relaxed);
    }
}
