//! A server by hand: each connection is a thread, each request is answered by the test.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// What was asked.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    /// `POST`, `GET` or `DELETE`.
    pub(crate) verb: String,
    pub(crate) target: String,
    fields: Vec<(String, String)>,
    /// Null if there is none.
    pub(crate) body: Value,
    pub(crate) at: Instant,
}

impl Asked {
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        let found = self.fields.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| &**value)
    }

    pub(crate) fn method(&self) -> &str {
        self.body["method"].as_str().unwrap_or_default()
    }

    pub(crate) fn result(&self, result: &Value) -> Value {
        json!({"jsonrpc": "2.0", "id": self.body["id"], "result": result})
    }

    pub(crate) fn error(&self, code: i64, data: &Value) -> Value {
        json!({"jsonrpc": "2.0", "id": self.body["id"],
               "error": {"code": code, "message": "no", "data": data}})
    }
}

/// Where the test answers.
pub(crate) struct Answer<'w>(&'w mut dyn Write);

impl Answer<'_> {
    pub(crate) fn raw(&mut self, bytes: &str) {
        // Whoever has gone does not hear it.
        let _ = self.0.write_all(bytes.as_bytes());
        let _ = self.0.flush();
    }

    pub(crate) fn status(&mut self, status: u16, fields: &str, body: &str) {
        let length = body.len();
        self.raw(&format!(
            "HTTP/1.1 {status} X\r\n{fields}Content-Length: {length}\r\n\r\n{body}"
        ));
    }

    pub(crate) fn json(&mut self, status: u16, fields: &str, body: &Value) {
        let fields = format!("Content-Type: application/json\r\n{fields}");
        self.status(status, &fields, &body.to_string());
    }

    /// Begins a stream.
    pub(crate) fn stream(&mut self) {
        self.raw("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n");
    }

    pub(crate) fn chunk(&mut self, text: &str) {
        self.raw(&format!("{:x}\r\n{text}\r\n", text.len()));
    }

    pub(crate) fn event(&mut self, data: &Value) {
        self.chunk(&format!("data: {data}\n\n"));
    }

    pub(crate) fn end(&mut self) {
        self.raw("0\r\n\r\n");
    }
}

/// Whether the connection goes on.
pub(crate) type Goes = bool;

pub(crate) struct Peer {
    port: u16,
    seen: Arc<(Mutex<Vec<Asked>>, Condvar)>,
}

impl Peer {
    pub(crate) fn new(
        answer: impl Fn(&Asked, &mut Answer<'_>) -> Goes + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let seen = Arc::new((Mutex::new(Vec::new()), Condvar::new()));
        let (log, answer) = (seen.clone(), Arc::new(answer));
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (log, answer) = (log.clone(), answer.clone());
                let mut writing = stream.expect("a connection");
                thread::spawn(move || {
                    let mut reading = BufReader::new(writing.try_clone().expect("a clone"));
                    while let Some(asked) = read(&mut reading) {
                        log.0.lock().expect("no panic").push(asked.clone());
                        log.1.notify_all();
                        if !answer(&asked, &mut Answer(&mut writing)) {
                            return;
                        }
                    }
                });
            }
        });
        Self { port, seen }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/mcp?tenant=a", self.port)
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.seen.0.lock().expect("no panic").clone()
    }

    /// What was asked, in short.
    pub(crate) fn methods(&self) -> Vec<String> {
        let short = |asked: &Asked| match &*asked.verb {
            "POST" if asked.body.get("method").is_some() => asked.method().to_owned(),
            "POST" => "answer".to_owned(),
            verb => verb.to_owned(),
        };
        self.asked().iter().map(short).collect()
    }

    /// The first request of this kind, as soon as it is there.
    pub(crate) fn wait(&self, wanted: impl Fn(&Asked) -> bool) -> Asked {
        let mut seen = self.seen.0.lock().expect("no panic");
        loop {
            if let Some(found) = seen.iter().find(|asked| wanted(asked)) {
                return found.clone();
            }
            let (next, late) = self
                .seen
                .1
                .wait_timeout(seen, Duration::from_secs(10))
                .expect("no panic");
            assert!(!late.timed_out(), "it never came");
            seen = next;
        }
    }
}

fn read(reading: &mut impl BufRead) -> Option<Asked> {
    let mut line = String::new();
    reading.read_line(&mut line).ok().filter(|&read| read > 0)?;
    let mut words = line.split(' ');
    let (verb, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut fields = Vec::new();
    loop {
        let mut field = String::new();
        reading.read_line(&mut field).ok()?;
        let Some((name, value)) = field.trim_end().split_once(':') else {
            break;
        };
        fields.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = fields
        .iter()
        .find(|(name, _)| name == "content-length")
        .map_or(0, |(_, value)| value.parse().expect("a length"));
    let mut body = vec![0; length];
    reading.read_exact(&mut body).ok()?;
    Some(Asked {
        verb,
        target,
        fields,
        body: if body.is_empty() {
            Value::Null
        } else {
            serde_json::from_slice(&body).expect("JSON")
        },
        at: Instant::now(),
    })
}
