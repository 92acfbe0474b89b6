//! The connections of a host: one for each server, none of which waits for another.

mod advice;
mod backoff;
mod member;
mod signal;

use core::fmt;
use core::time::Duration;
use std::sync::Arc;

use async_channel::{Receiver, Sender};
use async_io::Timer;
use futures_lite::future::or;

use super::config::{HostConfig, ServerConfig};
use super::guard::Guards;
use super::redact::Redactor;
use crate::Spawner;
use crate::client::{Client, ClientBuilder};

pub use backoff::Backoff;
pub(super) use member::Member;
use member::Setup;
pub(super) use signal::Signal;

/// Says more about the client of each server before it connects.
pub(super) type Configure = Arc<dyn Fn(&str, ClientBuilder) -> ClientBuilder + Send + Sync>;

/// How a pool connects.
#[derive(Clone)]
pub struct PoolOptions {
    pub(super) name: String,
    pub(super) version: String,
    pub(super) backoff: Backoff,
    pub(super) spawner: Spawner,
    pub(super) configure: Option<Configure>,
    pub(super) guards: Guards,
    #[cfg(feature = "apps")]
    pub(super) apps: bool,
}

impl PoolOptions {
    /// For a program of this name and version, which servers see.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            version: version.into(),
            backoff: Backoff::DEFAULT,
            spawner: Spawner::default(),
            configure: None,
            guards: Guards::new(),
            #[cfg(feature = "apps")]
            apps: false,
        }
    }

    /// How servers that failed are started again.
    #[must_use]
    pub const fn backoff(mut self, backoff: Backoff) -> Self {
        self.backoff = backoff;
        self
    }

    /// Where the connections run.
    #[must_use]
    pub fn spawner(mut self, spawner: Spawner) -> Self {
        self.spawner = spawner;
        self
    }

    /// Says more about the client of each server, which is named first: handlers, a login, its era.
    #[must_use]
    pub fn configure(
        mut self,
        configure: impl Fn(&str, ClientBuilder) -> ClientBuilder + Send + Sync + 'static,
    ) -> Self {
        self.configure = Some(Arc::new(configure));
        self
    }
}

impl fmt::Debug for PoolOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PoolOptions")
            .field("name", &self.name)
            .field("version", &self.version)
            .field("backoff", &self.backoff)
            .finish_non_exhaustive()
    }
}

/// The servers of a configuration, connected at once and independently: one that is slow or dead holds up nobody else.
///
/// Its clones are one pool; when the last one is dropped all connections are closed. [`close`](Self::close) waits for that.
///
/// ```
/// use mcp_std::Server;
/// use mcp_std::host::{HostConfig, Pool, PoolOptions, ServerConfig};
///
/// # smol::block_on(async {
/// let server = Server::builder("clock", "1").tool("now", "The time", || async { "noon" }).build()?;
/// let config = HostConfig::new()
///     .server(ServerConfig::in_process("clock", &server))
///     .server(ServerConfig::stdio("broken", "no-such-program"));
/// let pool = Pool::start(config, PoolOptions::new("example", "1.0.0"));
/// pool.settled().await;
/// assert_eq!(pool.client("clock").await?.call_tool("now", &()).await?.text(), "noon");
/// assert!(pool.client("broken").await.is_err());
/// pool.close().await;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).expect("it works");
/// ```
#[derive(Clone)]
pub struct Pool(Arc<Inner>);

struct Inner {
    members: Vec<Arc<Member>>,
    #[cfg(feature = "apps")]
    apps: bool,
    signal: Signal,
    redactor: Redactor,
    /// Closed when the servers are to be left.
    stop: Sender<()>,
    /// Closed when all have been.
    gone: Receiver<()>,
}

impl Pool {
    /// Begins to connect to all servers that are enabled. It waits for none: see [`settled`](Self::settled).
    #[must_use]
    pub fn start(config: HostConfig, options: PoolOptions) -> Self {
        let signal = Signal::new();
        let redactor = Redactor::of(&config);
        let (stop, stopped) = async_channel::bounded(1);
        let (alive, gone) = async_channel::bounded(1);
        #[cfg(feature = "apps")]
        let apps = options.apps;
        let setup = Arc::new(Setup {
            options,
            redactor: redactor.clone(),
            signal: signal.clone(),
        });
        let join = |config: ServerConfig| {
            let member = Arc::new(Member::new(config, setup.clone()));
            if member.config.enabled && member.config.fault.is_none() {
                let (running, stopped, alive) = (member.clone(), stopped.clone(), alive.clone());
                setup.options.spawner.spawn(async move {
                    running.run(stopped).await;
                    drop(alive);
                });
            }
            member
        };
        Self(Arc::new(Inner {
            members: config.servers.into_iter().map(join).collect(),
            #[cfg(feature = "apps")]
            apps,
            signal,
            redactor,
            stop,
            gone,
        }))
    }

    #[cfg(feature = "apps")]
    pub(super) fn shows_apps(&self) -> bool {
        self.0.apps
    }

    /// Returns when each server has been connected to once, or failed once.
    pub async fn settled(&self) {
        loop {
            let changed = self.0.signal.listen();
            if self.0.members.iter().all(|member| member.is_settled()) {
                return;
            }
            changed.wait().await;
        }
    }

    /// The connection to a server. If it is just being made, or made again, this waits for it, 10 seconds at most.
    ///
    /// # Errors
    ///
    /// There is no such server, it is disabled or has failed, or it takes too long.
    pub async fn client(&self, server: &str) -> Result<Client, Unavailable> {
        self.client_within(server, Duration::from_secs(10)).await
    }

    /// [`client`](Self::client), with how long it waits at most.
    ///
    /// # Errors
    ///
    /// The same.
    pub async fn client_within(&self, server: &str, time: Duration) -> Result<Client, Unavailable> {
        let member = self.member(server).ok_or_else(|| Unavailable {
            server: server.to_owned(),
            why: "there is no such server in the configuration".to_owned(),
        })?;
        let ready = async {
            loop {
                let changed = self.0.signal.listen();
                if let Some(done) = member.client() {
                    return done;
                }
                changed.wait().await;
            }
        };
        let late = async {
            Timer::after(time).await;
            Err(member.unavailable("it is not connected yet"))
        };
        or(ready, late).await
    }

    /// How each server is, in the order of the configuration.
    #[must_use]
    pub fn status(&self) -> Vec<ServerStatus> {
        self.0
            .members
            .iter()
            .map(|member| member.status())
            .collect()
    }

    /// Tries again at once with a server that has failed, or waits for its next attempt. `false`: there is no such server, or
    /// it is not one that can be connected to.
    pub fn reconnect(&self, server: &str) -> bool {
        self.member(server).is_some_and(|member| member.wake())
    }

    /// Returns when something about a server has changed after this was called: its state, or its tools.
    pub async fn changed(&self) {
        self.0.signal.listen().wait().await;
    }

    /// Closes all connections and waits until the servers' processes are gone. What is called afterwards fails.
    pub async fn close(&self) {
        self.0.stop.close();
        // Nothing is ever sent: this ends when the last task has.
        let _ = self.0.gone.recv().await;
    }

    pub(super) fn members(&self) -> &[Arc<Member>] {
        &self.0.members
    }

    pub(super) fn member(&self, server: &str) -> Option<&Arc<Member>> {
        self.0.members.iter().find(|member| *member.name == *server)
    }

    /// Grows with each change.
    pub(super) fn revision(&self) -> u64 {
        self.0.signal.count()
    }

    pub(super) fn signal(&self) -> &Signal {
        &self.0.signal
    }

    pub(super) fn redactor(&self) -> &Redactor {
        &self.0.redactor
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Pool").field(&self.status()).finish()
    }
}

/// There is no connection to a server.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Unavailable {
    /// Which.
    pub server: String,
    /// Why.
    pub why: String,
}

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` cannot be used: {}", self.server, self.why)
    }
}

impl core::error::Error for Unavailable {}

/// What a server is doing.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ServerState {
    /// Nothing: it is disabled.
    Disabled,
    /// It is being connected to.
    Connecting,
    /// It is connected.
    Ready,
    /// It failed, and is tried again after a pause.
    Waiting,
    /// It failed, and is left alone until [`Pool::reconnect`].
    Failed,
    /// The pool was closed.
    Closed,
}

/// How a server is.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServerStatus {
    /// Its name in the configuration.
    pub name: Arc<str>,
    /// What it is doing.
    pub state: ServerState,
    /// What went wrong last, without secrets. Some of it is what the server says.
    pub fault: Option<Fault>,
    /// How long it took to connect, its list of tools included.
    pub connected_in: Option<Duration>,
    /// How often it was started again.
    pub restarts: u32,
    /// How many tools it offers, those of them that its filter admits.
    pub tools: usize,
}

/// What went wrong with a server.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Fault {
    /// What.
    pub what: String,
    /// What can be done about it.
    pub advice: String,
}
