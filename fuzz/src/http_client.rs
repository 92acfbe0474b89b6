//! What a client makes of a server's responses: each request ends once, however the bytes arrive.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use mcp_core::Limits;
use mcp_core::binding::http::client::{Action, ExchangeKey, HttpClient, HttpRequest, ResponseHead};
use mcp_core::time::Instant;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::reads::{reads, split_header};

/// So many requests are answered, with what is scripted and then with none.
const MOST: usize = 300;

/// Requests that stand for themselves.
const MODERN: [&str; 3] = [
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#,
    r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"t","arguments":{"region":"here"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#,
    r#"{"jsonrpc":"2.0","id":3,"method":"subscriptions/listen","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#,
];

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;

/// What follows in a session.
const LEGACY: [&str; 4] = [
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"t"}}"#,
    r#"{"jsonrpc":"2.0","id":3,"method":"resources/subscribe","params":{"uri":"a:b"}}"#,
    r#"{"jsonrpc":"2.0","id":4,"method":"ping"}"#,
];

const CANCEL: &str =
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}"#;

/// Answers the requests of a client as the input says, in the order in which they are made.
///
/// The first line gives the sizes of the pieces that bodies arrive in, each modulo 48 (so digits are themselves); with an
/// `l` in front, it is a client of the legacy era. The rest is responses, with a line `=` between them: a status, header
/// lines, an empty line, and the body. In front of the status stand `!` for a connection that breaks after it, `x` for one
/// that breaks before, and `c` to cancel a call first.
///
/// # Panics
///
/// On a finding: bodies in pieces and as a whole make another sequence of actions; a request ends twice, or not at all; a
/// header that cannot be sent, or a session id that no server gave.
pub fn http_client(data: &[u8]) {
    let (header, script) = split_header(data);
    let (legacy, sizes) = match header.strip_prefix(b"l") {
        Some(sizes) => (true, sizes),
        None => (false, header),
    };
    let responses: Vec<Response<'_>> = split(script, b"\n=\n")
        .into_iter()
        .map(Response::new)
        .collect();
    let in_pieces = Run::new(legacy, Some(sizes)).all(&responses);
    let whole = Run::new(legacy, None).all(&responses);
    assert_eq!(in_pieces, whole);
}

/// The parts of a text between its separators.
fn split<'d>(text: &'d [u8], separator: &[u8]) -> Vec<&'d [u8]> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(at) = rest
        .windows(separator.len())
        .position(|window| window == separator)
    {
        parts.push(&rest[..at]);
        rest = &rest[at + separator.len()..];
    }
    parts.push(rest);
    parts
}

struct Response<'d> {
    cancels: bool,
    /// `None`: the connection breaks before.
    status: Option<u16>,
    breaks: bool,
    fields: Vec<(&'d str, &'d [u8])>,
    body: &'d [u8],
}

impl<'d> Response<'d> {
    fn new(text: &'d [u8]) -> Self {
        let (head, body) = match text.windows(2).position(|two| two == b"\n\n") {
            Some(end) => (&text[..end], &text[end + 2..]),
            None => (text, &[][..]),
        };
        let mut lines = head.split(|&byte| byte == b'\n');
        let first = lines.next().unwrap_or_default();
        let digits = first.iter().filter(|byte| byte.is_ascii_digit());
        let status = digits.fold(0, |status: u32, digit| {
            (status * 10 + u32::from(digit - b'0')) % 1_000
        });
        let fields = lines.filter_map(|line| {
            let colon = line.iter().position(|&byte| byte == b':')?;
            let name = str::from_utf8(&line[..colon]).ok()?;
            Some((name, line[colon + 1..].trim_ascii()))
        });
        Self {
            cancels: first.contains(&b'c'),
            status: (!first.contains(&b'x')).then_some(status as u16),
            breaks: first.contains(&b'!'),
            fields: fields.collect(),
            body,
        }
    }
}

struct Run<'s> {
    http: HttpClient,
    now: u64,
    /// The sizes of pieces.
    sizes: Option<&'s [u8]>,
    fresh: VecDeque<HttpRequest>,
    /// What the server has said about itself and its sessions.
    sessions: Vec<Vec<u8>>,
    /// How often each request has ended.
    ends: BTreeMap<u64, usize>,
    /// Those that were accepted and may be answered on another stream, for as long as it takes.
    deferred: BTreeSet<u64>,
    legacy: bool,
    cancelled: bool,
    lost: bool,
    seen: Vec<String>,
}

impl<'s> Run<'s> {
    fn new(legacy: bool, sizes: Option<&'s [u8]>) -> Self {
        let mut limits = Limits::DEFAULT;
        limits.max_message = 600;
        let mut run = Self {
            http: HttpClient::new("https://h.example/p/mcp?x=1", limits).expect("a URL"),
            now: 0,
            sizes,
            fresh: VecDeque::new(),
            sessions: Vec::new(),
            ends: BTreeMap::new(),
            deferred: BTreeSet::new(),
            legacy,
            cancelled: false,
            lost: false,
            seen: Vec::new(),
        };
        if legacy {
            run.send(INITIALIZE, Some(1));
        } else {
            for (id, message) in (1..).zip(MODERN) {
                run.send(message, Some(id));
            }
        }
        run
    }

    const fn time(&self) -> Instant {
        Instant::from_micros(self.now)
    }

    fn send(&mut self, message: &str, id: Option<u64>) {
        if let Some(id) = id {
            self.ends.insert(id, 0);
        }
        self.http.send(self.time(), message.as_bytes());
        self.act();
    }

    fn act(&mut self) {
        while let Some(action) = self.http.poll_action() {
            self.seen.push(format!("{action:?}"));
            match action {
                Action::Open(request) => {
                    self.check(&request);
                    self.fresh.push_back(request);
                }
                Action::Close(key) => self.fresh.retain(|request| request.key != key),
                Action::Message {
                    message, answers, ..
                } => {
                    // What answers nothing is the engine's to read.
                    if let Some(id) = answers {
                        let text: Result<&RawValue, _> = serde_json::from_slice(&message);
                        text.expect("an answer is one JSON text");
                        self.end(id);
                        if id == 1 && self.ends.len() == 1 && self.http_is_legacy(&message) {
                            for (id, message) in (1..).zip(LEGACY) {
                                self.send(message, (id > 1).then_some(id));
                            }
                        }
                    }
                }
                Action::Unanswered { id, .. } => self.end(id),
                Action::Lost(_) => self.lost = true,
                Action::Renewed | Action::ToolLeftOut { .. } | _ => {}
            }
        }
    }

    /// Whether the answer to `initialize` begins a session.
    fn http_is_legacy(&self, message: &[u8]) -> bool {
        let first = self.seen.first().is_some_and(|it| it.contains("Open"));
        first && message.windows(12).any(|it| it == b"\"2025-11-25\"")
    }

    fn end(&mut self, id: u64) {
        let ends = self.ends.get_mut(&id).expect("a request of that id");
        *ends += 1;
        assert_eq!(*ends, 1, "request {id} ends twice");
    }

    fn check(&self, request: &HttpRequest) {
        if let Some(target) = &request.target {
            assert!(target.starts_with('/'), "{target}");
            assert!(target.bytes().all(|byte| byte.is_ascii_graphic()));
        }
        for (name, value) in &request.fields {
            let plain = |byte: u8| byte.is_ascii_lowercase() || byte == b'-';
            assert!(!name.is_empty());
            assert!(
                name.starts_with("mcp-param-") || name.bytes().all(plain),
                "{name}"
            );
            let sendable = |byte: u8| byte.is_ascii_graphic() || byte == b' ';
            assert!(value.bytes().all(sendable), "{name}: {value}");
            if name == "mcp-session-id" {
                assert!(self.sessions.iter().any(|id| id == value.as_bytes()));
            }
        }
    }

    fn all(mut self, responses: &[Response<'_>]) -> Vec<String> {
        let mut responses = responses.iter();
        for _ in 0..MOST {
            self.now = self.now.saturating_add(1_000);
            let Some(request) = self.fresh.pop_front() else {
                let Some(due) = self.http.poll_timeout() else {
                    break;
                };
                self.now = self.now.max(due.as_micros());
                self.http.handle_timeout(self.time());
                self.act();
                continue;
            };
            match responses.next() {
                Some(response) => self.answer(&request, response),
                None => self.broken(request.key),
            }
        }
        // What may go on for ever is the stream of the server's own messages, which is opened again and again.
        for (id, ends) in &self.ends {
            let open = *id == 2 && self.cancelled || self.deferred.contains(id) || self.lost;
            assert!(*ends == 1 || open, "no end of {id}");
        }
        if let Some(goodbye) = self.http.leave() {
            self.check(&goodbye);
        }
        self.seen
    }

    fn answer(&mut self, request: &HttpRequest, response: &Response<'_>) {
        let key = request.key;
        if response.cancels && self.ends.get(&2) == Some(&0) && !self.cancelled {
            self.cancelled = true;
            self.send(CANCEL, None);
        }
        let Some(status) = response.status else {
            self.broken(key);
            return;
        };
        if self.legacy && matches!(status, 202 | 204) {
            let message: Option<Value> = serde_json::from_slice(&request.body).ok();
            let id = message.and_then(|message| message["id"].as_u64());
            self.deferred.extend(id);
        }
        let ids = response.fields.iter();
        let ids = ids.filter(|(name, _)| name.eq_ignore_ascii_case("mcp-session-id"));
        self.sessions.extend(ids.map(|(_, id)| id.to_vec()));
        let head = ResponseHead::new(status, &response.fields);
        self.http.head(self.time(), key, &head);
        self.act();
        let pieces = match self.sizes {
            Some(sizes) => reads(sizes, response.body),
            None => vec![response.body],
        };
        for piece in pieces {
            self.http.data(self.time(), key, piece);
            self.act();
        }
        match response.breaks {
            true => self.broken(key),
            false => {
                self.http.end(self.time(), key);
                self.act();
            }
        }
    }

    fn broken(&mut self, key: ExchangeKey) {
        self.http
            .failed(self.time(), key, false, "broken".to_owned());
        self.act();
    }
}
