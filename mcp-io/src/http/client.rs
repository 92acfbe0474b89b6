//! Exchanges with a server: pooled connections, TLS, proxies, redirects.
//!
//! ```no_run
//! # async fn example() -> Result<(), mcp_io::http::client::Error> {
//! use mcp_io::http::client::Client;
//!
//! let client = Client::builder().build()?;
//! let request = http::Request::post("https://example.com/mcp").body("{}".into());
//! let mut response = client.send(request.expect("a request"), false).await?;
//! while let Some(chunk) = response.body.chunk().await {
//!     println!("{} bytes", chunk?.len());
//! }
//! # Ok(()) }
//! ```
//!
//! HTTP/1.1 only, one exchange at a time on a connection. There is no task in the background: a connection goes on while its
//! exchange is polled, and to drop that is to close it. Nothing offers or undoes a content coding.

mod body;
mod connect;
mod connection;
mod error;
mod pool;
mod proxy;
mod redirect;
mod tls;

use core::fmt;
use core::time::Duration;
use std::sync::Arc;

use async_io::Timer;
use bytes::Bytes;
use futures_lite::future::or;
use http::header::{AUTHORIZATION, COOKIE, HOST, HeaderValue, PROXY_AUTHORIZATION};
use http::{HeaderMap, Request, StatusCode, Uri};

pub use body::Body;
use connect::{Connector, Origin};
use connection::Failure;
pub use error::Error;
use pool::{Permits, Pool};
pub use proxy::Proxy;

/// Redirects that are followed, one after the other (HC-03).
const HOPS: usize = 5;

/// Sends requests. Cheap to clone; all clones share their connections.
#[derive(Clone)]
pub struct Client {
    connector: Arc<Connector>,
    pool: Arc<Pool>,
    permits: Permits,
    head_timeout: Option<Duration>,
    redirects: bool,
}

/// The answer to a request: its body is still to be read.
#[derive(Debug)]
#[non_exhaustive]
pub struct Response {
    /// The status.
    pub status: StatusCode,
    /// The fields of the head.
    pub headers: HeaderMap,
    /// The body.
    pub body: Body,
}

/// Makes a [`Client`].
#[derive(Clone, Debug)]
#[must_use = "nothing happens before `build`"]
pub struct Builder {
    connect_timeout: Duration,
    head_timeout: Option<Duration>,
    redirects: bool,
    max_connections: usize,
    max_idle: usize,
    idle_timeout: Duration,
    proxy: Proxy,
    authorities: Vec<Vec<u8>>,
    #[cfg(unix)]
    socket: Option<std::path::PathBuf>,
}

impl Default for Builder {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(10),
            head_timeout: None,
            redirects: true,
            max_connections: 256,
            max_idle: 8,
            idle_timeout: Duration::from_secs(60),
            proxy: Proxy::Environment,
            authorities: Vec::new(),
            #[cfg(unix)]
            socket: None,
        }
    }
}

impl Builder {
    /// How long it may take to make a connection, with its name, its proxy and its TLS. Default: 10 seconds.
    pub const fn connect_timeout(mut self, time: Duration) -> Self {
        self.connect_timeout = time;
        self
    }

    /// How long it may take from the request to the head of the response. Default: no limit, since whoever waits for an
    /// answer limits that.
    pub const fn head_timeout(mut self, time: Option<Duration>) -> Self {
        self.head_timeout = time;
        self
    }

    /// Whether redirects are followed. Where not, they are answers like others. Default: within the origin.
    pub const fn redirects(mut self, follow: bool) -> Self {
        self.redirects = follow;
        self
    }

    /// How many connections there may be at once; whoever needs one more waits. Default: 256.
    pub const fn max_connections(mut self, most: usize) -> Self {
        self.max_connections = most;
        self
    }

    /// How many connections without an exchange are kept. Default: 8.
    pub const fn max_idle(mut self, most: usize) -> Self {
        self.max_idle = most;
        self
    }

    /// How long such a connection is kept. Default: 60 seconds.
    pub const fn idle_timeout(mut self, time: Duration) -> Self {
        self.idle_timeout = time;
        self
    }

    /// Which proxy is used. Default: what the environment says.
    pub fn proxy(mut self, proxy: Proxy) -> Self {
        self.proxy = proxy;
        self
    }

    /// Trusts these authorities, certificates in PEM, besides those that browsers trust.
    pub fn authorities(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.authorities.push(pem.into());
        self
    }

    /// Connects to this socket of the machine, whatever host the URLs name, and without a proxy.
    #[cfg(unix)]
    pub fn socket(mut self, path: impl Into<std::path::PathBuf>) -> Self {
        self.socket = Some(path.into());
        self
    }

    /// The client.
    ///
    /// # Errors
    ///
    /// The authorities are no certificates, or the proxy is none.
    pub fn build(self) -> Result<Client, Error> {
        let connector = Connector {
            timeout: self.connect_timeout,
            proxies: self.proxy.resolve()?,
            tls: tls::config(&self.authorities)?,
            #[cfg(unix)]
            socket: self.socket,
        };
        Ok(Client {
            connector: Arc::new(connector),
            pool: Pool::new(self.max_idle, self.idle_timeout),
            permits: Permits::new(self.max_connections),
            head_timeout: self.head_timeout,
            redirects: self.redirects,
        })
    }
}

impl Client {
    /// Begins a client.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// Whether requests can be sent to such a URL, as far as it tells by itself.
    ///
    /// # Errors
    ///
    /// [`Error::Url`]: it is of another scheme, has no host, or has a user in it.
    pub fn check(url: &Uri) -> Result<(), Error> {
        Origin::of(url).map(drop)
    }

    /// A client that has `max_connections` to itself, at most so many at once, and shares all else with this one, those
    /// without an exchange included. What it sends never waits for what this one sends: so the answer that a server waits for
    /// goes out while all other connections wait for that server.
    #[must_use]
    pub fn aside(&self, max_connections: usize) -> Self {
        Self {
            permits: Permits::new(max_connections),
            ..self.clone()
        }
    }

    /// Sends a request to its absolute URL and waits for the head of the response. Dropping the future, or the body, closes
    /// the connection.
    ///
    /// `Host` and `Content-Length` are added. A request that never went out, because its connection had been closed while it
    /// was idle, goes out on another one; one that did and was not answered goes again only if it is `repeatable` (HC-09). A
    /// redirect within the origin that keeps method and body is followed, [unless](Builder::redirects) that was not wanted.
    ///
    /// # Errors
    ///
    /// There is no response: [`Error::is_unsent`] says whether the server can have acted on the request.
    pub async fn send(&self, request: Request<Bytes>, repeatable: bool) -> Result<Response, Error> {
        let mut request = request;
        for _ in 0..=HOPS {
            let target = request.uri().clone();
            let response = self.exchange(&request, repeatable).await?;
            if !self.redirects {
                return Ok(response);
            }
            match redirect::target(response.status, &response.headers, &target)? {
                None => return Ok(response),
                Some(next) => *request.uri_mut() = next,
            }
        }
        Err(Error::Redirect {
            status: 308,
            location: Some(request.uri().to_string()),
            reason: "one redirect after the other",
        })
    }

    async fn exchange(
        &self,
        request: &Request<Bytes>,
        repeatable: bool,
    ) -> Result<Response, Error> {
        let origin = Origin::of(request.uri())?;
        let permit = self.permits.take().await;
        let mut message = self.message(request, &origin)?;
        // Those that were idle: any of them may be gone.
        while let Some(mut live) = self.pool.take(&origin) {
            match self.timed(live.exchange(message)).await {
                Ok(head) => return Ok(self.response(head, live, origin, permit)),
                Err(Failure::Unsent(_)) => {}
                Err(Failure::Broken(error)) if !repeatable => return Err(error),
                Err(Failure::Broken(_)) => {}
                Err(Failure::Fatal(error)) => return Err(error),
            }
            message = self.message(request, &origin)?;
        }
        let mut live = self.connector.connect(&origin).await?;
        match self.timed(live.exchange(message)).await {
            Ok(head) => Ok(self.response(head, live, origin, permit)),
            Err(Failure::Unsent(error) | Failure::Broken(error) | Failure::Fatal(error)) => {
                Err(error)
            }
        }
    }

    async fn timed<T>(&self, work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
        let Some(time) = self.head_timeout else {
            return work.await;
        };
        let late = async {
            Timer::after(time).await;
            Err(Failure::Fatal(Error::TimedOut {
                what: "the response",
            }))
        };
        or(work, late).await
    }

    /// The request as it is written on a connection to its origin, or to the proxy for that.
    fn message(
        &self,
        request: &Request<Bytes>,
        origin: &Origin,
    ) -> Result<Request<body::Once>, Error> {
        let mut message = Request::new(body::Once::new(request.body().clone()));
        *message.method_mut() = request.method().clone();
        *message.headers_mut() = request.headers().clone();
        let host = HeaderValue::from_str(origin.authority())
            .map_err(|_| Error::url(request.uri(), "its host cannot be written"))?;
        message.headers_mut().entry(HOST).or_insert(host);
        for secret in [AUTHORIZATION, COOKIE, PROXY_AUTHORIZATION] {
            if let Some(value) = message.headers_mut().get_mut(secret) {
                value.set_sensitive(true);
            }
        }
        let path = request
            .uri()
            .path_and_query()
            .map_or("/", |path| path.as_str());
        let absolute = self.connector.forwarding(origin)?;
        *message.uri_mut() = match absolute {
            // Absolute form: the proxy reads where it goes (RFC 9112, section 3.2.2).
            Some(proxy) => {
                if let Some(credentials) = &proxy.credentials {
                    message
                        .headers_mut()
                        .insert(PROXY_AUTHORIZATION, credentials.clone());
                }
                format!("http://{}{path}", origin.authority()).parse::<Uri>()
            }
            None => path.parse::<Uri>(),
        }
        .map_err(|_| Error::url(request.uri(), "it cannot be a request's target"))?;
        Ok(message)
    }

    fn response(
        &self,
        head: http::Response<hyper::body::Incoming>,
        live: connection::Live,
        origin: Origin,
        permit: pool::Permit,
    ) -> Response {
        let (parts, incoming) = head.into_parts();
        let back = pool::Back::new(self.pool.clone(), origin, permit);
        Response {
            status: parts.status,
            headers: parts.headers,
            body: Body::new(incoming, live, back),
        }
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").finish_non_exhaustive()
    }
}
