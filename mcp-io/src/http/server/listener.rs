//! Where a server listens.

use std::fmt;
use std::future::poll_fn;
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
#[cfg(unix)]
use std::os::unix::net::UnixListener;
#[cfg(unix)]
use std::path::Path;
use std::sync::Arc;

use super::Error;
use super::reactor::{Reactor, Registered};
use super::socket::Socket;

/// How many connections may wait to be accepted. The system has its own limit, often a lower one.
#[cfg(unix)]
const BACKLOG: i32 = 4096;

/// A socket that connections come from.
pub struct Listener(Kind);

enum Kind {
    Tcp {
        socket: TcpListener,
        address: SocketAddr,
    },
    #[cfg(unix)]
    Unix {
        socket: UnixListener,
        /// Dropped after the socket.
        _file: Option<file::SocketFile>,
    },
}

impl Listener {
    /// Listens at the first of these addresses that can be listened at. Port 0 is one the system chooses, which
    /// [`local_addr`](Self::local_addr) tells. A port whose last server has just ended can be listened at again.
    ///
    /// Names are resolved before this returns, which may take a while.
    ///
    /// # Errors
    ///
    /// [`Error::Listen`]: none can be listened at.
    pub fn bind(addresses: impl ToSocketAddrs) -> Result<Self, Error> {
        let addresses: Vec<_> = addresses
            .to_socket_addrs()
            .map_err(Error::Listen)?
            .collect();
        TcpListener::bind(&*addresses)
            .map_err(|error| {
                let tried: Vec<_> = addresses.iter().map(SocketAddr::to_string).collect();
                at(&tried.join(", "), error)
            })
            .and_then(Self::from_tcp)
    }

    /// Takes over a socket that listens already, from a supervisor for example.
    ///
    /// # Errors
    ///
    /// [`Error::Listen`]: it does not listen, or cannot be used without blocking.
    pub fn from_tcp(listener: TcpListener) -> Result<Self, Error> {
        let address = listener.local_addr().map_err(Error::Listen)?;
        #[cfg(unix)]
        deepen(&listener)?;
        listener.set_nonblocking(true).map_err(Error::Listen)?;
        Ok(Self(Kind::Tcp {
            socket: listener,
            address,
        }))
    }

    /// Listens at a Unix domain socket. The file is removed when the listener is dropped, unless somebody has replaced
    /// it. One that another server has left behind, and nobody listens at any more, is replaced. Who may connect is up to
    /// the permissions of the directory and the process's umask.
    ///
    /// # Errors
    ///
    /// [`Error::Listen`]: it cannot be listened at; another server does, for example.
    #[cfg(unix)]
    pub fn bind_unix(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let bound = file::bind(path).map_err(|error| at(&path.display(), error));
        let (listener, file) = bound?;
        Self::unix(listener, Some(file))
    }

    /// Takes over a Unix domain socket that listens already. Its file is left when the listener is dropped.
    ///
    /// # Errors
    ///
    /// [`Error::Listen`]: it does not listen, or cannot be used without blocking.
    #[cfg(unix)]
    pub fn from_unix(listener: UnixListener) -> Result<Self, Error> {
        Self::unix(listener, None)
    }

    #[cfg(unix)]
    fn unix(listener: UnixListener, file: Option<file::SocketFile>) -> Result<Self, Error> {
        deepen(&listener)?;
        listener.set_nonblocking(true).map_err(Error::Listen)?;
        Ok(Self(Kind::Unix {
            socket: listener,
            _file: file,
        }))
    }

    /// The address, with the port the system has chosen. `None`: a Unix domain socket.
    #[must_use]
    pub fn local_addr(&self) -> Option<SocketAddr> {
        match &self.0 {
            Kind::Tcp { address, .. } => Some(*address),
            #[cfg(unix)]
            Kind::Unix { .. } => None,
        }
    }

    /// Begins to hear of connections.
    pub(super) fn register(self, reactor: &Arc<Reactor>) -> io::Result<Acceptor> {
        Ok(match self.0 {
            Kind::Tcp { socket, .. } => {
                Acceptor::Tcp(reactor.register(mio::net::TcpListener::from_std(socket))?)
            }
            #[cfg(unix)]
            Kind::Unix { socket, _file } => Acceptor::Unix {
                socket: reactor.register(mio::net::UnixListener::from_std(socket))?,
                _file,
            },
        })
    }
}

/// A socket that connections are accepted from.
pub(super) enum Acceptor {
    Tcp(Registered<mio::net::TcpListener>),
    #[cfg(unix)]
    Unix {
        socket: Registered<mio::net::UnixListener>,
        /// Dropped after the socket.
        _file: Option<file::SocketFile>,
    },
}

impl Acceptor {
    pub(super) async fn accept(&self) -> io::Result<Socket> {
        match self {
            Self::Tcp(socket) => {
                let (stream, _from) = accept(socket, |it| it.accept()).await?;
                Socket::tcp(stream, socket.reactor())
            }
            #[cfg(unix)]
            Self::Unix { socket, .. } => {
                let (stream, _from) = accept(socket, |it| it.accept()).await?;
                Socket::unix(stream, socket.reactor())
            }
        }
    }
}

/// An error that says where it was.
fn at(place: &dyn fmt::Display, error: io::Error) -> Error {
    Error::Listen(io::Error::new(error.kind(), format!("{place}: {error}")))
}

/// Tries first, and waits when there is nobody.
async fn accept<L: mio::event::Source, A>(
    listener: &Registered<L>,
    accept: impl Fn(&L) -> io::Result<A>,
) -> io::Result<A> {
    loop {
        match accept(listener.get()) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                poll_fn(|cx| listener.poll_readable(cx)).await;
            }
            accepted => return accepted,
        }
    }
}

/// The standard library's backlog is short for a burst of connections.
#[cfg(unix)]
fn deepen(listener: impl std::os::fd::AsFd) -> Result<(), Error> {
    rustix::net::listen(listener, BACKLOG).map_err(|errno| Error::Listen(errno.into()))
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Tcp { address, .. } => f.debug_tuple("Listener").field(address).finish(),
            #[cfg(unix)]
            Kind::Unix { socket, .. } => f
                .debug_tuple("Listener")
                .field(&socket.local_addr())
                .finish(),
        }
    }
}

#[cfg(unix)]
mod file {
    use std::fs::{self, Metadata};
    use std::io::{self, ErrorKind};
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    use std::os::unix::net::{UnixListener, UnixStream};
    use std::path::{Path, PathBuf};

    /// The file of a listener, removed with it.
    pub(in crate::http::server) struct SocketFile {
        path: PathBuf,
        /// Device and number, to tell it from one that has replaced it.
        identity: (u64, u64),
    }

    pub(super) fn bind(path: &Path) -> io::Result<(UnixListener, SocketFile)> {
        let listener = match UnixListener::bind(path) {
            Err(error) if error.kind() == ErrorKind::AddrInUse && is_abandoned(path) => {
                fs::remove_file(path)?;
                UnixListener::bind(path)?
            }
            bound => bound?,
        };
        let file = SocketFile {
            path: path.to_owned(),
            identity: identity(&fs::symlink_metadata(path)?),
        };
        Ok((listener, file))
    }

    /// Whether this is a socket nobody listens at.
    fn is_abandoned(path: &Path) -> bool {
        fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket())
            && UnixStream::connect(path)
                .is_err_and(|error| error.kind() == ErrorKind::ConnectionRefused)
    }

    fn identity(file: &Metadata) -> (u64, u64) {
        (file.dev(), file.ino())
    }

    impl Drop for SocketFile {
        fn drop(&mut self) {
            if fs::symlink_metadata(&self.path).is_ok_and(|found| identity(&found) == self.identity)
            {
                // Nobody is there to be told that it stays.
                let _ = fs::remove_file(&self.path);
            }
        }
    }
}
