//! Sessions of the legacy era: begun, opened, renewed when the server has ended them (LH-22 to LH-27, SN-01, SN-02).

use alloc::borrow::ToOwned as _;
use alloc::string::String;
use alloc::vec::Vec;
use core::mem::take;
use core::time::Duration;

use super::exchange::{Exchange, Purpose, Reading};
use super::message::{Outgoing, string};
use super::{Action, ExchangeKey, HttpClient, HttpFault, ResponseHead, Verb, headers};
use crate::engine::client::Unanswered;
use crate::model::{Era, ProtocolVersion};
use crate::rpc::{Envelope, Outcome, write_notification};
use crate::time::Instant;

/// Requests wait so long for the stream of the server's own messages to be there: what a server says that it asks for
/// would get lost without. Some say nothing on it until they have something to say, so it is not waited for longer.
const STREAM: Duration = Duration::from_millis(300);

/// The server has so long to accept that the session is open; then it has to take what comes.
const OPENING: Duration = Duration::from_secs(5);

/// A new session is waited for so long.
const RENEWAL: Duration = Duration::from_secs(30);

#[derive(Debug, Default)]
pub(super) struct Session {
    /// The `initialize` that began it; empty in the modern era.
    initialize: Vec<u8>,
    /// The id of that request.
    asked: u64,
    /// `Mcp-Session-Id`, if the server gave one.
    pub(super) id: Option<String>,
    pub(super) version: Option<ProtocolVersion>,
    /// How many there were before: what belongs to one of those says nothing about this one (SN-02).
    pub(super) generation: u32,
    pub(super) stage: Stage,
}

/// ```text
///          notifications/initialized      accepted             stream there, or not
///  Ready ----------------------> Opening ---------> Waiting -------------------------> Ready
///    |                              ^
///    |  404            answered     |
///    +------> Renewing -------------+
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) enum Stage {
    /// Messages go out as they come.
    #[default]
    Ready,
    /// `notifications/initialized` is on its way.
    Opening,
    /// The stream of the server's own messages is being opened.
    Waiting(Instant),
    /// Another session is being asked for.
    Renewing,
}

impl Session {
    /// `initialize` goes out.
    pub(super) fn begin(&mut self, message: &Outgoing) {
        self.forget();
        self.initialize.clone_from(&message.text);
        self.asked = message.id().unwrap_or_default();
    }

    /// There is none: the server is asked in the way of the modern era.
    pub(super) fn forget(&mut self) {
        self.initialize.clear();
        self.id = None;
        self.version = None;
        self.generation = self.generation.wrapping_add(1);
        self.stage = Stage::Ready;
    }

    pub(super) const fn is_legacy(&self) -> bool {
        !self.initialize.is_empty()
    }
}

/// The session id in a head (HC-08): there may be none, and the same one twice.
pub(super) fn session_id(head: &ResponseHead<'_>) -> Result<Option<String>, HttpFault> {
    let mut ids = head.all("mcp-session-id");
    let Some(id) = ids.next() else {
        return Ok(None);
    };
    if ids.any(|other| other != id) || id.is_empty() || !id.iter().all(u8::is_ascii_graphic) {
        return Err(HttpFault::SessionId);
    }
    // Some proxies join equal lines: that is not one id.
    if id.contains(&b',') {
        return Err(HttpFault::SessionId);
    }
    String::from_utf8(id.to_owned())
        .map(Some)
        .map_err(|_| HttpFault::SessionId)
}

/// The version in an `InitializeResult`.
fn agreed(message: &[u8], limits: &crate::Limits) -> Option<ProtocolVersion> {
    let Ok(Envelope::Response(response)) = Envelope::parse(message, limits) else {
        return None;
    };
    let Outcome::Result(result) = response.outcome else {
        return None;
    };
    let version = string(result, "protocolVersion")?;
    ProtocolVersion::parse(&version).filter(|version| version.era() == Era::Legacy)
}

impl HttpClient {
    /// `initialize` was answered.
    pub(super) fn initialized(&mut self, message: &[u8], id: Option<String>) {
        if let Some(version) = agreed(message, &self.limits) {
            self.session.version = Some(version);
            self.session.id = id;
        }
    }

    /// Sends `notifications/initialized`: what comes after it waits for the session to be open.
    pub(super) fn open_session(&mut self, now: Instant, message: Outgoing) {
        self.session.stage = Stage::Opening;
        let key = self.post(message);
        if let Some(exchange) = key.and_then(|key| self.exchanges.get_mut(&key)) {
            exchange.until = Some(now + OPENING);
        }
    }

    /// `notifications/initialized` has arrived, or has not: the server will say what it makes of that.
    pub(super) fn opened(&mut self, now: Instant) {
        if self.session.stage != Stage::Opening {
            return;
        }
        self.session.stage = Stage::Waiting(now + STREAM);
        if !self.listen() {
            self.ready();
        }
    }

    /// Whether the stream is there or not, is known now.
    pub(super) fn ready(&mut self) {
        if let Stage::Waiting(_) = self.session.stage {
            self.session.stage = Stage::Ready;
            for message in take(&mut self.held) {
                self.post(message);
            }
        }
    }

    pub(super) fn session_timeout(&mut self, now: Instant) {
        if let Stage::Waiting(until) = self.session.stage
            && until <= now
        {
            self.ready();
        }
    }

    /// A request was answered with 404 in a session (LH-26): it was not carried out, and is sent again in the next one.
    pub(super) fn session_over(&mut self, now: Instant, exchange: Exchange) {
        let Purpose::Request { id, mut message } = exchange.purpose else {
            return;
        };
        if message.retried {
            let reason = "and a new one was over at once";
            let fault = HttpFault::SessionLost { reason };
            self.unanswered(id, Unanswered::Failed, fault);
            return;
        }
        message.retried = true;
        let current = exchange.generation == self.session.generation;
        if current && self.session.stage != Stage::Renewing {
            self.renew(now);
        }
        if self.session.stage == Stage::Ready {
            self.post(message);
        } else {
            self.held.push_back(message);
        }
    }

    pub(super) fn renew(&mut self, now: Instant) {
        self.session.generation = self.session.generation.wrapping_add(1);
        self.session.id = None;
        self.session.stage = Stage::Renewing;
        self.stop_listening();
        let id = self.session.asked;
        let body = self.session.initialize.clone();
        let fields = headers::standing(Verb::Post);
        let purpose = Purpose::Renewal { id };
        let key = self.open(purpose, Verb::Post, None, fields, body, true);
        if let Some(exchange) = self.exchanges.get_mut(&key) {
            exchange.until = Some(now + RENEWAL);
        }
    }

    /// The new session's `initialize` was answered.
    pub(super) fn renewed(&mut self, now: Instant, message: &[u8], id: Option<String>) {
        if agreed(message, &self.limits) != self.session.version {
            self.not_renewed("and a new one would be of another revision");
            return;
        }
        self.session.id = id;
        self.actions.push_back(Action::Renewed);
        let mut text = Vec::new();
        // A vector has room.
        let _ = write_notification(&mut text, "notifications/initialized", |json| {
            json.begin_object();
            json.end_object();
        });
        if let Some(message) = Outgoing::read(&text, &self.limits) {
            self.open_session(now, message);
        }
    }

    /// There is no new session.
    pub(super) fn not_renewed(&mut self, reason: &'static str) {
        let fault = HttpFault::SessionLost { reason };
        for message in take(&mut self.held) {
            if let Some(id) = message.id() {
                self.unanswered(id, Unanswered::Failed, fault.clone());
            }
        }
        self.actions.push_back(Action::Lost(fault));
    }

    /// Whether a 404 says that the session is over.
    pub(super) fn is_session_over(&self, key: ExchangeKey, status: u16) -> bool {
        let request = self.exchanges.get(&key);
        status == 404
            && request.is_some_and(|exchange| {
                matches!(&exchange.purpose, Purpose::Request { message, .. }
                    if !message.is("initialize") && !message.text.is_empty())
                    && matches!(exchange.reading, Reading::Head)
                    && exchange.last_id.is_empty()
            })
    }
}
