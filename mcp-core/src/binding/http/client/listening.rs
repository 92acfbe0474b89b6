//! The stream of the server's own messages in a legacy session (LH-18 to LH-20, HC-07).

use alloc::vec::Vec;
use core::time::Duration;

use super::exchange::{Purpose, Reading};
use super::{ExchangeKey, HttpClient, Route, Verb, headers};
use crate::time::Instant;

/// The pause before a stream is opened again, unless the server wishes another.
const PAUSE: Duration = Duration::from_secs(1);

/// The longest, after attempts that failed.
const LONGEST: Duration = Duration::from_secs(30);

/// The shortest, whatever the server wishes.
const SHORTEST: Duration = Duration::from_millis(10);

/// So many attempts in a row may fail.
pub(super) const ATTEMPTS: u32 = 6;

#[derive(Debug, Default)]
pub(super) struct Listening {
    pub(super) key: Option<ExchangeKey>,
    /// The server has no such stream (LH-19).
    pub(super) refused: bool,
}

/// How long to wait before a stream is opened again.
pub(super) fn pause(wish: Option<Duration>, attempts: u32) -> Duration {
    let first = wish.unwrap_or(PAUSE).max(SHORTEST);
    if attempts == 0 {
        return first;
    }
    first
        .saturating_mul(1 << attempts.min(16))
        .min(LONGEST.max(first))
}

impl HttpClient {
    /// Opens the stream; `false`: there is none.
    pub(super) fn listen(&mut self) -> bool {
        if self.listening.refused || !matches!(self.route, Route::Streamable) {
            return false;
        }
        let key = self.get(Purpose::Listening, &[]);
        self.listening.key = Some(key);
        true
    }

    /// `GET` with what the session needs, to go on after the event of this id.
    pub(super) fn get(&mut self, purpose: Purpose, last_id: &[u8]) -> ExchangeKey {
        let mut fields = headers::standing(Verb::Get);
        headers::session(
            &mut fields,
            self.session.id.as_deref(),
            self.session.version,
        );
        // An id that no field can hold is as good as none.
        if let Ok(id) = core::str::from_utf8(last_id)
            && !id.is_empty()
            && id.bytes().all(|byte| matches!(byte, b' '..=b'~'))
        {
            fields.push(("last-event-id".into(), id.into()));
        }
        let key = self.open(purpose, Verb::Get, None, fields, Vec::new(), true);
        if let Some(exchange) = self.exchanges.get_mut(&key) {
            exchange.last_id = last_id.into();
        }
        key
    }

    /// The session is over, and its stream with it. The next one may have one where this had none.
    pub(super) fn stop_listening(&mut self) {
        if let Some(key) = self.listening.key.take() {
            self.close(key);
        }
        self.listening.refused = false;
    }

    /// The server has no such stream, or not any more.
    pub(super) fn not_listening(&mut self) {
        self.listening.key = None;
        self.listening.refused = true;
        self.ready();
    }

    /// What waits is opened again when its time has come.
    pub(super) fn reopen(&mut self, now: Instant) {
        let due: Vec<_> = self
            .exchanges
            .iter()
            .filter(|(_, exchange)| exchange.due().is_some_and(|at| at <= now))
            .map(|(key, _)| *key)
            .collect();
        for key in due {
            let Some(exchange) = self.exchanges.get(&key) else {
                continue;
            };
            if !matches!(exchange.reading, Reading::Waiting { .. }) {
                self.overdue(now, key);
                continue;
            }
            let Some(before) = self.exchanges.remove(&key) else {
                continue;
            };
            let listening = matches!(before.purpose, Purpose::Listening);
            let next = self.get(before.purpose, &before.last_id);
            if listening {
                self.listening.key = Some(next);
            }
            if let Some(exchange) = self.exchanges.get_mut(&next) {
                exchange.attempts = before.attempts;
                exchange.retry = before.retry;
                exchange.generation = before.generation;
            }
        }
    }
}
