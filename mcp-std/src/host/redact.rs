//! Secrets out of what is written down.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::Value;

use super::config::{HostConfig, is_secret_name};

/// What stands in the place of a secret.
const REDACTED: &str = "[redacted]";

/// Takes secrets out of texts: those of the configuration wherever they are, and the values of members whose names say that
/// they are secrets (`password`, `apiKey`, …).
#[derive(Clone, Default)]
pub struct Redactor(Arc<[String]>);

impl Redactor {
    /// With the secrets of a configuration.
    #[must_use]
    pub fn of(config: &HostConfig) -> Self {
        let secrets = config.servers.iter().flat_map(|server| server.secrets());
        let mut secrets: Vec<_> = secrets.collect();
        secrets.sort_by_key(|secret| core::cmp::Reverse(secret.len()));
        secrets.dedup();
        Self(secrets.into())
    }

    /// A text without the secrets of the configuration.
    #[must_use]
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut text = Cow::Borrowed(text);
        for secret in &*self.0 {
            if text.contains(secret.as_str()) {
                text = Cow::Owned(text.replace(secret.as_str(), REDACTED));
            }
        }
        text
    }

    /// A value without any secret.
    #[must_use]
    pub fn value(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(text).into_owned()),
            Value::Array(elements) => elements.iter().map(|it| self.value(it)).collect(),
            Value::Object(members) => {
                let members = members.iter().map(|(name, value)| {
                    let value = if is_secret_name(name) && !value.is_null() {
                        Value::String(REDACTED.to_owned())
                    } else {
                        self.value(value)
                    };
                    (self.text(name).into_owned(), value)
                });
                Value::Object(members.collect())
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }
}

impl core::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Redactor({})", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::ServerConfig;

    #[test]
    fn secrets_are_taken_out_wherever_they_are() {
        let server = ServerConfig::http("a", "https://a.example/")
            .header("Authorization", "Bearer abcdefgh");
        let redactor = Redactor::of(&HostConfig::new().server(server));
        assert_eq!(redactor.text("it is abcdefgh!"), "it is [redacted]!");
        let value = serde_json::json!({"q": ["abcdefgh"], "apiKey": {"a": 1}, "n": 1});
        let expected = serde_json::json!({"q": ["[redacted]"], "apiKey": "[redacted]", "n": 1});
        assert_eq!(redactor.value(&value), expected);
    }
}
