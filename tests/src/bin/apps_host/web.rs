//! As much of an HTTP server as the pages need: one request for each connection, each on its thread.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// As many bytes as a request may have.
const MOST: u64 = 4 * 1024 * 1024;

/// What a page asks for.
pub(crate) struct Asked {
    pub(crate) path: String,
    pub(crate) body: Vec<u8>,
}

/// What it gets.
#[derive(Default)]
pub(crate) struct Answer {
    pub(crate) kind: &'static str,
    pub(crate) policy: Option<String>,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn html(body: String) -> Self {
        Self {
            kind: "text/html",
            policy: None,
            body,
        }
    }

    pub(crate) fn json(body: String) -> Self {
        Self {
            kind: "application/json",
            policy: None,
            body,
        }
    }
}

/// Serves until the process ends. Returns the origin.
pub(crate) fn serve(
    answer: impl Fn(Asked) -> Answer + Send + Sync + 'static,
) -> std::io::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let origin = format!("http://{}", listener.local_addr()?);
    let answer = Arc::new(answer);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let answer = answer.clone();
            // Who goes away before its answer does not want it.
            std::thread::spawn(move || drop(one(&stream, &*answer)));
        }
    });
    Ok(origin)
}

fn one(stream: &TcpStream, answer: &dyn Fn(Asked) -> Answer) -> std::io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    let mut reader = BufReader::new(stream).take(MOST);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut length = 0;
    loop {
        line.clear();
        if reader.read_line(&mut line)? == 0 || line.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    let mut body = Vec::new();
    reader.take(length).read_to_end(&mut body)?;
    // A connection that was opened in advance, and never used.
    if path.is_empty() {
        return Ok(());
    }
    let Answer { kind, policy, body } = answer(Asked { path, body });
    let mut head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\nCache-Control: no-store\r\n",
        body.len()
    );
    if let Some(policy) = policy {
        head.push_str(&format!("Content-Security-Policy: {policy}\r\n"));
    }
    let mut stream = stream;
    stream.write_all(format!("{head}\r\n{body}").as_bytes())
}

/// An origin that counts who asks it for something.
pub(crate) struct Hits {
    pub(crate) origin: String,
    count: Arc<AtomicUsize>,
}

impl Hits {
    pub(crate) fn serve() -> std::io::Result<Self> {
        let count = Arc::new(AtomicUsize::new(0));
        let counted = count.clone();
        let origin = serve(move |asked| {
            counted.fetch_add(1, Ordering::SeqCst);
            match &*asked.path {
                "/picture.png" => Answer {
                    kind: "image/svg+xml",
                    policy: None,
                    body: r#"<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>"#
                        .to_owned(),
                },
                "/script.js" => Answer {
                    kind: "text/javascript",
                    ..Answer::default()
                },
                _ => Answer::html(String::new()),
            }
        })?;
        Ok(Self { origin, count })
    }

    pub(crate) fn count(&self) -> usize {
        self.count.load(Ordering::SeqCst)
    }
}
