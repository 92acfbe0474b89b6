use std::time::{Duration, Instant};

use futures_lite::{AsyncReadExt, AsyncWriteExt};

use crate::processes::{quick, read_all, read_line, run, runs, sleep, spawn, write};

#[test]
fn a_dialogue() {
    run(async {
        let mut child = spawn("cat; echo bye");
        for line in ["one", "two", "three"] {
            write(&mut child.writer, &format!("{line}\n")).await;
            assert_eq!(read_line(&mut child.reader).await, line);
        }
        drop(child.writer);
        assert_eq!(read_all(&mut child.reader).await, "bye\n");
        assert!(child.handle.exit().await.status.expect("known").success());
    });
}

/// All that a child wrote before it ended is read, though the end was noticed long before.
#[test]
fn what_the_child_left_is_read() {
    run(async {
        let mut child = spawn("head -c 60000 /dev/zero | tr '\\0' x; echo; echo last");
        child.handle.exit().await;
        let text = read_all(&mut child.reader).await;
        assert!(text.ends_with("x\nlast\n"));
        assert_eq!(text.len(), 60_000 + 6);
        assert_eq!(child.reader.read(&mut [0]).await.expect("its end"), 0);
    });
}

/// A process that has left the group keeps standard output open, and even writes to it.
#[test]
fn pr_01_a_stranger_keeps_the_pipe_open() {
    run(async {
        for stranger in ["sleep 30", "yes"] {
            let script = format!("setsid sh -c 'echo $$; exec {stranger}' & sleep 0.2");
            let mut child = spawn(&script);
            let id: u32 = read_line(&mut child.reader)
                .await
                .parse()
                .expect("a number");
            let start = Instant::now();
            // Somebody who talks all the time is not listened to for ever.
            let mut left = vec![0; 64 * 1024];
            while child.reader.read(&mut left).await.expect("it can be read") > 0 {}
            assert!(start.elapsed() < Duration::from_secs(10));
            assert!(child.handle.try_exit().is_some());
            child.handle.shutdown(quick()).await;
            assert!(start.elapsed() < Duration::from_secs(10));
            if stranger == "sleep 30" {
                assert!(runs(id), "it has left the group");
                rustix::process::kill_process(pid(id), rustix::process::Signal::KILL)
                    .expect("it runs");
            }
        }
    });
}

pub(crate) fn pid(id: u32) -> rustix::process::Pid {
    let id = i32::try_from(id).expect("the system's numbers fit");
    rustix::process::Pid::from_raw(id).expect("not zero")
}

#[test]
fn a_child_that_closes_its_output_and_lives() {
    run(async {
        let mut child = spawn("exec 1>&-; sleep 30");
        assert_eq!(read_all(&mut child.reader).await, "");
        sleep(50).await;
        assert_eq!(child.handle.try_exit(), None);
        let exit = child.handle.shutdown(quick()).await;
        assert_eq!(exit.to_string(), "signal: 15 (SIGTERM)");
    });
}

/// A writer that waits for a child that does not read is told when the handle closes the pipe.
#[test]
fn nothing_is_written_after_the_end() {
    run(async {
        let mut child = spawn("sleep 30");
        let filled = futures_lite::future::or(
            async {
                let full = [0; 1024];
                while child.writer.write(&full).await.is_ok() {}
                false
            },
            async {
                sleep(100).await;
                true
            },
        );
        assert!(filled.await, "the pipe is full");
        child.handle.shutdown(quick()).await;
        let error = child.writer.write(b"x").await.expect_err("it is closed");
        assert_eq!(error.kind(), std::io::ErrorKind::BrokenPipe);
    });
}
