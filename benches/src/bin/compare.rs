//! Drives the floor, rmcp and ours in turn and prints one Markdown table. See the crate's documentation.

use core::time::Duration;
use std::path::Path;
use std::process::ExitCode;

use clap::Parser;
use mcp_benches::compare::{Candidate, Comparison};
use mcp_benches::request::Era;

/// Compare stdio MCP servers under the same load; print one Markdown table.
#[derive(Parser)]
#[command(name = "compare")]
struct Arguments {
    /// Our server: a command, split at spaces [default: the `mcp serve` beside this program].
    #[arg(long, value_name = "COMMAND", conflicts_with = "without_ours")]
    ours: Option<String>,
    /// Compare the others only.
    #[arg(long)]
    without_ours: bool,
    /// One more server, its command split at spaces; may be repeated.
    #[arg(long, value_name = "NAME=COMMAND", value_parser = peer)]
    peer: Vec<Candidate>,
    /// An era to speak; may be repeated [default: both].
    #[arg(long, value_enum)]
    era: Vec<Era>,
    /// Calls in flight; may be repeated [default: 1 and 64].
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    window: Vec<u32>,
    /// Rounds, whose median is printed.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=1000))]
    rounds: u16,
    /// Seconds measured per run.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..=3600))]
    seconds: u16,
    /// Bytes of the text to echo, at least 10.
    #[arg(long, default_value_t = 32)]
    text: usize,
    /// The tool to call.
    #[arg(long, default_value = "echo")]
    tool: String,
}

fn peer(text: &str) -> Result<Candidate, String> {
    match text.split_once('=') {
        Some((name, command)) if !name.is_empty() && !command.trim().is_empty() => {
            Ok(Candidate::new(name, words(command)))
        }
        _ => Err("not of the form NAME=COMMAND".to_owned()),
    }
}

fn words(command: &str) -> Vec<String> {
    command.split_whitespace().map(str::to_owned).collect()
}

fn main() -> ExitCode {
    match compare(Arguments::parse()) {
        Ok(table) => {
            print(&table);
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("compare: {message}");
            ExitCode::FAILURE
        }
    }
}

#[expect(
    clippy::print_stdout,
    reason = "the table on standard output is what the program is for"
)]
fn print(table: &str) {
    println!("{table}");
}

fn compare(arguments: Arguments) -> Result<String, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let beside = own.parent().unwrap_or_else(|| Path::new("."));
    let rmcp = sibling(beside, "rmcp_server", RMCP_BUILD)?;
    let mut candidates = vec![
        Candidate::new("floor", vec![sibling(beside, "floor_server", FLOOR_BUILD)?]),
        Candidate::new("rmcp", vec![rmcp.clone()]),
        Candidate::new(
            "rmcp, stdio()",
            vec![rmcp, "--transport=blocking".to_owned()],
        ),
    ];
    candidates.extend(arguments.peer);
    if let Some(command) = arguments.ours {
        candidates.push(Candidate::new("ours", words(&command)));
    } else if !arguments.without_ours {
        let mcp = sibling(beside, "mcp", MCP_BUILD)?;
        candidates.push(Candidate::new("ours", vec![mcp, "serve".to_owned()]));
    }
    let mut comparison = Comparison::new(candidates);
    if !arguments.era.is_empty() {
        comparison.eras = arguments.era;
    }
    if !arguments.window.is_empty() {
        comparison.windows = arguments.window;
    }
    comparison.rounds = arguments.rounds.into();
    comparison.time = Duration::from_secs(arguments.seconds.into());
    comparison.text = arguments.text;
    comparison.tool = arguments.tool;
    comparison
        .run(|step| eprintln!("{step}"))
        .map_err(|(name, failure)| format!("{name}: {failure}"))
}

const FLOOR_BUILD: &str = "cargo build --release -p mcp-benches";
const RMCP_BUILD: &str = "cargo build --release -p mcp-benches --features peers";
const MCP_BUILD: &str = "cargo build --release -p mcp-std --features cli --bin mcp";

/// The program of this name in the same directory, or how to get it.
fn sibling(directory: &Path, name: &str, build: &str) -> Result<String, String> {
    let path = directory.join(name);
    if path.is_file() {
        Ok(path.to_string_lossy().into_owned())
    } else {
        Err(format!(
            "{} is not there; build it: {build}",
            path.display()
        ))
    }
}
