//! `mcp serve --http` as a process of its own, with clients that mean ill: what it holds, and whether it goes on.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::memory::{MIB, peak};

/// All that a server of this size needs, whoever talks to it: its code, its tables, and the largest messages that it takes.
const BUDGET: u64 = 64 * MIB;

struct Served {
    process: Child,
    address: SocketAddr,
}

impl Served {
    /// With at most so many descriptors.
    fn with_descriptors(most: u32) -> Self {
        let mut process = Command::new("sh")
            .arg("-c")
            .arg(format!(
                "ulimit -n {most}; exec \"$0\" serve --http 127.0.0.1:0"
            ))
            .arg(env!("CARGO_BIN_EXE_mcp"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("a process");
        let mut errors = BufReader::new(process.stderr.take().expect("a pipe"));
        let mut line = String::new();
        let address = loop {
            line.clear();
            let read = errors.read_line(&mut line).expect("UTF-8");
            assert!(read > 0, "it never said where");
            if let Some((_, rest)) = line.split_once("http://") {
                let end = rest.find('/').unwrap_or(rest.len());
                break rest[..end].trim().parse().expect("an address");
            }
        };
        // Whatever else it says is nobody's.
        std::thread::spawn(move || std::io::copy(&mut errors, &mut std::io::sink()));
        Self { process, address }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect_timeout(&self.address, Duration::from_secs(5));
        let stream = stream.expect("it listens");
        let time = Some(Duration::from_secs(5));
        stream.set_read_timeout(time).expect("a time");
        stream.set_write_timeout(time).expect("a time");
        stream
    }

    /// Whether a request is answered, on a connection of its own.
    fn answers(&self) -> bool {
        let Ok(mut stream) = TcpStream::connect_timeout(&self.address, Duration::from_secs(5))
        else {
            return false;
        };
        let time = Some(Duration::from_secs(2));
        stream.set_read_timeout(time).expect("a time");
        let body = modern("server/discover", "");
        if write!(stream, "{}", post("server/discover", &body, "")).is_err() {
            return false;
        }
        let mut head = [0; 15];
        stream.read_exact(&mut head).is_ok() && &head == b"HTTP/1.1 200 OK"
    }

    fn peak(&self) -> u64 {
        peak(self.process.id())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn modern(method: &str, params: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{params}"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}"#
    )
}

fn post(method: &str, body: &str, more: &str) -> String {
    format!(
        "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n\
         Mcp-Method: {method}\r\n{more}Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// When there are no descriptors left, those who have one are served, and so is everybody when there are some again.
#[test]
fn accepting_goes_on_when_descriptors_have_run_out() {
    let served = Served::with_descriptors(40);
    assert!(served.answers());
    let mut first = served.connect();
    let body = modern("server/discover", "");
    for round in 0..3 {
        let crowd: Vec<TcpStream> = (0..100)
            .filter_map(|_| {
                let time = Duration::from_secs(1);
                TcpStream::connect_timeout(&served.address, time).ok()
            })
            .collect();
        assert!(crowd.len() > 40, "{}", crowd.len());
        std::thread::sleep(Duration::from_millis(100));
        // Who was there before is served.
        write!(first, "{}", post("server/discover", &body, "")).expect("it reads");
        let mut chunk = [0; 4096];
        let count = first.read(&mut chunk).expect("it answers");
        assert!(chunk[..count].starts_with(b"HTTP/1.1 200"), "round {round}");
        drop(crowd);
        let started = Instant::now();
        while !served.answers() {
            let late = started.elapsed() > Duration::from_secs(10);
            assert!(!late, "nobody is accepted any more, in round {round}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

/// Each kind of flood, one after the other and against one process: what it holds at most stays within its budget.
#[test]
fn peak_memory_stays_within_the_budget_whatever_comes() {
    let served = Served::with_descriptors(1024);
    assert!(served.answers());
    let flood = "x".repeat(MIB as usize);

    // A body without end, in one chunk after the other.
    let mut stream = served.connect();
    let head = post("tools/call", "", "Mcp-Name: echo\r\n");
    let head = head.replace("Content-Length: 0", "Transfer-Encoding: chunked");
    write!(stream, "{head}").expect("it reads");
    for _ in 0..100 {
        if write!(stream, "{:x}\r\n{flood}\r\n", flood.len()).is_err() {
            break;
        }
    }
    // One that says how long it will be, and one that comes with fifty headers too many.
    let mut stream = served.connect();
    let head = post("tools/call", "", "Mcp-Name: echo\r\n");
    let head = head.replace("Content-Length: 0", "Content-Length: 1000000000");
    write!(stream, "{head}").expect("it reads");
    for _ in 0..100 {
        if stream.write_all(flood.as_bytes()).is_err() {
            break;
        }
    }
    let mut stream = served.connect();
    let _ = write!(stream, "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n");
    for n in 0..1_000 {
        if write!(stream, "X-{n}: {}\r\n", &flood[..10_000]).is_err() {
            break;
        }
    }

    // As deep as a message can be.
    let deep = format!(
        r#""name":"echo","arguments":{{"text":{}"#,
        "[".repeat(1_000_000)
    );
    let mut stream = served.connect();
    let _ = write!(
        stream,
        "{}",
        post(
            "tools/call",
            &modern("tools/call", &deep),
            "Mcp-Name: echo\r\n"
        )
    );
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).expect("it answers");
    assert_eq!(&answer, b"HTTP/1.1 400");

    // Answers of a megabyte each that nobody reads.
    let text = format!(r#""name":"echo","arguments":{{"text":"{flood}"}},"#);
    let request = post(
        "tools/call",
        &modern("tools/call", &text),
        "Mcp-Name: echo\r\n",
    );
    let deaf: Vec<TcpStream> = (0..8)
        .map(|_| {
            let mut stream = served.connect();
            let time = Some(Duration::from_millis(200));
            stream.set_write_timeout(time).expect("a time");
            for _ in 0..20 {
                if stream.write_all(request.as_bytes()).is_err() {
                    break;
                }
            }
            stream
        })
        .collect();
    assert!(served.answers(), "others are served meanwhile");
    drop(deaf);

    // Slow ones: a byte, and then nothing.
    let slow: Vec<TcpStream> = (0..300)
        .map(|_| {
            let mut stream = served.connect();
            let _ = stream.write_all(b"P");
            stream
        })
        .collect();
    assert!(served.answers(), "others are served meanwhile");
    drop(slow);

    // Subscriptions, each to as much as can be named.
    let uris: Vec<String> = (0..1_000).map(|n| format!(r#""test://{n}""#)).collect();
    let filter = format!(
        r#""notifications":{{"toolsListChanged":true,"resourceSubscriptions":[{}]}},"#,
        uris.join(",")
    );
    let body = modern("subscriptions/listen", &filter);
    let listening: Vec<TcpStream> = (0..200)
        .map(|_| {
            let mut stream = served.connect();
            let _ = stream.write_all(post("subscriptions/listen", &body, "").as_bytes());
            stream
        })
        .collect();
    std::thread::sleep(Duration::from_millis(200));
    assert!(served.answers(), "others are served meanwhile");
    drop(listening);

    // A hundred thousand small ones, each with an id of its own.
    let mut stream = served.connect();
    let mut reading = stream.try_clone().expect("a descriptor is free");
    let reader = std::thread::spawn(move || {
        let mut chunk = [0; 65_536];
        let mut read = 0;
        while let Ok(count @ 1..) = reading.read(&mut chunk) {
            read += count;
        }
        read
    });
    let ping = modern("server/discover", "");
    for n in 0..20_000 {
        let body = ping.replace(r#""id":1"#, &format!(r#""id":"{n}-{n}-{n}""#));
        if stream
            .write_all(post("server/discover", &body, "").as_bytes())
            .is_err()
        {
            break;
        }
    }
    stream.shutdown(std::net::Shutdown::Write).expect("open");
    assert!(reader.join().expect("no panic") > MIB as usize);

    assert!(served.answers());
    let peak = served.peak();
    assert!(peak < BUDGET, "{} MiB", peak / MIB);
}
