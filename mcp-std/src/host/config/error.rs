//! What is wrong with a configuration, and where.

use core::fmt;

/// A fault of a configuration, with the path of the field that has it: `mcpServers.github.args[2]`.
///
/// It never shows the value of a field, which may be a secret.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct ConfigError {
    /// Where: members by their names, elements by their numbers. Empty: the file itself.
    pub path: String,
    /// What is wrong, and what would be right.
    pub fault: String,
}

impl ConfigError {
    pub(crate) fn new(path: impl Into<String>, fault: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            fault: fault.into(),
        }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            return f.write_str(&self.fault);
        }
        write!(f, "`{}`: {}", self.path, self.fault)
    }
}

impl core::error::Error for ConfigError {}
