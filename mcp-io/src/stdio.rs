//! Standard input and output of this process, taken over for the protocol.
//!
//! Pipes and sockets are polled for readiness; files and terminals, which cannot be, are read and written by a thread.
//! The descriptors' open file descriptions are shared with whoever started this process (a terminal, `2>&1`), so
//! `O_NONBLOCK` is never set on them.

#[cfg(all(test, unix))]
mod tests;

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use futures_io::AsyncWrite;

use crate::{Error, Source};

#[cfg(not(unix))]
use portable as platform;
#[cfg(unix)]
use unix as platform;

/// The protocol's input: what was standard input.
#[derive(Debug)]
pub struct Stdin {
    input: platform::Input,
    block_when_idle: bool,
}

/// The protocol's output: what was standard output.
#[derive(Debug)]
pub struct Stdout(platform::Output);

/// Takes standard input and output for the protocol, once in the life of the process.
///
/// On Unix their places are filled: what is printed by mistake afterwards goes to standard error instead of into the
/// protocol (STD-03), and what reads standard input finds it empty. Children inherit those places as well. Elsewhere
/// nothing guards against stray prints.
///
/// # Errors
///
/// They were taken before, are closed, or the system refuses to copy them.
pub fn take() -> Result<(Stdin, Stdout), Error> {
    static TAKEN: AtomicBool = AtomicBool::new(false);
    if TAKEN.swap(true, Ordering::SeqCst) {
        return Err(Error::Setup(io::Error::other("they are in use already")));
    }
    platform::take()
        .map(|(input, output)| {
            (
                Stdin {
                    input,
                    block_when_idle: false,
                },
                Stdout(output),
            )
        })
        .map_err(Error::Setup)
}

impl Stdin {
    /// From now on, waiting for input blocks the thread while nothing else is going on, which spares a trip through the
    /// reactor for each message. For programs that poll nothing else on this thread.
    pub fn block_when_idle(&mut self) {
        self.block_when_idle = true;
    }
}

impl Source for Stdin {
    fn poll_fill(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut [u8],
        idle: bool,
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        this.input.poll_read(cx, buf, idle && this.block_when_idle)
    }
}

impl AsyncWrite for Stdout {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.get_mut().0.poll_write(cx, buf)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().0.poll_flush(cx)
    }

    fn poll_close(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush(cx)
    }
}

#[cfg(unix)]
mod unix {
    use std::fs::File;
    use std::io::{self, IsTerminal, Read, Write};
    use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
    use std::pin::Pin;
    use std::task::{Context, Poll, ready};

    use async_io::Async;
    use blocking::Unblock;
    use futures_io::{AsyncRead, AsyncWrite};
    use rustix::event::{PollFd, PollFlags, Timespec};
    use rustix::fs::{FileType, Mode, OFlags};
    use rustix::io::Errno;
    use rustix::net::{RecvFlags, SendFlags};

    /// So many bytes go to or come from the thread at a time.
    const AHEAD: usize = 64 * 1024;

    #[derive(Debug)]
    pub(super) enum Input {
        Pipe(Async<OwnedFd>),
        Socket(Async<OwnedFd>),
        Other(Unblock<Plain>),
    }

    /// A file or a terminal. It is not read again after its end: a terminal says only once that somebody has ended the
    /// input, and whoever reads ahead for [`Unblock`] tries again before it passes that on.
    #[derive(Debug)]
    pub(super) struct Plain {
        file: File,
        terminal: bool,
        ended: bool,
    }

    impl Plain {
        fn new(fd: OwnedFd) -> Unblock<Self> {
            let terminal = fd.is_terminal();
            let plain = Self {
                file: File::from(fd),
                terminal,
                ended: false,
            };
            Unblock::with_capacity(AHEAD, plain)
        }

        /// Whether the other side of the terminal is gone. It is no terminal any more then, and cannot be asked now.
        fn is_gone(&self, error: &io::Error) -> bool {
            self.terminal && Errno::from_io_error(error) == Some(Errno::IO)
        }
    }

    impl Read for Plain {
        fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
            if self.ended {
                return Ok(0);
            }
            let count = match self.file.read(buf) {
                Err(error) if self.is_gone(&error) => 0,
                read => read?,
            };
            // Read into no room, as happens when the buffer ahead is full, it says the same and means nothing.
            self.ended = count == 0 && !buf.is_empty();
            Ok(count)
        }
    }

    impl Write for Plain {
        fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
            self.file.write(buf).map_err(|error| {
                if self.is_gone(&error) {
                    io::ErrorKind::BrokenPipe.into()
                } else {
                    error
                }
            })
        }

        fn flush(&mut self) -> io::Result<()> {
            self.file.flush()
        }
    }

    #[derive(Debug)]
    pub(super) enum Output {
        /// A description of our own, in non-blocking mode: written until it is full.
        Pipe(Async<OwnedFd>),
        /// The shared description: a write of up to `PIPE_BUF` bytes to a writable pipe does not block.
        SharedPipe(Async<OwnedFd>),
        Socket(Async<OwnedFd>),
        Other(Unblock<Plain>),
    }

    pub(super) fn take() -> io::Result<(Input, Output)> {
        let input = private(std::io::stdin().as_fd())?;
        let output = private(std::io::stdout().as_fd())?;
        let null = rustix::fs::open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
        rustix::stdio::dup2_stdin(&null)?;
        // Standard error may be closed; a print then goes nowhere instead.
        if rustix::stdio::dup2_stdout(std::io::stderr()).is_err() {
            rustix::stdio::dup2_stdout(&null)?;
        }
        Ok((Input::new(input)?, Output::new(output)?))
    }

    /// A copy that children do not inherit, above the standard places.
    fn private(fd: BorrowedFd<'_>) -> io::Result<OwnedFd> {
        Ok(rustix::io::fcntl_dupfd_cloexec(fd, 3)?)
    }

    enum Kind {
        Pipe,
        Socket,
        /// A file or a terminal.
        Other,
    }

    fn kind(fd: &OwnedFd) -> io::Result<Kind> {
        let kind = FileType::from_raw_mode(rustix::fs::fstat(fd)?.st_mode);
        Ok(if kind.is_fifo() {
            Kind::Pipe
        } else if kind.is_socket() {
            Kind::Socket
        } else {
            Kind::Other
        })
    }

    impl Input {
        fn new(fd: OwnedFd) -> io::Result<Self> {
            Ok(match kind(&fd)? {
                Kind::Pipe => Self::Pipe(Async::new_nonblocking(fd)?),
                Kind::Socket => Self::Socket(Async::new_nonblocking(fd)?),
                Kind::Other => Self::Other(Plain::new(fd)),
            })
        }

        pub(super) fn poll_read(
            &mut self,
            cx: &mut Context<'_>,
            buf: &mut [u8],
            mut block: bool,
        ) -> Poll<io::Result<usize>> {
            loop {
                let (fd, result) = match self {
                    Self::Other(file) => return Pin::new(file).poll_read(cx, buf),
                    // Nobody else reads here, so what is readable now is readable still. The reactor may remember
                    // that it was, before a read that did not ask it: it is not asked here.
                    Self::Pipe(pipe) if block || is_readable(pipe)? => {
                        (&*pipe, rustix::io::read(&*pipe, &mut *buf))
                    }
                    Self::Pipe(pipe) => (&*pipe, Err(Errno::AGAIN)),
                    Self::Socket(socket) => {
                        let flags = if block {
                            RecvFlags::empty()
                        } else {
                            RecvFlags::DONTWAIT
                        };
                        let result = rustix::net::recv(&*socket, &mut *buf, flags);
                        (&*socket, result.map(|(_, count)| count))
                    }
                };
                match result {
                    Ok(count) => return Poll::Ready(Ok(count)),
                    Err(Errno::INTR) => {}
                    // Not there yet; or the other side of a shared description has made it non-blocking.
                    Err(Errno::AGAIN) => {
                        block = false;
                        ready!(fd.poll_readable(cx))?;
                    }
                    Err(error) => return Poll::Ready(Err(error.into())),
                }
            }
        }
    }

    impl Output {
        fn new(fd: OwnedFd) -> io::Result<Self> {
            Ok(match kind(&fd)? {
                Kind::Pipe => match reopen(&fd) {
                    Some(own) => Self::Pipe(Async::new_nonblocking(own)?),
                    None => Self::SharedPipe(Async::new_nonblocking(fd)?),
                },
                Kind::Socket => Self::Socket(Async::new_nonblocking(fd)?),
                Kind::Other => Self::Other(Plain::new(fd)),
            })
        }

        pub(super) fn poll_write(
            &mut self,
            cx: &mut Context<'_>,
            buf: &[u8],
        ) -> Poll<io::Result<usize>> {
            loop {
                let (fd, result) = match self {
                    Self::Other(file) => {
                        let mut file = Pin::new(file);
                        return match ready!(file.as_mut().poll_write(cx, buf)) {
                            // The thread has given up; why, only a flush tells.
                            Ok(0) => file.poll_flush(cx).map_ok(|()| 0),
                            result => Poll::Ready(result),
                        };
                    }
                    Self::Pipe(pipe) => (&*pipe, rustix::io::write(&*pipe, buf)),
                    Self::SharedPipe(pipe) => {
                        ready!(pipe.poll_writable(cx))?;
                        let most = buf.len().min(rustix::pipe::PIPE_BUF);
                        (&*pipe, rustix::io::write(&*pipe, &buf[..most]))
                    }
                    Self::Socket(socket) => {
                        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
                        (&*socket, rustix::net::send(&*socket, buf, flags))
                    }
                };
                match result {
                    Ok(count) => return Poll::Ready(Ok(count)),
                    Err(Errno::INTR) => {}
                    Err(Errno::AGAIN) => ready!(fd.poll_writable(cx))?,
                    Err(error) => return Poll::Ready(Err(error.into())),
                }
            }
        }

        pub(super) fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            match self {
                Self::Other(file) => Pin::new(file).poll_flush(cx),
                Self::Pipe(_) | Self::SharedPipe(_) | Self::Socket(_) => Poll::Ready(Ok(())),
            }
        }
    }

    fn is_readable(pipe: &Async<OwnedFd>) -> io::Result<bool> {
        let mut poll = [PollFd::new(pipe, PollFlags::IN)];
        match rustix::event::poll(&mut poll, Some(&Timespec::default())) {
            Ok(ready) => Ok(ready > 0),
            Err(Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Opens the pipe once more, for a description that nobody shares. Linux only, and only where this process may open
    /// what it was handed.
    fn reopen(fd: &OwnedFd) -> Option<OwnedFd> {
        use std::os::fd::AsRawFd;
        let path = format!("/proc/self/fd/{}", fd.as_raw_fd());
        let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        rustix::fs::open(path, flags, Mode::empty()).ok()
    }
}

#[cfg(not(unix))]
mod portable {
    use std::io;
    use std::pin::Pin;
    use std::task::{Context, Poll};

    use blocking::Unblock;
    use futures_io::{AsyncRead, AsyncWrite};

    #[derive(Debug)]
    pub(super) struct Input(Unblock<io::Stdin>);

    #[derive(Debug)]
    pub(super) struct Output(Unblock<io::Stdout>);

    pub(super) fn take() -> io::Result<(Input, Output)> {
        Ok((
            Input(Unblock::new(io::stdin())),
            Output(Unblock::new(io::stdout())),
        ))
    }

    impl Input {
        pub(super) fn poll_read(
            &mut self,
            cx: &mut Context<'_>,
            buf: &mut [u8],
            _: bool,
        ) -> Poll<io::Result<usize>> {
            Pin::new(&mut self.0).poll_read(cx, buf)
        }
    }

    impl Output {
        pub(super) fn poll_write(
            &mut self,
            cx: &mut Context<'_>,
            buf: &[u8],
        ) -> Poll<io::Result<usize>> {
            Pin::new(&mut self.0).poll_write(cx, buf)
        }

        pub(super) fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            Pin::new(&mut self.0).poll_flush(cx)
        }
    }
}
