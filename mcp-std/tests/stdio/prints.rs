//! STD-03: what is printed by mistake does not reach the protocol.

use crate::child::{Serve, call, example, text};

#[test]
fn stray_prints_go_to_standard_error() {
    let mut serve = Serve::spawn(example("stray_prints")).initialized();
    for id in ["1", "2"] {
        serve.send(&call(id, "chatty", "{}"));
        assert_eq!(serve.line(), text(id, "nothing of it came here"));
    }
    let ended = serve.end();
    assert!(ended.status.success(), "{}: {}", ended.status, ended.stderr);
    assert_eq!(ended.lines, [""; 0]);
    for stray in ["println!", "print!", "descriptor 1", "child process"] {
        assert_eq!(
            ended.stderr.matches(&format!("[{stray}]")).count(),
            2,
            "{stray} in {}",
            ended.stderr
        );
    }
    assert!(
        ended.stderr.contains("[standard input: 0 bytes]"),
        "{}",
        ended.stderr
    );
}
