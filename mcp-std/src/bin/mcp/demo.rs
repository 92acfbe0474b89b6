//! `mcp demo`: starts a server, talks to it in both eras, and draws what goes over the wire.

mod check;
mod exchange;
mod page;
mod peer;
mod story;
mod tally;

use core::fmt;
use core::time::Duration;
use std::env;
use std::ffi::OsString;
use std::io;
use std::process::{Command, ExitCode};
use std::time::Instant;

use crate::diagram::Diagram;
use crate::screen::{colourful, width};
use crate::text::{cut, printable};
use exchange::Exchange;
use page::Page;
use peer::Peer;

/// How long the server may take for anything: an answer, a report of progress, its end.
const PATIENCE: Duration = Duration::from_secs(5);

#[derive(clap::Args)]
pub(crate) struct Demo {
    /// Prints the frames as JSON lines instead: {"t_us":…,"dir":"->","frame":{…}}
    #[arg(long)]
    json: bool,
    /// Shows this server instead of `mcp serve`; it has to offer the same tools
    #[arg(last = true, value_name = "COMMAND")]
    server: Vec<OsString>,
}

/// Why the story ends early.
enum Stop {
    /// The server did something else than what it has to do.
    Wrong(Wrong),
    /// Our own standard output cannot be written.
    Output(io::Error),
}

/// What was to happen, and what did.
struct Wrong {
    about: String,
    expected: String,
    seen: String,
    /// Where it was seen, if that is not all there is to it.
    frame: Option<String>,
}

impl Wrong {
    fn new(about: impl Into<String>, expected: impl Into<String>, seen: impl Into<String>) -> Self {
        Self {
            about: about.into(),
            expected: expected.into(),
            seen: seen.into(),
            frame: None,
        }
    }

    fn in_frame(self, frame: &[u8]) -> Self {
        Self {
            frame: Some(String::from_utf8_lossy(frame).into_owned()),
            ..self
        }
    }
}

impl From<Wrong> for Stop {
    fn from(wrong: Wrong) -> Self {
        Self::Wrong(wrong)
    }
}

/// Only writing the page gives a bare I/O error: what goes wrong with the server is put into words where it does.
impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What comes from a server may be of any length.
        let shown = |text: &str| printable(&cut(text, 2000));
        write!(f, "{}", shown(&self.about))?;
        write!(f, "\n  expected: {}", shown(&self.expected))?;
        write!(f, "\n  seen:     {}", shown(&self.seen))?;
        if let Some(frame) = &self.frame {
            write!(f, "\n  in:       {}", shown(frame))?;
        }
        Ok(())
    }
}

impl Demo {
    pub(crate) fn run(self) -> ExitCode {
        match self.tell() {
            Ok(()) => ExitCode::SUCCESS,
            // Whoever read has seen enough, as `head` has.
            Err(Stop::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
                ExitCode::SUCCESS
            }
            Err(Stop::Output(error)) => {
                eprintln!("mcp demo: standard output: {error}");
                ExitCode::FAILURE
            }
            Err(Stop::Wrong(wrong)) => {
                if colourful(&io::stderr()) {
                    eprintln!("\u{1b}[1;31mmcp demo failed: {wrong}\u{1b}[0m");
                } else {
                    eprintln!("mcp demo failed: {wrong}");
                }
                ExitCode::FAILURE
            }
        }
    }

    fn tell(self) -> Result<(), Stop> {
        let (mut command, name) = self.command()?;
        let stdout = io::stdout().lock();
        let page = if self.json {
            Page::lines(stdout)
        } else {
            Page::diagram(Diagram::new(width(&stdout), colourful(&stdout)), stdout)
        };
        let start = Instant::now();
        let peer = Peer::start(&mut command, !self.json).map_err(|error| {
            Wrong::new(format!("start of {name}"), "a process", error.to_string())
        })?;
        let mut exchange = Exchange::new(peer, page, start);
        exchange.title(&name)?;
        story::legacy(&mut exchange)?;
        story::modern(&mut exchange)?;
        story::both(&mut exchange)?;
        exchange.end()
    }

    /// The server to start, and what to call it.
    fn command(&self) -> Result<(Command, String), Stop> {
        if let Some((program, arguments)) = self.server.split_first() {
            let mut command = Command::new(program);
            command.args(arguments);
            return Ok((command, program.to_string_lossy().into_owned()));
        }
        let program = env::current_exe().map_err(|error| {
            Wrong::new(
                "start of mcp serve",
                "a path to this program",
                error.to_string(),
            )
        })?;
        let mut command = Command::new(program);
        command.arg("serve");
        Ok((command, "mcp serve".to_owned()))
    }
}
