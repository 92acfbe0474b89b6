//! The answers that have to come, and where: what the model knows of the output.

use mcp_core::PeerFault;

use super::answer::{Answer, Line};

/// An answer that has to come.
#[derive(Debug)]
pub(super) enum Due {
    /// With this text, or with any.
    Result {
        id: String,
        text: Option<&'static str>,
    },
    Error {
        id: Option<String>,
        code: i64,
    },
}

impl Due {
    /// The refusal of a message with this id.
    pub(super) fn refusal(id: Option<String>, fault: Option<PeerFault>) -> Self {
        let code = fault.expect("a message that is refused has a fault").code();
        Self::Error {
            id,
            code: code.value(),
        }
    }

    fn is(&self, answer: &Answer) -> bool {
        match (self, answer) {
            (Self::Result { id, text }, Answer::Result { id: sent, result }) => {
                id == sent && text.is_none_or(|text| text == result)
            }
            (
                Self::Error { id, code },
                Answer::Error {
                    id: sent,
                    code: with,
                },
            ) => id == sent && code == with,
            (Self::Result { .. } | Self::Error { .. }, _) => false,
        }
    }
}

/// Where answers go: to a line of their own, or to the batch of this number.
pub(super) type Place = Option<usize>;

/// All batches there were, by number.
#[derive(Default)]
pub(super) struct Batches(Vec<Batch>);

/// A batch, as far as it has been taken and answered.
struct Batch {
    answers: Vec<Due>,
    /// The calls in it that are open, and one more until all its messages have been taken.
    awaited: usize,
}

impl Batches {
    /// A batch whose messages are about to be taken.
    pub(super) fn begin(&mut self) -> Place {
        self.0.push(Batch {
            answers: Vec::new(),
            awaited: 1,
        });
        Some(self.0.len() - 1)
    }

    /// A call was accepted whose answer goes to `place`.
    pub(super) fn call(&mut self, place: Place) {
        if let Some(place) = place {
            self.0[place].awaited += 1;
        }
    }

    pub(super) fn all_answered(&self) -> bool {
        self.0.iter().all(|batch| batch.awaited == 0)
    }

    /// Compares what was written with what is due now: an answer on a line of its own, or all answers of a batch once
    /// nothing in it is awaited any more. `awaited_less`: this was one of the things it waited for.
    pub(super) fn deliver(
        &mut self,
        place: Place,
        due: Option<Due>,
        awaited_less: bool,
        written: &[Line],
    ) {
        let Some(place) = place else {
            match (due, written) {
                (None, []) => {}
                (Some(due), [Line::One(answer)]) if due.is(answer) => {}
                (due, written) => panic!("{written:?} where {due:?} was due"),
            }
            return;
        };
        let batch = &mut self.0[place];
        batch.answers.extend(due);
        batch.awaited -= usize::from(awaited_less);
        if batch.awaited > 0 || batch.answers.is_empty() {
            assert!(written.is_empty(), "{written:?} before it was due");
            return;
        }
        let [Line::Batch(answers)] = written else {
            panic!("{written:?} where {:?} were due", batch.answers);
        };
        assert_eq!(answers.len(), batch.answers.len());
        let mut pairs = batch.answers.iter().zip(answers);
        assert!(pairs.all(|(due, answer)| due.is(answer)));
    }
}
