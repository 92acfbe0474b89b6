//! The JSON that hosts and editors share.

use std::collections::BTreeMap;
use std::path::PathBuf;

use mcp_core::json::RawJson;

use super::HostConfig;
use super::comments::blanked;
use super::error::ConfigError;
use super::fields::{Field, TextFault};
use super::server::{RateLimit, ServerConfig, Transport};
use super::text::{Text, is_secret_name};
use super::variables::Variables;
use crate::host::glob::Glob;

/// Reads a document.
pub(super) fn parse(text: &str, variables: Variables) -> Result<HostConfig, ConfigError> {
    // Some editors begin files with it.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let bytes = blanked(text);
    let value = RawJson::parse(&bytes).map_err(|error| syntax(text, &error))?;
    let root = Field {
        value,
        path: String::new(),
    };
    let mut variables = variables;
    let mut config = HostConfig::new();
    let root = match member(&root, "mcp")? {
        // The settings of an editor, of which this is a part.
        Some(settings) if member(&root, "mcpServers")?.is_none() => settings,
        _ => root,
    };
    if let Some(inputs) = member(&root, "inputs")? {
        read_inputs(&inputs, &mut variables)?;
    }
    let servers = match member(&root, "mcpServers")? {
        Some(servers) => servers,
        None => member(&root, "servers")?.ok_or_else(|| {
            let fault = "`mcpServers` is missing: {\"mcpServers\": {\"name\": {\"command\": …}}}";
            root.fault(fault)
        })?,
    };
    for (name, field) in servers.members()? {
        if name.is_empty() {
            return Err(field.fault("a server has a name"));
        }
        let server = Reader {
            variables: &variables,
            unset: None,
            warnings: &mut config.warnings,
        }
        .server(name, &field)?;
        config.servers.push(server);
    }
    Ok(config)
}

fn member<'j>(object: &Field<'j>, name: &str) -> Result<Option<Field<'j>>, ConfigError> {
    let members = object.members()?;
    let found = members.into_iter().find(|(known, _)| known == name);
    Ok(found.map(|(_, field)| field))
}

/// Where it is no JSON, as editors count.
fn syntax(text: &str, error: &mcp_core::json::Error) -> ConfigError {
    let before = text.as_bytes().get(..error.offset).unwrap_or_default();
    let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
    let start = before.iter().rposition(|&byte| byte == b'\n');
    let column = before.len() - start.map_or(0, |start| start + 1) + 1;
    ConfigError::new("", format!("line {line}, column {column}: {}", error.kind))
}

/// What VS Code asks its user for. Here they are asked beforehand, or never.
fn read_inputs(inputs: &Field<'_>, variables: &mut Variables) -> Result<(), ConfigError> {
    for input in inputs.elements()? {
        let id = member(&input, "id")?;
        let id = id.ok_or_else(|| input.fault("`id` is missing"))?.string()?;
        if let Some(default) = member(&input, "default")? {
            variables.default_input(id, default.string()?);
        }
    }
    Ok(())
}

/// Reads one server.
struct Reader<'a> {
    variables: &'a Variables,
    /// The first variable that is not there.
    unset: Option<ConfigError>,
    warnings: &'a mut Vec<ConfigError>,
}

/// What of a server may be there in any order.
#[derive(Default)]
struct Parts<'j> {
    kind: Option<Field<'j>>,
    command: Option<Text>,
    url: Option<Text>,
    args: Vec<Text>,
    env: BTreeMap<String, Text>,
    cwd: Option<Text>,
    headers: Vec<(String, Text)>,
}

impl Reader<'_> {
    fn server(&mut self, name: String, field: &Field<'_>) -> Result<ServerConfig, ConfigError> {
        let mut parts = Parts::default();
        let mut server = ServerConfig::stdio(name, "");
        for (name, member) in field.members()? {
            if member.value.is_null() {
                continue;
            }
            if !self.way(&name, &member, &mut parts)? {
                self.rest(&name, &member, &mut server)?;
            }
        }
        server.transport = transport(field, parts)?;
        if server.enabled {
            server.fault = self.unset.take();
        }
        Ok(server)
    }

    /// A field that says how the server is reached. `false`: it is another.
    fn way<'j>(
        &mut self,
        name: &str,
        field: &Field<'j>,
        parts: &mut Parts<'j>,
    ) -> Result<bool, ConfigError> {
        match name {
            "type" | "transport" => parts.kind = Some(field.clone()),
            "command" => parts.command = Some(self.text(field)?),
            "url" | "serverUrl" | "httpUrl" => parts.url = Some(hide_query(self.text(field)?)),
            "cwd" => parts.cwd = Some(self.text(field)?),
            "args" => {
                let args = field.elements()?;
                let args = args.iter().map(|arg| self.text(arg));
                parts.args = hide_options(args.collect::<Result<_, _>>()?);
            }
            "env" => {
                for (name, value) in field.members()? {
                    // As VS Code has it: not to be set.
                    if !value.value.is_null() {
                        let value = value.scalar(self.variables);
                        let value = self.settle(value)?;
                        parts.env.insert(name, value.hidden());
                    }
                }
            }
            "headers" => {
                for (name, value) in field.members()? {
                    let value = self.text(&value)?.hidden();
                    parts.headers.push((name, value));
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Any other field.
    fn rest(
        &mut self,
        name: &str,
        field: &Field<'_>,
        server: &mut ServerConfig,
    ) -> Result<(), ConfigError> {
        let globs = |field: &Field<'_>| -> Result<Vec<Glob>, ConfigError> {
            Ok(field.strings()?.iter().map(|it| Glob::new(it)).collect())
        };
        match name {
            "disabled" => server.enabled = !field.boolean()?,
            "enabled" => server.enabled = field.boolean()?,
            "timeout" => server.timeout = Some(field.time()?),
            "startupTimeout" => server.connect_timeout = Some(field.time()?),
            "tool_timeout_sec" => server.timeout = Some(field.seconds()?),
            "startup_timeout_sec" => server.connect_timeout = Some(field.seconds()?),
            "includeTools" | "allowedTools" | "enabledTools" | "enabled_tools" => {
                let allow = server.filter.allow.get_or_insert_default();
                allow.extend(globs(field)?);
            }
            "excludeTools" | "disabledTools" | "disabled_tools" => {
                server.filter.deny.extend(globs(field)?);
            }
            "alwaysAllow" | "autoApprove" => server.approved.extend(globs(field)?),
            "trust" => {
                if field.boolean()? {
                    server.approved.push(Glob::new("*"));
                }
            }
            "group" => server.group = Some(field.string()?),
            "preset" => {
                for (tools, arguments) in field.members()? {
                    let arguments = arguments.object()?;
                    server.preset.push((Glob::new(&tools), arguments));
                }
            }
            "rateLimit" => {
                let needed = |name: &str| {
                    let missing = || field.fault(format!("`{name}` is missing"));
                    member(field, name)?.ok_or_else(missing)
                };
                let calls = needed("calls")?.count()?;
                server.rate = Some(RateLimit::new(calls, needed("seconds")?.seconds()?));
            }
            "maxConcurrent" => {
                server.max_concurrent = Some(field.count()?.try_into().unwrap_or(usize::MAX));
            }
            // Of use to other programs, and to nobody here.
            "name" | "description" | "dev" | "gallery" | "version" | "icon" => {}
            _ => self.warnings.push(unknown(name, field)),
        }
        Ok(())
    }

    fn text(&mut self, field: &Field<'_>) -> Result<Text, ConfigError> {
        let text = field.text(self.variables);
        self.settle(text)
    }

    fn settle(&mut self, text: Result<Text, TextFault>) -> Result<Text, ConfigError> {
        match text {
            Ok(text) => Ok(text),
            Err(TextFault::Wrong(error)) => Err(error),
            Err(TextFault::Unset(error)) => {
                self.unset.get_or_insert(error);
                Ok(Text::plain(""))
            }
        }
    }
}

fn transport(field: &Field<'_>, parts: Parts<'_>) -> Result<Transport, ConfigError> {
    let Parts {
        kind,
        command,
        url,
        args,
        env,
        cwd,
        headers,
    } = parts;
    let wants_url = match &kind {
        None => None,
        Some(kind) => match kind.string()?.to_ascii_lowercase().as_str() {
            "stdio" | "local" => Some(false),
            "http" | "sse" | "streamable-http" | "streamablehttp" | "streamable_http"
            | "remote" => Some(true),
            _ => {
                return Err(kind.fault("`stdio`, `http`, `streamable-http` or `sse` is expected"));
            }
        },
    };
    match (command, url, wants_url) {
        (Some(command), None, None | Some(false)) => Ok(Transport::Stdio {
            command,
            args,
            env,
            cwd: cwd.map(|cwd| PathBuf::from(cwd.reveal())),
        }),
        (None, Some(url), None | Some(true)) => Ok(Transport::Http { url, headers }),
        (Some(_), Some(_), _) => {
            Err(field.fault("`command` and `url` are both there: it is one or the other"))
        }
        (_, None, Some(true)) => Err(field.fault("`url` is missing")),
        (None, _, Some(false)) => Err(field.fault("`command` is missing")),
        (None, None, None) => Err(field.fault("`command` or `url` is missing")),
    }
}

/// What follows an option like `--token` is not to be seen, nor what it is set to.
fn hide_options(args: Vec<Text>) -> Vec<Text> {
    let mut secret_next = false;
    let hide = |arg: Text| {
        let is_option = arg.reveal().starts_with('-');
        let hidden = core::mem::take(&mut secret_next) && !is_option;
        let set = arg.reveal().split_once('=').map(|(name, _)| name);
        let inline = set.is_some_and(is_secret_name);
        secret_next = is_option && set.is_none() && is_secret_name(arg.reveal());
        if hidden || inline { arg.hidden() } else { arg }
    };
    args.into_iter().map(hide).collect()
}

/// Some URLs have their key in the query, or in front of the host.
fn hide_query(url: Text) -> Text {
    let has_key = url.reveal().contains(['?', '@']);
    if has_key && !url.is_secret() {
        return url.hidden();
    }
    url
}

/// A field that is ignored, with the name that was likely meant.
fn unknown(name: &str, field: &Field<'_>) -> ConfigError {
    const KNOWN: [&str; 17] = [
        "command",
        "args",
        "env",
        "cwd",
        "url",
        "headers",
        "type",
        "disabled",
        "enabled",
        "timeout",
        "startupTimeout",
        "includeTools",
        "excludeTools",
        "alwaysAllow",
        "rateLimit",
        "maxConcurrent",
        "preset",
    ];
    let meant = KNOWN.iter().find(|known| is_near(name, known));
    let fault = match meant {
        Some(known) => format!("nobody knows this field; is `{known}` meant?"),
        None => "nobody knows this field".to_owned(),
    };
    field.fault(fault)
}

/// Whether one is the other but for a letter, or two in the wrong order, or the case.
fn is_near(one: &str, other: &str) -> bool {
    let (one, other) = (one.to_ascii_lowercase(), other.to_ascii_lowercase());
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let front = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    let (one, other) = (&one[front..], &other[front..]);
    let pairs = one.iter().rev().zip(other.iter().rev());
    let back = pairs.take_while(|(a, b)| a == b).count();
    let (one, other) = (&one[..one.len() - back], &other[..other.len() - back]);
    match (one, other) {
        ([a, b], [c, d]) => a == d && b == c,
        _ => one.len() <= 1 && other.len() <= 1,
    }
}
