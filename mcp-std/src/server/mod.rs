//! Servers: built once, then served on as many streams as you like.

mod allowance;
mod arguments;
mod ask;
#[cfg(feature = "auth")]
pub mod auth;
mod builder;
mod changes;
mod completion;
mod connection;
mod context;
mod described;
pub(crate) mod digest;
mod elicitation;
mod error;
mod extension;
mod handler;
#[cfg(feature = "http")]
pub(crate) mod http;
mod offer;
mod output;
mod principal;
mod prompt;
#[cfg(feature = "host")]
pub(crate) mod relay;
mod resource;
mod round;
mod settings;
mod state;
#[cfg(feature = "tasks")]
pub(crate) mod tasks;
mod tool;
mod topics;

use core::fmt;
use std::sync::Arc;

use futures_lite::AsyncWrite;
use mcp_core::model::List;
use mcp_io::{End, Error, Options, Source, drive, stdio};

pub use builder::ServerBuilder;
pub use completion::{IntoCompletion, Settled};
pub use context::{AskError, Context, TraceContext};
pub use elicitation::{Elicited, InputRequired};
pub use error::{Instead, ProtocolError};
pub use extension::{Extension, ExtensionResult, IntoExtensionResult, Listening};
pub use handler::{Handler, Local, NoArguments, Shared, Sharing};
pub use offer::BuildError;
pub use output::{IntoToolResult, Structured, ToolResult};
pub use principal::Principal;
pub use prompt::{IntoPrompt, Prompt};
pub use resource::{IntoResource, Resource, ResourceError, ResourceTemplate};
pub use tool::Tool;
#[cfg(all(test, feature = "validate"))]
pub(crate) use tool::schema_of;

use changes::Hub;
use connection::Connection;
use described::described;

/// A Model Context Protocol server: tools, resources and prompts, and who offers them. Cheap to clone; clones are one
/// server.
///
/// It serves clients of all five revisions, both eras, on the same stream.
pub struct Server<S: Sharing = Shared> {
    hub: Arc<Hub<S>>,
    options: Options,
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
    /// The bounds it works within.
    #[must_use]
    pub fn limits(&self) -> mcp_core::Limits {
        self.hub.settings.limits
    }

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
    /// without a reactor while no call is running and nothing can change.
    ///
    /// No runtime but async-io's is entered: timers are `Timer` of the crate `async-io`, and work that blocks its thread goes
    /// to `unblock` of the crate `blocking` (both are parts of `smol`), or to a thread. A handler that needs tokio wants `#[tokio::main]` and [`serve_stdio`](Self::serve_stdio).
    ///
    /// # Errors
    ///
    /// The same.
    pub fn run_stdio(&self) -> Result<End, Error> {
        let (mut input, output) = stdio::take()?;
        if !self.hub.settings.list_changes && !self.hub.settings.subscriptions {
            input.block_when_idle();
        }
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
        let mut connection = Connection::stdio(self.hub.clone());
        drive(&mut connection, input, output, self.options).await
    }
}

#[cfg(feature = "client")]
impl Server {
    /// Serves one peer in this process, until one of the two ends it.
    pub(crate) async fn serve_pair(&self, peer: &mut impl mcp_io::Protocol) {
        let mut connection = Connection::stdio(self.hub.clone());
        mcp_io::pair(&mut connection, peer, Options::client()).await;
    }
}

impl<S: Sharing> Clone for Server<S> {
    fn clone(&self) -> Self {
        Self {
            hub: self.hub.clone(),
            options: self.options,
        }
    }
}

impl<S: Sharing> fmt::Debug for Server<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("catalog", &self.hub.offer().catalog)
            .finish_non_exhaustive()
    }
}

/// Adds to a list that may not be there.
fn push<T: Clone>(list: &mut Option<List<'static, T>>, element: T) {
    let mut elements = list.take().map(List::into_vec).unwrap_or_default();
    elements.push(element);
    *list = Some(elements.into());
}
