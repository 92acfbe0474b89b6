//! Gateways: many servers behind one endpoint.
//!
//! A [`Gateway`] is a client of all servers of a configuration and a [`Server`] in front of them, on any transport that a
//! server has:
//!
//! ```
//! use mcp_std::host::gateway::{Gateway, GatewayOptions};
//! use mcp_std::host::{HostConfig, ServerConfig};
//! use mcp_std::{Client, Server};
//!
//! # smol::block_on(async {
//! let clock = Server::builder("clock", "1").tool("now", "The time", || async { "noon" }).build()?;
//! let config = HostConfig::new().server(ServerConfig::in_process("clock", &clock));
//! let gateway = Gateway::start(config, GatewayOptions::new("gateway", "1"))?;
//! gateway.settled().await;
//! // `gateway.server().serve_stdio()`, or `gateway.server().http()`; here, in this process:
//! let client = Client::builder("test", "1").connect_in_process(gateway.server()).await?;
//! assert_eq!(client.call_tool("clock__now", &()).await?.text(), "noon");
//! client.close().await;
//! gateway.close().await;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # }).expect("it works");
//! ```
//!
//! # What goes through
//!
//! - Tools and prompts, under [names](super::Naming) that tell the server; resources and templates under their own URIs: of
//!   two servers with one URI, the first one of the configuration has it.
//! - Arguments and results as they came: they are spliced into the messages, without being decoded, where the revisions of
//!   the two sides have them alike. Where not, as from a server of 2026-07-28 to a client of 2025-06-18, results are
//!   written anew for the client's revision.
//! - Each side speaks its own revision, of either era.
//! - Progress, cancellation, completion, the trace context and what else is in `_meta`.
//! - Questions: what a server asks of the user or the model during a call is asked of the client that made the call. For a
//!   client of 2026-07-28, which is not asked but calls again with the answer, the server is called again as well, and what
//!   it did before it asked is done again.
//! - Changes of lists; updates of the resources that are listed, of the first 256 of each server.
//!
//! Log messages of servers and roots of clients do not go through.

mod backend;
mod bridge;

use core::fmt;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_channel::Sender;

use super::config::HostConfig;
use super::naming::Naming;
use super::pool::{Backoff, Pool, PoolOptions, ServerStatus, Signal};
use crate::client::ClientBuilder;
use crate::server::relay::{Lists, Relays};
use crate::{BuildError, Server, Spawner};

use backend::{Backend, Offering};
use bridge::Bridge;

/// How a gateway is to be.
#[derive(Clone, Debug)]
#[must_use]
pub struct GatewayOptions {
    pool: PoolOptions,
    naming: Naming,
}

impl GatewayOptions {
    /// Under this name and version, which both sides see.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            pool: PoolOptions::new(name, version),
            naming: Naming::default(),
        }
    }

    /// How tools and prompts are named. Default: `server__tool`.
    pub fn naming(mut self, naming: Naming) -> Self {
        self.naming = naming;
        self
    }

    /// How servers that failed are started again.
    pub fn backoff(mut self, backoff: Backoff) -> Self {
        self.pool = self.pool.backoff(backoff);
        self
    }

    /// Where connections to the servers run.
    pub fn spawner(mut self, spawner: Spawner) -> Self {
        self.pool = self.pool.spawner(spawner);
        self
    }

    /// Says more about the client of each server, which is named first. Handlers of questions are the gateway's.
    pub fn configure(
        mut self,
        configure: impl Fn(&str, ClientBuilder) -> ClientBuilder + Send + Sync + 'static,
    ) -> Self {
        self.pool = self.pool.configure(configure);
        self
    }
}

/// All servers of a configuration, as one: see [the module](self). Its clones are one; when the last one is dropped, all
/// connections to servers are closed.
#[derive(Clone)]
pub struct Gateway(Arc<Shared>);

struct Shared {
    server: Server,
    pool: Pool,
    front: Arc<Front>,
    /// Closed when the servers are not to be followed any more.
    _stop: Sender<()>,
}

/// What clients see, made of what the servers have.
struct Front {
    server: Server,
    naming: Naming,
    /// In the order of the configuration. `None`: not known yet.
    offerings: Mutex<Vec<Option<Arc<Offering>>>>,
    signal: Signal,
}

impl Gateway {
    /// Begins to connect to all servers; it waits for none: see [`settled`](Self::settled).
    ///
    /// # Errors
    ///
    /// The name or the version is none.
    pub fn start(config: HostConfig, options: GatewayOptions) -> Result<Self, BuildError> {
        let GatewayOptions { mut pool, naming } = options;
        let server = Server::builder(&*pool.name, &*pool.version)
            .list_changes()
            .subscriptions()
            .build()?;
        let bridges: HashMap<String, Arc<Bridge>> = config
            .servers
            .iter()
            .map(|server| (server.name.clone(), Arc::new(Bridge::new(&server.name))))
            .collect();
        let said = pool.configure.take();
        let asked = bridges.clone();
        pool = pool.configure(move |server, builder| {
            let builder = match &said {
                Some(said) => said(server, builder),
                None => builder,
            };
            match asked.get(server) {
                Some(bridge) => bridge.handlers(builder),
                None => builder,
            }
        });
        let spawner = pool.spawner.clone();
        let pool = Pool::start(config, pool);
        let front = Arc::new(Front {
            server: server.clone(),
            naming,
            offerings: Mutex::new(vec![None; pool.members().len()]),
            signal: Signal::new(),
        });
        let (stop, stopped) = async_channel::bounded(1);
        for (at, member) in pool.members().iter().enumerate() {
            let backend = Backend {
                at,
                member: member.clone(),
                signal: pool.signal().clone(),
                front: Arc::downgrade(&front),
                bridge: bridges[&*member.config.name].clone(),
            };
            spawner.spawn(backend.run(stopped.clone()));
        }
        Ok(Self(Arc::new(Shared {
            server,
            pool,
            front,
            _stop: stop,
        })))
    }

    /// The server in front: clients are served with it.
    #[must_use]
    pub fn server(&self) -> &Server {
        &self.0.server
    }

    /// How each server is.
    #[must_use]
    pub fn status(&self) -> Vec<ServerStatus> {
        self.0.pool.status()
    }

    /// Returns when each server has been connected to once and its lists are there, or it has failed once.
    pub async fn settled(&self) {
        self.0.pool.settled().await;
        loop {
            let changed = self.0.front.signal.listen();
            let offerings = self.0.front.offerings.lock();
            let known: Vec<_> = offerings
                .unwrap_or_else(PoisonError::into_inner)
                .iter()
                .map(Option::is_some)
                .collect();
            let mut members = self.0.pool.members().iter().zip(known);
            if members.all(|(member, known)| known || !matches!(member.client(), Some(Ok(_)))) {
                return;
            }
            changed.wait().await;
        }
    }

    /// Closes all connections to servers and waits until their processes are gone. Clients are served on: their calls fail.
    pub async fn close(&self) {
        self.0.pool.close().await;
    }
}

impl fmt::Debug for Gateway {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Gateway").field(&self.status()).finish()
    }
}

impl Front {
    /// Takes what a server has now, and shows it to clients.
    fn publish(&self, at: usize, offering: Arc<Offering>, changed: Lists) {
        let mut offerings = self
            .offerings
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        offerings[at] = Some(offering);
        let known: Vec<_> = offerings.iter().flatten().collect();
        let relays = self.relays(&known);
        // Under the lock, so that no older state takes the place of a newer one.
        if let Err(error) = self.server.offer_relays(relays, changed) {
            tracing::warn!(%error, "what the servers have cannot be offered");
        }
        drop(offerings);
        self.signal.fire();
    }

    fn relays(&self, offerings: &[&Arc<Offering>]) -> Relays {
        let mut relays = Relays::default();
        let tools = || {
            offerings
                .iter()
                .flat_map(|it| it.tools.iter().map(move |tool| (it, tool)))
        };
        let names = self
            .naming
            .names(tools().map(|(it, tool)| (&*it.server, &*tool.name)));
        for ((offering, tool), name) in tools().zip(names) {
            relays.tools.push(offering.tool(tool, name));
        }
        let prompts = || {
            let each = offerings.iter();
            each.flat_map(|it| it.prompts.iter().map(move |prompt| (it, prompt)))
        };
        let names = self
            .naming
            .names(prompts().map(|(it, prompt)| (&*it.server, &*prompt.name)));
        for ((offering, prompt), name) in prompts().zip(names) {
            relays.prompts.push(offering.prompt(prompt, name));
        }
        let mut seen = std::collections::HashSet::new();
        for offering in offerings {
            for resource in &offering.resources {
                if seen.insert(&*resource.uri) {
                    relays.resources.push(offering.resource(resource));
                }
            }
            for template in &offering.templates {
                if seen.insert(&*template.uri_template) {
                    relays.templates.push(offering.template(template));
                }
            }
        }
        relays
    }
}
