//! Standard input, line by line, for whoever asks last.
//!
//! A line that is being waited for cannot be waited for no more: a thread sits there until it comes. So there is one such thread,
//! and what comes is for who asks at that time, not for who asked when it began.

use std::io::{self, BufRead as _};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use async_channel::{Receiver, Sender};

struct Keyboard {
    /// The thread is there.
    reads: bool,
    asker: Option<Sender<Option<String>>>,
}

static KEYBOARD: Mutex<Keyboard> = Mutex::new(Keyboard {
    reads: false,
    asker: None,
});

/// How often all that was being asked was given up.
static ABANDONED: AtomicUsize = AtomicUsize::new(0);

fn keyboard() -> MutexGuard<'static, Keyboard> {
    KEYBOARD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The next line, or `None` at the end of input. It is closed without one when somebody else asks, or nobody is to any more.
pub(crate) fn next_line() -> Receiver<Option<String>> {
    let (sender, receiver) = async_channel::bounded(1);
    let mut keyboard = keyboard();
    keyboard.asker = Some(sender);
    if !keyboard.reads {
        keyboard.reads = true;
        thread::spawn(read);
    }
    receiver
}

fn read() {
    let mut line = String::new();
    let read = io::stdin().lock().read_line(&mut line);
    let line = read.is_ok_and(|read| read > 0).then_some(line);
    let mut keyboard = keyboard();
    keyboard.reads = false;
    // What is typed when nobody has asked is no answer to what is asked later.
    if let Some(asker) = keyboard.asker.take() {
        let _ = asker.try_send(line);
    }
}

/// Ends all questions that are asked now, and those that wait for their turn.
pub(crate) fn abandon() {
    ABANDONED.fetch_add(1, Ordering::SeqCst);
    keyboard().asker = None;
}

/// When a question was put.
#[derive(Clone, Copy)]
pub(super) struct Turn(usize);

impl Turn {
    pub(super) fn begin() -> Self {
        Self(ABANDONED.load(Ordering::SeqCst))
    }

    /// It was given up before it could be asked.
    pub(super) fn is_over(self) -> bool {
        ABANDONED.load(Ordering::SeqCst) != self.0
    }
}
