//! One complete run of an agent as a golden test: the twelve frames of [`mcp_std::host`], over a server at a URL and one that
//! is started. See `tests/agent/run`.
//!
//! usage: agent_frames GOLDEN URL COMMAND [ARGUMENT...]
//!
//! The servers have to offer what `tests/interop/contract.md` says. What goes over the wire, and what the model is asked and
//! answers, is written down frame by frame and compared with the file GOLDEN; with GOLDEN=write in the environment the file is
//! written instead. Each check is `ok NAME` or `not ok NAME`, and the first one that fails is the last.

mod record;
mod run;

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use record::Story;

type Failure = Box<dyn core::error::Error + Send + Sync>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [golden, url, program, rest @ ..] = &arguments[..] else {
        let usage = "usage: agent_frames GOLDEN URL COMMAND [ARGUMENT...]";
        let _ = writeln!(std::io::stderr(), "{usage}");
        return ExitCode::FAILURE;
    };
    let done = async_io::block_on(run::run(url, program, rest))
        .and_then(|story| compare(&story, Path::new(golden)));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("not ok {error}"));
            ExitCode::FAILURE
        }
    }
}

fn say(line: &str) {
    // Whoever has gone does not hear it.
    let _ = writeln!(std::io::stdout(), "{line}");
}

fn check(name: &str, holds: bool) -> Result<(), Failure> {
    if !holds {
        return Err(name.into());
    }
    say(&format!("ok {name}"));
    Ok(())
}

fn compare(story: &Story, golden: &Path) -> Result<(), Failure> {
    let told = story.text();
    if std::env::var("GOLDEN").is_ok_and(|what| what == "write") {
        fs::write(golden, &told).map_err(|error| format!("{}: {error}", golden.display()))?;
        say(&format!("ok {} is written anew", golden.display()));
        return Ok(());
    }
    let known = fs::read_to_string(golden)
        .map_err(|error| format!("{}: {error}; GOLDEN=write writes it", golden.display()))?;
    if known == told {
        return check("frames 0-11 are those of the golden file", true);
    }
    let (mut known_lines, mut told_lines) = (known.lines(), told.lines());
    let mut number = 0;
    let (known, told) = loop {
        number += 1;
        let (known, told) = (known_lines.next(), told_lines.next());
        if known != told || known.is_none() {
            break (known, told);
        }
    };
    let (known, told) = (known.unwrap_or("(the end)"), told.unwrap_or("(the end)"));
    let same = known
        .chars()
        .zip(told.chars())
        .take_while(|(known, told)| known == told);
    // The lines are long: a little of what is the same, and what is not.
    let from = same.count().saturating_sub(80);
    let part = |line: &str| line.chars().skip(from).take(240).collect::<String>();
    let (known, told) = (part(known), part(told));
    Err(format!(
        "frames 0-11: line {number} of {} is, from character {from} on,\n  {known}\nand now it is\n  {told}\nGOLDEN=write renews the file, if that is right",
        golden.display()
    )
    .into())
}
