//! Which servers a host has.

mod comments;
mod error;
mod fields;
mod parse;
mod server;
#[cfg(test)]
mod tests;
mod text;
mod variables;

use std::path::Path;

pub use error::ConfigError;
pub use server::{RateLimit, ServerConfig, Transport};
pub use text::Text;
pub(crate) use text::is_secret_name;
pub use variables::Variables;

/// The servers of a host, by name: from the JSON that hosts and editors share, or one by one.
///
/// ```
/// use mcp_std::host::{HostConfig, Variables};
///
/// let text = r#"{"mcpServers": {
///     "files": {"command": "npx", "args": ["-y", "server-files", "${workspaceFolder}"]},
///     "github": {"url": "https://mcp.example.com/", "headers": {"Authorization": "Bearer ${TOKEN}"}}
/// }}"#;
/// let variables = Variables::new().workspace("/home/ada/project").var("TOKEN", "abc123");
/// let config = HostConfig::parse(text, variables)?;
/// assert_eq!(config.servers().len(), 2);
/// assert!(!format!("{config:?}").contains("abc123"));
///
/// let error = HostConfig::parse(r#"{"mcpServers": {"x": {"command": "y", "args": ["a", 1]}}}"#, Variables::new());
/// let error = error.expect_err("an argument is a string");
/// assert_eq!(error.path, "mcpServers.x.args[1]");
/// # Ok::<(), mcp_std::host::ConfigError>(())
/// ```
///
/// # The file
///
/// An object with `mcpServers`, or with `servers` and `inputs` as VS Code has it (in `mcp` or not), comments and commas at the
/// end included. Each server has a name and these fields:
///
/// | Field | Says |
/// | --- | --- |
/// | `command`, `args`, `env`, `cwd` | a program |
/// | `url` (`serverUrl`, `httpUrl`), `headers` | a server at a URL |
/// | `type` (`transport`) | `stdio`, `http`, `streamable-http` or `sse`; else what the other fields say. How HTTP is spoken is found out |
/// | `disabled`, `enabled` | whether it is connected to |
/// | `timeout`, `startupTimeout` | how long a request may be silent, and connecting may take: in seconds below 1000, else in milliseconds, since programs differ |
/// | `tool_timeout_sec`, `startup_timeout_sec` | the same, in seconds |
/// | `includeTools`, `allowedTools`, `enabledTools`, `enabled_tools` | the tools that are offered; `*` stands for anything |
/// | `excludeTools`, `disabledTools`, `disabled_tools` | those that are not |
/// | `alwaysAllow`, `autoApprove` | those that nobody is asked about |
/// | `trust` | `true`: nobody is asked about any |
/// | `group` | the group that they belong to |
/// | `preset` | arguments that are always given, by tool: `{"search": {"repo": "mcp"}}` |
/// | `rateLimit` | `{"calls": 10, "seconds": 1}` |
/// | `maxConcurrent` | how many calls at once |
///
/// A field of the wrong type makes the file one that cannot be used. A variable that is not set makes that one server one that
/// cannot be: [`ServerConfig::fault`]. Fields that nobody knows are [warnings](Self::warnings).
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct HostConfig {
    pub(crate) servers: Vec<ServerConfig>,
    warnings: Vec<ConfigError>,
}

impl HostConfig {
    /// Without servers.
    pub fn new() -> Self {
        Self::default()
    }

    /// One more server. One of the same name is replaced.
    pub fn server(mut self, server: ServerConfig) -> Self {
        self.servers.retain(|known| known.name != server.name);
        self.servers.push(server);
        self
    }

    /// Reads a configuration.
    ///
    /// # Errors
    ///
    /// It is no JSON, or a field is not as it is to be: the first one.
    pub fn parse(text: &str, variables: Variables) -> Result<Self, ConfigError> {
        parse::parse(text, variables)
    }

    /// Reads a configuration from a file.
    ///
    /// # Errors
    ///
    /// The file cannot be read, and those of [`parse`](Self::parse).
    pub fn load(path: impl AsRef<Path>, variables: Variables) -> Result<Self, ConfigError> {
        /// More is no configuration.
        const LONGEST: u64 = 4 * 1024 * 1024;
        let path = path.as_ref();
        let fault = |fault: String| ConfigError::new("", format!("{}: {fault}", path.display()));
        let length = std::fs::metadata(path).map_err(|error| fault(error.to_string()))?;
        if length.len() > LONGEST {
            return Err(fault("it is longer than 4 MiB".to_owned()));
        }
        let text = std::fs::read_to_string(path).map_err(|error| fault(error.to_string()))?;
        Self::parse(&text, variables)
    }

    /// The servers, in the order of the file.
    pub fn servers(&self) -> &[ServerConfig] {
        &self.servers
    }

    /// What was ignored: fields that nobody knows.
    #[must_use]
    pub fn warnings(&self) -> &[ConfigError] {
        &self.warnings
    }
}
