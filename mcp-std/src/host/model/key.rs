//! Keys of providers.

use core::fmt;

/// A key of a provider: `Debug` does not show it, and there is no `Display`.
#[derive(Clone, Eq, PartialEq)]
pub struct ApiKey(String);

impl ApiKey {
    /// This key.
    #[must_use]
    pub fn new(key: impl Into<String>) -> Self {
        Self(key.into())
    }

    /// The key that a variable of the environment holds. `None`: it is not set, or empty.
    #[must_use]
    pub fn from_env(variable: &str) -> Option<Self> {
        let key = std::env::var(variable).ok()?;
        let key = key.trim();
        (!key.is_empty()).then(|| Self(key.to_owned()))
    }

    /// The key, for where it has to be sent.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// A text of the provider without the key: some say in errors which one was wrong.
    pub(super) fn redact(&self, text: &str) -> String {
        if self.0.is_empty() {
            text.to_owned()
        } else {
            text.replace(&self.0, "(the key)")
        }
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(…)")
    }
}
