//! One connection, which goes on while it is polled.

use core::future::poll_fn;
use core::pin::{Pin, pin};
use core::task::{Context, Poll};

use futures_lite::{AsyncRead, AsyncWrite};
use http::{Request, Response};
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, Connection, SendRequest};
use smol_hyper::rt::FuturesIo;

use super::body::Once;
use super::error::Error;

/// A stream, with or without TLS.
pub(super) trait Io: AsyncRead + AsyncWrite + Send {}

impl<T: AsyncRead + AsyncWrite + Send> Io for T {}

type Stream = FuturesIo<Pin<Box<dyn Io>>>;

/// A connection, and the way to send on it.
pub(super) struct Live {
    sender: SendRequest<Once>,
    /// `None`: it has ended.
    connection: Option<Box<Connection<Stream, Once>>>,
}

/// Why there is no response.
pub(super) enum Failure {
    /// Nothing of the request was sent.
    Unsent(Error),
    /// It may have been sent, and nothing came.
    Broken(Error),
    /// Trying again is of no use.
    Fatal(Error),
}

impl Live {
    pub(super) async fn new(stream: Pin<Box<dyn Io>>) -> Result<Self, Error> {
        let (sender, connection) = http1::handshake(FuturesIo::new(stream))
            .await
            .map_err(Error::Unsent)?;
        Ok(Self {
            sender,
            connection: Some(Box::new(connection)),
        })
    }

    /// Lets the connection go on. Its faults are told to whoever waits for something from it.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) {
        if let Some(connection) = &mut self.connection
            && Pin::new(&mut **connection).poll(cx).is_ready()
        {
            self.connection = None;
        }
    }

    /// Whether another request can be sent, as far as is known. What has come meanwhile is noticed: the peer's end, most
    /// likely.
    pub(super) fn is_usable(&mut self, cx: &mut Context<'_>) -> bool {
        self.poll(cx);
        self.connection.is_some() && self.sender.is_ready()
    }

    pub(super) async fn exchange(
        &mut self,
        request: Request<Once>,
    ) -> Result<Response<Incoming>, Failure> {
        let mut answer = pin!(self.sender.try_send_request(request));
        let connection = &mut self.connection;
        let response = poll_fn(|cx| {
            if let Poll::Ready(response) = answer.as_mut().poll(cx) {
                return Poll::Ready(response);
            }
            if let Some(running) = connection
                && Pin::new(&mut **running).poll(cx).is_ready()
            {
                *connection = None;
            }
            answer.as_mut().poll(cx)
        })
        .await;
        response.map_err(|mut failed| {
            let unsent = failed.take_message().is_some();
            let error = failed.into_error();
            if unsent {
                Failure::Unsent(Error::Unsent(error))
            } else if error.is_parse() {
                Failure::Fatal(Error::Broken(error))
            } else {
                Failure::Broken(Error::Broken(error))
            }
        })
    }
}
