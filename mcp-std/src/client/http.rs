//! Servers at a URL.

mod drive;

use core::time::Duration;
use std::sync::Arc;

use async_io::Timer;
use bytes::Bytes;
use futures_lite::future::or;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Uri};
use mcp_core::binding::http::client::{HttpRequest, Verb};
use mcp_io::http::client::{self as io, Proxy};

pub(super) use drive::drive;

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
}

impl Endpoint {
    pub(super) fn new(url: &str, options: &HttpOptions) -> Result<Self, ConnectError> {
        let fault = |what: String| ConnectError::Config(what);
        let url = url.trim();
        let uri = url
            .parse::<Uri>()
            .ok()
            .filter(|uri| uri.scheme().is_some() && uri.authority().is_some())
            .ok_or_else(|| fault("the URL is none: `https://host/path` is expected".to_owned()))?;
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
        })))
    }

    pub(super) fn url(&self) -> &str {
        &self.0.url
    }

    /// Sends a request. What the protocol says in headers is not for the program to say.
    async fn send(&self, request: HttpRequest) -> Result<io::Response, io::Error> {
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
        client.send(message, repeatable).await
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
