//! Keys of issuers, and tokens that are signed with them.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair,
    KeyPair as _, RSA_PKCS1_SHA256, RSA_PSS_SHA256, RsaEncoding, RsaKeyPair,
};
use serde_json::{Value, json};

pub(crate) enum Key {
    Es256(EcdsaKeyPair),
    Es384(EcdsaKeyPair),
    EdDsa(Ed25519KeyPair),
    Rsa(RsaKeyPair),
}

/// A key with a name.
pub(crate) struct Signer {
    pub(crate) kid: String,
    key: Key,
}

pub(crate) fn encode(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

impl Signer {
    pub(crate) fn es256(kid: &str) -> Self {
        let random = SystemRandom::new();
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random);
        let pkcs8 = pkcs8.expect("a key");
        let key =
            EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8.as_ref(), &random);
        Self::new(kid, Key::Es256(key.expect("a key")))
    }

    pub(crate) fn es384(kid: &str) -> Self {
        let random = SystemRandom::new();
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(&ECDSA_P384_SHA384_FIXED_SIGNING, &random);
        let pkcs8 = pkcs8.expect("a key");
        let key =
            EcdsaKeyPair::from_pkcs8(&ECDSA_P384_SHA384_FIXED_SIGNING, pkcs8.as_ref(), &random);
        Self::new(kid, Key::Es384(key.expect("a key")))
    }

    pub(crate) fn ed_dsa(kid: &str) -> Self {
        let pkcs8 = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).expect("a key");
        let key = Ed25519KeyPair::from_pkcs8(pkcs8.as_ref());
        Self::new(kid, Key::EdDsa(key.expect("a key")))
    }

    /// The one that lies here, for ring makes none: it opens nothing.
    pub(crate) fn rsa(kid: &str) -> Self {
        let key = RsaKeyPair::from_pkcs8(include_bytes!("rsa-2048.pk8"));
        Self::new(kid, Key::Rsa(key.expect("a key")))
    }

    fn new(kid: &str, key: Key) -> Self {
        Self {
            kid: kid.to_owned(),
            key,
        }
    }

    /// The public key, without `alg`.
    pub(crate) fn jwk(&self) -> Value {
        let point = |key: &EcdsaKeyPair, curve: &str| {
            let public = key.public_key().as_ref();
            let (x, y) = public[1..].split_at(public.len() / 2);
            json!({ "kty": "EC", "crv": curve, "x": encode(x), "y": encode(y) })
        };
        let mut jwk = match &self.key {
            Key::Es256(key) => point(key, "P-256"),
            Key::Es384(key) => point(key, "P-384"),
            Key::EdDsa(key) => {
                json!({ "kty": "OKP", "crv": "Ed25519", "x": encode(key.public_key()) })
            }
            Key::Rsa(key) => {
                let components: ring::rsa::PublicKeyComponents<Vec<u8>> = key.public().into();
                json!({ "kty": "RSA", "n": encode(components.n), "e": encode(components.e) })
            }
        };
        jwk["kid"] = self.kid.as_str().into();
        jwk["use"] = "sig".into();
        jwk
    }

    fn algorithm(&self) -> &'static str {
        match &self.key {
            Key::Es256(_) => "ES256",
            Key::Es384(_) => "ES384",
            Key::EdDsa(_) => "EdDSA",
            Key::Rsa(_) => "RS256",
        }
    }

    pub(crate) fn header(&self) -> Value {
        json!({ "alg": self.algorithm(), "typ": "at+jwt", "kid": self.kid })
    }

    pub(crate) fn token(&self, claims: &Value) -> String {
        self.token_with(&self.header(), claims)
    }

    /// Signed in the way of the key, whatever the header says; RSA in that of the header.
    pub(crate) fn token_with(&self, header: &Value, claims: &Value) -> String {
        let signed = unsigned(header, claims);
        let random = SystemRandom::new();
        let bytes = signed.as_bytes();
        let signature = match &self.key {
            Key::Es256(key) | Key::Es384(key) => {
                let signature = key.sign(&random, bytes).expect("it signs");
                signature.as_ref().to_vec()
            }
            Key::EdDsa(key) => key.sign(bytes).as_ref().to_vec(),
            Key::Rsa(key) => {
                let padding: &dyn RsaEncoding = match header["alg"].as_str() {
                    Some("PS256") => &RSA_PSS_SHA256,
                    _ => &RSA_PKCS1_SHA256,
                };
                let mut signature = vec![0; key.public().modulus_len()];
                key.sign(padding, &random, bytes, &mut signature)
                    .expect("it signs");
                signature
            }
        };
        format!("{signed}.{}", encode(signature))
    }
}

/// Header and claims.
pub(crate) fn unsigned(header: &Value, claims: &Value) -> String {
    format!(
        "{}.{}",
        encode(header.to_string()),
        encode(claims.to_string())
    )
}

/// With a secret.
pub(crate) fn with_secret(header: &Value, claims: &Value, secret: &[u8]) -> String {
    let signed = unsigned(header, claims);
    let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, secret);
    let tag = ring::hmac::sign(&key, signed.as_bytes());
    format!("{signed}.{}", encode(tag))
}

/// A key set.
pub(crate) fn set(keys: &[&Signer]) -> Value {
    let keys: Vec<Value> = keys.iter().map(|key| key.jwk()).collect();
    json!({ "keys": keys })
}
