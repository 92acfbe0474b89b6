//! Questions to a legacy client: requests of ours, and the handlers that wait for their answers.

use core::sync::atomic::Ordering;
use std::collections::HashMap;

use async_channel::Sender;
use mcp_core::engine::server::{Answer, RequestError, ServerEngine};
use mcp_core::engine::{CallKey, RequestKey};
use mcp_core::json::Json;
use mcp_core::rpc::Outcome;

use super::Outlets;
use crate::server::context::{Answered, AskError, Link, Question};
use crate::server::error::ProtocolError;

/// As many as the engine has pending requests, and no more.
#[derive(Default)]
pub(super) struct Asks {
    asked: HashMap<RequestKey, (CallKey, Sender<Answered>)>,
    /// Those that the client is not ready for: it has not said that the handshake is over.
    early: Vec<Question>,
}

impl Asks {
    /// Sends a question to the client.
    pub(super) fn ask<O: Outlets>(
        &mut self,
        question: Question,
        ended: bool,
        engine: &mut ServerEngine,
        out: &mut O,
    ) {
        if question.answer.is_closed() {
            return;
        }
        if ended {
            return tell(&question.answer, Err(AskError::Closed));
        }
        let Some(sink) = out.about(question.key) else {
            return tell(&question.answer, Err(AskError::Closed));
        };
        let error = match engine.request(Some(question.key), &question.request, sink) {
            Ok(key) => {
                self.asked.insert(key, (question.key, question.answer));
                return;
            }
            Err(RequestError::NotReady) => {
                self.early.push(question);
                return;
            }
            Err(RequestError::Undeclared(missing)) => AskError::Unsupported(missing),
            Err(RequestError::Version(_)) => match question.request.required() {
                Some(capabilities) => AskError::Unsupported(capabilities),
                None => AskError::no_question(),
            },
            Err(RequestError::Busy { .. }) => AskError::Busy,
            // The call is over, and so is whoever still asks for it. A `Vec` is never full.
            Err(RequestError::Stale | RequestError::NoSession | RequestError::Full | _) => {
                AskError::Closed
            }
        };
        tell(&question.answer, Err(error));
    }

    /// Hands an answer to the handler that waits for it.
    pub(super) fn answer(&mut self, answer: Answer<'_>) {
        let Some((_, waiting)) = self.asked.remove(&answer.key) else {
            return;
        };
        let answered = match answer.outcome {
            Outcome::Result(result) => Ok(Json::from(result).into_owned()),
            Outcome::Error {
                code,
                message,
                data,
                ..
            } => {
                let mut error = ProtocolError::new(code, message.decode());
                error.data = data.map(|data| Json::from(data).into_owned());
                Err(AskError::Refused(error))
            }
            _ => Err(AskError::Closed),
        };
        tell(&waiting, answered);
    }

    /// Gives up what nobody waits for any more, and asks what could not be asked before.
    pub(super) fn settle<O: Outlets>(
        &mut self,
        link: &Link,
        engine: &mut ServerEngine,
        out: &mut O,
    ) {
        if link.deserted.load(Ordering::Relaxed) && link.deserted.swap(false, Ordering::Acquire) {
            self.early.retain(|question| !question.answer.is_closed());
            self.asked.retain(|&key, (call, waiting)| {
                let awaited = !waiting.is_closed();
                if !awaited {
                    // Stale: it was answered just now. Where there is no way, nobody is told.
                    let reason = Some("no longer needed");
                    let _ = match out.about(*call) {
                        Some(sink) => engine.cancel_request(key, reason, sink),
                        None => engine.cancel_request(key, reason, &mut Vec::new()),
                    };
                }
                awaited
            });
        }
        if !self.early.is_empty() && engine.is_ready() {
            for question in core::mem::take(&mut self.early) {
                self.ask(question, false, engine, out);
            }
        }
    }

    /// The client sends nothing any more.
    pub(super) fn close(&mut self) {
        self.early.clear();
        self.asked.clear();
    }
}

fn tell(waiting: &Sender<Answered>, answer: Answered) {
    // Nobody waits for it any more, or it is the first and only one.
    let _ = waiting.try_send(answer);
}
