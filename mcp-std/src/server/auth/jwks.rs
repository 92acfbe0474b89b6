//! The keys of an issuer, as they come and go.
//!
//! ```text
//!  fetched          refresh_after                    stale_for
//!     |-- used as they are --|-- used, and refreshed --|-- not used: 503 --
//! ```
//!
//! A token that names a key which is not there makes them be fetched again, because the issuer may have begun to use
//! another one. Anybody can send such tokens, so that happens once per [`Timing::interval`], whoever asks and however
//! often; one fetch runs at a time, as a task of its own that no client can end.

use core::convert::Infallible;
use core::time::Duration;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use async_channel::Receiver;

use super::discovery;
use super::fetch::Fetcher;
use super::jwk::{Algorithm, Keys};
use super::jwt::Jwt;
use super::verifier::{Rejection, Verifier, Verifying};

/// After a fetch that failed the next one may come this soon.
const RETRY: Duration = Duration::from_secs(5);

#[derive(Clone, Copy, Debug)]
pub(super) struct Timing {
    /// Between two fetches.
    pub(super) interval: Duration,
    pub(super) refresh_after: Duration,
    pub(super) stale_for: Duration,
}

#[derive(Clone, Debug)]
pub(super) enum Source {
    /// Where the issuer's metadata say.
    Discovered,
    At(String),
    /// They are there, and never change.
    Given(Vec<u8>),
}

/// Verifies the tokens of one issuer.
pub(super) struct JwtVerifier(Arc<KeySet>);

struct KeySet {
    issuer: Box<str>,
    source: Source,
    algorithms: Vec<Algorithm>,
    timing: Timing,
    cache_for: Duration,
    fetcher: Fetcher,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    keys: Arc<Keys>,
    fetched: Option<Instant>,
    /// When the last fetch began.
    attempted: Option<Instant>,
    failed: bool,
    /// Closed when the fetch that is under way has ended.
    fetching: Option<Receiver<Infallible>>,
}

/// What is known about a key.
enum Look {
    /// It is among these.
    Found(Arc<Keys>),
    Unknown,
    /// There are no keys to tell by.
    Nothing,
    /// It may be among those that come.
    Wait(Receiver<Infallible>),
}

impl JwtVerifier {
    /// The error says what is wrong with the keys that are given.
    pub(super) fn new(
        issuer: &str,
        source: Source,
        algorithms: Vec<Algorithm>,
        timing: Timing,
        cache_for: Duration,
        fetcher: Fetcher,
    ) -> Result<Self, String> {
        let mut state = State::default();
        if let Source::Given(json) = &source {
            let keys = Keys::parse(json, &algorithms).map_err(|error| error.to_string())?;
            if keys.len() == 0 {
                return Err("there is no key in it that a token may be signed with".to_owned());
            }
            state.keys = Arc::new(keys);
        }
        Ok(Self(Arc::new(KeySet {
            issuer: issuer.into(),
            source,
            algorithms,
            timing,
            cache_for,
            fetcher,
            state: Mutex::new(state),
        })))
    }
}

impl Verifier for JwtVerifier {
    fn verify<'a>(&'a self, token: &'a str) -> Verifying<'a> {
        Box::pin(async move {
            let jwt = Jwt::parse(token).ok_or(Rejection::INVALID)?;
            jwt.check_header()?;
            let algorithm = jwt.algorithm();
            // Before anything is fetched for it: `none`, and what takes a secret.
            if !algorithm.is_some_and(|it| self.0.algorithms.contains(&it)) {
                let reason = "The access token is signed in a way that is not accepted";
                return Err(Rejection::invalid(reason));
            }
            let kid = jwt.header.kid.as_deref();
            let keys = self.0.keys(kid, algorithm).await?;
            let key = keys.find(kid, algorithm).ok_or(Rejection::INVALID)?;
            jwt.verify(key)
        })
    }

    fn cache_for(&self) -> Duration {
        self.0.cache_for
    }
}

impl KeySet {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keys among which the named one is.
    async fn keys(
        self: &Arc<Self>,
        kid: Option<&str>,
        algorithm: Option<Algorithm>,
    ) -> Result<Arc<Keys>, Rejection> {
        let mut look = self.look(kid, algorithm);
        if let Look::Wait(fetched) = look {
            let Err(_closed) = fetched.recv().await;
            look = self.look(kid, algorithm);
        }
        match look {
            Look::Found(keys) => Ok(keys),
            Look::Unknown => {
                let reason = "The access token is signed with a key that its issuer does not have";
                Err(Rejection::invalid(reason))
            }
            Look::Nothing | Look::Wait(_) => {
                let reason = "The issuer's keys cannot be had at present";
                Err(Rejection::unavailable(reason))
            }
        }
    }

    fn look(self: &Arc<Self>, kid: Option<&str>, algorithm: Option<Algorithm>) -> Look {
        let mut state = self.lock();
        let known = state.keys.find(kid, algorithm).is_some();
        if matches!(self.source, Source::Given(_)) {
            return match known {
                true => Look::Found(state.keys.clone()),
                false => Look::Unknown,
            };
        }
        let age = state.fetched.map(|at| at.elapsed());
        let usable = age.is_some_and(|age| age < self.timing.stale_for);
        let fresh = usable && age.is_some_and(|age| age < self.timing.refresh_after);
        if !(known && fresh) {
            self.begin_fetch(&mut state);
        }
        if known && usable {
            return Look::Found(state.keys.clone());
        }
        match &state.fetching {
            Some(fetching) => Look::Wait(fetching.clone()),
            None if usable => Look::Unknown,
            None => Look::Nothing,
        }
    }

    /// Unless one is under way, or was a short time ago.
    fn begin_fetch(self: &Arc<Self>, state: &mut State) {
        if state.fetching.as_ref().is_some_and(|it| !it.is_closed()) {
            return;
        }
        state.fetching = None;
        let interval = match state.failed {
            true => self.timing.interval.min(RETRY),
            false => self.timing.interval,
        };
        if state.attempted.is_some_and(|at| at.elapsed() < interval) {
            return;
        }
        let (done, fetching) = async_channel::bounded(1);
        state.attempted = Some(Instant::now());
        state.fetching = Some(fetching);
        let this = self.clone();
        smol::spawn(async move {
            let fetched = this.fetch().await;
            let mut state = this.lock();
            state.failed = fetched.is_err();
            match fetched {
                Ok(keys) => {
                    tracing::debug!(issuer = &*this.issuer, keys = keys.len(), "keys fetched");
                    state.keys = Arc::new(keys);
                    state.fetched = Some(Instant::now());
                }
                Err(error) => {
                    tracing::warn!(issuer = &*this.issuer, error, "its keys cannot be fetched");
                }
            }
            state.fetching = None;
            drop(state);
            drop(done);
        })
        .detach();
    }

    async fn fetch(&self) -> Result<Keys, String> {
        let uri = match &self.source {
            Source::At(uri) => uri.clone(),
            Source::Discovered | Source::Given(_) => {
                discovery::jwks_uri(&self.fetcher, &self.issuer).await?
            }
        };
        let body = self.fetcher.get(&uri).await;
        let body = body.map_err(|error| format!("{uri}: {error}"))?;
        Keys::parse(&body, &self.algorithms).map_err(|error| format!("{uri}: {error}"))
    }
}
