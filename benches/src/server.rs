//! The server under test: a child process with our pipes as its standard input and output.

use alloc::sync::Arc;
use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

/// A running server. Dropping it kills its whole process group and reaps it.
///
/// Its output is read in blocking mode: polling before every read added 0.9 us to a round trip of 6 us, which would
/// hide a part of what servers differ in. So a thread watches the clock, and wakes the reader when time is up.
#[derive(Debug)]
pub struct Server {
    child: Child,
    input: Option<ChildStdin>,
    output: ChildStdout,
    watchdog: Option<Watchdog>,
}

/// What became of a wait for the server.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Ready {
    /// Its output can be read, or has ended.
    Read,
    /// Its input takes more bytes, or is closed; nothing to read.
    Write,
    /// The deadline passed first.
    Late,
}

impl Server {
    /// Starts `command` (its first item the program), its standard error being ours. After `limit` it is killed.
    ///
    /// # Errors
    ///
    /// The command is empty or cannot be started.
    pub fn start(command: &[String], limit: Duration) -> io::Result<Self> {
        let [program, arguments @ ..] = command else {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "an empty command",
            ));
        };
        // A group of its own, so that whatever the server starts is killed with it.
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::other("a child without the pipes asked for"));
        };
        let mut server = Self {
            child,
            input: Some(input),
            output,
            watchdog: None,
        };
        if let Some(input) = &server.input {
            // The pipe's other end, which is the server's, has its own flags.
            fcntl_setfl(input, fcntl_getfl(input)? | OFlags::NONBLOCK)?;
        }
        server.watchdog = Some(Watchdog::start(
            server.group(),
            server.output.as_raw_fd(),
            limit,
        )?);
        Ok(server)
    }

    /// The process group: the child leads it, so they share a number.
    fn group(&self) -> Option<Pid> {
        i32::try_from(self.child.id()).ok().and_then(Pid::from_raw)
    }

    /// The server's process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Writes what the pipe takes now, perhaps nothing.
    ///
    /// # Errors
    ///
    /// The server has closed its input, or writing failed.
    pub fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        let Some(input) = &self.input else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        loop {
            match rustix::io::write(input, bytes) {
                Err(Errno::AGAIN) => return Ok(0),
                Err(Errno::INTR) => {}
                other => return Ok(other?),
            }
        }
    }

    /// Waits for output and reads what is there, 0 bytes at its end.
    ///
    /// # Errors
    ///
    /// Reading failed, or the limit has passed ([`io::ErrorKind::TimedOut`]).
    pub fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let result = rustix::io::read(&self.output, &mut *buffer);
            if self.watchdog.as_ref().is_some_and(Watchdog::has_fired) {
                return Err(io::ErrorKind::TimedOut.into());
            }
            match result {
                Err(Errno::INTR) => {}
                other => return Ok(other?),
            }
        }
    }

    /// Waits until there is something to read, or, if `writing`, room to write, or the deadline.
    ///
    /// # Errors
    ///
    /// Polling failed.
    pub fn wait(&self, writing: bool, deadline: Instant) -> io::Result<Ready> {
        let readable = PollFd::new(&self.output, PollFlags::IN);
        let mut both;
        let mut one;
        let fds: &mut [PollFd<'_>] = match &self.input {
            Some(input) if writing => {
                both = [readable, PollFd::new(input, PollFlags::OUT)];
                &mut both
            }
            _ => {
                one = [readable];
                &mut one
            }
        };
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let timeout = Timespec {
                tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
                tv_nsec: left.subsec_nanos().into(),
            };
            match poll(fds, Some(&timeout)) {
                Ok(0) => return Ok(Ready::Late),
                Ok(_) if fds[0].revents().is_empty() => return Ok(Ready::Write),
                Ok(_) => return Ok(Ready::Read),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Closes the server's input, which tells it to end.
    pub fn close_input(&mut self) {
        self.input = None;
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.input = None;
        self.watchdog = None;
        // A server that is ending by itself gets a moment, so that a profiler or sanitizer in it can write its report.
        let patience = Instant::now() + Duration::from_millis(500);
        if let Some(group) = self.group() {
            // The child is left unreaped, so that its number cannot have gone to a stranger when the group is killed.
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
            while matches!(waitid(WaitId::Pid(group), options), Ok(None))
                && Instant::now() < patience
            {
                thread::sleep(Duration::from_millis(2));
            }
            // Fails if nothing is left in the group, which is as good.
            let _ = kill_process_group(group, Signal::KILL);
        }
        // Fails only if it was reaped before.
        let _ = self.child.wait();
    }
}

/// A thread that ends a run whose time is up. Dropping it before that stops it.
#[derive(Debug)]
struct Watchdog {
    fired: Arc<AtomicBool>,
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Watchdog {
    /// `output` is the number of our descriptor of the server's output, which must stay open as long as this lives.
    fn start(group: Option<Pid>, output: i32, limit: Duration) -> io::Result<Self> {
        let fired = Arc::new(AtomicBool::new(false));
        let (stop, stopped) = channel();
        let seen = Arc::clone(&fired);
        let thread = thread::Builder::new().spawn(move || {
            if stopped.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
                seen.store(true, Ordering::Release);
                // Either may have nothing left to act on: the group has ended, or nobody reads.
                if let Some(group) = group {
                    let _ = kill_process_group(group, Signal::KILL);
                }
                let _ = wake(output);
            }
        })?;
        Ok(Self {
            fired,
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    fn has_fired(&self) -> bool {
        self.fired.load(Ordering::Acquire)
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            // It cannot panic, and if it did there would be nothing to do about it here.
            let _ = thread.join();
        }
    }
}

/// Ends a read that is blocked on this pipe by putting a byte in it.
///
/// The end of the server does that as well, unless a process that left its group has kept the pipe. If the pipe is
/// full this fails, but then no read is blocked.
fn wake(output: i32) -> io::Result<()> {
    let mut writer = OpenOptions::new()
        .write(true)
        .custom_flags(OFlags::NONBLOCK.bits().cast_signed())
        .open(format!("/proc/self/fd/{output}"))?;
    writer.write_all(b"\n")
}
