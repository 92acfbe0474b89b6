//! What of a server a host is to use, what its user says about it, and what comes of that.

use core::fmt;
use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::fill::Filler;
use super::launch;
use super::model::ServerJson;
use super::problem::Problem;

/// Which of the ways to a server is meant.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "a file has these two lists")]
pub enum Choice {
    /// The package of this number, from 0.
    Package(usize),
    /// The remote of this number, from 0.
    Remote(usize),
}

/// What the user says for the inputs of a file: by a variable's, header's or argument's name (`API_KEY`, `--port`), by a
/// positional argument's `valueHint`, or by its path, `packages[0].environmentVariables[1]`.
#[derive(Clone, Default)]
#[must_use]
pub struct Inputs {
    pub(super) values: BTreeMap<String, Vec<String>>,
}

impl Inputs {
    /// Nothing is said: what has a default has that.
    pub fn new() -> Self {
        Self::default()
    }

    /// One more value. Of an argument that is repeated, there may be several.
    ///
    /// It may hold variables of the host, `${env:NAME}` or `${workspaceFolder}`. For a secret it is to be one, so that the
    /// configuration does not have the secret in it.
    pub fn value(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.values
            .entry(name.into())
            .or_default()
            .push(value.into());
        self
    }
}

impl fmt::Debug for Inputs {
    /// Names, never values.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.values.keys()).finish()
    }
}

/// How a host reaches the server: what it has below `mcpServers`.
///
/// The program is started as it is, by no shell: nothing in an argument ends it. Secrets are not in it, but the variables
/// that the host finds them in.
#[derive(Clone, Debug, PartialEq)]
pub struct HostEntry {
    pub(super) name: String,
    pub(super) way: Way,
}

/// How it is reached.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Way {
    Program {
        command: &'static str,
        args: Vec<String>,
        env: BTreeMap<String, String>,
    },
    Url {
        kind: &'static str,
        url: String,
        headers: BTreeMap<String, String>,
    },
}

impl HostEntry {
    /// What the server is called: its name after the `/`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The program and its arguments. `None`: it is served at a URL.
    #[must_use]
    pub fn command(&self) -> Option<(&str, &[String])> {
        match &self.way {
            Way::Program { command, args, .. } => Some((command, args)),
            Way::Url { .. } => None,
        }
    }

    /// The entry: an object with `command` or `url`.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let object = |all: &BTreeMap<String, String>| -> Map<String, Value> {
            let all = all.iter();
            all.map(|(name, value)| (name.clone(), value.as_str().into()))
                .collect()
        };
        let (mut entry, more, all) = match &self.way {
            Way::Program { command, args, env } => (
                json!({"command": command, "args": args}),
                "env",
                object(env),
            ),
            Way::Url { kind, url, headers } => (
                json!({"type": kind, "url": url}),
                "headers",
                object(headers),
            ),
        };
        if !all.is_empty() {
            entry[more] = Value::Object(all);
        }
        entry
    }

    /// The whole configuration of a host that has this server.
    #[must_use]
    pub fn document(&self) -> Value {
        json!({"mcpServers": {&*self.name: self.to_value()}})
    }
}

impl ServerJson {
    /// The first way that a program can be started in, or the first remote. `None`: there is neither.
    #[must_use]
    pub fn first_choice(&self) -> Option<Choice> {
        let mut packages = self.packages.iter();
        let starts = |kind: &str| matches!(kind, "npm" | "pypi" | "oci" | "nuget");
        let package =
            packages.position(|it| starts(&it.registry_type) && it.transport.kind == "stdio");
        let remote = || (!self.remotes.is_empty()).then_some(Choice::Remote(0));
        package.map(Choice::Package).or_else(remote)
    }

    /// What a host has in its configuration for the server.
    ///
    /// | `registryType` | Is started by |
    /// | --- | --- |
    /// | `npm` | `npx -y NAME@VERSION` |
    /// | `pypi` | `uvx NAME@VERSION` |
    /// | `nuget` | `dnx NAME@VERSION --yes --` |
    /// | `oci` | `docker run -i --rm -e VARIABLE IMAGE`, or `podman` if `runtimeHint` says so |
    ///
    /// Arguments stand in the order of the file, those of the runtime before the package. A named argument of which the file
    /// says no more than its name is always there; any other one that nobody has to say, and nobody says, is left out. What
    /// is required and secret becomes `${env:NAME}`, with the name in capitals.
    ///
    /// What the user says does not become another option of the program: a value that begins with `-` is put behind `=` or
    /// refused. `${…}`, which a host would put its own variables in for, is refused in what the file says.
    ///
    /// # Errors
    ///
    /// All that is missing or not as it has to be, by its path: inputs that are required, that nobody asked for, or that are
    /// not among the choices; a package that no known program starts (`mcpb`, or served over HTTP).
    pub fn configuration(
        &self,
        choice: Choice,
        inputs: &Inputs,
    ) -> Result<HostEntry, Vec<Problem>> {
        let mut filler = Filler::new(inputs);
        let missing = |path: String| {
            let fault = format!("`{path}` is not there");
            vec![Problem::error(path, fault, "choose another")]
        };
        let way = match choice {
            Choice::Package(at) => {
                let path = format!("packages[{at}]");
                let Some(package) = self.packages.get(at) else {
                    return Err(missing(path));
                };
                launch::package(&mut filler, package, &path)
            }
            Choice::Remote(at) => {
                let path = format!("remotes[{at}]");
                let Some(remote) = self.remotes.get(at) else {
                    return Err(missing(path));
                };
                launch::remote(&mut filler, remote, &path)
            }
        };
        let problems = filler.finish();
        match way {
            Some(way) if problems.is_empty() => {
                let name = self.name.rsplit('/').next().unwrap_or_default();
                let name = if name.is_empty() { "server" } else { name };
                let name = name.to_owned();
                Ok(HostEntry { name, way })
            }
            _ => Err(problems),
        }
    }
}
