//! Text that is not to be seen.

use core::fmt;

use serde::{Deserialize, Serialize};

use super::AuthError;

/// A token, a password, a key: `Debug` does not show it, there is no `Display`, and it is compared in constant time.
#[derive(Clone, Default, Deserialize, Serialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// This text.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// From this variable of the environment, which is where servers on standard input and output, and programs without a
    /// user, get their credentials. The variable stays there, and children inherit it only if they are given it.
    ///
    /// ```
    /// use mcp_std::auth::{Auth, Credentials, Secret};
    ///
    /// # fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// let secret = Secret::from_env("MCP_CLIENT_SECRET")?;
    /// let auth = Auth::client_credentials(Credentials::secret("my-service", secret));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`AuthError::Key`]: it is not set, is empty, or is no text. The error names the variable.
    pub fn from_env(name: &str) -> Result<Self, AuthError> {
        match std::env::var(name) {
            Ok(value) if !value.is_empty() => Ok(Self(value)),
            Ok(_) => Err(AuthError::Key(format!("{name} is empty"))),
            // What else it says quotes the value.
            Err(std::env::VarError::NotPresent) => {
                Err(AuthError::Key(format!("{name} is not set")))
            }
            Err(std::env::VarError::NotUnicode(_)) => {
                Err(AuthError::Key(format!("{name} is no text")))
            }
        }
    }

    /// The text, for where it has to be sent or stored.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// So many bytes of the system's randomness, in unpadded base64 of URLs.
    pub(super) fn random(bytes: usize) -> Self {
        let mut noise = vec![0; bytes];
        // As for all other seeds of this crate: there is nothing to do without.
        getrandom::fill(&mut noise).expect("the system has randomness");
        Self(super::encode(&noise))
    }
}

impl<T: Into<String>> From<T> for Secret {
    fn from(text: T) -> Self {
        Self::new(text)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

impl PartialEq for Secret {
    fn eq(&self, other: &Self) -> bool {
        let (one, other) = (self.0.as_bytes(), other.0.as_bytes());
        let differing = one.iter().zip(other).fold(0, |all, (a, b)| all | (a ^ b));
        one.len() == other.len() && core::hint::black_box(differing) == 0
    }
}

impl Eq for Secret {}
