//! `mcp serve`: a server with a few small, honest tools, or with something of everything a server can offer.

mod auth;
mod changes;
mod content;
mod library;
mod questions;
mod rounds;
mod skills;
mod tasks;

use core::fmt::Display;
use core::num::NonZeroUsize;
use core::sync::atomic::{AtomicUsize, Ordering};
use core::time::Duration;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use async_io::Timer;
use async_signal::{Signal, Signals};
use futures_lite::StreamExt as _;
use mcp_std::http::{HttpRules, Listener, Options};
use mcp_std::skills::Skills;
use mcp_std::{Context, End, PeerFault, Progress, Server, ServerBuilder, Structured, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(clap::Args)]
pub(crate) struct Serve {
    /// Offers something of everything, for the tests of a client: every kind of content, resources, prompts, completion,
    /// log messages, questions to the user and the model, changes
    #[arg(long)]
    everything: bool,
    /// Serves over HTTP at this address, such as 127.0.0.1:8000, instead of standard input and output; to clients on this
    /// machine, at any path
    #[arg(long, value_name = "ADDRESS")]
    http: Option<String>,
    /// How many threads serve HTTP
    #[arg(long, value_name = "N", default_value = "1", requires = "http")]
    threads: NonZeroUsize,
    /// Serves the skills in this directory as well: those of its folders that have a SKILL.md
    #[arg(long, value_name = "DIR", conflicts_with = "everything")]
    skills: Option<PathBuf>,
    /// Cuts every list into pages of N
    #[arg(long, value_name = "N")]
    page_size: Option<NonZeroUsize>,
    #[command(flatten)]
    auth: auth::Auth,
}

#[derive(Deserialize, JsonSchema)]
struct Echo {
    /// What to say again.
    text: String,
}

#[derive(Deserialize, JsonSchema)]
struct Add {
    /// The first summand.
    a: i64,
    /// The second summand.
    b: i64,
}

#[derive(Serialize, JsonSchema)]
struct Sum {
    /// a + b
    sum: i64,
}

#[derive(Deserialize, JsonSchema)]
struct Slow {
    /// How many steps to take.
    #[serde(default = "five")]
    #[schemars(range(max = 1000))]
    steps: u32,
    /// How long each step takes, in milliseconds.
    #[serde(default = "hundred")]
    #[schemars(range(max = 60_000))]
    delay_ms: u32,
}

fn five() -> u32 {
    5
}

fn hundred() -> u32 {
    100
}

#[derive(Deserialize, JsonSchema)]
struct Fail {
    /// What to say about the failure.
    message: Option<String>,
}

impl Serve {
    /// Serves until standard input ends.
    pub(crate) fn run(&self) -> ExitCode {
        let server = match self.server() {
            Ok(server) => server,
            Err(error) => {
                say(&error);
                return ExitCode::FAILURE;
            }
        };
        if let Some(address) = &self.http {
            return self.run_http(&server, address);
        }
        if std::io::stdin().is_terminal() {
            // Whoever types here would otherwise wait for a prompt.
            say(
                &"one JSON message a line on standard input, answers on standard output; end with Ctrl-D; `mcp demo` shows \
                 a session",
            );
        }
        match server.run_stdio() {
            Ok(end) => {
                if end == End::GraceExpired {
                    say(
                        &"input ended, and an answer was still due or unread after the grace period",
                    );
                }
                ExitCode::SUCCESS
            }
            Err(error) => {
                say(&error);
                ExitCode::FAILURE
            }
        }
    }

    /// Serves over HTTP until it is interrupted.
    fn run_http(&self, server: &Server, address: &str) -> ExitCode {
        let auth = match self.auth.resource_server(server) {
            Ok(auth) => auth,
            Err(error) => {
                say(&error);
                // As for all that is wrong about a command line.
                return ExitCode::from(2);
            }
        };
        let listener = match Listener::bind(address) {
            Ok(listener) => listener,
            Err(error) => {
                say(&error);
                return ExitCode::FAILURE;
            }
        };
        if let Some(address) = listener.local_addr() {
            say(&format_args!("http://{address}/mcp"));
        }
        let mut options = Options::default();
        options.threads = self.threads.get();
        let mut http = server.http().options(options);
        if let Some(auth) = auth {
            say(&format_args!(
                "clients need an access token for {}",
                auth.resource()
            ));
            let rules = HttpRules::new().host(auth.authority());
            http = http.rules(rules).auth(auth);
        }
        let served = http.serve_on(listener, interrupted());
        match async_io::block_on(served) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                say(&error);
                ExitCode::FAILURE
            }
        }
    }

    fn server(&self) -> Result<Server, Box<dyn core::error::Error>> {
        let mut builder = Server::builder("mcp-serve", env!("CARGO_PKG_VERSION"))
            .title("mcp serve")
            .on_fault(report);
        if let Some(elements) = self.page_size {
            builder = builder.page_size(elements);
        }
        if !self.everything {
            let small =
                "Small tools to try a client with: echo, add, slow (reports progress), fail.";
            builder = tools(builder.instructions(small));
            if let Some(folder) = &self.skills {
                let skills = Skills::from_directory(folder);
                let skills = skills.map_err(|error| format!("{}: {error}", folder.display()))?;
                builder = builder.with_skills(skills);
            }
            return Ok(builder.build()?);
        }
        let itself = changes::Itself::default();
        builder = builder
            .instructions("Something of everything, to test a client with.")
            .logging();
        builder = content::add(tools(content::first(builder)));
        builder = skills::add(builder);
        builder = tasks::add(rounds::add(questions::add(library::add(builder))));
        let server = changes::add(builder, &itself).build()?;
        // It knows itself only to change itself: that the two keep each other is no leak, for it lives as long as this.
        itself.get_or_init(|| server.clone());
        Ok(server)
    }
}

fn tools(builder: ServerBuilder) -> ServerBuilder {
    builder
        .with_tool(
            Tool::new("echo", "Says the text again", |args: Echo| async move {
                args.text
            })
            .read_only(true)
            .open_world(false),
        )
        .with_tool(
            Tool::new("add", "Adds two integers", |args: Add| async move {
                let sum = args
                    .a
                    .checked_add(args.b)
                    .ok_or("the sum does not fit into 64 bits")?;
                Ok::<_, &str>(Structured(Sum { sum }))
            })
            .read_only(true)
            .open_world(false),
        )
        .with_tool(
            Tool::new("slow", "Takes its time and reports progress", slow)
                .read_only(true)
                .open_world(false),
        )
        .with_tool(
            Tool::new("fail", "Fails, always", |args: Fail| async move {
                Err::<(), _>(
                    args.message
                        .unwrap_or_else(|| "this tool always fails".to_owned()),
                )
            })
            .read_only(true)
            .open_world(false),
        )
}

async fn slow(context: Context, args: Slow) -> Result<String, String> {
    if args.steps > 1000 || args.delay_ms > 60_000 {
        return Err("at most 1000 steps of at most 60000 ms".to_owned());
    }
    for step in 1..=args.steps {
        context
            .progress(Progress::new(step.into()).of(args.steps.into()))
            .await;
        // After the report, so that the last one and the result do not arrive together: clients exist that then drop it.
        Timer::after(Duration::from_millis(args.delay_ms.into())).await;
    }
    Ok(format!("done after {} steps", args.steps))
}

/// Resolves when the program is asked to end.
async fn interrupted() {
    match Signals::new([Signal::Int, Signal::Term]) {
        Ok(mut signals) => {
            signals.next().await;
        }
        // Then it is ended in the hard way.
        Err(_) => core::future::pending().await,
    }
}

/// One line on standard error. Whoever started this may have closed it, which ends nothing; `eprintln` would panic.
fn say(line: &dyn Display) {
    let _ = writeln!(std::io::stderr(), "mcp serve: {line}");
}

/// Says on standard error what a peer does wrong; not more than a few times, for a peer can go on for ever.
fn report(fault: &PeerFault) {
    const SHOWN: usize = 20;
    static SEEN: AtomicUsize = AtomicUsize::new(0);
    match SEEN.fetch_add(1, Ordering::Relaxed) {
        SHOWN => say(&"further faults are not shown"),
        seen if seen < SHOWN => say(fault),
        _ => {}
    }
}
