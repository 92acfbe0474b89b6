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
    /// Standard input and output could not be set up.
    Setup(io::Error),
}

/// Why a stream ended before its time.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The peer has closed the output, or the whole connection: nobody is there any more to be answered.
    Closed,
    Failed(Error),
}

impl Failure {
    /// A socket whose peer left without reading all of our output says so at the next read.
    pub(crate) fn read(error: io::Error) -> Self {
        Self::of(error, Error::Read)
    }

    pub(crate) fn write(error: io::Error) -> Self {
        Self::of(error, Error::Write)
    }

    fn of(error: io::Error, failed: fn(io::Error) -> Error) -> Self {
        if is_closed(&error) {
            return Self::Closed;
        }
        Self::Failed(failed(error))
    }
}

fn is_closed(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, NotConnected};
    matches!(
        error.kind(),
        BrokenPipe | ConnectionAborted | ConnectionReset | NotConnected
    )
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(error) => write!(f, "cannot read the input: {error}"),
            Self::Write(error) => write!(f, "cannot write the output: {error}"),
            Self::Setup(error) => write!(f, "cannot use standard input and output: {error}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Read(error) | Self::Write(error) | Self::Setup(error) => Some(error),
        }
    }
}
