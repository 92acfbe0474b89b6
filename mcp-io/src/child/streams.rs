//! A child's standard input and output.

use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use async_channel::Receiver;
use async_process::{ChildStdin, ChildStdout};
use futures_io::{AsyncRead, AsyncWrite};
use futures_lite::Stream;

/// No pipe holds more, unless the administrator allowed it.
const PIPE: usize = 1024 * 1024;

/// What the child writes to its standard output. It ends when the child has closed that, or has ended and all that it wrote
/// is read: also when some other process keeps the pipe open.
#[derive(Debug)]
pub struct Reader {
    pipe: ChildStdout,
    /// Closed when the child has ended.
    gone: Pin<Box<Receiver<Infallible>>>,
    /// The child has ended, and may have left so many bytes.
    left: Option<usize>,
    #[cfg(not(unix))]
    timer: Option<async_io::Timer>,
}

impl Reader {
    pub(super) fn new(pipe: ChildStdout, gone: Receiver<Infallible>) -> Self {
        Self {
            pipe,
            gone: Box::pin(gone),
            left: None,
            #[cfg(not(unix))]
            timer: None,
        }
    }
}

#[cfg(not(unix))]
impl Reader {
    /// A thread reads the pipe, and may have more than it has handed over.
    fn linger(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        use std::future::Future;
        let time = std::time::Duration::from_millis(200);
        let timer = self
            .timer
            .get_or_insert_with(|| async_io::Timer::after(time));
        Pin::new(timer).poll(cx).map(|_| Ok(0))
    }
}

impl AsyncRead for Reader {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        loop {
            let most = this.left.map_or(buf.len(), |left| buf.len().min(left));
            if let Poll::Ready(result) = Pin::new(&mut this.pipe).poll_read(cx, &mut buf[..most]) {
                if let (Some(left), Ok(count)) = (&mut this.left, &result) {
                    *left -= count;
                }
                return Poll::Ready(result);
            }
            if this.left.is_some() {
                // The pipe itself has said that it is empty.
                #[cfg(unix)]
                return Poll::Ready(Ok(0));
                #[cfg(not(unix))]
                return this.linger(cx);
            }
            match this.gone.as_mut().poll_next(cx) {
                Poll::Pending => return Poll::Pending,
                // It may have written between the two looks: the pipe is asked once more.
                Poll::Ready(_) => this.left = Some(PIPE),
            }
        }
    }
}

/// What the child reads from its standard input. Dropping it tells the child that no more will come.
#[derive(Debug)]
pub struct Writer(pub(super) Arc<Stdin>);

/// Shared with the handle, which closes it though somebody may be writing.
#[derive(Debug)]
pub(super) struct Stdin(Mutex<Option<ChildStdin>>);

impl Stdin {
    pub(super) fn new(pipe: ChildStdin) -> Arc<Self> {
        Arc::new(Self(Mutex::new(Some(pipe))))
    }

    pub(super) fn close(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

impl Writer {
    fn with<T>(
        &self,
        run: impl FnOnce(Pin<&mut ChildStdin>) -> Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        let mut pipe = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        match pipe.as_mut() {
            Some(pipe) => run(Pin::new(pipe)),
            None => Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())),
        }
    }
}

impl AsyncWrite for Writer {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.with(|pipe| pipe.poll_write(cx, buf))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.with(|pipe| pipe.poll_flush(cx))
    }

    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.close();
        Poll::Ready(Ok(()))
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.0.close();
    }
}
