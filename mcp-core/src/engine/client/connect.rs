//! Connecting: the ladder's steps as messages.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use super::detect::{DISCOVER, INITIALIZE, Ladder, Reply, Step};
use super::receive::Incoming;
use super::{
    ClientConfig, ClientEngine, ConnectError, Entry, EraMode, Event, Phase, RequestKey,
    RequestKind, ServerInfo,
};
use crate::json::{Full, Sink, Writer};
use crate::model::{Encode, Era, ProtocolVersion, key};
use crate::rpc::{write_notification, write_numbered_request};
use crate::time::Instant;

/// A client that has asked and is not connected.
#[derive(Clone, Debug)]
pub(super) struct Connecting {
    ladder: Ladder,
    /// The question that waits for its answer.
    key: RequestKey,
    /// When it has taken too long in all.
    until: Instant,
}

impl Connecting {
    pub(super) fn closed(&self) -> ConnectError {
        ConnectError::Closed {
            method: self.ladder.asked,
        }
    }

    pub(super) const fn key(&self) -> RequestKey {
        self.key
    }

    /// Whether `server/discover` is what waits.
    pub(super) fn is_probing(&self) -> bool {
        self.ladder.asked == DISCOVER
    }
}

impl ClientEngine {
    /// Begins to connect: sends `server/discover` or `initialize`. Does nothing a second time.
    ///
    /// # Errors
    ///
    /// There is no room; nothing has changed.
    pub fn connect<S: Sink + ?Sized>(&mut self, now: Instant, out: &mut S) -> Result<(), Full> {
        let Phase::Idle = self.phase else {
            return Ok(());
        };
        if let EraMode::Modern(version) = self.config.mode
            && !self.config.discover
        {
            self.meta = standing_meta(&self.config, version);
            self.phase = Phase::Ready(Box::new(ServerInfo::unasked(version)));
            self.events.push_back(Event::Connected);
            return Ok(());
        }
        let (ladder, step) = Ladder::new(&self.config);
        let until = now + self.config.connect_timeout;
        self.ask(now, None, ladder, &step, until, out)
    }

    /// Takes the answer to the question that waits.
    ///
    /// # Errors
    ///
    /// There is no room for what it makes necessary; nothing has changed.
    pub(super) fn connect_answered<'b, S: Sink + ?Sized>(
        &mut self,
        now: Instant,
        reply: Reply<'b>,
        out: &mut S,
    ) -> Result<Incoming<'b>, Full> {
        let Phase::Connecting(connecting) = &self.phase else {
            return Ok(Incoming::Handled);
        };
        let Connecting {
            mut ladder,
            key,
            until,
        } = connecting.clone();
        match (ladder.answered(reply), reply) {
            (Step::Connected(version), Reply::Result(result)) => {
                if version.era() == Era::Legacy {
                    // INIT-03.
                    write_notification(out, "notifications/initialized", |json| {
                        json.begin_object();
                        json.end_object();
                    })?;
                }
                self.pending.remove(key);
                self.meta = standing_meta(&self.config, version);
                self.phase = Phase::Ready(Box::new(ServerInfo::read(version, result)));
                Ok(Incoming::Connected)
            }
            (Step::Connected(version), Reply::Undiscovered) => {
                self.pending.remove(key);
                self.meta = standing_meta(&self.config, version);
                self.phase = Phase::Ready(Box::new(ServerInfo::unasked(version)));
                Ok(Incoming::Connected)
            }
            (Step::Failed(error), _) => {
                self.pending.remove(key);
                self.phase = Phase::Over;
                Ok(Incoming::ConnectFailed(error))
            }
            (step, _) => {
                self.ask(now, Some(key), ladder, &step, until, out)?;
                Ok(Incoming::Handled)
            }
        }
    }

    /// The question that waits has waited too long. It is not cancelled: `initialize` must not be (CAN-07, INIT-12), and a server
    /// that does not know `server/discover` knows nothing of such notifications before `initialize`.
    pub(super) fn connect_timed_out<S: Sink + ?Sized>(
        &mut self,
        now: Instant,
        out: &mut S,
    ) -> Result<(), Full> {
        let Phase::Connecting(connecting) = &self.phase else {
            return Ok(());
        };
        if connecting.until <= now {
            let error = ConnectError::TimedOut {
                method: connecting.ladder.asked,
            };
            self.pending.remove(connecting.key);
            self.phase = Phase::Over;
            self.events.push_back(Event::ConnectFailed(error));
            return Ok(());
        }
        if let Incoming::ConnectFailed(error) = self.connect_answered(now, Reply::Silence, out)? {
            self.events.push_back(Event::ConnectFailed(error));
        }
        Ok(())
    }

    /// Sends what a step of the ladder asks, after the question `before`. An answer to that which still comes is late
    /// (DET-05).
    fn ask<S: Sink + ?Sized>(
        &mut self,
        now: Instant,
        before: Option<RequestKey>,
        ladder: Ladder,
        step: &Step,
        until: Instant,
        out: &mut S,
    ) -> Result<(), Full> {
        let id = self.pending.next_id();
        let timeout = match *step {
            Step::Probe(version) => {
                let meta = standing_meta(&self.config, version);
                write_numbered_request(out, id, DISCOVER, |json| {
                    json.begin_object();
                    json.key("_meta");
                    json.begin_object();
                    json.compact(&meta);
                    json.end_object();
                    json.end_object();
                })?;
                let known = self.config.known_version;
                let legacy_is_next = self.config.mode == EraMode::Auto
                    && known.is_none_or(|version| version.era() == Era::Legacy);
                if legacy_is_next {
                    self.config.probe_timeout
                } else {
                    self.config.connect_timeout
                }
            }
            Step::Initialize(version) => {
                write_numbered_request(out, id, INITIALIZE, |json| {
                    json.begin_object();
                    json.key("protocolVersion");
                    json.string(version.as_str());
                    json.key("capabilities");
                    self.config.declared().encode(version, json);
                    json.key("clientInfo");
                    self.config.info.encode(version, json);
                    json.end_object();
                })?;
                self.config.connect_timeout
            }
            Step::Connected(_) | Step::Failed(_) => return Ok(()),
        };
        let entry = Entry {
            kind: RequestKind::Connecting,
            wants_progress: false,
            timeout,
            ceiling: until,
            progress: 0.0,
        };
        if let Some(before) = before {
            self.pending.remove(before);
        }
        let deadline = entry.deadline(now);
        // Nothing else is pending while connecting, and there is room for one.
        let Some(key) = self.pending.insert(entry, deadline) else {
            return Ok(());
        };
        self.phase = Phase::Connecting(Connecting { ladder, key, until });
        Ok(())
    }
}

/// The members of `_meta` that every request of `version` has (META-08, META-09); none for legacy ones.
fn standing_meta(config: &ClientConfig, version: ProtocolVersion) -> Box<str> {
    if version.era() == Era::Legacy {
        return Box::default();
    }
    let mut text = Vec::new();
    let mut json = Writer::new(&mut text);
    json.key(key::PROTOCOL_VERSION);
    json.string(version.as_str());
    json.key(key::CLIENT_CAPABILITIES);
    config.declared().encode(version, &mut json);
    json.key(key::CLIENT_INFO);
    config.info.encode(version, &mut json);
    // A vector has room.
    let _ = json.finish();
    String::from_utf8(text).unwrap_or_default().into()
}
