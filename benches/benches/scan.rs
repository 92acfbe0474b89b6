//! Cutting a stream into lines: the framer beside what it is built on and what the standard library has.
//!
//! Each contender finds every line of a block of 1 MiB and says how many bytes they have. The framer alone also deals
//! with CR LF, BOM, blank lines and the limit; `memchr` only finds the line ends and is the floor.

use core::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use mcp_benches::corpus;
use mcp_benches::request::Era;
use mcp_core::Limits;
use mcp_core::frame::{LineFramer, LineOutcome};
use memchr::memchr_iter;

const BLOCK: usize = 1 << 20;

/// What a driver asks a pipe for at once.
const READ: usize = 64 * 1024;

/// What was found: how many lines, and how many bytes in them without line ends.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
struct Tally {
    lines: usize,
    bytes: usize,
}

impl Tally {
    fn of<'b>(lines: impl Iterator<Item = &'b [u8]>) -> Self {
        lines.fold(Self::default(), |mut tally, line| {
            tally.add(line);
            tally
        })
    }

    fn add(&mut self, line: &[u8]) {
        self.lines += 1;
        self.bytes += black_box(line).len();
    }
}

/// The block in reads of `read` bytes, a line that is cut by a read being offered again with the next one.
fn framer(block: &[u8], read: usize) -> Tally {
    let mut framer = LineFramer::new(Limits::DEFAULT.max_message);
    let mut tally = Tally::default();
    let mut used = 0;
    let mut arrived = 0;
    while arrived < block.len() {
        arrived = block.len().min(arrived + read);
        loop {
            let step = framer.next(&block[used..arrived]);
            used += step.consumed;
            let LineOutcome::Line(line) = step.outcome else {
                break;
            };
            tally.add(line);
        }
    }
    assert_eq!(used, block.len(), "the block ends with a line end");
    tally
}

fn memchr(block: &[u8]) -> Tally {
    let mut start = 0;
    Tally::of(memchr_iter(b'\n', block).map(|end| {
        let line = &block[start..end];
        start = end + 1;
        line
    }))
}

/// The text is known to be UTF-8: the check is not in the figure.
fn str_lines(block: &str) -> Tally {
    Tally::of(block.lines().map(str::as_bytes))
}

fn slice_split(block: &[u8]) -> Tally {
    let lines = block.strip_suffix(b"\n").unwrap_or(block);
    Tally::of(lines.split(|&byte| byte == b'\n'))
}

fn scan(criterion: &mut Criterion) {
    let blocks = [
        ("mixed", corpus::all()),
        ("calls", vec![corpus::echo_call(Era::Modern)]),
        ("pings", vec![corpus::ping()]),
    ];
    for (name, messages) in blocks {
        let block = corpus::block(&messages, BLOCK);
        let text = core::str::from_utf8(&block).expect("JSON is UTF-8");
        // What was put in, counted by another way than any that is measured.
        let lines = block.iter().filter(|&&byte| byte == b'\n').count();
        let expected = Tally {
            lines,
            bytes: block.len() - lines,
        };

        let mut group = criterion.benchmark_group(format!("scan/{name}"));
        group.throughput(Throughput::Bytes(block.len() as u64));
        let mut measure = |contender: &str, tally: &dyn Fn() -> Tally| {
            assert_eq!(tally(), expected, "{contender} of {name}");
            group.bench_function(BenchmarkId::from_parameter(contender), |bencher| {
                bencher.iter(|| assert_eq!(tally(), expected));
            });
        };
        measure("framer", &|| framer(black_box(&block), BLOCK));
        measure("framer, reads of 64 KiB", &|| {
            framer(black_box(&block), READ)
        });
        measure("memchr", &|| memchr(black_box(&block)));
        measure("str::lines", &|| str_lines(black_box(text)));
        measure("slice::split", &|| slice_split(black_box(&block)));
        group.finish();
    }
}

criterion_group!(benches, scan);
criterion_main!(benches);
