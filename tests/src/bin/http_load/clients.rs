//! The clients.

use core::time::Duration;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Instant;

const SLOW: usize = 1_000;
const CALLS: usize = 2_000;
const LEAVING: usize = 10_000;

/// Killed when it is dropped.
struct Server {
    child: Child,
    address: SocketAddr,
}

impl Server {
    fn start() -> Self {
        let program = std::env::current_exe().expect("this program");
        let mut child = Command::new(program)
            .arg("serve")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut line = String::new();
        let output = child.stdout.take().expect("piped");
        BufReader::new(output).read_line(&mut line).expect("UTF-8");
        let address = line.trim().parse().expect("its address");
        Self { child, address }
    }

    /// How much memory it occupies, in KiB.
    fn rss(&self) -> usize {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        let status = status.expect("it runs");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = line.and_then(|line| line.split_whitespace().next());
        kib.and_then(|kib| kib.parse().ok()).expect("a number")
    }

    /// Waits until it does nothing any more: how long that took.
    fn settle(&self) -> Duration {
        let began = Instant::now();
        let mut before = self.ticks();
        loop {
            thread::sleep(Duration::from_secs(1));
            let after = self.ticks();
            if after <= before + 1 {
                return began.elapsed();
            }
            assert!(began.elapsed() < Duration::from_secs(60), "it goes on");
            before = after;
        }
    }

    /// The time that it has computed, in hundredths of a second.
    fn ticks(&self) -> u64 {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id()));
        let stat = stat.expect("it runs");
        let (_, fields) = stat.rsplit_once(')').expect("the name in brackets");
        let fields = fields.split_whitespace().skip(11).take(2);
        fields.map(|it| it.parse::<u64>().expect("a number")).sum()
    }

    fn connect(&self) -> Client {
        let stream = TcpStream::connect(self.address).expect("it listens; see `ulimit -n`");
        let patience = Some(Duration::from_secs(60));
        stream.set_read_timeout(patience).expect("not zero");
        stream.set_nodelay(true).expect("of TCP");
        Client {
            stream,
            read: Vec::new(),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It has ended by itself, at worst.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

struct Client {
    stream: TcpStream,
    /// What came last.
    read: Vec<u8>,
}

impl Client {
    fn send(&mut self, request: &str) {
        let written = self.stream.write_all(request.as_bytes());
        written.expect("the server reads");
    }

    /// Reads until this has come; each client is asked for it once.
    fn wait_for(&mut self, text: &str) {
        self.read.clear();
        let mut bytes = [0; 4096];
        while !contains(&self.read, text.as_bytes()) {
            let read = self.stream.read(&mut bytes).expect("in time");
            assert!(read > 0, "the server hung up");
            self.read.extend_from_slice(&bytes[..read]);
        }
    }
}

fn contains(bytes: &[u8], text: &[u8]) -> bool {
    bytes.windows(text.len()).any(|it| it == text)
}

fn post(method: &str, name: &str, params: &str) -> String {
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{params},"_meta":{{"progressToken":1,"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}"#
    );
    let name = match name {
        "" => String::new(),
        name => format!("mcp-name: {name}\r\n"),
    };
    format!(
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\nmcp-method: {method}\r\n{name}content-length: {}\r\n\r\n{body}",
        body.len()
    )
}

fn call(tool: &str) -> String {
    post("tools/call", tool, &format!(r#""name":"{tool}""#))
}

pub(crate) fn run(streams: usize) {
    listening(streams);
    slow_readers();
    leaving();
}

fn listening(streams: usize) {
    let server = Server::start();
    let mut caller = server.connect();
    let change = call("change");
    // What the first request of each kind costs is not a stream's.
    caller.send(&change);
    caller.wait_for("\"result\"");
    let listen = post(
        "subscriptions/listen",
        "",
        r#""notifications":{"toolsListChanged":true}"#,
    );
    let before = server.rss();
    let began = Instant::now();
    let mut clients = Vec::new();
    for _ in 0..streams {
        let mut client = server.connect();
        client.send(&listen);
        client.wait_for("acknowledged");
        clients.push(client);
    }
    let opening = began.elapsed();
    let after = server.rss();
    println!("{streams} streams of subscriptions/listen, opened in {opening:.1?}");
    println!(
        "  memory of the server: {before} KiB before, {after} KiB with them: {:.1} KiB each",
        (after.saturating_sub(before)) as f64 / streams as f64
    );
    for round in 1..=3 {
        let began = Instant::now();
        caller.send(&change);
        for client in &mut clients {
            client.wait_for("list_changed");
        }
        println!(
            "  change {round} has reached all of them after {:.1?}",
            began.elapsed()
        );
        caller.wait_for("\"result\"");
    }
    drop(clients);
    thread::sleep(Duration::from_secs(2));
    println!("  memory when they have left: {} KiB", server.rss());
}

fn slow_readers() {
    let server = Server::start();
    let without = calls(&server);
    let before = server.rss();
    let much = call("much");
    let slow: Vec<_> = (0..SLOW)
        .map(|_| {
            let mut client = server.connect();
            client.send(&much);
            client
        })
        .collect();
    let blocked = server.settle();
    println!("{SLOW} clients that do not read are blocked after {blocked:.1?}");
    let with = calls(&server);
    let after = server.rss();
    println!("{CALLS} calls of one client, {SLOW} others do not read");
    println!(
        "  without them: p50 {:.1?}, p99 {:.1?}",
        without[0], without[1]
    );
    println!("  with them:    p50 {:.1?}, p99 {:.1?}", with[0], with[1]);
    println!(
        "  memory of the server: {before} KiB before, {after} KiB with them: {:.1} KiB each",
        (after.saturating_sub(before)) as f64 / SLOW as f64
    );
    drop(slow);
}

/// The median, and what one of a hundred exceeds.
fn calls(server: &Server) -> [Duration; 2] {
    let mut client = server.connect();
    let now = call("now");
    let mut times: Vec<_> = (0..CALLS)
        .map(|_| {
            let began = Instant::now();
            client.send(&now);
            client.wait_for("\"result\"");
            began.elapsed()
        })
        .collect();
    times.sort_unstable();
    [times[CALLS / 2], times[CALLS * 99 / 100]]
}

fn leaving() {
    let server = Server::start();
    let initialize = {
        let body = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"load","version":"1"}}}"#;
        format!(
            "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )
    };
    let mut client = server.connect();
    client.send(&initialize);
    client.wait_for("\"result\"");
    let head = String::from_utf8(client.read.clone()).expect("UTF-8");
    let id = head.split("mcp-session-id: ").nth(1).expect("a session");
    let id: String = id.chars().take_while(char::is_ascii_hexdigit).collect();
    let get = "GET /mcp HTTP/1.1\r\nhost: localhost\r\naccept: text/event-stream\r\n";
    let of_session = format!("{get}mcp-session-id: {id}\r\n\r\n");
    let resume = format!("{get}mcp-session-id: {id}\r\nlast-event-id: 1-0\r\n\r\n");
    let old = format!("{get}\r\n");
    let much = call("much");
    println!("memory of the server, in KiB, when {LEAVING} clients have come and left at once:");
    println!("  at first: {}", server.rss());
    for (what, request) in [
        ("GET of one session", &of_session),
        ("GET with Last-Event-ID", &resume),
        ("GET of 2024-11-05", &old),
        ("initialize", &initialize),
        ("calls that stream", &much),
    ] {
        let mut figures = Vec::new();
        for _ in 0..3 {
            flood(&server, request);
            figures.push(server.rss());
        }
        println!("  {what}: {figures:?}");
        // Others are served.
        let mut client = server.connect();
        client.send(&call("now"));
        client.wait_for("\"result\"");
    }
}

fn flood(server: &Server, request: &str) {
    for _ in 0..LEAVING / 500 {
        let clients: Vec<_> = (0..500)
            .map(|_| {
                let mut client = server.connect();
                client.send(request);
                client
            })
            .collect();
        drop(clients);
    }
    thread::sleep(Duration::from_secs(1));
}
