//! Several servers under the same load, in turn, and one table.

use core::fmt::Write as _;
use core::time::Duration;

use crate::load::{Failure, Plan, Report, Until, run};
use crate::request::Era;

/// One server of a comparison.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Candidate {
    /// What the table calls it.
    pub name: String,
    /// Its program and arguments.
    pub command: Vec<String>,
}

impl Candidate {
    /// A server by this name, started by this command.
    #[must_use]
    pub fn new(name: impl Into<String>, command: Vec<String>) -> Self {
        Self {
            name: name.into(),
            command,
        }
    }
}

/// The servers and what is done with each.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Comparison {
    /// All servers. The first is the one whose ratios are called "floor" in the table, the second "rmcp".
    pub candidates: Vec<Candidate>,
    /// Eras, each with its own rows.
    pub eras: Vec<Era>,
    /// Windows, each with its own rows.
    pub windows: Vec<u32>,
    /// How often each server is run for each row; a figure is the median.
    pub rounds: usize,
    /// The measured time of one run.
    pub time: Duration,
    /// Bytes of the text to echo.
    pub text: usize,
    /// The tool to call.
    pub tool: String,
}

impl Comparison {
    /// Both eras, windows 1 and 64, three rounds of 2 s, 32 bytes of text, the tool `echo`.
    #[must_use]
    pub fn new(candidates: Vec<Candidate>) -> Self {
        Self {
            candidates,
            eras: vec![Era::Modern, Era::Legacy],
            windows: vec![1, 64],
            rounds: 3,
            time: Duration::from_secs(2),
            text: 32,
            tool: "echo".to_owned(),
        }
    }

    /// Runs everything and returns the table. `progress` is told of each run before it begins.
    ///
    /// A round runs all servers before the next begins, each round starting with another, so that a machine that gets
    /// slower or faster does so for all.
    ///
    /// # Errors
    ///
    /// A run failed: the server's name, and why.
    pub fn run(&self, mut progress: impl FnMut(&str)) -> Result<String, (String, Failure)> {
        let mut table = String::from(HEAD);
        for &era in &self.eras {
            for &window in &self.windows {
                let mut figures = vec![Vec::with_capacity(self.rounds); self.candidates.len()];
                for round in 0..self.rounds {
                    for turn in 0..self.candidates.len() {
                        let index = (turn + round) % self.candidates.len();
                        let candidate = &self.candidates[index];
                        progress(&format!(
                            "{} era, window {window}, round {} of {}: {}",
                            era.name(),
                            round + 1,
                            self.rounds,
                            candidate.name
                        ));
                        let report = run(&self.plan(candidate, era, window))
                            .map_err(|failure| (candidate.name.clone(), failure))?;
                        figures[index].push(Figures::of(&report));
                    }
                }
                let names = self.candidates.iter().map(|candidate| &*candidate.name);
                rows(&mut table, era, window, names, &figures);
            }
        }
        let _ = write!(
            table,
            "\nMedians of {} rounds of {:.1} s; a ratio is the median of the rounds' ratios. Text of {} bytes.",
            self.rounds,
            self.time.as_secs_f64(),
            self.text,
        );
        Ok(table)
    }

    fn plan(&self, candidate: &Candidate, era: Era, window: u32) -> Plan {
        let mut plan = Plan::new(candidate.command.clone());
        plan.era = era;
        plan.window = window;
        plan.until = Until::Elapsed(self.time);
        plan.text = self.text;
        plan.tool.clone_from(&self.tool);
        plan
    }
}

const HEAD: &str = "\
| era | window | server | messages/s | / floor | / rmcp | CPU us/message | / floor | / rmcp | p50 us | p99 us | peak MiB |
|---|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|
";

/// One run in the table's units.
#[derive(Clone, Copy, Debug)]
struct Figures {
    rate: f64,
    cpu: Option<f64>,
    p50: f64,
    p99: f64,
    peak: Option<f64>,
}

impl Figures {
    fn of(report: &Report) -> Self {
        Self {
            rate: report.rate(),
            cpu: report.server_cpu_micros(),
            p50: report.percentile_micros(50.0),
            p99: report.percentile_micros(99.0),
            peak: report.peak_rss_kib.map(|kib| kib as f64 / 1024.0),
        }
    }
}

/// Appends one row per server. `figures` has one list per server, of the same rounds.
fn rows<'n>(
    table: &mut String,
    era: Era,
    window: u32,
    names: impl Iterator<Item = &'n str>,
    figures: &[Vec<Figures>],
) {
    for (name, own) in names.zip(figures) {
        let median_of = |pick: &dyn Fn(&Figures) -> Option<f64>| median(own.iter().map(pick));
        let ratio = |base: usize, pick: &dyn Fn(&Figures) -> Option<f64>| {
            let base = figures.get(base)?;
            median(
                own.iter()
                    .zip(base)
                    .map(|(own, base)| Some(pick(own)? / pick(base)?)),
            )
        };
        let rate = |figures: &Figures| Some(figures.rate);
        let cpu = |figures: &Figures| figures.cpu;
        // Writing to a String cannot fail.
        let _ = writeln!(
            table,
            "| {} | {window} | {name} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            era.name(),
            cell(median_of(&rate), 0),
            cell(ratio(0, &rate), 3),
            cell(ratio(1, &rate), 2),
            cell(median_of(&cpu), 3),
            cell(ratio(0, &cpu), 2),
            cell(ratio(1, &cpu), 3),
            cell(median_of(&|figures| Some(figures.p50)), 1),
            cell(median_of(&|figures| Some(figures.p99)), 1),
            cell(median_of(&|figures| figures.peak), 1),
        );
    }
}

fn cell(value: Option<f64>, decimals: usize) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.decimals$}"))
}

/// The median, of an even number the mean of the middle two; `None` if there is no value or one is missing.
fn median(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let mut values: Vec<f64> = values.collect::<Option<_>>()?;
    values.sort_by(f64::total_cmp);
    let upper = *values.get(values.len() / 2)?;
    let lower = *values.get((values.len() - 1) / 2)?;
    Some(f64::midpoint(lower, upper))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        let of = |values: &[f64]| median(values.iter().copied().map(Some));
        assert_eq!(of(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(of(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(of(&[7.0]), Some(7.0));
        assert_eq!(of(&[]), None);
        assert_eq!(median([Some(1.0), None].into_iter()), None);
    }

    fn figures(rate: f64, cpu: Option<f64>) -> Figures {
        Figures {
            rate,
            cpu,
            p50: 5.0,
            p99: 9.0,
            peak: Some(2.0),
        }
    }

    #[test]
    fn a_ratio_is_taken_round_by_round() {
        // The machine slows down from round to round; the quotient of the median rates would be 100 / 400.
        let floor = vec![
            figures(800.0, Some(1.0)),
            figures(400.0, Some(2.0)),
            figures(200.0, Some(4.0)),
        ];
        let peer = vec![
            figures(80.0, Some(10.0)),
            figures(200.0, Some(20.0)),
            figures(100.0, Some(40.0)),
        ];
        let mut table = String::new();
        let names = ["floor", "peer"].into_iter();
        rows(&mut table, Era::Modern, 64, names, &[floor, peer]);
        let lines: Vec<&str> = table.lines().collect();
        assert_eq!(
            lines,
            [
                "| modern | 64 | floor | 400 | 1.000 | 2.00 | 2.000 | 1.00 | 0.100 | 5.0 | 9.0 | 2.0 |",
                "| modern | 64 | peer | 100 | 0.500 | 1.00 | 20.000 | 10.00 | 1.000 | 5.0 | 9.0 | 2.0 |",
            ]
        );
    }

    #[test]
    fn what_is_not_known_is_a_dash() {
        let mut table = String::new();
        let only = vec![figures(100.0, None)];
        rows(&mut table, Era::Legacy, 1, ["only"].into_iter(), &[only]);
        assert_eq!(
            table,
            "| legacy | 1 | only | 100 | 1.000 | - | - | - | - | 5.0 | 9.0 | 2.0 |\n"
        );
    }

    #[test]
    fn the_head_has_a_cell_for_every_cell() {
        let mut table = String::from(HEAD);
        let only = vec![figures(100.0, None)];
        rows(&mut table, Era::Legacy, 1, ["only"].into_iter(), &[only]);
        let cells: Vec<usize> = table
            .lines()
            .map(|line| line.matches('|').count())
            .collect();
        assert_eq!(cells, [13, 13, 13]);
    }
}
