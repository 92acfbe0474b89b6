//! `mcp`, with servers for it.

use std::process::{Command, Output, Stdio};

pub(crate) const MCP: &str = env!("CARGO_BIN_EXE_mcp");

/// The small server.
pub(crate) const SMALL: &[&str] = &[MCP, "serve"];
/// The one with something of everything.
pub(crate) const EVERYTHING: &[&str] = &[MCP, "serve", "--everything"];

/// What a run came to.
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    pub(crate) fn of(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).expect("UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("UTF-8"),
        }
    }

    /// Standard output as JSON.
    pub(crate) fn json(&self) -> serde_json::Value {
        let read = serde_json::from_str(&self.stdout);
        read.unwrap_or_else(|error| panic!("{error}: {:?} {:?}", self.stdout, self.stderr))
    }

    /// The same run, which went well and had nothing to say beside its output.
    pub(crate) fn good(self) -> Self {
        assert_eq!(self.code, Some(0), "{} {}", self.stdout, self.stderr);
        assert_eq!(self.stderr, "", "{}", self.stdout);
        self
    }
}

pub(crate) fn command(arguments: &[&str], server: &[&str]) -> Command {
    let mut command = Command::new(MCP);
    command.args(arguments).arg("--").args(server);
    command.env_remove("COLUMNS").stdin(Stdio::null());
    command
}

/// `mcp arguments… -- server…`, to its end.
pub(crate) fn run(arguments: &[&str], server: &[&str]) -> Ran {
    let output = command(arguments, server).output();
    Ran::of(output.expect("the program is there and runs"))
}
