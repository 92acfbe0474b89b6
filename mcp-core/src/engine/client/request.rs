//! Calls: requests of ours, with the `_meta` that their version wants.

use core::time::Duration;

use memchr::memmem;

use super::{CallError, ClientEngine, Entry, Phase, RequestKey, RequestKind};
use crate::json::{RawJson, Sink, Writer};
use crate::model::{Encode, Era, LoggingLevel, key};
use crate::rpc::write_numbered_request;
use crate::time::Instant;

/// What a call wants beyond its params.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct CallOptions<'a> {
    /// Instead of [`request_timeout`](super::ClientConfig::request_timeout); [`Duration::MAX`] is no limit.
    pub timeout: Option<Duration>,
    /// Instead of [`max_total`](super::ClientConfig::max_total); [`Duration::MAX`] is no limit.
    pub max_total: Option<Duration>,
    /// Whether progress is wanted. It also starts the time of [`timeout`](Self::timeout) again.
    pub progress: bool,
    /// From which level on log messages of this request are wanted (META-10). Servers of the legacy era are told by
    /// `logging/setLevel` instead: to them it is not sent.
    pub log_level: Option<LoggingLevel>,
    /// More members of `_meta`, such as `traceparent` (META-15): an object. Those the engine writes itself are left out.
    pub meta: Option<RawJson<'a>>,
    /// For the retry of a call that was answered with [`Outcome::InputRequired`](super::Outcome::InputRequired): what was
    /// asked for, by key (MRTR-09). An object. Modern era only.
    pub input_responses: Option<RawJson<'a>>,
    /// For such a retry: the `requestState` of that answer, if it had one, as it was (MRTR-09, MRTR-13). A string. Modern
    /// era only.
    pub request_state: Option<RawJson<'a>>,
}

impl ClientEngine {
    /// Sends a request. The engine adds to `params`, a JSON object, the `_meta` that the server's version wants; what
    /// `params` and [`CallOptions::meta`] have there themselves is kept, except for the names that are the engine's.
    ///
    /// A `subscriptions/listen` waits for ever, unless the options say otherwise.
    ///
    /// # Errors
    ///
    /// [`CallError`] says why nothing was sent.
    pub fn call<S: Sink + ?Sized>(
        &mut self,
        now: Instant,
        method: &str,
        params: &(impl Encode + ?Sized),
        options: &CallOptions<'_>,
        out: &mut S,
    ) -> Result<RequestKey, CallError> {
        let (kind, version) = match &self.phase {
            Phase::Ready(server) => (server.admit(method)?, server.revision),
            Phase::Idle | Phase::Connecting(_) => return Err(CallError::NotConnected),
            Phase::Over => return Err(CallError::Closed),
        };
        if !self.pending.has_room() {
            return Err(CallError::Busy {
                limit: self.pending.limit(),
            });
        }
        self.scratch.clear();
        let mut json = Writer::new(&mut self.scratch);
        params.encode(version, &mut json);
        // A vector has room.
        let _ = json.finish();
        let id = self.pending.next_id();
        let params = Params::read(&self.scratch).ok_or(CallError::Params)?;
        write_numbered_request(out, id, method, |json| {
            json.begin_object();
            params.write(json);
            if version.era() == Era::Modern {
                if let Some(responses) = options.input_responses {
                    json.key("inputResponses");
                    json.raw(responses);
                }
                if let Some(state) = options.request_state {
                    json.key("requestState");
                    json.raw(state);
                }
            }
            write_meta(&self.meta, id, &params, options, json);
            json.end_object();
        })
        .map_err(|_| CallError::Full)?;
        let (timeout, total) = match kind {
            RequestKind::Listen => (Duration::MAX, Duration::MAX),
            RequestKind::Connecting | RequestKind::Plain | RequestKind::MayAsk => {
                (self.config.request_timeout, self.config.max_total)
            }
        };
        let entry = Entry {
            kind,
            wants_progress: options.progress,
            timeout: options.timeout.unwrap_or(timeout),
            ceiling: now + options.max_total.unwrap_or(total),
            progress: f64::NEG_INFINITY,
        };
        // Large params are rare: what held them is not kept.
        if self.scratch.capacity() > KEPT {
            self.scratch = alloc::vec::Vec::new();
        }
        let deadline = entry.deadline(now);
        self.pending.insert(entry, deadline).ok_or(CallError::Busy {
            limit: self.pending.limit(),
        })
    }
}

/// The most memory that is kept for params, in bytes.
const KEPT: usize = 64 * 1024;

/// Params as they were written, and their own `_meta`.
struct Params<'a> {
    /// The members, without braces.
    members: &'a str,
    /// The whole object, if it has a `_meta`: then its members have to be gone through.
    object: Option<RawJson<'a>>,
}

impl<'a> Params<'a> {
    /// `None`: they are not an object.
    fn read(text: &'a [u8]) -> Option<Self> {
        // Written by a `Writer`, which appends nothing else.
        let text = core::str::from_utf8(text).ok()?;
        if text.is_empty() || text == "null" {
            return Some(Self {
                members: "",
                object: None,
            });
        }
        let members = text.strip_prefix('{')?.strip_suffix('}')?;
        let object = memmem::find(members.as_bytes(), b"\"_meta\"")
            .map(|_| RawJson::new(text))
            .filter(|object| object.member("_meta").is_some());
        Some(Self { members, object })
    }

    /// The members without `_meta`.
    fn write<S: Sink + ?Sized>(&self, json: &mut Writer<'_, S>) {
        let Some(object) = self.object else {
            if !self.members.is_empty() {
                json.compact(self.members);
            }
            return;
        };
        for (name, value) in object.as_object().into_iter().flatten() {
            if name != "_meta" {
                json.key(&name.decode());
                json.raw(value);
            }
        }
    }

    fn meta(&self) -> Option<RawJson<'a>> {
        self.object?.member("_meta")
    }
}

/// Writes the member `_meta`, if there is anything in it.
fn write_meta<S: Sink + ?Sized>(
    standing: &str,
    id: u64,
    params: &Params<'_>,
    options: &CallOptions<'_>,
    json: &mut Writer<'_, S>,
) {
    let own = [params.meta(), options.meta];
    // None for the legacy era.
    let modern = !standing.is_empty();
    if !modern && !options.progress && own.iter().all(Option::is_none) {
        return;
    }
    json.key("_meta");
    json.begin_object();
    if modern {
        json.compact(standing);
        if let Some(level) = options.log_level {
            json.key(key::LOG_LEVEL);
            json.string(level.as_str());
        }
    }
    if options.progress {
        // Ids are unique for the life of the connection, and so are tokens that equal them (PRG-01).
        json.key(key::PROGRESS_TOKEN);
        json.unsigned(id);
    }
    for (name, value) in own
        .into_iter()
        .flatten()
        .filter_map(RawJson::as_object)
        .flatten()
    {
        let name = name.decode();
        let ours = [
            key::PROTOCOL_VERSION,
            key::CLIENT_CAPABILITIES,
            key::CLIENT_INFO,
            key::LOG_LEVEL,
            key::PROGRESS_TOKEN,
        ];
        if !ours.contains(&&*name) {
            json.key(&name);
            json.raw(value);
        }
    }
    json.end_object();
}
