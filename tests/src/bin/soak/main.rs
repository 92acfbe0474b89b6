//! Everything at once, for long: clients of every revision, over HTTP and over pipes, with requests of every kind, that are
//! killed at random, and a server that is not.
//!
//! ```text
//! cargo run --release -p mcp-tests --bin soak          30 minutes
//! cargo run --release -p mcp-tests --bin soak 2 4711   2 minutes, with this seed
//! ```
//!
//! It fails if a request that was accepted is neither answered nor failed, if the memory or the descriptors of a server grow,
//! or if a process is left. What it has seen it prints.
#![expect(
    clippy::print_stdout,
    reason = "the figures are what this program is for"
)]

#[cfg(target_os = "linux")]
mod client;
#[cfg(target_os = "linux")]
mod server;
#[cfg(target_os = "linux")]
mod watch;

#[cfg(target_os = "linux")]
fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match *arguments {
        ["http"] => server::http(),
        ["stdio"] => server::stdio(),
        ["client", url, seed] => client::run(url, seed.parse().expect("a seed")),
        [] => watch::run(30.0, 1),
        [minutes] => watch::run(minutes.parse().expect("minutes"), 1),
        [minutes, seed, ..] => watch::run(
            minutes.parse().expect("minutes"),
            seed.parse().expect("a seed"),
        ),
    }
}

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("memory is read from /proc, which is there on Linux only");
}
