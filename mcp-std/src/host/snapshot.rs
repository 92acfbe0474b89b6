//! The tools of one round.

use core::fmt;
use std::sync::Arc;

use super::catalog::{Catalog, Entry};
use super::tool::ToolDefinition;

/// The tools that a model is offered in one round. It never changes: what servers change meanwhile is in the next one.
///
/// Made by [`Session::snapshot`](super::Session::snapshot). Calls that the model makes of these tools are resolved in it, and so
/// never mean another tool than the model saw. Cheap to clone.
#[derive(Clone)]
pub struct Snapshot(pub(super) Arc<Shown>);

pub(super) struct Shown {
    pub(super) catalog: Arc<Catalog>,
    /// What is offered, in the order of the configuration and of the servers' lists.
    pub(super) tools: Vec<Arc<ToolDefinition>>,
    /// Of each entry of the catalogue, whether it is offered.
    pub(super) offered: Vec<bool>,
    /// The name of the tool that searches, if there is one.
    pub(super) search: Option<String>,
    /// Which state of the session this is of.
    pub(super) revision: u64,
}

impl Snapshot {
    /// The tools.
    #[must_use]
    pub fn tools(&self) -> &[Arc<ToolDefinition>] {
        &self.0.tools
    }

    /// How many tools there are that the model does not see: of groups that are not active, found by a search only, for apps
    /// only, or held back.
    #[must_use]
    pub fn deferred(&self) -> usize {
        self.0.offered.iter().filter(|offered| !**offered).count()
    }

    /// The tool of this name, if it is offered.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<ToolDefinition>> {
        self.0.tools.iter().find(|tool| tool.name == name)
    }

    /// The server and its tool that this name means: the way back from [`Naming`](super::Naming).
    #[must_use]
    pub fn resolve(&self, name: &str) -> Option<(&str, &str)> {
        let tool = &self.entry(name)?.definition;
        Some((&tool.server, &tool.tool))
    }

    /// The tools that fit a question best, best first, whether they are offered or not; those that are held back are not
    /// among them.
    #[must_use]
    pub fn search(&self, query: &str, most: usize) -> Vec<Arc<ToolDefinition>> {
        let catalog = &self.0.catalog;
        let found = catalog.find(query, most).into_iter();
        found
            .map(|at| catalog.entries[at].definition.clone())
            .collect()
    }

    pub(super) fn entry(&self, name: &str) -> Option<&Entry> {
        let at = *self.0.catalog.by_name.get(name)?;
        self.0.offered[at].then(|| &self.0.catalog.entries[at])
    }
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Snapshot")
            .field("tools", &self.0.tools.len())
            .field("deferred", &self.deferred())
            .finish_non_exhaustive()
    }
}
