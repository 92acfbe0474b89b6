//! Proof of key for the code exchange (RFC 7636; PKC-01): `S256` and nothing else.

use sha2::{Digest as _, Sha256};

use super::{Secret, encode};

/// What only this program knows about one login.
pub(super) struct Pkce {
    pub(super) verifier: Secret,
}

impl Pkce {
    pub(super) fn new() -> Self {
        Self {
            verifier: Secret::random(32),
        }
    }

    pub(super) fn challenge(&self) -> String {
        challenge(self.verifier.expose())
    }
}

fn challenge(verifier: &str) -> String {
    encode(&Sha256::digest(verifier.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_the_rfc() {
        // RFC 7636, appendix B.
        let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
        let expected = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
        assert_eq!(challenge(verifier), expected);
        let (one, other) = (Pkce::new(), Pkce::new());
        assert_eq!(one.verifier.expose().len(), 43);
        assert_ne!(one.verifier, other.verifier);
    }
}
