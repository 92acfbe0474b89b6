//! The server that a command is for: how it is started, and what is spoken with it.

use core::future::Future;
use core::time::Duration;
use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use async_io::Timer;
use async_signal::Signals;
use clap::ValueEnum;
use futures_lite::StreamExt;
use futures_lite::future::{or, pending};
use mcp_std::client::{
    CallOptions, Client, ClientBuilder, Command, Direction, Inherit, Stderr, all_closed,
};
use mcp_std::model::Era;
use mcp_std::{LoggingLevel, ProtocolVersion};

use crate::failure::{Failure, Signal};
use crate::progress::Bar;
use crate::text::{printable, without_user};
use crate::trace::Trace;
use crate::{ask, login, screen};

/// What all commands for a server have in common.
#[derive(clap::Args)]
pub(crate) struct Target {
    /// Prints JSON and nothing else on standard output
    #[arg(long)]
    pub(crate) json: bool,
    /// Speaks this revision: 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25 or 2026-07-28
    ///
    /// Without it the newest one that both know is spoken.
    #[arg(long, value_name = "DATE", value_parser = revision)]
    revision: Option<ProtocolVersion>,
    /// Speaks to servers up to 2025-11-25 only (legacy), to those from 2026-07-28 on only (modern), or finds out (auto)
    #[arg(
        long,
        value_enum,
        value_name = "ERA",
        default_value = "auto",
        conflicts_with = "revision",
        hide_possible_values = true
    )]
    era: EraChoice,
    /// Draws the messages on standard error as they go by
    #[arg(long)]
    trace: bool,
    /// Says on standard error what happens; twice: in detail, with what the server writes to its own
    #[arg(short, long, action = clap::ArgAction::Count)]
    verbose: u8,
    /// Shows the server's log messages from this level on: debug, info, notice, warning, error, critical, alert, emergency
    #[arg(long, value_name = "LEVEL", value_parser = level)]
    log: Option<LoggingLevel>,
    /// How long the server may be silent, in seconds [default: 60; at a terminal, where it may ask you, 3600 for an answer]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    timeout: Option<Duration>,
    /// How long all of it may take, in seconds, whatever the server does meanwhile [default: an hour for a call]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    max_time: Option<Duration>,
    /// The server: where it is served over HTTP
    ///
    /// The proxy is the one that HTTPS_PROXY or HTTP_PROXY names, or ALL_PROXY; for hosts that NO_PROXY lists there is none.
    #[arg(long, value_name = "URL", conflicts_with = "command")]
    url: Option<String>,
    /// Sends this header along over HTTP, such as "Authorization: Bearer …"; may be given several times
    #[arg(long, value_name = "NAME: VALUE", value_parser = header, requires = "url")]
    header: Vec<(String, String)>,
    /// Trusts the certificate authorities in this file, in PEM, besides those that browsers trust; may be given several times
    #[arg(long, value_name = "FILE", requires = "url")]
    ca: Vec<PathBuf>,
    /// The server: a program and its arguments. It gets the environment that this program has
    #[arg(last = true, required_unless_present = "url", value_name = "COMMAND")]
    command: Vec<OsString>,
}

#[derive(Clone, Copy, ValueEnum)]
enum EraChoice {
    Auto,
    Legacy,
    Modern,
}

fn revision(name: &str) -> Result<ProtocolVersion, String> {
    ProtocolVersion::parse(name).ok_or_else(|| {
        let known = ProtocolVersion::ALL.iter().map(|known| known.as_str());
        let known: Vec<_> = known.collect();
        format!("there are {}", known.join(", "))
    })
}

fn header(line: &str) -> Result<(String, String), String> {
    let (name, value) = line.split_once(':').ok_or("there is no `:` in it")?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

/// Whole seconds or not, more than none.
fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|&seconds: &f64| seconds > 0.0);
    seconds
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .filter(|time| !time.is_zero())
        .ok_or_else(|| "a number of seconds, such as 90 or 0.5".to_owned())
}

fn level(name: &str) -> Result<LoggingLevel, String> {
    LoggingLevel::parse(name).ok_or_else(|| {
        let known = LoggingLevel::ALL.map(LoggingLevel::as_str);
        format!("there are {}", known.join(", "))
    })
}

/// A server that is connected, for one command.
pub(crate) struct Connected<'t> {
    pub(crate) client: Client,
    target: &'t Target,
}

impl Target {
    /// Connects, does what `work` says, and ends the server, whatever happens. `command` is the command's name.
    pub(crate) fn run<'t, F>(
        &'t self,
        command: &str,
        work: impl FnOnce(Connected<'t>) -> F,
    ) -> ExitCode
    where
        F: Future<Output = Result<(), Failure>>,
    {
        self.show_traces();
        match async_io::block_on(self.work(work)) {
            Ok(()) => {
                screen::clear_bar();
                ExitCode::SUCCESS
            }
            Err(failure) => {
                let failure = match failure.json().filter(|_| self.json) {
                    // Whoever reads it has enough: then there is nobody to tell.
                    Some(json) => output(json.as_bytes()).err().unwrap_or(failure),
                    None => failure,
                };
                failure.report(command)
            }
        }
    }

    async fn work<'t, F>(&'t self, work: impl FnOnce(Connected<'t>) -> F) -> Result<(), Failure>
    where
        F: Future<Output = Result<(), Failure>>,
    {
        let mut signals = signals().map_err(|error| Failure::Server(error.to_string()))?;
        let interrupted = async {
            match signals.next().await {
                Some(Ok(async_signal::Signal::Int)) => Signal::Interrupt,
                _ => Signal::Terminate,
            }
        };
        let words = Arc::new(LastWords::default());
        let mut connected = None;
        let ended = or(
            async { Failure::Interrupted(interrupted.await) },
            self.late(),
        );
        let done = or(async { Err(ended.await) }, async {
            let client = self.connect(words.clone()).await?;
            connected = Some(client.clone());
            self.prepare(&client).await?;
            let target = self;
            work(Connected { client, target }).await
        })
        .await;
        // A call that was interrupted is dropped by now, and so cancelled: the server hears of it before it ends.
        match connected {
            Some(client) => drop(client.close().await),
            // It was given up while it was connecting: its process is not to outlive this one.
            None => all_closed().await,
        }
        done.map_err(|failure| failure.with_last_words(&words.take()))
    }

    async fn connect(&self, words: Arc<LastWords>) -> Result<Client, Failure> {
        let name = self.server();
        let trace = self.trace.then(|| Arc::new(Trace::start(&name)));
        let stderr = self.stderr(trace.clone(), words);
        let chatter = Arc::new(OnceLock::new());
        let first = chatter.clone();
        let told = OnceLock::new();
        let echoes = Arc::new(AtomicBool::new(false));
        let is_echo = echoes.clone();
        let mut builder = Client::builder("mcp", env!("CARGO_PKG_VERSION"))
            .title("mcp command line")
            .on_frame(move |direction, bytes| {
                if let Some(trace) = &trace {
                    trace.frame(direction, bytes);
                }
                if direction == Direction::Sent {
                    told.get_or_init(|| bytes.to_vec());
                } else if told.get().is_some_and(|told| told == bytes) {
                    is_echo.store(true, Ordering::Relaxed);
                }
                if direction == Direction::Received && !matches!(bytes.first(), Some(b'{' | b'[')) {
                    first.get_or_init(|| String::from_utf8_lossy(bytes).into_owned());
                }
            });
        let (form, url) = ask::handlers(&self.words());
        builder = builder
            .elicitation(form)
            .url_elicitation(url)
            .tasks()
            .request_timeout(self.patience());
        if let Some(time) = self.timeout {
            builder = builder.connect_timeout(time);
        }
        if let Some(level) = self.log {
            builder = builder.log_level(level).on_log(|message| {
                let logger = message.logger.as_deref().map(|name| format!(" {name}"));
                let logger = logger.unwrap_or_default();
                let data = message.data.raw();
                let data = data
                    .as_string()
                    .map_or(data.as_str().into(), |text| text.decode());
                let line = format!("[{}{logger}] {data}", message.level.as_str());
                screen::print(&format!("{}\n", printable(&line)));
            });
        }
        builder = match (self.revision, self.era) {
            (Some(version), _) => builder.revision(version),
            (None, EraChoice::Auto) => builder,
            (None, EraChoice::Legacy) => builder.revision(ProtocolVersion::LATEST_LEGACY),
            (None, EraChoice::Modern) => builder.revision(ProtocolVersion::LATEST_MODERN),
        };
        let connected = match &self.url {
            Some(url) => {
                for (name, value) in &self.header {
                    builder = builder.header(name, value);
                }
                builder = trusting(builder, &self.ca)?;
                // Whoever says who asks has no use for a login.
                let says =
                    |(name, _): &(String, String)| name.eq_ignore_ascii_case("authorization");
                if !self.header.iter().any(says) {
                    builder = builder.auth(login::auth());
                }
                builder.connect_http(url).await
            }
            None => {
                let (program, arguments) = self.command.split_first().expect("clap requires it");
                // Whoever writes a command line has the say over what the program gets, as with `env` or `time`.
                let command = Command::new(program)
                    .args(arguments)
                    .inherit_env(Inherit::All)
                    .stderr(stderr)
                    // Shown as it comes, or kept as `words`: messages are not to say it once more.
                    .stderr_tail(0);
                builder.connect_stdio(command).await
            }
        };
        connected.map_err(|error| {
            if echoes.load(Ordering::Relaxed) {
                return Failure::echo(&name);
            }
            let chosen = self.revision.is_some() || !matches!(self.era, EraChoice::Auto);
            let chatter = chatter.get().map(String::as_str);
            Failure::connect(&error, &name, chosen, chatter)
        })
    }

    /// How the server is called here.
    fn server(&self) -> String {
        let program = || {
            self.command
                .first()
                .map(|it| it.to_string_lossy().into_owned())
        };
        let url = self.url.as_deref().map(without_user);
        url.or_else(program).unwrap_or_default()
    }

    /// What stands for it on the command line.
    fn words(&self) -> Vec<OsString> {
        match &self.url {
            Some(url) => vec![without_user(url).into()],
            None => self.command.clone(),
        }
    }

    /// What is to be settled before the command does anything.
    async fn prepare(&self, client: &Client) -> Result<(), Failure> {
        let spoken = client.version();
        if let Some(wanted) = self.revision.filter(|&wanted| wanted != spoken) {
            return Err(Failure::Server(format!(
                "the server speaks revision {}, and not {}. Leave out `--revision`, or name that one",
                spoken.as_str(),
                wanted.as_str()
            )));
        }
        let server = client.server();
        let capabilities = server.as_ref().and_then(|it| it.capabilities.as_ref());
        let logs = capabilities.is_some_and(|it| it.logging);
        if let Some(level) = self.log
            && spoken.era() == Era::Legacy
            && logs
        {
            client.set_level(level).await?;
        }
        Ok(())
    }

    /// Where the standard error of the server goes.
    fn stderr(&self, trace: Option<Arc<Trace>>, words: Arc<LastWords>) -> Stderr {
        if let Some(trace) = trace {
            return Stderr::Lines(Arc::new(move |line| trace.stderr(line)));
        }
        if self.verbose >= 2 {
            return Stderr::Lines(Arc::new(|line| {
                screen::print(&format!("server: {}\n", printable(line)));
            }));
        }
        Stderr::Lines(Arc::new(move |line| words.add(line)))
    }

    /// When it has taken too long.
    async fn late(&self) -> Failure {
        let Some(time) = self.max_time else {
            return pending().await;
        };
        Timer::after(time).await;
        let seconds = time.as_secs_f64();
        Failure::Server(format!(
            "it was not done within {seconds} s; `--max-time SECONDS` allows more"
        ))
    }

    /// How long a call may be silent.
    fn patience(&self) -> Duration {
        const CALL: Duration = Duration::from_secs(60);
        /// A person has to read and think, and can press Ctrl-C.
        const PERSON: Duration = Duration::from_secs(60 * 60);
        let default = if ask::is_possible() { PERSON } else { CALL };
        self.timeout.unwrap_or(default)
    }

    fn show_traces(&self) {
        use tracing_subscriber::filter::{LevelFilter, Targets};
        use tracing_subscriber::layer::SubscriberExt as _;
        use tracing_subscriber::util::SubscriberInitExt as _;
        let level = match self.verbose {
            0 => return,
            1 => LevelFilter::INFO,
            2 => LevelFilter::DEBUG,
            _ => LevelFilter::TRACE,
        };
        // What the server writes to its standard error is shown already: see `stderr`.
        let levels = Targets::new()
            .with_default(level)
            .with_target("mcp_io::child::stderr", LevelFilter::OFF);
        let lines = tracing_subscriber::fmt()
            .with_max_level(level)
            .with_writer(|| screen::Err)
            .without_time()
            .finish();
        lines.with(levels).init();
    }
}

impl Connected<'_> {
    /// Of a call, with its progress shown.
    pub(crate) fn options(&self) -> CallOptions {
        let mut options = CallOptions::new();
        if let Some(time) = self.target.max_time {
            // The call's own limit is not to be the first.
            options = options.max_total(time.saturating_add(Duration::from_secs(1)));
        }
        // With `--trace` it is of interest in any case.
        if self.target.json && !self.target.trace {
            return options;
        }
        let bar = Bar::new();
        // With `--trace` it is seen as it comes.
        let shown = !self.target.trace;
        options.on_progress(move |progress| {
            if shown {
                bar.show(progress);
            }
        })
    }

    /// Whether the messages are drawn as they go by.
    pub(crate) const fn is_traced(&self) -> bool {
        self.target.trace
    }

    /// The server's name, as it says itself, or as it was started.
    pub(crate) fn server_name(&self) -> String {
        let server = self.client.server();
        let named = server.and_then(|server| {
            let named = server.implementation.as_ref()?;
            Some(format!("{} {}", named.name, named.version))
        });
        named.unwrap_or_else(|| self.target.server())
    }
}

/// The last lines of the server's standard error, unless they were shown already.
#[derive(Default)]
struct LastWords(Mutex<VecDeque<String>>);

impl LastWords {
    const LINES: usize = 10;

    fn add(&self, line: &str) {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == Self::LINES {
            lines.pop_front();
        }
        lines.push_back(line.to_owned());
    }

    fn take(&self) -> Vec<String> {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lines.drain(..).collect()
    }
}

pub(crate) fn signals() -> io::Result<Signals> {
    #[cfg(unix)]
    {
        use async_signal::Signal::{Hup, Int, Term};
        Signals::new([Int, Term, Hup])
    }
    #[cfg(not(unix))]
    Signals::new([async_signal::Signal::Int])
}

/// Writes to standard output, all at once.
pub(crate) fn output(text: &[u8]) -> Result<(), Failure> {
    screen::clear_bar();
    let mut out = io::stdout().lock();
    let done = out.write_all(text).and_then(|()| out.flush());
    done.map_err(|error| {
        if error.kind() == io::ErrorKind::BrokenPipe {
            Failure::Unread
        } else {
            Failure::Server(format!("standard output: {error}"))
        }
    })
}

/// Also trusts the authorities in these files.
pub(crate) fn trusting(
    mut builder: ClientBuilder,
    files: &[PathBuf],
) -> Result<ClientBuilder, Failure> {
    for file in files {
        builder = builder.authorities(authority(file)?);
    }
    Ok(builder)
}

/// What is in a file that was given as `--ca`.
pub(crate) fn authority(file: &Path) -> Result<Vec<u8>, Failure> {
    fs::read(file).map_err(|error| Failure::Usage(format!("--ca {}: {error}", file.display())))
}

/// Whether a person reads standard output.
pub(crate) fn is_read_by_a_person() -> bool {
    io::stdout().is_terminal()
}
