//! A thread that waits for something to do, in the system or beside it.

#[cfg(mcp_loom)]
use loom::sync::atomic::{AtomicU8, Ordering};
#[cfg(not(mcp_loom))]
use std::sync::atomic::{AtomicU8, Ordering};

const AWAKE: u8 = 0;
/// In the system, until something happens to a socket.
const POLLING: u8 = 1;
/// Until it is unparked.
const PARKED: u8 = 2;
/// There is something new to do.
const WOKEN: u8 = 3;

/// How a thread is roused: by something that costs a system call, hence only where it sleeps.
pub(super) trait Rouse {
    /// Ends its wait in the system, now or as soon as it begins.
    fn interrupt(&self);
    /// Ends its being parked, now or as soon as it is.
    fn unpark(&self);
}

/// One thread, as those see it who have something for it to do.
#[derive(Debug)]
pub(super) struct Sleeper<R> {
    /// Changed by nothing but read-modify-writes: each finds what the one before has left.
    state: AtomicU8,
    rouse: R,
}

impl<R: Rouse> Sleeper<R> {
    pub(super) fn new(rouse: R) -> Self {
        Self {
            state: AtomicU8::new(AWAKE),
            rouse,
        }
    }

    /// From here on what is woken is new: to be called before looking for something to do.
    pub(super) fn begin(&self) {
        self.state.swap(AWAKE, Ordering::AcqRel);
    }

    /// Whether there is something new. If it has just become so, [`poll`](Self::poll) knows at the latest.
    pub(super) fn is_woken(&self) -> bool {
        self.state.load(Ordering::Acquire) == WOKEN
    }

    /// Waits in the system by `wait`, which is told whether it may sleep.
    pub(super) fn poll<T>(&self, wait: impl FnOnce(bool) -> T) -> T {
        let may_sleep = self.change(AWAKE, POLLING);
        let waited = wait(may_sleep);
        self.change(POLLING, AWAKE);
        waited
    }

    /// Waits by `wait` until it is woken, unless it is already.
    pub(super) fn park(&self, wait: impl FnOnce()) {
        if self.change(AWAKE, PARKED) {
            wait();
            self.change(PARKED, AWAKE);
        }
    }

    fn change(&self, from: u8, to: u8) -> bool {
        self.state
            .compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire)
            .is_ok()
    }

    pub(super) const fn rouse(&self) -> &R {
        &self.rouse
    }

    pub(super) fn wake(&self) {
        match self.state.swap(WOKEN, Ordering::AcqRel) {
            POLLING => self.rouse.interrupt(),
            PARKED => self.rouse.unpark(),
            _ => {}
        }
    }
}

#[cfg(all(test, mcp_loom))]
mod tests {
    use super::*;
    use loom::sync::atomic::AtomicBool;
    use loom::sync::{Arc, Condvar, Mutex};

    /// What the system and the thread's parking are: a mark that stays until it is seen.
    #[derive(Default)]
    struct Marks {
        marked: Mutex<[bool; 2]>,
        changed: Condvar,
    }

    impl Marks {
        fn mark(&self, which: usize) {
            self.marked.lock().expect("nobody panics")[which] = true;
            self.changed.notify_all();
        }

        fn wait(&self, which: usize) {
            let mut marked = self.marked.lock().expect("nobody panics");
            while !core::mem::take(&mut marked[which]) {
                marked = self.changed.wait(marked).expect("nobody panics");
            }
        }
    }

    impl Rouse for Marks {
        fn interrupt(&self) {
            self.mark(0);
        }

        fn unpark(&self) {
            self.mark(1);
        }
    }

    /// Two threads wake a third, which waits in the system or is parked in turn: it sees all that there was to be done, and
    /// loom would report one that sleeps on. All orders in which no thread is interrupted more than three times: with more it
    /// takes minutes.
    #[test]
    fn no_wake_is_lost() {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(3);
        model.check(|| {
            let sleeper = Arc::new(Sleeper::new(Marks::default()));
            let work = Arc::new([AtomicBool::new(false), AtomicBool::new(false)]);
            let wakers: Vec<_> = (0..2)
                .map(|index| {
                    let (sleeper, work) = (sleeper.clone(), work.clone());
                    loom::thread::spawn(move || {
                        work[index].store(true, Ordering::Release);
                        sleeper.wake();
                    })
                })
                .collect();
            let mut polls = false;
            loop {
                sleeper.begin();
                if work.iter().all(|done| done.load(Ordering::Acquire)) {
                    break;
                }
                if polls {
                    sleeper.poll(|may_sleep| {
                        if may_sleep {
                            sleeper.rouse().wait(0);
                        }
                    });
                } else {
                    sleeper.park(|| sleeper.rouse().wait(1));
                }
                polls = !polls;
            }
            for waker in wakers {
                waker.join().expect("does not panic");
            }
        });
    }
}
