//! A task that runs: what it asks for, and who waits for it.

use core::future::poll_fn;
use core::task::{Poll, Waker};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_channel::{Receiver, Sender};
use mcp_core::json::{Json, RawJson};
use mcp_core::model::{Encode as _, InputRequest, ProtocolVersion};

use super::now;
use super::record::{TaskEnd, TaskRecord};
use crate::server::context::{Answered, AskError};
use crate::server::round;

/// A task that this process runs.
#[derive(Debug)]
pub(crate) struct Live {
    pub(super) record: TaskRecord,
    /// The client's, for what is written for it.
    pub(super) version: ProtocolVersion,
    state: Mutex<State>,
    /// Closed when it is to be cancelled.
    cancel: (Sender<()>, Receiver<()>),
    /// From looking how it stands until that is told.
    telling: Mutex<()>,
}

#[derive(Debug)]
struct State {
    message: Option<String>,
    updated: u64,
    /// What is asked, by its number: no two questions of a task have one.
    asks: BTreeMap<u64, Ask>,
    next: u64,
    /// Higher after each change.
    version: u64,
    ended: bool,
    /// How it ended, and when, until that is kept.
    unkept: Option<(TaskEnd, u64)>,
    wakers: Vec<Waker>,
}

#[derive(Debug)]
struct Ask {
    request: InputRequest<'static>,
    answer: Sender<Answered>,
    /// A client of 2025-11-25 has been asked.
    sent: bool,
}

/// How a running task stands.
#[derive(Clone, Debug, Default)]
pub(super) struct Now {
    pub(super) message: Option<String>,
    pub(super) updated: u64,
    pub(super) is_asking: bool,
    /// By their keys.
    pub(super) requests: Vec<(String, Json<'static>)>,
}

impl Live {
    pub(super) fn new(record: TaskRecord, version: ProtocolVersion) -> Self {
        let updated = record.updated;
        Self {
            record,
            version,
            state: Mutex::new(State {
                message: None,
                updated,
                asks: BTreeMap::new(),
                next: 0,
                version: 0,
                ended: false,
                unkept: None,
                wakers: Vec::new(),
            }),
            cancel: async_channel::bounded(1),
            telling: Mutex::new(()),
        }
    }

    /// Nobody else tells how it stands meanwhile.
    pub(super) fn telling(&self) -> MutexGuard<'_, ()> {
        self.telling.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn id(&self) -> &str {
        &self.record.id
    }

    pub(super) fn now(&self) -> Now {
        let state = self.lock();
        let requests = state.asks.iter();
        Now {
            message: state.message.clone(),
            updated: state.updated,
            is_asking: !state.asks.is_empty(),
            requests: requests
                .map(|(key, ask)| (key.to_string(), ask.request.to_json(self.version)))
                .collect(),
        }
    }

    /// Says more about how it stands.
    pub(super) fn set_message(&self, message: &str) {
        self.change(|state| state.message = Some(message.to_owned()));
    }

    /// Asks the client, by whatever way its revision has for that.
    pub(super) async fn ask(
        &self,
        request: InputRequest<'static>,
        told: impl Fn(),
    ) -> Result<Json<'static>, AskError> {
        let (answer, answered) = async_channel::bounded(1);
        let key = self.change(|state| {
            if state.ended {
                return None;
            }
            // TX-11.
            let key = state.next;
            state.next += 1;
            let ask = Ask {
                request,
                answer,
                sent: false,
            };
            state.asks.insert(key, ask);
            Some(key)
        });
        let Some(key) = key else {
            return Err(AskError::Closed);
        };
        // Should the handler not wait any longer, nobody is asked any longer.
        let asked = Asked { live: self, key };
        told();
        let answer = answered.recv().await.unwrap_or(Err(AskError::Closed));
        drop(asked);
        answer
    }

    /// What a client answers to an open question: whether it was one.
    ///
    /// # Errors
    ///
    /// The answer is not of the type of the question, which stays open.
    pub(super) fn answer(&self, key: &str, answer: RawJson<'_>) -> Result<bool, String> {
        let number = key.parse::<u64>().ok();
        let Some(number) = number.filter(|number| number.to_string() == key) else {
            return Ok(false);
        };
        let mut state = self.lock();
        let Some(ask) = state.asks.get(&number) else {
            return Ok(false);
        };
        round::check(round::kind(&ask.request), answer)
            .map_err(|error| round::malformed(key, &error).message)?;
        if let Some(ask) = state.asks.remove(&number) {
            let _ = ask.answer.try_send(Ok(Json::from(answer).into_owned()));
        }
        state.touch();
        Ok(true)
    }

    /// A question that a client of 2025-11-25 has not been asked yet.
    pub(super) fn take_question(&self) -> Option<(u64, InputRequest<'static>)> {
        let mut state = self.lock();
        let (key, ask) = state.asks.iter_mut().find(|(_, ask)| !ask.sent)?;
        ask.sent = true;
        Some((*key, ask.request.clone()))
    }

    /// It has been answered, or nobody is there any more who could: then it is to be asked again.
    pub(super) fn settle_question(&self, key: u64, answer: Option<Answered>) {
        let mut state = self.lock();
        match answer {
            Some(answer) => {
                if let Some(ask) = state.asks.remove(&key) {
                    let _ = ask.answer.try_send(answer);
                }
            }
            None => {
                if let Some(ask) = state.asks.get_mut(&key) {
                    ask.sent = false;
                }
            }
        }
        state.touch();
    }

    pub(super) fn is_ended(&self) -> bool {
        self.lock().ended
    }

    pub(super) fn cancel(&self) {
        self.cancel.0.close();
    }

    /// Waits until it is to be cancelled.
    pub(super) async fn cancelled(&self) {
        // Nothing is ever sent.
        let _ = self.cancel.1.recv().await;
    }

    /// It has ended, and that is kept.
    pub(super) fn end(&self) {
        self.change(|state| {
            state.ended = true;
            state.unkept = None;
            state.asks.clear();
        });
    }

    /// It has ended so, which is not kept yet. `false`: it had ended before.
    pub(super) fn end_unkept(&self, end: &TaskEnd, at: u64) -> bool {
        self.change(|state| {
            if state.ended {
                return false;
            }
            state.ended = true;
            state.unkept = Some((end.clone(), at));
            state.asks.clear();
            true
        })
    }

    /// How it has ended, and when, if that is not kept yet.
    pub(super) fn unkept(&self) -> Option<(TaskEnd, u64)> {
        self.lock().unkept.clone()
    }

    /// What is to be kept of it, if that is not yet done.
    pub(super) fn record_unkept(&self) -> Option<TaskRecord> {
        let (end, at) = self.unkept()?;
        let mut record = self.record.clone();
        record.end = Some(end);
        record.updated = at;
        Some(record)
    }

    /// Waits for a change after this one: its number, and whether the task has ended.
    pub(super) async fn changed(&self, seen: Option<u64>) -> (u64, bool) {
        poll_fn(|cx| {
            let mut state = self.lock();
            if state.ended || seen != Some(state.version) {
                return Poll::Ready((state.version, state.ended));
            }
            if !state.wakers.iter().any(|it| it.will_wake(cx.waker())) {
                state.wakers.push(cx.waker().clone());
            }
            Poll::Pending
        })
        .await
    }

    /// Waits until it has ended.
    pub(super) async fn ended(&self) {
        let mut seen = None;
        loop {
            let (version, ended) = self.changed(seen).await;
            if ended {
                return;
            }
            seen = Some(version);
        }
    }

    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.lock();
        let changed = change(&mut state);
        state.touch();
        changed
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn touch(&mut self) {
        self.version += 1;
        self.updated = now();
        for waker in self.wakers.drain(..) {
            waker.wake();
        }
    }
}

/// A question, as long as it is waited for.
struct Asked<'l> {
    live: &'l Live,
    key: u64,
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        let mut state = self.live.lock();
        if state.asks.remove(&self.key).is_some() {
            state.touch();
        }
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use async_io::Timer;
    use futures_lite::FutureExt as _;

    use super::*;

    /// Nobody is there who could answer.
    #[test]
    fn a_task_that_has_ended_asks_nobody() {
        let record = TaskRecord {
            id: "a".to_owned(),
            owner: None,
            session: 0,
            tool: String::new(),
            is_experimental: false,
            created: 0,
            updated: 0,
            ttl: None,
            poll_interval: 1,
            end: None,
        };
        let live = Live::new(record, ProtocolVersion::V2026_07_28);
        live.end();
        let late = async {
            Timer::after(Duration::from_secs(5)).await;
            Err(AskError::TimedOut)
        };
        let asked = live.ask(InputRequest::ListRoots, || {});
        assert_eq!(smol::block_on(asked.or(late)), Err(AskError::Closed));
    }
}
