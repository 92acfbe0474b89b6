//! When serving ends, and what happens to handlers then.

use std::cell::RefCell;
use std::future::pending;
use std::io;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use async_io::{Async, Timer};
use futures_lite::future::poll_once;
use futures_lite::io::{BufWriter, Cursor};
use futures_lite::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use mcp_std::{End, Error, Server};

use crate::peer::{call, in_time, serve, session, text};

/// Tells by its reference count whether the handlers that hold it are still there.
fn hanging() -> (Server, Arc<()>) {
    let held = Arc::new(());
    let hold = held.clone();
    let server = Server::builder("hanging", "1")
        .tool("hang", "", move || {
            let held = hold.clone();
            async move {
                pending::<()>().await;
                drop(held);
            }
        })
        .tool("echo", "", || async { "here" })
        .grace(Duration::from_millis(100))
        .build()
        .expect("a server");
    (server, held)
}

const IDLE: usize = 2;

#[test]
fn calls_that_hang_are_given_up_after_the_grace_period() {
    let (server, held) = hanging();
    let start = Instant::now();
    let end = serve(&server, |mut peer| async move {
        peer.initialize().await;
        peer.call(1, "hang", "{}").await;
        peer.call(2, "hang", "{}").await;
        assert_eq!(text(&peer.answer(3, "echo", "{}").await), "here");
        assert_eq!(peer.rest().await.len(), 0);
    });
    assert_eq!(end.expect("sockets do not fail"), End::GraceExpired);
    let took = start.elapsed();
    assert!((100..1000).contains(&took.as_millis()), "{took:?}");
    assert_eq!(Arc::strong_count(&held), IDLE);
}

#[test]
fn without_calls_there_is_nothing_to_wait_for() {
    let server = Server::builder("patient", "1").grace(Duration::from_secs(60));
    session(&server.build().expect("a server"), |peer| async move {
        assert_eq!(peer.rest().await.len(), 0);
    });
}

/// The peer leaves with everything open: that is no error, and its calls are dropped.
#[test]
fn a_peer_that_leaves() {
    let (server, held) = hanging();
    let end = serve(&server, |mut peer| async move {
        peer.initialize().await;
        peer.call(1, "hang", "{}").await;
        peer.ping().await;
        // Its answer is not read, so that the socket is reset.
        peer.call(2, "echo", "{}").await;
        Timer::after(Duration::from_millis(20)).await;
    });
    assert_eq!(end.expect("no error"), End::Closed);
    assert_eq!(Arc::strong_count(&held), IDLE);
}

/// A peer that has ended its input and does not read is not waited for any longer than a handler.
#[test]
fn a_peer_that_does_not_read() {
    let server = Server::builder("loud", "1")
        .tool("loud", "", || async { "x".repeat(900_000) })
        .grace(Duration::from_millis(100))
        .build()
        .expect("a server");
    let start = Instant::now();
    let end = serve(&server, |mut peer| async move {
        peer.initialize().await;
        peer.call(1, "loud", "{}").await;
        peer.close();
        // Held open, unread.
        Timer::after(Duration::from_millis(500)).await;
    });
    drop(server);
    assert_eq!(end.expect("no error"), End::GraceExpired);
    assert!(start.elapsed() < Duration::from_secs(2));
}

#[test]
fn dropping_the_future_drops_the_handlers() {
    let (server, held) = hanging();
    let hang = call(1, "hang", "{}").replace(
        "\"name\"",
        r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}},"name""#,
    );
    let input = (hang + "\n").into_bytes();
    async_io::block_on(in_time(async {
        let mut serving =
            Box::pin(server.serve(Endless(Cursor::new(input)), futures_lite::io::sink()));
        assert!(poll_once(&mut serving).await.is_none());
        assert_eq!(Arc::strong_count(&held), IDLE + 1);
        drop(serving);
        assert_eq!(Arc::strong_count(&held), IDLE);
    }));
}

/// Answers go out when they are there, also through a writer that would keep them until it is flushed.
#[test]
fn a_buffered_writer_is_flushed() {
    let (server, _) = hanging();
    let (near, far) = Async::<UnixStream>::pair().expect("a pair");
    async_io::block_on(in_time(async {
        let client = async {
            let ping = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
            let answer = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n";
            for _ in 0..3 {
                (&near).write_all(ping).await.expect("open");
                let mut read = [0; 37];
                (&near).read_exact(&mut read).await.expect("an answer");
                assert_eq!(&read, answer);
            }
            near.get_ref().shutdown(Shutdown::Write).expect("open");
        };
        let served = server.serve(&far, BufWriter::new(&far));
        let (end, ()) = futures_lite::future::zip(served, client).await;
        assert_eq!(end.expect("no error"), End::Complete);
    }));
}

#[test]
fn errors_of_the_streams_are_reported() {
    let (server, _) = hanging();
    let ping = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
    let error = async_io::block_on(in_time(server.serve(Broken, futures_lite::io::sink())));
    assert!(matches!(error, Err(Error::Read(_))), "{error:?}");
    let error = async_io::block_on(in_time(server.serve(ping.as_bytes(), Broken)));
    assert!(matches!(error, Err(Error::Write(_))), "{error:?}");
}

/// Handlers that are not `Send`.
#[test]
fn a_local_server() {
    let log = Rc::new(RefCell::new(Vec::new()));
    let seen = log.clone();
    let server = Server::local("local", "1")
        .tool("count", "", move || {
            let log = seen.clone();
            async move {
                let id = Rc::new(log.borrow().len());
                Timer::after(Duration::from_millis(1)).await;
                log.borrow_mut().push(*id);
                format!("{id}")
            }
        })
        .build()
        .expect("a server");
    session(&server.clone(), |mut peer| async move {
        for n in 0..3 {
            assert_eq!(text(&peer.answer(n, "count", "{}").await), n.to_string());
        }
        assert_eq!(peer.rest().await.len(), 0);
    });
    assert_eq!(*log.borrow(), [0, 1, 2]);
}

/// One server, many peers at once; what one does is not seen by another.
#[test]
fn one_server_for_many() {
    let (server, _) = hanging();
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let server = server.clone();
            std::thread::spawn(move || {
                session(&server, |mut peer| async move {
                    for id in 0..50 {
                        assert_eq!(text(&peer.answer(id, "echo", "{}").await), "here");
                    }
                    assert_eq!(peer.rest().await.len(), 0);
                });
            })
        })
        .collect();
    for thread in threads {
        thread.join().expect("each is served");
    }
}

/// Input that goes on for ever and has nothing more to say.
struct Endless(Cursor<Vec<u8>>);

impl AsyncRead for Endless {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        let count = ready!(Pin::new(&mut self.0).poll_read(cx, buf))?;
        if count == 0 {
            return Poll::Pending;
        }
        Poll::Ready(Ok(count))
    }
}

struct Broken;

impl AsyncRead for Broken {
    fn poll_read(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        _: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        Poll::Ready(Err(io::Error::other("broken")))
    }
}

impl AsyncWrite for Broken {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, _: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(Err(io::Error::other("broken")))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
