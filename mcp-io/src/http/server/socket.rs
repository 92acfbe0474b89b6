//! An accepted socket, of either kind.

use std::io::{self, IoSlice};
use std::net::{Shutdown, TcpStream};
#[cfg(unix)]
use std::os::unix::net::UnixStream;
use std::task::{Context, Poll};

use async_io::Async;

/// How many bytes one read takes at most.
pub(super) const CHUNK: usize = 16 << 10;

#[derive(Debug)]
pub(super) enum Socket {
    Tcp(Async<TcpStream>),
    #[cfg(unix)]
    Unix(Async<UnixStream>),
}

impl Socket {
    /// Reads at most `most` bytes, which `sink` is shown.
    #[cfg(unix)]
    pub(super) fn read(&self, most: usize, sink: impl FnOnce(&[u8])) -> io::Result<usize> {
        use core::mem::MaybeUninit;

        let mut scratch = [MaybeUninit::<u8>::uninit(); CHUNK];
        let scratch = &mut scratch[..most.min(CHUNK)];
        let (read, _rest) = match self {
            Self::Tcp(stream) => rustix::io::read(stream.get_ref(), scratch),
            Self::Unix(stream) => rustix::io::read(stream.get_ref(), scratch),
        }?;
        sink(read);
        Ok(read.len())
    }

    /// Reads at most `most` bytes, which `sink` is shown.
    #[cfg(not(unix))]
    pub(super) fn read(&self, most: usize, sink: impl FnOnce(&[u8])) -> io::Result<usize> {
        use std::io::Read;

        let mut scratch = [0; CHUNK];
        let scratch = &mut scratch[..most.min(CHUNK)];
        let Self::Tcp(stream) = self;
        let read = stream.get_ref().read(scratch)?;
        sink(&scratch[..read]);
        Ok(read)
    }

    pub(super) fn write(&self, bytes: &[IoSlice<'_>]) -> io::Result<usize> {
        use std::io::Write;

        match self {
            Self::Tcp(stream) => stream.get_ref().write_vectored(bytes),
            #[cfg(unix)]
            Self::Unix(stream) => stream.get_ref().write_vectored(bytes),
        }
    }

    pub(super) fn shutdown(&self) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => stream.get_ref().shutdown(Shutdown::Write),
            #[cfg(unix)]
            Self::Unix(stream) => stream.get_ref().shutdown(Shutdown::Write),
        }
    }

    pub(super) fn poll_readable(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Self::Tcp(stream) => stream.poll_readable(cx),
            #[cfg(unix)]
            Self::Unix(stream) => stream.poll_readable(cx),
        }
    }

    pub(super) fn poll_writable(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Self::Tcp(stream) => stream.poll_writable(cx),
            #[cfg(unix)]
            Self::Unix(stream) => stream.poll_writable(cx),
        }
    }
}
