//! Why there is no token.

use core::fmt;

/// Authorization did not lead to a token, or the token is not enough.
///
/// Texts of servers are cut, and stand here as they came otherwise: they are not to be trusted.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum AuthError {
    /// Nothing was answered. Later it may be.
    #[non_exhaustive]
    Unreachable {
        /// What was asked.
        url: String,
        /// Why.
        reason: String,
    },
    /// What was found at a URL is not what belongs there, or nothing was found.
    #[non_exhaustive]
    Document {
        /// The URL.
        url: String,
        /// What is wrong.
        reason: String,
    },
    /// Nothing is sent to this URL, which the server or someone it named has chosen.
    #[non_exhaustive]
    Url {
        /// The URL.
        url: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The server's metadata are those of another one.
    // DSC-03.
    #[non_exhaustive]
    Resource {
        /// Whose they are.
        found: String,
        /// The server.
        expected: String,
    },
    /// The authorization server's metadata are those of another one.
    // DSC-06.
    #[non_exhaustive]
    Issuer {
        /// Whose they are.
        found: String,
        /// The authorization server.
        expected: String,
    },
    /// The answer to the user's visit does not come from the authorization server that was visited. What else it says is
    /// not told for that reason.
    // ISS-02, ISS-04.
    #[non_exhaustive]
    WrongIssuer {
        /// From whom it says it comes.
        found: Option<String>,
        /// The authorization server.
        expected: String,
    },
    /// The answer to the user's visit is not one to this visit.
    // PKC-03.
    State,
    /// The authorization server lacks something that is needed.
    #[non_exhaustive]
    Unsupported {
        /// The authorization server.
        issuer: String,
        /// What it lacks.
        what: &'static str,
    },
    /// The credentials of this program belong to another authorization server than the one that the server names.
    // REG-09.
    #[non_exhaustive]
    ForeignCredentials {
        /// The server's authorization server.
        issuer: String,
        /// The one that gave the credentials.
        registered: String,
    },
    /// The authorization server does not register this program.
    // REG-08.
    #[non_exhaustive]
    Registration {
        /// The authorization server.
        issuer: String,
        /// What it says.
        reason: String,
    },
    /// The authorization server, or the user, says no.
    #[non_exhaustive]
    Refused {
        /// The code of OAuth, such as `access_denied`.
        error: String,
        /// What else was said.
        description: Option<String>,
    },
    /// The user could not be asked.
    Visit(String),
    /// The server wants scopes that the token does not have, and no other token is to be had.
    // SCP-04.
    #[non_exhaustive]
    Scope {
        /// Which.
        wanted: String,
        /// Why there is no token that has them; `None`: they were asked for, and not given, or are not enough.
        why: Option<String>,
    },
    /// The server does not take the token that its authorization server has just issued.
    Rejected,
    /// A key, or an assertion, that this program was configured with cannot be used.
    Key(String),
    /// What is kept could not be read or written.
    Store(String),
    /// It took too long.
    TimedOut,
}

impl AuthError {
    /// Whether the same may go better a little later, without anybody doing anything.
    #[must_use]
    pub const fn is_transient(&self) -> bool {
        matches!(self, Self::Unreachable { .. } | Self::TimedOut)
    }
}

impl fmt::Display for AuthError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable { url, reason } => write!(f, "{url} does not answer: {reason}"),
            Self::Document { url, reason } if url.contains(RESOURCE_METADATA) => write!(
                f,
                "the server's metadata are not at {url}, or are none: {reason}"
            ),
            Self::Document { url, reason } => write!(f, "{url}: {reason}"),
            Self::Url { url, reason } => write!(f, "nothing is sent to {url}: {reason}"),
            Self::Resource { found, expected } => write!(
                f,
                "the server at {expected} shows the metadata of another one, {found}"
            ),
            Self::Issuer { found, expected } => write!(
                f,
                "the authorization server {expected} shows the metadata of another one, {found}"
            ),
            Self::WrongIssuer { found, expected } => match found {
                Some(found) => write!(
                    f,
                    "the answer was to come from {expected}, but says that it is from {found}"
                ),
                None => write!(
                    f,
                    "the answer was to come from {expected}, but does not say where it is from"
                ),
            },
            Self::State => f.write_str("the answer belongs to another login"),
            Self::Unsupported { issuer, what } => {
                write!(f, "the authorization server {issuer} has no {what}")
            }
            Self::ForeignCredentials { issuer, registered } => write!(
                f,
                "the server's authorization server is {issuer}, but the credentials are for {registered}"
            ),
            Self::Registration { issuer, reason } => write!(
                f,
                "the authorization server {issuer} does not register this program: {reason}"
            ),
            Self::Refused { error, description } => {
                write!(f, "the authorization server says no: {error}")?;
                match description {
                    Some(description) => write!(f, " ({description})"),
                    None => Ok(()),
                }
            }
            Self::Visit(reason) => write!(f, "the user could not be asked: {reason}"),
            Self::Scope { wanted, why: None } => write!(
                f,
                "the server wants the scope `{wanted}`, which was asked for and not given"
            ),
            Self::Scope {
                wanted,
                why: Some(why),
            } => write!(f, "the server wants the scope `{wanted}`: {why}"),
            Self::Rejected => f.write_str(
                "the server does not take the token that its authorization server has just issued",
            ),
            Self::Key(reason) => write!(f, "the credentials cannot be used: {reason}"),
            Self::Store(reason) => write!(f, "the credentials' store: {reason}"),
            Self::TimedOut => f.write_str("the login took too long"),
        }
    }
}

impl core::error::Error for AuthError {}

/// Whoever serves at this place is the server itself, and can mend what is wrong there (RFC 9728).
const RESOURCE_METADATA: &str = "/.well-known/oauth-protected-resource";

/// The beginning of what a server says.
pub(super) fn excerpt(text: &str) -> String {
    const LONGEST: usize = 200;
    let clean = text.chars().filter(|it| !it.is_control());
    clean.take(LONGEST).collect()
}
