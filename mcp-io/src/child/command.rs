//! What to start, with which environment, and where its standard error goes.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{env, fmt};

/// Variables that a child inherits by default.
#[cfg(not(windows))]
const SAFE: &[&str] = &["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"];

/// Variables that a child inherits by default.
#[cfg(windows)]
const SAFE: &[&str] = &[
    "APPDATA",
    "COMSPEC",
    "HOMEDRIVE",
    "HOMEPATH",
    "LOCALAPPDATA",
    "PATH",
    "PATHEXT",
    "PROCESSOR_ARCHITECTURE",
    "PROGRAMFILES",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "USERNAME",
    "USERPROFILE",
];

/// A program to start as a server.
///
/// ```no_run
/// # fn main() -> Result<(), mcp_io::child::SpawnError> {
/// use mcp_io::child::Command;
/// let child = Command::new("npx")
///     .args(["-y", "@modelcontextprotocol/server-everything"])
///     .env("LOG_LEVEL", "debug")
///     .spawn()?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Command {
    pub(super) program: OsString,
    pub(super) args: Vec<OsString>,
    inherit: Inherit,
    /// `None`: not to be there, though it would be inherited.
    env: BTreeMap<OsString, Option<OsString>>,
    pub(super) dir: Option<PathBuf>,
    pub(super) stderr: Stderr,
    pub(super) tail: usize,
}

/// Values of the environment are not shown: it is how programs get their credentials.
impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.env.keys().collect();
        f.debug_struct("Command")
            .field("program", &self.program)
            .field("args", &self.args)
            .field("inherit", &self.inherit)
            .field("env", &names)
            .field("dir", &self.dir)
            .field("stderr", &self.stderr)
            .finish_non_exhaustive()
    }
}

/// By what is started, and with what; not by where its standard error goes.
impl Hash for Command {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.program, &self.args, self.inherit).hash(state);
        (&self.env, &self.dir).hash(state);
    }
}

/// What a child gets of this process's environment.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Inherit {
    /// What most programs cannot do without, as the official SDKs have it: HOME, LOGNAME, PATH, SHELL, TERM and USER;
    /// on Windows also where the system, programs, temporary and user's files are. The default: a host holds keys for
    /// many services, and a server is to see only those that are meant for it. Exported shell functions (values that
    /// start with `()`) are left out.
    #[default]
    Safe,
    /// All of it.
    All,
    /// Nothing.
    Nothing,
}

/// Where the standard error of a child goes. It never blocks the child: it is inherited or read at once.
#[derive(Clone, Default)]
#[non_exhaustive]
pub enum Stderr {
    /// Read; its end is kept for [`Handle::stderr_tail`](super::Handle::stderr_tail). Lines are also traced at level
    /// debug, target `mcp_io::child::stderr`.
    #[default]
    Capture,
    /// To this process's standard error. Nothing is kept.
    Forward,
    /// To nowhere. Nothing is kept.
    Drop,
    /// Like [`Capture`](Self::Capture), and each line is given to the function, without its end. Bytes that are no UTF-8
    /// are replaced. Lines of more than 8 KiB come in parts. The function runs on the child's thread: while it blocks,
    /// standard error is not read. When it panics the line is lost, nothing else.
    Lines(Arc<dyn Fn(&str) + Send + Sync>),
}

impl fmt::Debug for Stderr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Capture => "Capture",
            Self::Forward => "Forward",
            Self::Drop => "Drop",
            Self::Lines(_) => "Lines",
        })
    }
}

impl Command {
    /// A program by its name, searched in PATH, or by its path. A relative path with a separator in it starts at
    /// [`current_dir`](Self::current_dir), if that is set. On Windows the endings of PATHEXT are tried, so that `npx`
    /// finds `npx.cmd`.
    pub fn new(program: impl AsRef<OsStr>) -> Self {
        Self {
            program: program.as_ref().into(),
            args: Vec::new(),
            inherit: Inherit::default(),
            env: BTreeMap::new(),
            dir: None,
            stderr: Stderr::default(),
            tail: 16 * 1024,
        }
    }

    /// One more argument. No shell sees it.
    #[must_use]
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().into());
        self
    }

    /// More arguments.
    #[must_use]
    pub fn args(mut self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        self.args
            .extend(args.into_iter().map(|arg| arg.as_ref().into()));
        self
    }

    /// What is inherited of the environment. Default: [`Inherit::Safe`].
    #[must_use]
    pub fn inherit_env(mut self, inherit: Inherit) -> Self {
        self.inherit = inherit;
        self
    }

    /// Sets a variable, whatever is inherited.
    #[must_use]
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.env
            .insert(variable(name.as_ref()), Some(value.as_ref().into()));
        self
    }

    /// Passes on a variable of this process, as it is now; nothing if it is not there.
    ///
    /// A server on standard input and output gets its credentials from its environment, and from nowhere else: this is how
    /// it gets one that its host has.
    ///
    /// ```
    /// use mcp_io::child::Command;
    /// let command = Command::new("my-server").pass_env("API_TOKEN");
    /// ```
    #[must_use]
    pub fn pass_env(self, name: impl AsRef<OsStr>) -> Self {
        match env::var_os(&name) {
            Some(value) => self.env(name, value),
            None => self,
        }
    }

    /// Sets variables, whatever is inherited.
    #[must_use]
    pub fn envs(
        mut self,
        variables: impl IntoIterator<Item = (impl AsRef<OsStr>, impl AsRef<OsStr>)>,
    ) -> Self {
        for (name, value) in variables {
            self = self.env(name, value);
        }
        self
    }

    /// Leaves out a variable, set or inherited.
    #[must_use]
    pub fn env_remove(mut self, name: impl AsRef<OsStr>) -> Self {
        self.env.insert(variable(name.as_ref()), None);
        self
    }

    /// Inherits nothing and forgets what was set.
    #[must_use]
    pub fn env_clear(mut self) -> Self {
        self.inherit = Inherit::Nothing;
        self.env.clear();
        self
    }

    /// The folder to start in. Default: this process's.
    #[must_use]
    pub fn current_dir(mut self, dir: impl AsRef<Path>) -> Self {
        self.dir = Some(dir.as_ref().into());
        self
    }

    /// Where standard error goes. Default: [`Stderr::Capture`].
    #[must_use]
    pub fn stderr(mut self, stderr: Stderr) -> Self {
        self.stderr = stderr;
        self
    }

    /// So many bytes of standard error are kept, the last ones. Default: 16 KiB.
    #[must_use]
    pub fn stderr_tail(mut self, bytes: usize) -> Self {
        self.tail = bytes;
        self
    }

    /// The program as it was named.
    #[must_use]
    pub fn program(&self) -> &OsStr {
        &self.program
    }

    /// The environment that the child gets, sorted by name.
    pub(super) fn environment(&self) -> BTreeMap<OsString, OsString> {
        self.environment_from(env::vars_os())
    }

    fn environment_from(
        &self,
        inherited: impl Iterator<Item = (OsString, OsString)>,
    ) -> BTreeMap<OsString, OsString> {
        let mut result: BTreeMap<_, _> = inherited
            .map(|(name, value)| (variable(&name), value))
            .filter(|(name, value)| match self.inherit {
                Inherit::Safe => {
                    SAFE.iter().any(|safe| name == safe)
                        && !value.as_encoded_bytes().starts_with(b"()")
                }
                Inherit::All => true,
                Inherit::Nothing => false,
            })
            .collect();
        for (name, value) in &self.env {
            match value {
                Some(value) => result.insert(name.clone(), value.clone()),
                None => result.remove(name),
            };
        }
        result
    }
}

/// Names of variables differ by case, except on Windows.
fn variable(name: &OsStr) -> OsString {
    if cfg!(windows) {
        name.to_ascii_uppercase()
    } else {
        name.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(command: &Command, inherited: &[(&str, &str)]) -> Vec<String> {
        let inherited = inherited
            .iter()
            .map(|(name, value)| (OsString::from(name), OsString::from(value)));
        command
            .environment_from(inherited)
            .iter()
            .map(|(name, value)| format!("{}={}", name.display(), value.display()))
            .collect()
    }

    #[test]
    fn values_of_the_environment_are_not_shown() {
        let command = Command::new("x").env("API_TOKEN", "hush");
        let shown = format!("{command:?} {command:#?}");
        assert!(
            shown.contains("API_TOKEN") && !shown.contains("hush"),
            "{shown}"
        );
    }

    #[test]
    fn variables_are_passed_on_by_name() {
        // Cargo sets the first one, and nobody the second one.
        let command = Command::new("x")
            .pass_env("CARGO_PKG_NAME")
            .pass_env("MCP_NOBODY_SETS_THIS");
        assert_eq!(of(&command, &[]), ["CARGO_PKG_NAME=mcp-io"]);
    }

    #[test]
    fn dx_07_what_is_inherited() {
        let host = [
            ("API_TOKEN", "s"),
            ("PATH", "/bin"),
            ("TEMP", "x"),
            ("A", "0"),
        ];
        let command = Command::new("x").env("A", "1");
        let safe = of(&command, &host);
        assert!(safe.contains(&"A=1".into()) && safe.contains(&"PATH=/bin".into()));
        assert!(!safe.contains(&"API_TOKEN=s".into()), "{safe:?}");
        let functions = of(&command, &[("TERM", "() { :; }; boom")]);
        assert_eq!(functions, ["A=1"]);
        let all = of(&command.clone().inherit_env(Inherit::All), &host);
        assert_eq!(all, ["A=1", "API_TOKEN=s", "PATH=/bin", "TEMP=x"]);
        let removed = command
            .clone()
            .inherit_env(Inherit::All)
            .env_remove("API_TOKEN")
            .env_remove("A");
        assert_eq!(of(&removed, &host), ["PATH=/bin", "TEMP=x"]);
        assert_eq!(of(&command.env_clear().envs([("B", "2")]), &host), ["B=2"]);
    }
}
