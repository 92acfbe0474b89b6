//! Signed JSON (RFC 7515): ES256 and RS256, by ring.

use core::fmt;
use std::sync::Arc;

use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _, RSA_PKCS1_SHA256, RsaKeyPair,
};
use rustls_pki_types::PrivatePkcs8KeyDer;
use rustls_pki_types::pem::PemObject as _;
use serde_json::{Value, json};

use super::error::AuthError;
use super::{Secret, encode, now};

/// How long an assertion is good for, in seconds.
const LIFETIME: u64 = 300;

/// A private key to sign with. Cheap to clone; `Debug` shows its algorithm only.
#[derive(Clone)]
pub struct SigningKey {
    key: Arc<Key>,
    id: Option<String>,
}

enum Key {
    Es256(EcdsaKeyPair),
    Rs256(RsaKeyPair),
}

impl SigningKey {
    /// For ES256: a key on P-256, as PKCS#8 in PEM (`BEGIN PRIVATE KEY`).
    ///
    /// # Errors
    ///
    /// [`AuthError::Key`]: it is no such key.
    pub fn es256(pem: &Secret) -> Result<Self, AuthError> {
        Self::es256_der(der(pem)?.secret_pkcs8_der())
    }

    /// For RS256: an RSA key of 2048 bits or more, as PKCS#8 in PEM (`BEGIN PRIVATE KEY`).
    ///
    /// # Errors
    ///
    /// [`AuthError::Key`]: it is no such key.
    pub fn rs256(pem: &Secret) -> Result<Self, AuthError> {
        let key = RsaKeyPair::from_pkcs8(der(pem)?.secret_pkcs8_der()).map_err(fault)?;
        Ok(Self::of(Key::Rs256(key)))
    }

    /// The name under which the authorization server knows the key (`kid`).
    #[must_use]
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    pub(super) fn es256_der(der: &[u8]) -> Result<Self, AuthError> {
        let random = SystemRandom::new();
        let key = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, der, &random);
        Ok(Self::of(Key::Es256(key.map_err(fault)?)))
    }

    fn of(key: Key) -> Self {
        Self {
            key: Arc::new(key),
            id: None,
        }
    }

    const fn algorithm(key: &Key) -> &'static str {
        match key {
            Key::Es256(_) => "ES256",
            Key::Rs256(_) => "RS256",
        }
    }

    /// The public half, if it is one on P-256.
    pub(super) fn jwk(&self) -> Option<Value> {
        let Key::Es256(key) = &*self.key else {
            return None;
        };
        // An uncompressed point: 4, x, y.
        let point = key.public_key().as_ref().get(1..65)?;
        let (x, y) = point.split_at(32);
        Some(json!({"kty": "EC", "crv": "P-256", "x": encode(x), "y": encode(y)}))
    }

    /// A signed JWT with this header, to which the algorithm is added, and these claims.
    pub(super) fn sign(&self, mut header: Value, claims: &Value) -> Result<String, AuthError> {
        header["alg"] = Self::algorithm(&self.key).into();
        if let Some(id) = &self.id {
            header["kid"] = id.as_str().into();
        }
        let mut text = encode(header.to_string().as_bytes());
        text.push('.');
        text.push_str(&encode(claims.to_string().as_bytes()));
        let random = SystemRandom::new();
        let unsigned = |_| AuthError::Key("it does not sign".to_owned());
        let signature = match &*self.key {
            Key::Es256(key) => {
                let signature = key.sign(&random, text.as_bytes()).map_err(unsigned)?;
                signature.as_ref().to_vec()
            }
            Key::Rs256(key) => {
                let mut signature = vec![0; key.public().modulus_len()];
                key.sign(&RSA_PKCS1_SHA256, &random, text.as_bytes(), &mut signature)
                    .map_err(unsigned)?;
                signature
            }
        };
        text.push('.');
        text.push_str(&encode(&signature));
        Ok(text)
    }

    /// What says that this is the client (RFC 7523; OCC-03). The audience is the issuer and not the token endpoint, which
    /// another authorization server could name as its own.
    pub(super) fn assertion(&self, client: &str, issuer: &str) -> Result<Secret, AuthError> {
        let now = now();
        let claims = json!({
            "iss": client,
            "sub": client,
            "aud": issuer,
            "iat": now,
            "exp": now + LIFETIME,
            "jti": Secret::random(16),
        });
        self.sign(json!({"typ": "JWT"}), &claims).map(Secret::new)
    }
}

fn der(pem: &Secret) -> Result<PrivatePkcs8KeyDer<'static>, AuthError> {
    PrivatePkcs8KeyDer::from_pem_slice(pem.expose().as_bytes())
        .map_err(|_| AuthError::Key("no `BEGIN PRIVATE KEY` with a key in it".to_owned()))
}

fn fault(error: ring::error::KeyRejected) -> AuthError {
    AuthError::Key(error.to_string())
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey({})", Self::algorithm(&self.key))
    }
}
