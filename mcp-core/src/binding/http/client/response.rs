//! What comes of an exchange: head, body, and its end.

use alloc::string::String;
use core::mem::take;

use super::exchange::{Exchange, Purpose, Reading};
use super::listening::{ATTEMPTS, pause};
use super::message::excerpt;
use super::refusal::lacking;
use super::session::{Stage, session_id};
use super::{Action, ExchangeKey, HttpClient, HttpFault, ResponseHead, Route};
use crate::engine::client::Unanswered;
use crate::frame::SseParser;
use crate::time::Instant;

/// The most that is read of the body of an error.
const REFUSAL: usize = 256 * 1024;

/// Field names, line ends and ids of an event, beside its message.
const EVENT: usize = 8 * 1024;

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
        let nothing = matches!(head.status, 202 | 204);
        if resuming && (nothing || !head.is_success()) {
            let status = Some(head.status);
            self.fault(key, Unanswered::Failed, HttpFault::Unresumable { status });
            return;
        }
        if !head.is_success() {
            exchange.lacking = head.all("www-authenticate").find_map(lacking);
            exchange.reading = Reading::Refused {
                status: head.status,
            };
            if coding(head).is_some() {
                // The status says what there is to say, and the body nothing that can be read.
                self.end(now, key);
                self.actions.push_back(Action::Close(key));
            }
            return;
        }
        if matches!(self.route, Route::Sse(_)) {
            // The answer comes by the stream, or has come.
            self.pass(now, key);
            return;
        }
        if let Some(fault) = coding(head) {
            self.fault(key, Unanswered::Failed, fault);
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
        if nothing {
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
        let listening = matches!(exchange.purpose, Purpose::Listening);
        if events && let Some(fault) = coding(head) {
            self.close(key);
            if listening {
                self.actions.push_back(Action::Unheard(fault));
                self.not_listening();
            } else {
                self.unheard(fault);
            }
            return;
        }
        if events {
            exchange.reading = Reading::Events(parser);
            self.ready_if_listening(key);
            return;
        }
        let again = exchange.attempts > 0;
        let generation = exchange.generation;
        // LH-26: the stream was there before, so it is the session that is gone.
        if listening
            && again
            && head.status == 404
            && self.session.id.is_some()
            && generation == self.session.generation
        {
            self.close(key);
            self.listening.key = None;
            self.renew(now);
            return;
        }
        if listening && head.status >= 500 {
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

    /// The server has refused the request for not knowing who asks, and the driver has nothing better to show.
    pub fn unauthorized(&mut self, now: Instant, key: ExchangeKey, reason: String) {
        let request = self.exchanges.get(&key).and_then(|exchange| {
            let head = matches!(exchange.reading, Reading::Head);
            exchange.request_id().filter(|_| head)
        });
        match request {
            Some(id) => {
                self.exchanges.remove(&key);
                self.unanswered(id, Unanswered::Failed, HttpFault::Unauthorized { reason });
            }
            None => self.failed(now, key, true, reason),
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
                // However long it takes: nothing else tells of what the server has to say.
                self.wait(now, key);
                self.ready_if_listening(key);
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
    pub(super) fn ended(&mut self, now: Instant, key: ExchangeKey, reason: Option<String>) {
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
    pub(super) fn wait(&mut self, now: Instant, key: ExchangeKey) {
        let Some(exchange) = self.exchanges.get_mut(&key) else {
            return;
        };
        let at = now + pause(exchange.retry, exchange.attempts);
        exchange.attempts = exchange.attempts.saturating_add(1);
        exchange.reading = Reading::Waiting { at };
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

/// A content coding, which nobody offered (DX-03).
fn coding(head: &ResponseHead<'_>) -> Option<HttpFault> {
    let coding = head.field("content-encoding")?;
    let coded = !coding.is_empty() && !coding.eq_ignore_ascii_case(b"identity");
    let found = excerpt(coding);
    coded.then_some(HttpFault::ContentCoding { found })
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
