//! Makes resource servers.

use core::fmt;
use core::time::Duration;
use std::sync::Arc;

use mcp_io::http::client::{self as io, Client};

use super::cache::Cache;
use super::fetch::Fetcher;
use super::issuer::{Issuer, Trusted};
use super::resource::{Inner, Metadata, ResourceServer};
use super::scopes::{self, Rules};
use super::url::Url;

/// A resource server about to be made: see [`ResourceServer::builder`].
#[derive(Clone, Debug)]
#[must_use = "nothing is protected yet"]
pub struct ResourceServerBuilder {
    resource: String,
    audiences: Vec<String>,
    issuers: Vec<Issuer>,
    rules: Rules,
    supported: Option<Vec<String>>,
    claims: Vec<String>,
    skew: Duration,
    name: Option<String>,
    documentation: Option<String>,
    authorities: Vec<Vec<u8>>,
    timeout: Duration,
}

impl ResourceServerBuilder {
    pub(super) fn new(resource: String) -> Self {
        Self {
            resource,
            audiences: Vec::new(),
            issuers: Vec::new(),
            rules: Rules::default(),
            supported: None,
            claims: Vec::new(),
            skew: Duration::from_secs(60),
            name: None,
            documentation: None,
            authorities: Vec::new(),
            timeout: Duration::from_secs(5),
        }
    }

    /// Accepts the tokens of an issuer: its URL, or an [`Issuer`] with more said about it. At least one; clients are told
    /// all of them. A token that does not say whose it is goes to the first of them that is asked about tokens, and to no
    /// other.
    pub fn issuer(mut self, issuer: impl Into<Issuer>) -> Self {
        self.issuers.push(issuer.into());
        self
    }

    /// Accepts tokens for this audience as well: a name that an issuer has for this server and no other. Default: the
    /// resource only.
    pub fn audience(mut self, audience: impl Into<String>) -> Self {
        self.audiences.push(audience.into());
        self
    }

    /// The scopes that everything takes.
    pub fn scopes<T: AsRef<str>>(mut self, scopes: impl IntoIterator<Item = T>) -> Self {
        add(&mut self.rules.base, scopes);
        self
    }

    /// The scopes that a method takes besides, such as `tools/call`. A name that is no method protects nothing, which is
    /// told to `tracing` as a warning when serving begins.
    pub fn method_scopes<T: AsRef<str>>(
        mut self,
        method: &str,
        scopes: impl IntoIterator<Item = T>,
    ) -> Self {
        add(self.rules.methods.entry(method.into()).or_default(), scopes);
        self
    }

    /// The scopes that a call of this tool takes besides. A name that is no tool protects nothing, which is told to
    /// `tracing` as a warning when serving begins.
    pub fn tool_scopes<T: AsRef<str>>(
        mut self,
        tool: &str,
        scopes: impl IntoIterator<Item = T>,
    ) -> Self {
        add(self.rules.tools.entry(tool.into()).or_default(), scopes);
        self
    }

    /// Whoever has this scope has these others as well, and what they imply.
    // RSV-08.
    pub fn implies<T: AsRef<str>>(
        mut self,
        scope: &str,
        others: impl IntoIterator<Item = T>,
    ) -> Self {
        add(self.rules.implied.entry(scope.into()).or_default(), others);
        self
    }

    /// The scopes that clients are told of beforehand, which some ask their user for all at once. Default: those that
    /// everything takes.
    // SEC-17: no catalogue of everything.
    pub fn scopes_supported<T: AsRef<str>>(mut self, scopes: impl IntoIterator<Item = T>) -> Self {
        let scopes = scopes.into_iter().map(|scope| scope.as_ref().to_owned());
        self.supported.get_or_insert_default().extend(scopes);
        self
    }

    /// The claims that handlers may see, by [`Principal::claim`](crate::Principal::claim). Default: none.
    pub fn claims<T: AsRef<str>>(mut self, names: impl IntoIterator<Item = T>) -> Self {
        let names = names.into_iter().map(|name| name.as_ref().to_owned());
        self.claims.extend(names);
        self
    }

    /// By how much the issuer's clock and this one may differ. Default: 60 seconds; at most 10 minutes.
    pub fn skew(mut self, skew: Duration) -> Self {
        self.skew = skew.min(Duration::from_secs(600));
        self
    }

    /// What the resource is called, for people who are asked whether a client may use it.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Where people read about it: a URL.
    pub fn documentation(mut self, url: impl Into<String>) -> Self {
        self.documentation = Some(url.into());
        self
    }

    /// Trusts these authorities, certificates in PEM, when issuers are asked, besides those that browsers trust.
    pub fn authorities(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.authorities.push(pem.into());
        self
    }

    /// How long an issuer may take to answer. Default: 5 seconds.
    pub const fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// The resource server.
    ///
    /// # Errors
    ///
    /// Something of what was said cannot be: [`AuthError`] says what.
    pub fn build(self) -> Result<ResourceServer, AuthError> {
        let url = Url::parse(&self.resource).map_err(|reason| AuthError::Resource {
            url: self.resource.clone(),
            reason,
        })?;
        let supported = self.supported.iter().flatten().map(|scope| &**scope);
        for scope in self.rules.all().chain(supported) {
            scopes::check(scope).map_err(|reason| AuthError::Scope {
                scope: scope.to_owned(),
                reason,
            })?;
        }
        let mut client = Client::builder();
        for pem in &self.authorities {
            client = client.authorities(pem.clone());
        }
        let client = client.build().map_err(AuthError::Client)?;
        let fetcher = Fetcher::new(client, self.timeout);
        let trusted = self.issuers.into_iter().map(|it| it.trust(&fetcher));
        let trusted: Vec<Trusted> = trusted.collect::<Result<_, _>>()?;
        if trusted.is_empty() {
            return Err(AuthError::NoIssuer);
        }
        for (at, issuer) in trusted.iter().enumerate() {
            if trusted[..at].iter().any(|it| it.issuer == issuer.issuer) {
                return Err(AuthError::Issuer {
                    url: issuer.issuer.as_ref().to_owned(),
                    reason: "it is there twice".to_owned(),
                });
            }
        }
        let supported = match &self.supported {
            Some(scopes) => scopes.clone(),
            None => {
                let base = self.rules.base.iter();
                base.map(|scope| scope.as_ref().to_owned()).collect()
            }
        };
        let metadata = Metadata::new(
            &url,
            &self.resource,
            &trusted,
            supported,
            self.name,
            self.documentation,
        );
        let audiences = core::iter::once(&self.resource).chain(&self.audiences);
        Ok(ResourceServer(Arc::new(Inner {
            audiences: audiences.map(|it| it.as_str().into()).collect(),
            authority: url.authority().to_owned(),
            resource: self.resource.clone(),
            trusted,
            rules: self.rules,
            claims: self.claims,
            skew: self.skew,
            metadata,
            cache: Cache::default(),
        })))
    }
}

fn add<T: AsRef<str>>(list: &mut Vec<Box<str>>, scopes: impl IntoIterator<Item = T>) {
    for scope in scopes {
        let scope = scope.as_ref();
        if !list.iter().any(|has| **has == *scope) {
            list.push(scope.into());
        }
    }
}

/// Why there is no resource server.
#[derive(Debug)]
#[non_exhaustive]
pub enum AuthError {
    /// The resource cannot be what it is called.
    #[non_exhaustive]
    Resource {
        /// As it was given.
        url: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// An issuer, or a URL of it, cannot be.
    #[non_exhaustive]
    Issuer {
        /// As it was given.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A scope cannot be called so.
    #[non_exhaustive]
    Scope {
        /// As it was given.
        scope: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// There is no issuer, so no token could be accepted.
    NoIssuer,
    /// What issuers would be asked with cannot be made.
    Client(io::Error),
}

impl fmt::Display for AuthError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Resource { url, reason } => write!(f, "the resource `{url}`: {reason}"),
            Self::Issuer { url, reason } => write!(f, "the issuer `{url}`: {reason}"),
            Self::Scope { scope, reason } => write!(f, "the scope `{scope}`: {reason}"),
            Self::NoIssuer => f.write_str("there is no issuer whose tokens would be accepted"),
            Self::Client(error) => write!(f, "issuers cannot be asked: {error}"),
        }
    }
}

impl core::error::Error for AuthError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Client(error) => Some(error),
            Self::Resource { .. } | Self::Issuer { .. } | Self::Scope { .. } | Self::NoIssuer => {
                None
            }
        }
    }
}
