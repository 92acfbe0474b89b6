//! JSON Web Tokens: compact JWS (RFC 7515) with claims (RFC 7519), as access tokens (RFC 9068).

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::claims::Claims;
use super::jwk::{Algorithm, Key};
use super::verifier::Rejection;

/// A token taken apart. Nothing of it is proven.
pub(super) struct Jwt<'t> {
    pub(super) header: Header,
    /// What is signed.
    signed: &'t str,
    payload: Vec<u8>,
    signature: Vec<u8>,
}

/// The part of the header that is looked at. That a token brings its own key, or says where to get it (`jwk`, `jku`, `x5c`,
/// `x5u`), is passed over.
#[derive(Deserialize)]
pub(super) struct Header {
    alg: String,
    #[serde(default)]
    pub(super) kid: Option<String>,
    #[serde(default)]
    typ: Option<String>,
    #[serde(default)]
    crit: Option<Value>,
}

impl<'t> Jwt<'t> {
    /// `None`: it is no such token, but may be one of another kind.
    pub(super) fn parse(token: &'t str) -> Option<Self> {
        let (signed, signature) = token.rsplit_once('.')?;
        let (header, payload) = signed.split_once('.')?;
        // Strict: one text is one token. With a third dot in it, it is an encrypted one, which has no such alphabet.
        let decode = |part: &str| URL_SAFE_NO_PAD.decode(part).ok();
        Some(Self {
            // A member that is there twice is an error.
            header: serde_json::from_slice(&decode(header)?).ok()?,
            signed,
            payload: decode(payload)?,
            signature: decode(signature)?,
        })
    }

    /// Whom the token says it is from: to find the keys by which that can be told, for nothing else.
    pub(super) fn claimed_issuer(&self) -> Option<String> {
        #[derive(Deserialize)]
        struct Issuer {
            iss: String,
        }
        let claims: Issuer = serde_json::from_slice(&self.payload).ok()?;
        Some(claims.iss)
    }

    /// What is to be seen without a key.
    pub(super) fn check_header(&self) -> Result<(), Rejection> {
        // RFC 7515, section 4.1.11: an extension that is not understood.
        if self.header.crit.is_some() {
            return Err(Rejection::INVALID);
        }
        // RFC 9068, section 2.1. Many issuers write `JWT`, or nothing; a type that says that it is something else is.
        if let Some(typ) = &self.header.typ {
            let typ = typ.to_ascii_lowercase();
            let bare = typ.strip_prefix("application/").unwrap_or(&typ);
            if !matches!(bare, "at+jwt" | "jwt") {
                let reason = "The token is a JWT of another type than an access token";
                return Err(Rejection::invalid(reason));
            }
        }
        Ok(())
    }

    /// The algorithm that the header names, among those that there are at all here: none that takes a secret, and not
    /// `none`.
    pub(super) fn algorithm(&self) -> Option<Algorithm> {
        Algorithm::parse(&self.header.alg)
    }

    /// The claims, if this key has signed them in its own way: that the header says another is a reason to refuse, and none
    /// to verify in another way.
    pub(super) fn verify(&self, key: &Key) -> Result<Claims, Rejection> {
        if self.algorithm() != Some(key.algorithm()) {
            let reason = "The access token is signed in a way that its issuer's key is not for";
            return Err(Rejection::invalid(reason));
        }
        if !key.verifies(self.signed.as_bytes(), &self.signature) {
            let reason = "The signature of the access token is wrong";
            return Err(Rejection::invalid(reason));
        }
        let claims: Map<String, Value> =
            serde_json::from_slice(&self.payload).map_err(|_| Rejection::INVALID)?;
        let claims = Claims::from(claims);
        // RFC 9068, section 2.2: it is required, and without it a token would be good for ever.
        if !claims.has_end() {
            return Err(Rejection::invalid("The access token has no end"));
        }
        Ok(claims)
    }
}
