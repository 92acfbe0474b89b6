//! Does one thing a number of times, for a program that counts its instructions: see `benches/instructions`.
#![expect(clippy::print_stdout, reason = "its output is the names of the cases")]

use std::env;
use std::hint::black_box;
use std::process::ExitCode;

use mcp_benches::corpus;
use mcp_benches::engine::Server;
use mcp_benches::request::Era;
use mcp_core::Limits;
use mcp_core::frame::{LineFramer, LineOutcome};
use mcp_core::rpc::Envelope;

/// A name, and what is done so many times.
type Case = (&'static str, fn(u32));

const CASES: [Case; 8] = [
    ("call, modern", |times| calls(Era::Modern, times)),
    ("call, legacy", |times| calls(Era::Legacy, times)),
    ("ping", |times| {
        answers(Era::Legacy, &corpus::ping().json, times)
    }),
    ("list of 4 tools", |times| {
        answers(Era::Modern, &corpus::list(Era::Modern).json, times)
    }),
    ("envelope, 4 KB of arguments", |times| {
        envelope(&corpus::structured_arguments().json, times)
    }),
    ("envelope, 34 KB of result", |times| {
        envelope(&corpus::structured_result().json, times)
    }),
    ("envelope, 70 KB of text", |times| {
        envelope(&corpus::long_text().json, times)
    }),
    ("line of 355 bytes", lines),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match &*arguments {
        [] => {
            for (name, _) in CASES {
                println!("{name}");
            }
            ExitCode::SUCCESS
        }
        [name, times] => {
            let case = CASES.iter().find(|(case, _)| case == name);
            let (Some((_, run)), Ok(times)) = (case, times.parse()) else {
                return usage();
            };
            run(times);
            ExitCode::SUCCESS
        }
        _ => usage(),
    }
}

fn usage() -> ExitCode {
    println!("instructions            the names of the cases");
    println!("instructions CASE TIMES does one of them");
    ExitCode::FAILURE
}

fn calls(era: Era, times: u32) {
    answers(era, &corpus::echo_call(era).json, times);
}

fn answers(era: Era, message: &str, times: u32) {
    let mut server = Server::new(era, 4, Limits::DEFAULT);
    for _ in 0..times {
        let answer = server.answer(black_box(message.as_bytes()));
        assert!(answer.len() > 30);
    }
}

fn envelope(message: &str, times: u32) {
    for _ in 0..times {
        let envelope = Envelope::parse(black_box(message.as_bytes()), &Limits::DEFAULT);
        assert!(black_box(envelope).is_ok());
    }
}

fn lines(times: u32) {
    let block = corpus::block(&[corpus::echo_call(Era::Modern)], 64 * 1024);
    let mut framer = LineFramer::new(Limits::DEFAULT.max_message);
    let mut left = times;
    'all: loop {
        let mut used = 0;
        loop {
            if left == 0 {
                break 'all;
            }
            let step = framer.next(black_box(&block[used..]));
            used += step.consumed;
            let LineOutcome::Line(line) = step.outcome else {
                break;
            };
            assert!(black_box(line).len() > 300);
            left -= 1;
        }
    }
}
