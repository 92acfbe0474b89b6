//! Calls that need more than one message: the server requires input and is called again with it (2026-07-28, basic,
//! patterns, "Multi Round-Trip Requests").

#[cfg(test)]
mod tests;

use core::future::Future;
use core::time::Duration;
use std::borrow::Cow;

use async_io::Timer;
use mcp_core::json::{Json, RawJson, Writer};
use mcp_core::model::{Decode, Encode, Implementation, InputRequest, ProtocolVersion};

use super::ceiling::Ceiling;
use super::error::CallError;
use super::handlers::{Handlers, Refusal};
use super::reply::{Outcome, Reply};

/// The first pause before a server is called again that wants no input, only another call.
const PAUSE: Duration = Duration::from_millis(100);

/// The longest.
const LONGEST: Duration = Duration::from_secs(5);

/// What a call is made with beside its parameters.
#[derive(Debug, Default)]
pub(crate) struct Input {
    /// An object, by the keys of what was asked for.
    pub(crate) responses: Option<Json<'static>>,
    /// A string.
    pub(crate) state: Option<Json<'static>>,
}

/// A result, and whether input was required for it: such results are not cached (CAC-04).
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) result: Json<'static>,
    pub(crate) rounds: usize,
    /// It is no result of the call itself, but a task that will have it.
    pub(crate) is_task: bool,
}

/// Who answers, on whose behalf, and how often.
pub(crate) struct Rounds<'c> {
    pub(crate) method: Cow<'static, str>,
    pub(crate) handlers: &'c Handlers,
    pub(crate) server: Option<Implementation<'static>>,
    pub(crate) version: ProtocolVersion,
    pub(crate) limit: usize,
    pub(crate) ceiling: Ceiling,
    /// The client declared that it does.
    pub(crate) knows_tasks: bool,
}

impl Rounds<'_> {
    /// Calls with `send` until the result is there: at first with nothing, then with what the last result asked for.
    pub(crate) async fn run<F: Future<Output = Reply>>(
        &self,
        mut send: impl FnMut(Input) -> F,
    ) -> Result<Done, CallError> {
        let mut rounds = 0;
        let mut input = Input::default();
        loop {
            let required = match send(input).await? {
                Outcome::Complete(result) => {
                    return Ok(Done {
                        result,
                        rounds,
                        is_task: false,
                    });
                }
                Outcome::Extension(result)
                    if self.knows_tasks && is_task(&self.method, &result) =>
                {
                    return Ok(Done {
                        result,
                        rounds,
                        is_task: true,
                    });
                }
                // RES-03.
                Outcome::Extension(_) => {
                    return Err(self.fault("its `resultType` is not one this request can have"));
                }
                Outcome::InputRequired(required) => required,
            };
            if rounds >= self.limit {
                return Err(CallError::TooManyRounds { limit: self.limit });
            }
            let required = Required::new(required.raw()).map_err(|fault| self.fault(fault))?;
            let responses = match required.requests {
                Some(requests) => Some(self.ceiling.guard(self.answers(requests)).await?),
                None => {
                    // The server asks for nothing but time (MRTR-08).
                    let pause = PAUSE.saturating_mul(1 << rounds.min(10));
                    let pause = async {
                        Timer::after(pause.min(LONGEST)).await;
                        Ok(())
                    };
                    self.ceiling.guard(pause).await?;
                    None
                }
            };
            // Its state as it came, and none if none came (MRTR-09, MRTR-10).
            input = Input {
                responses,
                state: required.state.map(|state| Json::from(state).into_owned()),
            };
            rounds += 1;
        }
    }

    /// All answers, one after the other: a user is asked one thing at a time (MRTR-08, MRTR-09).
    pub(crate) async fn answers(&self, requests: RawJson<'_>) -> Result<Json<'static>, CallError> {
        let mut answers = Vec::new();
        for (key, request) in requests.as_object().into_iter().flatten() {
            let request = InputRequest::decode(request)
                .map_err(|error| CallError::Decode {
                    method: self.method.clone(),
                    error,
                })?
                .into_owned();
            let what = request.method().to_owned();
            let answer = self
                .handlers
                .answer(request, self.server.clone())
                .await
                .map_err(|refusal| declined(what, refusal))?;
            answers.push((key.decode(), answer.to_json(self.version)));
        }
        written(|json| {
            json.begin_object();
            for (key, answer) in &answers {
                json.key(key);
                json.raw(answer.raw());
            }
            json.end_object();
        })
    }

    fn fault(&self, fault: &str) -> CallError {
        CallError::Answer {
            method: self.method.clone(),
            fault: fault.to_owned(),
        }
    }
}

/// Only calls of tools are answered with tasks.
fn is_task(method: &str, result: &Json<'_>) -> bool {
    let kind = result.raw().member("resultType");
    method == "tools/call"
        && kind
            .and_then(RawJson::as_string)
            .is_some_and(|kind| kind == "task")
}

fn declined(what: String, refusal: Refusal) -> CallError {
    let reason = match refusal {
        Refusal::Unsupported => {
            "this client has no handler for it, and did not declare one".to_owned()
        }
        Refusal::Invalid(fault) => fault,
        Refusal::Declined(declined) => declined.reason,
    };
    CallError::Declined { what, reason }
}

/// What an input-required result asks for.
struct Required<'b> {
    /// An object; `None` if there are none.
    requests: Option<RawJson<'b>>,
    /// A string, not looked into (MRTR-13).
    state: Option<RawJson<'b>>,
}

impl<'b> Required<'b> {
    fn new(result: RawJson<'b>) -> Result<Self, &'static str> {
        let member = |name| {
            let mut members = result.as_object().into_iter().flatten();
            members
                .find(|(key, value)| *key == name && !value.is_null())
                .map(|(_, value)| value)
        };
        let requests = member("inputRequests");
        let state = member("requestState");
        if requests.is_some_and(|requests| requests.as_object().is_none()) {
            return Err("`inputRequests` is not an object");
        }
        if state.is_some_and(|state| state.as_string().is_none()) {
            return Err("`requestState` is not a string");
        }
        if requests.is_none() && state.is_none() {
            return Err("input required, but neither `inputRequests` nor `requestState` is there");
        }
        let requests = requests.filter(|requests| {
            requests
                .as_object()
                .is_some_and(|mut all| all.next().is_some())
        });
        Ok(Self { requests, state })
    }
}

/// A text of our own, as a value.
pub(crate) fn written(
    write: impl FnOnce(&mut Writer<'_, Vec<u8>>),
) -> Result<Json<'static>, CallError> {
    let mut text = Vec::new();
    write(&mut Writer::new(&mut text));
    String::from_utf8(text)
        .map_err(|error| error.to_string())
        .and_then(|text| Json::owned(text).map_err(|error| error.to_string()))
        .map_err(|error| CallError::Arguments(format!("the parameters cannot be written: {error}")))
}
