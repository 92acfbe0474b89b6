//! Proof of possession (RFC 9449): each request is signed with a key that the token is bound to.

use core::fmt;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair};
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::address::Address;
use super::assertion::SigningKey;
use super::error::AuthError;
use super::{Secret, encode, now};

/// So many servers' nonces are kept: the server's, its authorization servers', and some of before.
const NONCES: usize = 16;

/// The longest nonce that is kept, in bytes.
const LONGEST: usize = 1024;

/// The key of one client at one server, and the nonces that it was given.
pub(super) struct Prover {
    key: SigningKey,
    /// As it is kept.
    pub(super) stored: Secret,
    nonces: Mutex<BTreeMap<String, String>>,
}

impl Prover {
    /// With a key of its own.
    pub(super) fn new() -> Result<Self, AuthError> {
        let random = SystemRandom::new();
        let key = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random)
            .map_err(|_| AuthError::Key("no key can be made".to_owned()))?;
        Self::of(key.as_ref())
    }

    /// With the key that was kept.
    pub(super) fn restore(stored: &Secret) -> Result<Self, AuthError> {
        let der = STANDARD.decode(stored.expose());
        Self::of(&der.map_err(|_| AuthError::Key("what is kept is no key".to_owned()))?)
    }

    fn of(der: &[u8]) -> Result<Self, AuthError> {
        Ok(Self {
            key: SigningKey::es256_der(der)?,
            stored: Secret::new(STANDARD.encode(der)),
            nonces: Mutex::default(),
        })
    }

    /// The proof for one request, with the token that goes with it.
    pub(super) fn proof(
        &self,
        method: &str,
        url: &str,
        token: Option<&Secret>,
    ) -> Result<String, AuthError> {
        let target = url.split(['?', '#']).next().unwrap_or_default();
        let mut claims = json!({
            "jti": Secret::random(16),
            "htm": method,
            "htu": target,
            "iat": now(),
        });
        if let Some(token) = token {
            claims["ath"] = encode(&Sha256::digest(token.expose().as_bytes())).into();
        }
        if let Some(nonce) = self.nonce(url) {
            claims["nonce"] = nonce.into();
        }
        let header = json!({"typ": "dpop+jwt", "jwk": self.key.jwk()});
        self.key.sign(header, &claims)
    }

    fn nonce(&self, url: &str) -> Option<String> {
        let origin = Address::parse(url)?.origin();
        let nonces = self.nonces.lock().unwrap_or_else(PoisonError::into_inner);
        nonces.get(&origin).cloned()
    }

    /// The server at this URL wants to find this nonce in the proofs from now on. Whether that is news.
    pub(super) fn remember(&self, url: &str, nonce: &str) -> bool {
        let Some(origin) = Address::parse(url).map(|address| address.origin()) else {
            return false;
        };
        let mut nonces = self.nonces.lock().unwrap_or_else(PoisonError::into_inner);
        let room = nonces.len() < NONCES || nonces.contains_key(&origin);
        if nonce.is_empty() || nonce.len() > LONGEST || !room {
            return false;
        }
        let before = nonces.insert(origin, nonce.to_owned());
        before.as_deref() != Some(nonce)
    }
}

impl fmt::Debug for Prover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prover")
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}
