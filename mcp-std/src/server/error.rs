//! What a request is answered with when it is not a result.

use core::any::Any;
use core::error::Error;
use core::fmt::{self, Display};

use mcp_core::ErrorCode;
use mcp_core::json::Json;
use mcp_core::model::{ClientCapabilities, ElicitRequestUrlParams, Encode as _, ProtocolVersion};

use super::context::AskError;
use super::elicitation::InputRequired;
use super::extension::ExtensionResult;
use super::resource::ResourceError;

/// An error that a handler returns to have its request answered with a JSON-RPC error: the request could not be carried
/// out at all, and the client is told rather than the model.
///
/// As the `Err` of a tool any other error becomes a result with `isError: true`, for the model to read. This one is also
/// found inside a `Box<dyn Error>`, not inside error types of other crates.
///
/// ```
/// use mcp_std::{ErrorCode, ProtocolError, Server};
///
/// let server = Server::builder("library", "1.0.0")
///     .tool("lend", "Lends a book", || async {
///         Err::<(), _>(ProtocolError::new(ErrorCode::new(-31999), "The library is closed"))
///     })
///     .build()?;
/// # Ok::<(), mcp_std::BuildError>(())
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct ProtocolError {
    /// What kind of error. Those from -32768 to -32000 are the protocols'.
    pub code: ErrorCode,
    /// What went wrong, in one short sentence.
    pub message: String,
    /// Anything else to say.
    pub data: Option<Json<'static>>,
}

impl ProtocolError {
    /// An error of this kind.
    #[must_use]
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            data: None,
        }
    }

    /// The same with more to say.
    #[must_use]
    pub fn data(mut self, data: Json<'static>) -> Self {
        self.data = Some(data);
        self
    }

    /// The request has to wait until the user has been to these URLs. It leaves as such in 2025-11-25 only, the one
    /// revision that has it; elsewhere with the code for invalid parameters. [`Context::elicit_url`] is understood
    /// by clients of both eras.
    ///
    /// [`Context::elicit_url`]: super::Context::elicit_url
    #[must_use]
    pub fn url_elicitation_required(
        message: impl Into<String>,
        urls: &[ElicitRequestUrlParams<'_>],
    ) -> Self {
        let urls: Vec<_> = urls
            .iter()
            .map(|url| {
                url.to_json(ProtocolVersion::V2025_11_25)
                    .as_str()
                    .to_owned()
            })
            .collect();
        let data = Json::owned(format!("{{\"elicitations\":[{}]}}", urls.join(",")));
        Self {
            data: data.ok(),
            ..Self::new(ErrorCode::URL_ELICITATION_REQUIRED, message)
        }
    }
}

impl Display for ProtocolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for ProtocolError {}

/// What a request is answered with instead of a result. A handler may return it as its `Err`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Instead {
    /// This JSON-RPC error.
    Error(ProtocolError),
    /// The resource that was asked for does not exist: the error that the client's revision has for that.
    NotFound,
    /// The client did not declare what it takes to answer: the error that its revision has for that.
    MissingCapability(ClientCapabilities),
    /// The client is asked for input and repeats the request with it. Clients of 2026-07-28 only.
    InputRequired(InputRequired),
    /// The client did not declare an extension, of this identifier, that it takes to answer: the error for that.
    MissingExtension(String),
    /// The result of an extension, in the place of what the request has otherwise. Only for clients that declared it.
    Extension(ExtensionResult),
}

impl From<ProtocolError> for Instead {
    fn from(error: ProtocolError) -> Self {
        Self::Error(error)
    }
}

impl Instead {
    pub(crate) fn internal(message: impl Into<String>) -> Self {
        ProtocolError::new(ErrorCode::INTERNAL_ERROR, message).into()
    }

    pub(crate) fn invalid_params(message: impl Into<String>) -> Self {
        ProtocolError::new(ErrorCode::INVALID_PARAMS, message).into()
    }

    /// What an error of a handler means by its type; else the text it has.
    pub(crate) fn of<E: Display + 'static>(error: &E) -> Result<Self, String> {
        let any: &dyn Any = error;
        let boxed = any
            .downcast_ref::<Box<dyn Error + Send + Sync>>()
            .map(|error| &**error as &(dyn Error + 'static))
            .or_else(|| {
                any.downcast_ref::<Box<dyn Error + Send>>()
                    .map(|error| &**error as &(dyn Error + 'static))
            })
            .or_else(|| any.downcast_ref::<Box<dyn Error>>().map(|error| &**error));
        let known = match boxed {
            Some(error) => known(
                error.downcast_ref(),
                error.downcast_ref(),
                error.downcast_ref(),
                error.downcast_ref(),
            ),
            None => known(
                any.downcast_ref(),
                any.downcast_ref(),
                any.downcast_ref(),
                any.downcast_ref(),
            ),
        };
        known.ok_or_else(|| error.to_string())
    }
}

/// The errors that mean something by their type.
fn known(
    instead: Option<&Instead>,
    protocol: Option<&ProtocolError>,
    resource: Option<&ResourceError>,
    ask: Option<&AskError>,
) -> Option<Instead> {
    if let Some(instead) = instead {
        return Some(instead.clone());
    }
    if let Some(error) = protocol {
        return Some(error.clone().into());
    }
    if let Some(ResourceError::NotFound) = resource {
        return Some(Instead::NotFound);
    }
    match ask {
        Some(&AskError::Unsupported(missing)) => Some(Instead::MissingCapability(missing)),
        _ => None,
    }
}

impl Display for Instead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Error(error) => error.fmt(f),
            Self::NotFound => ResourceError::NotFound.fmt(f),
            Self::MissingCapability(missing) => AskError::Unsupported(*missing).fmt(f),
            Self::InputRequired(_) => f.write_str("The client is asked for input"),
            Self::MissingExtension(id) => {
                write!(f, "The client did not declare the extension {id}")
            }
            Self::Extension(result) => write!(f, "A result of type {}", result.result_type),
        }
    }
}

impl Error for Instead {}
