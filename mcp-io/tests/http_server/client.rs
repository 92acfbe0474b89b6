//! A client that says exactly what it is told.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

pub(crate) struct Client<T> {
    pub(crate) socket: T,
    pub(crate) received: Vec<u8>,
}

/// A response, as far as the tests look at it.
#[derive(Debug)]
pub(crate) struct Answered {
    pub(crate) status: u16,
    /// In lower case.
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Client<TcpStream> {
    pub(crate) fn connect(address: SocketAddr) -> Self {
        let socket = TcpStream::connect(address).expect("the server listens");
        socket
            .set_read_timeout(Some(Duration::from_secs(5)))
            .expect("not zero");
        Self::over(socket)
    }
}

impl<T: Read + Write> Client<T> {
    pub(crate) fn over(socket: T) -> Self {
        Self {
            socket,
            received: Vec::new(),
        }
    }

    pub(crate) fn send(&mut self, text: &str) {
        self.socket
            .write_all(text.as_bytes())
            .expect("the server reads");
    }

    pub(crate) fn get(&mut self, path: &str) {
        self.send(&format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n"));
    }

    /// The next response, whose length is told.
    pub(crate) fn answer(&mut self) -> Answered {
        let (status, head) = self.head();
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "))
            .map_or(0, |length| length.parse().expect("a number"));
        while self.received.len() < length {
            assert!(self.more(), "the connection ends within a body");
        }
        let body = self.received.drain(..length).collect();
        Answered { status, head, body }
    }

    /// The head of the next response.
    pub(crate) fn head(&mut self) -> (u16, String) {
        let head = self.until("\r\n\r\n").to_ascii_lowercase();
        let status = head[9..12].parse().expect("a status");
        (status, head)
    }

    /// All up to this text.
    pub(crate) fn until(&mut self, text: &str) -> String {
        loop {
            let found = self
                .received
                .windows(text.len())
                .position(|window| window == text.as_bytes());
            if let Some(at) = found {
                let all = self.received.drain(..at + text.len()).collect();
                return String::from_utf8(all).expect("text");
            }
            assert!(self.more(), "the connection ends before {text:?}");
        }
    }

    /// What comes until the connection ends.
    pub(crate) fn rest(&mut self) -> String {
        while self.more() {}
        String::from_utf8(std::mem::take(&mut self.received)).expect("text")
    }

    /// Whether at least so much comes before the end, reset or not.
    pub(crate) fn rest_is_whole(&mut self, length: usize) -> bool {
        let mut received = 0;
        let mut chunk = vec![0; 1 << 16];
        while let Ok(read @ 1..) = self.socket.read(&mut chunk) {
            received += read;
        }
        received >= length
    }

    /// Whether something came before the end.
    fn more(&mut self) -> bool {
        let mut chunk = [0; 4096];
        match self.socket.read(&mut chunk) {
            Ok(read) => {
                self.received.extend_from_slice(&chunk[..read]);
                read > 0
            }
            Err(error) if error.kind() == ErrorKind::ConnectionReset => {
                panic!("the connection is reset")
            }
            Err(error) => panic!("nothing comes: {error}"),
        }
    }
}
