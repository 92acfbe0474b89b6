//! The client for programs without async: the same names, and each call blocks its thread until it is done.
//!
//! ```no_run
//! use mcp_std::blocking::Client;
//! use mcp_std::client::Command;
//!
//! let client = Client::stdio(Command::new("some-server"))?;
//! for tool in client.tools() {
//!     println!("{}", tool?.name);
//! }
//! let outcome = client.call_tool("echo", &serde_json::json!({"text": "hello"}))?;
//! println!("{}", outcome.text());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Client::builder`] sets more: what servers may ask, with handlers that are plain functions, time-outs, where to connect.
//! Calls can be made from several threads at once, over one connection. A call that is to end early is given a
//! [`Canceller`](crate::client::Canceller).

use core::time::Duration;
use std::borrow::Cow;
use std::sync::Arc;

use futures_lite::{Stream, StreamExt};
use mcp_core::json::Json;
use mcp_core::model::request::Request;
use mcp_core::model::{
    CompleteRequestParams, CompleteResult, DiscoverResult, GetPromptResult, LoggingLevel, Prompt,
    ProtocolVersion, ReadResourceResult, Resource, ResourceTemplate, Root, SubscriptionFilter,
    Tool,
};
use serde::Serialize;
use smol::block_on;

use crate::client::{
    self, CallError, CallOptions, Change, Closed, Command, ConnectError, Counters, Notification,
    Response, ServerInfo, Subscription, SubscriptionEnd, ToolOutcome,
};

/// Makes a [`Client`]: connecting blocks, and handlers are functions that may block.
pub type ClientBuilder = client::ClientBuilder<client::Blocking>;

/// A connection to a server, used from threads. Cheap to clone; all clones are one connection.
///
/// Made by [`stdio`](Self::stdio) or [`builder`](Self::builder), or from an async client:
/// [`client::Client::blocking`].
#[derive(Clone, Debug)]
pub struct Client(client::Client);

impl Client {
    /// Begins a client of this name and version, which servers see.
    pub fn builder(name: impl Into<String>, version: impl Into<String>) -> ClientBuilder {
        ClientBuilder::new(name.into(), version.into())
    }

    /// Starts a program and connects to it, as a client that can do nothing for servers and is named after this library.
    ///
    /// # Errors
    ///
    /// Those of [`ClientBuilder::connect_stdio`].
    pub fn stdio(command: Command) -> Result<Self, ConnectError> {
        block_on(client::Client::stdio(command)).map(Self)
    }

    /// Connects to the server at a URL, as a client that can do nothing for servers and is named after this library.
    ///
    /// # Errors
    ///
    /// Those of [`ClientBuilder::connect_http`].
    #[cfg(feature = "http")]
    pub fn http(url: &str) -> Result<Self, ConnectError> {
        block_on(client::Client::http(url)).map(Self)
    }

    /// The async client of the same connection.
    #[must_use]
    pub const fn inner(&self) -> &client::Client {
        &self.0
    }

    /// [`client::Client::server`]
    #[must_use]
    pub fn server(&self) -> Option<Arc<ServerInfo>> {
        self.0.server()
    }

    /// [`client::Client::version`]
    #[must_use]
    pub fn version(&self) -> ProtocolVersion {
        self.0.version()
    }

    /// [`client::Client::call_tool`]
    ///
    /// # Errors
    ///
    /// The same.
    pub fn call_tool(
        &self,
        name: &str,
        arguments: &(impl Serialize + ?Sized),
    ) -> Result<ToolOutcome, CallError> {
        block_on(self.0.call_tool(name, arguments))
    }

    /// [`client::Client::call_tool_with`]
    ///
    /// # Errors
    ///
    /// The same.
    pub fn call_tool_with(
        &self,
        name: &str,
        arguments: &(impl Serialize + ?Sized),
        options: CallOptions,
    ) -> Result<ToolOutcome, CallError> {
        block_on(self.0.call_tool_with(name, arguments, options))
    }

    /// [`client::Client::tools`]
    pub fn tools(&self) -> Items<client::Pager<Tool<'static>>> {
        Items(self.0.tools())
    }

    /// [`client::Client::list_tools`]
    ///
    /// # Errors
    ///
    /// The same.
    pub fn list_tools(&self) -> Result<Vec<Tool<'static>>, CallError> {
        block_on(self.0.list_tools())
    }

    /// [`client::Client::resources`]
    pub fn resources(&self) -> Items<client::Pager<Resource<'static>>> {
        Items(self.0.resources())
    }

    /// [`client::Client::list_resources`]
    ///
    /// # Errors
    ///
    /// The same.
    pub fn list_resources(&self) -> Result<Vec<Resource<'static>>, CallError> {
        block_on(self.0.list_resources())
    }

    /// [`client::Client::resource_templates`]
    pub fn resource_templates(&self) -> Items<client::Pager<ResourceTemplate<'static>>> {
        Items(self.0.resource_templates())
    }

    /// [`client::Client::list_resource_templates`]
    ///
    /// # Errors
    ///
    /// The same.
    pub fn list_resource_templates(&self) -> Result<Vec<ResourceTemplate<'static>>, CallError> {
        block_on(self.0.list_resource_templates())
    }

    /// [`client::Client::prompts`]
    pub fn prompts(&self) -> Items<client::Pager<Prompt<'static>>> {
        Items(self.0.prompts())
    }

    /// [`client::Client::list_prompts`]
    ///
    /// # Errors
    ///
    /// The same.
    pub fn list_prompts(&self) -> Result<Vec<Prompt<'static>>, CallError> {
        block_on(self.0.list_prompts())
    }

    /// [`client::Client::read_resource`]
    ///
    /// # Errors
    ///
    /// The same.
    pub fn read_resource(&self, uri: &str) -> Result<ReadResourceResult<'static>, CallError> {
        block_on(self.0.read_resource(uri))
    }

    /// [`client::Client::read_resource_with`]
    ///
    /// # Errors
    ///
    /// The same.
    pub fn read_resource_with(
        &self,
        uri: &str,
        options: CallOptions,
    ) -> Result<ReadResourceResult<'static>, CallError> {
        block_on(self.0.read_resource_with(uri, options))
    }

    /// [`client::Client::get_prompt`]
    ///
    /// # Errors
    ///
    /// The same.
    pub fn get_prompt(
        &self,
        name: &str,
        arguments: &(impl Serialize + ?Sized),
    ) -> Result<GetPromptResult<'static>, CallError> {
        block_on(self.0.get_prompt(name, arguments))
    }

    /// [`client::Client::get_prompt_with`]
    ///
    /// # Errors
    ///
    /// The same.
    pub fn get_prompt_with(
        &self,
        name: &str,
        arguments: &(impl Serialize + ?Sized),
        options: CallOptions,
    ) -> Result<GetPromptResult<'static>, CallError> {
        block_on(self.0.get_prompt_with(name, arguments, options))
    }

    /// [`client::Client::complete`]
    ///
    /// # Errors
    ///
    /// The same.
    pub fn complete(
        &self,
        params: &CompleteRequestParams<'_>,
    ) -> Result<CompleteResult<'static>, CallError> {
        block_on(self.0.complete(params))
    }

    /// [`client::Client::ping`]
    ///
    /// # Errors
    ///
    /// The same.
    pub fn ping(&self) -> Result<Duration, CallError> {
        block_on(self.0.ping())
    }

    /// [`client::Client::set_level`]
    ///
    /// # Errors
    ///
    /// The same.
    pub fn set_level(&self, level: LoggingLevel) -> Result<(), CallError> {
        block_on(self.0.set_level(level))
    }

    /// [`client::Client::discover`]
    ///
    /// # Errors
    ///
    /// The same.
    pub fn discover(&self) -> Result<DiscoverResult<'static>, CallError> {
        block_on(self.0.discover())
    }

    /// [`client::Client::request`]
    ///
    /// # Errors
    ///
    /// The same.
    pub fn request<R: Request>(
        &self,
        params: &R::Params<'_>,
        options: CallOptions,
    ) -> Result<Response<R>, CallError> {
        block_on(self.0.request(params, options))
    }

    /// [`client::Client::request_by_name`]
    ///
    /// # Errors
    ///
    /// The same.
    pub fn request_by_name(
        &self,
        method: impl Into<Cow<'static, str>>,
        params: &(impl Serialize + ?Sized),
        options: CallOptions,
    ) -> Result<Json<'static>, CallError> {
        block_on(self.0.request_by_name(method, params, options))
    }

    /// [`client::Client::notify`]
    ///
    /// # Errors
    ///
    /// The same.
    pub fn notify(
        &self,
        method: impl Into<Cow<'static, str>>,
        params: &(impl Serialize + ?Sized),
    ) -> Result<(), CallError> {
        block_on(self.0.notify(method, params))
    }

    /// [`client::Client::counters`]
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.0.counters()
    }

    /// [`client::Client::subscribe`]
    ///
    /// # Errors
    ///
    /// The same.
    pub fn subscribe(&self, filter: SubscriptionFilter<'_>) -> Result<Changes, CallError> {
        block_on(self.0.subscribe(filter)).map(Changes)
    }

    /// [`client::Client::notifications`]
    pub fn notifications(&self) -> impl Iterator<Item = Notification> + use<> {
        Items(self.0.notifications())
    }

    /// [`client::Client::set_roots`]
    ///
    /// # Errors
    ///
    /// The same.
    pub fn set_roots(
        &self,
        roots: impl IntoIterator<Item = Root<'static>>,
    ) -> Result<(), CallError> {
        self.0.set_roots(roots)
    }

    /// [`client::Client::stderr`]
    #[must_use]
    pub fn stderr(&self) -> String {
        self.0.stderr()
    }

    /// [`client::Client::closed`]
    #[must_use]
    pub fn closed(&self) -> Option<Closed> {
        self.0.closed()
    }

    /// [`client::Client::clear_cache`]
    pub fn clear_cache(&self) {
        self.0.clear_cache();
    }

    /// [`client::Client::close`]
    pub fn close(&self) -> Closed {
        block_on(self.0.close())
    }
}

impl From<client::Client> for Client {
    fn from(client: client::Client) -> Self {
        Self(client)
    }
}

impl From<Client> for client::Client {
    fn from(client: Client) -> Self {
        client.0
    }
}

impl client::Client {
    /// The same connection, for threads.
    #[must_use]
    pub fn blocking(&self) -> Client {
        Client(self.clone())
    }
}

/// The items of a stream, one after the other. Each `next` blocks until there is one.
#[derive(Debug)]
#[must_use = "iterators do nothing unless used"]
pub struct Items<S>(S);

impl<S: Stream + Unpin> Iterator for Items<S> {
    type Item = S::Item;

    fn next(&mut self) -> Option<S::Item> {
        block_on(self.0.next())
    }
}

/// [`Subscription`], as an iterator: each `next` blocks until something has changed.
#[derive(Debug)]
#[must_use = "dropping it ends the subscription"]
pub struct Changes(Subscription);

impl Changes {
    /// [`Subscription::acknowledged`]
    #[must_use]
    pub fn acknowledged(&self) -> SubscriptionFilter<'static> {
        self.0.acknowledged()
    }

    /// [`Subscription::end`]
    #[must_use]
    pub fn end(&self) -> Option<SubscriptionEnd> {
        self.0.end()
    }

    /// The next change, if there is one within this time.
    pub fn next_within(&mut self, time: Duration) -> Option<Change> {
        let late = async {
            async_io::Timer::after(time).await;
            None
        };
        block_on(futures_lite::future::or(self.0.next(), late))
    }
}

impl Iterator for Changes {
    type Item = Change;

    fn next(&mut self) -> Option<Change> {
        block_on(self.0.next())
    }
}
