//! Error statuses, and what they say about the server: its era, or that it is one of HTTP+SSE (DET-07 to DET-11).

use alloc::boxed::Box;
use alloc::string::String;
use core::mem::replace;

use super::exchange::{Exchange, Purpose};
use super::message::{excerpt, member};
use super::{Action, ExchangeKey, Fallback, HttpClient, HttpFault, Outgoing, Refusal, Route};
use crate::engine::client::Unanswered;
use crate::error::ErrorCode;
use crate::rpc::{Envelope, Outcome};

const DISCOVER: &str = "server/discover";
const INITIALIZE: &str = "initialize";

impl HttpClient {
    /// An error status, with its whole body (DET-07 to DET-11).
    pub(super) fn refused(&mut self, exchange: Exchange, status: u16) {
        let Exchange {
            purpose,
            body,
            lacking: scope,
            ..
        } = exchange;
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
            body: match &error {
                Some(error) => error.message.clone(),
                None if is_markup(&body) => String::new(),
                None => excerpt(&body),
            },
            scope,
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
    pub(super) fn fall(&mut self, id: u64, initialize: Outgoing, refusal: Refusal) {
        self.route = Route::Falling(Box::new(Fallback {
            initialize,
            id,
            refusal,
        }));
        self.get(Purpose::Stream, &[]);
    }

    /// There is none.
    pub(super) fn fallen(&mut self) {
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

    /// There is one, and it cannot be read.
    pub(super) fn unheard(&mut self, fault: HttpFault) {
        if let Route::Falling(fallback) = replace(&mut self.route, Route::Streamable) {
            self.unanswered(fallback.id, Unanswered::Failed, fault);
        }
    }

    /// The stream says where messages go (SSE-02, SSE-06, DX-08).
    pub(super) fn endpoint(&mut self, key: ExchangeKey, named: &[u8]) {
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
}

fn is_markup(body: &[u8]) -> bool {
    body.trim_ascii_start().starts_with(b"<")
}

/// The scopes of a challenge that says that these are lacking. They are for people to read, so it is not taken apart further.
pub(super) fn lacking(challenge: &[u8]) -> Option<String> {
    let text = core::str::from_utf8(challenge).ok()?;
    if !text.contains("insufficient_scope") {
        return None;
    }
    let (before, rest) = text.split_once("scope=\"")?;
    let (scope, _) = rest.split_once('"')?;
    let whole = before.ends_with([' ', ',']) && !scope.is_empty();
    whole.then(|| excerpt(scope.as_bytes()))
}

struct Refused {
    code: ErrorCode,
    /// The beginning of it.
    message: String,
    /// Only modern servers answer so, or ones that name versions (DET-08, VER-06).
    is_modern: bool,
}

fn error_of(body: &[u8], limits: &crate::Limits) -> Option<Refused> {
    let Ok(Envelope::Response(response)) = Envelope::parse(body, limits) else {
        return None;
    };
    let Outcome::Error {
        code,
        message,
        data,
    } = response.outcome
    else {
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
        message: excerpt(message.decode().as_bytes()),
        is_modern: modern.contains(&code) || names,
    })
}
