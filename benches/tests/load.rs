//! The load program's run against servers that are right, and against every kind that is not.

use core::time::Duration;
use std::time::Instant;

use mcp_benches::load::{Failure, Plan, Until, run};
use mcp_benches::request::Era;

fn floor() -> Plan {
    plan(&[env!("CARGO_BIN_EXE_floor_server")])
}

fn shell(script: &str) -> Plan {
    plan(&["sh", "-c", script])
}

fn plan(command: &[&str]) -> Plan {
    let mut plan = Plan::new(command.iter().map(|&word| word.to_owned()).collect());
    plan.until = Until::Messages(1000);
    plan.warm_up = Duration::from_millis(10);
    plan.limit = Duration::from_secs(30);
    plan
}

#[test]
fn the_floor_answers_every_call_in_both_eras() {
    for era in [Era::Modern, Era::Legacy] {
        for window in [1, 3, 64] {
            let mut plan = floor();
            plan.era = era;
            plan.window = window;
            let report = run(&plan).expect("the floor is right");
            assert!(report.messages >= 1000);
            assert_eq!(report.latency.count(), report.messages);
            assert_eq!(report.parsed, 1);
        }
    }
}

#[test]
fn more_in_flight_than_the_pipes_hold() {
    let mut plan = floor();
    plan.window = 100;
    plan.text = 50_000;
    assert!(run(&plan).expect("no deadlock").messages >= 1000);
}

#[test]
fn a_run_by_time_ends_in_time() {
    let mut plan = floor();
    plan.until = Until::Elapsed(Duration::from_millis(200));
    let report = run(&plan).expect("the floor is right");
    assert!(report.elapsed >= Duration::from_millis(200));
    assert!(report.elapsed < Duration::from_secs(10));
}

#[test]
fn what_is_no_answer_fails_the_run() {
    for script in [
        // The request itself.
        "cat",
        // Another call's text, an error, no JSON at all.
        r#"head -n1 | sed 's/"id":\([0-9]*\).*/{"jsonrpc":"2.0","id":\1,"result":{"resultType":"complete","content":[{"type":"text","text":"9"}]}}/'"#,
        r#"head -n1 | sed 's/,"method".*/,"error":{"code":1,"message":"no"}}/'"#,
        "echo starting up",
    ] {
        match run(&shell(script)) {
            Err(Failure::Wrong(_)) => {}
            other => panic!("{script}: {other:?}"),
        }
    }
}

#[test]
fn a_repeated_answer_fails_the_run() {
    let script = r#"sed -u 's/.*"id":\([0-9]*\).*"text":"\([^"]*\)".*/{"jsonrpc":"2.0","id":\1,"result":{"resultType":"complete","content":[{"type":"text","text":"\2"}]}}/;p'"#;
    match run(&shell(script)) {
        Err(Failure::NotOutstanding(_)) => {}
        other => panic!("{other:?}"),
    }
    let once = script.replace(";p", "");
    assert!(run(&shell(&once)).expect("right").messages >= 1000);
}

#[test]
fn an_answer_after_the_last_fails_the_run() {
    let floor = env!("CARGO_BIN_EXE_floor_server");
    let late = r#"{"jsonrpc":"2.0","id":1073741888,"result":{"resultType":"complete","content":[{"type":"text","text":"1073741888abcdefghijklmnopqrstuv"}]}}"#;
    match run(&shell(&format!("{floor}; echo '{late}'"))) {
        Err(Failure::NotOutstanding(1_073_741_888)) => {}
        other => panic!("{other:?}"),
    }
    match run(&shell(&format!("{floor}; printf half"))) {
        Err(Failure::Wrong(_)) => {}
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_server_that_ends_owes_its_answers() {
    for script in ["exit 0", "head -n1 >/dev/null"] {
        match run(&shell(script)) {
            Err(Failure::Closed { owed: 64 }) => {}
            other => panic!("{script}: {other:?}"),
        }
    }
}

#[test]
fn a_silent_server_is_given_up_in_time() {
    // The last leaves the process group and keeps the pipe: killing the group does not end the read.
    for script in [
        "sleep 60",
        "cat >/dev/null",
        "setsid sleep 5 & exec sleep 60",
    ] {
        let mut plan = shell(script);
        plan.limit = Duration::from_millis(200);
        let start = Instant::now();
        match run(&plan) {
            Err(Failure::Late { owed: 64 }) => {}
            other => panic!("{script}: {other:?}"),
        }
        assert!(start.elapsed() < Duration::from_secs(4), "{script}");
    }
}

#[test]
fn a_line_without_end_is_given_up() {
    match run(&shell("yes | tr -d '\\n'")) {
        Err(Failure::LongLine(_)) => {}
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_server_that_is_not_there_is_an_error() {
    match run(&plan(&["/nonexistent/server"])) {
        Err(Failure::Io(_)) => {}
        other => panic!("{other:?}"),
    }
    assert!(matches!(run(&plan(&[])), Err(Failure::Io(_))));
}

#[test]
fn the_legacy_era_needs_its_handshake() {
    let mut plan = shell(
        r#"echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2024-11-05","capabilities":{}}}'; cat >/dev/null"#,
    );
    plan.era = Era::Legacy;
    match run(&plan) {
        Err(Failure::Wrong(_)) => {}
        other => panic!("{other:?}"),
    }
}
