//! `mcp demo` as its users run it.

use std::io::{BufRead, BufReader};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use mcp_core::json::RawJson;
#[cfg(unix)]
use rustix::fs::{Mode, OFlags};
#[cfg(unix)]
use rustix::termios::Winsize;

const MCP: &str = env!("CARGO_BIN_EXE_mcp");

fn mcp(arguments: &[&str]) -> Command {
    let mut command = Command::new(MCP);
    command.args(arguments).env_remove("COLUMNS");
    command
}

fn output(command: &mut Command) -> Output {
    command.output().expect("the program is there and runs")
}

fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).expect("UTF-8")
}

fn stderr(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).expect("UTF-8")
}

/// The demo of a server that `script` is, a shell script; `$0` is this program.
#[cfg(unix)]
fn demo_of(script: &str) -> Output {
    output(&mut mcp(&["demo", "--", "sh", "-c", script, MCP]))
}

#[test]
fn both_eras_are_drawn() {
    let output = output(&mut mcp(&["demo"]));
    let drawn = stdout(&output);
    assert!(output.status.success(), "{drawn}{}", stderr(&output));
    assert_eq!(stderr(&output), "");
    // One of each, in this order.
    let mut rest = drawn;
    for landmark in [
        "mcp demo ",
        "═ 2025-11-25: ",
        "├─ initialize #1 ─",
        "─ result #1 ─┤",
        "├╌ notifications/initialized ╌",
        "├─ tools/call echo #",
        "─ result, isError #",
        "─ error -32602 #",
        "╌ notifications/progress ╌┤",
        "\"progress\":3",
        "├─ ping #",
        "═ 2026-07-28: ",
        "├─ server/discover #",
        "├╌ notifications/cancelled ╌",
        "250 ms of silence",
        "─ error -32602 #",
        "─ error -32022 #",
        "═ Both eras in one write",
        "├─ end of input ─",
        "─ exit status 0 ─┤",
        " frames: ",
        " checks, all passed",
    ] {
        let at = rest.find(landmark);
        let at = at.unwrap_or_else(|| panic!("no {landmark:?} in its place in\n{drawn}"));
        rest = &rest[at + landmark.len()..];
    }
    assert!(!drawn.contains('\u{1b}'), "no colours in a pipe");
}

#[test]
fn rows_are_as_wide_as_asked() {
    for columns in [60, 100, 140] {
        let output = output(mcp(&["demo"]).env("COLUMNS", columns.to_string()));
        let rows = stdout(&output).lines().filter(|row| row.ends_with('│'));
        assert!(rows.clone().count() > 50);
        for row in rows {
            assert_eq!(row.chars().count(), columns, "{row}");
        }
        for line in stdout(&output).lines() {
            assert!(line.chars().count() <= columns, "{line}");
        }
    }
}

#[cfg(unix)]
#[test]
fn a_terminal_is_asked_for_its_width() {
    use rustix::pty::OpenptFlags;

    let near = rustix::pty::openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)
        .expect("a terminal");
    rustix::pty::grantpt(&near).expect("it is ours");
    rustix::pty::unlockpt(&near).expect("it is ours");
    let name = rustix::pty::ptsname(&near, Vec::new()).expect("it has a name");
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let far = rustix::fs::open(&name, flags, Mode::empty()).expect("its other side");
    let size = Winsize {
        ws_row: 24,
        ws_col: 80,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    rustix::termios::tcsetwinsize(&far, size).expect("a terminal");
    let mut command = mcp(&["demo"]);
    command.env("NO_COLOR", "1").stdout(far);
    let mut demo = command.spawn().expect("the program is there and runs");
    // It has the last copy of the far side, whose end is the end of this one.
    drop(command);
    let mut drawn = BufReader::new(std::fs::File::from(near)).lines();
    let rows = std::iter::from_fn(|| drawn.next()?.ok());
    let widths: Vec<_> = rows.map(|row| row.chars().count()).collect();
    assert!(demo.wait().expect("it ends").success());
    assert!(widths.len() > 50, "{widths:?}");
    assert_eq!(widths.into_iter().max(), Some(80));
}

#[test]
fn json_lines_are_the_frames() {
    let output = output(&mut mcp(&["demo", "--json"]));
    assert!(output.status.success(), "{}", stderr(&output));
    let (mut sent, mut received) = (Vec::new(), Vec::new());
    for line in stdout(&output).lines() {
        let line = RawJson::parse(line.as_bytes()).expect("JSON");
        let members: Vec<_> = line.as_object().expect("an object").collect();
        let [(t_us, time), (dir, direction), (frame, message)] = members[..] else {
            panic!("three members in {line:?}");
        };
        assert!(
            t_us == "t_us" && dir == "dir" && frame == "frame",
            "{line:?}"
        );
        let time = time.as_number().and_then(|number| number.as_u64());
        let time = time.expect("microseconds");
        match direction.as_string().expect("an arrow").decode().as_ref() {
            "->" => sent.push(time),
            "<-" => received.push(time),
            other => panic!("direction {other}"),
        }
        assert!(
            message.as_str().starts_with("{\"jsonrpc\":\"2.0\""),
            "{line:?}"
        );
    }
    for times in [sent, received] {
        assert!(times.len() > 20 && times.is_sorted(), "{times:?}");
    }
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let mut demo = mcp(&["demo"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program is there and runs");
    let mut reader = BufReader::new(demo.stdout.take().expect("it was piped"));
    let mut line = String::new();
    reader.read_line(&mut line).expect("a line");
    drop(reader);
    let output = demo.wait_with_output().expect("it ends");
    assert!(line.contains("mcp demo"), "{line}");
    assert!(output.status.success(), "{:?}", output.status);
    assert_eq!(stderr(&output), "");
}

#[cfg(unix)]
#[test]
fn a_wrong_answer_fails() {
    let output = demo_of(
        r#"echo 'I begin' >&2
        "$0" serve | while IFS= read -r line; do
            printf '%s\n' "$line" | sed 's/"sum":42/"sum":41/'
        done"#,
    );
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stdout(&output).contains("stderr: I begin"),
        "{}",
        stdout(&output)
    );
    let message = stderr(&output);
    assert!(
        message.contains("`result.structuredContent.sum` in the answer to tools/call add #4"),
        "{message}"
    );
    assert!(message.contains("expected: 42\n"), "{message}");
    assert!(message.contains("seen:     41\n"), "{message}");
}

#[cfg(unix)]
#[test]
fn a_server_deaf_to_cancellations_fails() {
    let output = demo_of(
        r#"while IFS= read -r line; do
            case $line in
                *notifications/cancelled*) ;;
                *) printf '%s\n' "$line" ;;
            esac
        done | "$0" serve"#,
    );
    assert_eq!(output.status.code(), Some(1));
    let message = stderr(&output);
    assert!(
        message.contains("expected: 250 ms of silence\n  seen:     `notifications/progress`\n"),
        "{message}"
    );
}

#[cfg(unix)]
#[test]
fn what_is_no_answer_fails() {
    for (script, message) in [
        ("exit 3", "seen:     the end of its output, exit status: 3"),
        ("echo hello; cat >/dev/null", "expected: a JSON-RPC message"),
        (
            r#"echo '{"jsonrpc":"2.0","id":2,"result":{}}'; cat >/dev/null"#,
            "expected: the id of a request in flight\n  seen:     2\n",
        ),
        (
            r#"echo '{"jsonrpc":"2.0","id":1,"method":"roots/list"}'; cat >/dev/null"#,
            "seen:     a request",
        ),
        (
            r#"echo '{"jsonrpc":"2.0","method":"notifications/message"}'; cat >/dev/null"#,
            "seen:     notifications/message",
        ),
        // The text has a control character that needs no escaping in JSON, and that terminals obey.
        (
            r#"printf '{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"\302\2332J"}}\n'; cat >/dev/null"#,
            "expected: \"2025-11-25\"\n  seen:     nothing\n",
        ),
    ] {
        let output = demo_of(script);
        assert_eq!(output.status.code(), Some(1), "{script}");
        for text in [stdout(&output), stderr(&output)] {
            assert!(
                !text.contains(|char: char| char.is_control() && char != '\n'),
                "{text:?}"
            );
        }
        assert!(
            stderr(&output).contains(message),
            "{script}: {}",
            stderr(&output)
        );
    }
    let output = output(&mut mcp(&["demo", "--", "/nonexistent/server"]));
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("start of /nonexistent/server"));
}

/// Silent on standard output, and not to be stopped by the end of its input; talk on standard error is no answer.
#[cfg(unix)]
#[test]
fn a_silent_server_fails_in_seconds_and_is_ended() {
    let start = Instant::now();
    let output = demo_of("exec 0</dev/null; while :; do echo talk >&2; sleep 0.01; done");
    let took = start.elapsed();
    assert_eq!(output.status.code(), Some(1));
    let message = stderr(&output);
    assert!(
        message.contains("silence\n  expected: an answer to initialize #1 within 5"),
        "{message}"
    );
    assert!(took < Duration::from_secs(15), "{took:?}");
    let process = stdout(&output).split_once("(process ").expect("a title").1;
    let process = process.split_once(')').expect("its id").0;
    let alive = Command::new("kill")
        .args(["-0", process])
        .stderr(Stdio::null())
        .status();
    assert!(
        !alive.expect("kill runs").success(),
        "process {process} is still there"
    );
}
