//! JSON-RPC batches, which 2025-03-26 has and no other revision (BAT-01, BAT-08).

use crate::engine::memory::{Memory, Rows as _, Standard};
use crate::json::{Array, Full, Sink};

/// Messages that came in one array, to be taken one by one with
/// [`ServerEngine::next_in_batch`](super::ServerEngine::next_in_batch).
///
/// Their answers leave in one array as well, in the order they are given, when the last one is there; a batch without
/// requests is not answered (BAT-07).
#[derive(Debug)]
#[must_use = "its messages have not been taken yet"]
pub struct Batch<'b> {
    pub(super) messages: Array<'b>,
    /// `None` once all have been taken: asking again then changes nothing.
    pub(super) key: Option<BatchKey>,
}

/// Names a batch whose answers are being gathered.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(in crate::engine) struct BatchKey(u32);

/// The answers of the batches that are not complete. Each has a call in flight, or is being taken: so there are no more of
/// them than calls, and one.
pub(super) struct Batches<M: Memory = Standard> {
    slots: M::Batches<Gathering<M>>,
    free: M::Batches<u32>,
}

struct Gathering<M: Memory> {
    /// `[…,…` without the end; empty if there are none.
    answers: M::Answers,
    /// How many calls are still to be answered, and one more while messages are being taken.
    due: usize,
}

impl<M: Memory> Default for Gathering<M> {
    fn default() -> Self {
        Self {
            answers: Default::default(),
            due: 0,
        }
    }
}

impl<M: Memory> Default for Batches<M> {
    fn default() -> Self {
        Self {
            slots: Default::default(),
            free: Default::default(),
        }
    }
}

impl<M: Memory> Batches<M> {
    /// `None`: there is no room for one more.
    pub(super) fn open(&mut self) -> Option<BatchKey> {
        let index = match self.free.pop() {
            Some(index) => index,
            None => {
                self.slots.push(Gathering::default())?;
                (self.slots.len() - 1) as u32
            }
        };
        self.slots[index as usize].due = 1;
        Some(BatchKey(index))
    }

    /// One more answer is due.
    pub(super) fn expect(&mut self, key: BatchKey) {
        self.slots[key.0 as usize].due += 1;
    }

    /// Adds the answer that `write` writes, if it writes any.
    pub(super) fn gather<T>(
        &mut self,
        key: BatchKey,
        write: impl FnOnce(&mut M::Answers) -> T,
    ) -> T {
        let answers = &mut self.slots[key.0 as usize].answers;
        let before = answers.len();
        // Answers grow; where they do not, there are no batches.
        let _ = answers.append(if before == 0 { b"[" } else { b"," });
        let written = write(answers);
        if answers.len() == before + 1 {
            answers.truncate(before);
        }
        written
    }

    /// One answer less is due. After the last one all of them go to `out`.
    ///
    /// # Errors
    ///
    /// There is no room for them: nothing has changed.
    pub(super) fn settle<S: Sink + ?Sized>(
        &mut self,
        key: BatchKey,
        out: &mut S,
    ) -> Result<(), Full> {
        let gathering = &mut self.slots[key.0 as usize];
        if gathering.due > 1 {
            gathering.due -= 1;
            return Ok(());
        }
        if !gathering.answers.is_empty() {
            gathering.answers.append(b"]")?;
            let before = out.len();
            let sent = out
                .append(&gathering.answers)
                .and_then(|()| out.end_message())
                .inspect_err(|Full| out.truncate(before));
            gathering.answers.truncate(gathering.answers.len() - 1);
            sent?;
        }
        *gathering = Gathering::default();
        // As many as there are slots.
        let _ = self.free.push(key.0);
        Ok(())
    }

    /// Takes back an answer that was gathered and could not be settled: `length` is that of the answers before it.
    pub(super) fn take_back(&mut self, key: BatchKey, length: usize) {
        self.slots[key.0 as usize].answers.truncate(length);
    }

    pub(super) fn length(&self, key: BatchKey) -> usize {
        self.slots[key.0 as usize].answers.len()
    }
}
