//! A round of asking a modern client: what its handler asks in one run, and what was answered before.
//!
//! ```text
//!  call --> run: asks 0, asks 1, waits  -->  input required {0, 1}, state []
//!  call {0: a, 1: b}, state  --> run: asks 0 = a, asks 1 = b, asks 2, waits  -->  input required {2}, state [a, b]
//!  call {2: c}, state        --> run: asks 0 = a, asks 1 = b, asks 2 = c, returns  -->  result
//! ```

use core::future::poll_fn;
use core::task::{Poll, Waker};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mcp_core::ErrorCode;
use mcp_core::json::{Json, MAX_DEPTH, RawJson};
use mcp_core::model::{
    CreateMessageResult, Decode as _, DecodeError, ElicitResult, Encode as _, InputRequest,
    ListRootsResult, ProtocolVersion,
};

use super::context::AskError;
use super::digest::Digest;
use super::error::{Instead, ProtocolError};
use super::state::{Asked, Binding, Sealer, State, StateFault};

/// What a request says besides what its handler is given, and what is asked of a modern client. Kept for handlers that take
/// a context only, and shared by the handler's future, its contexts and the connection that runs it.
#[derive(Clone, Debug)]
pub(crate) struct Round(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    /// `_meta`, and then the arguments, for the seal: two values in one text.
    text: Box<str>,
    /// The bytes of `_meta`; 0 if there is none. The same goes for the rest.
    meta: usize,
    /// What the client sent with its retry: an object.
    responses: Option<Json<'static>>,
    own: Option<String>,
    /// How many rounds came before.
    number: u16,
    asking: Mutex<Asking>,
}

#[derive(Debug)]
struct Asking {
    /// What was asked in earlier runs and in this one, in the order of asking.
    asked: Vec<Asked>,
    /// How many of them this run has asked.
    next: usize,
    /// What this run waits for, by its place.
    pending: Vec<(usize, InputRequest<'static>)>,
    /// This run asked at this place what the one before did not.
    astray: Option<usize>,
    /// Who runs the handler: woken when it asks.
    waker: Option<Waker>,
    /// Those who asked and wait, in the handler or in a task that it gave its context: woken when the run is over.
    waiting: Vec<Waker>,
    over: bool,
}

/// What a round ended with.
pub(crate) enum Next {
    /// These questions go to the client, by their names.
    Ask(Vec<(String, InputRequest<'static>)>, State),
    /// The handler does not ask the same as before.
    Astray(usize),
}

impl Round {
    /// The round that a call begins: with nothing known, or with what a retry brings.
    ///
    /// # Errors
    ///
    /// What the call is refused with: its state was not sealed for it, or an answer is malformed.
    pub(crate) fn begin(
        sealer: &Sealer,
        binding: Binding<'_>,
        meta: Option<RawJson<'_>>,
        state: Option<&str>,
        responses: Option<RawJson<'_>>,
    ) -> Result<Self, Instead> {
        let mut known = match state {
            None => State::default(),
            Some(text) => {
                let opened = sealer.open(binding, text, std::time::SystemTime::now());
                opened.map_err(|fault| {
                    Instead::invalid_params(match fault {
                        StateFault::Foreign => {
                            "requestState is not one that this server gave for this call"
                        }
                        StateFault::Expired => "requestState has expired: call again without it",
                    })
                })?
            }
        };
        let mut given = responses.and_then(RawJson::as_object).into_iter().flatten();
        if responses.is_some_and(|responses| responses.as_object().is_none()) {
            return Err(Instead::invalid_params("inputResponses must be an object"));
        }
        // What has no question is ignored, and so is what was answered before.
        for (name, answer) in &mut given {
            let name = name.decode();
            let place = name
                .parse()
                .ok()
                .filter(|place: &usize| place.to_string() == name);
            let asked = place.and_then(|place| known.asked.get_mut(place));
            if let Some(asked) = asked.filter(|asked| asked.answer.is_none()) {
                check(asked.kind, answer).map_err(|error| malformed(&name, &error))?;
                asked.answer = Some(answer.as_str().to_owned());
            }
        }
        let meta = meta.map_or("", RawJson::as_str);
        let arguments = binding.arguments.map_or("", RawJson::as_str);
        Ok(Self(Arc::new(Shared {
            text: [meta, arguments].concat().into(),
            meta: meta.len(),
            responses: responses.map(|responses| Json::from(responses).into_owned()),
            own: known.own,
            number: known.round,
            asking: Mutex::new(Asking {
                asked: known.asked,
                next: 0,
                pending: Vec::new(),
                astray: None,
                waker: None,
                waiting: Vec::new(),
                over: false,
            }),
        })))
    }

    pub(crate) fn responses(&self) -> Option<RawJson<'_>> {
        self.0.responses.as_ref().map(Json::raw)
    }

    pub(crate) fn own_state(&self) -> Option<&str> {
        self.0.own.as_deref()
    }

    pub(crate) fn meta(&self) -> Option<RawJson<'_>> {
        json(self.0.text.get(..self.0.meta)?)
    }

    pub(crate) fn arguments(&self) -> Option<RawJson<'_>> {
        json(self.0.text.get(self.0.meta..)?)
    }

    /// Asks the client: the answer, if there is one from an earlier round; else this waits until the run is over, which
    /// drops the handler, and whoever else has asked is told that no answer will come.
    pub(crate) async fn ask(
        &self,
        request: InputRequest<'static>,
    ) -> Result<Json<'static>, AskError> {
        let mut request = Some(request);
        poll_fn(|cx| {
            let mut asking = self.lock();
            if asking.over {
                return Poll::Ready(Err(AskError::Closed));
            }
            if let Some(request) = request.take()
                && let answered @ Poll::Ready(_) = asking.ask(request)
            {
                return answered;
            }
            if !asking.waiting.iter().any(|one| one.will_wake(cx.waker())) {
                asking.waiting.push(cx.waker().clone());
            }
            Poll::Pending
        })
        .await
    }

    /// Whether the handler waits for the client; if not, `waker` is woken when it does.
    pub(crate) fn is_asking(&self, waker: &Waker) -> bool {
        let mut asking = self.lock();
        if asking.is_asking() {
            return true;
        }
        match &mut asking.waker {
            Some(known) => known.clone_from(waker),
            none => *none = Some(waker.clone()),
        }
        false
    }

    /// Whoever still holds the context of this run asks in vain.
    pub(crate) fn end(&self) {
        let mut asking = self.lock();
        asking.over = true;
        asking.waker = None;
        let waiting = core::mem::take(&mut asking.waiting);
        drop(asking);
        waiting.into_iter().for_each(Waker::wake);
    }

    /// How many bytes of the client's it holds.
    pub(crate) fn len(&self) -> usize {
        let asking = self.lock();
        let answers = asking.asked.iter().flat_map(|asked| &asked.answer);
        let answers: usize = answers.map(String::len).sum();
        let responses = self
            .responses()
            .map_or(0, |responses| responses.as_str().len());
        self.0.text.len() + responses + self.own_state().map_or(0, str::len) + answers
    }

    /// What comes after a run that ended asking.
    pub(crate) fn next(&self) -> Next {
        let mut asking = self.lock();
        if let Some(place) = asking.astray {
            return Next::Astray(place);
        }
        let pending = core::mem::take(&mut asking.pending);
        let questions = pending
            .into_iter()
            .map(|(place, request)| (place.to_string(), request));
        Next::Ask(
            questions.collect(),
            State {
                round: self.0.number.saturating_add(1),
                own: self.0.own.clone(),
                asked: asking.asked.clone(),
            },
        )
    }

    /// The state after a run that returned questions of its own.
    pub(crate) fn own_next(&self, own: Option<String>) -> State {
        State {
            round: self.0.number.saturating_add(1),
            own,
            asked: self.lock().asked.clone(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Asking> {
        self.0.asking.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Asking {
    fn is_asking(&self) -> bool {
        !self.pending.is_empty() || self.astray.is_some()
    }

    fn ask(&mut self, request: InputRequest<'static>) -> Poll<Result<Json<'static>, AskError>> {
        let (kind, digest) = (kind(&request), digest(&request));
        let place = self.next;
        self.next += 1;
        match self.asked.get(place) {
            Some(asked) if asked.kind != kind || asked.digest != digest => {
                self.astray = self.astray.or(Some(place));
            }
            Some(Asked {
                answer: Some(answer),
                ..
            }) => {
                // No message is deeper than that, so it can be read again.
                let answer = json(answer).map(|answer| Json::from(answer).into_owned());
                return Poll::Ready(answer.ok_or(AskError::Closed));
            }
            Some(_) => self.pending.push((place, request)),
            None => {
                self.asked.push(Asked {
                    kind,
                    digest,
                    answer: None,
                });
                self.pending.push((place, request));
            }
        }
        // The handler may have handed its context to another task, which is the one that asks.
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
        Poll::Pending
    }
}

/// A value that came as one; `None` if there is none.
fn json(text: &str) -> Option<RawJson<'_>> {
    RawJson::parse_with_depth(text.as_bytes(), MAX_DEPTH).ok()
}

const ELICIT: u8 = 0;
const SAMPLE: u8 = 1;
const ROOTS: u8 = 2;
const OTHER: u8 = 3;

pub(crate) fn kind(request: &InputRequest<'_>) -> u8 {
    match request {
        InputRequest::Elicit(_) => ELICIT,
        InputRequest::Sample(_) => SAMPLE,
        InputRequest::ListRoots => ROOTS,
        InputRequest::Unknown { .. } | _ => OTHER,
    }
}

fn digest(request: &InputRequest<'_>) -> [u8; 16] {
    let mut digest = Digest::new();
    digest.json(request.to_json(ProtocolVersion::LATEST_MODERN).raw());
    let mut short = [0; 16];
    short.copy_from_slice(&digest.finish()[..16]);
    short
}

/// Whether an answer is of the type that its question asks for.
pub(crate) fn check(kind: u8, answer: RawJson<'_>) -> Result<(), DecodeError> {
    match kind {
        ELICIT => ElicitResult::decode(answer).map(drop),
        SAMPLE => CreateMessageResult::decode(answer).map(drop),
        ROOTS => ListRootsResult::decode(answer).map(drop),
        _ => Ok(()),
    }
}

pub(crate) fn malformed(name: &str, error: &DecodeError) -> ProtocolError {
    let name: String = name.chars().take(64).collect();
    ProtocolError::new(
        ErrorCode::INVALID_PARAMS,
        format!("inputResponses.{name} is malformed: {error}"),
    )
}
