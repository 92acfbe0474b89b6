//! An accepted socket, of either kind.

use std::io::{self, IoSlice, Write as _};
use std::net::Shutdown;
use std::sync::Arc;
use std::task::{Context, Poll};

use mio::net::TcpStream;
#[cfg(unix)]
use mio::net::UnixStream;

use super::reactor::{Peer, Reactor, Registered};

/// How many bytes one read takes at most.
pub(super) const CHUNK: usize = 16 << 10;

/// Up to this length several pieces are put together before they are written: the system takes longer over pieces than it
/// takes to copy them.
const SMALL: usize = 1 << 10;

#[derive(Debug)]
pub(super) enum Socket {
    Tcp(Registered<TcpStream>),
    #[cfg(unix)]
    Unix(Registered<UnixStream>),
}

/// Does the same with a socket of either kind.
macro_rules! either {
    ($socket:ident, $stream:ident => $result:expr) => {
        match $socket {
            Self::Tcp($stream) => $result,
            #[cfg(unix)]
            Self::Unix($stream) => $result,
        }
    };
}

impl Socket {
    pub(super) fn tcp(stream: TcpStream, reactor: &Arc<Reactor>) -> io::Result<Self> {
        // Each write is a whole message, that must not wait for the one before to be acknowledged.
        // A failure costs time only.
        let _ = stream.set_nodelay(true);
        reactor.register(stream).map(Self::Tcp)
    }

    #[cfg(unix)]
    pub(super) fn unix(stream: UnixStream, reactor: &Arc<Reactor>) -> io::Result<Self> {
        reactor.register(stream).map(Self::Unix)
    }

    /// Reads at most `most` bytes, which `sink` is shown.
    #[cfg(unix)]
    pub(super) fn read(&self, most: usize, sink: impl FnOnce(&[u8])) -> io::Result<usize> {
        use core::mem::MaybeUninit;
        use rustix::net::RecvFlags;

        let mut scratch = [MaybeUninit::<u8>::uninit(); CHUNK];
        let scratch = &mut scratch[..most.min(CHUNK)];
        let none = RecvFlags::empty();
        let ((read, _rest), _length) = either!(self, stream => {
            let socket = stream.get();
            // Where mio has nothing but poll(2), it has to know of what would block.
            socket.try_io(|| Ok(rustix::net::recv(socket, scratch, none)?))
        })?;
        sink(read);
        Ok(read.len())
    }

    /// Reads at most `most` bytes, which `sink` is shown.
    #[cfg(not(unix))]
    pub(super) fn read(&self, most: usize, sink: impl FnOnce(&[u8])) -> io::Result<usize> {
        use std::io::Read;

        let mut scratch = [0; CHUNK];
        let scratch = &mut scratch[..most.min(CHUNK)];
        let read = either!(self, stream => stream.get().read(scratch))?;
        sink(&scratch[..read]);
        Ok(read)
    }

    /// Writes some of it.
    pub(super) fn write(&self, bytes: &[IoSlice<'_>]) -> io::Result<usize> {
        if let [one] = bytes {
            return self.send(one);
        }
        if bytes.iter().map(|it| it.len()).sum::<usize>() <= SMALL {
            let mut joined = [0; SMALL];
            let mut free = &mut joined[..];
            for it in bytes {
                free.write_all(it)?;
            }
            let left = free.len();
            return self.send(&joined[..SMALL - left]);
        }
        either!(self, stream => stream.get().write_vectored(bytes))
    }

    fn send(&self, bytes: &[u8]) -> io::Result<usize> {
        either!(self, stream => stream.get().write(bytes))
    }

    pub(super) fn shutdown(&self) -> io::Result<()> {
        either!(self, stream => stream.get().shutdown(Shutdown::Write))
    }

    pub(super) fn peer(&self) -> Peer {
        either!(self, stream => stream.peer())
    }

    pub(super) fn poll_readable(&self, cx: &Context<'_>) -> Poll<()> {
        either!(self, stream => stream.poll_readable(cx))
    }

    pub(super) fn poll_writable(&self, cx: &Context<'_>) -> Poll<()> {
        either!(self, stream => stream.poll_writable(cx))
    }
}
