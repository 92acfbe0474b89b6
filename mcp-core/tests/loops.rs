//! The examples with loops of other people's: each answers a client.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// A program that ends when the test does.
struct Program(Child);

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn example(name: &str, arguments: &[&str]) -> Program {
    let test = std::env::current_exe().expect("the path of this test");
    let target = test.ancestors().nth(2).expect("target/…/deps");
    let program: PathBuf = target.join("examples").join(name);
    let child = Command::new(&program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    Program(child.unwrap_or_else(|error| panic!("{}: {error}", program.display())))
}

/// A server on a socket, and the port it says it has.
fn listening(name: &str) -> (Program, u16) {
    let mut program = example(name, &["0"]);
    let mut port = String::new();
    let stdout = program.0.stdout.as_mut().expect("piped");
    BufReader::new(stdout).read_line(&mut port).expect("a line");
    let port = port.trim().parse().expect("a port");
    (program, port)
}

fn call(id: usize, text: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"echo","arguments":{{"text":"{text}"}},"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}"#
    )
}

fn is_answer(line: &str, id: usize, text: &str) {
    let start = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":"#);
    assert!(line.starts_with(&start), "{line}");
    assert!(line.contains(&format!(r#""text":"{text}""#)), "{line}");
}

#[cfg(unix)]
#[test]
fn poll_answers_many_before_any_answer_is_read_and_a_last_line_without_an_end() {
    const MANY: usize = 5_000;
    let mut program = example("poll", &[]);
    let mut input = program.0.stdin.take().expect("piped");
    let mut output = program.0.stdout.take().expect("piped");
    // More than both pipes hold: who writes it all first would wait for ever if the server did not stop reading.
    let writes = std::thread::spawn(move || {
        for id in 1..=MANY {
            let end = if id < MANY { "\n" } else { "" };
            let line = call(id, &"x".repeat(100)) + end;
            input.write_all(line.as_bytes()).expect("it reads");
        }
    });
    std::thread::sleep(std::time::Duration::from_millis(100));
    let mut said = String::new();
    output.read_to_string(&mut said).expect("UTF-8");
    writes.join().expect("all written");
    let mut count = 0;
    for (line, id) in said.lines().zip(1..) {
        is_answer(line, id, &"x".repeat(100));
        count += 1;
    }
    assert_eq!(count, MANY);
    assert!(program.0.wait().expect("it ends").success());
}

#[test]
fn mio_serves_several_at_once_and_outlives_each() {
    let (_program, port) = listening("mio");
    let connect = || TcpStream::connect(("127.0.0.1", port)).expect("it listens");
    let (mut one, mut other) = (connect(), connect());
    drop(connect());
    for round in 1..=3 {
        for (stream, name) in [(&mut one, "one"), (&mut other, "other")] {
            writeln!(stream, "{}", call(round, name)).expect("it reads");
            let mut line = String::new();
            BufReader::new(&*stream)
                .read_line(&mut line)
                .expect("a line");
            is_answer(&line, round, name);
        }
    }
}

#[test]
fn two_engines_talk_without_a_wire() {
    let mut program = example("pair", &[]);
    let mut said = String::new();
    let mut output = program.0.stdout.take().expect("piped");
    output.read_to_string(&mut said).expect("UTF-8");
    assert_eq!(said, "without a wire\n");
    assert!(program.0.wait().expect("it ends").success());
}

#[test]
fn websocket_carries_a_message_in_a_frame() {
    let (_program, port) = listening("websocket");
    let stream = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
    let (mut socket, _) =
        tungstenite::client(format!("ws://127.0.0.1:{port}/"), stream).expect("it shakes hands");
    for id in 1..=3 {
        // A line end in it is nothing special here.
        let message = call(id, "framed").replacen(',', ",\n", 1);
        socket
            .send(tungstenite::Message::text(message))
            .expect("it reads");
        let answer = socket.read().expect("a frame");
        is_answer(answer.to_text().expect("text"), id, "framed");
    }
    socket
        .send(tungstenite::Message::text("not JSON"))
        .expect("it reads");
    let answer = socket.read().expect("a frame");
    assert!(answer.to_text().expect("text").contains("-32700"));
}
