//! Who this program is to an authorization server: told beforehand, by a document of its own, or registered when needed.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::address::Address;
use super::assertion::SigningKey;
use super::error::{AuthError, excerpt};
use super::metadata::{ServerMetadata, read};
use super::{Plan, Secret, now};

/// How a client says at the token endpoint that it is itself.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub enum ClientMethod {
    /// It only says who it is.
    #[serde(rename = "none")]
    None,
    /// Its secret in the `Authorization` header.
    #[serde(rename = "client_secret_basic")]
    Basic,
    /// Its secret in the body.
    #[serde(rename = "client_secret_post")]
    Post,
    /// A JWT that it has signed.
    #[serde(rename = "private_key_jwt")]
    PrivateKeyJwt,
}

impl ClientMethod {
    pub(super) const NO_SECRET: &str = "the client is to have a secret, and has none";
    pub(super) const NO_KEY: &str = "the client is to have a key, and has none";

    const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Basic => "client_secret_basic",
            Self::Post => "client_secret_post",
            Self::PrivateKeyJwt => "private_key_jwt",
        }
    }
}

/// What an authorization server knows a program by.
#[derive(Clone, Debug)]
#[must_use]
pub struct Credentials {
    pub(super) id: String,
    pub(super) secret: Option<Secret>,
    pub(super) key: Option<SigningKey>,
    pub(super) issuer: Option<String>,
    pub(super) method: Option<ClientMethod>,
}

impl Credentials {
    /// A client that keeps no secret.
    pub fn public(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            secret: None,
            key: None,
            issuer: None,
            method: None,
        }
    }

    /// A client with a secret.
    pub fn secret(id: impl Into<String>, secret: impl Into<Secret>) -> Self {
        let mut this = Self::public(id);
        this.secret = Some(secret.into());
        this
    }

    /// A client with a key.
    pub fn key(id: impl Into<String>, key: SigningKey) -> Self {
        let mut this = Self::public(id);
        this.key = Some(key);
        this.method = Some(ClientMethod::PrivateKeyJwt);
        this
    }

    /// The authorization server that they are for, by its issuer, to the letter. At another one they are not used, which is
    /// an error. Default: the first one that takes them, which is kept with the tokens; to be named where a server is not
    /// trusted to name it the first time.
    // REG-09.
    pub fn issuer(mut self, issuer: impl Into<String>) -> Self {
        self.issuer = Some(issuer.into());
        self
    }

    /// How they are shown. Default: what fits them and the authorization server says that it takes.
    pub const fn method(mut self, method: ClientMethod) -> Self {
        self.method = Some(method);
        self
    }

    /// Whether there is what the method takes: nobody is to log in first and be told of it afterwards (OA-15).
    pub(super) fn check(&self) -> Result<(), AuthError> {
        let lacking = match self.method {
            Some(ClientMethod::Basic | ClientMethod::Post) if self.secret.is_none() => {
                ClientMethod::NO_SECRET
            }
            Some(ClientMethod::PrivateKeyJwt) if self.key.is_none() => ClientMethod::NO_KEY,
            _ => return Ok(()),
        };
        Err(AuthError::Key(lacking.to_owned()))
    }

    /// How they are shown to this server.
    pub(super) fn method_at(&self, server: &ServerMetadata) -> ClientMethod {
        if let Some(method) = self.method {
            return method;
        }
        if self.key.is_some() {
            return ClientMethod::PrivateKeyJwt;
        }
        if self.secret.is_none() {
            return ClientMethod::None;
        }
        offered(server).unwrap_or(ClientMethod::Basic)
    }
}

/// The method to show a secret with, or none where that is what there is. RFC 8414: if nothing is said, it is Basic.
fn offered(server: &ServerMetadata) -> Option<ClientMethod> {
    let methods = server.token_endpoint_auth_methods_supported.as_ref()?;
    let known = [ClientMethod::Basic, ClientMethod::Post, ClientMethod::None];
    known
        .into_iter()
        .find(|method| methods.iter().any(|name| name == method.as_str()))
}

/// What an authorization server answered to a registration, as it is kept (REG-09).
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct Registration {
    pub(super) client_id: String,
    client_secret: Option<Secret>,
    #[serde(default)]
    client_secret_expires_at: Option<u64>,
    token_endpoint_auth_method: Option<String>,
    #[serde(default)]
    pub(super) redirect_uri: String,
}

impl Registration {
    /// Whether it is good for logins that come back to this place.
    pub(super) fn fits(&self, redirect_uri: &str) -> bool {
        let expires = self.client_secret_expires_at.unwrap_or_default();
        self.redirect_uri == redirect_uri && (expires == 0 || expires > now())
    }

    pub(super) fn credentials(&self, issuer: &str) -> Credentials {
        let known = [ClientMethod::None, ClientMethod::Basic, ClientMethod::Post];
        let method = self.token_endpoint_auth_method.as_deref();
        Credentials {
            id: self.client_id.clone(),
            secret: self.client_secret.clone(),
            key: None,
            issuer: Some(issuer.to_owned()),
            method: known.into_iter().find(|it| method == Some(it.as_str())),
        }
    }
}

/// What is asked of the registration endpoint (RFC 7591; REG-06, REG-07, RFR-01).
pub(super) fn request(plan: &Plan, server: &ServerMetadata, redirect_uri: &str) -> String {
    // A program on someone's machine keeps no secret: only if nothing else is taken is one asked for.
    let methods = server.token_endpoint_auth_methods_supported.as_deref();
    let public = methods.is_none_or(|methods| methods.iter().any(|name| name == "none"));
    let method = if public {
        ClientMethod::None
    } else {
        offered(server).unwrap_or(ClientMethod::Basic)
    };
    let native = Address::parse(redirect_uri).is_none_or(|address| !address.is_web());
    json!({
        "client_name": plan.name,
        "redirect_uris": [redirect_uri],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": method,
        "application_type": if native { "native" } else { "web" },
    })
    .to_string()
}

/// Reads the answer to it.
pub(super) fn answer(
    url: &str,
    issuer: &str,
    status: u16,
    body: &[u8],
    redirect_uri: &str,
) -> Result<Registration, AuthError> {
    #[derive(Deserialize)]
    struct Refusal {
        error: String,
        error_description: Option<String>,
    }
    if !(200..300).contains(&status) {
        let refusal = serde_json::from_slice::<Refusal>(body).ok();
        let reason = refusal.map_or_else(
            || format!("status {status}"),
            |refusal| {
                let description = refusal.error_description.unwrap_or_default();
                excerpt(&format!("{} {description}", refusal.error))
            },
        );
        return Err(AuthError::Registration {
            issuer: issuer.to_owned(),
            reason,
        });
    }
    let mut registration: Registration = read(url, body)?;
    redirect_uri.clone_into(&mut registration.redirect_uri);
    let usable = registration.credentials(issuer).check();
    usable.map_err(|_| AuthError::Registration {
        issuer: issuer.to_owned(),
        reason: "it gives a client that is to show a secret, and no secret".to_owned(),
    })?;
    Ok(registration)
}
