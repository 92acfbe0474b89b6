//! Variables in a configuration, and what they stand for.

use core::fmt;
use std::collections::BTreeMap;
use std::path::PathBuf;

use super::text::Text;

/// What the variables of a configuration stand for.
///
/// | Written | Stands for |
/// | --- | --- |
/// | `${NAME}`, `${env:NAME}` | the variable of the environment |
/// | `${NAME:-text}`, `${env:NAME:-text}` | the same, or the text if it is not set or empty |
/// | `${input:id}` | what the user was asked for: [`input`](Self::input) |
/// | `${workspaceFolder}`, `${workspaceFolderBasename}` | [`workspace`](Self::workspace) |
/// | `${userHome}` | the user's folder |
/// | `${pathSeparator}`, `${/}` | `/`, or `\` on Windows |
///
/// Anything else between `${` and `}` is a fault. A `$` before anything but `{` is a `$`. What a variable stands for is not
/// looked through again.
#[derive(Clone, Default)]
pub struct Variables {
    process: bool,
    set: BTreeMap<String, String>,
    inputs: BTreeMap<String, String>,
    workspace: Option<PathBuf>,
}

impl Variables {
    /// None at all: each one has to be [set](Self::var).
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Those of the environment of this process.
    #[must_use]
    pub fn process() -> Self {
        Self {
            process: true,
            ..Self::default()
        }
    }

    /// Sets one, whatever the environment says.
    #[must_use]
    pub fn var(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.set.insert(name.into(), value.into());
        self
    }

    /// What the user said for the input of this id, whatever its default is.
    #[must_use]
    pub fn input(mut self, id: impl Into<String>, value: impl Into<String>) -> Self {
        self.inputs.insert(id.into(), value.into());
        self
    }

    /// The folder that is worked in.
    #[must_use]
    pub fn workspace(mut self, folder: impl Into<PathBuf>) -> Self {
        self.workspace = Some(folder.into());
        self
    }

    /// Of an input that the user was not asked for.
    pub(super) fn default_input(&mut self, id: String, value: String) {
        self.inputs.entry(id).or_insert(value);
    }

    fn env(&self, name: &str) -> Option<String> {
        let set = self.set.get(name).cloned();
        set.or_else(|| self.process.then(|| std::env::var(name).ok())?)
    }

    /// The text with the values of its variables. The error says what is wrong.
    pub(super) fn substitute(&self, written: &str) -> Result<Text, String> {
        if !written.contains("${") {
            return Ok(Text::plain(written));
        }
        let mut value = String::with_capacity(written.len());
        let mut rest = written;
        while let Some((before, after)) = rest.split_once("${") {
            value.push_str(before);
            let (inner, after) = after
                .split_once('}')
                .ok_or_else(|| "`${` is not closed: `}` is missing".to_owned())?;
            value.push_str(&self.value(inner)?);
            rest = after;
        }
        value.push_str(rest);
        Ok(Text::substituted(value, written))
    }

    fn value(&self, inner: &str) -> Result<String, String> {
        if let Some(id) = inner.strip_prefix("input:") {
            let known = self.inputs.get(id).cloned();
            return known.ok_or_else(|| {
                format!("nothing was said for the input `{id}`, and it has no default")
            });
        }
        let folder = |folder: Option<PathBuf>| {
            let folder = folder.ok_or_else(|| format!("`${{{inner}}}` is not known here"))?;
            Ok(folder.to_string_lossy().into_owned())
        };
        match inner {
            "workspaceFolder" => return folder(self.workspace.clone()),
            "workspaceFolderBasename" => {
                let base = self.workspace.as_ref().and_then(|it| it.file_name());
                return folder(base.map(PathBuf::from));
            }
            "userHome" => return folder(std::env::home_dir()),
            "pathSeparator" | "/" => return Ok(std::path::MAIN_SEPARATOR.to_string()),
            _ => {}
        }
        let (name, default) = match inner.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inner, None),
        };
        let name = name.strip_prefix("env:").unwrap_or(name);
        let mut letters = name.bytes();
        let begins = letters
            .next()
            .is_some_and(|it| it.is_ascii_alphabetic() || it == b'_');
        if !begins || !letters.all(|it| it.is_ascii_alphanumeric() || it == b'_') {
            return Err(format!(
                "`${{{inner}}}` is no variable: `${{NAME}}`, `${{env:NAME}}` or `${{input:id}}` is"
            ));
        }
        let found = self.env(name);
        let found = match default {
            Some(default) => found
                .filter(|it| !it.is_empty())
                .or(Some(default.to_owned())),
            None => found,
        };
        found.ok_or_else(|| {
            format!("the variable `{name}` is not set, and has no default: `${{{name}:-…}}`")
        })
    }
}

impl fmt::Debug for Variables {
    /// Names, never values.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Variables")
            .field("process", &self.process)
            .field("set", &self.set.keys())
            .field("inputs", &self.inputs.keys())
            .finish_non_exhaustive()
    }
}
