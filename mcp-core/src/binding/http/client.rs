//! The client's rules of Streamable HTTP, in both eras, and of HTTP+SSE: which requests carry a message, and what a
//! response means.
//!
//! ```text
//!  ClientEngine --message--> HttpClient --Open, Close--> whoever moves bytes
//!  ClientEngine <--Message, Unanswered-- HttpClient <--head, data, end, failed--
//! ```
//!
//! One object serves one connection of an engine, as a stream does.

mod answer;
mod exchange;
mod fault;
mod headers;
mod listening;
mod message;
mod reference;
mod refusal;
mod response;
mod session;
#[cfg(test)]
mod tests;
mod tools;

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use exchange::{Exchange, Purpose, Reading};
pub use fault::HttpFault;
use listening::Listening;
use message::{Kind, Outgoing};
use reference::Base;
use session::{Session, Stage};
use tools::Tools;

use crate::engine::client::Unanswered;
use crate::limits::Limits;
use crate::time::Instant;

/// Names one HTTP exchange. No two of one [`HttpClient`] have the same.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ExchangeKey(u64);

/// A method of HTTP.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Verb {
    /// `POST`
    Post,
    /// `GET`
    Get,
    /// `DELETE`
    Delete,
}

/// A request to be sent.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct HttpRequest {
    /// The exchange that it begins.
    pub key: ExchangeKey,
    /// Its method.
    pub verb: Verb,
    /// Path and query, within the origin that was configured. `None`: the URL as it was configured (HC-05).
    pub target: Option<String>,
    /// Its fields, names in lower case. Values are visible ASCII and spaces, or empty; an empty one is sent all the same
    /// (ENC-06).
    pub fields: Vec<(Cow<'static, str>, String)>,
    /// Its body, if it has one.
    pub body: Vec<u8>,
    /// Whether it may be sent again if its connection broke before anything came (HC-09).
    pub repeatable: bool,
    /// Whether requests that are being answered may wait for this one: the answer to a question of the server's, the stream
    /// that it asks on, the goodbye. It must not wait for them in turn, for a connection that they hold, or all of them
    /// wait for ever. Nothing that is urgent waits for anything else.
    pub urgent: bool,
}

/// What is to be done.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Action {
    /// Send this. What comes of it goes to [`head`](HttpClient::head), [`data`](HttpClient::data), and
    /// [`end`](HttpClient::end) or [`failed`](HttpClient::failed).
    Open(HttpRequest),
    /// Nothing more is wanted of this exchange: close its stream, which in the modern era is how a request is cancelled
    /// (HTTP-22).
    Close(ExchangeKey),
    /// A message for the engine: to [`receive_answer`](crate::engine::client::ClientEngine::receive_answer) if it answers
    /// a request, else to [`receive`](crate::engine::client::ClientEngine::receive).
    #[non_exhaustive]
    Message {
        /// One JSON text.
        message: Vec<u8>,
        /// The request it answers.
        answers: Option<u64>,
    },
    /// There will be no answer, which is for [`unanswered`](crate::engine::client::ClientEngine::unanswered).
    #[non_exhaustive]
    Unanswered {
        /// The request.
        id: u64,
        /// What that says about the server.
        why: Unanswered,
        /// What went wrong.
        fault: HttpFault,
    },
    /// The server had ended the session, and there is a new one (SN-01): what it was told is to be told again, such as
    /// the resources that are subscribed to.
    Renewed,
    /// There is no way to the server any more: the engine has [lost](crate::engine::client::ClientEngine::lost) it.
    Lost(HttpFault),
    /// The server's own messages will not be heard, since they come in a content coding, though none was offered (DX-03).
    /// Calls go on: for a log.
    Unheard(HttpFault),
    /// A tool was left out of a list, since it cannot be called over HTTP (XH-07): for a log.
    #[non_exhaustive]
    ToolLeftOut {
        /// Its name; untrusted.
        name: String,
        /// Why.
        reason: String,
    },
}

/// The head of a response.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ResponseHead<'h> {
    /// The status.
    pub status: u16,
    /// The fields, one entry for each line. Names may be in any case.
    pub fields: &'h [(&'h str, &'h [u8])],
}

impl<'h> ResponseHead<'h> {
    /// A head.
    #[must_use]
    pub const fn new(status: u16, fields: &'h [(&'h str, &'h [u8])]) -> Self {
        Self { status, fields }
    }

    fn all(&self, name: &str) -> impl Iterator<Item = &'h [u8]> {
        let fields = self.fields.iter();
        fields
            .filter(move |(found, _)| found.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.trim_ascii())
    }

    fn field(&self, name: &str) -> Option<&'h [u8]> {
        self.all(name).next()
    }

    const fn is_success(&self) -> bool {
        self.status >= 200 && self.status < 300
    }
}

/// The URL is not an absolute one of HTTP.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct UrlFault;

impl fmt::Display for UrlFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a URL that begins with `http://` or `https://`")
    }
}

impl core::error::Error for UrlFault {}

/// How a message gets to the server.
#[derive(Debug)]
enum Route {
    /// One endpoint, one exchange for each message.
    Streamable,
    /// `initialize` was refused: whether there is an event stream that names an endpoint is being found out (DET-11).
    Falling(Box<Fallback>),
    /// HTTP+SSE: messages go there, answers come by the stream.
    Sse(String),
}

#[derive(Debug)]
struct Fallback {
    initialize: Outgoing,
    id: u64,
    /// What is told if there is no such stream.
    refusal: Refusal,
}

#[derive(Debug)]
enum Refusal {
    Message(Vec<u8>),
    Fault(HttpFault),
}

/// The exchanges of one connection, and what they mean.
///
/// # Contract
///
/// 1. Each message that the engine writes goes to [`send`](Self::send), in order.
/// 2. After each call [`poll_action`](Self::poll_action) says what is to be done, until it says `None`; the engine's answers
///    to that are messages again.
/// 3. Time is an argument: [`poll_timeout`](Self::poll_timeout) says when [`handle_timeout`](Self::handle_timeout) is due.
/// 4. What is said about exchanges that are closed is ignored, so nothing has to be called back.
/// 5. Each request ends exactly once, with a message that answers it or with [`Action::Unanswered`], unless it is
///    cancelled, or all is [lost](Action::Lost). How long a server may take is the engine's business.
/// 6. A server's bytes cannot make it panic. Of each exchange it holds one message at most, and of a session each request
///    that is in flight, since it may have to be sent again.
#[derive(Debug)]
pub struct HttpClient {
    limits: Limits,
    base: Base,
    actions: VecDeque<Action>,
    exchanges: BTreeMap<ExchangeKey, Exchange>,
    next: u64,
    route: Route,
    session: Session,
    listening: Listening,
    tools: Tools,
    /// Messages that wait for the session to be ready.
    held: VecDeque<Outgoing>,
}

impl HttpClient {
    /// A client of the server at this URL, for one connection of an engine.
    ///
    /// # Errors
    ///
    /// The URL is not an absolute one of HTTP.
    pub fn new(url: &str, limits: Limits) -> Result<Self, UrlFault> {
        Ok(Self {
            limits,
            base: Base::parse(url).ok_or(UrlFault)?,
            actions: VecDeque::new(),
            exchanges: BTreeMap::new(),
            next: 0,
            route: Route::Streamable,
            session: Session::default(),
            listening: Listening::default(),
            tools: Tools::default(),
            held: VecDeque::new(),
        })
    }

    /// What is to be done next; `None`: nothing.
    pub fn poll_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    /// Sends a message of the engine's.
    pub fn send(&mut self, now: Instant, message: &[u8]) {
        let mut limits = self.limits;
        limits.max_message = usize::MAX;
        let Some(message) = Outgoing::read(message, &limits) else {
            return;
        };
        if let Kind::Cancelled { id } = message.kind {
            self.cancel(id, message);
            return;
        }
        if message.is("initialize") {
            self.give_up_connecting();
            self.session.begin(&message);
            self.post(message);
            return;
        }
        let modern = matches!(self.route, Route::Streamable) && !self.session.is_legacy();
        // To a modern server it is a request like any other: a connected client sends it as well.
        if message.version.is_some() && message.is("server/discover") && !modern {
            self.give_up_connecting();
            self.session.forget();
        }
        if message.is("notifications/initialized") && self.session.is_legacy() {
            self.open_session(now, message);
            return;
        }
        match self.session.stage {
            Stage::Ready => {
                self.post(message);
            }
            // What the last session asked is forgotten.
            Stage::Renewing if message.kind == Kind::Response => {}
            Stage::Renewing => self.held.push_back(message),
            // The server's questions may be what it waits for.
            Stage::Opening | Stage::Waiting(_) if message.kind == Kind::Response => {
                self.post(message);
            }
            Stage::Opening | Stage::Waiting(_) => self.held.push_back(message),
        }
    }

    /// The request that says goodbye to a session (SN-05); `None` if there is none. Its answer says nothing, and is not to
    /// be waited for long.
    pub fn leave(&mut self) -> Option<HttpRequest> {
        let id = self.session.id.take()?;
        let mut fields = Vec::new();
        headers::session(&mut fields, Some(&id), self.session.version);
        Some(HttpRequest {
            key: self.key(),
            verb: Verb::Delete,
            target: None,
            fields,
            body: Vec::new(),
            repeatable: false,
            urgent: true,
        })
    }

    /// Whether something that wants no answer, such as a cancellation, is on its way.
    #[must_use]
    pub fn is_telling(&self) -> bool {
        self.exchanges.values().any(|exchange| {
            matches!(exchange.purpose, Purpose::Telling)
                && matches!(exchange.reading, Reading::Head)
        })
    }

    /// A request is no longer wanted. Modern servers see its stream close and get no message (HTTP-24); legacy ones are
    /// told, since to them a closed stream says nothing (LH-17).
    fn cancel(&mut self, id: u64, message: Outgoing) {
        let held = self.held.len();
        self.held.retain(|held| held.id() != Some(id));
        let sent = held == self.held.len();
        if let Some(key) = self.exchange_of(id) {
            self.close(key);
        }
        if sent && self.session.is_legacy() && !matches!(self.session.stage, Stage::Renewing) {
            self.post(message);
        }
    }

    /// The engine asks in another way: what it asked before is answered too late.
    fn give_up_connecting(&mut self) {
        let keys: Vec<_> = self.exchanges.keys().copied().collect();
        for key in keys {
            self.close(key);
        }
        self.route = Route::Streamable;
    }

    fn key(&mut self) -> ExchangeKey {
        self.next += 1;
        ExchangeKey(self.next)
    }

    /// The exchange that is to bring the answer to this request.
    fn exchange_of(&self, id: u64) -> Option<ExchangeKey> {
        let mut exchanges = self.exchanges.iter();
        exchanges
            .find(|(_, exchange)| exchange.request_id() == Some(id))
            .map(|(key, _)| *key)
    }

    /// Ends an exchange that is not over.
    fn close(&mut self, key: ExchangeKey) {
        if let Some(exchange) = self.exchanges.remove(&key)
            && !matches!(exchange.reading, Reading::Waiting { .. })
        {
            self.actions.push_back(Action::Close(key));
        }
    }

    fn post(&mut self, message: Outgoing) -> Option<ExchangeKey> {
        let legacy = self.session.is_legacy();
        let mut fields = headers::standing(Verb::Post);
        let target = match &self.route {
            Route::Sse(target) => Some(target.clone()),
            Route::Streamable | Route::Falling(_) => None,
        };
        if !legacy {
            if let Err(fault) = headers::modern(&mut fields, &message, &self.tools) {
                if let Some(id) = message.id() {
                    self.unanswered(id, Unanswered::Failed, fault);
                }
                return None;
            }
        } else if !message.is("initialize") {
            headers::session(
                &mut fields,
                self.session.id.as_deref(),
                self.session.version,
            );
        }
        let repeatable = message.is_repeatable();
        // What may have to be sent again is kept.
        let keeps = legacy && (self.session.id.is_some() || message.is("initialize"));
        let (kept, body) = if keeps {
            let text = message.text.clone();
            (message, text)
        } else {
            let mut message = message;
            let text = core::mem::take(&mut message.text);
            (message, text)
        };
        let purpose = match kept.id() {
            Some(id) => Purpose::Request { id, message: kept },
            None if kept.is("notifications/initialized") => Purpose::Opening,
            None => Purpose::Telling,
        };
        Some(self.open(purpose, Verb::Post, target, fields, body, repeatable))
    }

    fn open(
        &mut self,
        purpose: Purpose,
        verb: Verb,
        target: Option<String>,
        fields: headers::Fields,
        body: Vec<u8>,
        repeatable: bool,
    ) -> ExchangeKey {
        let key = self.key();
        let urgent = purpose.is_urgent();
        let exchange = Exchange::new(purpose, self.session.generation);
        self.exchanges.insert(key, exchange);
        self.actions.push_back(Action::Open(HttpRequest {
            key,
            verb,
            target,
            fields,
            body,
            repeatable,
            urgent,
        }));
        key
    }

    fn unanswered(&mut self, id: u64, why: Unanswered, fault: HttpFault) {
        self.actions
            .push_back(Action::Unanswered { id, why, fault });
    }
}
