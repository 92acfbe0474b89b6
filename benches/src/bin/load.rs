//! Drives one stdio server, checks every answer, and prints what it measured. See the crate's documentation.

use core::fmt::Write as _;
use core::time::Duration;
use std::process::ExitCode;

use clap::Parser;
use mcp_benches::load::{Plan, Report, Until, run};
use mcp_benches::request::Era;

/// Drive a stdio MCP server at a fixed window, check every answer, measure.
#[derive(Parser)]
#[command(name = "load")]
struct Arguments {
    /// The era of the protocol to speak.
    #[arg(long, value_enum, default_value = "modern")]
    era: Era,
    /// Calls kept in flight.
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    window: u32,
    /// Measure for this many seconds.
    #[arg(long, default_value_t = 5.0, value_parser = seconds, conflicts_with = "messages")]
    seconds: f64,
    /// Measure this many messages instead.
    #[arg(long)]
    messages: Option<u64>,
    /// Seconds of the same load before measuring.
    #[arg(long, default_value_t = 0.5, value_parser = seconds)]
    warm_up: f64,
    /// Bytes of the text to echo, at least 10.
    #[arg(long, default_value_t = 32)]
    text: usize,
    /// The tool to call.
    #[arg(long, default_value = "echo")]
    tool: String,
    /// Print one JSON object instead of lines for people.
    #[arg(long)]
    json: bool,
    /// The server's program and arguments.
    #[arg(last = true, required = true)]
    command: Vec<String>,
}

/// A duration that no run needs to exceed, so that no sum of times overflows.
fn seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if (0.0..=86_400.0).contains(&seconds) => Ok(seconds),
        _ => Err("not a number of seconds from 0 to 86400".to_owned()),
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let mut plan = Plan::new(arguments.command);
    plan.era = arguments.era;
    plan.window = arguments.window;
    plan.until = match arguments.messages {
        Some(count) => Until::Messages(count.max(1)),
        None => Until::Elapsed(Duration::from_secs_f64(arguments.seconds)),
    };
    plan.warm_up = Duration::from_secs_f64(arguments.warm_up);
    plan.text = arguments.text;
    plan.tool = arguments.tool;
    match run(&plan) {
        Ok(report) => {
            let text = if arguments.json {
                json(&plan, &report)
            } else {
                lines(&report)
            };
            print(&text);
            ExitCode::SUCCESS
        }
        Err(failure) => {
            eprintln!("load: {failure}");
            ExitCode::FAILURE
        }
    }
}

#[expect(
    clippy::print_stdout,
    reason = "the report on standard output is what the program is for"
)]
fn print(text: &str) {
    println!("{text}");
}

fn lines(report: &Report) -> String {
    let mut text = format!(
        "messages   {} in {:.2} s, every answer checked ({} parsed, {} notifications)\n\
         rate       {:.0} messages/s\n",
        report.messages,
        report.elapsed.as_secs_f64(),
        report.parsed,
        report.notifications,
        report.rate(),
    );
    // Writing to a String cannot fail.
    if let (Some(server), Some(own)) = (report.server_cpu_micros(), report.own_cpu_micros()) {
        let _ = writeln!(
            text,
            "CPU        {server:.3} us per message in the server, {own:.3} us in this program"
        );
    }
    let _ = write!(
        text,
        "latency    p50 {:.1}  p90 {:.1}  p99 {:.1}  max {:.1} us",
        report.percentile_micros(50.0),
        report.percentile_micros(90.0),
        report.percentile_micros(99.0),
        report.percentile_micros(100.0),
    );
    if let Some(peak) = report.peak_rss_kib {
        let _ = write!(text, "\nmemory     {peak} KiB peak resident");
    }
    text
}

fn json(plan: &Plan, report: &Report) -> String {
    serde_json::json!({
        "command": plan.command,
        "era": plan.era.name(),
        "window": plan.window,
        "text_bytes": plan.text,
        "messages": report.messages,
        "seconds": report.elapsed.as_secs_f64(),
        "messages_per_second": report.rate(),
        "server_cpu_us": report.server_cpu_micros(),
        "own_cpu_us": report.own_cpu_micros(),
        "p50_us": report.percentile_micros(50.0),
        "p90_us": report.percentile_micros(90.0),
        "p99_us": report.percentile_micros(99.0),
        "max_us": report.percentile_micros(100.0),
        "peak_rss_kib": report.peak_rss_kib,
        "parsed": report.parsed,
        "notifications": report.notifications,
    })
    .to_string()
}
