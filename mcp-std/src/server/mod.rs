//! Servers: built once, then served on as many streams as you like.

mod arguments;
mod connection;
mod context;
mod digest;
mod output;
mod state;
mod tool;

use core::fmt;
use core::marker::PhantomData;
use core::time::Duration;
use std::sync::Arc;

use futures_lite::AsyncWrite;
use mcp_core::engine::server::{CacheHint, Catalog, CatalogError};
use mcp_core::json::RawJson;
use mcp_core::model::{self, Implementation, ToolAnnotations};
use mcp_core::{Limits, PeerFault};
use mcp_io::{End, Error, Options, Source, drive, stdio};
use schemars::JsonSchema;

pub use context::Context;
pub use output::{IntoToolResult, Structured, ToolResult};
pub use tool::{Handler, Local, NoArguments, Shared, Sharing, Tool};

use connection::Connection;

/// A Model Context Protocol server: tools, and who offers them. Cheap to clone.
///
/// It serves clients of all five revisions, both eras, on the same stream.
pub struct Server<S: Sharing = Shared> {
    offer: Arc<Offer<S>>,
    options: Options,
}

/// Is told of the rules that peers break.
type FaultReport = Box<dyn Fn(&PeerFault) + Send + Sync>;

/// What every connection of a server shares.
pub(crate) struct Offer<S: Sharing> {
    pub(crate) catalog: Arc<Catalog>,
    /// By the position the catalog gives them.
    pub(crate) tools: Vec<Box<S::Start>>,
    pub(crate) limits: Limits,
    pub(crate) max_concurrent: usize,
    pub(crate) max_waiting: usize,
    pub(crate) on_fault: Option<FaultReport>,
}

impl Server {
    /// Begins a server of this name and version, which clients show to people and in logs.
    pub fn builder(name: impl Into<String>, version: impl Into<String>) -> ServerBuilder {
        ServerBuilder::new(name.into(), version.into())
    }
}

impl Server<Local> {
    /// Begins a server whose handlers need not be `Send`: it is served on the thread that builds it.
    pub fn local(name: impl Into<String>, version: impl Into<String>) -> ServerBuilder<Local> {
        ServerBuilder::new(name.into(), version.into())
    }
}

impl<S: Sharing> Server<S> {
    /// Serves one peer on standard input and output, until the input ends and what was in flight is answered.
    ///
    /// Whatever else prints to standard output from now on goes to standard error: see [`mcp_io::stdio::take`].
    ///
    /// # Errors
    ///
    /// The transport's. A peer that closes its end is none: that is how sessions end.
    pub async fn serve_stdio(&self) -> Result<End, Error> {
        let (input, output) = stdio::take()?;
        self.serve(input, output).await
    }

    /// [`serve_stdio`](Self::serve_stdio) for programs that do nothing else: runs it on this thread, and waits for input
    /// without a reactor while no call is running.
    ///
    /// No runtime but async-io's is entered: timers are `async_io::Timer`, and work that blocks goes to `blocking::unblock`
    /// or a thread. A handler that needs tokio wants `#[tokio::main]` and [`serve_stdio`](Self::serve_stdio).
    ///
    /// # Errors
    ///
    /// The same.
    pub fn run_stdio(&self) -> Result<End, Error> {
        let (mut input, output) = stdio::take()?;
        input.block_when_idle();
        async_io::block_on(self.serve(input, output))
    }

    /// Serves one peer on any pair of byte streams, with one message on each line.
    ///
    /// Dropping the future drops the handlers in flight.
    ///
    /// # Errors
    ///
    /// The streams'. A peer that no longer reads is none.
    pub async fn serve(&self, input: impl Source, output: impl AsyncWrite) -> Result<End, Error> {
        let mut connection = Connection::new(self.offer.clone());
        drive(&mut connection, input, output, self.options).await
    }
}

impl<S: Sharing> Clone for Server<S> {
    fn clone(&self) -> Self {
        Self {
            offer: self.offer.clone(),
            options: self.options,
        }
    }
}

impl<S: Sharing> fmt::Debug for Server<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("catalog", &self.offer.catalog)
            .finish_non_exhaustive()
    }
}

/// Makes a [`Server`]. Begin with [`Server::builder`].
#[must_use = "nothing is served before `build`"]
pub struct ServerBuilder<S: Sharing = Shared> {
    name: String,
    version: String,
    title: Option<String>,
    instructions: Option<String>,
    tools: Vec<Tool<S>>,
    cache: CacheHint,
    limits: Limits,
    max_concurrent: usize,
    max_waiting: usize,
    options: Options,
    on_fault: Option<FaultReport>,
    sharing: PhantomData<S>,
}

impl ServerBuilder {
    /// Adds a tool: a name, what it does, and a function.
    ///
    /// The function takes arguments that serde can decode and schemars can describe, and returns a future of anything
    /// that is [`IntoToolResult`]; see [`Handler`] for its forms, and [`Tool`] for more to say
    /// about a tool.
    pub fn tool<M: 'static, H>(
        self,
        name: impl Into<String>,
        description: impl Into<String>,
        handler: H,
    ) -> Self
    where
        H: Handler<M, Args: JsonSchema, Output: IntoToolResult, Future: Send> + Send + Sync,
    {
        self.with_tool(Tool::new(name, description, handler))
    }
}

impl ServerBuilder<Local> {
    /// Adds a tool whose handler need not be `Send`.
    pub fn tool<M: 'static, H>(
        self,
        name: impl Into<String>,
        description: impl Into<String>,
        handler: H,
    ) -> Self
    where
        H: Handler<M, Args: JsonSchema, Output: IntoToolResult>,
    {
        self.with_tool(Tool::local(name, description, handler))
    }
}

impl<S: Sharing> ServerBuilder<S> {
    fn new(name: String, version: String) -> Self {
        Self {
            name,
            version,
            title: None,
            instructions: None,
            tools: Vec::new(),
            cache: CacheHint::NONE,
            limits: Limits::DEFAULT,
            max_concurrent: 1024,
            max_waiting: 16 * 1024 * 1024,
            options: Options::default(),
            on_fault: None,
            sharing: PhantomData,
        }
    }

    /// Adds a tool. Tools are listed in the order they are added in.
    pub fn with_tool(mut self, tool: Tool<S>) -> Self {
        self.tools.push(tool);
        self
    }

    /// What the server is called, for people.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// How to use the server, for the model (DISC-06).
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    /// How long clients may cache the lists and the discovery result. Default: not at all.
    pub const fn cache(mut self, hint: CacheHint) -> Self {
        self.cache = hint;
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
    /// Two tools have one name, or the arguments of one are not a struct (its schema is no object).
    pub fn build(self) -> Result<Server<S>, BuildError> {
        let mut server = Implementation::new(&*self.name, &*self.version);
        server.title = self.title.as_deref().map(Into::into);
        let tools = self
            .tools
            .iter()
            .map(definition)
            .collect::<Result<Vec<_>, _>>()?;
        let mut catalog = Catalog::builder(&server).tools(&tools).cache(self.cache);
        if let Some(instructions) = &self.instructions {
            catalog = catalog.instructions(instructions);
        }
        let catalog = catalog.build()?;
        drop(tools);
        let offer = Offer {
            catalog: Arc::new(catalog),
            tools: self.tools.into_iter().map(|tool| tool.start).collect(),
            limits: self.limits,
            max_concurrent: self.max_concurrent,
            max_waiting: self.max_waiting,
            on_fault: self.on_fault,
        };
        Ok(Server {
            offer: Arc::new(offer),
            options: self.options,
        })
    }
}

impl<S: Sharing> fmt::Debug for ServerBuilder<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerBuilder")
            .field("name", &self.name)
            .field("tools", &self.tools)
            .finish_non_exhaustive()
    }
}

fn definition<S: Sharing>(tool: &Tool<S>) -> Result<model::Tool<'_>, BuildError> {
    let mut definition = model::Tool::new(&*tool.name, schema(&tool.input_schema, &tool.name)?);
    definition.description = Some((*tool.description).into());
    definition.title = tool.title.as_deref().map(Into::into);
    definition.output_schema = tool
        .output_schema
        .as_deref()
        .map(|text| schema(text, &tool.name))
        .transpose()?
        .map(Into::into);
    definition.annotations = Some(tool.annotations.clone())
        .filter(|annotations| *annotations != ToolAnnotations::default());
    definition.requires = tool.requires;
    Ok(definition)
}

fn schema<'t>(text: &'t str, tool: &str) -> Result<RawJson<'t>, BuildError> {
    RawJson::parse(text.as_bytes()).map_err(|_| BuildError::Schema(tool.to_owned()))
}

/// A server cannot be built: a mistake of its author.
#[derive(Clone, Eq, PartialEq)]
#[non_exhaustive]
pub enum BuildError {
    /// A tool cannot be offered.
    Catalog(CatalogError),
    /// A schema of this tool nests too deep to be sent.
    Schema(String),
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
