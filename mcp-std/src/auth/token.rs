//! Requests to token endpoints, and what comes back.

use core::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use super::dpop::Prover;
use super::error::{AuthError, excerpt};
use super::form::{Form, escaped};
use super::metadata::read;
use super::registration::{ClientMethod, Credentials};
use super::scope::Scopes;
use super::{Plan, Secret, now};

/// A token counts as expired so many seconds early (its way to the server takes time, and clocks differ), or at half of
/// its life if that is later.
const SKEW: u64 = 30;

/// A request of the flow. `Debug` shows where it goes, and nothing of what it says.
#[derive(Clone, Eq, PartialEq)]
pub(super) struct Ask {
    /// `POST`, or `GET`.
    pub(super) post: bool,
    pub(super) url: String,
    pub(super) fields: Vec<(&'static str, Secret)>,
    pub(super) body: Secret,
}

impl Ask {
    pub(super) fn get(url: &str) -> Self {
        Self {
            post: false,
            url: url.to_owned(),
            fields: vec![("accept", Secret::new("application/json"))],
            body: Secret::default(),
        }
    }

    pub(super) fn post(url: &str, media: &str, body: Secret) -> Self {
        Self {
            post: true,
            url: url.to_owned(),
            fields: vec![
                ("accept", Secret::new("application/json")),
                ("content-type", Secret::new(media)),
            ],
            body,
        }
    }
}

impl fmt::Debug for Ask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url = self.url.split('?').next().unwrap_or_default();
        f.debug_struct("Ask")
            .field("post", &self.post)
            .field("url", &url)
            .finish_non_exhaustive()
    }
}

/// What came back.
#[derive(Clone)]
pub(super) struct Reply {
    pub(super) status: u16,
    /// `DPoP-Nonce`.
    pub(super) nonce: Option<String>,
    pub(super) body: Vec<u8>,
}

impl Reply {
    pub(super) const fn is_success(&self) -> bool {
        self.status >= 200 && self.status < 300
    }
}

/// What is asked of a token endpoint, so that it can be asked again with another proof.
pub(super) struct Exchange {
    pub(super) endpoint: String,
    pub(super) issuer: String,
    pub(super) client: Credentials,
    pub(super) method: ClientMethod,
    pub(super) parameters: Vec<(&'static str, Secret)>,
}

impl Exchange {
    /// The request, with the client's authentication and, if there is a key, its proof.
    pub(super) fn ask(&self, prover: Option<&Prover>) -> Result<Ask, AuthError> {
        let mut form = Form::default();
        for (name, value) in &self.parameters {
            form.add(name, value.expose());
        }
        let id = &self.client.id;
        let secret = || {
            let secret = self.client.secret.as_ref();
            secret.ok_or_else(|| AuthError::Key(ClientMethod::NO_SECRET.to_owned()))
        };
        let mut basic = None;
        match self.method {
            ClientMethod::None => form.add("client_id", id),
            ClientMethod::Post => {
                form.add("client_id", id);
                form.add("client_secret", secret()?.expose());
            }
            ClientMethod::Basic => {
                // RFC 6749, section 2.3.1.
                let pair = format!("{}:{}", escaped(id), escaped(secret()?.expose()));
                basic = Some(Secret::new(format!("Basic {}", STANDARD.encode(pair))));
            }
            ClientMethod::PrivateKeyJwt => {
                let key = self.client.key.as_ref();
                let key = key.ok_or_else(|| AuthError::Key(ClientMethod::NO_KEY.to_owned()))?;
                let assertion = key.assertion(id, &self.issuer)?;
                form.add("client_id", id);
                form.add("client_assertion_type", ASSERTION_TYPE);
                form.add("client_assertion", assertion.expose());
            }
        }
        let body = Secret::new(form.into_string());
        let mut ask = Ask::post(&self.endpoint, "application/x-www-form-urlencoded", body);
        if let Some(basic) = basic {
            ask.fields.push(("authorization", basic));
        }
        if let Some(prover) = prover {
            let proof = prover.proof("POST", &self.endpoint, None)?;
            ask.fields.push(("dpop", Secret::new(proof)));
        }
        Ok(ask)
    }
}

const ASSERTION_TYPE: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/// How a token is shown to the server.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(super) enum Kind {
    Bearer,
    Dpop,
}

/// A token, and what is to be known to use it, replace it and ask for more. This is what is kept.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct Tokens {
    pub(super) access: Secret,
    pub(super) kind: Kind,
    pub(super) refresh: Option<Secret>,
    /// Seconds since 1970, with the skew taken off.
    pub(super) expires: Option<u64>,
    /// All scopes that were asked for, which is where the next login begins (SCP-03).
    pub(super) scopes: Option<String>,
    /// Those that the token has, which may be fewer (OA-14).
    #[serde(default)]
    pub(super) granted: Option<String>,
    pub(super) issuer: String,
    pub(super) resource: String,
    /// Where the server's metadata were found by its own word.
    pub(super) metadata: Option<String>,
    pub(super) client: Kept,
    /// What the token is bound to.
    pub(super) dpop: Option<Secret>,
}

/// The credentials that go with a refresh token. A key is not kept: it is the program's.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct Kept {
    pub(super) id: String,
    pub(super) secret: Option<Secret>,
    pub(super) method: ClientMethod,
}

impl Kept {
    /// As the client shows them.
    pub(super) fn credentials(&self, plan: &Plan) -> Credentials {
        Credentials {
            id: self.id.clone(),
            secret: self.secret.clone(),
            key: plan.credentials.as_ref().and_then(|it| it.key.clone()),
            issuer: None,
            method: Some(self.method),
        }
    }
}

impl Tokens {
    /// The scopes that the token has.
    pub(super) fn granted(&self) -> Scopes {
        let granted = self.granted.as_deref().or(self.scopes.as_deref());
        granted.map(Scopes::parse).unwrap_or_default()
    }

    pub(super) fn is_expired(&self, now: u64) -> bool {
        self.expires.is_some_and(|expires| expires <= now)
    }
}

/// What a token endpoint answers.
#[derive(Deserialize)]
pub(super) struct Granted {
    pub(super) access_token: Secret,
    token_type: String,
    #[serde(default)]
    expires_in: Option<serde_json::Value>,
    pub(super) refresh_token: Option<Secret>,
    pub(super) scope: Option<String>,
}

impl Granted {
    pub(super) fn kind(&self, url: &str) -> Result<Kind, AuthError> {
        let fault = |reason: &str| {
            Err(AuthError::Document {
                url: url.to_owned(),
                reason: reason.to_owned(),
            })
        };
        let token = self.access_token.expose();
        if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return fault("the token is none");
        }
        if self.token_type.eq_ignore_ascii_case("bearer") {
            Ok(Kind::Bearer)
        } else if self.token_type.eq_ignore_ascii_case("dpop") {
            Ok(Kind::Dpop)
        } else {
            fault("the token is of no kind that is known here")
        }
    }

    /// When it counts as expired, in seconds since 1970 (OA-07). `None`: nobody knows, so it is used until it is refused.
    pub(super) fn expires(&self) -> Option<u64> {
        let value = self.expires_in.as_ref().filter(|it| !it.is_null())?;
        // Some write the number as text, or with a fraction.
        let seconds = match value.as_str() {
            Some(text) => text.trim().parse::<f64>().ok(),
            None => value.as_f64(),
        };
        let Some(seconds) = seconds.filter(|seconds| seconds.is_finite()) else {
            tracing::warn!("the life of a token is no number, and is not known therefore");
            return None;
        };
        // Below 0 it has expired now, and above everything it never does: the cast saturates.
        let seconds = seconds as u64;
        Some(now().saturating_add(seconds - SKEW.min(seconds / 2)))
    }
}

/// What an endpoint of an authorization server refuses with (RFC 6749, section 5.2).
#[derive(Deserialize)]
pub(super) struct Refusal {
    pub(super) error: String,
    error_description: Option<String>,
}

impl Refusal {
    fn into_error(self) -> AuthError {
        AuthError::Refused {
            error: excerpt(&self.error),
            description: self.error_description.as_deref().map(excerpt),
        }
    }
}

/// Reads the answer of a token endpoint: what it says no with is [`AuthError::Refused`], and nothing else is.
pub(super) fn granted(url: &str, reply: &Reply) -> Result<Granted, AuthError> {
    if reply.is_success() {
        return read(url, &reply.body);
    }
    Err(refusal(url, reply))
}

/// What an answer says that is no success.
pub(super) fn refusal(url: &str, reply: &Reply) -> AuthError {
    let url = url.to_owned();
    let status = reply.status;
    if status >= 500 || status == 429 {
        let reason = format!("status {status}");
        return AuthError::Unreachable { url, reason };
    }
    match serde_json::from_slice::<Refusal>(&reply.body) {
        Ok(refusal) => refusal.into_error(),
        Err(_) => {
            let reason = format!("status {status}, and no reason is given");
            AuthError::Document { url, reason }
        }
    }
}

/// Whether the server wants another proof.
pub(super) fn wants_nonce(reply: &Reply) -> bool {
    reply.nonce.is_some()
        && matches!(reply.status, 400 | 401)
        && serde_json::from_slice::<Refusal>(&reply.body)
            .is_ok_and(|refusal| refusal.error == "use_dpop_nonce")
}
