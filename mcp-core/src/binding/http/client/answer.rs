//! Messages out of bodies: which is the answer, and what becomes of the exchange then.

use alloc::vec::Vec;
use core::time::Duration;

use super::exchange::{Exchange, PASSED, Purpose, Reading};
use super::{Action, ExchangeKey, HttpClient, HttpFault, Route};
use crate::engine::client::{Unanswered, number};
use crate::error::EnvelopeFault;
use crate::frame::{SseEvent, SseOutcome};
use crate::json::RawJson;
use crate::rpc::{Envelope, Outcome};
use crate::time::Instant;

/// So long a body may go on after all that is wanted of it, in the hope that its connection can be used again.
const PARTING: Duration = Duration::from_millis(500);

const INITIALIZE: &str = "initialize";

impl HttpClient {
    /// Takes the events that are there.
    pub(super) fn events(&mut self, now: Instant, key: ExchangeKey, ended: bool) {
        let mut at = 0;
        loop {
            let Some(exchange) = self.exchanges.get_mut(&key) else {
                return;
            };
            let Exchange {
                reading: Reading::Events(parser),
                body,
                ..
            } = exchange
            else {
                return;
            };
            let step = if ended {
                parser.finish(&body[at..])
            } else {
                parser.next(&body[at..])
            };
            at += step.consumed;
            match step.outcome {
                SseOutcome::NeedMore => {
                    body.drain(..at.min(body.len()));
                    return;
                }
                SseOutcome::TooLong { .. } => {
                    let limit = self.limits.max_message;
                    // Whose message that was is not known, unless the stream is there for one answer.
                    if exchange.request_id().is_some() {
                        self.fault(key, Unanswered::Failed, HttpFault::TooLong { limit });
                        return;
                    }
                }
                SseOutcome::Event(event) => {
                    exchange.retry = event.retry.or(exchange.retry);
                    exchange.attempts = 0;
                    let named = event.name == b"endpoint";
                    let message = text(&event);
                    let stream = matches!(exchange.purpose, Purpose::Stream);
                    match message {
                        Some(data) if stream && named => self.endpoint(key, &data),
                        Some(_) if stream && !matches!(self.route, Route::Sse(_)) => {
                            // The first event has to name the endpoint (SSE-02).
                            self.close(key);
                            self.fallen();
                        }
                        Some(data) if !named => {
                            self.deliver(now, key, data);
                        }
                        Some(_) | None => {}
                    }
                }
            }
        }
    }

    /// A message has come. Whether it was the answer that the exchange is there for.
    pub(super) fn deliver(&mut self, now: Instant, key: ExchangeKey, message: Vec<u8>) -> bool {
        let Some(exchange) = self.exchanges.get_mut(&key) else {
            return false;
        };
        let (expected, method) = match &exchange.purpose {
            Purpose::Request { id, message } => (Some(*id), message.method()),
            Purpose::Renewal { id } => (Some(*id), Some(INITIALIZE)),
            Purpose::Listening | Purpose::Stream | Purpose::Opening | Purpose::Telling => {
                (None, None)
            }
        };
        let answer = expected.filter(|id| answers(&message, *id, &self.limits));
        let Some(id) = answer else {
            self.actions.push_back(Action::Message {
                message,
                answers: None,
            });
            return false;
        };
        let (initialize, list) = (method == Some(INITIALIZE), method == Some("tools/list"));
        let session = exchange.session_id.take();
        if matches!(exchange.purpose, Purpose::Renewal { .. }) {
            self.part(now, key);
            self.renewed(now, &message, session);
            return true;
        }
        if initialize {
            self.initialized(&message, session);
        }
        let message = if list && !self.session.is_legacy() {
            self.tools_listed(message)
        } else {
            message
        };
        self.actions.push_back(Action::Message {
            message,
            answers: Some(id),
        });
        self.part(now, key);
        true
    }

    /// The exchange has brought what it was for.
    pub(super) fn part(&mut self, now: Instant, key: ExchangeKey) {
        let Some(exchange) = self.exchanges.get_mut(&key) else {
            return;
        };
        if !exchange.last_id.is_empty() {
            // A stream that was resumed may be one that goes on for ever.
            self.close(key);
            return;
        }
        self.pass(now, key);
    }

    /// What still comes is not wanted.
    pub(super) fn pass(&mut self, now: Instant, key: ExchangeKey) {
        if let Some(exchange) = self.exchanges.get_mut(&key) {
            exchange.body = Vec::new();
            exchange.reading = Reading::Ignored { left: PASSED };
            exchange.until = Some(now + PARTING);
            // It is not this exchange that brings the answer, if one is still to come.
            exchange.purpose = Purpose::Telling;
        }
    }

    /// The exchange cannot bring what it is there for.
    pub(super) fn fault(&mut self, key: ExchangeKey, why: Unanswered, fault: HttpFault) {
        let Some(exchange) = self.exchanges.get(&key) else {
            return;
        };
        let id = exchange.request_id();
        let renewal = matches!(exchange.purpose, Purpose::Renewal { .. });
        self.close(key);
        if renewal {
            self.not_renewed("and the answer to the request for a new one is none");
        } else if let Some(id) = id {
            self.unanswered(id, why, fault);
        }
    }
}

/// The data of an event, if it has any (LH-11).
fn text(event: &SseEvent<'_>) -> Option<Vec<u8>> {
    let known = event.name == b"message" || event.name == b"endpoint";
    (known && !event.data.is_empty()).then(|| event.data.to_vec())
}

/// Whether a message is the answer to this request, as the engine sees it: one that it drops as noise must not end the
/// exchange that the answer is still to come from. An error without an id, or with one that is no number of ours, is:
/// nothing else was asked in its exchange.
fn answers(message: &[u8], expected: u64, limits: &crate::Limits) -> bool {
    match Envelope::parse(message, limits) {
        Ok(Envelope::Response(response)) => match response.id.map(number) {
            Some(Some(id)) => id == expected,
            Some(None) | None => matches!(response.outcome, Outcome::Error { .. }),
        },
        Ok(Envelope::Request(_) | Envelope::Notification(_)) => false,
        Err(malformed) if malformed.fault == EnvelopeFault::Batch.into() => {
            let parsed = RawJson::parse_with_depth(message, limits.max_depth);
            let messages = parsed.ok().and_then(RawJson::as_array);
            messages.is_some_and(|mut messages| {
                messages.any(|message| {
                    !message.as_bytes().starts_with(b"[")
                        && answers(message.as_bytes(), expected, limits)
                })
            })
        }
        Err(malformed) => malformed.is_answer() && malformed.id.and_then(number) == Some(expected),
    }
}
