//! Tokens that only their issuer can read: it is asked about each (RFC 7662).

use core::fmt;
use core::time::Duration;

use async_io::Timer;
use async_lock::Semaphore;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures_lite::future::or;
use http::HeaderValue;
use serde_json::{Map, Value};

use super::claims::Claims;
use super::fetch::Fetcher;
use super::verifier::{Rejection, Verifier, Verifying};

/// Questions that the issuer is asked at a time. Anybody can send tokens that it has to be asked about.
const IN_FLIGHT: usize = 32;

/// How long a question waits for its turn.
const PATIENCE: Duration = Duration::from_secs(5);

/// How an issuer is asked about tokens: where, and with which credentials.
#[derive(Clone)]
pub struct Introspection {
    pub(super) endpoint: String,
    authorization: HeaderValue,
    cache_for: Duration,
}

impl Introspection {
    /// At this URL, as this client: it is this server's own registration at the issuer, which its operator makes.
    pub fn new(endpoint: impl Into<String>, client_id: &str, client_secret: &str) -> Self {
        // RFC 6749, section 2.3.1: both are encoded as in a form first.
        let pair = format!("{}:{}", encode(client_id), encode(client_secret));
        let value = format!("Basic {}", STANDARD.encode(pair));
        let mut authorization = HeaderValue::from_str(&value).expect("base64 is ASCII");
        authorization.set_sensitive(true);
        Self {
            endpoint: endpoint.into(),
            authorization,
            cache_for: Duration::from_secs(30),
        }
    }

    /// For how long an answer that a token is good is used again: so long does a token still work that was revoked. Default:
    /// 30 seconds; at most an hour.
    #[must_use]
    pub fn cache_for(mut self, time: Duration) -> Self {
        self.cache_for = time.min(Duration::from_secs(3600));
        self
    }
}

impl fmt::Debug for Introspection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Introspection")
            .field("endpoint", &self.endpoint)
            .field("cache_for", &self.cache_for)
            .finish_non_exhaustive()
    }
}

pub(super) struct Introspector {
    settings: Introspection,
    fetcher: Fetcher,
    turns: Semaphore,
}

impl Introspector {
    pub(super) const fn new(settings: Introspection, fetcher: Fetcher) -> Self {
        Self {
            settings,
            fetcher,
            turns: Semaphore::new(IN_FLIGHT),
        }
    }

    async fn ask(&self, token: &str) -> Result<Claims, Rejection> {
        let unavailable = Rejection::unavailable("The issuer cannot be asked at present");
        let late = async {
            Timer::after(PATIENCE).await;
            None
        };
        let turn = or(async { Some(self.turns.acquire().await) }, late).await;
        let _turn = turn.ok_or(unavailable)?;
        let form = format!("token={}&token_type_hint=access_token", encode(token));
        let endpoint = &self.settings.endpoint;
        let answer = self
            .fetcher
            .post(endpoint, &self.settings.authorization, form)
            .await;
        let parsed = answer.and_then(|body| {
            serde_json::from_slice::<Map<String, Value>>(&body).map_err(|error| error.to_string())
        });
        let claims = parsed.map_err(|error| {
            tracing::warn!(endpoint, error, "it cannot be asked about tokens");
            unavailable
        })?;
        match claims.get("active") {
            Some(Value::Bool(true)) => Ok(claims.into()),
            // RFC 7662, section 2.2: it is not told why.
            _ => Err(Rejection::INVALID),
        }
    }
}

impl Verifier for Introspector {
    fn verify<'a>(&'a self, token: &'a str) -> Verifying<'a> {
        Box::pin(self.ask(token))
    }

    fn cache_for(&self) -> Duration {
        self.settings.cache_for
    }
}

/// As a value of a form; what is not plain is escaped.
fn encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(byte as char);
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}
