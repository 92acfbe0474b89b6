//! Why a server could not be started.

use std::{fmt, io};

/// The server could not be started. Once it runs, what goes wrong ends a connection at most.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The address could not be listened at.
    Listen(io::Error),
    /// The system gives no means to wait for sockets: too many are in use, most likely.
    Poll(io::Error),
    /// A thread could not be started.
    Thread(io::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Listen(error) => write!(f, "cannot listen: {error}"),
            Self::Poll(error) => write!(f, "cannot wait for sockets: {error}"),
            Self::Thread(error) => write!(f, "cannot start a thread: {error}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Listen(error) | Self::Poll(error) | Self::Thread(error) => Some(error),
        }
    }
}
