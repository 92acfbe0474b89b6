//! The client's half of the world.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use mcp_core::binding::StdioClient;
use mcp_core::engine::client::{
    CallOptions, ClientConfig, ClientEngine, EraMode, Event, Incoming, Outcome, ReplyToken,
    RequestKey, ServerRequestKind,
};
use mcp_core::frame::Lines;
use mcp_core::json::{Json, RawJson};
use mcp_core::model::{ClientCapabilities, Implementation, ProtocolVersion};
use mcp_core::rpc::ErrorObject;
use mcp_core::time::Instant;
use mcp_core::{ErrorCode, Limits};
use serde_json::Value;

use super::Tally;
use super::random::Random;
use super::wire::Room;

pub(super) struct Client {
    config: ClientConfig,
    stdio: StdioClient,
    out: Vec<u8>,
    /// A server that says nothing to `server/discover`, as legacy ones may.
    deaf: bool,
    calls: BTreeMap<String, Open>,
    /// Questions of the server's that are not answered.
    questions: Vec<(ReplyToken, ServerRequestKind)>,
    /// Ids that this connection has sent requests with, and those that were answered.
    sent: BTreeSet<u64>,
    answered: BTreeSet<u64>,
    retries: Vec<Retry>,
    ended: bool,
    pub(super) tally: Tally,
}

#[derive(Clone, Copy)]
struct Open {
    key: RequestKey,
    method: &'static str,
    params: &'static str,
}

struct Retry {
    method: &'static str,
    params: &'static str,
    state: Option<Json<'static>>,
}

const CALLS: [(&str, &str); 13] = [
    ("tools/call", r#"{"name":"echo","arguments":{"text":"x"}}"#),
    ("tools/call", r#"{"name":"add","arguments":{"a":1,"b":2}}"#),
    ("tools/call", r#"{"name":"nobody"}"#),
    ("resources/read", r#"{"uri":"a://one"}"#),
    ("resources/read", r#"{"uri":"b://x"}"#),
    ("resources/read", r#"{"uri":"z://"}"#),
    (
        "prompts/get",
        r#"{"name":"greet","arguments":{"who":"me"}}"#,
    ),
    (
        "completion/complete",
        r#"{"ref":{"type":"ref/prompt","name":"greet"},"argument":{"name":"who","value":"m"}}"#,
    ),
    ("tools/list", "{}"),
    ("resources/list", r#"{"cursor":"nonsense"}"#),
    ("ping", "{}"),
    ("resources/subscribe", r#"{"uri":"a://one"}"#),
    (
        LISTEN,
        r#"{"notifications":{"toolsListChanged":true,"resourceSubscriptions":["a://one"]}}"#,
    ),
];

const LISTEN: &str = "subscriptions/listen";

impl Client {
    pub(super) fn new(seed: u64, random: &mut Random) -> Self {
        let mut config = ClientConfig::new(Implementation::new("pair", "1.0"));
        config.mode = match random.below(8) {
            0 => EraMode::Modern(ProtocolVersion::V2026_07_28),
            at @ 1..=4 => EraMode::Legacy(ProtocolVersion::ALL[at as usize]),
            _ => EraMode::Auto,
        };
        if random.percent(70) {
            config.capabilities = ClientCapabilities::ELICITATION | ClientCapabilities::ROOTS;
        }
        config.probe_timeout = Duration::from_millis(300);
        // Longer than anything a world takes, so that connecting is only lost with the peer.
        config.connect_timeout = Duration::from_secs(10_000_000);
        let engine = ClientEngine::new(config.clone(), Limits::DEFAULT, seed);
        Self {
            deaf: config.mode == EraMode::Auto && random.percent(30),
            config,
            stdio: StdioClient::new(engine),
            out: Vec::new(),
            calls: BTreeMap::new(),
            questions: Vec::new(),
            sent: BTreeSet::new(),
            answered: BTreeSet::new(),
            retries: Vec::new(),
            ended: false,
            tally: Tally::default(),
        }
    }

    pub(super) fn connect(&mut self, now: Instant) {
        let mut lines = Lines::new(&mut self.out);
        let asked = self.stdio.engine_mut().connect(now, &mut lines);
        asked.expect("a Vec has room");
    }

    pub(super) fn take_output(&mut self) -> Vec<u8> {
        let out = std::mem::take(&mut self.out);
        let mut kept = Vec::new();
        for line in out.split_inclusive(|&byte| byte == b'\n') {
            let message: Value = serde_json::from_slice(line).expect("a client writes JSON");
            let request = message.get("method").is_some() && message.get("id").is_some();
            if let Some(id) = message["id"].as_u64().filter(|_| request) {
                assert!(self.sent.insert(id), "the id {id} is used twice");
            }
            if !(self.deaf && message["method"] == "server/discover") {
                kept.extend_from_slice(line);
            }
        }
        kept
    }

    pub(super) fn next_timeout(&self) -> Option<Instant> {
        self.stdio.engine().poll_timeout()
    }

    pub(super) fn call(&mut self, random: &mut Random, now: Instant) {
        let (method, params) = CALLS[random.below(CALLS.len() as u64) as usize];
        let mut options = CallOptions::default();
        if method != LISTEN {
            options.timeout = Some(Duration::from_millis(20 + random.below(2_000)));
            options.max_total = Some(Duration::from_millis(20 + random.below(4_000)));
            options.progress = random.percent(50);
        }
        self.send(method, params, &options, now);
    }

    fn send(
        &mut self,
        method: &'static str,
        params: &'static str,
        options: &CallOptions<'_>,
        now: Instant,
    ) {
        let json = RawJson::parse(params.as_bytes()).expect("it is JSON");
        let mut lines = Lines::new(&mut self.out);
        let engine = self.stdio.engine_mut();
        // Not connected, or not in this version: nothing is sent then, and nothing to be answered.
        if let Ok(key) = engine.call(now, method, &json, options, &mut lines) {
            self.tally.calls += 1;
            let open = Open {
                key,
                method,
                params,
            };
            let before = self.calls.insert(format!("{key:?}"), open);
            assert!(before.is_none(), "a key is of one call");
        }
    }

    /// The call has ended; it was one of those that had not.
    fn end(&mut self, key: RequestKey) -> Open {
        let ended = self.calls.remove(&format!("{key:?}"));
        ended.expect("a call ends once")
    }

    pub(super) fn cancel(&mut self, random: &mut Random) {
        let keys: Vec<RequestKey> = self.calls.values().map(|open| open.key).collect();
        if let Some(key) = random.pick(&keys) {
            self.cancel_one(key);
        }
    }

    fn cancel_one(&mut self, key: RequestKey) {
        self.end(key);
        self.tally.cancelled += 1;
        let mut lines = Lines::new(&mut self.out);
        let engine = self.stdio.engine_mut();
        engine
            .cancel(key, Some("changed my mind"), &mut lines)
            .expect("an open call can be cancelled");
        engine
            .cancel(key, None, &mut lines)
            .expect_err("and then it is over");
    }

    pub(super) fn end_subscriptions(&mut self) {
        self.ended = true;
        let keys: Vec<RequestKey> = self
            .calls
            .values()
            .filter(|open| open.method == LISTEN)
            .map(|open| open.key)
            .collect();
        for key in keys {
            self.cancel_one(key);
        }
    }

    pub(super) fn answer(&mut self, random: &mut Random) {
        if let Some((token, kind)) = random.take(&mut self.questions) {
            self.answer_one(token, kind, random);
        }
    }

    pub(super) fn answer_all(&mut self, random: &mut Random) {
        while let Some((token, kind)) = self.questions.pop() {
            self.answer_one(token, kind, random);
        }
    }

    fn answer_one(&mut self, token: ReplyToken, kind: ServerRequestKind, random: &mut Random) {
        let mut lines = Lines::new(&mut self.out);
        let engine = self.stdio.engine_mut();
        // Stale, if the server has taken it back in the meantime.
        let _ = if random.percent(20) {
            let error = ErrorObject::new(ErrorCode::INTERNAL_ERROR, "no");
            engine.fail(token, &error, &mut lines)
        } else {
            let result = match kind {
                ServerRequestKind::ListRoots => r#"{"roots":[]}"#,
                _ => r#"{"action":"decline"}"#,
            };
            let result = RawJson::parse(result.as_bytes()).expect("it is JSON");
            engine.reply(token, &result, &mut lines)
        };
    }

    /// Whether anything was taken.
    pub(super) fn receive(&mut self, now: Instant, input: &mut Vec<u8>, room: usize) -> bool {
        let bytes = std::mem::take(input);
        let mut at = 0;
        loop {
            let out = &mut Room::new(&mut self.out, room);
            let step = self.stdio.receive(now, &bytes[at..], out);
            if step.consumed == 0 && matches!(step.incoming, None | Some(Incoming::Blocked)) {
                break;
            }
            let message = &bytes[at..at + step.consumed];
            at += step.consumed;
            if let Some(incoming) = step.incoming {
                self.answered(message);
                self.take(incoming);
            }
        }
        input.extend_from_slice(&bytes[at..]);
        for retry in std::mem::take(&mut self.retries) {
            let mut options = CallOptions::default();
            options.timeout = Some(Duration::from_secs(2));
            options.input_responses = RawJson::parse(br#"{"q":{"action":"decline"}}"#).ok();
            options.request_state = retry.state.as_ref().map(Json::raw);
            self.tally.retried += 1;
            self.send(retry.method, retry.params, &options, now);
        }
        at > 0
    }

    /// Each request is answered at most once, and nothing else is.
    fn answered(&mut self, line: &[u8]) {
        let message: Value = serde_json::from_slice(line).expect("a server writes JSON");
        if message.get("method").is_some() {
            return;
        }
        let id = message["id"].as_u64().expect("what we send can be read");
        assert!(self.sent.contains(&id), "the id {id} was never sent");
        assert!(self.answered.insert(id), "the id {id} is answered twice");
    }

    fn take(&mut self, incoming: Incoming<'_>) {
        match incoming {
            Incoming::Connected => self.tally.connected += 1,
            Incoming::Answer { key, outcome, .. } => {
                let Open { method, params, .. } = self.end(key);
                match outcome {
                    Outcome::Complete(_) | Outcome::Ended => self.tally.completed += 1,
                    Outcome::InputRequired(result) => self.retries.push(Retry {
                        method,
                        params,
                        state: member(result, "requestState"),
                    }),
                    Outcome::Error(_) => self.tally.failed += 1,
                    Outcome::Invalid(fault) => panic!("our server answered wrongly: {fault}"),
                    _ => panic!("there is no other outcome"),
                }
            }
            Incoming::Progress { key, .. } => {
                self.tally.notified += 1;
                assert!(
                    self.calls.contains_key(&format!("{key:?}")),
                    "progress is of a call that has not ended"
                );
            }
            Incoming::Request(request) => {
                self.tally.asked += 1;
                self.questions.push((request.token, request.kind));
            }
            Incoming::Notification(notification) => {
                self.tally.notified += 1;
                if let Some(key) = notification.subscription {
                    assert!(
                        self.calls.contains_key(&format!("{key:?}")),
                        "a subscription that tells something has not ended"
                    );
                }
            }
            Incoming::Late => self.tally.late += 1,
            Incoming::ConnectFailed(error) => panic!("our server was not reached: {error}"),
            Incoming::Complaint(_) => panic!("our server did not understand"),
            Incoming::Rejected(fault) => panic!("our server broke a rule: {fault}"),
            // A question taken back is answered all the same, to see that it is stale.
            Incoming::Handled | Incoming::Cancelled(_) => {}
            other => panic!("not expected: {other:?}"),
        }
    }

    /// Whether anything was due.
    pub(super) fn handle_timeout(&mut self, now: Instant) -> bool {
        if self.next_timeout().is_none_or(|at| at > now) {
            return false;
        }
        let mut lines = Lines::new(&mut self.out);
        let engine = self.stdio.engine_mut();
        engine
            .handle_timeout(now, &mut lines)
            .expect("a Vec has room");
        self.events();
        true
    }

    fn events(&mut self) {
        while let Some(event) = self.stdio.engine_mut().poll_event() {
            match event {
                Event::TimedOut { key, .. } => {
                    self.end(key);
                    self.tally.timed_out += 1;
                }
                Event::Closed(key) => {
                    self.end(key);
                    self.tally.closed += 1;
                }
                Event::Connected => self.tally.connected += 1,
                // Lost before it came about.
                Event::ConnectFailed(_) => {}
                _ => panic!("there is no other event"),
            }
        }
    }

    /// The connection is gone: all calls end, and another engine takes over.
    pub(super) fn lose(&mut self, random: &mut Random) {
        self.stdio.engine_mut().lost();
        self.events();
        assert_eq!(self.calls.len(), 0, "a call outlives its connection");
        assert_eq!(
            self.stdio.engine().pending(),
            0,
            "the table outlives its connection"
        );
        let engine = ClientEngine::new(self.config.clone(), Limits::DEFAULT, random.next());
        self.stdio = StdioClient::new(engine);
        self.out.clear();
        self.questions.clear();
        self.sent.clear();
        self.answered.clear();
    }

    /// All is quiet.
    pub(super) fn check(&self, seed: u64) {
        let engine = self.stdio.engine();
        assert!(self.ended, "seed {seed}: the end has begun");
        assert_eq!(self.calls.len(), 0, "seed {seed}: a call hangs");
        assert_eq!(
            engine.pending(),
            0,
            "seed {seed}: the table of pending requests"
        );
        assert!(self.questions.is_empty(), "seed {seed}: a question is open");
        let Tally {
            calls,
            completed,
            failed,
            retried,
            timed_out,
            cancelled,
            closed,
            ..
        } = self.tally;
        // Those that were made once more ended with what they were asked.
        let ended = completed + failed + timed_out + cancelled + closed;
        assert!(
            ended <= calls && calls <= ended + retried,
            "seed {seed}: {:?}",
            self.tally
        );
    }
}

fn member(object: RawJson<'_>, wanted: &str) -> Option<Json<'static>> {
    let mut members = object.as_object()?;
    let (_, value) = members.find(|(name, _)| *name == *wanted)?;
    Some(Json::from(value).into_owned())
}
