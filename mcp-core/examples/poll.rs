//! The engine in a plain `poll(2)` loop on standard input and output: no runtime, no threads, no second buffer.
//!
//! What a host adds to it is more descriptors in the same array.

mod echo;

use std::error::Error;
use std::io;

use mcp_core::Limits;
use mcp_core::binding::StdioServer;
use mcp_core::engine::server::ServerEngine;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fd::AsFd;

/// Above so much that waits to be written, nothing more is read: a peer that does not read is not read from.
const HIGH_WATER: usize = 256 * 1024;

/// A pipe that is ready for writing takes so much without blocking (`PIPE_BUF`); so the streams need not be made
/// non-blocking, which others that have them would not expect.
const PIPE_BUF: usize = 4096;

fn main() -> Result<(), Box<dyn Error>> {
    let (stdin, stdout) = (io::stdin(), io::stdout());
    // Unpredictable to the peer, from the system's random numbers, in a program that is more than an example.
    let seed = 0x5EED;
    let engine = ServerEngine::new(echo::catalog()?, Limits::DEFAULT, seed);
    let mut server = StdioServer::new(engine);
    let (mut input, mut out) = (Vec::new(), Vec::new());
    let (mut written, mut ended) = (0, false);
    while !ended || written < out.len() {
        let waiting = out.len() - written;
        let reads = if ended || waiting > HIGH_WATER {
            PollFlags::empty()
        } else {
            PollFlags::IN
        };
        let writes = if waiting > 0 {
            PollFlags::OUT
        } else {
            PollFlags::empty()
        };
        let mut ready = [
            PollFd::from_borrowed_fd(stdin.as_fd(), reads),
            PollFd::from_borrowed_fd(stdout.as_fd(), writes),
        ];
        poll(&mut ready, None)?;
        let [input_ready, output_ready] = ready.map(|fd| fd.revents());

        if !reads.is_empty() && !input_ready.is_empty() {
            let mut chunk = [0; 64 * 1024];
            let count = rustix::io::read(&stdin, &mut chunk)?;
            input.extend_from_slice(&chunk[..count]);
            ended = count == 0;
            if ended {
                // A last line without its end is a message too.
                input.push(b'\n');
            }
            let used = echo::serve(&mut server, &input, &mut out);
            input.drain(..used);
        }
        if output_ready.contains(PollFlags::OUT) {
            let most = out.len().min(written + PIPE_BUF);
            written += rustix::io::write(&stdout, &out[written..most])?;
            if written == out.len() {
                out.clear();
                written = 0;
            }
        } else if output_ready.intersects(PollFlags::ERR | PollFlags::HUP) {
            // Nobody reads any more.
            break;
        }
    }
    Ok(())
}
