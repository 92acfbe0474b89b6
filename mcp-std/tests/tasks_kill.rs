//! A durable task server that is killed at random moments: no task that was accepted is lost, none is run twice, and those
//! that it cut short say so.
#![cfg(unix)]

use std::collections::{BTreeMap, HashMap};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

/// The example of this package, which `cargo test` puts beside the tests.
fn example() -> PathBuf {
    let test = std::env::current_exe().expect("the path of this test");
    let directory = test.parent().and_then(Path::parent).expect("target/…/deps");
    let path = directory.join("examples").join("server_tasks");
    assert!(
        path.exists(),
        "{} is not built: run `cargo build --example server_tasks --features tasks-redb` before",
        path.display()
    );
    path
}

struct Server {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Server {
    fn start(file: &Path) -> Self {
        let mut child = Command::new(example())
            .arg(file)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let input = child.stdin.take().expect("piped");
        let output = BufReader::new(child.stdout.take().expect("piped"));
        Self {
            child,
            input,
            output,
        }
    }

    fn send(&mut self, id: &str, method: &str, mut params: Value) {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {
                "extensions": { "io.modelcontextprotocol/tasks": {} },
            },
        });
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        // It may have been killed.
        let _ = writeln!(self.input, "{request}");
    }

    /// `None`: it is gone.
    fn answer(&mut self) -> Option<Value> {
        let mut line = String::new();
        self.output
            .read_line(&mut line)
            .ok()
            .filter(|&read| read > 0)?;
        serde_json::from_str(&line).ok()
    }
}

/// So that a run can be told from another, and is different from it.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

fn killed(times: usize) {
    let directory = std::env::temp_dir().join(format!("tasks-kill-{}-{times}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a directory");
    let (file, journal) = (directory.join("tasks.redb"), directory.join("journal"));
    let seed = u64::from(std::process::id()) << 20 | 0x5eed;
    eprintln!("seed {seed}");
    let mut random = Random(seed);
    // By their ids, the names of tasks that were accepted and have not been seen to end.
    let mut open = BTreeMap::<String, String>::new();
    let (mut completed, mut interrupted) = (0_usize, 0_usize);
    for round in 0..times {
        let mut server = Server::start(&file);
        // All that was accepted before is there, and has ended: it was done, or it says that it was cut short.
        for (id, name) in core::mem::take(&mut open) {
            server.send("get", "tasks/get", json!({ "taskId": id }));
            let answer = server.answer().expect("it answers");
            let task = &answer["result"];
            match task["status"].as_str() {
                Some("completed") => {
                    completed += 1;
                    let text = &task["result"]["content"][0]["text"];
                    assert_eq!(*text, format!("{name} is done"), "{answer}");
                }
                Some("failed") => {
                    interrupted += 1;
                    let message = task["statusMessage"].as_str().unwrap_or_default();
                    assert!(message.starts_with("Interrupted"), "{answer}");
                }
                _ => panic!("round {round}: {id} was lost, or runs: {answer}"),
            }
        }
        let pid = server.child.id();
        let after = Duration::from_micros(random.below(60_000));
        let killer = std::thread::spawn(move || {
            std::thread::sleep(after);
            let pid = rustix::process::Pid::from_raw(pid as i32).expect("a process");
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        });
        for number in 0.. {
            let name = format!("{round}-{number}");
            let arguments = json!({ "name": name, "millis": random.below(20), "journal": journal });
            server.send(
                "call",
                "tools/call",
                json!({ "name": "work", "arguments": arguments }),
            );
            let Some(answer) = server.answer() else { break };
            let id = answer["result"]["taskId"].as_str();
            let id = id.unwrap_or_else(|| panic!("no task: {answer}"));
            open.insert(id.to_owned(), name);
        }
        killer.join().expect("it kills");
        server.child.wait().expect("it was killed");
    }
    let mut runs = HashMap::<String, usize>::new();
    let journal = std::fs::read_to_string(&journal).unwrap_or_default();
    for name in journal.lines() {
        *runs.entry(name.to_owned()).or_default() += 1;
    }
    let twice: Vec<_> = runs.iter().filter(|(_, runs)| **runs > 1).collect();
    assert!(twice.is_empty(), "{twice:?}");
    eprintln!("{times} times killed: {completed} tasks done, {interrupted} cut short, none lost");
    assert!(completed > 0, "nothing was tried");
    std::fs::remove_dir_all(&directory).expect("it can be removed");
}

#[test]
fn no_accepted_task_is_lost_and_none_is_run_twice() {
    killed(50);
}

#[test]
#[ignore = "takes a while: run with --ignored"]
fn the_same_two_hundred_times() {
    killed(200);
}
