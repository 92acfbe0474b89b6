//! A connection that is no stream: the engine's messages as requests, each a task, and what comes of them.

use core::future::poll_fn;
use core::pin::Pin;
use core::task::{Context, Poll};
use core::time::Duration;
use std::collections::HashMap;
use std::mem::take;
use std::time::Instant;

use async_channel::{Receiver, Sender};
use async_io::Timer;
use bytes::Bytes;
use futures_lite::Stream;
use http::HeaderMap;
use mcp_core::Limits;
use mcp_core::binding::http::client::{Action, ExchangeKey, HttpClient, HttpRequest, ResponseHead};
use mcp_io::{Protocol as _, Wants};

use super::Endpoint;
use crate::client::connection::ClientConnection;

/// So many events of exchanges may wait; then their streams do.
const EVENTS: usize = 64;

/// So much may be written in one turn.
const ROOM: usize = 1024 * 1024;

/// So many events are taken in one turn, so that others on the executor get theirs.
const BUDGET: usize = 256;

/// What was told last, such as a cancellation, has so long to arrive when the connection ends.
const LAST: Duration = Duration::from_secs(1);

/// What an exchange has to say.
enum Event {
    Head(u16, HeaderMap),
    Data(Bytes),
    End,
    Failed { unsent: bool, reason: String },
    Unauthorized(String),
}

struct Driver<'d, 's> {
    connection: &'d mut ClientConnection<'s>,
    http: HttpClient,
    endpoint: &'d Endpoint,
    exchanges: HashMap<ExchangeKey, smol::Task<()>>,
    events: Sender<(ExchangeKey, Event)>,
    arrived: Pin<Box<Receiver<(ExchangeKey, Event)>>>,
    out: Vec<u8>,
    timer: Timer,
    /// What the timer is set to.
    due: Option<Instant>,
    ending: Option<Timer>,
    logins: u64,
}

/// Drives a connection until it is over. Returns the request that says goodbye, if the server expects one.
pub(crate) async fn drive(
    connection: &mut ClientConnection<'_>,
    endpoint: &Endpoint,
    limits: Limits,
) -> Option<HttpRequest> {
    // The URL was one when it was configured.
    let http = HttpClient::new(endpoint.url(), limits).ok()?;
    let (events, arrived) = async_channel::bounded(EVENTS);
    let mut driver = Driver {
        connection,
        http,
        endpoint,
        exchanges: HashMap::new(),
        events,
        arrived: Box::pin(arrived),
        out: Vec::new(),
        timer: Timer::never(),
        due: None,
        ending: None,
        logins: 0,
    };
    poll_fn(|cx| driver.poll(cx)).await;
    driver.http.leave()
}

impl Driver<'_, '_> {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        for _ in 0..BUDGET {
            // Whether handlers are in flight makes no difference: there is no input that could end.
            let _ = self.connection.poll(cx, &mut self.out, ROOM);
            self.turn();
            match self.connection.wants() {
                Wants::More => {}
                Wants::Flush if self.http.is_telling() => {
                    let timer = self.ending.get_or_insert_with(|| Timer::after(LAST));
                    if Pin::new(timer).poll(cx).is_ready() {
                        return Poll::Ready(());
                    }
                }
                Wants::Flush | Wants::Stop | _ => return Poll::Ready(()),
            }
            if self.is_due(cx) {
                continue;
            }
            match self.arrived.as_mut().poll_next(cx) {
                Poll::Ready(Some((key, event))) => self.take(key, event),
                // This end is open for as long as the other is.
                Poll::Ready(None) => return Poll::Ready(()),
                Poll::Pending => return Poll::Pending,
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    fn is_due(&mut self, cx: &mut Context<'_>) -> bool {
        let pause = self.endpoint.pause();
        let http = self.http.poll_timeout().map(|at| pause.instant(at));
        let due = match (self.connection.deadline(), http) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        if due != self.due {
            self.due = due;
            match due {
                Some(at) => self.timer.set_at(at),
                None => self.timer = Timer::never(),
            }
        }
        if due.is_none() || Pin::new(&mut self.timer).poll(cx).is_pending() {
            return false;
        }
        self.due = None;
        self.connection
            .handle_timeout(Instant::now(), &mut self.out);
        self.http.handle_timeout(self.connection.now());
        true
    }

    /// Sends what there is to send, and does what is to be done.
    fn turn(&mut self) {
        loop {
            let out = take(&mut self.out);
            let now = self.connection.now();
            for line in out.split(|byte| *byte == b'\n') {
                if !line.is_empty() {
                    self.http.send(now, line);
                }
            }
            while let Some(action) = self.http.poll_action() {
                self.act(action);
            }
            if self.out.is_empty() {
                return;
            }
        }
    }

    fn act(&mut self, action: Action) {
        match action {
            Action::Open(request) => {
                let key = request.key;
                let task = exchange(self.endpoint.clone(), request, self.events.clone());
                self.exchanges.insert(key, smol::spawn(task));
            }
            // Dropping its task closes the stream.
            Action::Close(key) => drop(self.exchanges.remove(&key)),
            Action::Message {
                message, answers, ..
            } => self.connection.message(&message, answers, &mut self.out),
            Action::Unanswered { id, why, fault, .. } => {
                self.connection.unanswered(id, why, fault, &mut self.out);
            }
            Action::Renewed => self.connection.renewed(&mut self.out),
            Action::Lost(fault) => self.connection.gone(fault),
            Action::Unheard(fault) => {
                tracing::warn!(%fault, "the server's own messages are not heard");
            }
            Action::ToolLeftOut { name, reason, .. } => {
                tracing::warn!(
                    tool = name,
                    reason,
                    "left out: it cannot be called over HTTP"
                );
            }
            _ => {}
        }
    }

    fn take(&mut self, key: ExchangeKey, event: Event) {
        self.connection.heard();
        let logins = self.endpoint.logins();
        if logins != self.logins {
            // It may be somebody else (CAC-08).
            self.logins = logins;
            self.connection.forget_cached();
        }
        let now = self.connection.now();
        match event {
            Event::Head(status, headers) => {
                let fields: Vec<_> = headers
                    .iter()
                    .map(|(name, value)| (name.as_str(), value.as_bytes()))
                    .collect();
                let head = ResponseHead::new(status, &fields);
                self.http.head(now, key, &head);
            }
            Event::Data(bytes) => self.http.data(now, key, &bytes),
            Event::End => {
                self.exchanges.remove(&key);
                self.http.end(now, key);
            }
            Event::Failed { unsent, reason } => {
                self.exchanges.remove(&key);
                self.http.failed(now, key, unsent, reason);
            }
            Event::Unauthorized(reason) => {
                self.exchanges.remove(&key);
                self.http.unauthorized(now, key, reason);
            }
        }
    }
}

/// One exchange, from the request to the end of the body.
async fn exchange(endpoint: Endpoint, request: HttpRequest, events: Sender<(ExchangeKey, Event)>) {
    let key = request.key;
    let last = match endpoint.send(request).await {
        Err(error) => match error.is_unsent() {
            Some(unsent) => Event::Failed {
                unsent,
                reason: error.to_string(),
            },
            None => Event::Unauthorized(error.to_string()),
        },
        Ok(mut response) => {
            let head = Event::Head(response.status.as_u16(), response.headers);
            // The other end is there for as long as this task is.
            if events.send((key, head)).await.is_err() {
                return;
            }
            loop {
                match response.body.chunk().await {
                    None => break Event::End,
                    Some(Err(error)) => {
                        break Event::Failed {
                            unsent: error.is_unsent(),
                            reason: error.to_string(),
                        };
                    }
                    Some(Ok(bytes)) => {
                        if events.send((key, Event::Data(bytes))).await.is_err() {
                            return;
                        }
                    }
                }
            }
        }
    };
    // The same.
    let _ = events.send((key, last)).await;
}
