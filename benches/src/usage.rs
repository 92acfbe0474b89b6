//! What the server process used, read from Linux's `/proc`. Elsewhere everything is `None`.

use core::time::Duration;
use std::fs;

/// Processor time of one process up to now, all its threads together.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CpuTime {
    /// User and system time in clock ticks (10 ms), threads that have ended included.
    coarse: Duration,
    /// The same in nanoseconds, by thread that is alive, sorted by thread.
    threads: Vec<(u32, u64)>,
}

impl CpuTime {
    /// Reads the processor time of the process with this id (its children are not in it).
    #[must_use]
    pub fn of(pid: u32) -> Option<Self> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let coarse = parse_stat(&stat)?;
        let mut threads = Vec::new();
        for task in fs::read_dir(format!("/proc/{pid}/task")).ok()?.flatten() {
            let Some(thread) = task.file_name().to_str().and_then(|name| name.parse().ok()) else {
                continue;
            };
            let nanos = fs::read_to_string(task.path().join("schedstat"))
                .ok()
                .and_then(|text| parse_schedstat(&text));
            if let Some(nanos) = nanos {
                threads.push((thread, nanos));
            }
        }
        threads.sort_unstable();
        Some(Self { coarse, threads })
    }

    /// The time used from one reading to the other, if there are both.
    #[must_use]
    pub fn between(earlier: Option<&Self>, later: Option<&Self>) -> Option<Duration> {
        Some(later?.since(earlier?))
    }

    /// The time used between `earlier` and this.
    ///
    /// In nanoseconds as the scheduler counts them. Where it does not count, or a thread has ended in between and taken
    /// its count along, to 20 ms.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Duration {
        let ended = earlier
            .threads
            .iter()
            .any(|(thread, _)| !self.threads.iter().any(|(other, _)| other == thread));
        if ended || self.threads.is_empty() {
            return self.coarse.saturating_sub(earlier.coarse);
        }
        let sum = |cpu: &Self| cpu.threads.iter().map(|(_, nanos)| nanos).sum::<u64>();
        Duration::from_nanos(sum(self).saturating_sub(sum(earlier)))
    }
}

/// The most memory the process has had resident so far, in KiB.
#[must_use]
pub fn peak_rss_kib(pid: u32) -> Option<u64> {
    parse_peak(&fs::read_to_string(format!("/proc/{pid}/status")).ok()?)
}

/// Fields 14 and 15. The second field is the program's name in parentheses, which may hold spaces and parentheses.
fn parse_stat(stat: &str) -> Option<Duration> {
    /// `USER_HZ`: fixed at 100 on every architecture Rust runs on.
    const TICK: Duration = Duration::from_millis(10);
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace().skip(11);
    let user: u32 = fields.next()?.parse().ok()?;
    let system: u32 = fields.next()?.parse().ok()?;
    TICK.checked_mul(user.checked_add(system)?)
}

/// The first field: nanoseconds on a processor.
fn parse_schedstat(text: &str) -> Option<u64> {
    text.split_ascii_whitespace().next()?.parse().ok()
}

fn parse_peak(status: &str) -> Option<u64> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stat_survives_an_odd_program_name() {
        let stat =
            "4545 (a) b (c 1) R 4539 4539 2718 0 -1 4194304 2842 6516 2 0 32 3 4 4 20 0 1 0 63639";
        assert_eq!(parse_stat(stat), Some(Duration::from_millis(350)));
        assert_eq!(parse_stat("4545 (a) R 1 2"), None);
        assert_eq!(parse_stat(""), None);
    }

    #[test]
    fn schedstat_and_status() {
        assert_eq!(
            parse_schedstat("358787687 24405159 165\n"),
            Some(358_787_687)
        );
        assert_eq!(parse_schedstat("\n"), None);
        let status = "Name:\tx\nVmPeak:\t  9000 kB\nVmHWM:\t    5132 kB\nVmRSS:\t 1 kB\n";
        assert_eq!(parse_peak(status), Some(5132));
        assert_eq!(parse_peak("VmHWM:\t5132\n"), None);
    }

    fn cpu(ticks: u64, threads: &[(u32, u64)]) -> CpuTime {
        CpuTime {
            coarse: Duration::from_millis(10 * ticks),
            threads: threads.to_vec(),
        }
    }

    #[test]
    fn a_new_thread_counts_and_an_ended_one_makes_it_coarse() {
        let before = cpu(1, &[(7, 500), (8, 100)]);
        let more = cpu(3, &[(7, 900), (8, 100), (9, 50)]);
        assert_eq!(more.since(&before), Duration::from_nanos(450));
        let fewer = cpu(3, &[(7, 900)]);
        assert_eq!(fewer.since(&before), Duration::from_millis(20));
        assert_eq!(cpu(3, &[]).since(&cpu(2, &[])), Duration::from_millis(10));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_process_uses_time_and_memory() {
        let pid = std::process::id();
        let before = CpuTime::of(pid).expect("/proc is there");
        let start = std::time::Instant::now();
        while start.elapsed() < Duration::from_millis(50) {
            core::hint::spin_loop();
        }
        let used = CpuTime::of(pid).expect("/proc is there").since(&before);
        assert!(used > Duration::from_millis(5), "{used:?}");
        assert!(peak_rss_kib(pid).expect("/proc is there") > 500);
    }
}
