//! A program at a terminal.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::process::{Child, Command, Stdio};

use rustix::fs::{Mode, OFlags};
use rustix::pty::OpenptFlags;

pub(crate) struct Session {
    near: File,
    pub(crate) child: Child,
    /// What was shown and has not been waited for.
    shown: String,
}

impl Session {
    /// Starts it with the terminal as its standard input and error.
    pub(crate) fn start(mut command: Command) -> Self {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let near = rustix::pty::openpt(flags).expect("a terminal");
        rustix::pty::grantpt(&near).expect("it is ours");
        rustix::pty::unlockpt(&near).expect("it is ours");
        let name = rustix::pty::ptsname(&near, Vec::new()).expect("it has a name");
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let far = rustix::fs::open(&name, flags, Mode::empty()).expect("its other side");
        command.stdin(far.try_clone().expect("a copy")).stderr(far);
        command.stdout(Stdio::piped());
        let child = command.spawn().expect("it runs");
        Self {
            near: File::from(near),
            child,
            shown: String::new(),
        }
    }

    /// Until this is shown; returns what came before it.
    pub(crate) fn until(&mut self, words: &str) -> String {
        let mut buffer = [0; 4096];
        loop {
            if let Some(at) = self.shown.find(words) {
                let rest = self.shown.split_off(at + words.len());
                return core::mem::replace(&mut self.shown, rest);
            }
            let read = self.near.read(&mut buffer).unwrap_or(0);
            assert!(read > 0, "no {words:?} in {}", self.shown);
            self.shown
                .push_str(&String::from_utf8_lossy(&buffer[..read]));
        }
    }

    pub(crate) fn types(&mut self, text: &str) {
        self.near.write_all(text.as_bytes()).expect("a terminal");
    }

    /// The exit status and standard output.
    pub(crate) fn end(mut self) -> (Option<i32>, String) {
        let mut output = String::new();
        let mut stdout = self.child.stdout.take().expect("a pipe");
        stdout.read_to_string(&mut output).expect("UTF-8");
        let status = self.child.wait().expect("it ends");
        (status.code(), output)
    }
}
