//! What can go wrong with a transport.

use std::{fmt, io};

/// The transport failed. What the peer says wrongly is not an error here: it is answered, and the stream goes on.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The input could not be read.
    Read(io::Error),
    /// The output could not be written.
    Write(io::Error),
    /// The peer has closed the output: nobody is there any more to be answered.
    Closed,
    /// Standard input and output could not be set up.
    Setup(io::Error),
}

impl Error {
    pub(crate) fn write(error: io::Error) -> Self {
        use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, NotConnected};
        if matches!(
            error.kind(),
            BrokenPipe | ConnectionAborted | ConnectionReset | NotConnected
        ) {
            return Self::Closed;
        }
        Self::Write(error)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(error) => write!(f, "cannot read the input: {error}"),
            Self::Write(error) => write!(f, "cannot write the output: {error}"),
            Self::Closed => f.write_str("the peer has closed the output"),
            Self::Setup(error) => write!(f, "cannot use standard input and output: {error}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Read(error) | Self::Write(error) | Self::Setup(error) => Some(error),
            Self::Closed => None,
        }
    }
}
