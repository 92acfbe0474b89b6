//! A host: servers, and the rules by which a model uses them.

use core::fmt;
use core::time::Duration;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_lock::Semaphore;

use super::builder::HostBuilder;
use super::catalog::Catalog;
use super::config::HostConfig;
use super::execute::{Approver, AuditLog, Lane, Middleware};
use super::guard::{Finding, Guards};
use super::naming::Naming;
use super::pool::{Pool, ServerStatus};
use super::session::Session;
use super::trust::TrustStore;

/// How many tools a model is shown at once.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum Disclosure {
    /// All of them, but for groups that are not active.
    #[default]
    All,
    /// All, unless there are more than this: then only `search_tools`, by which the model finds those that it needs, and what
    /// it has found so far.
    #[non_exhaustive]
    Search {
        /// So many are shown without a search.
        above: usize,
    },
}

impl Disclosure {
    /// A search, if there are more tools than this.
    #[must_use]
    pub const fn search_above(above: usize) -> Self {
        Self::Search { above }
    }
}

/// Many servers behind one model. Its clones are one host; begin with [`Host::builder`], and with a [`Session`] for each
/// conversation.
#[derive(Clone)]
pub struct Host(pub(super) Arc<Inner>);

pub(super) struct Inner {
    pub(super) pool: Pool,
    pub(super) naming: Naming,
    pub(super) guards: Guards,
    pub(super) trust: TrustStore,
    pub(super) disclosure: Disclosure,
    pub(super) approver: Option<Approver>,
    pub(super) middleware: Vec<Arc<dyn Middleware>>,
    pub(super) audit: Option<AuditLog>,
    pub(super) call_timeout: Duration,
    pub(super) permits: Semaphore,
    /// By the names of servers.
    pub(super) lanes: HashMap<Arc<str>, Lane>,
    pub(super) last: Mutex<Arc<Catalog>>,
}

impl Inner {
    /// The tools that there are now.
    pub(super) fn catalog(&self) -> Arc<Catalog> {
        // Held while it is made, so that it is made once.
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.revision != (self.pool.revision(), self.trust.revision()) {
            let new = Catalog::new(&self.pool, &self.naming, &self.guards, &self.trust, &last);
            *last = Arc::new(new);
        }
        last.clone()
    }
}

impl Host {
    /// Begins a host with the servers of this configuration.
    pub fn builder(config: HostConfig) -> HostBuilder {
        HostBuilder::new(config)
    }

    /// A new conversation.
    #[must_use]
    pub fn session(&self) -> Session {
        Session::new(self.clone())
    }

    /// Returns when each server has been connected to once, or failed once.
    pub async fn settled(&self) {
        self.0.pool.settled().await;
    }

    /// The connections.
    #[must_use]
    pub fn pool(&self) -> &Pool {
        &self.0.pool
    }

    /// How each server is.
    #[must_use]
    pub fn status(&self) -> Vec<ServerStatus> {
        self.0.pool.status()
    }

    /// What is suspicious about the tools that there are now.
    #[must_use]
    pub fn findings(&self) -> Vec<Finding> {
        self.0.catalog().findings.clone()
    }

    /// What is remembered of tools.
    #[must_use]
    pub fn trust(&self) -> &TrustStore {
        &self.0.trust
    }

    /// Accepts what was found of a tool: that it has changed is no finding any more, and what [held](super::Action::Hold) it for
    /// another reason is still said, and does not hold it. It is offered from the next snapshot on, if nothing else holds it.
    /// This is of the definition that the finding is about, and of no later one; approvals of an earlier one do not hold for it.
    ///
    /// `false`: the tool is not so any more, or has changed, which is to be accepted first; or the finding is of no tool.
    pub fn accept(&self, finding: &Finding) -> bool {
        let Some((tool, digest)) = &finding.about else {
            return false;
        };
        let catalog = self.0.catalog();
        let is_there = catalog.entries.iter().any(|entry| {
            let it = &entry.definition;
            it.server == finding.server && it.tool == *tool && entry.offered.digest == *digest
        });
        is_there
            && self
                .0
                .trust
                .accept(&finding.server, tool, *digest, finding.rule)
    }

    /// Closes all connections and waits until the servers' processes are gone.
    pub async fn close(&self) {
        self.0.pool.close().await;
    }
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host")
            .field("servers", &self.status())
            .field("naming", &self.0.naming)
            .finish_non_exhaustive()
    }
}
