//! What is counted on the way.

use core::time::Duration;

use crate::text::{cut, duration};

#[derive(Default)]
pub(super) struct Tally {
    pub(super) sent: usize,
    pub(super) received: usize,
    /// Both ways, line ends included.
    pub(super) bytes: usize,
    pub(super) checks: usize,
    /// How long each answer took, and to what.
    pub(super) trips: Vec<(Duration, String)>,
}

impl Tally {
    /// Sentences about a demo that took so long.
    pub(super) fn facts(&mut self, total: Duration) -> [String; 2] {
        let Self {
            sent,
            received,
            bytes,
            trips,
            ..
        } = self;
        trips.sort_unstable();
        let mut answers = format!("{} answers", trips.len());
        if let (Some(fastest), Some(median), Some(slowest)) =
            (trips.first(), trips.get(trips.len() / 2), trips.last())
        {
            let named = |(trip, name): &(Duration, String)| {
                format!("{} ({})", duration(*trip), cut(name, 30))
            };
            answers.extend([
                ": fastest ",
                &named(fastest),
                ", median ",
                &duration(median.0),
                ", slowest ",
                &named(slowest),
            ]);
        }
        let frames = *sent + *received;
        let total = duration(total);
        [
            format!("{frames} frames: {sent} sent, {received} received; {bytes} bytes in {total}"),
            answers,
        ]
    }

    /// The last line: who gets here has passed every check.
    pub(super) fn verdict(&self) -> String {
        format!("{} checks, all passed", self.checks)
    }
}
