//! A site by hand: each connection is a thread, each request is answered by a function.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::Value;

#[derive(Clone, Debug, Default)]
pub(crate) struct Asked {
    pub(crate) verb: String,
    /// Without the query.
    pub(crate) path: String,
    pub(crate) query: String,
    pub(crate) fields: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Asked {
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        let found = self.fields.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| &**value)
    }

    /// A parameter of the query, or of the form in the body.
    pub(crate) fn parameter(&self, name: &str) -> Option<String> {
        let pairs = self.query.split('&').chain(self.body.split('&'));
        let mut pairs = pairs.filter_map(|pair| pair.split_once('='));
        let (_, value) = pairs.find(|(known, _)| *known == name)?;
        Some(unescape(value))
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }
}

fn unescape(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(if byte == b'%' {
            let digits = [rest.next(), rest.next()].map(|digit| digit.expect("a digit"));
            let digits = core::str::from_utf8(&digits).expect("digits").to_owned();
            u8::from_str_radix(&digits, 16).expect("a number")
        } else {
            byte
        });
    }
    String::from_utf8(bytes).expect("text")
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) fields: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    /// The body is said to be longer than it is, and nothing follows.
    pub(crate) hangs: bool,
}

impl Answer {
    pub(crate) fn status(status: u16) -> Self {
        Self {
            status,
            ..Self::default()
        }
    }

    pub(crate) fn json(value: &Value) -> Self {
        Self::status(200)
            .field("content-type", "application/json")
            .body(value.to_string())
    }

    pub(crate) fn field(mut self, name: &str, value: &str) -> Self {
        self.fields.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }
}

type Handler = dyn Fn(&Asked) -> Answer + Send + Sync;

#[derive(Clone)]
pub(crate) struct Site {
    pub(crate) port: u16,
    seen: Arc<Mutex<Vec<Asked>>>,
    replaced: Arc<Mutex<HashMap<String, Arc<Handler>>>>,
}

impl Site {
    pub(crate) fn new(answer: impl Fn(&Asked, u16) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let site = Self {
            port,
            seen: Arc::default(),
            replaced: Arc::default(),
        };
        let (this, answer) = (site.clone(), Arc::new(answer));
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (this, answer) = (this.clone(), answer.clone());
                let stream = stream.expect("a connection");
                thread::spawn(move || this.serve(stream, &*answer));
            }
        });
        site
    }

    fn serve(&self, mut writing: TcpStream, answer: &(dyn Fn(&Asked, u16) -> Answer + Sync)) {
        let mut reading = BufReader::new(writing.try_clone().expect("a clone"));
        while let Some(asked) = read(&mut reading) {
            self.seen.lock().expect("no panic").push(asked.clone());
            let replaced = self.replaced.lock().expect("no panic");
            let replaced = replaced.get(&asked.path).cloned();
            let answer = match replaced {
                Some(answer) => answer(&asked),
                None => answer(&asked, self.port),
            };
            let more = if answer.hangs { 100 } else { 0 };
            let mut head = format!("HTTP/1.1 {} X\r\n", answer.status);
            for (name, value) in &answer.fields {
                head.push_str(&format!("{name}: {value}\r\n"));
            }
            head.push_str(&format!(
                "content-length: {}\r\n\r\n",
                answer.body.len() + more
            ));
            // Whoever has gone does not hear it.
            let _ = writing.write_all(head.as_bytes());
            let _ = writing.write_all(&answer.body);
            if answer.hangs {
                thread::sleep(Duration::from_secs(60));
            }
        }
    }

    /// Answers otherwise at this path from now on.
    pub(crate) fn replace(
        &self,
        path: &str,
        answer: impl Fn(&Asked) -> Answer + Send + Sync + 'static,
    ) {
        let mut replaced = self.replaced.lock().expect("no panic");
        replaced.insert(path.to_owned(), Arc::new(answer));
    }

    pub(crate) fn origin(&self) -> String {
        format!("http://localhost:{}", self.port)
    }

    /// What was asked at this path.
    pub(crate) fn asked(&self, path: &str) -> Vec<Asked> {
        let seen = self.seen.lock().expect("no panic");
        seen.iter()
            .filter(|asked| asked.path == path)
            .cloned()
            .collect()
    }

    pub(crate) fn all(&self) -> Vec<Asked> {
        self.seen.lock().expect("no panic").clone()
    }
}

fn read(reading: &mut impl BufRead) -> Option<Asked> {
    let mut line = String::new();
    reading.read_line(&mut line).ok().filter(|&read| read > 0)?;
    let mut words = line.split(' ');
    let (verb, target) = (words.next()?.to_owned(), words.next()?);
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
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
        path: path.to_owned(),
        query: query.to_owned(),
        fields,
        body: String::from_utf8(body).ok()?,
    })
}

/// Gets a page, as a browser does that is not told to follow redirects. Status, fields and body, all of it.
pub(crate) fn get(url: &str, host: Option<&str>) -> String {
    let (authority, path) = url
        .strip_prefix("http://")
        .expect("http")
        .split_once('/')
        .expect("a path");
    let mut stream = TcpStream::connect(authority).expect("somebody is there");
    let host = host.unwrap_or(authority);
    let head = format!("GET /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).expect("written");
    let timeout = Some(Duration::from_secs(10));
    stream.set_read_timeout(timeout).expect("a timeout");
    let mut text = Vec::new();
    let mut chunk = [0; 4096];
    // Until the body is there: the sites here keep their connections.
    while !is_whole(&text) {
        match stream.read(&mut chunk).expect("an answer") {
            0 => break,
            read => text.extend_from_slice(&chunk[..read]),
        }
    }
    String::from_utf8(text).expect("text")
}

fn is_whole(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text);
    let Some((head, body)) = text.split_once("\r\n\r\n") else {
        return false;
    };
    let length = field(head, "content-length").and_then(|length| length.parse().ok());
    length.is_some_and(|length: usize| body.len() >= length)
}

pub(crate) fn field(answer: &str, name: &str) -> Option<String> {
    answer.lines().find_map(|line| {
        let (known, value) = line.split_once(':')?;
        known
            .eq_ignore_ascii_case(name)
            .then(|| value.trim().to_owned())
    })
}
