//! A server by hand: each connection is a thread, each request is answered with the bytes that the test gives.

use std::io::{BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// What was asked.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    /// Which connection, from 0 on.
    pub(crate) connection: usize,
    /// The first line.
    pub(crate) line: String,
    /// The fields, names in lower case.
    pub(crate) fields: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Asked {
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        let found = self.fields.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| &**value)
    }
}

/// What a server does about a request.
pub(crate) enum Does {
    /// Answers with these bytes.
    Says(Vec<u8>),
    /// Answers so, and closes the connection.
    SaysAndCloses(Vec<u8>),
    /// Closes the connection.
    Closes,
}

pub(crate) struct Peer {
    pub(crate) port: u16,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Peer {
    pub(crate) fn new(answer: impl Fn(usize, &Asked) -> Does + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (seen, answer) = (asked.clone(), Arc::new(answer));
        thread::spawn(move || {
            for (connection, stream) in listener.incoming().enumerate() {
                let (seen, answer) = (seen.clone(), answer.clone());
                let stream = stream.expect("a connection");
                thread::spawn(move || {
                    let reading = stream.try_clone().expect("a clone");
                    serve(connection, reading, stream, &seen, &*answer);
                });
            }
        });
        Self { port, asked }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().expect("no panic").clone()
    }
}

pub(crate) fn serve(
    connection: usize,
    reading: impl Read,
    mut writing: impl Write,
    seen: &Mutex<Vec<Asked>>,
    answer: &dyn Fn(usize, &Asked) -> Does,
) {
    let mut reading = BufReader::new(reading);
    while let Some(asked) = read(connection, &mut reading) {
        let count = {
            let mut seen = seen.lock().expect("no panic");
            seen.push(asked.clone());
            seen.len() - 1
        };
        let (bytes, closes) = match answer(count, &asked) {
            Does::Says(bytes) => (bytes, false),
            Does::SaysAndCloses(bytes) => (bytes, true),
            Does::Closes => return,
        };
        if writing.write_all(&bytes).is_err() || writing.flush().is_err() || closes {
            return;
        }
    }
}

fn read(connection: usize, reading: &mut impl std::io::BufRead) -> Option<Asked> {
    let mut line = String::new();
    reading.read_line(&mut line).ok().filter(|&read| read > 0)?;
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
        connection,
        line: line.trim_end().to_owned(),
        fields,
        body: String::from_utf8(body).expect("UTF-8"),
    })
}

/// A whole response.
pub(crate) fn reply(status: &str, fields: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\n{fields}Content-Length: {length}\r\n\r\n{body}").into_bytes()
}

/// A pipe in both directions between two streams.
pub(crate) fn pipe(one: TcpStream, other: TcpStream) {
    let (mut from, mut to) = (
        one.try_clone().expect("a clone"),
        other.try_clone().expect("a clone"),
    );
    thread::spawn(move || std::io::copy(&mut from, &mut to));
    let (mut from, mut to) = (other, one);
    let _ = std::io::copy(&mut from, &mut to);
}
