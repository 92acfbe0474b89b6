//! A program at a terminal.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use rustix::fs::{Mode, OFlags};
use rustix::pty::OpenptFlags;

/// No wait is longer.
const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) struct Session {
    near: File,
    /// What the program shows, as it comes.
    screen: mpsc::Receiver<Vec<u8>>,
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
        let near = File::from(near);
        let mut side = near.try_clone().expect("a copy");
        let (sender, screen) = mpsc::channel();
        thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(read @ 1..) = side.read(&mut buffer)
                && sender.send(buffer[..read].to_vec()).is_ok()
            {}
        });
        Self {
            near,
            screen,
            child,
            shown: String::new(),
        }
    }

    /// Until this is shown; returns what came before it.
    pub(crate) fn until(&mut self, words: &str) -> String {
        loop {
            if let Some(at) = self.shown.find(words) {
                let rest = self.shown.split_off(at + words.len());
                return core::mem::replace(&mut self.shown, rest);
            }
            match self.screen.recv_timeout(PATIENCE) {
                Ok(bytes) => self.shown.push_str(&String::from_utf8_lossy(&bytes)),
                Err(error) => panic!("no {words:?} in {}: {error}", self.shown),
            }
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
