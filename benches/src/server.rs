//! The server under test: a child process with our pipes as its standard input and output.

use core::time::Duration;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

/// A running server. Dropping it kills its whole process group and reaps it.
#[derive(Debug)]
pub struct Server {
    child: Child,
    input: Option<ChildStdin>,
    output: ChildStdout,
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
    /// Starts `command` (its first item the program), its standard error being ours.
    ///
    /// # Errors
    ///
    /// The command is empty or cannot be started.
    pub fn start(command: &[String]) -> io::Result<Self> {
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
        let server = Self {
            child,
            input: Some(input),
            output,
        };
        // These are our own ends: the flag is not visible through the child's.
        if let Some(input) = &server.input {
            fcntl_setfl(input, fcntl_getfl(input)? | OFlags::NONBLOCK)?;
        }
        fcntl_setfl(
            &server.output,
            fcntl_getfl(&server.output)? | OFlags::NONBLOCK,
        )?;
        Ok(server)
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

    /// Reads what is there. `None` if nothing is, `Some(0)` at the end.
    ///
    /// # Errors
    ///
    /// Reading failed.
    pub fn read(&self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        loop {
            match rustix::io::read(&self.output, &mut *buffer) {
                Err(Errno::AGAIN) => return Ok(None),
                Err(Errno::INTR) => {}
                other => return Ok(Some(other?)),
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
        // A server that is ending by itself gets a moment, so that a profiler or sanitizer in it can write its report.
        let patience = Instant::now() + Duration::from_millis(500);
        if let Some(group) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            // The child is left unreaped, so that its number cannot have gone to a stranger when the group is killed.
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
            while matches!(waitid(WaitId::Pid(group), options), Ok(None))
                && Instant::now() < patience
            {
                std::thread::sleep(Duration::from_millis(2));
            }
            // Fails if nothing is left in the group, which is as good.
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.wait();
    }
}
