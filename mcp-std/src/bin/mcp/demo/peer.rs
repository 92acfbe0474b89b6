//! The server as a child process: every wait is bounded, and the child never outlives its [`Peer`].

use core::time::Duration;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Instant;

use mcp_core::Limits;
use mcp_core::frame::{LineFramer, LineOutcome};

/// So many events wait at most: a server that floods us is no longer read from.
const WAITING: usize = 64;
/// The most of one line on standard error that is shown, in bytes.
const LOG_LINE: u64 = 1000;

/// What the child did.
pub(super) enum Event {
    /// A line on standard output, and when it was read.
    Line(Instant, Vec<u8>),
    /// A line on standard output of more than so many bytes.
    TooLong(usize),
    /// A line on standard error.
    Log(String),
    /// Standard output has ended.
    End,
}

/// A child process with a thread that reads each of its outputs.
pub(super) struct Peer {
    child: Child,
    stdin: Option<ChildStdin>,
    events: Receiver<Event>,
}

impl Peer {
    /// Starts it. Its standard error becomes events if `logs`, else it is ours.
    pub(super) fn start(command: &mut Command, logs: bool) -> io::Result<Self> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(if logs {
                Stdio::piped()
            } else {
                Stdio::inherit()
            })
            .spawn()?;
        let (sender, events) = sync_channel(WAITING);
        if let Some(stderr) = child.stderr.take() {
            let sender = sender.clone();
            thread::spawn(move || read_log(stderr, &sender));
        }
        if let Some(stdout) = child.stdout.take() {
            thread::spawn(move || read_lines(stdout, &sender));
        }
        Ok(Self {
            stdin: child.stdin.take(),
            child,
            events,
        })
    }

    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Writes to its standard input. All of a demo is a few kilobytes, which a pipe holds: a server that does not read
    /// cannot block this.
    pub(super) fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stdin
            .as_mut()
            .ok_or(io::ErrorKind::BrokenPipe)?
            .write_all(bytes)
    }

    /// Ends its standard input.
    pub(super) fn close(&mut self) {
        self.stdin = None;
    }

    /// The next event; `None` if there is none until then.
    pub(super) fn event(&self, until: Instant) -> Option<Event> {
        match self.events.recv_timeout(remaining(until)) {
            Ok(event) => Some(event),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(Event::End),
        }
    }

    /// Waits for its end; `None` if it has not come until then.
    pub(super) fn exit(&mut self, until: Instant) -> io::Result<Option<ExitStatus>> {
        loop {
            let status = self.child.try_wait()?;
            if status.is_some() || remaining(until).is_zero() {
                return Ok(status);
            }
            thread::sleep(Duration::from_millis(1));
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // Both do nothing if it has ended. The threads end with the pipes, or with this process.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn remaining(until: Instant) -> Duration {
    until.saturating_duration_since(Instant::now())
}

fn read_lines(mut stdout: impl Read, events: &SyncSender<Event>) {
    let mut framer = LineFramer::new(Limits::DEFAULT.max_message);
    let mut input = Vec::new();
    let mut chunk = [0; 8 * 1024];
    // A read fails only when the child is gone, which is an end like any other.
    while let Ok(length @ 1..) = stdout.read(&mut chunk) {
        let now = Instant::now();
        input.extend_from_slice(chunk.get(..length).unwrap_or_default());
        loop {
            let step = framer.next(&input);
            let event = match step.outcome {
                LineOutcome::Line(line) => Some(Event::Line(now, line.to_vec())),
                LineOutcome::TooLong { limit, .. } => Some(Event::TooLong(limit)),
                LineOutcome::NeedMore | _ => None,
            };
            input.drain(..step.consumed);
            let Some(event) = event else { break };
            if events.send(event).is_err() {
                return;
            }
        }
    }
    // Nobody listens any more if this fails.
    let _ = events.send(Event::End);
}

fn read_log(stderr: impl Read, events: &SyncSender<Event>) {
    let mut stderr = BufReader::new(stderr);
    loop {
        let mut line = Vec::new();
        match (&mut stderr).take(LOG_LINE).read_until(b'\n', &mut line) {
            Ok(1..) => {
                let line = String::from_utf8_lossy(&line).trim_end().to_owned();
                if events.send(Event::Log(line)).is_err() {
                    return;
                }
            }
            Ok(0) | Err(_) => return,
        }
    }
}
