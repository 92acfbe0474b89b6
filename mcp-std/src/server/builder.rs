//! What a server is made of, and how it is to serve.

use core::fmt;
use core::marker::PhantomData;
use core::num::NonZeroUsize;
use core::time::Duration;
use std::sync::Arc;

use mcp_core::engine::server::Cacheable;
use mcp_core::json::Json;
use mcp_core::model::{CacheHint, Icon, Implementation};
use mcp_core::{Limits, PeerFault};
use mcp_io::Options;
use schemars::JsonSchema;

use super::Server;
use super::changes::Hub;
use super::extension::Extension;
use super::handler::{Handler, Local, NoArguments, Shared, Sharing};
use super::offer::{BuildError, Definitions, Identity};
use super::output::IntoToolResult;
use super::prompt::{IntoPrompt, Prompt};
use super::resource::{IntoResource, Resource, ResourceTemplate};
use super::settings::{FaultReport, Settings};
use super::state::Sealer;
#[cfg(feature = "tasks")]
use super::tasks::{Service, TASKS, TaskStoreError, Tasks};
use super::tool::Tool;
use crate::entropy;

/// Makes a [`Server`]. Begin with [`Server::builder`].
#[must_use = "nothing is served before `build`"]
pub struct ServerBuilder<S: Sharing = Shared> {
    identity: Identity,
    tools: Vec<Tool<S>>,
    resources: Vec<Resource<S>>,
    templates: Vec<ResourceTemplate<S>>,
    prompts: Vec<Prompt<S>>,
    extensions: Vec<Extension<S>>,
    limits: Limits,
    max_concurrent: usize,
    max_waiting: usize,
    ask_timeout: Option<Duration>,
    max_rounds: u16,
    #[cfg(feature = "validate")]
    check_outputs: bool,
    state_key: Option<[u8; 32]>,
    state_lifetime: Duration,
    options: Options,
    on_fault: Option<FaultReport>,
    #[cfg(feature = "tasks")]
    tasks: Option<Result<Arc<Service>, TaskStoreError>>,
    sharing: PhantomData<S>,
}

/// The short ways to add something, for handlers of one sharing.
macro_rules! shortcuts {
    ($sharing:ty, $new:ident, [$($handler:tt)*], [$($future:tt)*]) => {
        impl ServerBuilder<$sharing> {
            /// Adds a tool: a name, what it does, and a function.
            ///
            /// The function takes arguments that serde can decode and schemars can describe, and returns a future of
            /// anything that is [`IntoToolResult`]; see [`Handler`] for its forms, and [`Tool`] for more to say about a
            /// tool.
            pub fn tool<M: 'static, H>(
                self,
                name: impl Into<String>,
                description: impl Into<String>,
                handler: H,
            ) -> Self
            where
                H: Handler<M, Args: JsonSchema, Output: IntoToolResult $($future)*> $($handler)*,
            {
                self.with_tool(Tool::$new(name, description, handler))
            }

            /// Adds a resource: a URI, a name (not a description, which tools and prompts have there), and a function that reads it, which returns a future of anything that is
            /// [`IntoResource`]. [`Resource`] has more to say.
            pub fn resource<M: 'static, H>(
                self,
                uri: impl Into<String>,
                name: impl Into<String>,
                handler: H,
            ) -> Self
            where
                H: Handler<M, Args = NoArguments, Output: IntoResource $($future)*> $($handler)*,
            {
                self.with_resource(Resource::$new(uri, name, handler))
            }

            /// Adds resources whose URIs fit a template of RFC 6570: the template, a name, and a function that takes a
            /// struct of its variables. [`ResourceTemplate`] has more to say.
            pub fn resource_template<M: 'static, H>(
                self,
                template: impl Into<String>,
                name: impl Into<String>,
                handler: H,
            ) -> Self
            where
                H: Handler<M, Output: IntoResource $($future)*> $($handler)*,
            {
                self.with_template(ResourceTemplate::$new(template, name, handler))
            }

            /// Adds a prompt: a name, what it is for, and a function that takes a struct of its arguments and returns a
            /// future of anything that is [`IntoPrompt`]. [`Prompt`] has more to say.
            pub fn prompt<M: 'static, H>(
                self,
                name: impl Into<String>,
                description: impl Into<String>,
                handler: H,
            ) -> Self
            where
                H: Handler<M, Args: JsonSchema, Output: IntoPrompt $($future)*> $($handler)*,
            {
                self.with_prompt(Prompt::$new(name, description, handler))
            }
        }
    };
}

shortcuts! { Shared, new, [+ Send + Sync], [, Future: Send] }
shortcuts! { Local, local, [], [] }

impl<S: Sharing> ServerBuilder<S> {
    pub(super) fn new(name: String, version: String) -> Self {
        Self {
            identity: Identity {
                server: Implementation::new(name, version),
                instructions: None,
                cache: CacheHint::NONE,
                cache_of: Vec::new(),
                page_size: None,
                list_changes: false,
                subscriptions: false,
                logging: false,
                extensions: None,
                experimental: None,
                #[cfg(feature = "tasks")]
                tasks: false,
            },
            tools: Vec::new(),
            resources: Vec::new(),
            templates: Vec::new(),
            prompts: Vec::new(),
            extensions: Vec::new(),
            limits: Limits::DEFAULT,
            max_concurrent: 1024,
            max_waiting: 16 * 1024 * 1024,
            ask_timeout: None,
            max_rounds: 16,
            #[cfg(feature = "validate")]
            check_outputs: cfg!(debug_assertions),
            state_key: None,
            state_lifetime: Duration::from_secs(600),
            options: Options::default(),
            on_fault: None,
            #[cfg(feature = "tasks")]
            tasks: None,
            sharing: PhantomData,
        }
    }

    /// Adds a tool: a [`Tool`], which a function `f` with `#[tool]` is by `f::tool()`. Tools are listed
    /// in the order they are added in.
    pub fn with_tool(mut self, tool: Tool<S>) -> Self {
        self.tools.push(tool);
        self
    }

    /// Adds a resource. Resources are listed in the order they are added in.
    pub fn with_resource(mut self, resource: Resource<S>) -> Self {
        self.resources.push(resource);
        self
    }

    /// Adds a resource template. A URI that is no resource of the list belongs to the first template that it fits.
    pub fn with_template(mut self, template: ResourceTemplate<S>) -> Self {
        self.templates.push(template);
        self
    }

    /// Adds a prompt. Prompts are listed in the order they are added in.
    pub fn with_prompt(mut self, prompt: Prompt<S>) -> Self {
        self.prompts.push(prompt);
        self
    }

    /// What the server is called, for people.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.identity.server.title = Some(title.into().into());
        self
    }

    /// What the server is, for people.
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.identity.server.description = Some(description.into().into());
        self
    }

    /// Where people read about the server: a URL.
    pub fn website(mut self, url: impl Into<String>) -> Self {
        self.identity.server.website_url = Some(url.into().into());
        self
    }

    /// Adds a picture of the server.
    pub fn icon(mut self, icon: Icon<'static>) -> Self {
        super::push(&mut self.identity.server.icons, icon);
        self
    }

    /// How to use the server, for the model.
    // DISC-06.
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.identity.instructions = Some(instructions.into());
        self
    }

    /// How long clients may cache the lists, the discovery result and resources that do not say so themselves. Default:
    /// not at all.
    pub const fn cache(mut self, hint: CacheHint) -> Self {
        self.identity.cache = hint;
        self
    }

    /// The same for one of them.
    pub fn cache_of(mut self, what: Cacheable, hint: CacheHint) -> Self {
        self.identity.cache_of.push((what, hint));
        self
    }

    /// How many tools, resources, templates or prompts a page of their list has. Default: all.
    pub const fn page_size(mut self, elements: NonZeroUsize) -> Self {
        self.identity.page_size = Some(elements);
        self
    }

    /// What the server offers may change while it is served, by [`Server::add_tool`] and the like: clients are told that
    /// it may, and when it does.
    pub const fn list_changes(mut self) -> Self {
        self.identity.list_changes = true;
        self
    }

    /// Clients may subscribe to resources; [`Server::resource_updated`] tells them, and in handlers
    /// [`Context::resource_updated`](super::Context::resource_updated).
    pub const fn subscriptions(mut self) -> Self {
        self.identity.subscriptions = true;
        self
    }

    /// Handlers may send log messages to the client, by [`Context::log`](super::Context::log).
    ///
    /// Deprecated by SEP-2577 as of 2026-07-28, where it stays for a year at least.
    pub const fn logging(mut self) -> Self {
        self.identity.logging = true;
        self
    }

    /// Adds an extension, with the handlers of what belongs to it.
    pub fn with_extension(mut self, extension: Extension<S>) -> Self {
        self.extensions.push(extension);
        self
    }

    /// Says more about the extension of this identifier, which is `new` the first time.
    #[cfg(feature = "apps")]
    pub(crate) fn extend_extension(
        mut self,
        id: &str,
        new: impl FnOnce() -> Extension<S>,
        extend: impl FnOnce(Extension<S>) -> Extension<S>,
    ) -> Self {
        let mut known = self.extensions.iter();
        let known = known.position(|it| it.definition.id() == id);
        let extension = match known {
            Some(at) => self.extensions.remove(at),
            None => new(),
        };
        self.extensions.push(extend(extension));
        self
    }

    /// The extensions that the server supports without methods of their own: an object with an object of settings for
    /// each. [`with_extension`](Self::with_extension) is for the others.
    pub fn extensions(mut self, extensions: Json<'static>) -> Self {
        self.identity.extensions = Some(extensions);
        self
    }

    /// Its experimental capabilities: an object with an object for each.
    pub fn experimental(mut self, experimental: Json<'static>) -> Self {
        self.identity.experimental = Some(experimental);
        self
    }

    /// The bounds of each connection.
    pub const fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// How many handlers of one connection may run at a time; further calls wait for their turn. Default: 1024; at
    /// least 1.
    pub const fn max_concurrent(mut self, handlers: usize) -> Self {
        self.max_concurrent = if handlers == 0 { 1 } else { handlers };
        self
    }

    /// How many bytes of arguments may wait for their turn on one connection; a call that would exceed it is refused.
    /// Default: 16 MiB.
    pub const fn max_waiting(mut self, bytes: usize) -> Self {
        self.max_waiting = bytes;
        self
    }

    /// How long a handler waits for each answer of a legacy client. Default: for as long as the client is there, because
    /// people take their time.
    pub const fn ask_timeout(mut self, patience: Duration) -> Self {
        self.ask_timeout = Some(patience);
        self
    }

    /// How many times one call may ask a modern client for input; one more is answered with an error. Default: 16.
    pub const fn max_rounds(mut self, rounds: u16) -> Self {
        self.max_rounds = rounds;
        self
    }

    /// The key under which the state of calls that ask modern clients is sealed, for servers that are many processes: a
    /// call that began at one can go on at another. Keep it as secret as the server's other keys, and make it of 32 random
    /// bytes. Default: a new one for each server.
    pub const fn state_key(mut self, key: [u8; 32]) -> Self {
        self.state_key = Some(key);
        self
    }

    /// How long a modern client may take to answer what a call asks. Whole seconds; default: 10 minutes.
    pub const fn state_lifetime(mut self, lifetime: Duration) -> Self {
        self.state_lifetime = lifetime;
        self
    }

    /// Whether structured results are checked against the output schemas of their tools before they are sent. A result that
    /// does not fit is a mistake of the server: the call is answered with an internal error that says where. Default: in
    /// builds with debug assertions. It takes a parse of the result.
    #[cfg(feature = "validate")]
    pub const fn check_outputs(mut self, check: bool) -> Self {
        self.check_outputs = check;
        self
    }

    /// How many bytes of output may wait for the client to read them; beyond that nothing is read and no handler is run
    /// until it does. Default: 1 MiB.
    pub const fn high_water(mut self, bytes: usize) -> Self {
        self.options.high_water = bytes;
        self
    }

    /// How long calls in flight may take after the input has ended. Default: 5 seconds.
    pub const fn grace(mut self, grace: Duration) -> Self {
        self.options.grace = grace;
        self
    }

    /// Is told of each rule that a peer breaks, for logs. The peer has its answer already, if one is due.
    pub fn on_fault(mut self, report: impl Fn(&PeerFault) + Send + Sync + 'static) -> Self {
        self.on_fault = Some(Box::new(report));
        self
    }

    /// The server.
    ///
    /// # Errors
    ///
    /// Two tools, prompts or resources have one name or URI, a template cannot be parsed, the arguments of a tool are not
    /// a struct (its schema is no object), and other mistakes that [`BuildError`] names.
    pub fn build(self) -> Result<Server<S>, BuildError> {
        #[cfg(feature = "tasks")]
        let tasks = self
            .tasks
            .transpose()
            .map_err(|error| BuildError::TaskStore(error.to_string()))?;
        let settings = Settings {
            limits: self.limits,
            max_concurrent: self.max_concurrent,
            max_waiting: self.max_waiting,
            on_fault: self.on_fault,
            logging: self.identity.logging,
            list_changes: self.identity.list_changes,
            subscriptions: self.identity.subscriptions,
            ask_timeout: self.ask_timeout,
            max_rounds: self.max_rounds,
            #[cfg(feature = "validate")]
            check_outputs: self.check_outputs,
            sealer: Sealer::new(
                self.state_key.unwrap_or_else(entropy::key),
                self.state_lifetime,
            ),
            #[cfg(feature = "tasks")]
            tasks,
        };
        let server = &self.identity.server;
        if server.name.is_empty() || server.version.is_empty() {
            tracing::warn!("the server has no name or no version, which clients show to people");
        }
        self.tools.iter().for_each(Tool::tell_name);
        let definitions = Definitions {
            identity: Arc::new(self.identity),
            tools: shared(self.tools),
            resources: shared(self.resources),
            templates: shared(self.templates),
            prompts: shared(self.prompts),
            extensions: self.extensions.into(),
        };
        let hub = Hub::new(settings, definitions.offer()?);
        #[cfg(feature = "tasks")]
        if let Some(tasks) = &hub.settings.tasks
            && let Some(extension) = hub.offer().catalog.extension(TASKS)
        {
            tasks.tell(hub.board.clone(), extension);
        }
        Ok(Server {
            hub: Arc::new(hub),
            options: self.options,
        })
    }
}

#[cfg(feature = "tasks")]
impl ServerBuilder<Shared> {
    /// Tools may be run as tasks: see [`Tool::as_task`]. Clients of 2026-07-28 that declare the extension
    /// `io.modelcontextprotocol/tasks` get a task from those tools, and clients of 2025-11-25 that ask for one. Said twice,
    /// the first counts.
    pub fn with_tasks(mut self, tasks: Tasks) -> Self {
        if self.tasks.is_some() {
            return self;
        }
        let service = tasks.service();
        if let Ok(service) = &service {
            self.extensions.push(service.extension());
            self.extensions.push(service.experimental());
        }
        self.identity.tasks = true;
        self.tasks = Some(service);
        self
    }
}

fn shared<T>(list: Vec<T>) -> Vec<Arc<T>> {
    list.into_iter().map(Arc::new).collect()
}

impl<S: Sharing> fmt::Debug for ServerBuilder<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerBuilder")
            .field("name", &self.identity.server.name)
            .field("tools", &self.tools)
            .finish_non_exhaustive()
    }
}
