//! Standard input, line by line, for whoever asks last.
//!
//! A line that is being waited for cannot be waited for no more: a thread sits there until it comes. So there is one such thread,
//! and what comes is for who asks at that time, not for who asked when it began.

use std::io::{self, BufRead as _};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use async_channel::{Receiver, Sender};

struct Keyboard {
    /// The thread is there.
    reads: bool,
    asker: Option<Sender<Option<String>>>,
    /// How often all that was being asked was given up.
    abandoned: usize,
}

static KEYBOARD: Mutex<Keyboard> = Mutex::new(Keyboard {
    reads: false,
    asker: None,
    abandoned: 0,
});

fn keyboard() -> MutexGuard<'static, Keyboard> {
    KEYBOARD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The next line, or `None` at the end of input. It is closed without one when somebody else asks, or nobody is to any more.
pub(crate) fn next_line() -> Receiver<Option<String>> {
    keyboard().next_line()
}

impl Keyboard {
    fn next_line(&mut self) -> Receiver<Option<String>> {
        let (sender, receiver) = async_channel::bounded(1);
        self.asker = Some(sender);
        if !self.reads {
            self.reads = true;
            thread::spawn(read);
        }
        receiver
    }
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
    let mut keyboard = keyboard();
    keyboard.abandoned += 1;
    keyboard.asker = None;
}

/// When a question was put.
#[derive(Clone, Copy)]
pub(super) struct Turn(usize);

impl Turn {
    pub(super) fn begin() -> Self {
        Self(keyboard().abandoned)
    }

    /// It was given up before it could be asked.
    pub(super) fn is_over(self) -> bool {
        keyboard().abandoned != self.0
    }

    /// [`next_line`], closed at once if the question was given up meanwhile: nobody would do so again.
    pub(super) fn next_line(self) -> Receiver<Option<String>> {
        let mut keyboard = keyboard();
        if keyboard.abandoned == self.0 {
            keyboard.next_line()
        } else {
            async_channel::bounded(1).1
        }
    }
}
