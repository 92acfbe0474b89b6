//! How a process ends: with its input, with its output, and in bounded time.

use std::time::{Duration, Instant};

use crate::child::{Serve, call, slow, text};

const SECOND: Duration = Duration::from_secs(1);

/// OR-07.
#[test]
fn or_07_an_idle_server_ends_with_its_input() {
    for serve in [Serve::start(), Serve::session()] {
        let ended = serve.end();
        assert!(ended.after < SECOND, "{:?}", ended.after);
        assert_eq!(ended.clean(), [""; 0]);
    }
}

#[test]
fn calls_in_flight_are_answered_after_the_end_of_input() {
    let mut serve = Serve::session();
    for id in 0..50 {
        serve.send(&slow(&id.to_string(), 3, 20 + id));
    }
    let ended = serve.end();
    assert!(ended.after < 2 * SECOND, "{:?}", ended.after);
    let mut lines = ended.clean();
    let mut expected: Vec<_> = (0..50)
        .map(|id| text(&id.to_string(), "done after 3 steps"))
        .collect();
    lines.sort();
    expected.sort();
    assert_eq!(lines, expected);
}

/// OR-07: a call that hangs is waited for no longer than the grace period of 5 seconds.
#[test]
fn or_07_a_call_that_hangs_is_given_up() {
    let mut serve = Serve::session();
    serve.send(&slow("1", 1000, 60_000));
    serve.ping();
    let ended = serve.end();
    assert!(
        (5 * SECOND..7 * SECOND).contains(&ended.after),
        "{:?}",
        ended.after
    );
    assert!(ended.status.success());
    assert_eq!(ended.lines, [""; 0]);
    assert!(ended.stderr.contains("grace"), "{}", ended.stderr);
}

/// The client is gone, and a call that runs for minutes does not keep the process.
#[test]
fn or_07_a_server_ends_when_nobody_reads_its_output() {
    let mut serve = Serve::session();
    serve.send(&slow("1", 1000, 60_000));
    serve.ping();
    serve.output = None;
    serve.send(&call("2", "echo", r#"{"text":"to nobody"}"#));
    assert!(serve.ends_within(SECOND), "the input is still open");
    assert_eq!(serve.end().clean(), [""; 0]);
}

#[test]
fn a_server_ends_when_nobody_reads_its_progress() {
    let mut serve = Serve::session();
    serve.send(
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow","arguments":{"steps":1000,"delay_ms":50},"_meta":{"progressToken":"t"}}}"#,
    );
    serve.line();
    serve.output = None;
    assert!(serve.ends_within(SECOND), "the input is still open");
    assert_eq!(serve.end().clean(), [""; 0]);
}

/// Neither a closed output that nothing is written to, nor input without end, nor a call that waits costs time.
#[cfg(target_os = "linux")]
#[test]
fn or_07_nothing_to_do_is_nothing_done() {
    let mut serve = Serve::session();
    serve.send(&slow("1", 1000, 60_000));
    serve.ping();
    serve.output = None;
    let before = ticks(serve.id());
    std::thread::sleep(Duration::from_millis(400));
    let used = ticks(serve.id()) - before;
    assert!(used <= 2, "{used} ticks of 10 ms while nothing happened");
    let start = Instant::now();
    serve.input = None;
    assert!(serve.ends_within(6 * SECOND), "after the grace period");
    assert!(start.elapsed() > 4 * SECOND, "not before");
    assert!(serve.end().status.success());
}

/// User and system time, in clock ticks.
#[cfg(target_os = "linux")]
fn ticks(id: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).expect("it runs");
    let fields = stat.rsplit(')').next().expect("the name is in parentheses");
    let mut fields = fields.split_whitespace().skip(11);
    let mut next = || -> u64 {
        fields
            .next()
            .and_then(|n| n.parse().ok())
            .expect("a number")
    };
    next() + next()
}
