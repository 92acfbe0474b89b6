//! The handlers in flight: futures at the places the engine gave their calls, polled when they are woken.
//!
//! A handler that completes at once is never stored; one that waits costs a slot, and its slot's waker is used again
//! for the next handler in that place. Waking is the only thing other threads do here:
//!
//! ```text
//!  waker of slot 7 --wake--> [ready: 3, 7] --and--> waker of the driver's task --poll--> slots 3 and 7 are polled
//! ```

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Wake, Waker};

#[cfg(mcp_loom)]
use loom::sync::Mutex;
use std::sync::Arc;
#[cfg(not(mcp_loom))]
use std::sync::Mutex;

/// Futures in numbered places, each with something of the caller's (`T`) that comes back when it completes.
///
/// `F` is the type of the futures, usually a `dyn Future`.
pub struct Tasks<F: ?Sized, T> {
    slots: Vec<Slot<F, T>>,
    ready: Arc<Ready>,
    len: usize,
    /// Indices taken from the ready list and not polled yet.
    batch: Vec<usize>,
}

struct Slot<F: ?Sized, T> {
    task: Option<(Pin<Box<F>>, T)>,
    waker: Waker,
}

/// Who has been woken, and whom to tell. One lock: a wake either finds the driver's waker or is seen by its next poll.
#[derive(Default)]
struct Ready {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Each index at most once, so that the list is never longer than the slots.
    woken: Vec<usize>,
    /// By index: whether it is in the list.
    listed: Vec<bool>,
    driver: Option<Waker>,
}

struct SlotWaker {
    index: usize,
    ready: Arc<Ready>,
}

impl<F: Future + ?Sized, T> Tasks<F, T> {
    /// No futures yet.
    #[must_use]
    pub fn new() -> Self {
        Self {
            slots: Vec::new(),
            ready: Arc::new(Ready::default()),
            len: 0,
            batch: Vec::new(),
        }
    }

    /// How many futures are waiting here.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether none are.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// All indices in use are below this.
    #[must_use]
    pub const fn places(&self) -> usize {
        self.slots.len()
    }

    /// What was given along with the future at `index`.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&T> {
        let (_, data) = self.slots.get(index)?.task.as_ref()?;
        Some(data)
    }

    /// Polls a new future once: its output comes back at once, or it is kept at `index`, where none may be.
    pub fn start(
        &mut self,
        index: usize,
        mut future: Pin<Box<F>>,
        data: T,
    ) -> Poll<(T, F::Output)> {
        while self.slots.len() <= index {
            let waker = Arc::new(SlotWaker {
                index: self.slots.len(),
                ready: self.ready.clone(),
            });
            self.slots.push(Slot {
                task: None,
                waker: Waker::from(waker),
            });
        }
        let slot = &mut self.slots[index];
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&slot.waker)) {
            return Poll::Ready((data, output));
        }
        assert!(
            slot.task.is_none(),
            "a call has a place of its own while it is in flight"
        );
        slot.task = Some((future, data));
        self.len += 1;
        Poll::Pending
    }

    /// Takes out the future at `index`, unfinished. The caller drops it.
    pub fn remove(&mut self, index: usize) -> Option<(Pin<Box<F>>, T)> {
        let task = self.slots.get_mut(index)?.task.take()?;
        self.len -= 1;
        Some(task)
    }

    /// Polls the futures that have been woken until one completes. Pending: each has been polled once, and the task of
    /// `cx` is woken when there is more to do. A future that wakes itself has to wait for the next turn, so that it
    /// cannot keep others from theirs.
    pub fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<(T, F::Output)> {
        if self.batch.is_empty() {
            self.ready.take(&mut self.batch);
        }
        while let Some(index) = self.batch.pop() {
            // A slot is woken in vain when its future was removed, or has completed while being woken.
            let Some(slot) = self.slots.get_mut(index) else {
                continue;
            };
            let Some((future, _)) = &mut slot.task else {
                continue;
            };
            if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&slot.waker))
            {
                self.len -= 1;
                let (_, data) = slot.task.take().expect("it was there to be polled");
                return Poll::Ready((data, output));
            }
        }
        self.ready.watch(cx.waker());
        Poll::Pending
    }
}

impl<F: Future + ?Sized, T> Default for Tasks<F, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<F: ?Sized, T> fmt::Debug for Tasks<F, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tasks")
            .field("len", &self.len)
            .finish_non_exhaustive()
    }
}

impl Ready {
    /// Moves the woken indices to the empty `batch`, the first one woken last.
    fn take(&self, batch: &mut Vec<usize>) {
        let mut state = self.state.lock().expect(UNPOISONED);
        let State { woken, listed, .. } = &mut *state;
        for &index in &*woken {
            listed[index] = false;
        }
        std::mem::swap(woken, batch);
        batch.reverse();
    }

    /// From now on a wake wakes `driver`; at once, if something was woken since the last [`take`](Self::take).
    fn watch(&self, driver: &Waker) {
        let mut state = self.state.lock().expect(UNPOISONED);
        match &mut state.driver {
            Some(known) => known.clone_from(driver),
            none => *none = Some(driver.clone()),
        }
        let woken = !state.woken.is_empty();
        drop(state);
        if woken {
            driver.wake_by_ref();
        }
    }

    fn wake(&self, index: usize) {
        let mut state = self.state.lock().expect(UNPOISONED);
        if state.listed.len() <= index {
            state.listed.resize(index + 1, false);
        }
        if !std::mem::replace(&mut state.listed[index], true) {
            state.woken.push(index);
        }
        // Woken after the lock is given back: the driver may be polled at once, on another thread.
        let driver = state.driver.clone();
        drop(state);
        if let Some(driver) = driver {
            driver.wake();
        }
    }
}

impl Wake for SlotWaker {
    fn wake(self: Arc<Self>) {
        self.ready.wake(self.index);
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.ready.wake(self.index);
    }
}

const UNPOISONED: &str = "nothing panics while it holds this lock";

#[cfg(all(test, not(mcp_loom)))]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::future::{pending, poll_fn, ready};
    use std::rc::Rc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    type Local = dyn Future<Output = u32>;

    fn tasks() -> (Tasks<Local, &'static str>, Arc<Count>, Waker) {
        let count = Arc::new(Count(AtomicUsize::new(0)));
        (Tasks::new(), count.clone(), Waker::from(count))
    }

    #[test]
    fn a_future_that_completes_at_once_is_not_kept() {
        let (mut tasks, ..) = tasks();
        assert_eq!(
            tasks.start(3, Box::pin(ready(7)), "a"),
            Poll::Ready(("a", 7))
        );
        assert!(tasks.is_empty());
    }

    #[test]
    fn a_woken_future_is_polled_and_its_place_used_again() {
        let (mut tasks, count, waker) = tasks();
        let cx = &mut Context::from_waker(&waker);
        for round in 1..4 {
            let slot: Rc<RefCell<Option<Waker>>> = Rc::default();
            let seen = slot.clone();
            let future = poll_fn(move |cx| match seen.replace(Some(cx.waker().clone())) {
                None => Poll::Pending,
                Some(_) => Poll::Ready(9),
            });
            assert_eq!(tasks.start(0, Box::pin(future), "a"), Poll::Pending);
            assert_eq!(tasks.poll_next(cx), Poll::Pending);
            let before = count.0.load(Ordering::SeqCst);
            for _ in 0..round {
                slot.borrow().as_ref().expect("polled once").wake_by_ref();
            }
            assert!(
                count.0.load(Ordering::SeqCst) > before,
                "the driver is woken"
            );
            assert_eq!(tasks.poll_next(cx), Poll::Ready(("a", 9)));
            assert_eq!(tasks.poll_next(cx), Poll::Pending);
            assert!(tasks.is_empty());
        }
    }

    #[test]
    fn a_removed_future_is_not_polled_again() {
        let (mut tasks, _, waker) = tasks();
        let cx = &mut Context::from_waker(&waker);
        let wake_then_wait = poll_fn(|cx| {
            cx.waker().wake_by_ref();
            Poll::Pending
        });
        assert_eq!(tasks.start(1, Box::pin(wake_then_wait), "a"), Poll::Pending);
        assert!(tasks.remove(1).is_some());
        assert!(tasks.remove(1).is_none());
        assert!(tasks.remove(100).is_none());
        assert_eq!(tasks.poll_next(cx), Poll::Pending);
        assert_eq!(tasks.len(), 0);
    }

    #[test]
    fn a_future_that_wakes_itself_does_not_hold_the_driver() {
        let (mut tasks, count, waker) = tasks();
        let cx = &mut Context::from_waker(&waker);
        let busy = poll_fn(|cx| {
            cx.waker().wake_by_ref();
            Poll::Pending
        });
        assert_eq!(tasks.start(0, Box::pin(busy), "busy"), Poll::Pending);
        assert_eq!(tasks.start(1, Box::pin(pending()), "idle"), Poll::Pending);
        for turn in 1..4 {
            assert_eq!(tasks.poll_next(cx), Poll::Pending);
            assert!(
                count.0.load(Ordering::SeqCst) >= turn,
                "it is to be polled again"
            );
        }
    }
}

#[cfg(all(test, mcp_loom))]
mod loom_tests {
    use super::*;
    use loom::sync::atomic::{AtomicUsize, Ordering};

    /// A driver that sleeps until it is woken misses no wake, whenever the wake comes.
    #[test]
    fn no_wake_is_lost() {
        loom::model(|| {
            struct Count(AtomicUsize);
            impl Wake for Count {
                fn wake(self: Arc<Self>) {
                    self.0.fetch_add(1, Ordering::SeqCst);
                }
            }
            let count = Arc::new(Count(AtomicUsize::new(0)));
            let driver = Waker::from(count.clone());
            let ready = Arc::new(Ready::default());
            let wakers: Vec<_> = (0..2)
                .map(|index| {
                    let ready = ready.clone();
                    loom::thread::spawn(move || ready.wake(index))
                })
                .collect();
            let mut seen = [false; 2];
            let mut batch = Vec::new();
            let mut woken = 0;
            while seen != [true; 2] {
                ready.take(&mut batch);
                for index in batch.drain(..) {
                    seen[index] = true;
                }
                if seen == [true; 2] {
                    break;
                }
                ready.watch(&driver);
                // Sleep: only a wake of the driver ends it.
                while count.0.load(Ordering::SeqCst) == woken {
                    loom::thread::yield_now();
                }
                woken = count.0.load(Ordering::SeqCst);
            }
            for waker in wakers {
                waker.join().expect("does not panic");
            }
        });
    }
}
