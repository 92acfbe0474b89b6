//! Whatever kind of descriptor standard input and output are, and whoever else has them open.

use std::fs::File;
use std::io::Write;
use std::net::Shutdown;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::fs::OFlags;

use crate::child::{INITIALIZE, INITIALIZED, PING, PONG, Serve, call, mcp_serve, slow, text};

const SECOND: Duration = Duration::from_secs(1);

/// A file that is gone with the test.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str, content: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::write(&path, content).expect("the build directory can be written");
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn files() {
    let mut script = format!("{INITIALIZE}\n{INITIALIZED}\n");
    for id in 0..1000 {
        let arguments = format!("{{\"text\":\"{}\"}}", "x".repeat(id));
        script += &(call(&id.to_string(), "echo", &arguments) + "\n");
    }
    script += &slow("\"last\"", 2, 20);
    let input = Scratch::new("files-input", &script);
    let output = Scratch::new("files-output", "");
    let mut command = mcp_serve();
    command
        .stdin(File::open(&input.0).expect("just written"))
        .stdout(File::create(&output.0).expect("just written"));
    assert_eq!(Serve::on(command, None, None).end().clean(), [""; 0]);
    let lines = std::fs::read_to_string(&output.0).expect("UTF-8");
    let lines: Vec<_> = lines.lines().collect();
    assert_eq!(lines.len(), 1002);
    for id in 0..1000 {
        assert_eq!(lines[id + 1], text(&id.to_string(), &"x".repeat(id)));
    }
    assert_eq!(lines[1001], text("\"last\"", "done after 2 steps"));
}

/// What a shell's `< /dev/null` and `<&-` give: no input, and an end at once.
#[test]
fn no_input() {
    let mut null = mcp_serve();
    null.stdin(Stdio::null()).stdout(Stdio::piped());
    let mut closed = Command::new("sh");
    closed.args(["-c", "exec \"$0\" serve <&-", env!("CARGO_BIN_EXE_mcp")]);
    let mut both = Command::new("sh");
    both.args(["-c", "exec \"$0\" serve <&- >&-", env!("CARGO_BIN_EXE_mcp")]);
    for command in [null, closed, both] {
        let ended = Serve::on(command, None, None).end();
        assert!(ended.after < SECOND, "{:?}", ended.after);
        assert_eq!(ended.clean(), [""; 0]);
    }
}

/// A directory can be opened and not read.
#[test]
fn input_that_cannot_be_read() {
    let mut command = mcp_serve();
    command
        .stdin(File::open("/").expect("a directory"))
        .stdout(Stdio::null());
    let ended = Serve::on(command, None, None).end();
    assert_eq!(ended.status.code(), Some(1));
    assert!(ended.after < SECOND, "{:?}", ended.after);
    assert!(
        ended
            .stderr
            .starts_with("mcp serve: cannot read the input: "),
        "{}",
        ended.stderr
    );
}

/// A full disk is a failure that is told, and no client that left.
#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written() {
    for calls in [1, 2000] {
        let (far, near) = std::io::pipe().expect("a pipe");
        let mut command = mcp_serve();
        let full = File::options().write(true).open("/dev/full");
        command.stdin(far).stdout(full.expect("Linux has it"));
        let serve = Serve::on(command, None, None);
        let mut near = near;
        // More than the buffers hold. It may end before it has read everything.
        let _ = near.write_all(format!("{PING}\n").repeat(calls).as_bytes());
        assert!(serve.ends_within(SECOND), "the input is still open");
        let ended = serve.end();
        assert_eq!(ended.status.code(), Some(1));
        assert!(
            ended
                .stderr
                .starts_with("mcp serve: cannot write the output: No space left"),
            "{}",
            ended.stderr
        );
    }
}

/// Node gives its children sockets.
#[test]
fn sockets() {
    let (mut serve, input, _) = on_sockets();
    for id in ["1", "2"] {
        serve.send(&call(id, "echo", r#"{"text":"a"}"#));
        assert_eq!(serve.line(), text(id, "a"));
    }
    serve.send(&slow("3", 2, 20));
    input.shutdown(Shutdown::Write).expect("it is connected");
    assert_eq!(serve.line(), text("3", "done after 2 steps"));
    assert_eq!(serve.end().clean(), [""; 0]);
}

/// One socket for both directions, as inetd has it.
#[test]
fn one_socket() {
    let (near, far) = UnixStream::pair().expect("a pair");
    let mut command = mcp_serve();
    command
        .stdin(OwnedFd::from(far.try_clone().expect("a copy")))
        .stdout(OwnedFd::from(far));
    let output = File::from(OwnedFd::from(near.try_clone().expect("a copy")));
    let input = File::from(OwnedFd::from(near.try_clone().expect("a copy")));
    let mut serve = Serve::on(command, Some(input), Some(output)).initialized();
    let long = "x".repeat(1_000_000);
    serve.send(&call("1", "echo", &format!(r#"{{"text":"{long}"}}"#)));
    assert_eq!(serve.line(), text("1", &long));
    near.shutdown(Shutdown::Write).expect("it is connected");
    assert_eq!(serve.end().clean(), [""; 0]);
}

/// The client closes its sockets with answers still in them: that ends the session, and is no failure.
#[test]
fn a_socket_that_is_closed_with_unread_answers() {
    let (near, far) = UnixStream::pair().expect("a pair");
    let mut command = mcp_serve();
    command
        .stdin(OwnedFd::from(far.try_clone().expect("a copy")))
        .stdout(OwnedFd::from(far));
    let serve = Serve::on(command, None, None);
    let mut near = near;
    near.write_all(format!("{PING}\n").as_bytes())
        .expect("the server reads");
    let mut peeked = [0; 1];
    let copy = File::from(OwnedFd::from(near.try_clone().expect("a copy")));
    std::io::Read::read_exact(&mut &copy, &mut peeked).expect("an answer");
    drop((near, copy));
    assert!(serve.ends_within(SECOND), "both ends are gone");
    assert_eq!(serve.end().clean(), [""; 0]);
}

/// Decision 4: the mode of a description that others share stays as it was.
#[test]
fn the_parents_descriptors_stay_blocking() {
    let (far_in, near_in) = std::io::pipe().expect("a pipe");
    let (near_out, far_out) = std::io::pipe().expect("a pipe");
    let shared = [
        far_in.try_clone().expect("a copy").into(),
        far_out.try_clone().expect("a copy").into(),
    ];
    let mut command = mcp_serve();
    command.stdin(far_in).stdout(far_out);
    let input = File::from(OwnedFd::from(near_in));
    let output = File::from(OwnedFd::from(near_out));
    let serve = Serve::on(command, Some(input), Some(output)).initialized();
    stays_blocking(serve, &shared, |serve| serve.input = None);

    let (serve, input, far) = on_sockets();
    stays_blocking(serve, &far, |_| {
        input.shutdown(Shutdown::Write).expect("it is connected");
    });
}

fn stays_blocking(mut serve: Serve, shared: &[OwnedFd], close: impl FnOnce(&mut Serve)) {
    let check = |when| {
        for fd in shared {
            let flags = rustix::fs::fcntl_getfl(fd.as_fd()).expect("open");
            assert!(!flags.contains(OFlags::NONBLOCK), "{when}: {flags:?}");
        }
    };
    check("before");
    serve.ping();
    check("after the first message");
    serve.send(&slow("1", 3, 30));
    check("while a call runs");
    // More than a pipe or socket holds, so that writes wait.
    let long = "x".repeat(2_000_000);
    serve.send(&call("2", "echo", &format!(r#"{{"text":"{long}"}}"#)));
    std::thread::sleep(Duration::from_millis(30));
    check("while a write waits");
    let mut lines = [serve.line(), serve.line()];
    lines.sort();
    assert_eq!(lines, [text("1", "done after 3 steps"), text("2", &long)]);
    close(&mut serve);
    assert!(serve.ends_within(SECOND));
    check("after the end");
}

/// `mcp serve` on a pair of sockets each way: the writing end of its input, and copies of its own ends.
fn on_sockets() -> (Serve, UnixStream, [OwnedFd; 2]) {
    let (near_in, far_in) = UnixStream::pair().expect("a pair");
    let (near_out, far_out) = UnixStream::pair().expect("a pair");
    let copies = [&far_in, &far_out].map(|far| far.try_clone().expect("a copy").into());
    let mut command = mcp_serve();
    command
        .stdin(OwnedFd::from(far_in))
        .stdout(OwnedFd::from(far_out));
    let input = File::from(OwnedFd::from(near_in.try_clone().expect("a copy")));
    let output = File::from(OwnedFd::from(near_out));
    let mut serve = Serve::on(command, Some(input), Some(output));
    serve.send(PING);
    assert_eq!(serve.line(), PONG);
    (serve.initialized(), near_in, copies)
}
