//! A thread that waits for something to do, in the system or beside it.

#[cfg(mcp_loom)]
use loom::sync::atomic::{AtomicBool, AtomicU8, Ordering};
#[cfg(not(mcp_loom))]
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

const AWAKE: u8 = 0;
/// In the system, until something happens to a socket.
const POLLING: u8 = 1;
/// Until it is unparked.
const PARKED: u8 = 2;

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
    woken: AtomicBool,
    state: AtomicU8,
    rouse: R,
}

impl<R: Rouse> Sleeper<R> {
    pub(super) fn new(rouse: R) -> Self {
        Self {
            woken: AtomicBool::new(false),
            state: AtomicU8::new(AWAKE),
            rouse,
        }
    }

    /// From here on what is woken is new: to be called before looking for something to do.
    pub(super) fn begin(&self) {
        self.woken.store(false, Ordering::SeqCst);
    }

    /// Whether there is something new.
    pub(super) fn is_woken(&self) -> bool {
        self.woken.load(Ordering::SeqCst)
    }

    /// Waits in the system by `wait`, which is told whether it may sleep.
    pub(super) fn poll<T>(&self, wait: impl FnOnce(bool) -> T) -> T {
        self.asleep(POLLING, wait)
    }

    /// Waits by `wait` until it is woken, unless it is already.
    pub(super) fn park(&self, wait: impl FnOnce()) {
        self.asleep(PARKED, |may_sleep| {
            if may_sleep {
                wait();
            }
        });
    }

    /// Either this thread sees that it was woken, or who wakes it sees that it sleeps.
    fn asleep<T>(&self, state: u8, wait: impl FnOnce(bool) -> T) -> T {
        self.state.store(state, Ordering::SeqCst);
        let waited = wait(!self.is_woken());
        self.state.store(AWAKE, Ordering::SeqCst);
        waited
    }

    pub(super) const fn rouse(&self) -> &R {
        &self.rouse
    }

    pub(super) fn wake(&self) {
        if self.woken.swap(true, Ordering::SeqCst) {
            return;
        }
        match self.state.load(Ordering::SeqCst) {
            POLLING => self.rouse.interrupt(),
            PARKED => self.rouse.unpark(),
            _ => {}
        }
    }
}

#[cfg(all(test, mcp_loom))]
mod tests {
    use super::*;
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
    /// loom would report one that sleeps on.
    #[test]
    fn no_wake_is_lost() {
        loom::model(|| {
            let sleeper = Arc::new(Sleeper::new(Marks::default()));
            let work = Arc::new([AtomicBool::new(false), AtomicBool::new(false)]);
            let wakers: Vec<_> = (0..2)
                .map(|index| {
                    let (sleeper, work) = (sleeper.clone(), work.clone());
                    loom::thread::spawn(move || {
                        work[index].store(true, Ordering::SeqCst);
                        sleeper.wake();
                    })
                })
                .collect();
            let mut polls = false;
            loop {
                sleeper.begin();
                if work.iter().all(|done| done.load(Ordering::SeqCst)) {
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
