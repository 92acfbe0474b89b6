//! One server of a configuration.

use core::fmt;
use core::time::Duration;
use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Map, Value};

use super::error::ConfigError;
use super::text::{Text, is_secret_name};
use crate::Server;
use crate::client::Command;
use crate::host::glob::Glob;

/// How a server is reached.
#[derive(Clone)]
#[non_exhaustive]
pub enum Transport {
    /// A program is started, and spoken with over its standard input and output.
    #[non_exhaustive]
    Stdio {
        /// The program.
        command: Text,
        /// Its arguments.
        args: Vec<Text>,
        /// Variables for it, besides the few that any program gets.
        env: BTreeMap<String, Text>,
        /// The folder that it starts in.
        cwd: Option<PathBuf>,
    },
    /// It is served at a URL.
    #[non_exhaustive]
    Http {
        /// The URL.
        url: Text,
        /// Headers that go along with each request.
        headers: Vec<(String, Text)>,
    },
    /// It is in this process.
    InProcess(Server),
}

impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdio {
                command,
                args,
                env,
                cwd,
            } => f
                .debug_struct("Stdio")
                .field("command", command)
                .field("args", args)
                .field("env", env)
                .field("cwd", cwd)
                .finish(),
            Self::Http { url, headers } => f
                .debug_struct("Http")
                .field("url", url)
                .field("headers", headers)
                .finish(),
            Self::InProcess(_) => f.write_str("InProcess"),
        }
    }
}

/// Which tools of a server are offered. Patterns are names in which `*` stands for anything.
#[derive(Clone, Debug, Default)]
pub(crate) struct ToolFilter {
    /// `None`: all.
    pub(crate) allow: Option<Vec<Glob>>,
    pub(crate) deny: Vec<Glob>,
}

impl ToolFilter {
    pub(crate) fn admits(&self, tool: &str) -> bool {
        let any = |globs: &[Glob]| globs.iter().any(|glob| glob.matches(tool));
        self.allow.as_deref().is_none_or(any) && !any(&self.deny)
    }
}

/// At most so many calls in such a time.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct RateLimit {
    /// How many calls: as many may come at once.
    pub calls: u32,
    /// In what time.
    pub per: Duration,
}

impl RateLimit {
    /// `calls` in each `per`. No calls count as one, and no time as a millisecond.
    #[must_use]
    pub fn new(calls: u32, per: Duration) -> Self {
        Self {
            calls: calls.max(1),
            per: per.max(Duration::from_millis(1)),
        }
    }
}

/// A server that a host is to have: how it is reached, and what of it is offered to the model.
///
/// ```
/// use core::time::Duration;
/// use mcp_std::host::ServerConfig;
///
/// let github = ServerConfig::stdio("github", "npx")
///     .args(["-y", "server-github"])
///     .env("GITHUB_TOKEN", "very secret")
///     .deny(["delete_*"])
///     .timeout(Duration::from_secs(30));
/// assert!(!format!("{github:?}").contains("very secret"));
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct ServerConfig {
    pub(crate) name: String,
    pub(crate) transport: Transport,
    pub(crate) enabled: bool,
    pub(crate) connect_timeout: Option<Duration>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) filter: ToolFilter,
    /// Tools that need no approval.
    pub(crate) approved: Vec<Glob>,
    pub(crate) group: Option<String>,
    /// By patterns of tools' names.
    pub(crate) preset: Vec<(Glob, Map<String, Value>)>,
    pub(crate) rate: Option<RateLimit>,
    pub(crate) max_concurrent: Option<usize>,
    /// Why it cannot be used, though the file is in order.
    pub(crate) fault: Option<ConfigError>,
}

impl ServerConfig {
    fn new(name: impl Into<String>, transport: Transport) -> Self {
        Self {
            name: name.into(),
            transport,
            enabled: true,
            connect_timeout: None,
            timeout: None,
            filter: ToolFilter::default(),
            approved: Vec::new(),
            group: None,
            preset: Vec::new(),
            rate: None,
            max_concurrent: None,
            fault: None,
        }
    }

    /// A server that is a program.
    pub fn stdio(name: impl Into<String>, command: impl Into<Text>) -> Self {
        let transport = Transport::Stdio {
            command: command.into(),
            args: Vec::new(),
            env: BTreeMap::new(),
            cwd: None,
        };
        Self::new(name, transport)
    }

    /// A server at a URL.
    pub fn http(name: impl Into<String>, url: impl Into<Text>) -> Self {
        let transport = Transport::Http {
            url: url.into(),
            headers: Vec::new(),
        };
        Self::new(name, transport)
    }

    /// A server in this process.
    pub fn in_process(name: impl Into<String>, server: &Server) -> Self {
        Self::new(name, Transport::InProcess(server.clone()))
    }

    /// Arguments of the program. Of a server that is none, this and the next two change nothing.
    pub fn args(mut self, more: impl IntoIterator<Item = impl Into<Text>>) -> Self {
        if let Transport::Stdio { args, .. } = &mut self.transport {
            args.extend(more.into_iter().map(Into::into));
        }
        self
    }

    /// A variable for the program. Its value is never shown.
    pub fn env(mut self, name: impl Into<String>, value: impl Into<Text>) -> Self {
        if let Transport::Stdio { env, .. } = &mut self.transport {
            env.insert(name.into(), value.into().hidden());
        }
        self
    }

    /// The folder that the program starts in.
    pub fn cwd(mut self, folder: impl Into<PathBuf>) -> Self {
        if let Transport::Stdio { cwd, .. } = &mut self.transport {
            *cwd = Some(folder.into());
        }
        self
    }

    /// A header for a server at a URL. Its value is never shown. Of any other server this changes nothing.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<Text>) -> Self {
        if let Transport::Http { headers, .. } = &mut self.transport {
            headers.push((name.into(), value.into().hidden()));
        }
        self
    }

    /// It stays in the configuration, and is not connected to.
    pub const fn disabled(mut self) -> Self {
        self.enabled = false;
        self
    }

    /// How long it may take to connect. Default: 60 seconds.
    pub const fn connect_timeout(mut self, time: Duration) -> Self {
        self.connect_timeout = Some(time);
        self
    }

    /// How long a request may be silent. Default: 60 seconds.
    pub const fn timeout(mut self, time: Duration) -> Self {
        self.timeout = Some(time);
        self
    }

    /// Offers these tools and no others; `*` stands for anything. Called again: these too.
    pub fn allow(mut self, tools: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        let allow = self.filter.allow.get_or_insert_default();
        allow.extend(tools.into_iter().map(|it| Glob::new(it.as_ref())));
        self
    }

    /// Does not offer these tools, even if they are allowed; `*` stands for anything.
    pub fn deny(mut self, tools: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        let deny = tools.into_iter().map(|it| Glob::new(it.as_ref()));
        self.filter.deny.extend(deny);
        self
    }

    /// These tools may be called without anybody being asked; `*` stands for anything.
    pub fn approved(mut self, tools: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        let approved = tools.into_iter().map(|it| Glob::new(it.as_ref()));
        self.approved.extend(approved);
        self
    }

    /// Its tools are offered once this group is activated: [`Session::activate_group`](crate::host::Session::activate_group).
    pub fn group(mut self, group: impl Into<String>) -> Self {
        self.group = Some(group.into());
        self
    }

    /// An argument that these tools always get, and that the model neither sees nor can change. A tool whose schema has no
    /// such property does not get it. `*` stands for anything.
    pub fn preset(
        mut self,
        tools: impl AsRef<str>,
        argument: impl Into<String>,
        value: impl Into<Value>,
    ) -> Self {
        let arguments = Map::from_iter([(argument.into(), value.into())]);
        self.preset.push((Glob::new(tools.as_ref()), arguments));
        self
    }

    /// Calls beyond this wait. Default: none.
    pub const fn rate_limit(mut self, limit: RateLimit) -> Self {
        self.rate = Some(limit);
        self
    }

    /// At most so many calls at once; others wait. Default: as many as the host has. 0 counts as 1.
    pub const fn max_concurrent(mut self, calls: usize) -> Self {
        self.max_concurrent = Some(calls);
        self
    }

    /// What it is called in the configuration.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How it is reached.
    #[must_use]
    pub const fn transport(&self) -> &Transport {
        &self.transport
    }

    /// Whether it is connected to.
    #[must_use]
    pub const fn is_enabled(&self) -> bool {
        self.enabled
    }

    /// Why it cannot be used, though the file is in order: a variable that is not set, say.
    #[must_use]
    pub const fn fault(&self) -> Option<&ConfigError> {
        self.fault.as_ref()
    }

    /// All that may be a secret and is long enough to be one: what is redacted.
    pub(crate) fn secrets(&self) -> Vec<String> {
        /// Shorter values are found everywhere.
        const LEAST: usize = 6;
        let mut secrets: Vec<&Text> = Vec::new();
        match &self.transport {
            Transport::Stdio { args, env, .. } => {
                secrets.extend(args.iter().filter(|it| it.is_secret()));
                // Most variables are settings, such as a level of logging.
                let named = env.iter().filter(|(name, _)| is_secret_name(name));
                secrets.extend(named.map(|(_, value)| value));
            }
            Transport::Http { headers, .. } => {
                let named = headers.iter().filter(|(name, _)| is_secret_name(name));
                secrets.extend(named.map(|(_, value)| value));
            }
            Transport::InProcess(_) => {}
        }
        let words = secrets.into_iter().flat_map(|text| {
            // Of `Bearer abc`, it is the token that is the secret, and so of `TOKEN=abc`.
            let value = text.reveal();
            let last = value.rsplit(' ').next().unwrap_or_default();
            let given = value.split_once('=').map_or("", |(_, given)| given);
            [value, last, given]
        });
        let mut words: Vec<_> = words
            .filter(|word| word.len() >= LEAST)
            .map(str::to_owned)
            .collect();
        // The longest first, so that no part of one is left over.
        words.sort_by_key(|word| core::cmp::Reverse(word.len()));
        words.dedup();
        words
    }

    /// As it is started; `None`: it is no program.
    pub(crate) fn command(&self) -> Option<Command> {
        let Transport::Stdio {
            command,
            args,
            env,
            cwd,
        } = &self.transport
        else {
            return None;
        };
        let mut started = Command::new(command.reveal())
            .args(args.iter().map(Text::reveal))
            .envs(env.iter().map(|(name, value)| (name, value.reveal())));
        if let Some(folder) = cwd {
            started = started.current_dir(folder);
        }
        Some(started)
    }
}
