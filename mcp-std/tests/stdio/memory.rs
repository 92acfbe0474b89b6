//! What peers cannot make the process do: hold more than the limits say.

use std::io::Read;
use std::os::fd::OwnedFd;
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;

use crate::child::{PING, PONG, Serve, call, mcp_serve};

pub(crate) const MIB: u64 = 1024 * 1024;

/// FR-09, with 100 MB against the default limit of 4 MiB.
#[test]
fn fr_09_an_endless_line_is_reported_once_and_discarded() {
    let mut serve = Serve::session();
    serve.ping();
    let before = peak(serve.id());
    send_endless(&mut serve);
    serve.write(b"\n");
    let refused = serve.line();
    assert!(
        refused.starts_with(r#"{"jsonrpc":"2.0","error":{"code":-32600,"#),
        "{refused}"
    );
    serve.ping();
    let more = peak(serve.id()) - before;
    assert!(more < 12 * MIB, "{more} bytes");
    let ended = serve.end();
    assert!(ended.status.success());
    assert_eq!(ended.lines, [""; 0]);
    assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.stderr);
}

#[test]
fn fr_09_an_endless_line_that_ends_with_the_input() {
    let mut serve = Serve::session();
    serve.ping();
    let before = peak(serve.id());
    serve.send(PING);
    send_endless(&mut serve);
    assert_eq!(serve.line(), PONG);
    let more = peak(serve.id()) - before;
    assert!(more < 12 * MIB, "{more} bytes");
    let ended = serve.end();
    assert!(ended.status.success());
    assert_eq!(ended.lines.len(), 1, "{:?}", ended.lines);
    assert!(ended.lines[0].contains("-32600"), "{:?}", ended.lines);
}

/// The largest message that is allowed is served, and the one after it as well.
#[test]
fn a_message_of_4_mib_is_echoed() {
    let mut serve = Serve::session();
    let frame = call("1", "echo", r#"{"text":""}"#).len();
    let text = "x".repeat(4 * MIB as usize - frame);
    for _ in 0..3 {
        serve.send(&call("1", "echo", &format!(r#"{{"text":"{text}"}}"#)));
        assert_eq!(serve.line(), crate::child::text("1", &text));
    }
    serve.send(&call("1", "echo", &format!(r#"{{"text":"{text}x"}}"#)));
    assert!(serve.line().contains("-32600"));
    serve.ping();
    let peak = peak(serve.id());
    assert!(peak < 48 * MIB, "{peak} bytes");
}

/// A client that reads slowly is served slowly: 20 MB of answers are not held for it.
#[test]
fn or_08_a_slow_reader_gets_every_answer_once_and_whole() {
    slow_reader(Serve::session());
}

/// The same through a pipe that holds one page, so that most writes are short.
#[test]
fn a_slow_reader_behind_a_tiny_pipe() {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    rustix::pipe::fcntl_setpipe_size(&writer, 4096).expect("Linux can");
    let (far, near) = std::io::pipe().expect("a pipe");
    let mut command = mcp_serve();
    command.stdin(far).stdout(writer);
    let input = OwnedFd::from(near).into();
    let output = OwnedFd::from(reader).into();
    slow_reader(Serve::on(command, Some(input), Some(output)).initialized());
}

fn slow_reader(mut serve: Serve) {
    const CALLS: usize = 2000;
    const SIZE: usize = 10_000;
    let mut input = serve.input.take().expect("open");
    let filler = "é".repeat(SIZE / 2);
    let writer = std::thread::spawn(move || {
        use std::io::Write;
        for id in 0..CALLS {
            let arguments = format!(r#"{{"text":"{id} {filler}"}}"#);
            let line = call(&id.to_string(), "echo", &arguments) + "\n";
            input.write_all(line.as_bytes()).expect("the server reads");
        }
        // Dropped here, which ends the input while most answers are still to be read.
    });
    let mut output = serve.output.take().expect("open");
    let mut bytes = Vec::new();
    let mut chunk = [0; 1024];
    for _ in 0..300 {
        let count = output.get_mut().read(&mut chunk).expect("reads");
        bytes.extend_from_slice(&chunk[..count]);
        sleep(Duration::from_millis(1));
    }
    let peak = peak(serve.id());
    assert!(peak < 64 * MIB, "{peak} bytes");
    output
        .get_mut()
        .read_to_end(&mut bytes)
        .expect("reads the rest");
    writer.join().expect("all was taken");
    let mut answered = vec![false; CALLS];
    let text = String::from_utf8(bytes).expect("UTF-8");
    for line in text.lines() {
        let message: Value = serde_json::from_str(line).expect("each line is whole");
        let id = message["id"].as_u64().expect("the id of a call") as usize;
        assert!(!std::mem::replace(&mut answered[id], true), "{id} twice");
        let said = message["result"]["content"][0]["text"].as_str();
        let (number, filler) = said.and_then(|said| said.split_once(' ')).expect("echoed");
        assert_eq!(number, id.to_string());
        assert_eq!(filler.len(), SIZE);
    }
    assert!(answered.iter().all(|done| *done));
    assert_eq!(serve.end().clean(), [""; 0]);
}

fn send_endless(serve: &mut Serve) {
    let part = vec![b'x'; MIB as usize];
    for _ in 0..100 {
        serve.write(&part);
    }
}

/// The most memory the process has had resident, in bytes.
pub(crate) fn peak(id: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).expect("it runs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok());
    kib.expect("VmHWM in kB") * 1024
}
