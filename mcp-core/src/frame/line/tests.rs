use alloc::vec;
use alloc::vec::Vec;

use proptest::prelude::{ProptestConfig, prop, prop_assert_eq, proptest};

use super::{LineFramer, LineOutcome, LineStep};
use crate::frame::feed::{Fed, Harvest, every_cut, feed};

#[derive(Clone, Debug, Eq, PartialEq)]
enum Item {
    Line(Vec<u8>),
    TooLong,
}

fn line(bytes: impl AsRef<[u8]>) -> Item {
    Item::Line(bytes.as_ref().to_vec())
}

fn run<'c>(limit: usize, chunks: impl IntoIterator<Item = &'c [u8]>) -> Harvest<Item> {
    run_with_starts(limit, chunks).0
}

/// The same, and how the lines begin that are too long.
fn run_with_starts<'c>(
    limit: usize,
    chunks: impl IntoIterator<Item = &'c [u8]>,
) -> (Harvest<Item>, Vec<Vec<u8>>) {
    let mut framer = LineFramer::new(limit);
    let mut starts = Vec::new();
    let harvest = feed(chunks, |input, at_end| {
        let step = if at_end {
            framer.finish(input)
        } else {
            framer.next(input)
        };
        let item = match step.outcome {
            LineOutcome::NeedMore => None,
            LineOutcome::Line(bytes) => Some(line(bytes)),
            LineOutcome::TooLong {
                limit: reported,
                start,
            } => {
                assert_eq!(reported, limit);
                starts.push(start.to_vec());
                Some(Item::TooLong)
            }
        };
        Fed {
            consumed: step.consumed,
            item,
        }
    });
    assert!(
        harvest.most_held < framer.window(),
        "{} bytes held at limit {limit}",
        harvest.most_held
    );
    (harvest, starts)
}

/// The stream gives these items for every way of cutting it, with a terminator at its end and without.
fn check(limit: usize, stream: &[u8], expected: &[Item]) {
    for stream in [stream, stream.strip_suffix(b"\n").unwrap_or(stream)] {
        for chunks in every_cut(stream) {
            assert_eq!(
                run(limit, chunks.iter().copied()).items,
                expected,
                "limit {limit}, chunks {chunks:02x?}"
            );
        }
    }
}

/// Says the same as the framer's documentation in terms of the whole stream.
fn oracle(limit: usize, stream: &[u8]) -> Vec<Item> {
    let mut items = Vec::new();
    for raw in stream.split(|&b| b == b'\n') {
        let raw = raw.strip_prefix("\u{FEFF}".as_bytes()).unwrap_or(raw);
        let Some(start) = raw.iter().position(|b| !b" \t\r".contains(b)) else {
            continue;
        };
        let content = &raw[start..];
        let content = content.strip_suffix(b"\r").unwrap_or(content);
        items.push(if content.len() > limit {
            Item::TooLong
        } else {
            line(content)
        });
    }
    items
}

#[test]
fn lines_end_with_lf_or_crlf() {
    check(100, b"{\"id\":1}\n", &[line(r#"{"id":1}"#)]);
    check(
        100,
        b"one\ntwo\r\nthree\n",
        &[line("one"), line("two"), line("three")],
    );
    check(
        100,
        "{\"text\":\"— é 🦀\"}\r\n".as_bytes(),
        &[line("{\"text\":\"— é 🦀\"}")],
    );
}

#[test]
fn only_the_cr_before_the_lf_is_dropped() {
    check(100, b"a\rb\r\r\nc\r\n", &[line("a\rb\r"), line("c")]);
}

#[test]
fn fr_01_one_bom_at_the_start_of_each_line_is_dropped() {
    let bom = "\u{FEFF}";
    let stream = [bom, "first\n", bom, "\"a", bom, "\"\n", bom, bom, "third\n"].concat();
    let kept = ["\"a", bom, "\""].concat();
    let second_kept = [bom, "third"].concat();
    check(
        100,
        stream.as_bytes(),
        &[line("first"), line(kept), line(second_kept)],
    );
    // A BOM before blanks, and one that is not at the start because blanks are.
    let stream = [bom, " x\n ", bom, "y\n"].concat();
    check(
        100,
        stream.as_bytes(),
        &[line("x"), line([bom, "y"].concat())],
    );
}

#[test]
fn part_of_a_bom_is_content() {
    check(
        100,
        b"\xEF\n\xEF\xBB\n\xEF\xBBx\n",
        &[line(b"\xEF"), line(b"\xEF\xBB"), line(b"\xEF\xBBx")],
    );
    check(
        0,
        b"\xEF\xBB\nx\n\xEF\xBB\xBF\n",
        &[Item::TooLong, Item::TooLong],
    );
}

#[test]
fn blank_lines_are_not_reported() {
    check(100, b"\n", &[]);
    check(
        100,
        b"\n\n   \n\t\r\n\r\r\n\xEF\xBB\xBF\n\xEF\xBB\xBF \r\n",
        &[],
    );
    check(100, b"\n \na\n\n\r\nb\n\n", &[line("a"), line("b")]);
}

#[test]
fn leading_blanks_are_dropped_and_trailing_ones_kept() {
    check(3, b"  \t\r abc\n a \n", &[line("abc"), line("a ")]);
}

#[test]
fn nothing_gives_nothing() {
    check(100, b"", &[]);
    let mut framer = LineFramer::new(100);
    let nothing = LineStep {
        consumed: 0,
        outcome: LineOutcome::NeedMore,
    };
    assert_eq!(framer.next(b""), nothing);
    assert_eq!(framer.finish(b""), nothing);
}

#[test]
fn the_limit_counts_the_bytes_that_are_handed_out() {
    check(5, b"12345\n", &[line("12345")]);
    check(5, b"123456\n", &[Item::TooLong]);
    check(5, b"12345\r\n", &[line("12345")]);
    check(5, b"1234\r\r\n", &[line("1234\r")]);
    check(5, b"12345\r\r\n", &[Item::TooLong]);
    check(5, b"12345\rx\n", &[Item::TooLong]);
    check(5, b"\xEF\xBB\xBF  12345\n", &[line("12345")]);
    check(5, b"\xEF\xBB\xBF  123456\n", &[Item::TooLong]);
    check(0, b"\n \r\nx\n", &[Item::TooLong]);
    check(usize::MAX, b"x\n", &[line("x")]);
}

#[test]
fn fr_10_the_limit_is_in_bytes_not_characters() {
    let ascii = "x".repeat(600) + "\n";
    let three_bytes_each = "—".repeat(600) + "\n";
    assert_eq!(run(1000, [ascii.as_bytes()]).items, [line(&ascii[..600])]);
    assert_eq!(
        run(1000, [three_bytes_each.as_bytes()]).items,
        [Item::TooLong]
    );
}

#[test]
fn a_line_too_long_begins_the_same_however_it_is_cut() {
    let stream = b"\xEF\xBB\xBF 12345678\nok\n\n \xC3\xA9\xC3\xA9x\r\r\n12345";
    for chunks in every_cut(stream) {
        let (_, starts) = run_with_starts(4, chunks.iter().copied());
        let expected = [&b"1234"[..], b"\xC3\xA9\xC3\xA9", b"1234"];
        assert_eq!(starts, expected, "{chunks:02x?}");
    }
}

#[test]
fn after_a_line_too_long_the_next_is_read() {
    check(
        4,
        b"12345678\ngood\n1234567\r\n\n\xEF\xBB\xBFfine\r\n12345",
        &[
            Item::TooLong,
            line("good"),
            Item::TooLong,
            line("fine"),
            Item::TooLong,
        ],
    );
}

#[test]
fn a_line_too_long_is_reported_before_it_ends() {
    let mut framer = LineFramer::new(4);
    assert_eq!(
        framer.next(b"1234"),
        LineStep {
            consumed: 0,
            outcome: LineOutcome::NeedMore
        }
    );
    assert_eq!(
        framer.next(b"1234\r"),
        LineStep {
            consumed: 0,
            outcome: LineOutcome::NeedMore
        }
    );
    let too_long = LineOutcome::TooLong {
        limit: 4,
        start: b"1234",
    };
    assert_eq!(
        framer.next(b"1234\r5"),
        LineStep {
            consumed: 6,
            outcome: too_long
        }
    );
    assert_eq!(
        framer.next(b"6789"),
        LineStep {
            consumed: 4,
            outcome: LineOutcome::NeedMore
        }
    );
    assert_eq!(
        framer.next(b"0\nok\n"),
        LineStep {
            consumed: 5,
            outcome: LineOutcome::Line(b"ok")
        }
    );
}

#[test]
fn every_proper_prefix_needs_more_and_keeps_what_is_there() {
    let message = "\u{FEFF}{\"method\":\"ping\",\"—\":\"🦀\\n\"}\r\n".as_bytes();
    let content = &message[3..message.len() - 2];
    for cut in 0..message.len() {
        let mut framer = LineFramer::new(content.len());
        let first = framer.next(&message[..cut]);
        assert_eq!(
            first.outcome,
            LineOutcome::NeedMore,
            "prefix of {cut} bytes"
        );
        let second = framer.next(&message[first.consumed..]);
        assert_eq!(
            second.outcome,
            LineOutcome::Line(content),
            "prefix of {cut} bytes"
        );
        assert_eq!(first.consumed + second.consumed, message.len());
    }
}

#[test]
fn a_finished_framer_reads_another_stream() {
    for tail in [
        &b"rest"[..],
        b" ",
        b"\xEF\xBB",
        b"\xEF\xBB\xBF",
        b"123456789",
        b"12345678\r",
    ] {
        let mut framer = LineFramer::new(8);
        let mut start = framer.next(tail).consumed;
        loop {
            let step = framer.finish(&tail[start..]);
            start += step.consumed;
            if step.outcome == LineOutcome::NeedMore {
                break;
            }
        }
        assert_eq!(start, tail.len(), "{tail:02x?}");
        let step = framer.next(b"\xEF\xBB\xBFnew\n");
        assert_eq!(
            step,
            LineStep {
                consumed: 7,
                outcome: LineOutcome::Line(b"new")
            },
            "{tail:02x?}"
        );
    }
}

#[test]
fn input_shorter_than_before_does_not_panic() {
    let mut framer = LineFramer::new(100);
    assert_eq!(framer.next(b"abcdef").consumed, 0);
    assert_eq!(framer.next(b"ab").consumed, 0);
    assert_eq!(framer.finish(b"x").outcome, LineOutcome::Line(b"x"));
}

/// 50 MB of one line through a buffer of the documented size; then blanks, which are not even held.
#[test]
fn fr_09_a_flood_stays_within_the_window() {
    const LIMIT: usize = 100_000;
    for flood in [b'x', b' '] {
        let mut framer = LineFramer::new(LIMIT);
        let mut buffer = vec![0; framer.window()];
        let mut filled = 0;
        let mut reports = 0;
        let mut sent = 0;
        while sent < 50 << 20 {
            let read = (64 << 10).min(buffer.len() - filled);
            assert!(read > 0, "the window is full and nothing was consumed");
            buffer[filled..filled + read].fill(flood);
            filled += read;
            sent += read;
            let LineStep { consumed, outcome } = framer.next(&buffer[..filled]);
            reports += usize::from(
                matches!(outcome, LineOutcome::TooLong { limit: LIMIT, start } if start.len() == LIMIT),
            );
            buffer.copy_within(consumed..filled, 0);
            filled -= consumed;
            assert!(flood == b'x' || filled == 0, "{filled} blanks held");
        }
        assert_eq!(reports, usize::from(flood == b'x'));
        assert_eq!(filled, 0);
        assert_eq!(framer.next(b"\nping\n").outcome, LineOutcome::Line(b"ping"));
    }
}

/// A megabyte in single bytes: were each call to look at everything again, this would be 500 GB of work.
#[test]
fn the_cost_of_a_slow_line_is_linear() {
    let mut stream = vec![b'x'; 1 << 20];
    stream.push(b'\n');
    let mut framer = LineFramer::new(stream.len());
    for end in 1..stream.len() {
        assert_eq!(
            framer.next(&stream[..end]),
            LineStep {
                consumed: 0,
                outcome: LineOutcome::NeedMore
            }
        );
        assert_eq!(framer.searched, end);
    }
    assert_eq!(framer.next(&stream).consumed, stream.len());
}

#[test]
fn fr_05_any_stream_in_any_cut_agrees_with_the_oracle() {
    let piece = prop::sample::select(vec![
        &b"\n"[..],
        b"\n",
        b"\r\n",
        b"\r",
        b" ",
        b"\t",
        b"\xEF\xBB\xBF",
        b"\xEF",
        b"\xBB",
        b"\xBF",
        b"a",
        b"bcd",
        b"\"\"",
    ]);
    let streams = prop::collection::vec(piece, 0..24);
    proptest!(ProptestConfig::with_cases(512), |(pieces in streams, limit in 0_usize..8)| {
        let stream = pieces.concat();
        let expected = oracle(limit, &stream);
        for chunks in every_cut(&stream) {
            prop_assert_eq!(&run(limit, chunks.iter().copied()).items, &expected, "limit {}, chunks {:02x?}", limit, chunks);
        }
    });
}
