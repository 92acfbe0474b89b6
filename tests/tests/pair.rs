//! Both engines together, in schedules of chance.

use mcp_tests::pair::{Tally, schedule};

/// 10 000 schedules, in which everything happens often.
#[test]
fn every_call_ends_once_whatever_happens() {
    let tally = (0..10_000)
        .map(|seed| {
            // A broken promise says which, the test's output says in which schedule.
            std::panic::catch_unwind(|| schedule(seed))
                .unwrap_or_else(|_| panic!("schedule({seed}) broke a promise"))
        })
        .fold(Tally::default(), Tally::and);
    eprintln!("{tally:?}");
    for (what, often) in [
        ("connected", tally.connected),
        ("completed", tally.completed),
        ("failed", tally.failed),
        ("retried", tally.retried),
        ("timed out", tally.timed_out),
        ("cancelled", tally.cancelled),
        ("closed", tally.closed),
        ("late", tally.late),
        ("notified", tally.notified),
        ("asked", tally.asked),
    ] {
        assert!(often >= 1_000, "{what}: {often} times");
    }
}

/// What a seed stands for does not change from run to run.
#[test]
fn a_seed_is_a_schedule() {
    for seed in [0, 1, 4_711] {
        assert_eq!(schedule(seed), schedule(seed));
    }
}
