//! A text of a configuration: what it says, and what of that may be seen.

use core::fmt;

/// A text that may hold a secret. It is shown as it was written, with its variables in place of their values, or not at all.
#[derive(Clone, Eq, PartialEq)]
pub struct Text {
    value: String,
    shown: Option<String>,
    secret: bool,
}

impl Text {
    /// A text that anybody may see.
    pub fn plain(value: impl Into<String>) -> Self {
        let value = value.into();
        Self {
            shown: Some(value.clone()),
            value,
            secret: false,
        }
    }

    /// A secret.
    pub fn secret(value: impl Into<String>) -> Self {
        Self {
            value: value.into(),
            shown: None,
            secret: true,
        }
    }

    /// What came of a text with variables in it: it is shown as it was written.
    pub(super) fn substituted(value: String, written: &str) -> Self {
        Self {
            value,
            shown: Some(written.to_owned()),
            secret: true,
        }
    }

    /// Not to be shown, unless it is variables and nothing else.
    pub(super) fn hidden(mut self) -> Self {
        let variables_only = |shown: &String| {
            self.secret && shown.starts_with("${") && shown.find('}') == Some(shown.len() - 1)
        };
        if !self.shown.as_ref().is_some_and(variables_only) {
            self.shown = None;
        }
        self.secret = true;
        self
    }

    /// The text itself, for whoever needs it.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.value
    }

    /// Whether it, or a part of it, may be a secret.
    #[must_use]
    pub const fn is_secret(&self) -> bool {
        self.secret
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.shown.as_deref().unwrap_or("[redacted]"))
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{self}\"")
    }
}

impl From<&str> for Text {
    /// A text that anybody may see.
    fn from(value: &str) -> Self {
        Self::plain(value)
    }
}

impl From<String> for Text {
    /// A text that anybody may see.
    fn from(value: String) -> Self {
        Self::plain(value)
    }
}

/// Whether what has this name is likely a secret: a variable, a header, an option, an argument of a tool.
pub(crate) fn is_secret_name(name: &str) -> bool {
    const PARTS: [&str; 12] = [
        "token",
        "secret",
        "password",
        "passwd",
        "passphrase",
        "apikey",
        "accesskey",
        "privatekey",
        "credential",
        "authorization",
        "cookie",
        "bearer",
    ];
    let plain: String = name
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|c| c.to_ascii_lowercase())
        .collect();
    PARTS.iter().any(|part| plain.contains(part)) || plain == "pin" || plain == "auth"
}
