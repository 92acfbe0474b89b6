//! Many clients of one server over HTTP. A server in a process of its own, so that its memory can be told from that of
//! the clients:
//!
//! ```text
//! ulimit -n 25000
//! cargo run --release -p mcp-tests --bin http_load
//! ```
//!
//! - 10,000 idle `subscriptions/listen` streams: what each of them costs, and how long a change takes to reach all;
//! - 1,000 clients that do not read what they asked for: what the calls of another one take, without and with them;
//! - clients that open streams and sessions and leave at once: what is left of them.
//!
//! Another number of streams can be given: `http_load 2000`.
#![expect(
    clippy::print_stdout,
    reason = "the figures are what this program is for"
)]

#[cfg(target_os = "linux")]
mod clients;
#[cfg(target_os = "linux")]
mod server;

#[cfg(target_os = "linux")]
fn main() {
    let mut arguments = std::env::args().skip(1);
    let first = arguments.next();
    match first.as_deref() {
        Some("serve") => server::run(),
        Some(streams) => clients::run(streams.parse().expect("a number of streams")),
        None => clients::run(10_000),
    }
}

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("memory is read from /proc, which is there on Linux only");
}
