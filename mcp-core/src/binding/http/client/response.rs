//! What a response means.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::mem::{replace, take};
use core::time::Duration;

use super::exchange::{Exchange, PASSED, Purpose, Reading};
use super::listening::{ATTEMPTS, pause};
use super::message::{excerpt, member};
use super::session::{Stage, session_id};
use super::{
    Action, ExchangeKey, Fallback, HttpClient, HttpFault, Outgoing, Refusal, ResponseHead, Route,
};
use crate::engine::client::Unanswered;
use crate::error::{EnvelopeFault, ErrorCode};
use crate::frame::{SseEvent, SseOutcome, SseParser};
use crate::json::RawJson;
use crate::rpc::{Envelope, Outcome};
use crate::time::Instant;

/// So long a body may go on after all that is wanted of it, in the hope that its connection can be used again.
const PARTING: Duration = Duration::from_millis(500);

/// The most that is read of the body of an error.
const REFUSAL: usize = 256 * 1024;

/// Field names, line ends and ids of an event, beside its message.
const EVENT: usize = 8 * 1024;

const DISCOVER: &str = "server/discover";
const INITIALIZE: &str = "initialize";

impl HttpClient {
    /// The head of a response has come.
    pub fn head(&mut self, now: Instant, key: ExchangeKey, head: &ResponseHead<'_>) {
        let Some(exchange) = self.exchanges.get(&key) else {
            return;
        };
        match &exchange.purpose {
            Purpose::Telling => self.pass(now, key),
            Purpose::Opening => {
                self.pass(now, key);
                self.opened(now);
            }
            Purpose::Request { .. } | Purpose::Renewal { .. } => self.answer_head(now, key, head),
            Purpose::Listening | Purpose::Stream => self.stream_head(now, key, head),
        }
    }

    fn answer_head(&mut self, now: Instant, key: ExchangeKey, head: &ResponseHead<'_>) {
        if self.is_session_over(key, head.status) {
            if let Some(exchange) = self.exchanges.remove(&key) {
                self.actions.push_back(Action::Close(key));
                self.session_over(now, exchange);
            }
            return;
        }
        let parser = self.parser();
        let Some(exchange) = self.exchanges.get_mut(&key) else {
            return;
        };
        let resuming = !exchange.last_id.is_empty();
        if !head.is_success() {
            if resuming {
                let status = Some(head.status);
                self.fault(key, Unanswered::Failed, HttpFault::Unresumable { status });
                return;
            }
            exchange.reading = Reading::Refused {
                status: head.status,
            };
            return;
        }
        if matches!(self.route, Route::Sse(_)) {
            // The answer comes by the stream, or has come.
            self.pass(now, key);
            return;
        }
        if let Some(coding) = head.field("content-encoding")
            && !coding.is_empty()
            && !coding.eq_ignore_ascii_case(b"identity")
        {
            let found = excerpt(coding);
            self.fault(key, Unanswered::Failed, HttpFault::ContentCoding { found });
            return;
        }
        match session_id(head) {
            Ok(id) => exchange.session_id = id,
            Err(fault) => {
                let begins = match &exchange.purpose {
                    Purpose::Request { message, .. } => message.is(INITIALIZE),
                    Purpose::Renewal { .. } => true,
                    Purpose::Opening | Purpose::Telling | Purpose::Listening | Purpose::Stream => {
                        false
                    }
                };
                if begins {
                    self.fault(key, Unanswered::Failed, fault);
                    return;
                }
            }
        }
        exchange.attempts = 0;
        if head.status == 202 || head.status == 204 {
            let by_stream = self.session.is_legacy() && self.listening.key.is_some();
            if by_stream {
                // Servers exist that answer on the stream of their own messages.
                self.pass(now, key);
            } else {
                let fault = HttpFault::Unanswered {
                    status: head.status,
                };
                self.fault(key, Unanswered::NotModern, fault);
            }
            return;
        }
        let found = head.field("content-type").unwrap_or_default();
        exchange.reading = match media(found) {
            Media::Events => Reading::Events(parser),
            Media::Json => Reading::Json,
            Media::Other => {
                let found = excerpt(found);
                self.fault(key, Unanswered::NotModern, HttpFault::ContentType { found });
                return;
            }
        };
    }

    fn stream_head(&mut self, now: Instant, key: ExchangeKey, head: &ResponseHead<'_>) {
        let events = head.is_success()
            && matches!(
                media(head.field("content-type").unwrap_or_default()),
                Media::Events
            );
        let parser = self.parser();
        let Some(exchange) = self.exchanges.get_mut(&key) else {
            return;
        };
        if events {
            exchange.reading = Reading::Events(parser);
            self.ready_if_listening(key);
            return;
        }
        let listening = matches!(exchange.purpose, Purpose::Listening);
        if listening && head.status >= 500 && exchange.attempts < ATTEMPTS {
            self.actions.push_back(Action::Close(key));
            self.wait(now, key);
            self.ready_if_listening(key);
            return;
        }
        self.close(key);
        if listening {
            self.not_listening();
        } else {
            self.fallen();
        }
    }

    fn ready_if_listening(&mut self, key: ExchangeKey) {
        if self.listening.key == Some(key) {
            self.ready();
        }
    }

    fn parser(&self) -> SseParser {
        SseParser::new(self.limits.max_message.saturating_add(EVENT))
    }

    /// Bytes of a body have come.
    pub fn data(&mut self, now: Instant, key: ExchangeKey, bytes: &[u8]) {
        let limit = self.limits.max_message;
        let Some(exchange) = self.exchanges.get_mut(&key) else {
            return;
        };
        match &mut exchange.reading {
            Reading::Json if exchange.body.len() + bytes.len() > limit => {
                self.fault(key, Unanswered::Failed, HttpFault::TooLong { limit });
            }
            Reading::Json => exchange.body.extend_from_slice(bytes),
            Reading::Refused { .. } => {
                let room = REFUSAL.min(limit).saturating_sub(exchange.body.len());
                let taken = room.min(bytes.len());
                exchange.body.extend_from_slice(&bytes[..taken]);
                if taken < bytes.len() {
                    // Whoever refuses with so much is not read to the end.
                    self.end(now, key);
                    self.close(key);
                }
            }
            Reading::Ignored { left, .. } => match left.checked_sub(bytes.len()) {
                Some(rest) => *left = rest,
                None => self.close(key),
            },
            Reading::Events(_) => {
                exchange.body.extend_from_slice(bytes);
                self.events(now, key, false);
            }
            Reading::Head | Reading::Waiting { .. } => {}
        }
    }

    /// The body has ended as it should.
    pub fn end(&mut self, now: Instant, key: ExchangeKey) {
        let Some(exchange) = self.exchanges.get_mut(&key) else {
            return;
        };
        match exchange.reading {
            Reading::Ignored { .. } => {
                self.exchanges.remove(&key);
            }
            Reading::Json => {
                let body = take(&mut exchange.body);
                exchange.reading = Reading::Ignored { left: 0 };
                if body.trim_ascii().is_empty() || !self.deliver(now, key, body) {
                    self.ended(now, key, None);
                }
                self.exchanges.remove(&key);
            }
            Reading::Refused { status } => {
                if let Some(exchange) = self.exchanges.remove(&key) {
                    self.refused(exchange, status);
                }
            }
            Reading::Events(_) => {
                self.events(now, key, true);
                self.ended(now, key, None);
            }
            Reading::Head | Reading::Waiting { .. } => self.ended(now, key, None),
        }
    }

    /// There is no response, or its body broke. `unsent`: nothing of the request was sent.
    pub fn failed(&mut self, now: Instant, key: ExchangeKey, unsent: bool, reason: String) {
        let Some(exchange) = self.exchanges.get(&key) else {
            return;
        };
        match exchange.reading {
            Reading::Head => self.no_head(now, key, unsent, reason),
            Reading::Ignored { .. } => {
                self.exchanges.remove(&key);
            }
            Reading::Json | Reading::Events(_) | Reading::Refused { .. } => {
                self.ended(now, key, Some(reason));
            }
            Reading::Waiting { .. } => {}
        }
    }

    fn no_head(&mut self, now: Instant, key: ExchangeKey, unsent: bool, reason: String) {
        let Some(exchange) = self.exchanges.get_mut(&key) else {
            return;
        };
        let resuming = !exchange.last_id.is_empty();
        match &exchange.purpose {
            Purpose::Opening => {
                self.exchanges.remove(&key);
                self.opened(now);
            }
            Purpose::Telling => {
                self.exchanges.remove(&key);
            }
            Purpose::Listening => {
                if exchange.attempts < ATTEMPTS {
                    self.wait(now, key);
                    self.ready_if_listening(key);
                } else {
                    self.exchanges.remove(&key);
                    self.not_listening();
                }
            }
            Purpose::Request { .. } if resuming && exchange.attempts < ATTEMPTS => {
                self.wait(now, key);
            }
            Purpose::Request { id, .. } => {
                let id = *id;
                self.exchanges.remove(&key);
                let fault = if resuming {
                    HttpFault::Unresumable { status: None }
                } else {
                    HttpFault::Exchange { unsent, reason }
                };
                self.unanswered(id, Unanswered::Failed, fault);
            }
            Purpose::Renewal { .. } => {
                self.exchanges.remove(&key);
                self.not_renewed("and the server cannot be reached for a new one");
            }
            Purpose::Stream => {
                self.exchanges.remove(&key);
                self.fallen();
            }
        }
    }

    /// A body is over and the answer was not in it.
    fn ended(&mut self, now: Instant, key: ExchangeKey, reason: Option<String>) {
        let Some(exchange) = self.exchanges.get_mut(&key) else {
            return;
        };
        let events = matches!(exchange.reading, Reading::Events(_));
        if let Reading::Events(parser) = &exchange.reading {
            exchange.last_id = parser.last_id().to_vec();
            exchange.body.clear();
        }
        match &exchange.purpose {
            Purpose::Request { id, .. } => {
                let id = *id;
                self.request_ended(now, key, id, events, reason);
            }
            Purpose::Listening => self.wait(now, key),
            Purpose::Renewal { .. } => {
                self.exchanges.remove(&key);
                self.not_renewed("and the server did not answer the request for a new one");
            }
            Purpose::Stream => {
                self.exchanges.remove(&key);
                if matches!(self.route, Route::Sse(_)) {
                    self.actions
                        .push_back(Action::Lost(HttpFault::Truncated { reason }));
                } else {
                    self.fallen();
                }
            }
            Purpose::Opening | Purpose::Telling => {
                self.exchanges.remove(&key);
            }
        }
    }

    fn request_ended(
        &mut self,
        now: Instant,
        key: ExchangeKey,
        id: u64,
        events: bool,
        reason: Option<String>,
    ) {
        let legacy = self.session.is_legacy();
        let Some(exchange) = self.exchanges.get(&key) else {
            return;
        };
        // LH-15; there is no such thing in the modern era (HTTP-19), nor for an id that no field can hold.
        let resumable = events
            && legacy
            && !exchange.last_id.is_empty()
            && exchange
                .last_id
                .iter()
                .all(|byte| matches!(byte, b' '..=b'~'));
        if resumable {
            self.wait(now, key);
            return;
        }
        self.exchanges.remove(&key);
        let why = if reason.is_none() {
            Unanswered::NotModern
        } else {
            Unanswered::Failed
        };
        self.unanswered(id, why, HttpFault::Truncated { reason });
    }

    /// Opens a stream again after a pause (LH-13).
    fn wait(&mut self, now: Instant, key: ExchangeKey) {
        let Some(exchange) = self.exchanges.get_mut(&key) else {
            return;
        };
        let at = now + pause(exchange.retry, exchange.attempts);
        exchange.attempts += 1;
        exchange.reading = Reading::Waiting { at };
    }

    /// Takes the events that are there.
    fn events(&mut self, now: Instant, key: ExchangeKey, ended: bool) {
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
    fn deliver(&mut self, now: Instant, key: ExchangeKey, message: Vec<u8>) -> bool {
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
    fn part(&mut self, now: Instant, key: ExchangeKey) {
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
    fn pass(&mut self, now: Instant, key: ExchangeKey) {
        if let Some(exchange) = self.exchanges.get_mut(&key) {
            exchange.body = Vec::new();
            exchange.reading = Reading::Ignored { left: PASSED };
            exchange.until = Some(now + PARTING);
            // It is not this exchange that brings the answer, if one is still to come.
            exchange.purpose = Purpose::Telling;
        }
    }

    /// The exchange cannot bring what it is there for.
    fn fault(&mut self, key: ExchangeKey, why: Unanswered, fault: HttpFault) {
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

    /// Waiting has taken too long.
    pub(super) fn overdue(&mut self, now: Instant, key: ExchangeKey) {
        let purpose = self.exchanges.get(&key).map(|exchange| &exchange.purpose);
        let renewal = matches!(purpose, Some(Purpose::Renewal { .. }));
        let opening = matches!(purpose, Some(Purpose::Opening));
        self.close(key);
        if renewal {
            self.not_renewed("and the server did not answer the request for a new one");
        } else if opening {
            self.opened(now);
        }
    }

    /// An error status, with its whole body (DET-07 to DET-11).
    fn refused(&mut self, exchange: Exchange, status: u16) {
        let Exchange { purpose, body, .. } = exchange;
        let Purpose::Request { id, message } = purpose else {
            if let Purpose::Renewal { .. } = purpose {
                self.not_renewed("and the server refuses a new one");
            }
            return;
        };
        let error = error_of(&body, &self.limits);
        // They say nothing about what the server speaks (DET-10).
        let who = matches!(status, 401 | 403 | 407 | 429);
        let client = (400..500).contains(&status) && !who;
        let fault = HttpFault::Status {
            status,
            body: if is_markup(&body) {
                String::new()
            } else {
                excerpt(&body)
            },
        };
        let Some(error) = error.filter(|_| !who) else {
            if message.is(INITIALIZE) && client {
                self.fall(id, message, Refusal::Fault(fault));
            } else {
                let why = if client {
                    Unanswered::NotModern
                } else {
                    Unanswered::Failed
                };
                self.unanswered(id, why, fault);
            }
            return;
        };
        if message.is(DISCOVER) && status == 404 && error.code == ErrorCode::METHOD_NOT_FOUND {
            // DET-08.
            self.unanswered(id, Unanswered::Modern, fault);
        } else if message.is(DISCOVER) && !client && !error.is_modern {
            self.unanswered(id, Unanswered::Failed, fault);
        } else if message.is(INITIALIZE) && client && !error.is_modern {
            self.fall(id, message, Refusal::Message(body));
        } else {
            self.actions.push_back(Action::Message {
                message: body,
                answers: Some(id),
            });
        }
    }

    /// `initialize` was refused: perhaps there is an event stream (DET-11).
    fn fall(&mut self, id: u64, initialize: Outgoing, refusal: Refusal) {
        self.route = Route::Falling(Box::new(Fallback {
            initialize,
            id,
            refusal,
        }));
        self.get(Purpose::Stream, &[]);
    }

    /// There is none.
    fn fallen(&mut self) {
        let Route::Falling(fallback) = replace(&mut self.route, Route::Streamable) else {
            return;
        };
        let Fallback { id, refusal, .. } = *fallback;
        match refusal {
            Refusal::Message(message) => self.actions.push_back(Action::Message {
                message,
                answers: Some(id),
            }),
            Refusal::Fault(fault) => self.unanswered(id, Unanswered::NotModern, fault),
        }
    }

    /// The stream says where messages go (SSE-02, SSE-06, DX-08).
    fn endpoint(&mut self, key: ExchangeKey, named: &[u8]) {
        if !matches!(self.route, Route::Falling(_)) {
            // It was said once, and stays so.
            return;
        }
        let target = core::str::from_utf8(named)
            .ok()
            .and_then(|named| self.base.resolve(named));
        let Route::Falling(fallback) = replace(&mut self.route, Route::Streamable) else {
            return;
        };
        let Fallback { initialize, id, .. } = *fallback;
        match target {
            Some(target) => {
                self.route = Route::Sse(target);
                self.post(initialize);
            }
            None => {
                self.close(key);
                let found = excerpt(named);
                self.unanswered(id, Unanswered::Failed, HttpFault::Endpoint { found });
            }
        }
    }

    /// When [`handle_timeout`](Self::handle_timeout) is due; `None`: nothing waits for its time.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        let session = match self.session.stage {
            Stage::Waiting(until) => Some(until),
            Stage::Ready | Stage::Opening | Stage::Renewing => None,
        };
        self.exchanges
            .values()
            .filter_map(Exchange::due)
            .chain(session)
            .min()
    }

    /// Does what is due.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.session_timeout(now);
        self.reopen(now);
    }
}

enum Media {
    Json,
    Events,
    Other,
}

/// The kind of a body. One that says nothing is taken for JSON, and read as such or not.
fn media(content_type: &[u8]) -> Media {
    let kind = content_type.split(|byte| *byte == b';').next();
    let kind = kind.unwrap_or_default().trim_ascii();
    if kind.is_empty() || kind.eq_ignore_ascii_case(b"application/json") {
        Media::Json
    } else if kind.eq_ignore_ascii_case(b"text/event-stream") {
        Media::Events
    } else {
        Media::Other
    }
}

fn is_markup(body: &[u8]) -> bool {
    body.trim_ascii_start().starts_with(b"<")
}

/// The data of an event, if it has any (LH-11).
fn text(event: &SseEvent<'_>) -> Option<Vec<u8>> {
    let known = event.name == b"message" || event.name == b"endpoint";
    (known && !event.data.is_empty()).then(|| event.data.to_vec())
}

/// Whether a message is the answer to this request. An error without an id, or with one that is no number of ours, is:
/// nothing else was asked in its exchange.
fn answers(message: &[u8], expected: u64, limits: &crate::Limits) -> bool {
    match Envelope::parse(message, limits) {
        Ok(Envelope::Response(response)) => match response.id {
            None => true,
            Some(id) => {
                let number = id
                    .as_integer()
                    .and_then(|id| u64::try_from(id).ok())
                    .or_else(|| id.as_string()?.decode().parse().ok());
                number == Some(expected)
                    || number.is_none() && matches!(response.outcome, Outcome::Error { .. })
            }
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
        // An answer for all that can be read of it: the engine fails the request then (ID-08).
        Err(malformed) => malformed
            .id
            .and_then(|id| u64::try_from(id.as_integer()?).ok())
            .is_some_and(|id| id == expected),
    }
}

struct Refused {
    code: ErrorCode,
    /// Only modern servers answer so, or ones that name versions (DET-08, VER-06).
    is_modern: bool,
}

fn error_of(body: &[u8], limits: &crate::Limits) -> Option<Refused> {
    let Ok(Envelope::Response(response)) = Envelope::parse(body, limits) else {
        return None;
    };
    let Outcome::Error { code, data, .. } = response.outcome else {
        return None;
    };
    let modern = [
        ErrorCode::HEADER_MISMATCH,
        ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY,
        ErrorCode::UNSUPPORTED_PROTOCOL_VERSION,
    ];
    let names = data.and_then(|data| member(data, "supported")).is_some();
    Some(Refused {
        code,
        is_modern: modern.contains(&code) || names,
    })
}
