//! Ctrl-C in the middle of a call: the server hears of it, and is gone when the program is.

use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process, test_kill_process};

use crate::program::{MCP, command};

#[test]
fn an_interrupted_call_is_cancelled_and_its_server_ends() {
    for (era, signal, code) in [
        ("modern", Signal::INT, 130),
        ("legacy", Signal::INT, 130),
        ("legacy", Signal::TERM, 143),
    ] {
        let server = ["sh", "-c", "echo $$ >&2; exec \"$0\" serve", MCP];
        let arguments = [
            "call",
            "slow",
            "steps=9",
            "delay_ms=9000",
            "--trace",
            "--era",
            era,
        ];
        let mut call = command(&arguments, &server);
        let mut call = call
            .stderr(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it runs");
        let mut shown = BufReader::new(call.stderr.take().expect("a pipe"));
        let mut before = String::new();
        while !before.contains("notifications/progress") {
            let read = shown.read_line(&mut before).expect("UTF-8");
            assert!(read > 0, "{before}");
        }
        let number = before.split_once("stderr: ").expect("the server's id").1;
        let number = number
            .split_whitespace()
            .next()
            .and_then(|text| text.parse().ok());
        let server = number.and_then(Pid::from_raw).expect("an id");
        let program = Pid::from_child(&call);
        kill_process(program, signal).expect("it runs");
        let mut after = String::new();
        shown.read_to_string(&mut after).expect("UTF-8");
        let status = call.wait().expect("it ends");
        assert_eq!(status.code(), Some(code), "{after}");
        assert!(after.contains("├╌ notifications/cancelled ╌"), "{after}");
        let gone = test_kill_process(server);
        assert_eq!(
            gone,
            Err(rustix::io::Errno::SRCH),
            "the server is still there"
        );
    }
}
