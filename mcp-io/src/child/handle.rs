//! A running child: started, watched, ended.

use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use async_channel::{Receiver, Sender};
use async_io::Timer;
use futures_lite::future;

use super::group::{Group, Signal};
use super::stderr::{Drain, Tail};
use super::streams::Stdin;
use super::supervisor::{KILLED, Supervisor};
use super::{Child, Command, Reader, SpawnError, Stderr, Writer, lookup};

/// Target of the traced lines of standard error.
pub(super) const STDERR: &str = "mcp_io::child::stderr";

/// How long a child may take to end.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Shutdown {
    /// After its standard input was closed. Default: 2 seconds.
    pub after_close: Duration,
    /// After SIGTERM. Default: 2 seconds. Does not apply on Windows, which has nothing like it.
    pub after_term: Duration,
}

impl Default for Shutdown {
    fn default() -> Self {
        Self {
            after_close: Duration::from_secs(2),
            after_term: Duration::from_secs(2),
        }
    }
}

/// How a child ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Exit {
    /// What the system says. `None`: it does not, or the child has not ended though it was killed (it waits for a broken
    /// disk, say).
    pub status: Option<ExitStatus>,
    /// What it took.
    pub step: Step,
}

/// What was done to end a child before it ended.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum Step {
    /// Nothing.
    Itself,
    /// [`Handle::shutdown`] closed its standard input.
    Closed,
    /// It got SIGTERM.
    Terminated,
    /// It was killed.
    Killed,
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.status {
            Some(status) => write!(f, "{status}"),
            None => f.write_str("unknown exit status"),
        }
    }
}

/// A child process. Dropping this kills the child and its group at once.
#[derive(Debug)]
pub struct Handle {
    shared: Arc<Shared>,
    /// Closed when this is dropped.
    orders: Sender<Shutdown>,
    /// Closed when the child has ended.
    gone: Receiver<Infallible>,
    /// Closed when there is nothing left to do.
    done: Receiver<Infallible>,
}

/// What the child's thread and the handle share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) id: u32,
    pub(super) stdin: Arc<Stdin>,
    pub(super) exit: OnceLock<Exit>,
    tail: Arc<Tail>,
    group: Mutex<Group>,
}

impl Shared {
    pub(super) fn signal(&self, signal: Signal) {
        if self.group().signal(signal) {
            tracing::debug!(child = self.id, "{signal}");
        }
    }

    /// Whether the child's group has nobody left. The child itself has ended.
    pub(super) fn is_group_gone(&self) -> bool {
        self.group().is_gone()
    }

    /// Nobody is signalled from now on.
    pub(super) fn forget_group(&self) {
        self.group().forget();
    }

    fn group(&self) -> MutexGuard<'_, Group> {
        self.group.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn exit_or_unknown(&self) -> Exit {
        self.exit.get().copied().unwrap_or(Exit {
            status: None,
            step: Step::Killed,
        })
    }
}

impl Command {
    /// Starts the program. This blocks for as long as the system takes for it, some milliseconds at most, and starts a
    /// thread that looks after the child until it has ended.
    ///
    /// # Errors
    ///
    /// The program could not be started. One that starts and ends at once is no error here.
    pub fn spawn(&self) -> Result<Child, SpawnError> {
        let environment = self.environment();
        let path = environment
            .get("PATH".as_ref() as &std::ffi::OsStr)
            .map(|path| path.as_os_str());
        let dir = self.dir.as_deref();
        let mut command = std::process::Command::new(lookup::resolve(&self.program, dir, path));
        command.args(&self.args).env_clear().envs(&environment);
        if let Some(dir) = dir {
            command.current_dir(dir);
        }
        Group::prepare(&mut command);
        let mut command = async_process::Command::from(command);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(match self.stderr {
                Stderr::Capture | Stderr::Lines(_) => Stdio::piped(),
                Stderr::Forward => Stdio::inherit(),
                Stderr::Drop => Stdio::null(),
            });
        let child = command
            .spawn()
            .map_err(|error| SpawnError::explain(error, &self.program, dir, path))?;
        self.supervise(child).map_err(|error| SpawnError::Other {
            program: self.program.clone(),
            error,
        })
    }

    fn supervise(&self, mut child: async_process::Child) -> std::io::Result<Child> {
        let stdin = Stdin::new(child.stdin.take().expect("it is a pipe"));
        let stdout = child.stdout.take().expect("it is a pipe");
        let tail = Arc::new(Tail::new(self.tail));
        let drain = Drain::new(child.stderr.take(), &self.stderr, tail.clone());
        let (orders, ordered) = async_channel::bounded(1);
        let (gone_sender, gone) = async_channel::bounded(1);
        let (done_sender, done) = async_channel::bounded(1);
        let id = child.id();
        let status = child.status();
        let shared = Arc::new(Shared {
            id,
            stdin: stdin.clone(),
            exit: OnceLock::new(),
            group: Mutex::new(Group::new(child)),
            tail,
        });
        let handle = Handle {
            shared: shared.clone(),
            orders,
            gone: gone.clone(),
            done,
        };
        let supervisor = Supervisor::new(shared, status, drain, ordered, gone_sender);
        // Where there is no thread to be had, the handle is dropped, which kills the child.
        std::thread::Builder::new()
            .name(format!("child {id}"))
            .spawn(move || {
                async_io::block_on(supervisor.run());
                drop(done_sender);
            })?;
        tracing::debug!(child = id, program = %self.program.display(), "started");
        Ok(Child {
            reader: Reader::new(stdout, gone),
            writer: Writer(stdin),
            handle,
        })
    }
}

impl Handle {
    /// The number of the process, which on Unix is the number of its group as well.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.shared.id
    }

    /// How the child ended, if it has.
    #[must_use]
    pub fn try_exit(&self) -> Option<Exit> {
        self.shared.exit.get().copied()
    }

    /// Waits for the end of the child, which is noticed at once, whoever keeps its pipes open. Nothing is done to bring it
    /// about. Can be waited for in several places.
    pub fn exit(&self) -> impl Future<Output = Exit> + Send + use<> {
        let (gone, shared) = (self.gone.clone(), self.shared.clone());
        async move {
            // Nothing is ever sent: this ends when the sender is dropped.
            let _ = gone.recv().await;
            shared.exit_or_unknown()
        }
    }

    /// The last of what the child said on standard error, if that is [captured](Stderr::Capture). All of it is here
    /// when [`exit`](Self::exit) is.
    #[must_use]
    pub fn stderr_tail(&self) -> String {
        self.shared.tail.text()
    }

    /// [`stderr_tail`](Self::stderr_tail) for whoever does not have the handle; it keeps nothing of the child but that.
    pub fn stderr(&self) -> impl Fn() -> String + Send + Sync + use<> {
        let tail = self.shared.tail.clone();
        move || tail.text()
    }

    /// Ends the child: closes its standard input, though there may be a [`Writer`]; waits; sends SIGTERM to its group;
    /// waits; sends SIGKILL to its group. Each step only if somebody is left. Returns when the child has been reaped and
    /// its group is gone, at most two seconds after SIGKILL.
    ///
    /// Dropping the future kills the group at once.
    pub async fn shutdown(self, how: Shutdown) -> Exit {
        // First this, so that whoever notices an exit knows why. Refused if the child's thread is done, or about to be.
        let _ = self.orders.try_send(how);
        self.shared.stdin.close();
        let done = async {
            let _ = self.done.recv().await;
        };
        let most = how.after_close.saturating_add(how.after_term);
        let late = async {
            Timer::after(most.saturating_add(KILLED)).await;
        };
        future::or(done, late).await;
        self.shared.exit_or_unknown()
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // First this, so that whoever notices the exit knows why.
        self.orders.close();
        // Here rather than on the child's thread: this process may be about to end.
        self.shared.signal(Signal::Kill);
    }
}
