//! A provider in this process: it answers from a list, byte for byte, and keeps what it was asked.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::Value;

/// What is answered to one request.
#[derive(Clone)]
pub(crate) struct Canned {
    pub(crate) status: u16,
    pub(crate) headers: String,
    pub(crate) body: Vec<u8>,
    /// Where the body is cut into chunks.
    pub(crate) cut: Option<usize>,
}

impl Canned {
    pub(crate) fn json(body: &str) -> Self {
        Self {
            status: 200,
            headers: "Content-Type: application/json\r\n".to_owned(),
            body: body.as_bytes().to_vec(),
            cut: None,
        }
    }

    pub(crate) fn events(body: &str) -> Self {
        Self {
            headers: "Content-Type: text/event-stream; charset=utf-8\r\n".to_owned(),
            ..Self::json(body)
        }
    }

    pub(crate) fn error(status: u16, headers: &str, body: &str) -> Self {
        Self {
            status,
            headers: format!("Content-Type: application/json\r\n{headers}"),
            ..Self::json(body)
        }
    }
}

/// A request that came.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) target: String,
    pub(crate) head: String,
    pub(crate) body: Value,
}

pub(crate) struct FakeProvider {
    pub(crate) url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl FakeProvider {
    /// Answers requests with these, in this order, then with 500.
    pub(crate) fn new(answers: Vec<Canned>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let asked = Arc::new(Mutex::new(Vec::new()));
        let answers = Arc::new(Mutex::new(answers.into_iter()));
        let kept = asked.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (kept, answers) = (kept.clone(), answers.clone());
                thread::spawn(move || {
                    let _ = serve(&stream, &kept, || {
                        answers.lock().expect("not poisoned").next()
                    });
                });
            }
        });
        Self { url, asked }
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().expect("not poisoned").clone()
    }
}

fn serve(
    stream: &TcpStream,
    asked: &Mutex<Vec<Asked>>,
    mut next: impl FnMut() -> Option<Canned>,
) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream);
    let mut writer = stream;
    loop {
        let mut first = String::new();
        if reader.read_line(&mut first)? == 0 {
            return Ok(());
        }
        let mut head = String::new();
        let mut length = 0;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line)?;
            if line == "\r\n" {
                break;
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().expect("a length");
            }
            head.push_str(&line);
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        asked.lock().expect("not poisoned").push(Asked {
            target: first.split(' ').nth(1).unwrap_or_default().to_owned(),
            head: head.to_ascii_lowercase(),
            body: serde_json::from_slice(&body).unwrap_or_default(),
        });
        let canned = next().unwrap_or_else(|| Canned::error(500, "", "{}"));
        write!(
            writer,
            "HTTP/1.1 {} X\r\n{}Transfer-Encoding: chunked\r\n\r\n",
            canned.status, canned.headers
        )?;
        let (one, other) = canned
            .body
            .split_at(canned.cut.unwrap_or(0).min(canned.body.len()));
        for chunk in [one, other].into_iter().filter(|chunk| !chunk.is_empty()) {
            write!(writer, "{:x}\r\n", chunk.len())?;
            writer.write_all(chunk)?;
            writer.write_all(b"\r\n")?;
            writer.flush()?;
        }
        writer.write_all(b"0\r\n\r\n")?;
    }
}
