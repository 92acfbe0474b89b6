//! Servers over Streamable HTTP: all revisions at one URL.

mod body;
mod endpoint;
mod exchange;
mod service;
mod session;
mod straight;
mod threads;

use core::future::{Future, pending};
use core::time::Duration;
use std::net::ToSocketAddrs;
use std::sync::Arc;

use mcp_core::binding::http::{HttpRules, SessionLimits, StreamLimits};
use mcp_io::http::server::{Error, Listener, Options, serve_straight};

pub use body::HttpBody;
pub use service::HttpService;

use endpoint::Endpoint;

use super::Server;
#[cfg(feature = "auth")]
use super::auth::ResourceServer;
use crate::Spawner;

/// A server about to be served over HTTP. Made by [`Server::http`].
///
/// ```no_run
/// # use mcp_std::Server;
/// use mcp_std::http::HttpRules;
///
/// # async fn run(server: Server) -> Result<(), Box<dyn std::error::Error>> {
/// server
///     .http()
///     .rules(HttpRules::new().host("mcp.example.com"))
///     .serve("0.0.0.0:8000")
///     .await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use = "nothing is served yet"]
pub struct Http {
    server: Server,
    rules: HttpRules,
    session_limits: SessionLimits,
    stream_limits: StreamLimits,
    keep_alive: Duration,
    body_timeout: Duration,
    spawner: Spawner,
    options: Options,
    #[cfg(feature = "auth")]
    auth: Option<ResourceServer>,
}

impl Server {
    /// Begins serving over HTTP.
    ///
    /// All revisions are served at one URL: modern requests each for itself, legacy clients in sessions, those of
    /// 2024-11-05 with their own transport. The same server can be served on streams at the same time.
    pub fn http(&self) -> Http {
        Http {
            server: self.clone(),
            rules: HttpRules::new(),
            session_limits: SessionLimits::default(),
            stream_limits: StreamLimits::default(),
            keep_alive: Duration::from_secs(15),
            body_timeout: Duration::from_secs(30),
            spawner: threads::spawner(),
            options: Options::default(),
            #[cfg(feature = "auth")]
            auth: None,
        }
    }

    /// Serves over HTTP at an address such as `127.0.0.1:8000`, for ever, to clients on this machine:
    /// [`http`](Self::http) has all that can be chosen. The URL may have any path. Handlers run on threads of the server's
    /// own, whatever polls this future: those that need tokio want [`Http::around_threads`], or [`Http::service`] in axum.
    ///
    /// # Errors
    ///
    /// The address cannot be listened at, or the threads cannot be started.
    pub async fn serve_http(&self, addresses: impl ToSocketAddrs) -> Result<(), Error> {
        self.http().serve(addresses).await
    }
}

impl Http {
    /// Which hosts and origins are served. Default: those of this machine only.
    pub fn rules(mut self, rules: HttpRules) -> Self {
        self.rules = rules;
        self
    }

    /// Bounds of legacy sessions.
    pub const fn session_limits(mut self, limits: SessionLimits) -> Self {
        self.session_limits = limits;
        self
    }

    /// Bounds of the streams of each legacy session.
    pub const fn stream_limits(mut self, limits: StreamLimits) -> Self {
        self.stream_limits = limits;
        self
    }

    /// How long a stream may be quiet before a comment is sent. Default: 15 seconds. An answer that takes longer than that,
    /// or than a second, is sent as a stream, so that its client sees that somebody is there.
    pub const fn keep_alive(mut self, after: Duration) -> Self {
        self.keep_alive = after;
        self
    }

    /// How long the body of a request may take to arrive. Default: 30 seconds.
    pub const fn body_timeout(mut self, timeout: Duration) -> Self {
        self.body_timeout = timeout;
        self
    }

    /// Where the handlers of legacy sessions run, which go on though their client has gone away. Those of modern requests
    /// run where the HTTP server runs, and so do those of sessions until they first wait.
    ///
    /// Default: threads of their own, one for each core and at least four. A handler that blocks its thread takes one of
    /// them away, and holds up its own session.
    pub fn spawner(mut self, spawner: Spawner) -> Self {
        self.spawner = spawner;
        self
    }

    /// Bounds of the HTTP server: threads, connections, times. [`service`](Self::service) has no use for them.
    pub fn options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    /// What each thread of the server is to run in, such as the context of tokio, without which its timers and sockets
    /// panic ("no reactor running"). The function is called once on each thread, and has to call what it is given.
    ///
    /// Handlers of sessions go on elsewhere once they have waited, so they want the same of their
    /// [`spawner`](Self::spawner). It is [`Options::around`], and so replaced by [`options`](Self::options).
    ///
    /// ```no_run
    /// # use mcp_std::{Server, Spawner};
    /// # async fn run(server: Server) -> Result<(), Box<dyn std::error::Error>> {
    /// let tokio = tokio::runtime::Handle::current();
    /// server
    ///     .http()
    ///     .around_threads(move |run| {
    ///         let _entered = tokio.enter();
    ///         run();
    ///     })
    ///     .spawner(Spawner::new(|task| drop(tokio::spawn(task))))
    ///     .serve("127.0.0.1:8000")
    ///     .await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn around_threads(
        mut self,
        around: impl Fn(&mut dyn FnMut()) + Send + Sync + 'static,
    ) -> Self {
        self.options.around = mcp_io::http::server::Around::new(around);
        self
    }

    /// Clients need an access token: [`auth`](crate::http::auth) says what becomes of it. Whatever a layer in front says
    /// about who asks is not heard then. Mounted at one path, the [service](Self::service) has to be mounted at the
    /// [paths of the metadata](ResourceServer::metadata_paths) as well.
    #[cfg(feature = "auth")]
    pub fn auth(mut self, resource: ResourceServer) -> Self {
        self.auth = Some(resource);
        self
    }

    /// As a service, to be mounted in an HTTP server of another kind; with [`auth`](Self::auth) also where clients look for
    /// the [metadata](crate::http::auth::ResourceServer::metadata_paths).
    #[must_use]
    pub fn service(self) -> HttpService {
        for name in self.rules.unusable() {
            tracing::warn!(
                name,
                "permitted, but no `Host` or `Origin` is ever called so"
            );
        }
        #[cfg(feature = "auth")]
        if let Some(auth) = &self.auth {
            auth.tell_misnamed(&self.server);
        }
        let endpoint = Endpoint::new(
            self.server,
            self.rules,
            self.session_limits,
            self.stream_limits,
            self.keep_alive,
            self.body_timeout,
            self.spawner,
        );
        #[cfg(feature = "auth")]
        let endpoint = endpoint.protected_by(self.auth);
        HttpService(Arc::new(endpoint))
    }

    /// Serves at an address, for ever.
    ///
    /// # Errors
    ///
    /// The address cannot be listened at, or a thread could not be started.
    pub async fn serve(self, addresses: impl ToSocketAddrs) -> Result<(), Error> {
        self.serve_on(Listener::bind(addresses)?, pending()).await
    }

    /// Serves on a socket, until `shutdown` resolves and what was in flight then is answered.
    ///
    /// # Errors
    ///
    /// A thread could not be started.
    pub async fn serve_on(
        self,
        listener: Listener,
        shutdown: impl Future<Output = ()>,
    ) -> Result<(), Error> {
        tracing::info!(at = ?listener, "listening");
        let options = self.options.clone();
        let service = self.service();
        let closing = service.clone();
        let shutdown = async move {
            shutdown.await;
            closing.close();
        };
        serve_straight(listener, service, options, shutdown).await
    }
}
