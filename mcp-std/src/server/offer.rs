//! What a server offers: definitions and handlers together, at one time. Never altered, only replaced by another.

use core::fmt;
use core::num::NonZeroUsize;
use std::sync::Arc;

use mcp_core::engine::server::{Cacheable, Catalog, CatalogError};
use mcp_core::json::Json;
use mcp_core::model::{CacheHint, Implementation};

use super::extension::Extension;
use super::handler::Sharing;
use super::prompt::Prompt;
use super::resource::{Resource, ResourceTemplate};
use super::tool::Tool;

/// What is offered, with the catalog made of it.
pub(crate) struct Offer<S: Sharing> {
    pub(crate) catalog: Arc<Catalog>,
    /// At the positions that the catalog gives them.
    pub(crate) definitions: Definitions<S>,
}

/// What is offered.
pub(crate) struct Definitions<S: Sharing> {
    pub(crate) identity: Arc<Identity>,
    pub(crate) tools: Vec<Arc<Tool<S>>>,
    pub(crate) resources: Vec<Arc<Resource<S>>>,
    pub(crate) templates: Vec<Arc<ResourceTemplate<S>>>,
    pub(crate) prompts: Vec<Arc<Prompt<S>>>,
    pub(crate) extensions: Arc<[Extension<S>]>,
}

/// What does not change as long as the server is there.
pub(crate) struct Identity {
    pub(crate) server: Implementation<'static>,
    pub(crate) instructions: Option<String>,
    pub(crate) cache: CacheHint,
    pub(crate) cache_of: Vec<(Cacheable, CacheHint)>,
    pub(crate) page_size: Option<NonZeroUsize>,
    pub(crate) list_changes: bool,
    pub(crate) subscriptions: bool,
    pub(crate) logging: bool,
    pub(crate) extensions: Option<Json<'static>>,
    pub(crate) experimental: Option<Json<'static>>,
    /// Tools may be tasks.
    #[cfg(feature = "tasks")]
    pub(crate) tasks: bool,
}

impl<S: Sharing> Clone for Definitions<S> {
    fn clone(&self) -> Self {
        Self {
            identity: self.identity.clone(),
            tools: self.tools.clone(),
            resources: self.resources.clone(),
            templates: self.templates.clone(),
            prompts: self.prompts.clone(),
            extensions: self.extensions.clone(),
        }
    }
}

impl<S: Sharing> Definitions<S> {
    /// Whether these are the very same things, in the same order.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        fn same<T>(one: &[Arc<T>], other: &[Arc<T>]) -> bool {
            one.len() == other.len() && one.iter().zip(other).all(|(a, b)| Arc::ptr_eq(a, b))
        }
        same(&self.tools, &other.tools)
            && same(&self.resources, &other.resources)
            && same(&self.templates, &other.templates)
            && same(&self.prompts, &other.prompts)
    }

    pub(crate) fn offer(self) -> Result<Arc<Offer<S>>, BuildError> {
        if let Some(tool) = self.tools.iter().find(|tool| tool.unfit) {
            return Err(BuildError::Schema(
                tool.definition.name.clone().into_owned(),
            ));
        }
        #[cfg(feature = "tasks")]
        if let Some(tool) = self.tools.iter().find(|tool| tool.task.is_some())
            && !self.identity.tasks
        {
            return Err(BuildError::NoTasks(
                tool.definition.name.clone().into_owned(),
            ));
        }
        #[cfg(feature = "validate")]
        for tool in &self.tools {
            tool.prepare_checks()?;
        }
        let identity = &*self.identity;
        let tools: Vec<_> = self.tools.iter().map(|it| it.definition.clone()).collect();
        let resources: Vec<_> = self
            .resources
            .iter()
            .map(|it| it.definition.clone())
            .collect();
        let templates: Vec<_> = self
            .templates
            .iter()
            .map(|it| it.definition.clone())
            .collect();
        let prompts: Vec<_> = self
            .prompts
            .iter()
            .map(|it| it.definition.clone())
            .collect();
        let extensions: Vec<_> = self
            .extensions
            .iter()
            .map(|it| it.definition.clone())
            .collect();
        let completions = self.prompts.iter().any(|it| !it.completers.is_empty())
            || self.templates.iter().any(|it| !it.completers.is_empty());
        let mut catalog = Catalog::builder(&identity.server)
            .tools(&tools)
            .resources(&resources)
            .resource_templates(&templates)
            .prompts(&prompts)
            .with_extensions(&extensions)
            .tools_list_changed(identity.list_changes)
            .resources_list_changed(identity.list_changes)
            .prompts_list_changed(identity.list_changes)
            .resources_subscribe(identity.subscriptions)
            // What is added later may have them.
            .completions(completions || identity.list_changes)
            .logging(identity.logging)
            .cache(identity.cache);
        for &(what, hint) in &identity.cache_of {
            catalog = catalog.cache_of(what, hint);
        }
        if let Some(instructions) = &identity.instructions {
            catalog = catalog.instructions(instructions);
        }
        if let Some(size) = identity.page_size {
            catalog = catalog.page_size(size);
        }
        if let Some(extensions) = &identity.extensions {
            catalog = catalog.extensions(extensions.raw());
        }
        if let Some(experimental) = &identity.experimental {
            catalog = catalog.experimental(experimental.raw());
        }
        let catalog = Arc::new(catalog.build()?);
        Ok(Arc::new(Offer {
            catalog,
            definitions: self,
        }))
    }
}

/// A server cannot offer something: a mistake of its author.
#[derive(Clone, Eq, PartialEq)]
#[non_exhaustive]
pub enum BuildError {
    /// The client could not be told of it.
    Catalog(CatalogError),
    /// A schema of this tool nests too deep to be sent.
    Schema(String),
    /// A schema of this tool cannot be used, by us or by a client: why.
    InvalidSchema {
        /// The tool.
        tool: String,
        /// What is wrong.
        problem: String,
    },
    /// This tool is run as a task, and the server is built without [`with_tasks`](super::ServerBuilder::with_tasks).
    #[cfg(feature = "tasks")]
    NoTasks(String),
    /// The store of tasks cannot be used: why.
    #[cfg(feature = "tasks")]
    TaskStore(String),
    /// The server was built without [`list_changes`](super::ServerBuilder::list_changes): its clients have been told that
    /// nothing changes.
    Unchanging,
}

impl From<CatalogError> for BuildError {
    fn from(error: CatalogError) -> Self {
        Self::Catalog(error)
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Catalog(error) => error.fmt(f),
            Self::Schema(tool) => write!(f, "a schema of tool `{tool}` nests too deep"),
            Self::InvalidSchema { tool, problem } => {
                write!(f, "tool `{tool}` cannot be offered: {problem}")
            }
            #[cfg(feature = "tasks")]
            Self::NoTasks(tool) => write!(
                f,
                "tool `{tool}` is run as a task, and the server is built without `with_tasks`"
            ),
            #[cfg(feature = "tasks")]
            Self::TaskStore(problem) => f.write_str(problem),
            Self::Unchanging => f.write_str(
                "the server was built without `list_changes`: what it offers cannot change",
            ),
        }
    }
}

/// The same as `Display`: `main` shows errors so.
impl fmt::Debug for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl core::error::Error for BuildError {}
