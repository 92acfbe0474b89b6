//! Servers at a URL.

mod drive;

use core::fmt;
use core::time::Duration;
use std::sync::Arc;

use async_io::Timer;
use bytes::Bytes;
use futures_lite::future::or;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Uri};
use mcp_core::binding::http::client::{HttpRequest, Verb};
use mcp_io::http::client::{self as io, Proxy};

pub(super) use drive::drive;

use super::clock::Pause;
use super::error::ConnectError;

/// A server that does not say goodbye is not waited for.
const GOODBYE: Duration = Duration::from_secs(2);

/// So many connections are kept for what is urgent: one for the stream of the server's own messages, the others for
/// exchanges that are over at once.
const URGENT: usize = 16;

/// What was said about HTTP when the client was built.
#[derive(Clone, Debug)]
pub(super) struct HttpOptions {
    pub(super) headers: Vec<(String, String)>,
    pub(super) authorities: Vec<Vec<u8>>,
    pub(super) proxy: Proxy,
    pub(super) max_connections: usize,
    #[cfg(unix)]
    pub(super) socket: Option<std::path::PathBuf>,
    #[cfg(feature = "auth")]
    pub(super) auth: Option<crate::auth::Auth>,
}

/// Why there is no response.
#[derive(Debug)]
enum Unsent {
    Io(io::Error),
    #[cfg(feature = "auth")]
    Auth(crate::auth::AuthError),
}

impl Unsent {
    /// Whether the server cannot have acted on the request; `None`: it does not know who asks.
    const fn is_unsent(&self) -> Option<bool> {
        match self {
            Self::Io(error) => Some(error.is_unsent()),
            #[cfg(feature = "auth")]
            Self::Auth(_) => None,
        }
    }
}

impl fmt::Display for Unsent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            #[cfg(feature = "auth")]
            Self::Auth(error) => error.fmt(f),
        }
    }
}

impl From<io::Error> for Unsent {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

#[cfg(feature = "auth")]
impl From<crate::auth::AuthError> for Unsent {
    fn from(error: crate::auth::AuthError) -> Self {
        Self::Auth(error)
    }
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self {
            headers: Vec::new(),
            authorities: Vec::new(),
            proxy: Proxy::default(),
            max_connections: 256,
            #[cfg(unix)]
            socket: None,
            #[cfg(feature = "auth")]
            auth: None,
        }
    }
}

/// A server, and the way to it. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Endpoint(Arc<Parts>);

#[derive(Debug)]
struct Parts {
    /// As it was configured, without blanks around it (HC-05).
    url: String,
    uri: Uri,
    headers: HeaderMap,
    client: io::Client,
    /// For what must not wait for requests that wait.
    urgent: io::Client,
    #[cfg(feature = "auth")]
    auth: Option<Arc<crate::auth::Session>>,
}

impl Endpoint {
    pub(super) fn new(url: &str, options: &HttpOptions) -> Result<Self, ConnectError> {
        let fault = |what: String| ConnectError::Config(what);
        let url = url.trim();
        let uri = url
            .parse::<Uri>()
            .ok()
            .filter(|uri| uri.scheme().is_some() && uri.authority().is_some())
            .ok_or_else(|| {
                fault(format!(
                    "`{}` is no URL of a server: `https://host/path` is expected",
                    shown(url)
                ))
            })?;
        io::Client::check(&uri).map_err(|error| fault(error.to_string()))?;
        let mut headers = HeaderMap::new();
        for (name, value) in &options.headers {
            let known = name
                .parse::<HeaderName>()
                .map_err(|_| fault(format!("`{name}` is no header's name")))?;
            let mut value = value
                .parse::<HeaderValue>()
                .map_err(|_| fault(format!("the value of the header `{name}` is none")))?;
            // It may be a secret, so it is not to be seen in what is logged.
            value.set_sensitive(true);
            headers.append(known, value);
        }
        let mut builder = io::Client::builder()
            .proxy(options.proxy.clone())
            .max_connections(options.max_connections);
        for authority in &options.authorities {
            builder = builder.authorities(authority.clone());
        }
        #[cfg(feature = "auth")]
        let auth = match &options.auth {
            Some(auth) => {
                // Another one, since it goes to other hosts than the server's, and follows nobody.
                let client = builder.clone().redirects(false).build();
                let client = client.map_err(|error| fault(error.to_string()))?;
                Some(crate::auth::Session::new(auth.clone(), url, client))
            }
            None => None,
        };
        #[cfg(unix)]
        if let Some(path) = &options.socket {
            builder = builder.socket(path.clone());
        }
        let client = builder.build().map_err(|error| fault(error.to_string()))?;
        Ok(Self(Arc::new(Parts {
            url: url.to_owned(),
            uri,
            headers,
            urgent: client.aside(URGENT),
            client,
            #[cfg(feature = "auth")]
            auth,
        })))
    }

    pub(super) fn url(&self) -> &str {
        &self.0.url
    }

    /// Says when time does not count.
    pub(super) fn pause(&self) -> Pause {
        #[cfg(feature = "auth")]
        if let Some(auth) = &self.0.auth {
            return auth.pause.clone();
        }
        Pause::default()
    }

    /// How often somebody has logged in.
    pub(super) fn logins(&self) -> u64 {
        #[cfg(feature = "auth")]
        if let Some(auth) = &self.0.auth {
            return auth.logins();
        }
        0
    }

    /// Sends a request. What the protocol says in headers is not for the program to say.
    async fn send(&self, request: HttpRequest) -> Result<io::Response, Unsent> {
        let HttpRequest {
            verb,
            target,
            fields,
            body,
            repeatable,
            urgent,
            ..
        } = request;
        let mut message = Request::new(Bytes::from(body));
        *message.method_mut() = match verb {
            Verb::Get => Method::GET,
            Verb::Delete => Method::DELETE,
            Verb::Post | _ => Method::POST,
        };
        // As it was configured, where it is that: proofs name it so.
        #[cfg(feature = "auth")]
        let written = match &target {
            None => self.url().to_owned(),
            Some(_) => self.target(target.clone()).to_string(),
        };
        *message.uri_mut() = self.target(target);
        let headers = message.headers_mut();
        headers.clone_from(&self.0.headers);
        for (name, value) in fields {
            // What the binding writes is header-safe.
            if let (Ok(name), Ok(value)) = (
                HeaderName::from_bytes(name.as_bytes()),
                HeaderValue::from_str(&value),
            ) {
                headers.insert(name, value);
            }
        }
        let client = match urgent {
            true => &self.0.urgent,
            false => &self.0.client,
        };
        #[cfg(feature = "auth")]
        if let Some(auth) = &self.0.auth {
            return authorized(client, auth, &written, message, repeatable).await;
        }
        Ok(client.send(message, repeatable).await?)
    }

    fn target(&self, path: Option<String>) -> Uri {
        let configured = &self.0.uri;
        let Some(path) = path else {
            return configured.clone();
        };
        let mut parts = configured.clone().into_parts();
        parts.path_and_query = path.parse().ok();
        Uri::from_parts(parts).unwrap_or_else(|_| configured.clone())
    }

    /// Says goodbye (SN-05): whatever the server answers is fine.
    pub(super) async fn leave(&self, request: HttpRequest) {
        let told = async {
            if let Err(error) = self.send(request).await {
                tracing::debug!(%error, "the server was not told that the session ends");
            }
        };
        let late = async {
            Timer::after(GOODBYE).await;
        };
        or(told, late).await;
    }
}

/// What is no URL, without what may be secret in it: a user before `@`, a query.
fn shown(text: &str) -> String {
    let text = text.split(['?', '#']).next().unwrap_or_default();
    match (text.split_once("://"), text.rsplit_once('@')) {
        (_, None) => text.to_owned(),
        (Some((scheme, _)), Some((_, rest))) => format!("{scheme}://{rest}"),
        (None, Some((_, rest))) => rest.to_owned(),
    }
}

/// Sends a request with the token that there is, and again with another one if the server wants that.
#[cfg(feature = "auth")]
async fn authorized(
    client: &io::Client,
    auth: &Arc<crate::auth::Session>,
    written: &str,
    message: Request<Bytes>,
    repeatable: bool,
) -> Result<io::Response, Unsent> {
    let mut attempt = crate::auth::Attempt::default();
    let method = message.method().clone();
    // Nobody is to log in in order to say goodbye.
    let parting = method == Method::DELETE;
    loop {
        let mut message = message.clone();
        let headers = message.headers_mut();
        if !parting {
            auth.freshen().await;
        }
        auth.sign(&mut attempt, method.as_str(), written, headers)?;
        let response = client.send(message, repeatable).await?;
        let status = response.status.as_u16();
        let headers = &response.headers;
        if parting || !auth.judge(&mut attempt, written, status, headers).await? {
            return Ok(response);
        }
    }
}
