//! The child and all processes that it started: what signals go to.

use std::fmt;

#[cfg(not(unix))]
pub(super) use portable::Group;
#[cfg(unix)]
pub(super) use unix::Group;

/// How to ask.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Signal {
    /// To end, in its own way.
    Terminate,
    Kill,
}

impl fmt::Display for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Terminate => "SIGTERM",
            Self::Kill => "SIGKILL",
        })
    }
}

#[cfg(unix)]
mod unix {
    use std::os::unix::process::CommandExt;

    use async_process::Child;
    use rustix::io::Errno;
    use rustix::process::{self, Pid};

    use super::{Signal, is_dead};

    /// A process group, whose number is its first process's.
    ///
    /// The number is the system's to give away again when the last process of the group is gone and the first one has been
    /// reaped. Reaping happens nowhere but in the supervisor, which asks right after it whether anybody is left and, while
    /// somebody is, again every few milliseconds: a number is never signalled long after it was last seen in use.
    #[derive(Debug)]
    pub(crate) struct Group {
        leader: Pid,
        gone: bool,
    }

    impl Group {
        pub(crate) fn prepare(command: &mut std::process::Command) {
            command.process_group(0);
        }

        pub(crate) fn new(child: Child) -> Self {
            let id = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
            Self {
                leader: id.expect("a process has a number, and it is positive"),
                gone: false,
            }
        }

        /// Whether nobody is left. The first process has been reaped.
        pub(crate) fn is_gone(&mut self) -> bool {
            self.gone = self.gone
                || process::test_kill_process_group(self.leader) == Err(Errno::SRCH)
                || is_dead(self.leader);
            self.gone
        }

        pub(crate) fn forget(&mut self) {
            self.gone = true;
        }

        /// Whether it was sent.
        pub(crate) fn signal(&self, signal: Signal) -> bool {
            let signal = match signal {
                Signal::Terminate => process::Signal::TERM,
                Signal::Kill => process::Signal::KILL,
            };
            // Refused if all have just ended, or run as somebody else: either way nothing can be done.
            !self.gone && process::kill_process_group(self.leader, signal).is_ok()
        }
    }
}

/// Whether all processes of a group are dead, though their parent has not reaped them: in many a container the first
/// process reaps nobody, and those who were left behind stay in the system's table until it ends.
#[cfg(target_os = "linux")]
fn is_dead(group: rustix::process::Pid) -> bool {
    let Ok(all) = std::fs::read_dir("/proc") else {
        return false;
    };
    let group = group.as_raw_pid().to_string();
    let mut seen = false;
    for entry in all.flatten() {
        if !entry.file_name().as_encoded_bytes()[0].is_ascii_digit() {
            continue;
        }
        let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else {
            continue;
        };
        // number (name) state parent group ..., where the name may contain anything.
        let mut fields = stat.rsplit(") ").next().unwrap_or_default().split(' ');
        let state = fields.next();
        if fields.nth(1) == Some(&*group) {
            if state != Some("Z") && state != Some("X") {
                return false;
            }
            seen = true;
        }
    }
    // None is seen where processes of others are hidden.
    seen
}

#[cfg(all(unix, not(target_os = "linux")))]
fn is_dead(_: rustix::process::Pid) -> bool {
    false
}

#[cfg(not(unix))]
mod portable {
    use async_process::Child;

    use super::Signal;

    /// The process alone. There is no way to ask it to end, other than the end of its input.
    #[derive(Debug)]
    pub(crate) struct Group(Child);

    impl Group {
        pub(crate) fn prepare(command: &mut std::process::Command) {
            #[cfg(windows)]
            {
                use std::os::windows::process::CommandExt;
                /// No console window pops up when a program without a console starts one that wants one.
                const CREATE_NO_WINDOW: u32 = 0x0800_0000;
                /// The console's interruptions are for the host.
                const CREATE_NEW_PROCESS_GROUP: u32 = 0x0000_0200;
                command.creation_flags(CREATE_NO_WINDOW | CREATE_NEW_PROCESS_GROUP);
            }
            #[cfg(not(windows))]
            let _ = command;
        }

        pub(crate) fn new(child: Child) -> Self {
            Self(child)
        }

        /// Whether nobody is left: the process has ended.
        pub(crate) fn is_gone(&self) -> bool {
            true
        }

        pub(crate) fn forget(&self) {}

        /// Whether it was sent.
        pub(crate) fn signal(&mut self, signal: Signal) -> bool {
            // Refused if it has ended.
            signal == Signal::Kill && self.0.kill().is_ok()
        }
    }
}
