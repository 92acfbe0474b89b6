//! How far a call has come: a bar on a terminal, lines elsewhere.

use core::fmt::Write as _;

use mcp_std::Progress;

use crate::screen;
use crate::text::printable;

/// The columns of a bar.
const COLUMNS: u32 = 24;

/// Shows the progress of one call.
pub(crate) struct Bar;

impl Bar {
    pub(crate) const fn new() -> Self {
        Self
    }

    pub(crate) fn show(&self, progress: &Progress<'_>) {
        screen::bar(&line(progress));
    }
}

/// `[######------] 3 of 6 · what is being done`
fn line(progress: &Progress<'_>) -> String {
    let mut line = String::new();
    match progress.total.filter(|&total| total > 0.0) {
        Some(total) => {
            let part = (progress.progress / total).clamp(0.0, 1.0);
            // Not a number is no part of anything; `as` makes 0 of it.
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "from 0 to COLUMNS"
            )]
            let full = (part * f64::from(COLUMNS)) as usize;
            let empty = COLUMNS as usize - full;
            let _ = write!(
                line,
                "[{}{}] {} of {total}",
                "#".repeat(full),
                "-".repeat(empty),
                progress.progress
            );
        }
        None => {
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
