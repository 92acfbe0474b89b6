//! One server of a pool, and the task that keeps it connected.

use core::time::Duration;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use async_channel::{Receiver, Sender};
use async_io::Timer;
use futures_lite::future::or;
use mcp_core::model::SubscriptionFilter;

use super::advice::{connect_advice, is_hopeless};
use super::signal::Signal;
use super::{Fault, PoolOptions, ServerState, ServerStatus, Unavailable};
use crate::client::{Client, ClientBuilder, ConnectError, Notifications, Subscription};
use crate::entropy;
use crate::host::config::{ServerConfig, Transport};
use crate::host::offer::{Offered, offers};
use crate::host::redact::Redactor;

/// What all members have in common.
pub(super) struct Setup {
    pub(super) options: PoolOptions,
    pub(super) redactor: Redactor,
    pub(super) signal: Signal,
}

/// One server.
pub(in crate::host) struct Member {
    pub(in crate::host) name: Arc<str>,
    pub(in crate::host) config: ServerConfig,
    setup: Arc<Setup>,
    state: Mutex<State>,
    /// Ends a pause.
    wake: (Sender<()>, Receiver<()>),
}

struct State {
    now: ServerState,
    client: Option<Client>,
    fault: Option<Fault>,
    connected_in: Option<Duration>,
    restarts: u32,
    /// It was connected once, or failed once.
    settled: bool,
    /// The last ones that are known, also while it is connected to again.
    tools: Arc<[Arc<Offered>]>,
}

impl Member {
    pub(super) fn new(config: ServerConfig, setup: Arc<Setup>) -> Self {
        let fault = config.fault.as_ref().map(|fault| Fault {
            what: fault.to_string(),
            advice: "set the variable, or give it a default in the configuration".to_owned(),
        });
        let (now, settled) = match (config.enabled, &fault) {
            (false, _) => (ServerState::Disabled, true),
            (true, Some(_)) => (ServerState::Failed, true),
            (true, None) => (ServerState::Connecting, false),
        };
        let state = State {
            now,
            client: None,
            fault,
            connected_in: None,
            restarts: 0,
            settled,
            tools: Arc::default(),
        };
        Self {
            name: config.name.as_str().into(),
            config,
            setup,
            state: Mutex::new(state),
            wake: async_channel::bounded(1),
        }
    }

    /// Keeps the server connected until `stop` is closed.
    pub(super) async fn run(self: Arc<Self>, stop: Receiver<()>) {
        let stopped = async {
            // Nothing is ever sent: this ends when the channel is closed.
            let _ = stop.recv().await;
        };
        or(stopped, self.keep()).await;
        let client = self.lock().client.take();
        self.change(|state| {
            state.now = ServerState::Closed;
            state.settled = true;
            state.tools = Arc::default();
        });
        if let Some(client) = client {
            client.close().await;
        }
    }

    async fn keep(&self) {
        /// A connection that held for so long was a good one: pauses begin anew.
        const GOOD: Duration = Duration::from_secs(60);
        let mut attempt = 0;
        loop {
            self.change(|state| state.now = ServerState::Connecting);
            let started = Instant::now();
            let connected = self.connect().await;
            let (fault, hopeless) = match connected {
                Ok(client) => {
                    let held = Instant::now();
                    self.serve(&client, started).await;
                    if held.elapsed() >= GOOD {
                        attempt = 0;
                    }
                    (self.ended(&client), false)
                }
                Err(error) => {
                    let fault = self.fault(&error.to_string(), connect_advice(&error));
                    (fault, is_hopeless(&error))
                }
            };
            tracing::warn!(
                server = &*self.name,
                fault = &*fault.what,
                "a server is not connected"
            );
            let pause = self.setup.options.backoff.pause(attempt, entropy::seed());
            let pause = pause.filter(|_| !hopeless);
            self.change(|state| {
                state.client = None;
                state.fault = Some(fault);
                state.settled = true;
                state.now = if pause.is_some() {
                    ServerState::Waiting
                } else {
                    ServerState::Failed
                };
                if pause.is_none() {
                    // Nobody is to be offered what will not come back by itself.
                    state.tools = Arc::default();
                }
            });
            let woken = async {
                // The other end is in here as well: it is never closed.
                let _ = self.wake.1.recv().await;
                true
            };
            let by_hand = match pause {
                Some(pause) => {
                    or(woken, async {
                        Timer::after(pause).await;
                        false
                    })
                    .await
                }
                None => woken.await,
            };
            attempt = if by_hand { 0 } else { attempt + 1 };
            self.change(|state| state.restarts = state.restarts.saturating_add(1));
        }
    }

    async fn connect(&self) -> Result<Client, ConnectError> {
        let options = &self.setup.options;
        let mut builder = ClientBuilder::new(options.name.clone(), options.version.clone())
            .spawner(options.spawner.clone());
        if let Some(time) = self.config.connect_timeout {
            builder = builder.connect_timeout(time);
        }
        if let Some(time) = self.config.timeout {
            builder = builder.request_timeout(time);
        }
        if let Transport::Http { headers, .. } = &self.config.transport {
            for (name, value) in headers {
                builder = builder.header(name, value.reveal());
            }
        }
        if let Some(configure) = &options.configure {
            builder = configure(&self.name, builder);
        }
        #[cfg(feature = "apps")]
        if options.apps {
            builder = builder.apps();
        }
        match (&self.config.transport, self.config.command()) {
            (Transport::InProcess(server), _) => builder.connect_in_process(server).await,
            (Transport::Http { url, .. }, _) => builder.connect_http(url.reveal()).await,
            (Transport::Stdio { .. }, command) => {
                let command =
                    command.ok_or_else(|| ConnectError::Config("no command".to_owned()))?;
                builder.connect_stdio(command).await
            }
        }
    }

    /// Keeps its tools up to date until the connection ends.
    async fn serve(&self, client: &Client, started: Instant) {
        let notifications = client.notifications();
        let server = client.server();
        let tools = server
            .as_ref()
            .and_then(|it| it.capabilities.as_ref()?.tools);
        // Before the list is read, so that no change falls in between.
        let changes = match tools {
            Some(tools) if tools.list_changed => self.subscribe(client).await,
            Some(_) | None => None,
        };
        if tools.is_some() {
            self.read_tools(client).await;
        }
        self.change(|state| {
            state.now = ServerState::Ready;
            state.client = Some(client.clone());
            state.connected_in = Some(started.elapsed());
            state.settled = true;
        });
        let update = async {
            if let Some(mut changes) = changes {
                while changes.next().await.is_some() {
                    self.read_tools(client).await;
                }
            }
            core::future::pending().await
        };
        or(closed(notifications), update).await;
    }

    async fn subscribe(&self, client: &Client) -> Option<Subscription> {
        /// A server that does not say so soon that it will tell is not waited for.
        const TIME: Duration = Duration::from_secs(5);
        let subscribed = async {
            client
                .subscribe(SubscriptionFilter::new().tools())
                .await
                .ok()
        };
        let late = async {
            Timer::after(TIME).await;
            None
        };
        or(subscribed, late).await
    }

    async fn read_tools(&self, client: &Client) {
        let read = client.list_tools().await;
        match read {
            Ok(tools) => {
                let guards = &self.setup.options.guards;
                let offered = offers(&self.config, &self.name, &tools, guards).into();
                self.change(|state| {
                    state.tools = offered;
                    state.fault = None;
                });
            }
            // What is known stays; if it is the connection that has ended, that is noticed elsewhere.
            Err(error) => {
                let advice =
                    "the server answers `tools/list` wrongly, or not in time; `mcp list` shows how";
                let fault = self.fault(&error.to_string(), advice.to_owned());
                self.change(|state| state.fault = Some(fault));
            }
        }
    }

    fn ended(&self, client: &Client) -> Fault {
        let closed = client.closed();
        let mut what = closed
            .as_ref()
            .map_or_else(|| "the connection ended".to_owned(), ToString::to_string);
        let words = closed
            .as_ref()
            .map(|it| it.stderr().trim())
            .unwrap_or_default();
        if let Some(last) = words.lines().last().filter(|_| !what.contains(words)) {
            what.push_str("; it wrote: ");
            what.push_str(last);
        }
        let advice = "it is started again by itself; its standard error says more";
        self.fault(&what, advice.to_owned())
    }

    /// Of a server's words only so much, and no secret.
    fn fault(&self, what: &str, advice: String) -> Fault {
        const LONGEST: usize = 2000;
        let what = self.setup.redactor.text(what);
        Fault {
            what: what.chars().take(LONGEST).collect(),
            advice,
        }
    }

    /// `None`: it may come yet.
    pub(in crate::host) fn client(&self) -> Option<Result<Client, Unavailable>> {
        let state = self.lock();
        let why = match state.now {
            ServerState::Ready => return state.client.clone().map(Ok),
            ServerState::Connecting | ServerState::Waiting => return None,
            ServerState::Disabled => "it is disabled",
            ServerState::Closed => "the host was closed",
            ServerState::Failed => "it has failed",
        };
        drop(state);
        Some(Err(self.unavailable(why)))
    }

    pub(super) fn unavailable(&self, why: &str) -> Unavailable {
        let state = self.lock();
        let fault = state.fault.as_ref();
        Unavailable {
            server: self.name.to_string(),
            why: fault.map_or_else(|| why.to_owned(), |fault| format!("{why}: {}", fault.what)),
        }
    }

    pub(super) fn is_settled(&self) -> bool {
        self.lock().settled
    }

    /// Ends the pause, if there is one.
    pub(super) fn wake(&self) -> bool {
        let can = self.config.enabled && self.config.fault.is_none();
        if can && matches!(self.lock().now, ServerState::Waiting | ServerState::Failed) {
            // Full: it is being woken already.
            let _ = self.wake.0.try_send(());
        }
        can
    }

    pub(super) fn status(&self) -> ServerStatus {
        let state = self.lock();
        ServerStatus {
            name: self.name.clone(),
            state: state.now,
            fault: state.fault.clone(),
            connected_in: state.connected_in,
            restarts: state.restarts,
            tools: state.tools.len(),
        }
    }

    pub(in crate::host) fn tools(&self) -> Arc<[Arc<Offered>]> {
        self.lock().tools.clone()
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.lock());
        self.setup.signal.fire();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Each change is a few assignments: there is no half of one.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns when the connection has ended for good.
async fn closed(mut notifications: Notifications) {
    while notifications.next().await.is_some() {}
}
