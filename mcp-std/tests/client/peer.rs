//! A server by hand: it reads and writes the lines that a test says, on a thread of its own.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::thread::JoinHandle;
use std::time::Duration;

use mcp_std::client::{Client, ClientBuilder, ConnectError};
use serde_json::{Value, json};

/// The server's end of a stream.
pub(crate) struct Peer {
    lines: std::io::Lines<BufReader<UnixStream>>,
    output: UnixStream,
}

/// What only a wait can show has not happened within this time.
pub(crate) const MOMENT: Duration = Duration::from_millis(100);

impl Peer {
    /// The next message; `None` when the client has gone.
    pub(crate) fn next(&mut self) -> Option<Value> {
        let line = self.lines.next()?.ok()?;
        Some(serde_json::from_str(&line).expect("a client writes JSON"))
    }

    /// The next message, which must be of this method.
    pub(crate) fn expect(&mut self, method: &str) -> Value {
        let message = self.next().expect("the client is there");
        assert_eq!(message["method"], method, "{message}");
        message
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.send_text(&message.to_string());
    }

    pub(crate) fn send_text(&mut self, line: &str) {
        // A client that has gone is noticed when it is read from.
        let _ = self.output.write_all(format!("{line}\n").as_bytes());
    }

    pub(crate) fn answer(&mut self, request: &Value, result: &Value) {
        self.send(&json!({"jsonrpc": "2.0", "id": request["id"], "result": result}));
    }

    pub(crate) fn refuse(&mut self, request: &Value, code: i64, message: &str) {
        let error = json!({"code": code, "message": message});
        self.send(&json!({"jsonrpc": "2.0", "id": request["id"], "error": error}));
    }

    pub(crate) fn notify(&mut self, method: &str, params: &Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Answers a call that must come next.
    pub(crate) fn serve(&mut self, method: &str, result: &Value) -> Value {
        let request = self.expect(method);
        self.answer(&request, result);
        request
    }

    /// Shakes hands as a server of 2026-07-28 that has everything.
    pub(crate) fn modern(&mut self) {
        self.serve("server/discover", &discovery());
    }

    /// Shakes hands as a server of this older revision that has everything.
    pub(crate) fn legacy(&mut self, version: &str) {
        let probe = self.expect("server/discover");
        self.refuse(&probe, -32601, "Method not found");
        self.initialize(version);
    }

    /// The same, for a client that does not ask for the newest revision.
    pub(crate) fn initialize(&mut self, version: &str) {
        let result = json!({
            "protocolVersion": version,
            "capabilities": capabilities(),
            "serverInfo": {"name": "by hand", "version": "1"},
        });
        self.serve("initialize", &result);
        self.expect("notifications/initialized");
    }

    /// Nothing comes any more.
    pub(crate) fn ends(&mut self) {
        let rest = self.next();
        assert_eq!(rest, None);
    }

    /// Nothing comes for a moment.
    pub(crate) fn silence(&mut self) {
        let stream = self.output.try_clone().expect("a descriptor is free");
        stream
            .set_read_timeout(Some(MOMENT))
            .expect("it can be set");
        let next = self.lines.next();
        let error = next
            .expect("the client is there")
            .expect_err("nothing comes");
        assert!(
            matches!(
                error.kind(),
                std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut
            ),
            "{error}"
        );
        stream.set_read_timeout(None).expect("it can be set");
    }
}

pub(crate) fn capabilities() -> Value {
    json!({
        "tools": {"listChanged": true},
        "prompts": {"listChanged": true},
        "resources": {"listChanged": true, "subscribe": true},
        "completions": {},
        "logging": {},
    })
}

pub(crate) fn discovery() -> Value {
    json!({
        "resultType": "complete",
        "supportedVersions": ["2026-07-28"],
        "capabilities": capabilities(),
        "ttlMs": 0,
        "cacheScope": "private",
        "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "by hand", "version": "1"}},
    })
}

/// A result of 2026-07-28.
pub(crate) fn complete(mut members: Value) -> Value {
    members["resultType"] = "complete".into();
    members
}

/// What is still to be seen of a peer that was started.
#[must_use = "a script that fails is noticed by `done`"]
pub(crate) struct Script(Option<JoinHandle<()>>);

impl Script {
    /// Waits for its end.
    pub(crate) fn done(mut self) {
        let script = self.0.take().expect("it is there until here");
        if let Err(panic) = script.join() {
            std::panic::resume_unwind(panic);
        }
    }
}

/// Starts a server that does what `script` says.
pub(crate) fn start(script: impl FnOnce(&mut Peer) + Send + 'static) -> (UnixStream, Script) {
    let (ours, theirs) = UnixStream::pair().expect("descriptors are free");
    let script = std::thread::spawn(move || {
        let output = theirs.try_clone().expect("a descriptor is free");
        let lines = BufReader::new(theirs).lines();
        script(&mut Peer { lines, output });
    });
    (ours, Script(Some(script)))
}

pub(crate) fn builder() -> ClientBuilder {
    Client::builder("tests", "1")
}

/// Connects to such a server.
pub(crate) async fn connect(
    builder: ClientBuilder,
    script: impl FnOnce(&mut Peer) + Send + 'static,
) -> (Result<Client, ConnectError>, Script) {
    let (stream, script) = start(script);
    let stream = smol::Async::new(stream).expect("it can be polled");
    let stream = smol::net::unix::UnixStream::from(stream);
    (builder.connect(stream.clone(), stream).await, script)
}

/// Runs a test with a client that such a server has shaken hands with.
pub(crate) fn with<T>(
    builder: ClientBuilder,
    script: impl FnOnce(&mut Peer) + Send + 'static,
    test: impl AsyncFnOnce(&Client) -> T,
) -> T {
    smol::block_on(async {
        let (client, script) = connect(builder, script).await;
        let client = client.expect("it connects");
        let result = test(&client).await;
        drop(client);
        script.done();
        result
    })
}
