//! Public keys of issuers: JSON Web Keys (RFC 7517, RFC 7518, RFC 8037).

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256,
    RSA_PSS_2048_8192_SHA256, RsaPublicKeyComponents, UnparsedPublicKey,
};
use serde::Deserialize;

/// As many keys of one issuer are kept.
const MOST: usize = 100;

/// How a token may be signed. There are only those with a key that need not be secret: a server that could check with a
/// secret key could make tokens as well, and one that takes a public key for a secret one lets everybody make them.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Algorithm {
    /// ECDSA with P-256 and SHA-256.
    Es256,
    /// ECDSA with P-384 and SHA-384.
    Es384,
    /// Ed25519.
    EdDsa,
    /// RSASSA-PKCS1-v1_5 with SHA-256, of at least 2048 bits.
    Rs256,
    /// RSASSA-PSS with SHA-256, of at least 2048 bits.
    Ps256,
}

impl Algorithm {
    /// All of them. The first one that a key can be for is what it is for, if the key itself does not say: so RSA is
    /// PKCS1 unless it says `PS256`.
    pub(super) const ALL: [Self; 5] = [
        Self::Es256,
        Self::Es384,
        Self::EdDsa,
        Self::Rs256,
        Self::Ps256,
    ];

    pub(super) fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "ES256" => Self::Es256,
            "ES384" => Self::Es384,
            // RFC 9864 gives it its own name.
            "EdDSA" | "Ed25519" => Self::EdDsa,
            "RS256" => Self::Rs256,
            "PS256" => Self::Ps256,
            _ => return None,
        })
    }
}

/// A key, and the one way to use it.
pub(super) struct Key {
    kid: Option<String>,
    algorithm: Algorithm,
    material: Material,
}

enum Material {
    Rsa {
        modulus: Vec<u8>,
        exponent: Vec<u8>,
    },
    /// Of a curve.
    Point(Vec<u8>),
}

#[derive(Deserialize)]
struct Jwk {
    kty: String,
    #[serde(rename = "use")]
    usage: Option<String>,
    key_ops: Option<Vec<String>>,
    alg: Option<String>,
    kid: Option<String>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
}

impl Key {
    pub(super) const fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// `None`: it is for something else than to verify what is signed, in a way that is permitted.
    fn new(jwk: Jwk, permitted: &[Algorithm]) -> Option<Self> {
        let signs = jwk.usage.as_deref().is_none_or(|usage| usage == "sig");
        let verifies = |operations: &Vec<String>| operations.iter().any(|it| it == "verify");
        if !signs || !jwk.key_ops.as_ref().is_none_or(verifies) {
            return None;
        }
        let fits = |algorithm: Algorithm| match algorithm {
            Algorithm::Es256 => jwk.kty == "EC" && jwk.crv.as_deref() == Some("P-256"),
            Algorithm::Es384 => jwk.kty == "EC" && jwk.crv.as_deref() == Some("P-384"),
            Algorithm::EdDsa => jwk.kty == "OKP" && jwk.crv.as_deref() == Some("Ed25519"),
            Algorithm::Rs256 | Algorithm::Ps256 => jwk.kty == "RSA",
        };
        let mut permitted = permitted.iter().copied();
        let algorithm = match &jwk.alg {
            Some(name) => {
                let named = Algorithm::parse(name)?;
                permitted.find(|it| *it == named && fits(*it))?
            }
            None => permitted.find(|it| fits(*it))?,
        };
        let number = |member: &Option<String>| {
            let bytes = URL_SAFE_NO_PAD.decode(member.as_deref()?).ok()?;
            let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
            Some(bytes[zeros..].to_vec())
        };
        let coordinate = |member: &Option<String>, length: usize| {
            let bytes = URL_SAFE_NO_PAD.decode(member.as_deref()?).ok()?;
            (bytes.len() == length).then_some(bytes)
        };
        let point = |length: usize| {
            let mut point = vec![4];
            point.extend(coordinate(&jwk.x, length)?);
            point.extend(coordinate(&jwk.y, length)?);
            Some(Material::Point(point))
        };
        let material = match algorithm {
            Algorithm::Es256 => point(32)?,
            Algorithm::Es384 => point(48)?,
            Algorithm::EdDsa => Material::Point(coordinate(&jwk.x, 32)?),
            Algorithm::Rs256 | Algorithm::Ps256 => Material::Rsa {
                modulus: number(&jwk.n)?,
                exponent: number(&jwk.e)?,
            },
        };
        Some(Self {
            kid: jwk.kid,
            algorithm,
            material,
        })
    }

    pub(super) fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        let verified = match (&self.material, self.algorithm) {
            (Material::Rsa { modulus, exponent }, algorithm) => {
                let key = RsaPublicKeyComponents {
                    n: modulus,
                    e: exponent,
                };
                let padding = match algorithm {
                    Algorithm::Ps256 => &RSA_PSS_2048_8192_SHA256,
                    Algorithm::Rs256 | Algorithm::Es256 | Algorithm::Es384 | Algorithm::EdDsa => {
                        &RSA_PKCS1_2048_8192_SHA256
                    }
                };
                key.verify(padding, message, signature)
            }
            (Material::Point(point), algorithm) => {
                let curve: &'static dyn ring::signature::VerificationAlgorithm = match algorithm {
                    Algorithm::EdDsa => &ED25519,
                    Algorithm::Es384 => &ECDSA_P384_SHA384_FIXED,
                    Algorithm::Es256 | Algorithm::Rs256 | Algorithm::Ps256 => {
                        &ECDSA_P256_SHA256_FIXED
                    }
                };
                UnparsedPublicKey::new(curve, point).verify(message, signature)
            }
        };
        verified.is_ok()
    }
}

/// The keys of an issuer.
#[derive(Default)]
pub(super) struct Keys(Vec<Key>);

impl Keys {
    /// Reads a key set, and leaves out what is of no use here. At most [`MOST`].
    pub(super) fn parse(json: &[u8], permitted: &[Algorithm]) -> Result<Self, serde_json::Error> {
        #[derive(Deserialize)]
        struct Set {
            keys: Vec<serde_json::Value>,
        }
        let set: Set = serde_json::from_slice(json)?;
        let keys = set.keys.into_iter().take(MOST).filter_map(|value| {
            // One that cannot be read is of a kind that came later.
            let jwk = serde_json::from_value(value).ok()?;
            Key::new(jwk, permitted)
        });
        Ok(Self(keys.collect()))
    }

    /// The key of a token. Without a name for it there has to be only one that it can be, so that nobody makes this server
    /// try them all.
    pub(super) fn find(&self, kid: Option<&str>, algorithm: Option<Algorithm>) -> Option<&Key> {
        let Some(kid) = kid else {
            let mut fitting = self.0.iter().filter(|key| Some(key.algorithm) == algorithm);
            return fitting.next().filter(|_| fitting.next().is_none());
        };
        let named = |key: &&Key| key.kid.as_deref() == Some(kid);
        let fitting = |key: &&Key| named(key) && Some(key.algorithm) == algorithm;
        let mut keys = self.0.iter();
        // One of the right name and another algorithm tells the client why.
        keys.clone().find(fitting).or_else(|| keys.find(named))
    }

    pub(super) const fn len(&self) -> usize {
        self.0.len()
    }
}
