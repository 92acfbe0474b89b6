//! A server process under test. Whatever happens, it is killed, and no wait is longer than [`PATIENCE`].

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::Value;

/// Then the process is killed, so that whoever waits for it, reads from it or writes to it goes on, and fails.
const PATIENCE: Duration = Duration::from_secs(15);

pub(crate) const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#;
pub(crate) const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
pub(crate) const PING: &str = r#"{"jsonrpc":"2.0","id":"ping","method":"ping"}"#;
pub(crate) const PONG: &str = r#"{"jsonrpc":"2.0","id":"ping","result":{}}"#;

pub(crate) struct Serve {
    child: Arc<Mutex<Child>>,
    /// `None`: closed.
    pub(crate) input: Option<File>,
    pub(crate) output: Option<BufReader<File>>,
    stderr: Option<JoinHandle<String>>,
    /// Dropped with this, which ends the watchdog.
    _alive: mpsc::Sender<()>,
}

/// How a process ended, and what it had said.
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    /// What had not been read yet.
    pub(crate) lines: Vec<String>,
    pub(crate) stderr: String,
    /// From the end of its input on.
    pub(crate) after: Duration,
}

pub(crate) fn mcp_serve() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcp"));
    command.arg("serve");
    command
}

/// An example of this package, which `cargo test` puts beside the tests.
pub(crate) fn example(name: &str) -> Command {
    let test = std::env::current_exe().expect("the path of this test");
    let directory = test.parent().and_then(|deps| deps.parent());
    let path: PathBuf = directory
        .expect("target/…/deps")
        .join("examples")
        .join(name);
    assert!(
        path.exists(),
        "{} is not built: run `cargo test` without `--test`, or `cargo build --example {name}` before",
        path.display()
    );
    Command::new(path)
}

impl Serve {
    /// `mcp serve` on three pipes.
    pub(crate) fn start() -> Self {
        Self::spawn(mcp_serve())
    }

    /// [`start`](Self::start), and the handshake of 2025-11-25.
    pub(crate) fn session() -> Self {
        Self::start().initialized()
    }

    /// Any server on three pipes.
    pub(crate) fn spawn(mut command: Command) -> Self {
        command.stderr(Stdio::piped());
        Self::launch(command.stdin(Stdio::piped()).stdout(Stdio::piped()))
    }

    /// `mcp serve` with two pipes and a standard error of the test's own.
    pub(crate) fn with_stderr(stderr: impl Into<Stdio>) -> Self {
        let mut command = mcp_serve();
        command.stderr(stderr);
        Self::launch(command.stdin(Stdio::piped()).stdout(Stdio::piped()))
    }

    /// A server with the given standard input and output, of which `input` and `output` are the other ends.
    pub(crate) fn on(mut command: Command, input: Option<File>, output: Option<File>) -> Self {
        let mut serve = Self::launch(command.stderr(Stdio::piped()));
        // The ends that the command has hold no pipe open here: it is dropped with this function.
        serve.input = input;
        serve.output = output.map(BufReader::new);
        serve
    }

    fn launch(command: &mut Command) -> Self {
        let mut child = command.spawn().expect("the server starts");
        let input = child.stdin.take().map(|pipe| OwnedFd::from(pipe).into());
        let output = child.stdout.take().map(|pipe| OwnedFd::from(pipe).into());
        let stderr = child.stderr.take();
        let child = Arc::new(Mutex::new(child));
        let (alive, watched) = mpsc::channel();
        let watchdog = child.clone();
        std::thread::spawn(move || {
            if watched.recv_timeout(PATIENCE) == Err(mpsc::RecvTimeoutError::Timeout) {
                eprintln!("killed a server that was still running after {PATIENCE:?}");
                let _ = watchdog.lock().expect(UNPOISONED).kill();
            }
        });
        Self {
            child,
            input,
            output: output.map(BufReader::new),
            stderr: stderr.map(|stderr| std::thread::spawn(move || read_all(stderr))),
            _alive: alive,
        }
    }

    pub(crate) fn initialized(mut self) -> Self {
        self.send(INITIALIZE);
        let answer = self.line();
        assert!(
            answer.starts_with(
                r#"{"jsonrpc":"2.0","id":"init","result":{"protocolVersion":"2025-11-25""#
            ),
            "{answer}"
        );
        self.send(INITIALIZED);
        self
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.lock().expect(UNPOISONED).id()
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().expect("the input is open");
        input.write_all(bytes).expect("the server reads");
    }

    pub(crate) fn send(&mut self, line: &str) {
        self.write(format!("{line}\n").as_bytes());
    }

    /// The next line, without its end.
    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        let output = self.output.as_mut().expect("the output is open");
        output.read_line(&mut line).expect("UTF-8");
        assert_eq!(line.pop(), Some('\n'), "a whole line, not {line:?}");
        line
    }

    /// Asks for an answer, which has to be the next line.
    pub(crate) fn ping(&mut self) {
        self.send(PING);
        assert_eq!(self.line(), PONG);
    }

    /// Whether the process has ended by itself within that time.
    pub(crate) fn ends_within(&self, time: Duration) -> bool {
        let start = Instant::now();
        loop {
            let mut child = self.child.lock().expect(UNPOISONED);
            if child.try_wait().expect("it is a child").is_some() {
                return true;
            }
            drop(child);
            if start.elapsed() > time {
                return false;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Closes both its input and its output.
    pub(crate) fn leave(&mut self) {
        (self.input, self.output) = (None, None);
    }

    /// Closes the input, reads what is still said, and waits for the end.
    pub(crate) fn end(mut self) -> Ended {
        let start = Instant::now();
        self.input = None;
        let output = self.output.take().map(read_all).unwrap_or_default();
        assert!(
            output.is_empty() || output.ends_with('\n'),
            "whole lines, not {output:?}"
        );
        while !self.ends_within(Duration::from_millis(100)) {}
        let status = self.child.lock().expect(UNPOISONED).wait();
        let stderr = self
            .stderr
            .take()
            .map(|stderr| stderr.join().expect("reads"));
        Ended {
            status: status.expect("it is a child"),
            lines: output.lines().map(str::to_owned).collect(),
            stderr: stderr.unwrap_or_default(),
            after: start.elapsed(),
        }
    }
}

impl Drop for Serve {
    fn drop(&mut self) {
        // The watchdog may have panicked; there is nothing else to be done then.
        if let Ok(mut child) = self.child.lock() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Ended {
    /// Exit status 0, and nothing on standard error.
    pub(crate) fn clean(self) -> Vec<String> {
        assert!(self.status.success(), "{}: {}", self.status, self.stderr);
        assert_eq!(self.stderr, "");
        self.lines
    }
}

fn read_all(mut from: impl Read) -> String {
    let mut bytes = Vec::new();
    match from.read_to_end(&mut bytes) {
        Ok(_) => {}
        // What a terminal says when nobody has its other side open any more, and a socket whose peer left early.
        Err(error) => assert!(
            matches!(error.raw_os_error(), Some(5 | 104)),
            "cannot read: {error}"
        ),
    }
    String::from_utf8(bytes).expect("UTF-8")
}

/// The line of a call of a tool.
pub(crate) fn call(id: &str, tool: &str, arguments: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#
    )
}

pub(crate) fn slow(id: &str, steps: u32, delay_ms: u32) -> String {
    call(
        id,
        "slow",
        &format!(r#"{{"steps":{steps},"delay_ms":{delay_ms}}}"#),
    )
}

/// The line that answers a call with one text.
pub(crate) fn text(id: &str, text: &str) -> String {
    let text = Value::from(text);
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":{text}}}]}}}}"#
    )
}

const UNPOISONED: &str = "no panic while it is locked";
