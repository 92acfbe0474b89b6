use std::time::{Duration, Instant};

use mcp_io::child::{Child, Shutdown, Step};
use mcp_io::{End, Options, Protocol, drive};
use rustix::process::{Signal, kill_process};

use std::task::{Context, Poll};

use crate::processes::{
    assert_ended, assert_reaped, quick, read_all, read_line, run, sh, sleep, spawn, write,
};
use crate::streams::pid;

/// PR-05: each step only if the one before was not enough.
#[test]
fn pr_05_a_child_is_ended_no_harder_than_it_takes() {
    let polite = "while read line; do :; done; sleep 0.1; echo last";
    let deaf = "trap 'echo last; exit 7' TERM; echo up; while :; do sleep 0.02; done";
    let stubborn = "trap '' TERM; echo up; while :; do sleep 0.02; done";
    run(async {
        for (script, step, status) in [
            (polite, Step::Closed, "exit status: 0"),
            (deaf, Step::Terminated, "exit status: 7"),
            (stubborn, Step::Killed, "signal: 9 (SIGKILL)"),
        ] {
            let Child {
                mut reader, handle, ..
            } = spawn(script);
            let id = handle.id();
            if script != polite {
                assert_eq!(read_line(&mut reader).await, "up");
            }
            let mut how = quick();
            if script == polite {
                how.after_close = Duration::from_secs(20);
            }
            let exit = handle.shutdown(how).await;
            assert_eq!((exit.step, exit.to_string().as_str()), (step, status));
            assert_reaped(id);
            if script != stubborn {
                assert_eq!(read_all(&mut reader).await, "last\n");
            }
        }
    });
}

const FAMILY: &str =
    "sh -c 'trap \"\" TERM INT HUP; echo $$; exec 0<&-; while :; do sleep 0.02; done' & ";

/// PR-01
#[test]
fn pr_01_a_grandchild_that_ignores_everything_is_killed() {
    run(async {
        // The child ends with its input, when it is asked to, not at all.
        for (rest, step) in [
            ("cat >&2", Step::Closed),
            ("exec 0<&-; wait", Step::Terminated),
            ("trap '' TERM; while :; do sleep 0.02; done", Step::Killed),
        ] {
            let mut child = spawn(&format!("{FAMILY} {rest}"));
            let grandchild = read_line(&mut child.reader).await.parse().expect("number");
            let id = child.handle.id();
            let start = Instant::now();
            let exit = child.handle.shutdown(quick()).await;
            assert_eq!(exit.step, step, "{rest}: {exit}");
            assert!(start.elapsed() < Duration::from_secs(5));
            assert_reaped(id);
            assert_ended(grandchild);
        }
    });
}

/// The child is gone, the grandchild holds all its pipes: that is noticed at once, and nobody is left behind.
#[test]
fn pr_01_the_exit_is_noticed_behind_a_grandchild() {
    run(async {
        let mut child = spawn(&format!("{FAMILY} sleep 0.05; exit 5"));
        let grandchild: u32 = read_line(&mut child.reader).await.parse().expect("number");
        let start = Instant::now();
        assert_eq!(read_all(&mut child.reader).await, "");
        assert!(start.elapsed() < Duration::from_secs(1));
        let exit = child.handle.exit().await;
        assert_eq!(exit.to_string(), "exit status: 5");
        assert_eq!(exit.step, Step::Itself);
        // Without being told to: 2 seconds after it was asked to end.
        assert_ended(grandchild);
    });
}

#[test]
fn pr_05_a_handle_that_is_dropped_kills() {
    run(async {
        let mut child = spawn(&format!(
            "trap '' TERM; {FAMILY} while :; do sleep 0.02; done"
        ));
        let grandchild: u32 = read_line(&mut child.reader).await.parse().expect("number");
        let (id, exit) = (child.handle.id(), child.handle.exit());
        drop(child.handle);
        let exit = exit.await;
        assert_eq!(
            (exit.step, exit.to_string().as_str()),
            (Step::Killed, "signal: 9 (SIGKILL)")
        );
        assert_reaped(id);
        assert_ended(grandchild);
        // In the middle of a shutdown that would take an hour.
        let child = spawn("trap '' TERM; while :; do sleep 0.02; done");
        let (id, exit) = (child.handle.id(), child.handle.exit());
        let mut how = Shutdown::default();
        how.after_close = Duration::from_secs(3600);
        futures_lite::future::or(
            async {
                child.handle.shutdown(how).await;
            },
            sleep(50),
        )
        .await;
        assert_eq!(exit.await.step, Step::Killed);
        assert_reaped(id);
    });
}

/// Asks a child for echoes for ever, a few at a time, and ends with its input.
#[derive(Default)]
struct Asker {
    ended: bool,
    heard: usize,
}

impl Protocol for Asker {
    fn window(&self) -> usize {
        64
    }

    fn receive(&mut self, input: &[u8], out: &mut Vec<u8>) -> Option<usize> {
        let end = input.iter().position(|byte| *byte == b'\n')?;
        self.heard += 1;
        out.extend_from_slice(b"again\n");
        Some(end + 1)
    }

    fn finish(&mut self, rest: &[u8], _: &mut Vec<u8>) -> Option<usize> {
        self.ended = true;
        (!rest.is_empty()).then_some(rest.len())
    }

    fn poll(&mut self, _: &mut Context<'_>, out: &mut Vec<u8>, _: usize) -> Poll<()> {
        if self.heard == 0 && out.is_empty() {
            out.extend_from_slice(b"first\nsecond\n");
        }
        Poll::Pending
    }

    fn wants(&self) -> mcp_io::Wants {
        if self.ended {
            mcp_io::Wants::Stop
        } else {
            mcp_io::Wants::More
        }
    }
}

/// Kills the child, or drops everything, at any moment.
fn killed_at_random_moments(rounds: u64) {
    for round in 0..rounds {
        // Spread over the first milliseconds of a child's life, where most happens.
        let wait = Duration::from_micros(round * 7919 % 6000);
        let Child {
            reader,
            writer,
            handle,
            ..
        } = sh("cat & cat; wait").spawn().expect("a shell");
        let (id, exit) = (handle.id(), handle.exit());
        let mut asker = Asker::default();
        let mut options = Options::client();
        options.grace = Duration::from_secs(1);
        run(async {
            let driving = drive(&mut asker, reader, writer, options);
            match round % 3 {
                0 => {
                    let kill = async {
                        async_io::Timer::after(wait).await;
                        kill_process(pid(id), Signal::KILL).expect("it is not reaped yet");
                        std::future::pending().await
                    };
                    let start = Instant::now();
                    let end = futures_lite::future::or(driving, kill).await;
                    assert!(matches!(end, Ok(End::Finished | End::Closed)), "{end:?}");
                    assert!(start.elapsed() < Duration::from_secs(5));
                    assert_eq!(exit.await.to_string(), "signal: 9 (SIGKILL)");
                    handle.shutdown(quick()).await;
                }
                1 => {
                    let wait = async {
                        async_io::Timer::after(wait).await;
                        Ok(End::Complete)
                    };
                    let _ = futures_lite::future::or(driving, wait).await;
                    drop(handle);
                    exit.await;
                }
                _ => {
                    let wait = async {
                        async_io::Timer::after(wait).await;
                        Ok(End::Complete)
                    };
                    let _ = futures_lite::future::or(driving, wait).await;
                    assert!(handle.shutdown(quick()).await.status.is_some());
                }
            }
        });
        assert_reaped(id);
        assert_group_ended(id);
    }
}

/// Nobody of the group runs.
#[track_caller]
fn assert_group_ended(id: u32) {
    let start = Instant::now();
    while let Some(member) = members(id).next() {
        assert!(start.elapsed() < Duration::from_secs(5), "{member}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn members(group: u32) -> impl Iterator<Item = u32> {
    let all = std::fs::read_dir("/proc").expect("Linux");
    all.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(move |id: &u32| {
            let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
            let mut fields = stat.rsplit(") ").next().unwrap_or_default().split(' ');
            fields
                .next()
                .is_some_and(|state| state != "Z" && state != "X")
                && fields.nth(1) == Some(&group.to_string())
        })
}

#[test]
fn killed_at_any_moment() {
    killed_at_random_moments(50);
}

#[test]
#[ignore = "opt-in: takes some 10 seconds; run after changes to the supervisor"]
fn killed_at_any_moment_many_times() {
    killed_at_random_moments(500);
}

/// The whole way: a child that is killed while its client waits for an answer.
#[test]
fn pr_05_an_exit_ends_the_drive() {
    run(async {
        for script in ["read line; exit 1", "kill -9 $$", "exec 0<&-; sleep 0.1"] {
            let child = spawn(script);
            let mut asker = Asker::default();
            let start = Instant::now();
            let end = drive(&mut asker, child.reader, child.writer, Options::client()).await;
            assert!(matches!(end, Ok(End::Finished | End::Closed)), "{end:?}");
            assert!(asker.ended, "{script}: it was told");
            let took = start.elapsed();
            assert!(took < Duration::from_secs(2), "{script}: {took:?}, {end:?}");
        }
        // PR-05: the last line is read though what was written to it could not be.
        let mut child = spawn("exec 0<&-; echo up; sleep 0.1; echo last");
        assert_eq!(read_line(&mut child.reader).await, "up");
        let mut asker = Asker::default();
        let end = drive(&mut asker, child.reader, child.writer, Options::client()).await;
        assert!(matches!(end, Ok(End::Finished)), "{end:?}");
        assert_eq!((asker.heard, asker.ended), (1, true));
    });
}

#[test]
fn a_shutdown_after_the_end_returns_at_once() {
    run(async {
        let mut child = spawn("read line; exit 4");
        write(&mut child.writer, "go\n").await;
        child.handle.exit().await;
        sleep(50).await;
        let start = Instant::now();
        let exit = child.handle.shutdown(Shutdown::default()).await;
        assert_eq!(exit.to_string(), "exit status: 4");
        assert!(start.elapsed() < Duration::from_millis(500));
    });
}
