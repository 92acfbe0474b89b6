//! Why a model does not answer.

use core::fmt;
use core::time::Duration;

use super::super::adapters::ReplyFault;

/// A model did not answer.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ModelError {
    /// What was configured cannot be used.
    Config(String),
    /// The provider answered with an error: all that was tried again included.
    #[non_exhaustive]
    Status {
        /// The status of HTTP.
        status: u16,
        /// The provider's words. Not to be trusted.
        message: String,
        /// When to come back, if the provider said so.
        retry_after: Option<Duration>,
    },
    /// There was no answer: all that was tried again included.
    Transport(String),
    /// There was no answer in time.
    TimedOut(Duration),
    /// What was answered is none.
    Reply(ReplyFault),
    /// A [`ScriptedModel`](super::ScriptedModel) has nothing more to say.
    Unscripted,
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config(problem) => f.write_str(problem),
            Self::Status {
                status, message, ..
            } => {
                write!(f, "the provider answered with {status}: {message}")?;
                match status {
                    401 | 403 => f.write_str(" (is the API key right?)"),
                    404 => f.write_str(" (are the model and the base URL right?)"),
                    _ => Ok(()),
                }
            }
            Self::Transport(problem) => write!(f, "the provider did not answer: {problem}"),
            Self::TimedOut(time) => write!(f, "the provider did not answer within {time:?}"),
            Self::Reply(fault) => fault.fmt(f),
            Self::Unscripted => f.write_str("the script has no further answer"),
        }
    }
}

impl core::error::Error for ModelError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        if let Self::Reply(fault) = self {
            Some(fault)
        } else {
            None
        }
    }
}

impl From<ReplyFault> for ModelError {
    fn from(fault: ReplyFault) -> Self {
        Self::Reply(fault)
    }
}
