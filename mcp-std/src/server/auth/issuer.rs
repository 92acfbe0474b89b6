//! Whose tokens are accepted, and how they are checked.

use core::fmt;
use core::time::Duration;
use std::sync::Arc;

use super::builder::AuthError;
use super::fetch::Fetcher;
use super::introspection::{Introspection, Introspector};
use super::jwk::Algorithm;
use super::jwks::{JwtVerifier, Source, Timing};
use super::url::Url;
use super::verifier::Verifier;

/// An issuer of access tokens: an authorization server that this server trusts. A text is one whose tokens are JWTs
/// and whose keys are found by its metadata.
///
/// ```
/// use mcp_std::http::auth::{Algorithm, Introspection, Issuer};
///
/// let jwt = Issuer::new("https://as.example.com")
///     .jwks_uri("https://as.example.com/keys")
///     .algorithms([Algorithm::Es256]);
/// let opaque = Issuer::introspected(
///     "https://old.example.com",
///     Introspection::new("https://old.example.com/introspect", "mcp", "s3cret"),
/// );
/// ```
#[derive(Clone)]
pub struct Issuer {
    url: String,
    method: Method,
}

#[derive(Clone)]
enum Method {
    Jwt {
        source: Source,
        algorithms: Vec<Algorithm>,
        timing: Timing,
        cache_for: Duration,
    },
    Introspection(Introspection),
    Custom(Arc<dyn Verifier>),
}

/// An issuer that can be asked.
pub(super) struct Trusted {
    pub(super) issuer: Box<str>,
    /// Its tokens say whose they are.
    pub(super) jwt: bool,
    pub(super) verifier: Arc<dyn Verifier>,
}

impl Issuer {
    /// Of JWTs that are signed with its keys. Its URL is what stands in the claim `iss` of its tokens, letter by letter.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            method: Method::Jwt {
                source: Source::Discovered,
                algorithms: Algorithm::ALL.to_vec(),
                timing: Timing {
                    interval: Duration::from_secs(30),
                    refresh_after: Duration::from_secs(600),
                    stale_for: Duration::from_secs(3600),
                },
                cache_for: Duration::from_secs(60),
            },
        }
    }

    /// Of tokens that it is asked about.
    pub fn introspected(url: impl Into<String>, introspection: Introspection) -> Self {
        Self {
            url: url.into(),
            method: Method::Introspection(introspection),
        }
    }

    /// Of tokens that something else can check.
    pub fn verified_by(url: impl Into<String>, verifier: impl Verifier + 'static) -> Self {
        Self {
            url: url.into(),
            method: Method::Custom(Arc::new(verifier)),
        }
    }

    /// Its keys are at this URL, and its metadata are not asked.
    #[must_use]
    pub fn jwks_uri(self, url: impl Into<String>) -> Self {
        self.keys_from(Source::At(url.into()))
    }

    /// Its keys are these, a JSON Web Key Set, and nothing is fetched: for tests, and where there is no way to the issuer.
    #[must_use]
    pub fn jwks(self, json: impl Into<Vec<u8>>) -> Self {
        self.keys_from(Source::Given(json.into()))
    }

    fn keys_from(mut self, from: Source) -> Self {
        if let Method::Jwt { source, .. } = &mut self.method {
            *source = from;
        }
        self
    }

    /// How its tokens may be signed. A key that does not say what it is for (`alg`) is for the first of these that it fits,
    /// and for no other. Default: all, with PKCS1 for RSA keys.
    #[must_use]
    pub fn algorithms(mut self, permitted: impl IntoIterator<Item = Algorithm>) -> Self {
        if let Method::Jwt { algorithms, .. } = &mut self.method {
            *algorithms = permitted.into_iter().collect();
        }
        self
    }

    /// How long there is at least between two fetches of its keys, whatever tokens come. Default: 30 seconds; after one that
    /// failed it is 5 at most. So long may a new key be unknown here.
    #[must_use]
    pub fn refresh_interval(self, time: Duration) -> Self {
        self.timed(|timing| timing.interval = time.max(Duration::from_millis(100)))
    }

    /// When its keys are fetched again though all of them are known: so long does a key work that it no longer has. Default:
    /// 10 minutes.
    #[must_use]
    pub fn refresh_after(self, time: Duration) -> Self {
        self.timed(|timing| timing.refresh_after = time)
    }

    /// How long its keys are used when they cannot be fetched any more. Default: 1 hour.
    #[must_use]
    pub fn stale_for(self, time: Duration) -> Self {
        self.timed(|timing| timing.stale_for = time)
    }

    fn timed(mut self, set: impl FnOnce(&mut Timing)) -> Self {
        if let Method::Jwt { timing, .. } = &mut self.method {
            set(timing);
        }
        self
    }

    /// The error says what is wrong with it.
    pub(super) fn trust(self, fetcher: &Fetcher) -> Result<Trusted, AuthError> {
        let wrong = |url: &str, reason: &str| AuthError::Issuer {
            url: url.to_owned(),
            reason: reason.to_owned(),
        };
        let url = self.url;
        Url::parse(&url).map_err(|reason| wrong(&url, reason))?;
        let (jwt, verifier): (bool, Arc<dyn Verifier>) = match self.method {
            Method::Jwt {
                source,
                algorithms,
                timing,
                cache_for,
            } => {
                if algorithms.is_empty() {
                    return Err(wrong(&url, "no algorithm is permitted"));
                }
                if let Source::At(uri) = &source {
                    let bare = uri.split('?').next().unwrap_or("");
                    Url::parse(bare).map_err(|reason| wrong(uri, reason))?;
                }
                let fetcher = fetcher.clone();
                let verifier =
                    JwtVerifier::new(&url, source, algorithms, timing, cache_for, fetcher);
                let verifier = verifier.map_err(|reason| wrong(&url, &reason))?;
                (true, Arc::new(verifier))
            }
            Method::Introspection(settings) => {
                let endpoint = &settings.endpoint;
                Url::parse(endpoint).map_err(|reason| wrong(endpoint, reason))?;
                (
                    false,
                    Arc::new(Introspector::new(settings, fetcher.clone())),
                )
            }
            Method::Custom(verifier) => (false, verifier),
        };
        Ok(Trusted {
            issuer: url.into(),
            jwt,
            verifier,
        })
    }
}

impl From<&str> for Issuer {
    fn from(url: &str) -> Self {
        Self::new(url)
    }
}

impl From<String> for Issuer {
    fn from(url: String) -> Self {
        Self::new(url)
    }
}

impl fmt::Debug for Issuer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Issuer")
            .field("url", &self.url)
            .finish_non_exhaustive()
    }
}
