//! Numbers about the engine, and the programs that make them.
//!
//! # Whole servers over stdio
//!
//! Build once, in release; the `mcp` program is a binary of `mcp-std`:
//!
//! ```sh
//! cargo build --release -p mcp-benches
//! cargo build --release -p mcp-std --features cli --bin mcp
//! ```
//!
//! | Program | What it is |
//! |---|---|
//! | `load` | drives any stdio server at a fixed window, checks every answer, prints what it measured |
//! | `compare` | drives the floor, rmcp and ours in turn, several rounds, and prints one Markdown table |
//! | `floor_server` | the least a server can do: copies id and text out of each line, parses nothing |
//! | `tower_server` | the same on tower-mcp, the fastest other Rust stack that was found (feature `peers`) |
//! | `rmcp_server` | the same `echo` tool on rmcp, the official Rust SDK (feature `peers`, on by default), at its best |
//!
//! ```sh
//! target/release/compare
//! target/release/load --window 64 --seconds 5 -- target/release/floor_server
//! target/release/load --era legacy --window 1 --messages 100000 --json -- target/release/rmcp_server
//! ```
//!
//! `compare --peer 'NAME=COMMAND'` adds a server of any stack, `compare --ours COMMAND` names another of ours, and
//! `compare --without-ours` does without. Its row "rmcp, stdio()" is rmcp with the transport of its examples instead of the
//! faster one. `--help` of each program lists the rest. They run on Unix; processor time and memory are read on Linux.
//!
//! Every server must have the tool `echo` (`--tool` names another) whose argument `text` comes back as its only content.
//! Start the server itself, not a script that starts it: processor time and memory are those of the one process.
//!
//! # What the figures mean
//!
//! - *messages/s*: `tools/call` requests answered per second, with a fixed number (the window) always in flight. With a
//!   window of 1 it is a measure of latency, with 64 of throughput.
//! - *CPU per message*: user and system time of the server process, system calls included. It moves less than the rate
//!   does when the machine is shared, and is the figure to compare.
//! - *latency*: from just before the write of a request to just after the read of its answer, in batches: all answers
//!   of one read have the same time. With a window above 1 most of it is waiting behind other calls.
//! - *own CPU*: what the load program itself used per message. Where it is near the time per message, the server could
//!   do more.
//!
//! A single wrong, repeated or missing answer fails the run. How answers are checked without parsing them all is told
//! at [`answer::Checker`].
//!
//! # Benchmarks of the parts
//!
//! In one process, without pipes, on the messages of [`corpus`]:
//!
//! | Benchmark | From | To | Beside |
//! |---|---|---|---|
//! | `scan` | 1 MiB of messages | lines | `memchr`, `str::lines`, `slice::split` |
//! | `json` | the text of a value | its span, a member, a decoded string | serde_json, simd-json, sonic-rs |
//! | `envelope` | the bytes of a message | id, method, params | serde_json (`Value`, borrowed with `RawValue`), simd-json |
//! | `dispatch` | the bytes of a request | the bytes of the answer | peers built on serde_json, untyped and typed; by length, by number of tools and of calls in flight |
//! | `typed` | the bytes of a call; a result | the handler's type; bytes | serde_json, simd-json, sonic-rs |
//! | `http` | 1 MiB of server-sent events; headers and a body | messages; whether they agree | `memmem`, `str::lines`; `Value` |
//! | `pending` | a call | its answer, while others are pending | hashbrown |
//!
//! ```sh
//! cargo bench -p mcp-benches --no-default-features
//! cargo bench -p mcp-benches --no-default-features -- --warm-up-time 0.5 --measurement-time 1
//! cargo bench -p mcp-benches --no-default-features --bench envelope -- echo_call
//! ```
//!
//! Without the feature `peers`, which they do not use, they build sooner. Each benchmark asserts its result before it is
//! measured, and cheap parts of it in every turn; `cargo test -p mcp-benches --no-default-features --all-targets` runs
//! each of them once. Compare figures of one run only: machines differ, and so does one machine from hour to hour.

//! # Everything
//!
//! `benches/run` measures all of it and writes `benches/results`: tables, plots, machine, date and versions.
//!
//! # Instructions
//!
//! `instructions` prints how many instructions each kind of message takes, counted by valgrind (callgrind): a figure
//! that does not depend on how busy the machine is. What is committed in `instructions.tsv` is what `.ci/run` compares
//! with: more than 5% above it fails.
//!
//! ```sh
//! benches/instructions            # compares
//! benches/instructions --update   # writes the file anew
//! ```

extern crate alloc;

pub mod answer;
pub mod compare;
pub mod corpus;
pub mod engine;
pub mod latency;
pub mod load;
pub mod report;
pub mod request;
pub mod server;
pub mod slots;
pub mod usage;
