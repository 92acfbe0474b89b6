//! Clients over HTTP and a server, each exchange of its own speed.
//!
//! The server is the whole one: its service, its sessions, its handlers. The clients are engines with their bindings, each
//! somebody else. What goes between them is in the hands of chance: which exchange goes on, how much of a body arrives, which
//! connection is lost, who does not read for a while. At each answer it is seen whose it is.

use std::collections::{BTreeMap, VecDeque};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body::{Body, Frame};
use mcp_core::Limits;
use mcp_core::binding::http::client::{
    Action, ExchangeKey, HttpClient, HttpRequest, ResponseHead, Verb,
};
use mcp_core::engine::client::{
    CallOptions, ClientConfig, ClientEngine, EraMode, Event, Incoming, Outcome, RequestKey,
};
use mcp_core::frame::Lines;
use mcp_core::json::RawJson;
use mcp_core::model::{Implementation, ProtocolVersion};
use mcp_core::time::Instant;
use mcp_std::http::{HttpBody, HttpService, Principal};
use mcp_std::{Context as Call, Progress, Server, Spawner, Tool};
use tower_service::Service as _;

use super::random::Random;

/// What a schedule over HTTP came to.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct HttpTally {
    /// Calls, subscriptions included.
    pub calls: u64,
    /// Ended with the result that was theirs.
    pub completed: u64,
    /// Ended without an answer, since their exchange was lost.
    pub unanswered: u64,
    /// Given up by the client.
    pub cancelled: u64,
    /// Subscriptions that the server, or the loss of their stream, has ended.
    pub ended: u64,
    /// Notifications that reached a client, progress included.
    pub notified: u64,
    /// Connections that were lost in the middle.
    pub lost: u64,
    /// Streams that were taken up where they had been lost.
    pub resumed: u64,
}

impl HttpTally {
    /// Both together.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self {
            calls: self.calls + other.calls,
            completed: self.completed + other.completed,
            unanswered: self.unanswered + other.unanswered,
            cancelled: self.cancelled + other.cancelled,
            ended: self.ended + other.ended,
            notified: self.notified + other.notified,
            lost: self.lost + other.lost,
            resumed: self.resumed + other.resumed,
        }
    }
}

/// Runs the schedule of this seed. It is the same each time but for what the server makes up itself, such as the ids of
/// sessions.
///
/// # Panics
///
/// A promise was broken: a call has ended twice or not at all, or with what is another's; something is left in a table.
#[must_use]
pub fn http_schedule(seed: u64) -> HttpTally {
    let mut world = World::new(seed);
    let steps = 50 + world.random.below(300);
    for _ in 0..steps {
        world.step();
    }
    world.settle();
    world.tally
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Asked {
    nonce: u64,
    turns: u8,
    steps: u8,
}

/// Says who has called, and with what: after some turns, and some reports.
async fn who(call: Call, asked: Asked) -> String {
    for step in 0..asked.steps {
        call.progress(Progress::new(f64::from(step) + 1.0)).await;
    }
    for _ in 0..asked.turns {
        futures_lite::future::yield_now().await;
    }
    let name = call.principal().map_or("nobody", Principal::name);
    format!("{name}:{}", asked.nonce)
}

struct World {
    random: Random,
    now: Instant,
    server: Server,
    service: HttpService,
    tasks: Arc<Mutex<Vec<Task>>>,
    clients: Vec<Client>,
    exchanges: Vec<Exchange>,
    tally: HttpTally,
}

type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

struct Client {
    name: String,
    engine: ClientEngine,
    http: HttpClient,
    connected: bool,
    calls: BTreeMap<String, Open>,
}

struct Open {
    key: RequestKey,
    /// What the answer has to say; `None`: a subscription, or a list.
    says: Option<String>,
    listens: bool,
}

/// One request and its response, on their way.
struct Exchange {
    client: usize,
    key: ExchangeKey,
    stage: Stage,
    /// Of the body, and not delivered yet.
    waiting: VecDeque<u8>,
    ended: bool,
    resumes: bool,
}

enum Stage {
    Called(<HttpService as tower_service::Service<Request<Whole>>>::Future),
    Answered(Pin<Box<HttpBody>>),
}

struct Whole(Bytes);

impl Body for Whole {
    type Data = Bytes;
    type Error = core::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let all = std::mem::take(&mut self.0);
        Poll::Ready((!all.is_empty()).then(|| Ok(Frame::data(all))))
    }
}

impl World {
    fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let server = Server::builder("pair", "1")
            .tool("who", "Says who calls", who)
            .list_changes()
            .subscriptions()
            .build()
            .expect("a server");
        let tasks = Arc::<Mutex<Vec<Task>>>::default();
        let spawned = tasks.clone();
        let spawner = Spawner::new(move |task| spawned.lock().expect("no panic").push(task));
        let service = server.http().spawner(spawner).service();
        let clients = 2 + random.below(3);
        let clients = (0..clients)
            .map(|at| Client::new(at, &mut random))
            .collect();
        let mut world = Self {
            random,
            now: Instant::from_micros(1_000_000),
            server,
            service,
            tasks,
            clients,
            exchanges: Vec::new(),
            tally: HttpTally::default(),
        };
        for at in 0..world.clients.len() {
            let mut out = Vec::new();
            let client = &mut world.clients[at];
            let begun = client.engine.connect(world.now, &mut Lines::new(&mut out));
            begun.expect("a Vec has room");
            world.say(at, &out);
        }
        world
    }

    fn step(&mut self) {
        let at = self.random.below(self.clients.len() as u64) as usize;
        match self.random.below(100) {
            0..=19 => self.call(at),
            20..=22 => self.cancel(at),
            23 => self.change(),
            24 => self.lose(),
            25..=29 => self.pass(),
            30..=34 => self.tasks(),
            35..=64 => self.serve(),
            _ => self.deliver(),
        }
    }

    fn call(&mut self, at: usize) {
        let listens = self.random.percent(8);
        let nonce = self.random.next() >> 12;
        let (turns, steps) = (self.random.below(8), self.random.below(4));
        let client = &mut self.clients[at];
        if !client.connected {
            return;
        }
        let (method, params) = if listens {
            let filter = r#"{"notifications":{"toolsListChanged":true}}"#;
            ("subscriptions/listen", filter.to_owned())
        } else {
            let arguments = format!(r#"{{"nonce":{nonce},"turns":{turns},"steps":{steps}}}"#);
            let params = format!(r#"{{"name":"who","arguments":{arguments}}}"#);
            ("tools/call", params)
        };
        let json = RawJson::parse(params.as_bytes()).expect("JSON");
        let mut options = CallOptions::default();
        options.progress = steps > 0;
        let mut out = Vec::new();
        let lines = &mut Lines::new(&mut out);
        // Not in this version: nothing is sent then.
        let Ok(key) = client.engine.call(self.now, method, &json, &options, lines) else {
            return;
        };
        self.tally.calls += 1;
        let says = (!listens).then(|| format!("{}:{nonce}", client.name));
        let open = Open { key, says, listens };
        let before = client.calls.insert(format!("{key:?}"), open);
        assert!(before.is_none(), "a key is of one call");
        self.say(at, &out);
    }

    fn cancel(&mut self, at: usize) {
        let keys: Vec<RequestKey> = self.clients[at].calls.values().map(|it| it.key).collect();
        if let Some(key) = self.random.pick(&keys) {
            self.cancel_one(at, key);
        }
    }

    fn cancel_one(&mut self, at: usize, key: RequestKey) {
        let client = &mut self.clients[at];
        client.end(key);
        self.tally.cancelled += 1;
        let mut out = Vec::new();
        let lines = &mut Lines::new(&mut out);
        let cancelled = client.engine.cancel(key, None, lines);
        cancelled.expect("an open call can be cancelled");
        self.say(at, &out);
    }

    /// The server has another list of tools.
    fn change(&self) {
        let tool = Tool::new("more", "", || async { "more" });
        if self.server.add_tool(tool).is_err() {
            let removed = self.server.remove_tool("more");
            assert_eq!(removed, Ok(true));
        }
    }

    /// A connection is lost, with all that was on the way in it.
    fn lose(&mut self) {
        if self.exchanges.is_empty() {
            return;
        }
        let at = self.random.below(self.exchanges.len() as u64) as usize;
        let Exchange { client, key, .. } = self.exchanges.swap_remove(at);
        self.tally.lost += 1;
        let http = &mut self.clients[client].http;
        http.failed(self.now, key, false, "lost".to_owned());
        self.turn(client);
    }

    /// Time passes: a little, or until something is due.
    fn pass(&mut self) {
        let little = Duration::from_micros(1 + self.random.below(100_000));
        let due = self
            .clients
            .iter()
            .filter_map(|client| client.http.poll_timeout());
        let due = due.min().filter(|_| self.random.percent(50));
        self.now = due.map_or(self.now + little, |due| due.max(self.now));
        self.timeouts();
    }

    fn timeouts(&mut self) {
        for at in 0..self.clients.len() {
            let client = &mut self.clients[at];
            client.http.handle_timeout(self.now);
            let mut out = Vec::new();
            let lines = &mut Lines::new(&mut out);
            let handled = client.engine.handle_timeout(self.now, lines);
            handled.expect("a Vec has room");
            while let Some(event) = client.engine.poll_event() {
                assert!(!matches!(event, Event::TimedOut { .. }), "a call hangs");
            }
            self.say(at, &out);
        }
    }

    fn tasks_left(&self) -> usize {
        self.tasks.lock().expect("no panic").len()
    }

    /// One of the server's own tasks has its turn.
    fn tasks(&mut self) {
        let mut tasks = std::mem::take(&mut *self.tasks.lock().expect("no panic"));
        if !tasks.is_empty() {
            let at = self.random.below(tasks.len() as u64) as usize;
            if poll(&mut tasks[at]).is_ready() {
                drop(tasks.swap_remove(at));
            }
        }
        self.tasks.lock().expect("no panic").append(&mut tasks);
    }

    /// The server goes on with one of the exchanges.
    fn serve(&mut self) {
        if !self.exchanges.is_empty() {
            let at = self.random.below(self.exchanges.len() as u64) as usize;
            self.serve_one(at);
        }
    }

    fn serve_one(&mut self, at: usize) {
        let exchange = &mut self.exchanges[at];
        match &mut exchange.stage {
            Stage::Called(response) => {
                let Poll::Ready(response) = poll(response) else {
                    return;
                };
                let (head, body) = response.unwrap_or_else(|never| match never {}).into_parts();
                exchange.stage = Stage::Answered(Box::pin(body));
                let (client, key) = (exchange.client, exchange.key);
                self.tally.resumed += u64::from(exchange.resumes && head.status.is_success());
                self.head(client, key, &Response::from_parts(head, ()));
            }
            Stage::Answered(body) if !exchange.ended => {
                let mut cx = Context::from_waker(Waker::noop());
                match body.as_mut().poll_frame(&mut cx) {
                    Poll::Pending => {}
                    Poll::Ready(None) => exchange.ended = true,
                    Poll::Ready(Some(frame)) => {
                        let data = frame.unwrap_or_else(|never| match never {}).into_data();
                        exchange.waiting.extend(data.unwrap_or_default());
                    }
                }
            }
            Stage::Answered(_) => {}
        }
    }

    fn head(&mut self, at: usize, key: ExchangeKey, head: &Response<()>) {
        let fields: Vec<_> = (head.headers().iter())
            .map(|(name, value)| (name.as_str(), value.as_bytes()))
            .collect();
        let head = ResponseHead::new(head.status().as_u16(), &fields);
        self.clients[at].http.head(self.now, key, &head);
        self.turn(at);
    }

    /// A part of what is on the way in one of the exchanges arrives.
    fn deliver(&mut self) {
        if !self.exchanges.is_empty() {
            let at = self.random.below(self.exchanges.len() as u64) as usize;
            let most = match self.random.below(3) {
                0 => 1 + self.random.below(20) as usize,
                _ => usize::MAX,
            };
            self.deliver_one(at, most);
        }
    }

    fn deliver_one(&mut self, at: usize, most: usize) {
        let exchange = &mut self.exchanges[at];
        let (client, key) = (exchange.client, exchange.key);
        if exchange.waiting.is_empty() {
            if exchange.ended {
                self.exchanges.swap_remove(at);
                self.clients[client].http.end(self.now, key);
                self.turn(client);
            }
            return;
        }
        let count = most.min(exchange.waiting.len());
        let bytes: Vec<u8> = exchange.waiting.drain(..count).collect();
        self.clients[client].http.data(self.now, key, &bytes);
        self.turn(client);
    }

    fn say(&mut self, at: usize, lines: &[u8]) {
        for line in lines.split(|byte| *byte == b'\n') {
            if !line.is_empty() {
                self.clients[at].http.send(self.now, line);
            }
        }
        self.turn(at);
    }

    /// Does what a client wants done.
    fn turn(&mut self, at: usize) {
        while let Some(action) = self.clients[at].http.poll_action() {
            let mut out = Vec::new();
            match action {
                Action::Open(request) => self.open(at, request),
                Action::Close(key) => {
                    let of = |it: &Exchange| it.client == at && it.key == key;
                    self.exchanges.retain(|exchange| !of(exchange));
                }
                Action::Message {
                    message, answers, ..
                } => {
                    let client = &mut self.clients[at];
                    let lines = &mut Lines::new(&mut out);
                    let incoming = match answers {
                        Some(id) => client.engine.receive_answer(self.now, id, &message, lines),
                        None => client.engine.receive(self.now, &message, lines),
                    };
                    client.take(incoming, &mut self.tally);
                }
                Action::Unanswered { id, why, .. } => {
                    let client = &mut self.clients[at];
                    let lines = &mut Lines::new(&mut out);
                    let incoming = client.engine.unanswered(self.now, id, why, lines);
                    client.take(incoming, &mut self.tally);
                }
                Action::Renewed => {}
                Action::Lost(_) => {
                    let client = &mut self.clients[at];
                    client.engine.lost();
                    client.connected = false;
                    while let Some(event) = client.engine.poll_event() {
                        if let Event::Closed(key) = event {
                            client.end(key);
                            self.tally.unanswered += 1;
                        }
                    }
                }
                other => panic!("not expected of our server: {other:?}"),
            }
            for line in out.split(|byte| *byte == b'\n') {
                if !line.is_empty() {
                    self.clients[at].http.send(self.now, line);
                }
            }
        }
    }

    fn open(&mut self, client: usize, request: HttpRequest) {
        let verb = match request.verb {
            Verb::Post => "POST",
            Verb::Get => "GET",
            Verb::Delete => "DELETE",
            other => panic!("no verb of ours: {other:?}"),
        };
        let mut sent = Request::builder().method(verb).uri("/mcp");
        sent = sent.header("host", "127.0.0.1:8000");
        let mut resumes = false;
        for (name, value) in &request.fields {
            resumes |= name == "last-event-id";
            sent = sent.header(&**name, value);
        }
        let body = Whole(request.body.into());
        let mut sent = sent.body(body).expect("a request");
        let principal = Principal::new(self.clients[client].name.as_str());
        sent.extensions_mut().insert(principal);
        self.exchanges.push(Exchange {
            client,
            key: request.key,
            stage: Stage::Called(self.service.call(sent)),
            waiting: VecDeque::new(),
            ended: false,
            resumes,
        });
    }

    /// Nothing new is begun, nothing is lost, and all that was begun ends.
    fn settle(&mut self) {
        for round in 0..200 {
            for at in 0..self.clients.len() {
                let listening: Vec<RequestKey> = (self.clients[at].calls.values())
                    .filter(|open| open.listens)
                    .map(|open| open.key)
                    .collect();
                for key in listening {
                    self.cancel_one(at, key);
                }
            }
            for _ in 0..20 {
                for _ in 0..self.tasks_left() {
                    self.tasks();
                }
                for at in (0..self.exchanges.len()).rev() {
                    if at < self.exchanges.len() {
                        self.serve_one(at);
                    }
                    if at < self.exchanges.len() {
                        self.deliver_one(at, usize::MAX);
                    }
                }
            }
            let open = self.clients.iter().any(|client| !client.calls.is_empty());
            if !open && round > 2 {
                break;
            }
            self.now = self.now + Duration::from_millis(200);
            self.timeouts();
        }
        for at in 0..self.clients.len() {
            let client = &self.clients[at];
            let calls = client.calls.len();
            assert_eq!(calls, 0, "{} of {} hang", calls, client.name);
            // Whoever is connecting still has something pending.
            if client.connected {
                assert_eq!(client.engine.pending(), 0, "the table of {}", client.name);
            }
            if let Some(goodbye) = self.clients[at].http.leave() {
                self.open(at, goodbye);
            }
        }
        // Sessions end with their clients, and their tasks with them.
        for _ in 0..20 {
            for at in (0..self.exchanges.len()).rev() {
                self.serve_one(at);
            }
            for _ in 0..self.tasks_left() {
                self.tasks();
            }
        }
        let HttpTally {
            calls,
            completed,
            unanswered,
            cancelled,
            ended,
            ..
        } = self.tally;
        assert_eq!(calls, completed + unanswered + cancelled + ended);
    }
}

impl Client {
    fn new(at: u64, random: &mut Random) -> Self {
        let mut config = ClientConfig::new(Implementation::new("pair", "1"));
        config.mode = match random.below(6) {
            0 => EraMode::Legacy(ProtocolVersion::V2025_03_26),
            1 => EraMode::Legacy(ProtocolVersion::V2025_06_18),
            2 => EraMode::Legacy(ProtocolVersion::V2025_11_25),
            3 => EraMode::Modern(ProtocolVersion::V2026_07_28),
            _ => EraMode::Auto,
        };
        // Longer than anything a world takes: a call that runs out of time is one that hangs.
        config.connect_timeout = Duration::from_secs(100_000);
        config.probe_timeout = Duration::from_secs(100_000);
        let http = HttpClient::new("http://127.0.0.1:8000/mcp", Limits::DEFAULT);
        Self {
            name: format!("principal-{at}"),
            engine: ClientEngine::new(config, Limits::DEFAULT, random.next()),
            http: http.expect("a URL"),
            connected: false,
            calls: BTreeMap::new(),
        }
    }

    /// The call has ended; it was one of those that had not.
    fn end(&mut self, key: RequestKey) -> Open {
        let ended = self.calls.remove(&format!("{key:?}"));
        ended.expect("a call ends once")
    }

    fn take(&mut self, incoming: Incoming<'_>, tally: &mut HttpTally) {
        match incoming {
            Incoming::Connected => self.connected = true,
            // Its exchange was lost.
            Incoming::ConnectFailed(_) => self.connected = false,
            Incoming::Answer { key, outcome, .. } => {
                let open = self.end(key);
                match outcome {
                    Outcome::Complete(result) => match open.says {
                        Some(says) => {
                            let text = format!(r#""text":"{says}""#);
                            assert!(
                                result.as_str().contains(&text),
                                "{} got another's: {}, not {text}",
                                self.name,
                                result.as_str()
                            );
                            tally.completed += 1;
                        }
                        None => tally.ended += 1,
                    },
                    Outcome::Ended => tally.ended += 1,
                    Outcome::Unanswered if open.listens => tally.ended += 1,
                    Outcome::Unanswered => tally.unanswered += 1,
                    // Of a session that was begun anew, or of a call that was lost before.
                    other => panic!("our server answered wrongly: {other:?}"),
                }
            }
            Incoming::Progress { key, .. } => {
                tally.notified += 1;
                assert!(
                    self.calls.contains_key(&format!("{key:?}")),
                    "progress is of a call that has not ended"
                );
            }
            Incoming::Notification(notification) => {
                tally.notified += 1;
                if let Some(key) = notification.subscription {
                    assert!(
                        self.calls.contains_key(&format!("{key:?}")),
                        "a subscription that tells something has not ended"
                    );
                }
            }
            Incoming::Handled | Incoming::Late => {}
            other => panic!("not expected: {other:?}"),
        }
    }
}

fn poll<F: Future + ?Sized>(future: &mut Pin<Box<F>>) -> Poll<F::Output> {
    let mut cx = Context::from_waker(Waker::noop());
    future.as_mut().poll(&mut cx)
}
