//! A provider of models on this machine: it answers from a list, and keeps what it was asked.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::Value;

/// What is answered to one request.
pub(crate) enum Canned {
    /// Events, each sent alone.
    Events(Vec<String>),
    /// A status and a body.
    Error(u16, String),
    /// Nothing, until whoever asks has gone.
    Silence,
}

impl Canned {
    /// In the form of OpenAI.
    pub(crate) fn openai(chunks: &[Value]) -> Self {
        let events = chunks.iter().map(|chunk| format!("data: {chunk}\n\n"));
        Self::Events(events.chain(["data: [DONE]\n\n".to_owned()]).collect())
    }

    /// In the form of Anthropic.
    pub(crate) fn anthropic(events: &[Value]) -> Self {
        let event = |event: &Value| {
            let kind = event["type"].as_str().expect("a type");
            format!("event: {kind}\ndata: {event}\n\n")
        };
        Self::Events(events.iter().map(event).collect())
    }
}

/// A request that came.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) target: String,
    /// In lower case.
    pub(crate) head: String,
    pub(crate) body: Value,
}

pub(crate) struct Provider {
    pub(crate) url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Provider {
    /// Answers with these, in this order, then with 400.
    pub(crate) fn new(answers: Vec<Canned>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let asked = Arc::new(Mutex::new(Vec::new()));
        let kept = asked.clone();
        thread::spawn(move || {
            let mut answers = answers.into_iter();
            for stream in listener.incoming().flatten() {
                // Whoever asked may have gone.
                let _ = answer(stream, &kept, &mut answers);
            }
        });
        Self { url, asked }
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().expect("not poisoned").clone()
    }
}

/// One request of a connection, which is closed then.
fn answer(
    mut stream: TcpStream,
    asked: &Mutex<Vec<Asked>>,
    answers: &mut impl Iterator<Item = Canned>,
) -> std::io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(20)))?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut head = String::new();
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 || line == "\r\n" {
            break;
        }
        let line = line.to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().expect("a length");
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let target = head.split(' ').nth(1).unwrap_or_default().to_owned();
    let body = serde_json::from_slice(&body).unwrap_or_default();
    asked
        .lock()
        .expect("not poisoned")
        .push(Asked { target, head, body });
    match answers
        .next()
        .unwrap_or_else(|| Canned::Error(400, "{}".to_owned()))
    {
        Canned::Events(events) => {
            stream.write_all(
                b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n",
            )?;
            for event in events {
                stream.write_all(event.as_bytes())?;
                stream.flush()?;
            }
        }
        Canned::Error(status, body) => write!(
            stream,
            "HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        )?,
        Canned::Silence => {
            reader.read_line(&mut String::new())?;
        }
    }
    Ok(())
}
