//! Fuzz targets for `mcp-core`: each an ordinary function with an oracle, and a corpus of inputs.
//!
//! | target | is fed | is compared with |
//! | --- | --- | --- |
//! | [`line`](fn@line) | a stream, its limit, how it is cut into reads | a splitter that sees all of the stream at once |
//! | [`tokenizer`](fn@tokenizer) | a document | `serde_json`: what is accepted, and every value; what the writer makes of it |
//! | [`envelope`](fn@envelope) | a message | the rules of JSON-RPC and MCP over what `serde_json` reads; what is written again |
//! | [`server`](fn@server) | a stream to a whole server, how it is cut into reads | the same stream in one read; a model of all answers |
//! | [`http_server`](fn@http_server) | an HTTP request | what must not be let through; one answer, and the headers say what it answers |
//! | [`http_sessions`](fn@http_sessions) | operations on the sessions of an endpoint | a list of them |
//! | [`http_client`](fn@http_client) | the HTTP responses to a client, how they are cut | the same in one piece; each request ends once |
//!
//! A function returns if all is well and panics on a finding. Nothing in it depends on anything but the input.
//!
//! # Replay
//!
//! `cargo test -p mcp-fuzz` runs every committed input of `corpus/` through its target, on stable and without a
//! sanitizer.
//!
//! # Search
//!
//! That takes a nightly compiler (`rustup toolchain install nightly`) and a C++ compiler, for libFuzzer.
//!
//! ```text
//! fuzz/run 60                     each target for a minute; what CI does, with less
//! fuzz/run 28800 server           one target for a night
//! ```
//!
//! The script installs cargo-fuzz if it is missing, and fails on a finding. New inputs go to `fuzz/target/found/`, not to
//! the committed corpus, and the next run goes on from them. `fuzz/words.dict` has the words that mutations mix in. The
//! sanitizer costs most of the time: the crate has little `unsafe`, and `-s none` after `fuzz run` goes without.
//!
//! # A finding
//!
//! libFuzzer leaves the input in `fuzz/artifacts/TARGET/`. Shrink it, and see it fail:
//!
//! ```text
//! cargo +nightly fuzz tmin TARGET --features libfuzzer fuzz/artifacts/TARGET/crash-...
//! cargo +nightly fuzz run  TARGET --features libfuzzer fuzz/artifacts/TARGET/minimized-from-...
//! ```
//!
//! Then copy it to `corpus/TARGET/` under a name that says what it is about: the replay fails until it is mended, and
//! guards it afterwards.
//!
//! # The corpora
//!
//! Names that are words were written by hand, names that are hashes were found. After a long run, keep of what it found
//! what adds coverage:
//!
//! ```text
//! cargo +nightly fuzz run TARGET --features libfuzzer fuzz/corpus/TARGET fuzz/target/found/TARGET -- -merge=1 -use_counters=0 -max_len=1024
//! ```

mod choice;
mod envelope;
mod http_client;
mod http_server;
mod http_sessions;
mod line;
mod reads;
mod reference;
mod server;
mod tokenizer;

pub use envelope::envelope;
pub use http_client::http_client;
pub use http_server::http_server;
pub use http_sessions::http_sessions;
pub use line::line;
pub use server::server;
pub use tokenizer::tokenizer;

/// A target: its name, which is also that of its program and of its corpus, and its function.
pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const TARGETS: [Target; 7] = [
    ("line", line),
    ("tokenizer", tokenizer),
    ("envelope", envelope),
    ("server", server),
    ("http_server", http_server),
    ("http_sessions", http_sessions),
    ("http_client", http_client),
];
