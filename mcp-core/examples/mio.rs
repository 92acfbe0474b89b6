//! Engines in a loop of mio: a socket on the loopback, and any number of peers, each with an engine of its own.
//!
//! `cargo run --example mio -- PORT`; port 0 is any, and the one it has become is printed.

mod echo;

use std::collections::HashMap;
use std::error::Error;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::sync::Arc;

use mcp_core::Limits;
use mcp_core::binding::StdioServer;
use mcp_core::engine::server::ServerEngine;
use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Token};

const LISTENER: Token = Token(0);
/// Above so much that waits to be written, a peer is not read from.
const HIGH_WATER: usize = 256 * 1024;

struct Peer {
    stream: TcpStream,
    server: StdioServer,
    input: Vec<u8>,
    out: Vec<u8>,
}

impl Peer {
    /// Reads, serves and writes until the socket has had enough; `false`: it is over.
    fn turn(&mut self) -> io::Result<bool> {
        loop {
            if !self.flush()? {
                return Ok(true);
            }
            let mut chunk = [0; 16 * 1024];
            match self.stream.read(&mut chunk) {
                Ok(0) => return Ok(false),
                Ok(count) => self.input.extend_from_slice(&chunk[..count]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(true),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            }
            let used = echo::serve(&mut self.server, &self.input, &mut self.out);
            self.input.drain(..used);
        }
    }

    /// Writes what waits; `false`: too much of it still does.
    fn flush(&mut self) -> io::Result<bool> {
        while !self.out.is_empty() {
            match self.stream.write(&self.out) {
                Ok(count) => drop(self.out.drain(..count)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(self.out.len() < HIGH_WATER)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let port = std::env::args().nth(1).ok_or("which port?")?;
    let mut listener = TcpListener::bind(format!("127.0.0.1:{port}").parse()?)?;
    let mut poll = Poll::new()?;
    poll.registry()
        .register(&mut listener, LISTENER, Interest::READABLE)?;
    writeln!(io::stdout(), "{}", listener.local_addr()?.port())?;

    let catalog = echo::catalog()?;
    let mut events = Events::with_capacity(64);
    let mut peers = HashMap::new();
    let mut next = 1;
    loop {
        match poll.poll(&mut events, None) {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            polled => polled?,
        }
        for event in &events {
            if event.token() == LISTENER {
                while let Ok((mut stream, _)) = listener.accept() {
                    let both = Interest::READABLE | Interest::WRITABLE;
                    poll.registry().register(&mut stream, Token(next), both)?;
                    let engine =
                        ServerEngine::new(Arc::clone(&catalog), Limits::DEFAULT, next as u64);
                    peers.insert(
                        Token(next),
                        Peer {
                            stream,
                            server: StdioServer::new(engine),
                            input: Vec::new(),
                            out: Vec::new(),
                        },
                    );
                    next += 1;
                }
            } else if let Some(peer) = peers.get_mut(&event.token()) {
                // One that fails is one peer less, and nothing to the others.
                if !peer.turn().unwrap_or(false) {
                    peers.remove(&event.token());
                }
            }
        }
    }
}
