//! Starts all, kills some, and watches the servers.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use mcp_std::ProtocolVersion;

use crate::client::{self, Counts};

/// So many processes of clients at a time.
const CLIENTS: usize = 4;

/// A server's memory may grow by so much from its first quarter to its last: what the system's allocator keeps.
const GROWTH: u64 = 6 * 1024 * 1024;

#[derive(Clone, Copy, Debug)]
struct Sample {
    resident: u64,
    descriptors: usize,
}

impl Sample {
    fn of(process: u32) -> Self {
        let statm = fs::read_to_string(format!("/proc/{process}/statm")).expect("it is there");
        let pages: u64 = statm
            .split(' ')
            .nth(1)
            .and_then(|pages| pages.parse().ok())
            .expect("pages");
        let open = fs::read_dir(format!("/proc/{process}/fd")).expect("it is there");
        Self {
            resident: pages * 4096,
            descriptors: open.count(),
        }
    }
}

/// A client, and how far it was when it was last heard of.
struct Killed {
    process: Child,
    counts: Arc<Counts>,
}

impl Killed {
    fn start(url: &str, seed: u64) -> Self {
        let mut process = this()
            .args(["client", url, &seed.to_string()])
            .stdout(Stdio::piped())
            .spawn()
            .expect("a process");
        let counts = Arc::new(Counts::default());
        let (told, lines) = (counts.clone(), process.stdout.take().expect("a pipe"));
        thread::spawn(move || {
            for line in BufReader::new(lines).lines().map_while(Result::ok) {
                let numbers: Vec<u64> = line.split(' ').filter_map(|it| it.parse().ok()).collect();
                // The last line may be cut.
                if let [sent, answered, cancelled] = *numbers {
                    told.sent.store(sent, Ordering::Relaxed);
                    told.answered.store(answered, Ordering::Relaxed);
                    told.cancelled.store(cancelled, Ordering::Relaxed);
                }
            }
        });
        Self { process, counts }
    }

    /// Whether it is there still, as it should be.
    fn goes(&mut self) -> bool {
        let ended = self.process.try_wait();
        ended.expect("it is a child").is_none()
    }

    fn kill(mut self) -> Arc<Counts> {
        let _ = self.process.kill();
        let _ = self.process.wait();
        self.counts
    }
}

fn this() -> Command {
    Command::new(std::env::current_exe().expect("its path"))
}

pub(crate) fn run(minutes: f64, seed: u64) {
    let mut server = this()
        .arg("http")
        .stdout(Stdio::piped())
        .spawn()
        .expect("a server");
    let mut address = String::new();
    BufReader::new(server.stdout.take().expect("a pipe"))
        .read_line(&mut address)
        .expect("it says where");
    let url = format!("http://{}/mcp", address.trim());
    let failed = soak(minutes, seed, &url, server.id());
    let _ = server.kill();
    let _ = server.wait();
    if !failed.is_empty() {
        for what in failed {
            println!("FAILED: {what}");
        }
        std::process::exit(1);
    }
    println!("all is well");
}

fn soak(minutes: f64, seed: u64, url: &str, server: u32) -> Vec<String> {
    let mut failed = Vec::new();
    // A server on pipes that lives as long as this does.
    let counts = Arc::new(Counts::default());
    let before = children();
    let stdio =
        smol::block_on(client::builder(ProtocolVersion::V2025_11_25).connect_stdio(client::own()));
    let stdio = stdio.expect("connected");
    let pipes = children().into_iter().find(|it| !before.contains(it));
    let pipes = pipes.expect("a process");
    for _ in 0..2 {
        smol::spawn(client::ask(stdio.clone(), counts.clone())).detach();
    }
    thread::spawn(|| smol::block_on(std::future::pending::<()>()));

    let end = Instant::now() + Duration::from_secs_f64(minutes * 60.0);
    let mut chance = seed;
    let mut clients: Vec<Killed> = (0..CLIENTS as u64)
        .map(|at| Killed::start(url, seed + at))
        .collect();
    let mut gone = Vec::new();
    let (mut over_http, mut on_pipes) = (Vec::new(), Vec::new());
    let kills = AtomicU64::new(0);
    while Instant::now() < end {
        chance = chance
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        thread::sleep(Duration::from_millis(200 + (chance >> 33) % 800));
        for client in &mut clients {
            if !client.goes() {
                failed.push("a client has ended by itself: see above".to_owned());
            }
        }
        if !failed.is_empty() {
            break;
        }
        let killed = clients.swap_remove((chance >> 40) as usize % CLIENTS);
        gone.push(killed.kill());
        let n = kills.fetch_add(1, Ordering::Relaxed);
        clients.push(Killed::start(url, chance.wrapping_add(n)));
        over_http.push(Sample::of(server));
        on_pipes.push(Sample::of(pipes));
    }
    gone.extend(clients.into_iter().map(Killed::kill));
    // What was theirs is given back.
    thread::sleep(Duration::from_secs(3));
    let last = Sample::of(server);
    let left: Vec<u32> = children_of_nobody();
    if !left.is_empty() {
        failed.push(format!("servers without clients: {left:?}"));
    }
    gone.push(counts);
    let sum = |what: fn(&Counts) -> &AtomicU64| -> u64 {
        gone.iter().map(|it| what(it).load(Ordering::Relaxed)).sum()
    };
    println!(
        "{minutes} minutes, seed {seed}: {} requests, {} answered, {} given up, {} clients killed",
        sum(|it| &it.sent),
        sum(|it| &it.answered),
        sum(|it| &it.cancelled),
        kills.load(Ordering::Relaxed)
    );
    for (name, samples) in [("HTTP", &over_http), ("pipes", &on_pipes)] {
        let quarter = samples.len() / 4;
        if quarter == 0 {
            continue;
        }
        let resident =
            |part: &[Sample]| part.iter().map(|it| it.resident).sum::<u64>() / part.len() as u64;
        let open = |part: &[Sample]| part.iter().map(|it| it.descriptors).max().unwrap_or(0);
        let (first, late) = (&samples[quarter..2 * quarter], &samples[3 * quarter..]);
        println!(
            "server over {name}: {} KiB resident in the second quarter, {} KiB in the last; at most {} and {} descriptors",
            resident(first) / 1024,
            resident(late) / 1024,
            open(first),
            open(late)
        );
        if resident(late) > resident(first) + resident(first) / 10 + GROWTH {
            failed.push(format!("the server over {name} grows"));
        }
        if open(late) > open(first) + 64 {
            failed.push(format!("descriptors of the server over {name} grow"));
        }
    }
    println!(
        "server over HTTP, when all clients have gone: {} KiB, {} descriptors",
        last.resident / 1024,
        last.descriptors
    );
    let first = over_http.first().map_or(0, |it| it.descriptors);
    if last.descriptors > first.max(32) {
        failed.push("descriptors of clients that have gone are left".to_owned());
    }
    failed
}

/// The processes of servers on pipes, by their parents.
fn servers() -> Vec<(u32, u32)> {
    let own = std::env::current_exe().expect("its path");
    let processes = fs::read_dir("/proc").expect("it is there");
    processes
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|process: &u32| {
            let line = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
            let mut words = line.split(|byte| *byte == 0);
            let program = fs::read_link(format!("/proc/{process}/exe"));
            program.is_ok_and(|it| it == own) && words.nth(1) == Some(b"stdio")
        })
        .filter_map(|process| {
            let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
            let parent = stat.rsplit(')').next()?.split(' ').nth(2)?;
            Some((process, parent.parse().ok()?))
        })
        .collect()
}

fn children() -> Vec<u32> {
    let ours = std::process::id();
    let servers = servers().into_iter();
    servers
        .filter(|(_, parent)| *parent == ours)
        .map(|(process, _)| process)
        .collect()
}

/// Servers whose clients are gone.
fn children_of_nobody() -> Vec<u32> {
    let ours = std::process::id();
    let servers = servers().into_iter();
    servers
        .filter(|(_, parent)| *parent != ours)
        .map(|(process, _)| process)
        .collect()
}
