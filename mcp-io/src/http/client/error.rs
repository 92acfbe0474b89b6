//! What can go wrong, and whether the server can have acted.

use core::fmt;
use std::io;

use http::Uri;

/// There is no response, or not all of it.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The URL is not one that can be sent to.
    #[non_exhaustive]
    Url {
        /// The URL, without what may be secret in it.
        url: String,
        /// What is wrong.
        reason: &'static str,
    },
    /// What was configured cannot be used.
    Config(String),
    /// The host's address cannot be had.
    #[non_exhaustive]
    Resolve {
        /// The host.
        host: String,
        /// Why.
        error: io::Error,
    },
    /// There is no connection to the host.
    #[non_exhaustive]
    Connect {
        /// Host and port, or the path of the socket.
        to: String,
        /// Why.
        error: io::Error,
    },
    /// TLS failed: the certificate, most likely.
    #[non_exhaustive]
    Tls {
        /// The host.
        host: String,
        /// Why.
        error: io::Error,
    },
    /// The proxy does not do what was asked of it.
    #[non_exhaustive]
    Proxy {
        /// Host and port of the proxy.
        proxy: String,
        /// Why.
        reason: String,
    },
    /// It took too long.
    #[non_exhaustive]
    TimedOut {
        /// What did.
        what: &'static str,
    },
    /// A redirect that is not followed (HC-03, HC-04).
    #[non_exhaustive]
    Redirect {
        /// The status.
        status: u16,
        /// Where to.
        location: Option<String>,
        /// Why it is not followed.
        reason: &'static str,
    },
    /// The connection broke, or did not speak HTTP. The server may have acted on the request.
    Broken(hyper::Error),
    /// The connection broke before any of the request was sent.
    Unsent(hyper::Error),
}

impl Error {
    pub(super) fn url(url: &Uri, reason: &'static str) -> Self {
        // Without user and query: passwords and tokens are there.
        let host = url.host().unwrap_or_default();
        let port = url.port().map(|port| format!(":{port}"));
        let port = port.unwrap_or_default();
        let scheme = url.scheme_str().unwrap_or_default();
        Self::Url {
            url: format!("{scheme}://{host}{port}{}", url.path()),
            reason,
        }
    }

    /// Whether the server cannot have acted on the request.
    #[must_use]
    pub const fn is_unsent(&self) -> bool {
        match self {
            Self::Url { .. }
            | Self::Config(_)
            | Self::Resolve { .. }
            | Self::Connect { .. }
            | Self::Tls { .. }
            | Self::Proxy { .. }
            | Self::Unsent(_)
            | Self::Redirect { .. } => true,
            Self::TimedOut { what } => matches!(what.as_bytes(), b"the connection"),
            Self::Broken(_) => false,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Url { url, reason } => write!(f, "the URL {url} cannot be used: {reason}"),
            Self::Config(reason) => f.write_str(reason),
            Self::Resolve { host, error } => write!(f, "no address for {host}: {error}"),
            Self::Connect { to, error } => write!(f, "no connection to {to}: {error}"),
            Self::Tls { host, error } => write!(f, "no TLS with {host}: {error}"),
            Self::Proxy { proxy, reason } => write!(f, "the proxy {proxy}: {reason}"),
            Self::TimedOut { what } => write!(f, "{what} took too long"),
            Self::Redirect {
                status,
                location,
                reason,
            } => {
                let location = location.as_deref().unwrap_or("nowhere");
                write!(f, "redirected ({status}) to {location}: {reason}")
            }
            Self::Broken(error) => write!(
                f,
                "the connection broke, and what became of the request is unknown: {}",
                Chain(error)
            ),
            Self::Unsent(error) => {
                write!(f, "the request could not be sent: {}", Chain(error))
            }
        }
    }
}

/// An error with what is behind it: hyper says only the first half itself.
struct Chain<'e>(&'e hyper::Error);

impl fmt::Display for Chain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)?;
        core::error::Error::source(self.0).map_or(Ok(()), |source| write!(f, ": {source}"))
    }
}

impl core::error::Error for Error {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Resolve { error, .. } | Self::Connect { error, .. } | Self::Tls { error, .. } => {
                Some(error)
            }
            Self::Broken(error) | Self::Unsent(error) => Some(error),
            Self::Url { .. }
            | Self::Config(_)
            | Self::Proxy { .. }
            | Self::TimedOut { .. }
            | Self::Redirect { .. } => None,
        }
    }
}
