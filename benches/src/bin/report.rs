//! Puts together what `benches/run` has measured: a page in Markdown, and plots. See there.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{fs, io};

use clap::Parser;
use mcp_benches::report::criterion::{self, Measured};
use mcp_benches::report::{svg, table};

/// Write README.md and the plots.
#[derive(Parser)]
#[command(name = "report")]
struct Arguments {
    /// What is said of the machine, the date and the versions, in Markdown.
    #[arg(long)]
    about: PathBuf,
    /// What `compare` printed.
    #[arg(long)]
    stdio: PathBuf,
    /// What `benches/http/run` printed.
    #[arg(long)]
    http: PathBuf,
    /// What criterion left.
    #[arg(long)]
    criterion: PathBuf,
    /// Where to write to.
    #[arg(long)]
    out: PathBuf,
}

/// What the benchmarks call what is ours, the more it does the sooner.
const OURS: [&str; 9] = [
    "engine",
    "envelope",
    "RawJson",
    "RawJson and JsonStr",
    "envelope, serde_json",
    "framer",
    "parser",
    "head, read and check",
    "call and answer",
];

fn main() -> ExitCode {
    match report(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("report: {error}");
            ExitCode::FAILURE
        }
    }
}

fn report(arguments: &Arguments) -> io::Result<()> {
    let about = text(&arguments.about)?;
    let stdio = text(&arguments.stdio)?;
    let http = table::http(&text(&arguments.http)?);
    let parts = criterion::read(&arguments.criterion)?;
    fs::create_dir_all(&arguments.out)?;
    let plot = |name: &str, svg: String| fs::write(arguments.out.join(name), svg);

    for (name, title, unit, column) in [
        (
            "stdio-rate.svg",
            "stdio, 64 calls in flight: messages/s",
            "/s",
            3,
        ),
        (
            "stdio-cpu.svg",
            "stdio, 64 calls in flight: CPU of the server per message",
            "us",
            6,
        ),
    ] {
        let rows = table::rows(&stdio);
        let rows = rows
            .iter()
            .filter(|row| row.first() == Some(&"modern") && row.get(1) == Some(&"64"));
        let values: Vec<(String, f64)> = rows
            .filter_map(|row| Some((named(row.get(2)?), row.get(column)?.parse().ok()?)))
            .collect();
        plot(name, svg::bars(title, unit, &values))?;
    }
    let values: Vec<(String, f64)> = http
        .iter()
        .map(|(name, connections, rate, _)| (format!("{name}, {connections}"), *rate))
        .collect();
    plot(
        "http-rate.svg",
        svg::bars("HTTP: requests/s, by server and connections", "/s", &values),
    )?;
    plot(
        "bytes.svg",
        svg::lines(
            "A call, by the bytes of its message",
            "bytes",
            "ns",
            &growth(&parts, &["dispatch/bytes"]),
        ),
    )?;
    plot(
        "numbers.svg",
        svg::lines(
            "A call, by how many tools there are, and how many calls in flight",
            "number",
            "ns",
            &growth(&parts, &["dispatch/tools", "dispatch/in_flight"]),
        ),
    )?;

    let mut page = about;
    page.push_str(
        "\n## Over stdio\n\n![messages/s](stdio-rate.svg)\n![CPU per message](stdio-cpu.svg)\n\n",
    );
    page.push_str(&stdio);
    page.push_str("\n## Over HTTP\n\n![requests/s](http-rate.svg)\n\n");
    page.push_str(
        "| server | connections | requests/s | / floor | CPU us/request |\n|---|--:|--:|--:|--:|\n",
    );
    for (name, connections, rate, cpu) in &http {
        let floor = http
            .iter()
            .find(|it| it.0 == "floor" && it.1 == *connections);
        let ratio = floor.map_or(f64::NAN, |floor| rate / floor.2);
        page.push_str(&format!(
            "| {name} | {connections} | {rate:.0} | {ratio:.2} | {cpu:.2} |\n"
        ));
    }
    page.push_str("\n## How it grows\n\n![by bytes](bytes.svg)\n![by number](numbers.svg)\n");
    page.push_str("\n## The parts\n\n");
    page.push_str(&table::groups(&parts, &OURS));
    fs::write(arguments.out.join("README.md"), page)
}

fn text(path: &Path) -> io::Result<String> {
    fs::read_to_string(path)
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
}

/// The table calls this project "ours".
fn named(name: &str) -> String {
    if name == "ours" {
        "this".to_owned()
    } else {
        name.to_owned()
    }
}

/// The times of a group by its parameters.
fn growth(parts: &[Measured], groups: &[&str]) -> Vec<(String, Vec<(f64, f64)>)> {
    let line = |group: &&str| {
        let points = parts.iter().filter(|it| it.group == **group);
        let points = points.filter_map(|it| Some((it.name.parse::<f64>().ok()?, it.nanos)));
        // No logarithm of nothing.
        (
            (*group).to_owned(),
            points.filter(|it| it.0 > 0.0).collect(),
        )
    };
    groups.iter().map(line).collect()
}
