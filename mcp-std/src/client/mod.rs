//! Clients: connect to a server, call its tools, read its resources, get its prompts, hear of its changes.
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use mcp_std::client::{Client, Command};
//!
//! let client = Client::builder("my-program", "1.0.0")
//!     .connect_stdio(Command::new("some-server"))
//!     .await?;
//! for tool in client.list_tools().await? {
//!     println!("{}", tool.name);
//! }
//! let outcome = client.call_tool("echo", &serde_json::json!({"text": "hello"})).await?;
//! println!("{}", outcome.text());
//! client.close().await;
//! # Ok(()) }
//! ```
//!
//! The arguments are anything that serde writes as an object; `&()` is none. A server that is a child gets little of the
//! environment of this process: see [`ClientBuilder::connect_stdio`].
//!
//! # Being asked, being told
//!
//! [`ClientBuilder::elicitation`], [`sampling`](ClientBuilder::sampling) and [`roots`](ClientBuilder::roots) answer what
//! servers ask. [`Client::subscribe`] tells what changes:
//!
//! ```no_run
//! # async fn example(client: mcp_std::Client) -> Result<(), mcp_std::client::CallError> {
//! use mcp_std::model::SubscriptionFilter;
//!
//! let filter = SubscriptionFilter::new().tools().resource("note://1");
//! let mut changes = client.subscribe(filter).await?;
//! while let Some(change) = changes.next().await {
//!     println!("{change:?}");
//! }
//! # Ok(()) }
//! ```
//!
//! # Eras
//!
//! A client speaks all five revisions of the protocol and finds out which one its server speaks, newest first. What differs
//! is hidden where it can be: a handler for elicitation serves requests of old servers and input rounds of new ones alike,
//! and so does a [`Subscription`]. What a revision does not have is refused before it is sent:
//! [`CallError::Unsupported`].
//!
//! # Over HTTP
//!
//! [`Client::http`], or [`ClientBuilder::connect_http`] for all that can be said about it, with the feature `http`. The rest is
//! the same as over standard input and output; what differs:
//!
//! - Each call is an exchange of its own: one that fails is [`CallError::Http`], and the connection goes on. What changes
//!   nothing on the server is asked again, twice at most; a tool is called again only if the server cannot have heard of the
//!   first call, or [`CallOptions::retry`] allows it.
//! - A call that is given up closes its stream, which tells a server of 2026-07-28; older ones get a message.
//! - Tools whose arguments cannot be said in headers as they are declared are not in the list (XH-07).
//! - A session that the server has ended is begun anew without anybody noticing; a stream that was interrupted is resumed.
//! - There are 256 connections at most, and each subscription to a server of 2026-07-28 is one.
//!
//! # Where it runs
//!
//! Each connection is a task of its own, on the global executor of [`smol`] unless [`ClientBuilder::spawner`] says where.
//! smol's threads start by themselves: the futures here can be awaited on any executor, tokio's included, or with
//! [`blocking`](crate::blocking) on none. What you give to a client runs here:
//!
//! | | Runs |
//! | --- | --- |
//! | handlers of elicitation and sampling, for a server of 2026-07-28 | where the call is awaited |
//! | the same, for an older server | in the connection's task |
//! | handlers of a server that is connected to in this process | in the connection's task |
//! | [`CallOptions::on_progress`], [`ClientBuilder::on_log`], [`ClientBuilder::on_frame`] | in the connection's task |
//!
//! What runs in that task must not block its thread. If it uses tokio, the task has to be tokio's:
//!
//! ```
//! use mcp_std::{Client, Spawner};
//!
//! let builder = Client::builder("my-program", "1.0.0")
//!     .spawner(Spawner::new(|task| drop(tokio::spawn(task))));
//! ```
//!
//! # What ends
//!
//! - Dropping the future of a call cancels it: the server is told.
//! - Dropping the last clone of a [`Client`], with its [`Pager`]s and [`Subscription`]s, closes the connection and ends the
//!   server's process; [`Client::close`] does so at once and waits for it.
//! - A server that ends fails the calls in flight at once with [`CallError::Closed`], which has its exit status and its last
//!   words; [`Restart`] starts it again.

mod asking;
mod builder;
mod cache;
mod calls;
mod ceiling;
mod changes;
mod clock;
mod connection;
mod era;
mod error;
mod frames;
mod handle;
mod handlers;
#[cfg(feature = "http")]
mod http;
mod notification;
mod options;
mod outcome;
#[cfg(feature = "validate")]
mod outputs;
mod pager;
mod relisten;
mod reply;
mod rounds;
mod session;
mod subscribing;
mod subscription;
mod task;
mod watches;

use std::sync::Arc;

use mcp_core::model::{Era, ProtocolVersion, Root, SubscriptionFilter};

pub use builder::{Async, Blocking, ClientBuilder};
pub use cache::CacheLimits;
pub use changes::Change;
pub use clock::Clock;
#[cfg(feature = "auth")]
pub(crate) use clock::Pause;
pub use era::EraCache;
pub use error::{CallError, Closed, ClosedReason, ConnectError, ErrorAnswer, Timeout, Unsupported};
pub use frames::Direction;
use handle::{Control, Handle, Shared};
pub use handlers::{Declined, ElicitRequest, SamplingRequest};
pub use mcp_core::binding::http::client::HttpFault;
pub use mcp_core::engine::client::{ConnectError as HandshakeError, Counters, ServerInfo};
pub use mcp_io::child::{Command, Exit, Inherit, Shutdown, SpawnError, Stderr, Step};
#[cfg(feature = "http")]
pub use mcp_io::http::client::Proxy;
pub use notification::{Notification, Notifications};
pub use options::{CacheUse, CallOptions, Canceller, Restart, Timeouts};
pub use outcome::{Response, ToolOutcome};
pub use pager::{Pager, PagingFault};
pub use session::all_closed;
pub use subscription::{Subscription, SubscriptionEnd};
pub use task::{Begun, TaskChanges, TaskHandle, TaskState, TaskStatus};

/// A connection to a server. Cheap to clone; all clones are one connection.
#[derive(Clone, Debug)]
pub struct Client {
    handle: Arc<Handle>,
}

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
    pub async fn stdio(command: Command) -> Result<Self, ConnectError> {
        Self::builder(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"))
            .connect_stdio(command)
            .await
    }

    /// Connects to the server at a URL, as a client that can do nothing for servers and is named after this library.
    ///
    /// # Errors
    ///
    /// Those of [`ClientBuilder::connect_http`].
    #[cfg(feature = "http")]
    pub async fn http(url: &str) -> Result<Self, ConnectError> {
        Self::builder(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"))
            .connect_http(url)
            .await
    }

    /// What is known about the server: of the last connection, if there have been several.
    #[must_use]
    pub fn server(&self) -> Option<Arc<ServerInfo>> {
        self.shared().server()
    }

    /// The revision that is spoken.
    #[must_use]
    pub fn version(&self) -> ProtocolVersion {
        self.server()
            .map_or(ProtocolVersion::LATEST_MODERN, |server| server.revision)
    }

    fn era(&self) -> Era {
        self.version().era()
    }

    /// The changes that the filter names, from now on:
    /// `client.subscribe(SubscriptionFilter::new().tools().resource("note://1"))`.
    ///
    /// Servers of 2026-07-28 are asked to tell. Older ones tell of their lists unasked if they declared it, and are asked for
    /// each resource.
    ///
    /// An update may be of a part of a resource that is named: of a URI that goes on after it with a new segment, a query or
    /// a fragment. What is not named is not told, whatever the server sends.
    ///
    /// # Errors
    ///
    /// The server refused, did not say within [`Timeouts::request`] that it begins, or there is no connection. A server that
    /// tells of less than was asked for is no error: [`Subscription::acknowledged`].
    pub async fn subscribe(
        &self,
        filter: SubscriptionFilter<'_>,
    ) -> Result<Subscription, CallError> {
        Subscription::open(self.handle.clone(), filter.into_owned()).await
    }

    /// The notifications of the server from now on, as they come.
    pub fn notifications(&self) -> Notifications {
        self.shared().listeners.listen()
    }

    /// Other roots than before. Servers of the legacy era are told; newer ones ask when they need them.
    ///
    /// # Errors
    ///
    /// No roots were declared, see [`ClientBuilder::roots`]; one of them is no `file://` URI; or there is no connection.
    pub fn set_roots(
        &self,
        roots: impl IntoIterator<Item = Root<'static>>,
    ) -> Result<(), CallError> {
        let roots: Vec<_> = roots.into_iter().collect();
        if let Some(fault) = handlers::unfit_root(&roots) {
            return Err(CallError::Arguments(fault));
        }
        if !self.shared().handlers.replace_roots(roots) {
            return Err(CallError::Unsupported(Unsupported::Roots));
        }
        self.handle.control(Control::RootsChanged)
    }

    /// The last that the server's process has written to standard error, 16 KiB of it unless [`Command::stderr_tail`] says
    /// otherwise. Empty if there is no such process, or that is not captured.
    #[must_use]
    pub fn stderr(&self) -> String {
        self.shared().stderr()
    }

    /// Why there is no connection any more, and will be none. `None` while there is one, or is to be one again.
    #[must_use]
    pub fn closed(&self) -> Option<Closed> {
        self.shared().why_closed()
    }

    /// What the server did that was not as it should be, counted over all connections of this client: answers that were late
    /// or to nothing, messages that broke a rule.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.shared().counters()
    }

    /// Forgets all cached answers.
    pub fn clear_cache(&self) {
        self.shared().cache.clear();
    }

    /// Closes the connection: calls in flight fail, the server's standard input is closed, and if that does not end it, it is
    /// asked to end, and then killed. Returns when its process, and those it has started, are gone.
    pub async fn close(&self) -> Closed {
        self.handle.close().await
    }

    fn shared(&self) -> &Shared {
        &self.handle.shared
    }
}
