//! One conversation with a model.

use core::fmt;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::catalog::{Catalog, Entry};
use super::execute::{Trace, search_definition};
use super::host::{Disclosure, Host, Inner};
use super::offer::ToolDigest;
use super::snapshot::{Shown, Snapshot};
use super::tool::ToolDefinition;

/// One conversation: which tools it has found, which groups are active in it, and what was approved for it. Its clones are one.
///
/// A round begins with a [`snapshot`](Self::snapshot), whose tools the model is offered; what it calls is
/// [called](Self::call_all) with that snapshot.
#[derive(Clone)]
pub struct Session(Arc<Shared>);

struct Shared {
    host: Host,
    trace: Trace,
    asking: async_lock::Mutex<()>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    groups: HashSet<String>,
    /// By server and tool.
    tools: HashSet<(Arc<str>, String)>,
    approved: HashSet<(Arc<str>, String, ToolDigest)>,
    revision: u64,
    last: Option<Snapshot>,
}

impl Session {
    pub(super) fn new(host: Host) -> Self {
        Self(Arc::new(Shared {
            host,
            trace: Trace::new(),
            asking: async_lock::Mutex::new(()),
            state: Mutex::default(),
        }))
    }

    /// The tools of the next round: all changes that servers told of so far are in it. The same one as before if nothing has
    /// changed.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        let catalog = self.host().catalog();
        let mut state = self.lock();
        if let Some(last) = &state.last
            && Arc::ptr_eq(&last.0.catalog, &catalog)
            && last.0.revision == state.revision
        {
            return last.clone();
        }
        let snapshot = state.shown(catalog, self.host().disclosure);
        state.last = Some(snapshot.clone());
        snapshot
    }

    /// Offers the tools of this group from the next snapshot on.
    pub fn activate_group(&self, group: impl Into<String>) {
        let mut state = self.lock();
        state.groups.insert(group.into());
        state.revision += 1;
    }

    /// Offers the tools of this group no more, from the next snapshot on.
    pub fn deactivate_group(&self, group: &str) {
        let mut state = self.lock();
        state.groups.remove(group);
        state.revision += 1;
    }

    /// Offers these tools from the next snapshot on, whatever groups they are in.
    pub fn activate_tools(&self, tools: &[Arc<ToolDefinition>]) {
        let mut state = self.lock();
        let before = state.tools.len();
        let tools = tools
            .iter()
            .map(|tool| (tool.server.clone(), tool.tool.clone()));
        state.tools.extend(tools);
        if state.tools.len() != before {
            state.revision += 1;
        }
    }

    /// The trace that its calls belong to.
    #[must_use]
    pub fn trace(&self) -> &Trace {
        &self.0.trace
    }

    pub(super) fn host(&self) -> &Inner {
        &self.0.host.0
    }

    pub(super) fn asking(&self) -> &async_lock::Mutex<()> {
        &self.0.asking
    }

    pub(super) fn is_approved(&self, server: &Arc<str>, tool: &str, digest: ToolDigest) -> bool {
        let key = (server.clone(), tool.to_owned(), digest);
        self.lock().approved.contains(&key)
    }

    pub(super) fn remember(&self, server: &Arc<str>, tool: &str, digest: ToolDigest) {
        let key = (server.clone(), tool.to_owned(), digest);
        self.lock().approved.insert(key);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing in here panics half-way.
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn shown(&self, catalog: Arc<Catalog>, disclosure: Disclosure) -> Snapshot {
        let grouped = |entry: &Entry| {
            let group = entry.offered.group.as_deref();
            group.is_none_or(|group| self.groups.contains(group))
        };
        let found = |entry: &Entry| {
            let it = &entry.definition;
            !self.tools.is_empty() && self.tools.contains(&(it.server.clone(), it.tool.clone()))
        };
        let entries = &catalog.entries;
        let free = entries
            .iter()
            .filter(|entry| entry.is_for_model() && grouped(entry));
        let searches = match disclosure {
            Disclosure::All => false,
            Disclosure::Search { above } => free.count() > above,
        };
        let offered: Vec<_> = entries
            .iter()
            .map(|entry| entry.is_for_model() && (found(entry) || !searches && grouped(entry)))
            .collect();
        let mut tools = Vec::with_capacity(entries.len());
        let search = searches.then(|| {
            // Named so that no tool of a server has its place.
            let mut name = "search_tools".to_owned();
            while catalog.by_name.contains_key(&name) {
                name.push('_');
            }
            tools.push(Arc::new(search_definition(&name)));
            name
        });
        let shown = entries
            .iter()
            .zip(&offered)
            .filter(|(_, offered)| **offered);
        tools.extend(shown.map(|(entry, _)| entry.definition.clone()));
        Snapshot(Arc::new(Shown {
            tools,
            offered,
            search,
            revision: self.revision,
            catalog,
        }))
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.lock();
        f.debug_struct("Session")
            .field("trace", &self.0.trace)
            .field("groups", &state.groups)
            .field("tools", &state.tools.len())
            .finish_non_exhaustive()
    }
}
