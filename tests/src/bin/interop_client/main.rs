//! Our client against servers of other makes: every feature that the server's revision has, one line for each check.
//!
//! usage: interop_client REVISION contract|everything|skills COMMAND [ARGUMENT...]
//!        interop_client REVISION contract|everything|skills URL
//!
//! REVISION is one of the protocol's, to be spoken and no other, or `auto`: the client finds out, and it has to come to
//! 2026-07-28 with servers of the contract, 2025-11-25 with `everything`. The server offers what
//! `tests/interop/contract.md` says, is `@modelcontextprotocol/server-everything`, or `ts/skills_server.mjs`. Each check is `ok NAME` or `not ok
//! NAME` with what was expected and seen; the exit code is not 0 if one failed.

mod attend;
mod changes;
mod contract;
mod everything;
mod questions;
mod skills;

use core::fmt::Debug;
use core::time::Duration;
use std::io::Write as _;
use std::process::ExitCode;

use async_io::Timer;
use futures_lite::FutureExt as _;
use mcp_core::ErrorCode;
use mcp_core::model::ProtocolVersion;
use mcp_std::client::{CallError, Client, ClientBuilder, Command, Stderr};

use attend::Attended;

/// Why a check fails, in words.
type Failure = Box<dyn core::error::Error + Send + Sync>;
type Checked = Result<(), Failure>;

/// For each check: none of them takes a second.
const PATIENCE: Duration = Duration::from_secs(15);
/// Within this, a notification has come.
const SOON: Duration = Duration::from_secs(5);
/// For so long none comes where none may.
const QUIET: Duration = Duration::from_millis(60);

/// Counts what did not hold.
#[derive(Default)]
struct Report {
    failed: u32,
}

impl Report {
    /// Runs one check.
    async fn check(&mut self, name: &str, body: impl Future<Output = Checked>) {
        let late = async {
            Timer::after(PATIENCE).await;
            Err(Failure::from(format!("not done after {PATIENCE:?}")))
        };
        let line = match body.or(late).await {
            Ok(()) => format!("ok {name}"),
            Err(why) => {
                self.failed += 1;
                format!("not ok {name}\n  {}", why.to_string().replace('\n', "\n  "))
            }
        };
        // Nobody reads: there is nobody to tell.
        let _ = writeln!(std::io::stdout(), "{line}");
    }
}

/// `Ok` if what was seen is what was expected.
fn same<T: PartialEq<E> + Debug, E: Debug>(seen: T, expected: E) -> Checked {
    if seen == expected {
        return Ok(());
    }
    Err(format!("expected {expected:?}\nseen     {seen:?}").into())
}

/// `Ok` if it holds.
fn holds(it: bool, what: impl Debug) -> Checked {
    if it {
        return Ok(());
    }
    Err(format!("{what:?}").into())
}

/// `Ok` if the server refused the call with one of these codes.
fn refused<T: Debug>(result: Result<T, CallError>, codes: &[i64]) -> Checked {
    match result {
        Err(CallError::Protocol(error))
            if codes.iter().any(|code| error.code == ErrorCode::new(*code)) =>
        {
            Ok(())
        }
        other => Err(format!("expected one of {codes:?}\nseen     {other:?}").into()),
    }
}

/// Waits for a while in which something may come.
async fn a_while() {
    Timer::after(QUIET).await;
}

/// Waits until it holds.
async fn soon(what: &str, holds: impl Fn() -> bool) -> Checked {
    let late = std::time::Instant::now() + SOON;
    while !holds() {
        if std::time::Instant::now() > late {
            return Err(format!("{what}: not within {SOON:?}").into());
        }
        Timer::after(Duration::from_millis(2)).await;
    }
    Ok(())
}

/// Connects to the server that the command starts, or that is at the URL.
async fn connect(builder: ClientBuilder, words: &[String]) -> Result<Client, Failure> {
    let (first, arguments) = words.split_first().ok_or("no command")?;
    if is_url(words) {
        return Ok(builder.connect_http(first).await?);
    }
    let command = Command::new(first).args(arguments).stderr(Stderr::Drop);
    Ok(builder.connect_stdio(command).await?)
}

fn is_url(words: &[String]) -> bool {
    words
        .first()
        .is_some_and(|first| first.starts_with("http://"))
}

async fn run(revision: &str, kind: &str, words: &[String]) -> Result<u32, Failure> {
    let attended = Attended::default();
    let mut builder = attended.attend(Client::builder("interop", "1.0.0"));
    let mut expected = if kind == "everything" {
        ProtocolVersion::V2025_11_25
    } else {
        ProtocolVersion::LATEST_MODERN
    };
    let mut bare = Client::builder("interop", "1.0.0");
    if revision != "auto" {
        expected = ProtocolVersion::parse(revision).ok_or("no such revision")?;
        builder = builder.revision(expected);
        bare = bare.revision(expected);
    }
    let client = connect(builder, words).await?;
    let mut report = Report::default();
    report
        .check("negotiated", async { same(client.version(), expected) })
        .await;
    if kind == "skills" {
        skills::run(&mut report, &client).await;
    } else if kind == "everything" {
        everything::run(&mut report, &client, &attended).await;
    } else {
        contract::run(&mut report, &client, &attended).await;
        questions::run(&mut report, &client, &attended).await;
        questions::undeclared(&mut report, connect(bare, words).await?).await;
        changes::run(&mut report, &client).await;
    }
    if is_url(words) {
        client.close().await;
        return Ok(report.failed);
    }
    report
        .check("server ends when its input does", async {
            let closed = client.close().await;
            let exit = closed.exit().ok_or("it has not ended")?;
            let status = exit.status.ok_or("nobody knows how it ended")?;
            // The timers of the other one go on, so that it has to be told.
            let itself = status.success() || (kind == "everything" && status.code().is_none());
            holds(itself, exit)
        })
        .await;
    Ok(report.failed)
}

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [revision, kind, words @ ..] = arguments.as_slice() else {
        let usage = "usage: interop_client REVISION contract|everything|skills COMMAND [ARGUMENT...], or URL";
        let _ = writeln!(std::io::stderr(), "{usage}");
        return ExitCode::from(2);
    };
    match async_io::block_on(run(revision, kind, words)) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            let _ = writeln!(std::io::stdout(), "not ok connect\n  {error}");
            ExitCode::FAILURE
        }
    }
}
