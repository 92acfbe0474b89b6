//! A server on a port of its own, and a client of HTTP/1.1 that writes whatever bytes it is told to. No wait is longer than
//! [`PATIENCE`].

use std::collections::VecDeque;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use mcp_std::Server;
use mcp_std::http::{Http, Listener, Options};
use serde_json::{Value, json};

pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// A server that is being served. Dropping it shuts it down and waits for the end.
pub(crate) struct Site {
    pub(crate) address: SocketAddr,
    shutdown: async_channel::Sender<()>,
    thread: Option<JoinHandle<()>>,
}

impl Site {
    pub(crate) fn new(server: &Server) -> Self {
        Self::with(server, |http| http)
    }

    pub(crate) fn with(server: &Server, choose: impl FnOnce(Http) -> Http) -> Self {
        let mut options = Options::default();
        options.grace = Duration::from_secs(3);
        let http = choose(server.http().options(options));
        let listener = Listener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("of TCP");
        let (shutdown, told) = async_channel::bounded::<()>(1);
        let thread = std::thread::spawn(move || {
            let shutdown = async move {
                // Closed is as good as told.
                let _ = told.recv().await;
            };
            async_io::block_on(http.serve_on(listener, shutdown)).expect("threads start");
        });
        Self {
            address,
            shutdown,
            thread: Some(thread),
        }
    }

    pub(crate) fn connect(&self) -> Client {
        Client::to(self.address)
    }

    /// One request on a connection of its own.
    pub(crate) fn ask(&self, request: &Request) -> Response {
        let mut client = self.connect();
        client.send(request);
        client.response()
    }

    /// Begins the shutdown and does not wait.
    pub(crate) fn shut_down(&self) {
        self.shutdown.close();
    }

    /// Waits for the end of the shutdown.
    pub(crate) fn end(mut self) {
        self.finish();
    }

    fn finish(&mut self) {
        self.shut_down();
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
            && !std::thread::panicking()
        {
            panic!("the server panicked");
        }
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.finish();
    }
}

/// A request about to be written.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) target: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Request {
    pub(crate) fn new(method: &str) -> Self {
        Self {
            method: method.to_owned(),
            target: "/mcp".to_owned(),
            headers: Vec::new(),
            body: Vec::new(),
        }
        .with("host", "localhost")
    }

    /// A POST that takes both kinds of answer.
    pub(crate) fn post(body: impl ToString) -> Self {
        let mut request = Self::new("POST")
            .with("content-type", "application/json")
            .with("accept", "application/json, text/event-stream");
        request.body = body.to_string().into_bytes();
        request
    }

    /// A request of the modern era, with all headers that belong to it.
    pub(crate) fn modern(id: impl Into<Value>, method: &str, params: &Value) -> Self {
        Self::able(id, method, params, &json!({}))
    }

    /// The same of a client with these capabilities.
    pub(crate) fn able(
        id: impl Into<Value>,
        method: &str,
        params: &Value,
        capabilities: &Value,
    ) -> Self {
        let mut params = params.clone();
        params["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2026-07-28".into();
        params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = capabilities.clone();
        let name = params["name"].as_str().or(params["uri"].as_str());
        let name = name.map(str::to_owned);
        let request = Self::post(request(id, method, &params))
            .with("mcp-protocol-version", "2026-07-28")
            .with("mcp-method", method);
        match name {
            Some(name) => request.with("mcp-name", &name),
            None => request,
        }
    }

    /// A stream of the session.
    pub(crate) fn get() -> Self {
        Self::new("GET").with("accept", "text/event-stream")
    }

    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Without the headers of this name.
    pub(crate) fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(other, _)| other != name);
        self
    }

    /// With this value, and no other.
    pub(crate) fn set(self, name: &str, value: &str) -> Self {
        self.without(name).with(name, value)
    }

    pub(crate) fn at(mut self, target: &str) -> Self {
        target.clone_into(&mut self.target);
        self
    }

    /// With this body, whatever the headers say.
    pub(crate) fn saying(mut self, body: impl ToString) -> Self {
        self.body = body.to_string().into_bytes();
        self
    }

    pub(crate) fn head(&self) -> String {
        let mut head = format!("{} {} HTTP/1.1\r\n", self.method, self.target);
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.head().into_bytes();
        if self.method == "POST" || !self.body.is_empty() {
            bytes.extend_from_slice(format!("content-length: {}\r\n", self.body.len()).as_bytes());
        }
        bytes.extend_from_slice(b"\r\n");
        bytes.extend_from_slice(&self.body);
        bytes
    }
}

pub(crate) fn request(id: impl Into<Value>, method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": method, "params": params })
}

pub(crate) fn notification(method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": method, "params": params })
}

/// One connection.
pub(crate) struct Client {
    pub(crate) stream: TcpStream,
    /// Read and not looked at.
    buffer: Vec<u8>,
}

/// The head of a response, and what of its body was read.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    /// As it came, without the line that says what time it is.
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
    framing: Framing,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Framing {
    Length(usize),
    Chunked,
}

/// One event of a stream.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Event {
    pub(crate) id: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) retry: Option<u64>,
    pub(crate) data: Option<String>,
    /// It is a comment, or has one.
    pub(crate) comment: bool,
}

impl Event {
    pub(crate) fn message(&self) -> Value {
        let data = self.data.as_deref().expect("an event with data");
        serde_json::from_str(data).expect("JSON")
    }
}

impl Client {
    pub(crate) fn to(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).expect("the server listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("not zero");
        stream.set_write_timeout(Some(PATIENCE)).expect("not zero");
        stream.set_nodelay(true).expect("of TCP");
        Self {
            stream,
            buffer: Vec::new(),
        }
    }

    pub(crate) fn send(&mut self, request: &Request) {
        self.write(&request.bytes());
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).expect("the server reads");
    }

    /// Sends a request and begins reading the response: its body is left.
    pub(crate) fn begin(&mut self, request: &Request) -> Response {
        self.send(request);
        self.head()
    }

    /// More bytes. `false`: there are no more.
    fn fill(&mut self) -> bool {
        let mut bytes = [0; 16 * 1024];
        match self.stream.read(&mut bytes) {
            Ok(0) => false,
            Ok(read) => {
                self.buffer.extend_from_slice(&bytes[..read]);
                true
            }
            Err(error) if error.kind() == ErrorKind::ConnectionReset => false,
            Err(error) => panic!("{error}, after {:?}", String::from_utf8_lossy(&self.buffer)),
        }
    }

    fn line(&mut self) -> Option<String> {
        loop {
            if let Some(end) = self.buffer.windows(2).position(|two| two == b"\r\n") {
                let line = self.buffer[..end].to_vec();
                self.buffer.drain(..end + 2);
                return Some(String::from_utf8(line).expect("ASCII"));
            }
            if !self.fill() {
                return None;
            }
        }
    }

    fn exactly(&mut self, length: usize) -> Option<Vec<u8>> {
        while self.buffer.len() < length {
            if !self.fill() {
                return None;
            }
        }
        Some(self.buffer.drain(..length).collect())
    }

    /// The head of a response.
    pub(crate) fn head(&mut self) -> Response {
        self.try_head().expect("a response")
    }

    /// The same; `None` if the connection ends before.
    pub(crate) fn try_head(&mut self) -> Option<Response> {
        let first = self.line()?;
        let status = first.split(' ').nth(1).and_then(|it| it.parse().ok());
        let status: u16 = status.expect("a status line");
        let mut head = format!("{first}\n");
        let mut framing = Framing::Length(0);
        loop {
            let line = self.line()?;
            if line.is_empty() {
                break;
            }
            if line.starts_with("date: ") {
                continue;
            }
            if let Some(length) = line.strip_prefix("content-length: ") {
                framing = Framing::Length(length.parse().expect("a number"));
            } else if line == "transfer-encoding: chunked" {
                framing = Framing::Chunked;
            }
            head.push_str(&line);
            head.push('\n');
        }
        let body = Vec::new();
        Some(Response {
            status,
            head,
            body,
            framing,
        })
    }

    /// A response with all of its body.
    pub(crate) fn response(&mut self) -> Response {
        let mut response = self.head();
        match response.framing {
            Framing::Length(length) => {
                response.body = self.exactly(length).expect("the whole body");
            }
            Framing::Chunked => {
                while let Some(chunk) = self.chunk() {
                    response.body.extend_from_slice(&chunk);
                }
            }
        }
        response
    }

    /// The next chunk of a body. `None`: it was the last.
    pub(crate) fn chunk(&mut self) -> Option<Vec<u8>> {
        let length = self.line().expect("a chunk, not the end of the connection");
        let length = usize::from_str_radix(&length, 16).expect("a length");
        let chunk = self.exactly(length).expect("a whole chunk");
        assert_eq!(self.exactly(2).as_deref(), Some(&b"\r\n"[..]));
        (length > 0).then_some(chunk)
    }

    /// Reads on in a stream of events.
    pub(crate) fn events(self, response: &Response) -> Events {
        assert_eq!(response.status, 200, "{response:?}");
        assert!(response.is_stream(), "{response:?}");
        Events {
            client: self,
            text: Vec::new(),
            read: VecDeque::new(),
            ended: response.framing == Framing::Length(0),
        }
    }

    /// Sends a request that is answered by a stream.
    pub(crate) fn stream(mut self, request: &Request) -> Events {
        let response = self.begin(request);
        self.events(&response)
    }

    /// Whether the server ends the connection, without another word.
    pub(crate) fn is_ended(&mut self) -> bool {
        self.buffer.is_empty() && !self.fill()
    }

    /// No more is sent.
    pub(crate) fn finish(&self) {
        self.stream.shutdown(Shutdown::Write).expect("connected");
    }
}

impl Response {
    pub(crate) fn is_stream(&self) -> bool {
        self.header("content-type") == Some("text/event-stream")
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines();
        lines
            .filter_map(|line| line.split_once(": "))
            .find(|(other, _)| *other == name)
            .map(|(_, value)| value)
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("UTF-8")
    }

    /// Status line, headers but for the time, and body.
    pub(crate) fn transcript(&self) -> String {
        format!("{}\n{}", self.head, self.text())
    }

    /// The one message of the body, or the last event of it.
    pub(crate) fn message(&self) -> Value {
        let text = self.text();
        if self.is_stream() {
            let events = parse(text);
            return events.last().expect("an event").message();
        }
        serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The code of the error that is the answer.
    pub(crate) fn code(&self) -> Option<i64> {
        self.message()["error"]["code"].as_i64()
    }

    pub(crate) fn result(&self) -> Value {
        let message = self.message();
        assert!(message["result"].is_object(), "{message}");
        message["result"].clone()
    }

    pub(crate) fn events(&self) -> Vec<Event> {
        parse(self.text())
    }
}

/// The body of a response, event by event.
pub(crate) struct Events {
    pub(crate) client: Client,
    text: Vec<u8>,
    read: VecDeque<Event>,
    ended: bool,
}

impl Events {
    /// The next event or comment. `None`: the stream has ended as it should.
    pub(crate) fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.read.pop_front() {
                return Some(event);
            }
            if self.ended {
                return None;
            }
            let Some(chunk) = self.client.chunk() else {
                assert_eq!(self.text, b"", "the last event is whole");
                self.ended = true;
                return None;
            };
            self.text.extend_from_slice(&chunk);
            while let Some(end) = self.text.windows(2).position(|two| two == b"\n\n") {
                let event: Vec<u8> = self.text.drain(..end + 2).collect();
                let event = std::str::from_utf8(&event).expect("UTF-8");
                self.read.push_back(one(event));
            }
        }
    }

    /// The next event that is a message.
    pub(crate) fn next_message(&mut self) -> Option<Event> {
        loop {
            let event = self.next()?;
            if event.data.as_ref().is_some_and(|data| !data.is_empty()) {
                return Some(event);
            }
        }
    }

    pub(crate) fn message(&mut self) -> Value {
        self.next_message().expect("a message").message()
    }

    /// All that comes until the end of the stream.
    pub(crate) fn rest(mut self) -> Vec<Event> {
        std::iter::from_fn(|| self.next()).collect()
    }

    /// Whether nothing comes for so long.
    pub(crate) fn is_quiet(&self, time: Duration) -> bool {
        if !self.read.is_empty() {
            return false;
        }
        let stream = &self.client.stream;
        stream.set_read_timeout(Some(time)).expect("not zero");
        let mut byte = [0];
        let read = stream.peek(&mut byte);
        stream.set_read_timeout(Some(PATIENCE)).expect("not zero");
        read.is_err() && self.client.buffer.is_empty()
    }
}

fn parse(text: &str) -> Vec<Event> {
    text.split_terminator("\n\n").map(one).collect()
}

fn one(text: &str) -> Event {
    let mut event = Event::default();
    for line in text.lines() {
        match line.split_once(':') {
            Some(("", _)) => event.comment = true,
            Some((name, value)) => {
                let value = value.strip_prefix(' ').unwrap_or(value).to_owned();
                match name {
                    "id" => event.id = Some(value),
                    "event" => event.name = Some(value),
                    "retry" => event.retry = value.parse().ok(),
                    "data" => event.data = Some(value),
                    other => panic!("no field: {other}"),
                }
            }
            None => assert_eq!(line, "", "a field"),
        }
    }
    event
}

/// A legacy session.
pub(crate) struct Session<'s> {
    pub(crate) site: &'s Site,
    pub(crate) id: String,
    pub(crate) version: String,
}

impl<'s> Session<'s> {
    pub(crate) fn new(site: &'s Site, version: &str) -> Self {
        Self::able(site, version, &json!({}))
    }

    pub(crate) fn able(site: &'s Site, version: &str, capabilities: &Value) -> Self {
        let opened = site.ask(&initialize(version, capabilities));
        assert_eq!(opened.status, 200, "{opened:?}");
        assert_eq!(opened.result()["protocolVersion"], version);
        let id = opened.header("mcp-session-id").expect("a session");
        let session = Self {
            site,
            id: id.to_owned(),
            version: version.to_owned(),
        };
        let ready = session.post(&notification("notifications/initialized", &json!({})));
        assert_eq!(site.ask(&ready).status, 202);
        session
    }

    fn of(&self, request: Request) -> Request {
        let request = request.with("mcp-session-id", &self.id);
        match self.version.as_str() {
            // They know no such header.
            "2025-03-26" | "2024-11-05" => request,
            version => request.with("mcp-protocol-version", version),
        }
    }

    pub(crate) fn post(&self, message: &Value) -> Request {
        self.of(Request::post(message))
    }

    pub(crate) fn get(&self) -> Request {
        self.of(Request::get())
    }

    pub(crate) fn delete(&self) -> Request {
        self.of(Request::new("DELETE"))
    }

    pub(crate) fn call(&self, id: impl Into<Value>, tool: &str) -> Request {
        self.post(&request(id, "tools/call", &json!({ "name": tool })))
    }

    /// A call that wants to be told how far it has come.
    pub(crate) fn watched_call(&self, id: impl Into<Value>, tool: &str) -> Request {
        let id = id.into();
        let params = json!({ "name": tool, "_meta": { "progressToken": id } });
        self.post(&request(id, "tools/call", &params))
    }

    pub(crate) fn ask(&self, message: &Value) -> Response {
        self.site.ask(&self.post(message))
    }

    /// Sends what is not answered.
    pub(crate) fn tell(&self, message: &Value) {
        let response = self.ask(message);
        assert_eq!(response.status, 202, "{response:?}");
    }

    /// Answers a request of the server.
    pub(crate) fn answer(&self, asked: &Value, result: &Value) {
        self.tell(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": result }));
    }
}

pub(crate) fn initialize(version: &str, capabilities: &Value) -> Request {
    let params = json!({
        "protocolVersion": version,
        "capabilities": capabilities,
        "clientInfo": { "name": "test", "version": "1" },
    });
    Request::post(request("init", "initialize", &params))
}

pub(crate) fn cancel(id: impl Into<Value>) -> Value {
    notification(
        "notifications/cancelled",
        &json!({ "requestId": id.into() }),
    )
}

/// The text of a tool's result.
pub(crate) fn said(message: &Value) -> &str {
    let text = &message["result"]["content"][0]["text"];
    text.as_str()
        .unwrap_or_else(|| panic!("no text: {message}"))
}

/// Waits until it is true.
pub(crate) fn until(what: &str, is: impl Fn() -> bool) {
    let began = Instant::now();
    while !is() {
        assert!(began.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
