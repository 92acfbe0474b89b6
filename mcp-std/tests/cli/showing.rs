//! What is said beside the output: messages that go by, progress, log messages, what happens.

use crate::program::{EVERYTHING, SMALL, run};

/// One of each, in this order.
fn in_order(text: &str, landmarks: &[&str]) {
    let mut rest = text;
    for landmark in landmarks {
        let at = rest.find(landmark);
        let at = at.unwrap_or_else(|| panic!("no {landmark:?} in its place in\n{text}"));
        rest = &rest[at + landmark.len()..];
    }
}

#[test]
fn trace_draws_both_eras_and_leaves_the_output_alone() {
    for (era, landmarks) in [
        (
            "modern",
            &[
                "ms mcp ",
                "├─ server/discover #",
                "─ result #",
                "├─ tools/call slow #",
                "╌ notifications/progress ╌┤",
                "\"progress\":2",
                "─ result #",
                "\"content\":",
            ][..],
        ),
        (
            "legacy",
            &[
                "├─ initialize #",
                "─ result #",
                "├╌ notifications/initialized ╌",
                "├─ tools/call slow #",
                "╌ notifications/progress ╌┤",
                "─ result #",
            ],
        ),
    ] {
        let arguments = [
            "call",
            "slow",
            "steps=2",
            "delay_ms=1",
            "--trace",
            "--era",
            era,
        ];
        let ran = run(&arguments, SMALL);
        assert_eq!((ran.code, &*ran.stdout), (Some(0), "done after 2 steps\n"));
        in_order(&ran.stderr, landmarks);
        assert!(!ran.stderr.contains('\u{1b}'), "no colours in a pipe");
        for row in ran.stderr.lines() {
            assert!(row.chars().count() <= 100, "{row}");
        }
    }
    let ran = run(&["call", "fail", "--trace", "--json"], SMALL);
    assert_eq!(ran.json()["isError"], true);
    assert!(ran.stderr.contains("─ result, isError #"), "{}", ran.stderr);
    let ran = run(&["call", "nothing", "--trace"], SMALL);
    assert!(ran.stderr.contains("─ error -32602 #"), "{}", ran.stderr);
}

#[test]
fn progress_is_lines_in_a_pipe_and_nothing_beside_json() {
    let arguments = ["call", "slow", "steps=2", "delay_ms=1"];
    let ran = run(&arguments, SMALL);
    let lines = [
        "[############------------] 1 of 2\n",
        "[########################] 2 of 2\n",
    ];
    assert_eq!((ran.code, ran.stderr), (Some(0), lines.concat()));
    run(&[&arguments[..], &["--json"]].concat(), SMALL).good();
}

#[test]
fn log_messages_are_shown_if_asked_for() {
    for era in ["legacy", "modern"] {
        let quiet = run(
            &["call", "test_tool_with_logging", "--era", era],
            EVERYTHING,
        );
        quiet.good();
        let arguments = [
            "call",
            "test_tool_with_logging",
            "--log",
            "info",
            "--era",
            era,
        ];
        let ran = run(&arguments, EVERYTHING);
        let shown = ran.stderr.lines().filter(|line| line.starts_with("[info"));
        assert_eq!((ran.code, shown.count()), (Some(0), 3), "{}", ran.stderr);
    }
}

#[test]
fn what_happens_is_told_on_standard_error() {
    let ran = run(&["ping", "-v"], SMALL);
    assert_eq!(ran.code, Some(0));
    assert!(ran.stderr.contains("connected"), "{}", ran.stderr);
    assert!(!ran.stdout.contains("connected"), "{}", ran.stdout);
}

#[cfg(unix)]
#[test]
fn the_servers_standard_error_is_shown_when_asked_for() {
    use crate::program::MCP;

    let server = [
        "sh",
        "-c",
        "echo 'a \u{1b}[31mword' >&2; exec \"$0\" serve",
        MCP,
    ];
    run(&["ping"], &server).good();
    for option in ["-vv", "--trace"] {
        let ran = run(&["ping", option], &server);
        assert_eq!(ran.code, Some(0));
        let times = ran.stderr.matches("a \u{fffd}[31mword").count();
        assert_eq!(times, 1, "{}", ran.stderr);
        assert_eq!(ran.stderr.matches("31mword").count(), 1, "{}", ran.stderr);
    }
}

#[test]
fn each_command_has_an_example() {
    for command in ["list", "call", "read", "prompt", "complete", "ping"] {
        let output = std::process::Command::new(crate::program::MCP)
            .args([command, "--help"])
            .output();
        let help = output.expect("it runs").stdout;
        let help = String::from_utf8(help).expect("UTF-8");
        let example = format!("mcp {command} ");
        let after = help.split_once("Example").expect("an example").1;
        assert!(
            after.contains(&example) && after.contains("-- mcp serve"),
            "{help}"
        );
    }
}
