use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_io::child::{Stderr, Step};

use crate::processes::{quick, read_all, read_line, run, sh, spawn, within};

/// As fast as it comes, without a newline, and before the first answer. Nobody polls anything meanwhile but the reader.
#[test]
fn pr_02_a_flood_does_not_block_the_child_nor_fill_memory() {
    let script = "head -c 200000000 /dev/zero | tr '\\0' x >&2; echo done; echo end >&2";
    let before = resident();
    within(Duration::from_secs(120), async {
        let mut child = spawn(script);
        assert_eq!(read_line(&mut child.reader).await, "done");
        let exit = child.handle.exit().await;
        assert!(exit.status.is_some_and(|status| status.success()), "{exit}");
        let tail = child.handle.stderr_tail();
        assert_eq!(tail.len(), 16 * 1024);
        assert!(tail.ends_with("xxxend\n"));
    });
    let grown = resident().saturating_sub(before);
    assert!(grown < 100_000, "{grown} KiB more");
}

/// In KiB. Other tests of this program run at the same time, and are small but for the debug information that a panic's
/// backtrace reads: some 64 MiB.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .and_then(|value| value.trim().split(' ').next()?.parse().ok())
        .expect("it is there")
}

#[test]
fn lines_are_reported_and_a_panic_does_no_harm() {
    let lines: Arc<Mutex<Vec<String>>> = Arc::default();
    let seen = lines.clone();
    let report = move |line: &str| {
        seen.lock()
            .expect("no panic while locked")
            .push(line.into());
        assert_ne!(line, "two", "to see what happens");
    };
    let command = sh("printf 'one\\ntwo\\n\\377\\nthree' >&2; exit 3")
        .stderr(Stderr::Lines(Arc::new(report)))
        .stderr_tail(7);
    run(async {
        let child = command.spawn().expect("there is a shell");
        let exit = child.handle.exit().await;
        assert_eq!(exit.to_string(), "exit status: 3");
        assert_eq!(exit.step, Step::Itself);
        assert_eq!(child.handle.stderr_tail(), "\u{fffd}\nthree");
        child.handle.shutdown(quick()).await;
    });
    let lines = lines.lock().expect("no panic while locked");
    assert_eq!(*lines, ["one", "two", "\u{fffd}", "three"]);
}

/// The reason is there when the exit is.
#[test]
fn the_tail_is_complete_when_the_exit_is_known() {
    for _ in 0..50 {
        run(async {
            let child = spawn("echo missing API key >&2; exit 3");
            child.handle.exit().await;
            assert_eq!(child.handle.stderr_tail(), "missing API key\n");
        });
    }
}

#[test]
fn what_is_not_captured_is_not_kept() {
    run(async {
        // Nothing is written here: it would show up among the test's own messages.
        for (stderr, script) in [
            (Stderr::Drop, "echo lost >&2; echo on"),
            (Stderr::Forward, "echo on"),
        ] {
            let mut child = sh(script).stderr(stderr).spawn().expect("a shell");
            assert_eq!(read_all(&mut child.reader).await, "on\n");
            child.handle.exit().await;
            assert_eq!(child.handle.stderr_tail(), "");
        }
    });
}
