//! From an origin to a connection: name, address, proxy, TLS.

use core::pin::Pin;
use core::time::Duration;
use std::io;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs as _};
use std::sync::Arc;

use async_io::{Async, Timer};
use futures_lite::future::or;
use futures_lite::{AsyncReadExt as _, AsyncWriteExt as _};
use futures_rustls::TlsConnector;
use http::Uri;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;

use super::connection::{Io, Live};
use super::error::Error;
use super::proxy::{Proxies, Server};

/// Whom a connection is to: scheme, host and port.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Origin {
    pub(super) tls: bool,
    /// Lower case; IPv6 addresses in their brackets.
    pub(super) host: String,
    pub(super) port: u16,
    authority: String,
}

impl Origin {
    pub(super) fn of(url: &Uri) -> Result<Self, Error> {
        let tls = match url.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => {
                return Err(Error::url(
                    url,
                    "it begins with neither http:// nor https://",
                ));
            }
        };
        let host = url
            .host()
            .filter(|host| !host.is_empty())
            .ok_or_else(|| Error::url(url, "it has no host"))?
            .to_ascii_lowercase();
        if url
            .authority()
            .is_some_and(|authority| authority.as_str().contains('@'))
        {
            return Err(Error::url(
                url,
                "it has a user in it, which belongs in a header",
            ));
        }
        let default = if tls { 443 } else { 80 };
        let port = url.port_u16().unwrap_or(default);
        let authority = if port == default {
            host.clone()
        } else {
            format!("{host}:{port}")
        };
        Ok(Self {
            tls,
            host,
            port,
            authority,
        })
    }

    /// Host, and port if it has to be said.
    pub(super) fn authority(&self) -> &str {
        &self.authority
    }
}

/// Makes connections.
pub(super) struct Connector {
    pub(super) timeout: Duration,
    pub(super) proxies: Proxies,
    pub(super) tls: Arc<ClientConfig>,
    #[cfg(unix)]
    pub(super) socket: Option<std::path::PathBuf>,
}

impl Connector {
    /// The proxy that passes on requests to this origin, each by itself.
    pub(super) fn forwarding(&self, origin: &Origin) -> Result<Option<&Server>, Error> {
        Ok(self.proxy(origin)?.filter(|_| !origin.tls))
    }

    fn proxy(&self, origin: &Origin) -> Result<Option<&Server>, Error> {
        #[cfg(unix)]
        if self.socket.is_some() {
            return Ok(None);
        }
        self.proxies.of(origin)
    }

    pub(super) async fn connect(&self, origin: &Origin) -> Result<Live, Error> {
        let late = async {
            Timer::after(self.timeout).await;
            Err(Error::TimedOut {
                what: "the connection",
            })
        };
        or(self.open(origin), late).await
    }

    async fn open(&self, origin: &Origin) -> Result<Live, Error> {
        let stream = self.stream(origin).await?;
        tracing::debug!(host = origin.authority(), tls = origin.tls, "connected");
        if !origin.tls {
            return Live::new(stream).await;
        }
        let bare = origin.host.trim_start_matches('[').trim_end_matches(']');
        let tls = |error| Error::Tls {
            host: origin.host.clone(),
            error,
        };
        let name = ServerName::try_from(bare.to_owned())
            .map_err(|error| tls(io::Error::new(io::ErrorKind::InvalidInput, error)))?;
        let connector = TlsConnector::from(self.tls.clone());
        let stream = connector.connect(name, stream).await.map_err(tls)?;
        Live::new(Box::pin(stream)).await
    }

    async fn stream(&self, origin: &Origin) -> Result<Pin<Box<dyn Io>>, Error> {
        #[cfg(unix)]
        if let Some(path) = &self.socket {
            let stream = Async::<std::os::unix::net::UnixStream>::connect(path)
                .await
                .map_err(|error| Error::Connect {
                    to: path.display().to_string(),
                    error,
                })?;
            return Ok(Box::pin(stream));
        }
        let Some(proxy) = self.proxy(origin)? else {
            return Ok(Box::pin(tcp(&origin.host, origin.port).await?));
        };
        let mut stream = tcp(&proxy.host, proxy.port).await?;
        if origin.tls {
            tunnel(&mut stream, proxy, origin).await?;
        }
        Ok(Box::pin(stream))
    }
}

/// Tries the host's addresses one after the other.
async fn tcp(host: &str, port: u16) -> Result<Async<TcpStream>, Error> {
    let bare = host
        .trim_start_matches('[')
        .trim_end_matches(']')
        .to_owned();
    let addresses = blocking::unblock(move || {
        (&*bare, port)
            .to_socket_addrs()
            .map(Iterator::collect::<Vec<SocketAddr>>)
    })
    .await;
    let addresses = addresses.map_err(|error| Error::Resolve {
        host: host.to_owned(),
        error,
    })?;
    let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
    for address in addresses {
        match Async::<TcpStream>::connect(address).await {
            Ok(stream) => {
                // Requests are small and wait for nothing.
                let _ = stream.get_ref().set_nodelay(true);
                return Ok(stream);
            }
            Err(error) => last = error,
        }
    }
    Err(Error::Connect {
        to: format!("{host}:{port}"),
        error: last,
    })
}

/// Asks a proxy to pass on bytes (RFC 9110, section 9.3.6).
async fn tunnel(
    stream: &mut Async<TcpStream>,
    proxy: &Server,
    origin: &Origin,
) -> Result<(), Error> {
    const LONGEST: usize = 8 * 1024;
    let refused = |reason: String| Error::Proxy {
        proxy: format!("{}:{}", proxy.host, proxy.port),
        reason,
    };
    let target = format!("{}:{}", origin.host, origin.port);
    let mut request = format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n").into_bytes();
    if let Some(credentials) = &proxy.credentials {
        request.extend_from_slice(b"Proxy-Authorization: ");
        request.extend_from_slice(credentials.as_bytes());
        request.extend_from_slice(b"\r\n");
    }
    request.extend_from_slice(b"\r\n");
    stream
        .write_all(&request)
        .await
        .map_err(|error| refused(error.to_string()))?;
    let mut head = Vec::new();
    let mut byte = [0];
    // One by one: what follows the head is the origin's.
    while !head.ends_with(b"\r\n\r\n") {
        let read = stream
            .read(&mut byte)
            .await
            .map_err(|error| refused(error.to_string()))?;
        if read == 0 || head.len() >= LONGEST {
            return Err(refused("it does not answer as a proxy does".to_owned()));
        }
        head.extend_from_slice(&byte);
    }
    let line = head.split(|&byte| byte == b'\r').next().unwrap_or_default();
    let line = String::from_utf8_lossy(line);
    let status = line.split(' ').nth(1).unwrap_or_default();
    if line.starts_with("HTTP/1.") && status.len() == 3 && status.starts_with('2') {
        return Ok(());
    }
    Err(refused(format!("it answers `{line}`")))
}
