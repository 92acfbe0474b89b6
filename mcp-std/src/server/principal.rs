//! Who sends a request.

use core::fmt;
use std::sync::Arc;
#[cfg(feature = "auth")]
use std::time::SystemTime;

use serde_json::{Map, Value};

/// Who sends a request, as something has found out that can: a [resource server](crate::http), or a layer in front of
/// this service that puts it into the request's [`extensions`](http::Request::extensions). Sessions, and states that travel
/// with clients, belong to who began them; to others they do not exist.
///
/// Two are equal if their names are, whatever else is known of them: a user with another token, and other scopes, is the
/// same one.
// RSV-05, SEC-06: there is no token in it, nor a way to one. What a handler cannot reach it cannot pass on.
#[derive(Clone)]
pub struct Principal(Arc<Inner>);

#[derive(Default)]
struct Inner {
    name: Arc<str>,
    issuer: Option<Box<str>>,
    subject: Option<Box<str>>,
    client_id: Option<Box<str>>,
    scopes: Vec<Box<str>>,
    claims: Map<String, Value>,
    #[cfg(feature = "auth")]
    end: Option<SystemTime>,
}

impl Principal {
    /// Named by something that is unique and does not change, such as issuer and subject of a token.
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        Self(Arc::new(Inner {
            name: name.into(),
            ..Inner::default()
        }))
    }

    /// Somebody that an issuer vouches for. `None`: it does not say who that is.
    #[cfg(feature = "auth")]
    pub(crate) fn verified(
        issuer: &str,
        subject: Option<&str>,
        client_id: Option<&str>,
        scopes: Vec<Box<str>>,
        claims: Map<String, Value>,
        end: Option<SystemTime>,
    ) -> Option<Self> {
        // No issuer has a blank in it, so no subject can pose as another issuer's, nor a client as a subject.
        let name = match (subject, client_id) {
            (Some(subject), _) => format!("{issuer} sub {subject}"),
            (None, Some(client)) => format!("{issuer} client {client}"),
            (None, None) => return None,
        };
        Some(Self(Arc::new(Inner {
            name: name.into(),
            issuer: Some(issuer.into()),
            subject: subject.map(Into::into),
            client_id: client_id.map(Into::into),
            scopes,
            claims,
            end,
        })))
    }

    /// What tells it from all others.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// When what it proved itself by is not good any more.
    #[cfg(feature = "auth")]
    pub(crate) fn end(&self) -> Option<SystemTime> {
        self.0.end
    }

    /// Who vouches for it: the issuer of its token.
    #[must_use]
    pub fn issuer(&self) -> Option<&str> {
        self.0.issuer.as_deref()
    }

    /// What the issuer calls it: unique there, and never given to somebody else. `None` also for a client that acts for
    /// no user, at issuers that do not name it as a subject.
    #[must_use]
    pub fn subject(&self) -> Option<&str> {
        self.0.subject.as_deref()
    }

    /// The program that acts for it, by its identifier at the issuer.
    #[must_use]
    pub fn client_id(&self) -> Option<&str> {
        self.0.client_id.as_deref()
    }

    /// What it may do: the scopes of its token, and those that they imply.
    pub fn scopes(&self) -> impl Iterator<Item = &str> {
        self.0.scopes.iter().map(|scope| &**scope)
    }

    /// Whether it has a scope.
    #[must_use]
    pub fn has_scope(&self, scope: &str) -> bool {
        self.scopes().any(|has| has == scope)
    }

    /// Something else that its token says: of the claims that were asked for when the resource server was built.
    #[must_use]
    pub fn claim(&self, name: &str) -> Option<&Value> {
        self.0.claims.get(name)
    }
}

impl PartialEq for Principal {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Principal {}

impl fmt::Debug for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Claims are about people.
        f.debug_struct("Principal")
            .field("name", &self.name())
            .field("client_id", &self.client_id())
            .field("scopes", &self.0.scopes)
            .finish_non_exhaustive()
    }
}
