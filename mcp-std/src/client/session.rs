//! The life of a client: one connection after the other, until it is closed.
//!
//! ```text
//!   start --> connect --> connected --> ended --pause--> start        restart by policy
//!               |  \                      \
//!               |   \--died when asked for the newest revision--> start, asked in the old way (DET-05)
//!               |                          \--closed on this side, or enough--> end
//!               \--the first one fails--> end
//! ```

use core::future::pending;
use core::pin::Pin;
use core::time::Duration;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use async_channel::{Receiver, Sender};
use async_io::Timer;
use futures_lite::future::or;
use futures_lite::{AsyncRead, AsyncReadExt as _, AsyncWrite};
use mcp_core::Limits;
use mcp_core::engine::client::{ClientConfig, EraMode};
use mcp_core::model::ProtocolVersion;
use mcp_io::child::{Command, Exit, Handle, Shutdown};
use mcp_io::{End, Options, drive};

use super::connection::ClientConnection;
use super::era::{EraCache, Program};
use super::error::{CallError, Closed, ClosedReason, ConnectError};
use super::handle::{Ends, Shared};
#[cfg(feature = "http")]
use super::http::{self, Endpoint};
use super::options::{Restart, Restarts};
use super::subscription::{Channel, SubscriptionEnd};
use crate::Server;

/// Calls in flight are failed when it is known how the process ended, or after so long without that.
const LAST_WORDS: Duration = Duration::from_millis(250);

/// The pauses before a server at a URL is asked again that had no time for the handshake.
const HICCUPS: [Duration; 2] = [Duration::from_millis(200), Duration::from_millis(800)];

/// Those there are in this process.
static SESSIONS: Mutex<Sessions> = Mutex::new(Sessions {
    count: 0,
    some: None,
});

struct Sessions {
    count: usize,
    /// Nothing is ever sent: it is closed when the last one ends.
    some: Option<(Sender<()>, Receiver<()>)>,
}

fn sessions() -> MutexGuard<'static, Sessions> {
    SESSIONS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Counts a session for as long as it is there.
struct Counted;

impl Counted {
    fn new() -> Self {
        sessions().count += 1;
        Self
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let mut sessions = sessions();
        sessions.count -= 1;
        let over = if sessions.count == 0 {
            sessions.some.take()
        } else {
            None
        };
        // Whom it wakes may run here.
        drop((sessions, over));
    }
}

/// Waits until all connections of this process have ended, and the processes of their servers: those that were closed, those
/// whose last [`Client`](super::Client) was dropped, and those that were given up while connecting. For a program that is
/// about to exit, which would otherwise leave a server behind that is still being ended. As long as a client is in use it
/// does not return.
pub async fn all_closed() {
    loop {
        let some = {
            let mut sessions = sessions();
            if sessions.count == 0 {
                return;
            }
            let (_, some) = sessions
                .some
                .get_or_insert_with(|| async_channel::bounded(1));
            some.clone()
        };
        // Nothing is ever sent: this ends with the channel.
        let _ = some.recv().await;
    }
}

type Reader = Pin<Box<dyn AsyncRead + Send>>;
type Writer = Pin<Box<dyn AsyncWrite + Send>>;

/// Where a connection comes from.
pub(crate) enum Lane {
    /// A program, started anew for each connection.
    Child(Command),
    /// A server in this process.
    Server(Server),
    /// Streams, good for one.
    Streams(Option<(Reader, Writer)>),
    /// A server at a URL.
    #[cfg(feature = "http")]
    Http(Endpoint),
}

impl Lane {
    /// Whether there may be another connection when one has ended.
    pub(crate) const fn is_lasting(&self) -> bool {
        match self {
            Self::Child(_) => true,
            Self::Server(_) | Self::Streams(_) => false,
            #[cfg(feature = "http")]
            Self::Http(_) => true,
        }
    }
}

pub(crate) struct Session {
    lane: Lane,
    config: ClientConfig,
    limits: Limits,
    restart: Restart,
    shutdown: Shutdown,
    eras: EraCache,
    /// What is remembered by: of those that last.
    program: Option<Program>,
    /// What was spoken on the last connection.
    spoken: Option<ProtocolVersion>,
    /// The last program died when it was asked for the newest revision.
    died_of_probe: bool,
    shared: Arc<Shared>,
    ends: Ends,
    /// Subscriptions outlive connections.
    subscriptions: Vec<Arc<Channel>>,
    _counted: Counted,
}

/// How one connection ended.
enum Ended {
    /// Before there was one.
    Unconnected {
        error: ConnectError,
        /// It was not known yet of which era the server is.
        probing: bool,
    },
    Closed(Closed),
}

impl Session {
    pub(crate) fn new(
        lane: Lane,
        config: ClientConfig,
        limits: Limits,
        restart: Restart,
        eras: EraCache,
        shared: Arc<Shared>,
        ends: Ends,
    ) -> Self {
        let program = match &lane {
            Lane::Child(command) => Some(eras.program(command)),
            Lane::Server(_) | Lane::Streams(_) => None,
            #[cfg(feature = "http")]
            Lane::Http(endpoint) => Some(eras.url(endpoint.url())),
        };
        Self {
            lane,
            config,
            limits,
            restart,
            shutdown: Shutdown::default(),
            eras,
            program,
            spoken: None,
            died_of_probe: false,
            shared,
            ends,
            subscriptions: Vec::new(),
            _counted: Counted::new(),
        }
    }

    /// How long a program may take to end.
    pub(crate) const fn shutdown(mut self, times: Shutdown) -> Self {
        self.shutdown = times;
        self
    }

    /// All of it. Dropped early, it closes the client.
    pub(crate) async fn run(mut self) {
        let closed = self.live().await;
        tracing::info!(reason = %closed, "client closed");
        self.refuse(&closed);
        // Who waits for the end goes on now, since `ends` is dropped.
    }

    /// There will be no connection any more: nobody is to wait for one.
    fn refuse(&mut self, closed: &Closed) {
        self.shared.closed(closed.clone());
        self.ends.calls.close();
        self.ends.control.close();
        while let Ok(call) = self.ends.calls.try_recv() {
            call.slot.answer(Err(CallError::Closed(closed.clone())));
        }
        while let Ok(control) = self.ends.control.try_recv() {
            if let super::handle::Control::Subscribe(channel) = control {
                channel.end(SubscriptionEnd::Closed(closed.clone()));
            }
        }
        for channel in self.subscriptions.drain(..) {
            channel.end(SubscriptionEnd::Closed(closed.clone()));
        }
        self.shared.listeners.end();
    }

    /// One connection after the other. Returns why there is none any more.
    async fn live(&mut self) -> Closed {
        let mut restarts = Restarts::new(if self.lane.is_lasting() {
            self.restart
        } else {
            Restart::Never
        });
        let mut hiccups = 0;
        loop {
            let remembered = self.program.and_then(|program| self.eras.of(program));
            let verdict = self.spoken.or(remembered);
            let started = Instant::now();
            let ended = self.connection(verdict).await;
            let first = self.shared.connections() == 0;
            if first && self.is_hiccup(&ended) && hiccups < HICCUPS.len() {
                let rest = async {
                    Timer::after(HICCUPS[hiccups]).await;
                };
                or(rest, until_closed(&self.ends.closing)).await;
                hiccups += 1;
                continue;
            }
            let closing = self.ends.closing.is_closed();
            let held = matches!(ended, Ended::Closed(_)).then(|| started.elapsed());
            let last = match ended {
                Ended::Unconnected { error, .. } if closing => {
                    Closed::new(ClosedReason::Connect(error))
                }
                Ended::Unconnected { error, probing } => {
                    let again = match verdict {
                        Some(_) => self.forget(remembered),
                        None => self.again_in_the_old_way(&error, probing),
                    };
                    if first && again {
                        continue;
                    }
                    if first {
                        tracing::info!(%error, "no connection");
                        self.shared.failed(error);
                        return Closed::new(ClosedReason::Server);
                    }
                    Closed::new(ClosedReason::Connect(error))
                }
                Ended::Closed(closed) => closed,
            };
            if closing {
                return last;
            }
            let Some((pause, attempt)) = restarts.next(held) else {
                return last;
            };
            tracing::info!(reason = %last, attempt, ?pause, "restarting the server");
            let rest = async {
                Timer::after(pause).await;
            };
            or(rest, until_closed(&self.ends.closing)).await;
            if self.ends.closing.is_closed() {
                return Closed::new(ClosedReason::Us);
            }
        }
    }

    /// What says nothing about a server but that it is not there right now, though something is (DET-10).
    fn is_hiccup(&self, ended: &Ended) -> bool {
        let Ended::Unconnected {
            error: ConnectError::Http(fault),
            ..
        } = ended
        else {
            return false;
        };
        fault.is_transient() && !fault.is_uncommitted() && !self.ends.closing.is_closed()
    }

    /// Old servers exist that die of a question they do not know: such a one is started once more (DET-05).
    fn again_in_the_old_way(&mut self, error: &ConnectError, probing: bool) -> bool {
        let died = matches!(error, ConnectError::Closed(_));
        let again = matches!(self.lane, Lane::Child(_))
            && matches!(self.config.mode, EraMode::Auto)
            && died
            && probing
            && !self.died_of_probe;
        if again {
            tracing::info!(
                "the server ended when asked for the newest revision: asking in the old way"
            );
            self.died_of_probe = true;
        }
        again
    }

    /// A verdict about the era that led nowhere is forgotten. Whether there was one.
    fn forget(&self, remembered: Option<ProtocolVersion>) -> bool {
        let (Some(program), Some(version)) = (self.program, remembered) else {
            return false;
        };
        tracing::info!(
            version = version.as_str(),
            "the remembered revision led to no connection"
        );
        self.eras.forget(program);
        true
    }

    /// One connection, from its start to the end of its process.
    async fn connection(&mut self, verdict: Option<ProtocolVersion>) -> Ended {
        let (opened, child) = match self.open().await {
            Ok(opened) => opened,
            Err(error) => {
                return Ended::Unconnected {
                    error,
                    probing: false,
                };
            }
        };
        let mut config = self.config.clone();
        config.known_version =
            verdict.or_else(|| self.died_of_probe.then_some(ProtocolVersion::LATEST_LEGACY));
        let mut connection = ClientConnection::new(
            config,
            self.limits,
            &self.shared,
            &mut self.ends,
            &mut self.subscriptions,
        );
        // Dropped before the connection is, if all of this is dropped: whoever hears that it is closed finds it so.
        let mut cut_short = CutShort(Some(&self.shared));
        let mut unread = None;
        #[cfg(feature = "http")]
        let mut goodbye = None;
        let end = match opened {
            Opened::Streams(mut reader, writer) => {
                let end = drive(&mut connection, &mut reader, writer, Options::client()).await;
                unread = Some(reader);
                end
            }
            Opened::Server(server) => {
                server.serve_pair(&mut connection).await;
                Ok(End::Complete)
            }
            #[cfg(feature = "http")]
            Opened::Http(endpoint) => {
                connection.paused_by(endpoint.pause());
                let request = http::drive(&mut connection, &endpoint, self.limits).await;
                goodbye = request.map(|request| (endpoint, request));
                Ok(End::Finished)
            }
        };
        cut_short.0 = None;
        drop(cut_short);
        let reason = connection.reason(end);
        let (mut exit, mut stderr) = (None, String::new());
        if let Some(child) = &child {
            let known = async { Some(child.exit().await) };
            let late = async {
                Timer::after(LAST_WORDS).await;
                None
            };
            if !matches!(reason, ClosedReason::Us) {
                exit = or(known, late).await;
            }
            stderr = child.stderr_tail();
        }
        let closed = Closed::with_child(reason, exit, stderr);
        let unconnected = connection.lost(&closed);
        self.spoken = connection.version().or(self.spoken);
        if let Some(version) = connection.version()
            && let Some(program) = self.program
            && matches!(self.config.mode, EraMode::Auto)
        {
            self.eras.set(program, version);
        }
        drop(connection);
        let last = self.ends.closing.is_closed() || !self.shared.settings.restarts;
        if unconnected.is_none() && last {
            self.refuse(&closed);
        }
        #[cfg(feature = "http")]
        if let Some((endpoint, request)) = goodbye {
            endpoint.leave(request).await;
        }
        if let Some(child) = child {
            let exit = or(child.shutdown(self.shutdown), passed_over(unread)).await;
            closed.exited(exit);
        }
        match unconnected {
            None => Ended::Closed(closed),
            Some((failure, probing)) => Ended::Unconnected {
                error: failure.unwrap_or(ConnectError::Closed(closed)),
                probing,
            },
        }
    }

    async fn open(&mut self) -> Result<(Opened, Option<Handle>), ConnectError> {
        match &mut self.lane {
            Lane::Server(server) => Ok((Opened::Server(server.clone()), None)),
            #[cfg(feature = "http")]
            Lane::Http(endpoint) => Ok((Opened::Http(endpoint.clone()), None)),
            Lane::Streams(streams) => {
                let (reader, writer) = streams
                    .take()
                    .ok_or_else(|| ConnectError::Closed(Closed::new(ClosedReason::Server)))?;
                Ok((Opened::Streams(reader, writer), None))
            }
            Lane::Child(command) => {
                let command = command.clone();
                // Starting a process takes milliseconds in which other tasks of the executor can go on.
                let child = smol::unblock(move || command.spawn())
                    .await
                    .map_err(ConnectError::Spawn)?;
                self.shared.set_stderr(child.handle.stderr());
                let streams = Opened::Streams(Box::pin(child.reader), Box::pin(child.writer));
                Ok((streams, Some(child.handle)))
            }
        }
    }
}

/// Closes the client when it is dropped, unless it was emptied.
struct CutShort<'s>(Option<&'s Shared>);

impl Drop for CutShort<'_> {
    fn drop(&mut self) {
        if let Some(shared) = self.0 {
            shared.closed(Closed::new(ClosedReason::Us));
        }
    }
}

impl Drop for Session {
    /// Nothing is left to do unless its task was dropped before it had ended, as a runtime does that ends: those who wait are
    /// not to wait for ever.
    fn drop(&mut self) {
        self.refuse(&Closed::new(ClosedReason::Us));
    }
}

/// What a connection is made over.
enum Opened {
    Streams(Reader, Writer),
    Server(Server),
    #[cfg(feature = "http")]
    Http(Endpoint),
}

/// Reads on for as long as it is polled: a server that has something left to say can say it, and does not end with an error
/// because nobody listens.
async fn passed_over(unread: Option<Reader>) -> Exit {
    let mut bytes = [0; 4096];
    if let Some(mut reader) = unread {
        while reader.read(&mut bytes).await.is_ok_and(|read| read > 0) {}
    }
    pending().await
}

/// Until the last client is dropped, or closed.
async fn until_closed(closing: &Receiver<()>) {
    // Nothing is ever sent.
    let _ = closing.recv().await;
}
