//! What a host is to be, before it connects.

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::time::Duration;
use std::sync::{Arc, Mutex};

use async_lock::Semaphore;
use mcp_core::model::ElicitResult;

use super::catalog::Catalog;
use super::config::{HostConfig, Transport};
use super::execute::{
    ApprovalRequest, Approver, AskAbout, AuditLog, CircuitBreaker, Decision, Lane, Middleware,
};
use super::guard::{Finding, Guards, Rule, check_elicitation};
use super::host::{Disclosure, Host, Inner};
use super::naming::Naming;
use super::pool::{Backoff, Pool, PoolOptions};
use super::trust::TrustStore;
use crate::Spawner;
use crate::client::{ClientBuilder, ElicitRequest};

/// A server of the host asks the user for something.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HostElicitation {
    /// Which server, by its name in the configuration: this one can be trusted, unlike what it says of itself.
    pub server: Arc<str>,
    /// What it asks for.
    pub request: ElicitRequest,
    /// What is suspicious about that.
    pub findings: Vec<Finding>,
}

type Eliciting = Pin<Box<dyn Future<Output = ElicitResult<'static>> + Send>>;
type OnElicit = Arc<dyn Fn(HostElicitation) -> Eliciting + Send + Sync>;

/// Makes a [`Host`]. Begin with [`Host::builder`].
#[must_use = "nothing happens before `start`"]
pub struct HostBuilder {
    config: HostConfig,
    pool: PoolOptions,
    naming: Naming,
    trust: TrustStore,
    disclosure: Disclosure,
    approver: Option<Approver>,
    middleware: Vec<Arc<dyn Middleware>>,
    audit: Option<AuditLog>,
    call_timeout: Duration,
    max_concurrent: usize,
    breaker: CircuitBreaker,
    elicit: Option<OnElicit>,
}

impl HostBuilder {
    pub(super) fn new(config: HostConfig) -> Self {
        Self {
            config,
            pool: PoolOptions::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION")),
            naming: Naming::default(),
            trust: TrustStore::new(),
            disclosure: Disclosure::All,
            approver: None,
            middleware: Vec::new(),
            audit: None,
            call_timeout: Duration::from_secs(10 * 60),
            max_concurrent: 16,
            breaker: CircuitBreaker::DEFAULT,
            elicit: None,
        }
    }

    /// The program's name and version, which servers see.
    pub fn client(mut self, name: impl Into<String>, version: impl Into<String>) -> Self {
        self.pool.name = name.into();
        self.pool.version = version.into();
        self
    }

    /// Says more about the client of each server, which is named first: a login, roots, a handler of sampling.
    pub fn configure(
        mut self,
        configure: impl Fn(&str, ClientBuilder) -> ClientBuilder + Send + Sync + 'static,
    ) -> Self {
        self.pool = self.pool.configure(configure);
        self
    }

    /// Asks the user what servers want to have asked, forms and pages alike; with what is suspicious about it.
    pub fn elicitation<F>(
        mut self,
        handler: impl Fn(HostElicitation) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = ElicitResult<'static>> + Send + 'static,
    {
        self.elicit = Some(Arc::new(move |asked| Box::pin(handler(asked))));
        self
    }

    /// The program shows [apps](crate::apps): each server is told so, and tools that are for apps only are not offered to the
    /// model, nor found by it. An app's own calls are [`Session::call_for_app`](super::Session::call_for_app).
    #[cfg(feature = "apps")]
    pub fn apps(mut self) -> Self {
        self.pool.apps = true;
        self
    }

    /// How servers that failed are started again.
    pub fn backoff(mut self, backoff: Backoff) -> Self {
        self.pool.backoff = backoff;
        self
    }

    /// Where connections run.
    pub fn spawner(mut self, spawner: Spawner) -> Self {
        self.pool.spawner = spawner;
        self
    }

    /// How tools are named. Default: `server__tool`.
    pub fn naming(mut self, naming: Naming) -> Self {
        self.naming = naming;
        self
    }

    /// Which guards there are.
    pub fn guards(mut self, guards: Guards) -> Self {
        self.pool.guards = guards;
        self
    }

    /// What is remembered of tools. Default: nothing but what is seen from now on.
    pub fn trust(mut self, store: &TrustStore) -> Self {
        self.trust = store.clone();
        self
    }

    /// How many tools the model is shown at once. Default: all.
    pub const fn disclosure(mut self, disclosure: Disclosure) -> Self {
        self.disclosure = disclosure;
        self
    }

    /// Asks before tools are called. Default: nobody is asked.
    pub fn approval<F>(
        mut self,
        about: AskAbout,
        ask: impl Fn(ApprovalRequest) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Decision> + Send + 'static,
    {
        self.approver = Some(Approver::new(about, ask));
        self
    }

    /// Something more between the model and the servers.
    pub fn middleware(mut self, middleware: impl Middleware + 'static) -> Self {
        self.middleware.push(Arc::new(middleware));
        self
    }

    /// Writes down each call.
    pub fn audit(mut self, log: AuditLog) -> Self {
        self.audit = Some(log);
        self
    }

    /// How long a call may take altogether, from when it is approved. Default: 10 minutes. How long a server may be silent is
    /// said in its configuration.
    pub const fn call_timeout(mut self, time: Duration) -> Self {
        self.call_timeout = time;
        self
    }

    /// How many calls at once, of all servers. Default: 16; 0 counts as 1.
    pub const fn max_concurrent(mut self, calls: usize) -> Self {
        self.max_concurrent = calls;
        self
    }

    /// When a server that fails is left alone.
    pub const fn circuit_breaker(mut self, breaker: CircuitBreaker) -> Self {
        self.breaker = breaker;
        self
    }

    /// Begins to connect to the servers; it waits for none: see [`Host::settled`].
    #[must_use]
    pub fn start(self) -> Host {
        let mut pool = self.pool;
        let guards = pool.guards.clone();
        if let Some(elicit) = self.elicit {
            let said = pool.configure.take();
            let urls = urls(&self.config);
            let guarded = guards.clone();
            pool = pool.configure(move |server, builder| {
                let builder = match &said {
                    Some(said) => said(server, builder),
                    None => builder,
                };
                let url = urls.iter().find(|(name, _)| name == server);
                let url = url.map(|(_, url)| url.clone());
                let handler = asking(server, url, &guarded, &elicit);
                builder
                    .elicitation(handler.clone())
                    .url_elicitation(handler)
            });
        }
        let servers = self.config.servers.iter();
        let lanes = servers.map(|server| {
            let lane = Lane::new(server, self.max_concurrent, self.breaker);
            (Arc::from(&*server.name), lane)
        });
        let mut last = Catalog::default();
        // No state has this number: the first catalogue is made when it is asked for.
        last.revision = (u64::MAX, u64::MAX);
        Host(Arc::new(Inner {
            lanes: lanes.collect(),
            pool: Pool::start(self.config, pool),
            naming: self.naming,
            guards,
            trust: self.trust,
            disclosure: self.disclosure,
            approver: self.approver,
            middleware: self.middleware,
            audit: self.audit,
            call_timeout: self.call_timeout,
            permits: Semaphore::new(self.max_concurrent.max(1)),
            last: Mutex::new(Arc::new(last)),
        }))
    }
}

fn urls(config: &HostConfig) -> Vec<(String, String)> {
    let urls = config
        .servers
        .iter()
        .filter_map(|server| match &server.transport {
            Transport::Http { url, .. } => Some((server.name.clone(), url.reveal().to_owned())),
            Transport::Stdio { .. } | Transport::InProcess(_) => None,
        });
    urls.collect()
}

fn asking(
    server: &str,
    url: Option<String>,
    guards: &Guards,
    elicit: &OnElicit,
) -> impl Fn(ElicitRequest) -> Eliciting + Clone + Send + Sync + 'static {
    let on = guards.is_on(Rule::Elicitation);
    let (server, elicit): (Arc<str>, _) = (server.into(), elicit.clone());
    move |request| {
        let findings = if on {
            check_elicitation(&server, url.as_deref(), &request.params)
        } else {
            Vec::new()
        };
        elicit(HostElicitation {
            server: server.clone(),
            request,
            findings,
        })
    }
}

impl fmt::Debug for HostBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostBuilder")
            .field("config", &self.config)
            .field("naming", &self.naming)
            .field("disclosure", &self.disclosure)
            .finish_non_exhaustive()
    }
}
