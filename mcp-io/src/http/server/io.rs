//! The socket as hyper sees it.

use std::io::{self, ErrorKind, IoSlice};
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use hyper::rt::{Read, ReadBufCursor, Write};

use super::socket::{CHUNK, Socket};
use super::turn::{BLOCKED, BODY, BUSY, LINGERING, MORE, RECEIVED, Turn, WRITTEN};

/// How many reads throw away what a client still sends before others have their turn.
const DRAINED: usize = 16;

#[derive(Debug)]
pub(super) struct Io {
    socket: Socket,
    turn: Arc<Turn>,
    /// The last read has left nothing: the next one has to wait, and a system call to learn that is saved.
    empty: bool,
    /// The last read has filled its buffer.
    full: bool,
    /// The client has closed its half, or the socket is broken.
    ended: bool,
    /// Our half is closed.
    closed: bool,
    /// Was read while a response was parked, and is of the next request.
    ahead: Bytes,
}

impl Io {
    pub(super) fn new(socket: Socket, turn: Arc<Turn>) -> Self {
        Self {
            socket,
            turn,
            empty: false,
            full: false,
            ended: false,
            closed: false,
            ahead: Bytes::new(),
        }
    }

    /// Gives back what was read too early: it comes before what has not been read again since the last time.
    pub(super) fn unread(&mut self, early: Bytes) {
        // Nothing of a buffer keeps the buffer nevertheless.
        if early.is_empty() {
            return;
        }
        self.ahead = match self.ahead.is_empty() {
            true => early,
            false => [early, mem::take(&mut self.ahead)].concat().into(),
        };
    }

    /// The next read asks the system, which may know of bytes that nobody has been told of yet.
    pub(super) const fn look_again(&mut self) {
        self.empty = false;
    }

    /// Reads at most `most` bytes, which `sink` is shown. 0 bytes: the client has closed its half.
    pub(super) fn poll_bytes(
        &mut self,
        cx: &Context<'_>,
        most: usize,
        mut sink: impl FnMut(&[u8]),
    ) -> Poll<io::Result<usize>> {
        loop {
            if self.empty {
                ready!(self.socket.poll_readable(cx));
                self.empty = false;
            }
            match self.socket.read(most, &mut sink) {
                Ok(read) => {
                    self.ended = read == 0;
                    self.full = read == most.min(CHUNK);
                    // On Windows the socket tells of more only once it has said that there is no more.
                    self.empty = cfg!(unix) && !self.full && !self.ended;
                    return Poll::Ready(Ok(read));
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.empty = true,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    self.ended = true;
                    return Poll::Ready(Err(error));
                }
            }
        }
    }

    fn poll_write_all_of(
        &mut self,
        cx: &Context<'_>,
        bytes: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        loop {
            match self.socket.write(bytes) {
                Ok(written) => {
                    self.turn.change(WRITTEN, BLOCKED);
                    return Poll::Ready(Ok(written));
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.turn.set(BLOCKED);
                    ready!(self.socket.poll_writable(cx));
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    self.ended = true;
                    return Poll::Ready(Err(error));
                }
            }
        }
    }
}

impl Read for Io {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut cursor: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        // Copied, since writing there directly takes unsafe code or zeroes the whole buffer, most of which an idle
        // connection otherwise never touches and hence never occupies.
        let most = cursor.remaining();
        let read = if self.ahead.is_empty() {
            ready!(self.poll_bytes(cx, most, |bytes| cursor.put_slice(bytes)))?
        } else {
            let most = most.min(self.ahead.len());
            let ahead = self.ahead.split_to(most);
            cursor.put_slice(&ahead);
            if self.ahead.is_empty() {
                self.ahead = Bytes::new();
            }
            most
        };
        if read > 0 && !self.turn.is(BUSY) {
            self.turn.set(RECEIVED);
        }
        if self.full || !self.ahead.is_empty() {
            self.turn.set(MORE);
        } else {
            self.turn.clear(MORE);
        }
        Poll::Ready(Ok(()))
    }
}

impl Write for Io {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_write_all_of(cx, &[IoSlice::new(bytes)])
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.poll_write_all_of(cx, bytes)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    /// Closes our half, and then waits for the client's if it may still be sending: a socket that is closed with bytes
    /// unread is reset, and the client then cannot read what it was told last.
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if !self.closed {
            self.closed = true;
            // Already closed by the client, at worst.
            if self.socket.shutdown().is_err() {
                self.ended = true;
            }
        }
        if self.ended || !self.turn.is(LINGERING | BODY | RECEIVED) {
            return Poll::Ready(Ok(()));
        }
        self.turn.set(LINGERING);
        for _ in 0..DRAINED {
            match ready!(self.poll_bytes(cx, CHUNK, |_thrown_away| {})) {
                Ok(1..) => {}
                Ok(0) | Err(_) => return Poll::Ready(Ok(())),
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}
