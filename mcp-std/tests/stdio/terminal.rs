//! Standard input and output as a terminal: somebody tries a server by hand.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::process::Command;
use std::time::Duration;

use rustix::fs::{Mode, OFlags};
use rustix::pty::OpenptFlags;

use crate::child::{INITIALIZE, INITIALIZED, Serve, call, mcp_serve, text};

const END_OF_FILE: &[u8] = b"\x04";

/// What a person is told, and all that is said on standard error.
const HINT: &str = "mcp serve: one JSON message a line on standard input, answers on standard output; end with Ctrl-D; `mcp demo` shows a session\n";

/// A new terminal: the side of the person, the side of programs, and a server that is on it.
fn terminal() -> (File, OwnedFd, Command) {
    let near = rustix::pty::openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)
        .expect("a terminal");
    rustix::pty::grantpt(&near).expect("it is ours");
    rustix::pty::unlockpt(&near).expect("it is ours");
    let name = rustix::pty::ptsname(&near, Vec::new()).expect("it has a name");
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let far = rustix::fs::open(&name, flags, Mode::empty()).expect("its other side");
    let mut command = mcp_serve();
    let copy = || far.try_clone().expect("a copy");
    command.stdin(copy()).stdout(copy());
    (File::from(near), far, command)
}

#[test]
fn a_person_at_a_terminal() {
    let (near, shared, command) = terminal();
    let input = near.try_clone().expect("a copy");
    let mut serve = Serve::on(command, Some(input), Some(near));
    serve.send(INITIALIZE);
    serve.send(INITIALIZED);
    for (id, said) in [("2", "é"), ("3", "again")] {
        serve.send(&call(id, "echo", &format!("{{\"text\":\"{said}\"}}")));
        // The terminal shows what is typed as well, and ends lines its way.
        while serve.line() != text(id, said) + "\r" {}
    }
    let flags = rustix::fs::fcntl_getfl(&shared).expect("open");
    assert!(!flags.contains(OFlags::NONBLOCK), "{flags:?}");
    serve.write(END_OF_FILE);
    assert!(
        serve.ends_within(Duration::from_secs(1)),
        "as at any end of input"
    );
    drop(shared);
    let ended = serve.end();
    assert!(ended.status.success(), "{}: {}", ended.status, ended.stderr);
    assert_eq!(ended.stderr, HINT);
}

/// A window that is closed is an end of input as well.
#[test]
fn a_terminal_that_is_gone() {
    let (near, far, command) = terminal();
    drop(far);
    let input = near.try_clone().expect("a copy");
    let mut serve = Serve::on(command, Some(input), Some(near));
    serve.send(INITIALIZE);
    while !serve
        .line()
        .starts_with(r#"{"jsonrpc":"2.0","id":"init","result""#)
    {}
    serve.leave();
    let ended = serve.end();
    assert!(ended.status.success(), "{}: {}", ended.status, ended.stderr);
    assert_eq!(ended.stderr, HINT);
}
