//! What is wrong with a file.

use core::fmt;

/// How bad it is.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum Severity {
    /// It can be published as it is, and something of it is lost, or is not what it looks like.
    Warning,
    /// A registry refuses it, or nothing can be started from it.
    Error,
}

/// One thing that is wrong: where, what, and what to do about it.
///
/// It shows of the file only names, and values that are public by what they are: versions, names of servers and packages.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Problem {
    /// How bad it is.
    pub severity: Severity,
    /// Where: members by their names, elements by their numbers, `packages[0].version`. Empty: the file itself.
    pub path: String,
    /// What is wrong.
    pub fault: String,
    /// What to do.
    pub remedy: String,
}

impl Problem {
    pub(super) fn error(
        path: impl Into<String>,
        fault: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self {
            severity: Severity::Error,
            path: path.into(),
            fault: fault.into(),
            remedy: remedy.into(),
        }
    }

    pub(super) fn warning(
        path: impl Into<String>,
        fault: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self {
            severity: Severity::Warning,
            ..Self::error(path, fault, remedy)
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "`{}`: ", self.path)?;
        }
        write!(f, "{}; {}", self.fault, self.remedy)
    }
}

impl core::error::Error for Problem {}

/// What a file says, short enough for a message.
pub(super) fn quoted(text: &str) -> String {
    const LONGEST: usize = 60;
    let mut cut: String = text.chars().take(LONGEST).collect();
    if text.chars().nth(LONGEST).is_some() {
        cut.push('…');
    }
    format!("{cut:?}")
}
