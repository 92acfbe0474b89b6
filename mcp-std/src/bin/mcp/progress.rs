//! How far a call has come: a bar on a terminal, lines elsewhere.

use core::fmt::Write as _;
use core::time::Duration;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use mcp_std::Progress;

use crate::screen;
use crate::text::printable;

/// The columns of a bar.
const COLUMNS: u32 = 24;

/// A line that is no bar is followed by the next one after this time.
const PAUSE: Duration = Duration::from_secs(1);

/// Shows the progress of one call.
pub(crate) struct Bar {
    lines: Mutex<Lines>,
}

impl Bar {
    pub(crate) const fn new() -> Self {
        let lines = Mutex::new(Lines { last: None });
        Self { lines }
    }

    pub(crate) fn show(&self, progress: &Progress<'_>) {
        if screen::has_bar() {
            return screen::bar(&line(progress));
        }
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.take(progress, Instant::now()) {
            screen::print(&format!("{}\n", line(progress)));
        }
    }
}

/// What was told where lines stay: a file is not to be filled with them.
struct Lines {
    /// When, and how many tenths of the work were done.
    last: Option<(Instant, Option<u32>)>,
}

impl Lines {
    /// Whether this is told: the first, each tenth of the work, and what comes after a pause.
    fn take(&mut self, progress: &Progress<'_>, now: Instant) -> bool {
        let tenths = part(progress).map(|part| steps(part, 10));
        let told = self.last.is_none_or(|(last, before)| {
            tenths > before || now.saturating_duration_since(last) >= PAUSE
        });
        if told {
            self.last = Some((now, tenths));
        }
        told
    }
}

/// How much of the work is done, from 0 to 1, if that is known.
fn part(progress: &Progress<'_>) -> Option<f64> {
    let total = progress.total.filter(|&total| total > 0.0)?;
    Some((progress.progress / total).clamp(0.0, 1.0))
}

/// So many of `all` steps make this part. Not a number is no part of anything: 0.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "from 0 to `all`, and `as` makes 0 of what is not a number"
)]
fn steps(part: f64, all: u32) -> u32 {
    (part * f64::from(all)) as u32
}

/// `[######------] 3 of 6 · what is being done`
fn line(progress: &Progress<'_>) -> String {
    let mut line = String::new();
    match (part(progress), progress.total) {
        (Some(part), Some(total)) => {
            let full = steps(part, COLUMNS);
            let _ = write!(
                line,
                "[{}{}] {} of {total}",
                "#".repeat(full as usize),
                "-".repeat((COLUMNS - full) as usize),
                progress.progress
            );
        }
        _ => {
            let _ = write!(line, "progress {}", progress.progress);
        }
    }
    if let Some(message) = &progress.message {
        let _ = write!(line, " · {}", printable(message));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_stay_are_few() {
        let start = Instant::now();
        let mut lines = Lines { last: None };
        let told = (0..=10_000u32)
            .map(|done| Progress::new(done.into()).of(10_000.0))
            .filter(|progress| lines.take(progress, start))
            .count();
        assert_eq!(told, 11, "the first, and each tenth of the work");

        let mut lines = Lines { last: None };
        let told = (0..10_000u32)
            .filter(|&done| {
                let now = start + Duration::from_millis(done.into());
                lines.take(&Progress::new(done.into()), now)
            })
            .count();
        assert_eq!(told, 10, "one a second, where no end is known");
    }

    #[test]
    fn bars_are_as_full_as_the_work_is_done() {
        let half = Progress::new(3.0).of(6.0);
        let text = format!("[{}{}] 3 of 6", "#".repeat(12), "-".repeat(12));
        assert_eq!(line(&half), text);
        assert_eq!(line(&Progress::new(7.5)), "progress 7.5");
        for (progress, total) in [(9.0, 6.0), (-1.0, 6.0), (f64::NAN, 6.0), (1.0, -5.0)] {
            let line = line(&Progress::new(progress).of(total));
            assert!(line.chars().count() < 60, "{line}");
        }
        let mut evil = Progress::new(1.0);
        evil.message = Some("\u{1b}[2Jgone".into());
        assert_eq!(line(&evil), "progress 1 · \u{fffd}[2Jgone");
    }
}
