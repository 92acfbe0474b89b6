//! `mcp host`: the servers of a configuration, as one.

mod chat;
mod doctor;

use core::fmt::Write as _;
use core::future::Future;
use core::time::Duration;
use std::path::PathBuf;
use std::process::ExitCode;

use async_io::Timer;
use clap::{Subcommand, ValueEnum};
use futures_lite::StreamExt as _;
use futures_lite::future::{or, pending};
use mcp_std::host::{
    AuditLog, Backoff, ExecuteError, Finding, Host as Servers, HostConfig, Naming, ServerConfig,
    ServerState, ServerStatus, ToolCall, Transport, TrustStore, Variables,
};
use serde_json::{Value, json};

use crate::arguments::{Values, object, pair};
use crate::connect::{output, signals};
use crate::failure::{Failure, Signal};
use crate::text::{cut, printable};
use crate::{ask, login, screen, show};

#[derive(clap::Args)]
#[command(after_help = "Examples:
  mcp host --config .mcp.json doctor
  mcp host --config .mcp.json list
  mcp host --config .mcp.json call files__read path=notes.txt
  mcp host --config .mcp.json chat --provider anthropic --model claude-sonnet-4-5
  git diff | mcp host --config .mcp.json chat --model gpt-5 --system 'Review this.' --approve 'files__read*'

The file is the one that hosts and editors share: {\"mcpServers\": {\"files\": {\"command\": …}}}, or VS Code's.

Exit status: 0 done, 1 the tool failed or the model came to no answer, 2 wrong usage or configuration, 3 a server or the model failed, 130 interrupted.")]
pub(crate) struct Host {
    /// The servers: a file with `mcpServers`, or with `servers` as VS Code has it
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// What the file's `${input:ID}` stands for; may be given several times
    #[arg(long, value_name = "ID=VALUE", global = true)]
    input: Vec<String>,
    /// Prints JSON and nothing else on standard output
    #[arg(long, global = true)]
    json: bool,
    /// How tools are named
    #[arg(long, value_enum, default_value = "server", global = true)]
    naming: NamingChoice,
    /// Remembers in this file what tools are, and does not call one that has changed
    #[arg(long, value_name = "FILE", global = true)]
    trust: Option<PathBuf>,
    /// Takes tools that have changed as they are now, in the file of `--trust`
    #[arg(long, global = true)]
    accept: bool,
    /// Adds a line of JSON to this file for each call
    #[arg(long, value_name = "FILE", global = true)]
    audit: Option<PathBuf>,
    /// How long the servers may take to connect, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "30", global = true)]
    timeout: u16,
    #[command(subcommand)]
    command: Command,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum NamingChoice {
    /// `server__tool`
    Server,
    /// `mcp__server__tool`
    Mcp,
    /// `tool`, with a hash where several servers have it
    Tool,
}

impl NamingChoice {
    pub(crate) const fn scheme(self) -> Naming {
        match self {
            Self::Server => Naming::SERVER_TOOL,
            Self::Mcp => Naming::MCP,
            Self::Tool => Naming::TOOL,
        }
    }
}

#[derive(Subcommand)]
enum Command {
    /// Lists the tools of all servers, as a model sees them
    List {
        /// Those that fit these words best
        #[arg(long, value_name = "WORDS")]
        search: Option<String>,
    },
    /// Calls a tool
    Call {
        /// The tool, by the name that `list` shows
        name: String,
        /// Arguments by name. A value that is JSON is taken as that, any other is a string
        #[arg(value_name = "NAME=VALUE")]
        named: Vec<String>,
        /// Arguments as a JSON object. Those by name go before them
        #[arg(long, value_name = "JSON")]
        args: Option<String>,
    },
    /// Talks with a model that has the tools of all servers
    ///
    /// At a terminal you are asked before a tool is called; elsewhere only those of `--approve` are, and those that the
    /// configuration always allows.
    Chat(chat::Chat),
    /// Connects to each server and says how it is, what is wrong, and what can be done about it
    Doctor,
}

impl Host {
    pub(crate) fn run(&self) -> ExitCode {
        match async_io::block_on(self.work()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(failure) => failure.report("host"),
        }
    }

    async fn work(&self) -> Result<(), Failure> {
        let config = HostConfig::load(&self.config, variables(&self.input)?);
        let config = config.map_err(|error| Failure::Usage(error.to_string()))?;
        let usage = |error: &dyn core::fmt::Display| Failure::Usage(error.to_string());
        let trust = match &self.trust {
            Some(path) => TrustStore::load(path).map_err(|error| usage(&error))?,
            None => TrustStore::new(),
        };
        let arguments = match &self.command {
            Command::Call { args, named, .. } => {
                object(args.as_deref(), named, Values::Json)?.map(|json| json.as_str().to_owned())
            }
            Command::List { .. } | Command::Doctor | Command::Chat(_) => None,
        };
        let mut signals = signals().map_err(|error| Failure::Server(error.to_string()))?;
        let host = self.start(&config, &trust)?;
        let stopped = async {
            if matches!(self.command, Command::Chat(_)) {
                // Ctrl-C ends a turn there, and not all of it.
                return pending().await;
            }
            Err(Failure::Interrupted(signal(&mut signals).await))
        };
        let work = async {
            match &self.command {
                Command::List { search } => self.list(&host, search.as_deref()).await,
                Command::Call { name, .. } => self.call(&host, name, arguments.as_deref()).await,
                Command::Chat(chat) => chat.run(self, &host).await,
                Command::Doctor => doctor::run(&host, &config, self.patience(), self.json).await,
            }
        };
        let done = or(stopped, work).await;
        host.close().await;
        if let Some(path) = &self.trust {
            let saved = trust.save(path);
            saved.map_err(|error| Failure::Server(format!("{}: {error}", path.display())))?;
        }
        done
    }

    fn start(&self, config: &HostConfig, trust: &TrustStore) -> Result<Servers, Failure> {
        let authorized: Vec<_> = config.servers().iter().filter(|it| says_who(it)).collect();
        let authorized: Vec<_> = authorized.iter().map(|it| it.name().to_owned()).collect();
        // A chat goes on for long: then a server that ends is to come back.
        let stays = matches!(&self.command, Command::Chat(chat) if chat.is_interactive());
        let backoff = if stays {
            Backoff::DEFAULT
        } else {
            Backoff::NEVER
        };
        let mut builder = Servers::builder(config.clone())
            .client("mcp", env!("CARGO_PKG_VERSION"))
            .backoff(backoff)
            .naming(self.naming.scheme())
            .trust(trust)
            .configure(move |server, builder| {
                let (form, url) = ask::handlers(&[server.into()]);
                let builder = builder.elicitation(form).url_elicitation(url);
                if authorized.iter().any(|name| name == server) {
                    return builder;
                }
                builder.auth(login::auth())
            });
        if let Some(path) = &self.audit {
            let log = AuditLog::append(path);
            let fault = |error| Failure::Usage(format!("{}: {error}", path.display()));
            builder = builder.audit(log.map_err(fault)?);
        }
        if let Command::Chat(chat) = &self.command {
            builder = chat.approving(builder);
        }
        Ok(builder.start())
    }

    fn patience(&self) -> Duration {
        Duration::from_secs(self.timeout.into())
    }

    /// Waits for the servers, and says which of them are not there.
    async fn ready(&self, host: &Servers) {
        within(self.patience(), host.settled()).await;
        for status in host.status() {
            if let Some(line) = missing(&status) {
                screen::print(&format!("mcp host: {line}\n"));
            }
        }
        for finding in host.findings() {
            screen::print(&format!("mcp host: {}\n", printable(&finding.to_string())));
            if self.accept && finding.rule == mcp_std::host::Rule::ChangedDefinition {
                host.accept(&finding);
            }
        }
    }

    async fn list(&self, host: &Servers, search: Option<&str>) -> Result<(), Failure> {
        self.ready(host).await;
        let snapshot = host.session().snapshot();
        let tools = match search {
            Some(words) => snapshot.search(words, 20),
            None => snapshot.tools().to_vec(),
        };
        if self.json {
            let tools = tools.iter().map(|tool| {
                json!({
                    "name": tool.name,
                    "description": tool.description,
                    "inputSchema": tool.input_schema,
                    "server": &*tool.server,
                    "tool": tool.tool,
                })
            });
            let json =
                json!({"tools": tools.collect::<Vec<_>>(), "findings": findings(&host.findings())});
            return output(format!("{json}\n").as_bytes());
        }
        let mut text = String::new();
        for tool in tools {
            let description = tool.description.as_deref().unwrap_or_default();
            let first = description.lines().next().unwrap_or_default();
            let _ = writeln!(
                text,
                "{}  {}",
                show::word(&tool.name),
                cut(&show::word(first), 100)
            );
        }
        output(text.as_bytes())
    }

    async fn call(
        &self,
        host: &Servers,
        name: &str,
        arguments: Option<&str>,
    ) -> Result<(), Failure> {
        self.ready(host).await;
        let session = host.session();
        let arguments = arguments.map(serde_json::from_str::<Value>);
        let arguments = arguments
            .transpose()
            .map_err(|it| Failure::Usage(it.to_string()))?;
        let call = ToolCall::new("1", name, arguments.unwrap_or(Value::Null));
        let reply = session.call(&session.snapshot(), call).await;
        for finding in &reply.findings {
            screen::print(&format!("mcp host: {}\n", printable(&finding.to_string())));
        }
        let result = match reply.outcome {
            Ok(result) => result,
            Err(ExecuteError::Call(error)) => return Err(Failure::from(*error)),
            Err(error @ (ExecuteError::UnknownTool { .. } | ExecuteError::Arguments(_))) => {
                return Err(Failure::Usage(error.to_string()));
            }
            Err(error) => return Err(Failure::Server(error.to_string())),
        };
        if self.json {
            use mcp_std::model::{Encode as _, ProtocolVersion};
            let latest = ProtocolVersion::LATEST_MODERN;
            let json = mcp_core::json::Json::written(|json| result.encode(latest, json));
            output(format!("{}\n", json.as_str()).as_bytes())?;
        } else {
            let mut text = String::new();
            show::blocks(&result.content, &mut text);
            output(text.as_bytes())?;
        }
        if result.is_error {
            return Err(Failure::Tool);
        }
        Ok(())
    }
}

/// The next signal to end.
async fn signal(signals: &mut async_signal::Signals) -> Signal {
    match signals.next().await {
        Some(Ok(async_signal::Signal::Int)) => Signal::Interrupt,
        _ => Signal::Terminate,
    }
}

/// What variables in the file stand for.
pub(crate) fn variables(inputs: &[String]) -> Result<Variables, Failure> {
    let here = std::env::current_dir().unwrap_or_default();
    let mut variables = Variables::process().workspace(here);
    for input in inputs {
        let (id, value) = pair(input)?;
        variables = variables.input(id, value);
    }
    Ok(variables)
}

/// Whoever says who asks has no use for a login.
pub(crate) fn says_who(server: &ServerConfig) -> bool {
    let Transport::Http { headers, .. } = server.transport() else {
        return false;
    };
    headers
        .iter()
        .any(|(name, _)| name.eq_ignore_ascii_case("authorization"))
}

/// Why the tools of a server are not there, if they are not.
pub(crate) fn missing(status: &ServerStatus) -> Option<String> {
    let why = match status.state {
        ServerState::Ready | ServerState::Disabled => return None,
        ServerState::Connecting => "it is not connected yet; `--timeout SECONDS` waits longer",
        ServerState::Waiting | ServerState::Failed | ServerState::Closed | _ => status
            .fault
            .as_ref()
            .map_or("it is not connected", |fault| &fault.what),
    };
    Some(printable(&cut(&format!("{}: {why}", status.name), 2000)))
}

fn findings(findings: &[Finding]) -> Vec<String> {
    findings.iter().map(ToString::to_string).collect()
}

/// Waits for `work`, and not longer than so.
pub(crate) async fn within(time: Duration, work: impl Future<Output = ()>) {
    let late = async {
        Timer::after(time).await;
    };
    or(work, late).await;
}
