//! A server in the hands of the test: an engine, its HTTP, and what the test answers to each request.
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a test that gets another variant, whichever it is, has failed"
)]

mod detection;
mod events;
mod fields;
mod legacy;
mod modern;
mod robustness;

use alloc::borrow::ToOwned as _;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use core::time::Duration;

use super::*;
use crate::engine::client::{
    CallOptions, ClientConfig, ClientEngine, EraMode, Incoming, Outcome, RequestKey,
};
use crate::frame::Lines;
use crate::json::RawJson;
use crate::model::{ClientCapabilities, Implementation, ProtocolVersion};

const MS: Duration = Duration::from_millis(1);

struct Stage {
    engine: ClientEngine,
    http: HttpClient,
    now: Instant,
    /// What is open, by its key.
    open: BTreeMap<ExchangeKey, HttpRequest>,
    /// Requests that the test has not looked at.
    fresh: VecDeque<HttpRequest>,
    closed: Vec<ExchangeKey>,
    /// What came of it all, in short.
    told: Vec<String>,
    faults: Vec<HttpFault>,
}

impl Stage {
    fn new(mode: EraMode) -> Self {
        let mut config = ClientConfig::new(Implementation::new("c", "1"));
        config.mode = mode;
        config.capabilities = ClientCapabilities::ELICITATION;
        Self::with(config)
    }

    fn with(config: ClientConfig) -> Self {
        let mut stage = Self {
            engine: ClientEngine::new(config, Limits::DEFAULT, 7),
            http: HttpClient::new("https://h.example/p/mcp?x=1", Limits::DEFAULT).expect("a URL"),
            now: Instant::from_micros(1_700_000_000_000_000),
            open: BTreeMap::new(),
            fresh: VecDeque::new(),
            closed: Vec::new(),
            told: Vec::new(),
            faults: Vec::new(),
        };
        let mut out = Vec::new();
        let now = stage.now;
        stage
            .engine
            .connect(now, &mut Lines::new(&mut out))
            .expect("room");
        stage.say(&out);
        stage
    }

    /// Connected to a server of 2026-07-28.
    fn modern() -> Self {
        let mut stage = Self::new(EraMode::Auto);
        let probe = stage.next();
        assert_eq!(probe.get("mcp-method"), Some("server/discover"));
        stage.json(&probe, 200, DISCOVERED);
        stage.tells(&["connected"]);
        stage
    }

    /// Connected to a server of 2025-11-25, with a session and without a stream of its own messages.
    fn legacy() -> Self {
        let mut stage = Self::begun();
        let get = stage.next();
        assert_eq!(get.verb, Verb::Get);
        stage.answer(&get, 405, &[], "");
        // Nobody reads what else is said about that.
        assert_eq!(core::mem::take(&mut stage.closed), [get.key]);
        stage
    }

    /// The same, when its stream has not been answered yet.
    fn begun() -> Self {
        let mut stage = Self::new(EraMode::Legacy(ProtocolVersion::V2025_11_25));
        let initialize = stage.next();
        let fields = [JSON, ("Mcp-Session-Id", "s1")];
        stage.answer(&initialize, 200, &fields, &initialized("2025-11-25"));
        stage.tells(&["connected"]);
        let opening = stage.next();
        assert!(opening.text().contains("notifications/initialized"));
        assert!(stage.fresh.is_empty());
        stage.answer(&opening, 202, &[], "");
        stage
    }

    fn say(&mut self, lines: &[u8]) {
        for line in lines.split(|byte| *byte == b'\n') {
            if !line.is_empty() {
                self.http.send(self.now, line);
            }
        }
        self.turn();
    }

    /// Does what is to be done until there is nothing more.
    fn turn(&mut self) {
        while let Some(action) = self.http.poll_action() {
            let mut out = Vec::new();
            match action {
                Action::Open(request) => {
                    self.open.insert(request.key, request.clone());
                    self.fresh.push_back(request);
                }
                Action::Close(key) => {
                    self.open.remove(&key).expect("open until now");
                    self.closed.push(key);
                }
                Action::Message { message, answers } => {
                    let out = &mut Lines::new(&mut out);
                    let incoming = match answers {
                        Some(id) => self.engine.receive_answer(self.now, id, &message, out),
                        None => self.engine.receive(self.now, &message, out),
                    };
                    self.told.extend(short(&incoming));
                }
                Action::Unanswered { id, why, fault } => {
                    self.faults.push(fault);
                    let out = &mut Lines::new(&mut out);
                    let incoming = self.engine.unanswered(self.now, id, why, out);
                    self.told.extend(short(&incoming));
                }
                Action::Renewed => self.told.push("renewed".to_owned()),
                Action::Lost(fault) => {
                    self.faults.push(fault);
                    self.told.push("lost".to_owned());
                }
                Action::Unheard(fault) => {
                    self.faults.push(fault);
                    self.told.push("unheard".to_owned());
                }
                Action::ToolLeftOut { name, reason } => {
                    self.told.push(format!("without {name}: {reason}"));
                }
            }
            for line in out.split(|byte| *byte == b'\n') {
                if !line.is_empty() {
                    self.http.send(self.now, line);
                }
            }
        }
    }

    #[track_caller]
    fn next(&mut self) -> HttpRequest {
        self.fresh.pop_front().expect("a request")
    }

    #[track_caller]
    fn tells(&mut self, expected: &[&str]) {
        assert_eq!(core::mem::take(&mut self.told), expected);
    }

    fn head(&mut self, request: &HttpRequest, status: u16, fields: &[(&str, &str)]) {
        let fields: Vec<_> = fields
            .iter()
            .map(|(name, value)| (*name, value.as_bytes()))
            .collect();
        let head = ResponseHead::new(status, &fields);
        self.http.head(self.now, request.key, &head);
        self.turn();
    }

    fn data(&mut self, request: &HttpRequest, bytes: &str) {
        self.http.data(self.now, request.key, bytes.as_bytes());
        self.turn();
    }

    fn end(&mut self, request: &HttpRequest) {
        self.http.end(self.now, request.key);
        self.open.remove(&request.key);
        self.turn();
    }

    fn breaks(&mut self, request: &HttpRequest, unsent: bool) {
        let reason = "broken".to_owned();
        self.http.failed(self.now, request.key, unsent, reason);
        self.open.remove(&request.key);
        self.turn();
    }

    fn answer(&mut self, request: &HttpRequest, status: u16, fields: &[(&str, &str)], body: &str) {
        self.head(request, status, fields);
        if !body.is_empty() {
            self.data(request, body);
        }
        self.end(request);
    }

    fn json(&mut self, request: &HttpRequest, status: u16, body: &str) {
        self.answer(request, status, &[JSON], body);
    }

    /// So much later.
    fn wait(&mut self, time: Duration) {
        self.now = self.now + time;
        self.http.handle_timeout(self.now);
        self.turn();
    }

    fn call(&mut self, method: &str, params: &str) -> RequestKey {
        let params = RawJson::parse(params.as_bytes()).expect("JSON");
        let mut out = Vec::new();
        let options = CallOptions::default();
        let lines = &mut Lines::new(&mut out);
        let key = self
            .engine
            .call(self.now, method, &params, &options, lines)
            .expect("sent");
        self.say(&out);
        key
    }

    fn cancel(&mut self, key: RequestKey) {
        let mut out = Vec::new();
        self.engine
            .cancel(key, None, &mut Lines::new(&mut out))
            .expect("room");
        self.say(&out);
    }
}

impl HttpRequest {
    fn get(&self, name: &str) -> Option<&str> {
        let mut found = self.fields.iter().filter(|(known, _)| known == name);
        let value = found.next().map(|(_, value)| &**value);
        assert!(found.next().is_none(), "{name} twice");
        value
    }

    fn text(&self) -> &str {
        core::str::from_utf8(&self.body).expect("UTF-8")
    }

    fn id(&self) -> u64 {
        let body = RawJson::parse(&self.body).expect("JSON");
        let id = message::member(body, "id").expect("a request");
        id.as_number().and_then(|id| id.as_u64()).expect("a number")
    }

    fn result(&self, result: &str) -> String {
        format!(
            r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#,
            self.id()
        )
    }

    fn error(&self, code: i32, data: &str) -> String {
        format!(
            r#"{{"jsonrpc":"2.0","id":{},"error":{{"code":{code},"message":"no","data":{data}}}}}"#,
            self.id()
        )
    }
}

fn short(incoming: &Incoming<'_>) -> Option<String> {
    Some(match incoming {
        Incoming::Handled => return None,
        Incoming::Connected => "connected".to_owned(),
        Incoming::ConnectFailed(error) => format!("not connected: {error}"),
        Incoming::Answer { outcome, .. } => match outcome {
            Outcome::Complete(result) => format!("result {}", result.as_str()),
            Outcome::InputRequired(_) => "input required".to_owned(),
            Outcome::Error(error) => format!("error {}", error.code.value()),
            Outcome::Unanswered => "unanswered".to_owned(),
            other => format!("{other:?}"),
        },
        Incoming::Notification(notification) => format!("{:?}", notification.kind),
        Incoming::Request(request) => format!("asked {:?}", request.kind),
        Incoming::Batch(_) => "batch".to_owned(),
        other => format!("{other:?}"),
    })
}

const JSON: (&str, &str) = ("Content-Type", "application/json");
const EVENTS: (&str, &str) = ("content-type", "text/event-stream; charset=utf-8");

const ALL: &str =
    r#"{"tools":{"listChanged":true},"resources":{"subscribe":true},"prompts":{},"logging":{}}"#;

const DISCOVERED: &str = r#"{"jsonrpc":"2.0","id":0,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"resources":{},"prompts":{}},"ttlMs":0,"cacheScope":"private"}}"#;

fn initialized(version: &str) -> String {
    initialized_as(0, version)
}

fn initialized_as(id: u64, version: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{{"protocolVersion":"{version}","capabilities":{ALL},"serverInfo":{{"name":"s","version":"2"}}}}}}"#
    )
}

fn event(data: &str) -> String {
    format!("data: {data}\n\n")
}
