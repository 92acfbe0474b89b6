//! `mcp registry`: checks files that servers are published with, and makes configurations of hosts of them.

use core::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Subcommand};
use mcp_std::registry::{Choice, Inputs, MAX_BYTES, Problem, ServerJson, Severity, validate};
use serde_json::{Value, json};

use crate::arguments::pair;
use crate::connect::output;
use crate::failure::Failure;
use crate::text::printable_lines;

#[derive(Args)]
#[command(after_help = "Examples:
  mcp registry validate server.json
  mcp registry config server.json --input root=/srv/files > .mcp.json

Exit status: 0 done (there may be warnings), 1 a file is not as it has to be, 2 wrong usage, or a file that cannot be read.")]
pub(crate) struct Registry {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Says all that is wrong with a `server.json`, where, and what to do about it. Nobody is asked: whether a package is there
    /// is not found out
    Validate {
        /// The files
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// Prints JSON and nothing else on standard output
        #[arg(long)]
        json: bool,
    },
    /// Prints what a host needs to start the server: a file for `mcp host --config`. Nothing is started. Secrets are not in it,
    /// but the variables that have them
    Config {
        /// The `server.json`
        file: PathBuf,
        /// The package to start, by its number from 0. Without this, the first that can be started, else the first remote
        #[arg(long, value_name = "N", conflicts_with = "remote")]
        package: Option<usize>,
        /// The remote to use, by its number from 0
        #[arg(long, value_name = "N")]
        remote: Option<usize>,
        /// What an argument, a header or a variable is; may be given several times. `${env:NAME}` stays as it is
        #[arg(long, value_name = "NAME=VALUE")]
        input: Vec<String>,
    },
}

impl Registry {
    pub(crate) fn run(&self) -> ExitCode {
        let done = match &self.command {
            Command::Validate { files, json } => check(files, *json),
            Command::Config {
                file,
                package,
                remote,
                input,
            } => {
                let choice = package.map(Choice::Package);
                configure(file, choice.or(remote.map(Choice::Remote)), input)
            }
        };
        match done {
            Ok(()) => ExitCode::SUCCESS,
            Err(failure) => failure.report("registry"),
        }
    }
}

/// What stands in a file, no more of it than can be one.
fn text_of(path: &Path) -> Result<String, Failure> {
    use std::io::Read as _;
    let fault = |error: std::io::Error| Failure::Usage(format!("{}: {error}", path.display()));
    let file = std::fs::File::open(path).map_err(fault)?;
    let mut text = Vec::new();
    let most = MAX_BYTES as u64 + 1;
    file.take(most).read_to_end(&mut text).map_err(fault)?;
    String::from_utf8(text)
        .map_err(|_| Failure::Usage(format!("{}: it is not UTF-8", path.display())))
}

fn check(files: &[PathBuf], json: bool) -> Result<(), Failure> {
    let mut all = Vec::new();
    let mut text = String::new();
    let mut good = true;
    for path in files {
        let problems = validate(&text_of(path)?);
        let valid = !problems.iter().any(|it| it.severity == Severity::Error);
        good &= valid;
        let shown = path.display();
        if problems.is_empty() {
            let _ = writeln!(text, "{shown}: in order");
        }
        for problem in &problems {
            let _ = writeln!(text, "{shown}: {}: {problem}", word(problem.severity));
        }
        let problems: Vec<_> = problems.iter().map(object).collect();
        all.push(json!({"file": shown.to_string(), "valid": valid, "problems": problems}));
    }
    text = match json {
        true => format!("{}\n", json!({ "files": all })),
        false => printable_lines(&text),
    };
    output(text.as_bytes())?;
    if good { Ok(()) } else { Err(Failure::Tool) }
}

fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Warning => "warning",
        Severity::Error | _ => "error",
    }
}

fn object(problem: &Problem) -> Value {
    json!({
        "severity": word(problem.severity),
        "path": problem.path,
        "fault": problem.fault,
        "remedy": problem.remedy,
    })
}

fn configure(path: &Path, choice: Option<Choice>, given: &[String]) -> Result<(), Failure> {
    let shown = path.display();
    let refused = |problem: &Problem| Failure::Usage(format!("{shown}: {problem}"));
    let server = ServerJson::parse(&text_of(path)?).map_err(|problem| refused(&problem))?;
    let mut inputs = Inputs::new();
    for text in given {
        let (name, value) = pair(text)?;
        inputs = inputs.value(name, value);
    }
    let choice = choice.or_else(|| server.first_choice()).ok_or_else(|| {
        let fault = "it has no package that can be started, and no remote";
        Failure::Usage(format!("{shown}: {fault}"))
    })?;
    let entry = server.configuration(choice, &inputs).map_err(|problems| {
        let mut text = format!("{shown}: no configuration comes of it");
        for problem in problems {
            let _ = write!(text, "\n  {problem}");
        }
        Failure::Usage(text)
    })?;
    output(format!("{:#}\n", entry.document()).as_bytes())
}
