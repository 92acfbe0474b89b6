//! A transport that MCP does not define: one message in a WebSocket's text frame. The engine knows no framing, so all it
//! takes is a [`Sink`] that remembers where messages end.
//!
//! `cargo run --example websocket -- PORT`; port 0 is any, and the one it has become is printed.

mod echo;

use std::error::Error;
use std::io::Write as _;
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

use mcp_core::Limits;
use mcp_core::engine::server::{Catalog, ServerEngine};
use mcp_core::json::{Full, Sink};
use tungstenite::Message;
use tungstenite::protocol::WebSocketConfig;

/// Messages one behind the other, and where each ends.
#[derive(Default)]
struct Frames {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Sink for Frames {
    fn append(&mut self, bytes: &[u8]) -> Result<(), Full> {
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    fn len(&self) -> usize {
        self.bytes.len()
    }

    fn truncate(&mut self, len: usize) {
        self.bytes.truncate(len);
        self.ends.retain(|&end| end <= len);
    }

    fn end_message(&mut self) -> Result<(), Full> {
        self.ends.push(self.bytes.len());
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let port = std::env::args().nth(1).ok_or("which port?")?;
    let listener = TcpListener::bind(format!("127.0.0.1:{port}"))?;
    writeln!(std::io::stdout(), "{}", listener.local_addr()?.port())?;
    let catalog = echo::catalog()?;
    for stream in listener.incoming() {
        let (stream, catalog) = (stream?, Arc::clone(&catalog));
        std::thread::spawn(move || {
            if let Err(error) = serve(stream, catalog) {
                let _ = writeln!(std::io::stderr(), "{error}");
            }
        });
    }
    Ok(())
}

fn serve(stream: TcpStream, catalog: Arc<Catalog>) -> Result<(), Box<dyn Error>> {
    let limits = Limits::DEFAULT;
    let mut engine = ServerEngine::new(catalog, limits, 0x5EED);
    // The frames keep the limit, so there is nothing for the engine to discard.
    let config = WebSocketConfig::default().max_message_size(Some(limits.max_message));
    let mut socket = tungstenite::accept_with_config(stream, Some(config))?;
    let mut out = Frames::default();
    loop {
        let text = match socket.read() {
            Ok(Message::Text(text)) => text,
            Ok(Message::Close(_)) | Err(tungstenite::Error::ConnectionClosed) => return Ok(()),
            // Pings are answered by the library.
            Ok(_) => continue,
            Err(error) => return Err(error.into()),
        };
        let incoming = engine.receive(text.as_bytes(), &mut out);
        echo::act(&mut engine, incoming, &mut out);
        let mut start = 0;
        for end in out.ends.drain(..) {
            let message = str::from_utf8(&out.bytes[start..end])?;
            socket.write(Message::text(message))?;
            start = end;
        }
        socket.flush()?;
        out.bytes.clear();
    }
}
