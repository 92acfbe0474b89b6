use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::time::Duration;

use proptest::prelude::{ProptestConfig, any, prop, prop_assert_eq, proptest};

use super::{SseEvent, SseOutcome, SseParser, SseStep, write_comment, write_event, write_retry};
use crate::frame::feed::{Fed, Harvest, every_cut, feed};
use crate::json::Full;

/// An event or a report, and the last id after it.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Item {
    /// None: too long.
    event: Option<Said>,
    last_id: Vec<u8>,
}

#[derive(Clone, Debug, Default, Eq, PartialEq)]
struct Said {
    name: Vec<u8>,
    data: Vec<u8>,
    id: Option<Vec<u8>>,
    retry: Option<Duration>,
}

/// A message without an id, in a stream that has none.
fn message(data: impl AsRef<[u8]>) -> Item {
    named("message", data)
}

fn named(name: &str, data: impl AsRef<[u8]>) -> Item {
    Item {
        event: Some(Said {
            name: name.into(),
            data: data.as_ref().to_vec(),
            ..Said::default()
        }),
        last_id: Vec::new(),
    }
}

fn with_id(id: &str, data: &str) -> Item {
    let mut item = message(data);
    item.last_id = id.into();
    if let Some(said) = &mut item.event {
        said.id = Some(id.into());
    }
    item
}

fn with_retry(milliseconds: u64) -> Item {
    let mut item = message("");
    if let Some(said) = &mut item.event {
        said.retry = Some(Duration::from_millis(milliseconds));
    }
    item
}

const TOO_LONG: Item = Item {
    event: None,
    last_id: Vec::new(),
};

fn run<'c>(limit: usize, chunks: impl IntoIterator<Item = &'c [u8]>) -> Harvest<Item> {
    let mut parser = SseParser::new(limit);
    let harvest = feed(chunks, |input, at_end| {
        let step = if at_end {
            parser.finish(input)
        } else {
            parser.next(input)
        };
        let event = match step.outcome {
            SseOutcome::NeedMore => {
                return Fed {
                    consumed: step.consumed,
                    item: None,
                };
            }
            SseOutcome::Event(event) => Some(Said {
                name: event.name.to_vec(),
                data: event.data.to_vec(),
                id: event.id.map(Vec::from),
                retry: event.retry,
            }),
            SseOutcome::TooLong { limit: reported } => {
                assert_eq!(reported, limit);
                None
            }
        };
        Fed {
            consumed: step.consumed,
            item: Some(Item {
                event,
                last_id: parser.last_id().to_vec(),
            }),
        }
    });
    assert!(
        harvest.most_held < parser.window(),
        "{} bytes held at limit {limit}",
        harvest.most_held
    );
    harvest
}

/// The stream gives these items for every way of cutting it.
fn check(limit: usize, stream: impl AsRef<[u8]>, expected: &[Item]) {
    let stream = stream.as_ref();
    assert_eq!(oracle(limit, stream), expected, "the oracle, {limit}");
    for chunks in every_cut(stream) {
        assert_eq!(
            run(limit, chunks.iter().copied()).items,
            expected,
            "limit {limit}, chunks {:?}",
            chunks
                .iter()
                .map(|chunk| String::from_utf8_lossy(chunk))
                .collect::<Vec<_>>()
        );
    }
}

/// Says the same as the parser's documentation in terms of the whole stream.
fn oracle(limit: usize, stream: &[u8]) -> Vec<Item> {
    if b"\xEF\xBB".starts_with(stream) {
        // Nothing, whatever the limit: it could have become a BOM.
        return Vec::new();
    }
    let mut rest = stream.strip_prefix("\u{FEFF}".as_bytes()).unwrap_or(stream);
    let mut items = Vec::new();
    let mut last_id = Vec::new();
    let mut held: Vec<&[u8]> = Vec::new();
    let mut size = 0;
    let mut overlong = false;
    while let Some(len) = rest.iter().position(|byte| b"\r\n".contains(byte)) {
        let (line, after) = rest.split_at(len);
        let end = if after.starts_with(b"\r\n") { 2 } else { 1 };
        rest = &after[end..];
        if line.is_empty() {
            let said = said(&held, None);
            last_id = said
                .as_ref()
                .and_then(|said| said.id.clone())
                .unwrap_or(last_id);
            items.extend(said.map(|said| Item {
                event: Some(said),
                last_id: last_id.clone(),
            }));
            held.clear();
            size = 0;
            overlong = false;
        } else if !overlong && (size > 0 || line[0] != b':') {
            size += len + 1;
            if size <= limit {
                held.push(line);
            }
            size += end - 1;
            if size > limit {
                last_id = said(&held, None)
                    .and_then(|said| said.id)
                    .unwrap_or(last_id);
                items.push(Item {
                    event: None,
                    last_id: last_id.clone(),
                });
                held.clear();
                overlong = true;
            }
        }
    }
    if overlong || (size == 0 && rest.starts_with(b":")) {
        return items;
    }
    if size + rest.len() > limit {
        last_id = said(&held, None)
            .and_then(|said| said.id)
            .unwrap_or(last_id);
        items.push(Item {
            event: None,
            last_id,
        });
    } else if let Some(said) = said(&held, Some(rest)) {
        let last_id = said.id.clone().unwrap_or(last_id);
        items.push(Item {
            event: Some(said),
            last_id,
        });
    }
    items
}

fn said(lines: &[&[u8]], cut: Option<&[u8]>) -> Option<Said> {
    let mut said = Said::default();
    let mut data: Vec<&[u8]> = Vec::new();
    let lines = lines.iter().map(|line| (*line, true));
    for (line, whole) in lines.chain(cut.map(|line| (line, false))) {
        let mut parts = line.splitn(2, |byte| *byte == b':');
        let field = parts.next().unwrap_or_default();
        let value = parts.next().unwrap_or_default();
        let value = if value.first() == Some(&b' ') {
            &value[1..]
        } else {
            value
        };
        if field == b"data" {
            data.push(value);
        } else if field == b"event" {
            said.name = value.to_vec();
        } else if field == b"id" && whole && !value.contains(&0) && value.len() <= 4096 {
            said.id = Some(value.to_vec());
        } else if field == b"retry"
            && whole
            && let Ok(text) = str::from_utf8(value)
            && !text.starts_with('+')
            && let Ok(milliseconds) = text.parse()
        {
            said.retry = Some(Duration::from_millis(milliseconds));
        }
    }
    if said.name.is_empty() {
        said.name = b"message".to_vec();
    }
    said.data = data.join(&b'\n');
    (!data.is_empty() || said.id.is_some() || said.retry.is_some()).then_some(said)
}

/// SE-01, LH-11.
#[test]
fn se_01_an_event_without_data_counts_for_its_id_or_its_delay() {
    let response = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
    check(
        1000,
        ["id: 123\ndata:\n\nid: 124\ndata: ", response, "\n\n"].concat(),
        &[with_id("123", ""), with_id("124", response)],
    );
    check(1000, "retry: 500\n\n", &[with_retry(500)]);
    check(1000, "id: 1\n\n", &[with_id("1", "")]);

    let mut parser = SseParser::new(1000);
    for (stream, data) in [
        ("id: 1\ndata:\n\n", None),
        ("id: 1\ndata\n\n", None),
        ("retry: 1\n\n", None),
        ("data: x\n\n", Some(&b"x"[..])),
        ("event: message\ndata: x\n\n", Some(b"x")),
        ("event\ndata: x\n\n", Some(b"x")),
        ("event: endpoint\ndata: x\n\n", None),
    ] {
        let SseOutcome::Event(event) = parser.next(stream.as_bytes()).outcome else {
            panic!("no event in {stream:?}");
        };
        assert_eq!(event.message(), data, "{stream:?}");
    }
}

#[test]
fn an_event_that_says_nothing_is_skipped() {
    check(
        1000,
        "\n\n: comment\n\nevent: ping\n\nfoo: bar\n\nretry: x\n\nid: a\0b\n\ndata: x\n\n",
        &[message("x")],
    );
}

/// SE-02.
#[test]
fn se_02_every_line_end_is_one() {
    let expected = [with_id("123", ""), with_id("124", "one\ntwo")];
    let lines = [
        "id: 123",
        "data:",
        "",
        "id: 124",
        "data: one",
        "data: two",
        "",
    ];
    for end in ["\n", "\r\n", "\r"] {
        check(1000, lines.join(end) + end, &expected);
    }
    for mixed in 0..3_usize.pow(7) {
        let mut stream = String::new();
        let mut choice = mixed;
        for line in lines {
            stream += line;
            stream += ["\n", "\r\n", "\r"][choice % 3];
            choice /= 3;
        }
        let whole = run(1000, [stream.as_bytes()]).items;
        assert_eq!(whole, oracle(1000, stream.as_bytes()), "{stream:?}");
        // A line of CR before an empty one of LF: together they are one end, and the event goes on.
        if !stream.contains("data:\r\n") && !stream.contains("two\r\n") {
            assert_eq!(whole, expected, "{stream:?}");
        }
        assert_eq!(
            run(1000, stream.as_bytes().chunks(1)).items,
            whole,
            "{stream:?}"
        );
    }
}

/// SE-03.
#[test]
fn se_03_data_of_several_lines_is_joined() {
    let chunks = [
        &b"data: {\"jsonrpc\":\"2.0\",\r"[..],
        b"\ndata: \"id\":1,\"result\":{}}\r",
        b"\n\r",
        b"\n",
    ];
    let expected = [message("{\"jsonrpc\":\"2.0\",\n\"id\":1,\"result\":{}}")];
    assert_eq!(run(1000, chunks).items, expected);
    check(1000, chunks.concat(), &expected);
    check(
        1000,
        "data\ndata:\ndata: \ndata:  \n\n",
        &[message("\n\n\n ")],
    );
}

/// SE-03.
#[test]
fn se_03_an_empty_line_that_ends_with_cr_ends_the_event_at_once() {
    let mut parser = SseParser::new(1000);
    for stream in [
        &b"data: x\r\r"[..],
        b"\ndata: x\r\r",
        b"data: x\n\r",
        b"data: x\r\n\r",
    ] {
        let SseStep { consumed, outcome } = parser.next(stream);
        assert!(matches!(&outcome, SseOutcome::Event(event) if *event.data == *b"x"));
        assert_eq!(consumed, stream.len());
    }
    let nothing = SseStep {
        consumed: 1,
        outcome: SseOutcome::NeedMore,
    };
    assert_eq!(parser.next(b"\n"), nothing);
    // Only one LF.
    check(
        1000,
        "data: x\r\r\n\ndata: y\n\n",
        &[message("x"), message("y")],
    );
}

/// SE-04.
#[test]
fn se_04_one_bom_at_the_start_of_the_stream_is_dropped() {
    let bom = "\u{FEFF}";
    check(1000, [bom, "data: 1\n\n"].concat(), &[message("1")]);
    check(
        1000,
        [bom, bom, "data: 1\n\ndata: 2\n\n"].concat(),
        &[message("2")],
    );
    check(
        1000,
        ["data: 1\n\n", bom, "data: 2\n\ndata: ", bom, "3\n\n"].concat(),
        &[message("1"), message([bom, "3"].concat())],
    );
    check(1000, b"\xEF\xBBdata: 1\n\n\xEF", &[]);
    check(0, bom, &[]);
    check(0, b"\xEF\xBB", &[]);
    check(0, b"\xEF\xBBx", &[TOO_LONG]);
}

/// SE-05.
#[test]
fn se_05_fields_are_read_exactly() {
    let response = r#"{"jsonrpc":"2.0","id":1,"result":{"v":" two"}}"#;
    check(
        1000,
        ["data:", response, "\n\n"].concat(),
        &[message(response)],
    );
    check(1000, "data:  x\n\n", &[message(" x")]);
    check(1000, "data:\tx \n\n", &[message("\tx ")]);
    check(1000, "data\n\n", &[message("")]);
    check(
        1000,
        "Data: x\n data: x\ndata : x\nfoo: bar\nfoo\n:data: x\n\n",
        &[],
    );
    check(
        1000,
        "data: x\n: data: y\ndata: a:b\n\n",
        &[message("x\na:b")],
    );
    check(
        1000,
        "event: a\nevent:endpoint\ndata: /x?y=z:1\n\ndata: x\n\n",
        &[named("endpoint", "/x?y=z:1"), message("x")],
    );
}

#[test]
fn a_delay_is_digits_only() {
    for other in ["", "x", "1x", "-1", "+1", "1.5", " 1", "1 ", "1e3", "١"] {
        check(1000, ["retry: ", other, "\n\n"].concat(), &[]);
    }
    check(1000, "retry: 007\nretry: x\n\n", &[with_retry(7)]);
    let largest = "retry: 18446744073709551615\n\n";
    check(1000, largest, &[with_retry(u64::MAX)]);
    let larger = "retry: 99999999999999999999999999\n\n";
    assert_eq!(run(1000, [larger.as_bytes()]).items, [with_retry(u64::MAX)]);
}

#[test]
fn the_last_id_stays_until_another_comes() {
    let after = |id: &str, mut item: Item| {
        item.last_id = id.into();
        item
    };
    check(
        1000,
        "id: a\ndata: 1\n\ndata: 2\n\nid: x\0y\ndata: 3\n\nid: b\nid: c\ndata: 4\n\nid\ndata: 5\n\n",
        &[
            with_id("a", "1"),
            after("a", message("2")),
            after("a", message("3")),
            with_id("c", "4"),
            with_id("", "5"),
        ],
    );
    let longest = "i".repeat(SseParser::MAX_ID);
    let stream = ["id: ", &longest, "\n\nid: ", &longest, "i\ndata: x\n\n"].concat();
    assert_eq!(
        run(10_000, [stream.as_bytes()]).items,
        [with_id(&longest, ""), after(&longest, message("x"))]
    );
}

/// SE-06.
#[test]
fn se_06_text_is_the_same_for_every_cut() {
    check(
        1000,
        "data: {\"a\":\"— é 🦀\"}\n\nid: é\ndata: 日本語\n\nevent: 🦀\ndata: \u{2028}\n\n",
        &[
            message("{\"a\":\"— é 🦀\"}"),
            with_id("é", "日本語"),
            Item {
                last_id: "é".into(),
                ..named("🦀", "\u{2028}")
            },
        ],
    );
}

/// SE-06: lines and their ends count, the empty line and comments before the event do not.
#[test]
fn se_06_the_limit_is_that_of_the_lines() {
    check(8, "data: x\n\n", &[message("x")]);
    check(8, "data: xy\n\n", &[TOO_LONG]);
    check(8, "data: x\r\n\r\n", &[TOO_LONG]);
    check(9, "data: x\r\n\r\n", &[message("x")]);
    check(8, "data: x\r\r", &[message("x")]);
    check(
        8,
        "\n\n: comment\n\n: comment\ndata: x\n\n",
        &[message("x")],
    );
    check(8, "data\n:..\n\n", &[TOO_LONG]);
    check(8, "\u{FEFF}data: x\n\n", &[message("x")]);
    check(0, "\n\n:\n\n", &[]);
    check(usize::MAX, "data: x\n\n", &[message("x")]);
}

#[test]
fn after_an_event_too_long_the_next_is_read() {
    check(
        9,
        "data: 12345\ndata: 6\n\ndata: a\n\nfoo: barbaz\r\r\ndata: b\n\ndata: 1\ndata: 2\n\ndata: c\n\ndata:678901",
        &[
            TOO_LONG,
            message("a"),
            TOO_LONG,
            message("b"),
            TOO_LONG,
            message("c"),
            TOO_LONG,
        ],
    );
    // Its own empty line, and no other, ends it.
    check(
        9,
        "data: 12345\r\n: x\r\ndata: x\r\n\r\n: x\r\n\r\ndata: a\n\n",
        &[TOO_LONG, message("a")],
    );
    check(3, "data\r\rretry\r\n\r\n\n", &[TOO_LONG, TOO_LONG]);
}

/// Else a stream that is resumed would bring it again and again.
#[test]
fn the_id_of_an_event_too_long_counts() {
    let too_long_after = |id: &str| Item {
        event: None,
        last_id: id.into(),
    };
    check(9, "id: 7\ndata: 12345678\n\n", &[too_long_after("7")]);
    check(9, "data: 12345678\nid: 7\n\n", &[too_long_after("")]);
    check(9, "id: 12345678\n\n", &[too_long_after("")]);
    // The limit lies between CR and LF.
    check(6, "id: 7\r\ndata: 1\r\n\r\n", &[too_long_after("7")]);
    check(5, "id: 7\r\ndata: 1\r\n\r\n", &[too_long_after("")]);
}

#[test]
fn the_end_of_the_body_ends_the_last_event() {
    check(1000, "data: 1\n\ndata: 2\n", &[message("1"), message("2")]);
    check(1000, "data: 1\n\ndata: 2", &[message("1"), message("2")]);
    check(
        1000,
        "data: 1\r\n\r\ndata: 2\r",
        &[message("1"), message("2")],
    );
    check(1000, "data: 1\ndata", &[message("1\n")]);
    check(
        1000,
        "id: 12\ndata: 1\n\nid: 13\n",
        &[with_id("12", "1"), with_id("13", "")],
    );
    // It could go on.
    check(1000, "id: 12\ndata: 1\n\nid: 1", &[with_id("12", "1")]);
    check(1000, "retry: 5", &[]);
    check(1000, ": comment", &[]);
    check(1000, "dat", &[]);
    check(1000, "", &[]);
}

#[test]
fn a_parser_reads_one_stream_after_another() {
    let tails = [
        &b""[..],
        b"data: x",
        b"data: x\r",
        b": x",
        b"\xEF\xBB",
        b"data: 12345678901234567890",
    ];
    for tail in tails {
        for broken in [false, true] {
            let mut parser = SseParser::new(20);
            let first = parser.next(b"id: 1\n\n");
            assert_eq!(first.consumed, 7);
            let mut start = parser.next(tail).consumed;
            if broken {
                parser.restart();
            } else {
                while start < tail.len() {
                    start += parser.finish(&tail[start..]).consumed;
                }
                assert_eq!(parser.finish(b"").outcome, SseOutcome::NeedMore);
            }
            assert_eq!(parser.last_id(), b"1");
            let stream = b"\xEF\xBB\xBF\ndata: new\n\n";
            let SseStep { consumed, outcome } = parser.next(stream);
            assert_eq!(consumed, stream.len(), "{tail:02x?}");
            assert!(
                matches!(&outcome, SseOutcome::Event(event) if *event.data == *b"new"),
                "{tail:02x?}: {outcome:?}"
            );
        }
    }
}

#[test]
fn data_of_one_line_is_not_copied() {
    let stream = b": hi\n\nevent: message\nid: 1\ndata: {\"a\":1}\n\n";
    let mut parser = SseParser::new(1000);
    let SseOutcome::Event(SseEvent {
        data: Cow::Borrowed(data),
        ..
    }) = parser.next(stream).outcome
    else {
        panic!("it is borrowed");
    };
    assert!(core::ptr::eq(data, &raw const stream[33..40]));
    assert_eq!(data, b"{\"a\":1}");
}

#[test]
fn every_proper_prefix_needs_more_and_keeps_what_is_there() {
    let stream = "\u{FEFF}: c\r\nid: 1\r\nevent: message\r\ndata: —\r\ndata: 🦀\r\n\r".as_bytes();
    for cut in 0..stream.len() {
        let mut parser = SseParser::new(1000);
        let first = parser.next(&stream[..cut]);
        assert_eq!(first.outcome, SseOutcome::NeedMore, "{cut} bytes");
        let second = parser.next(&stream[first.consumed..]);
        let SseOutcome::Event(event) = second.outcome else {
            panic!("prefix of {cut} bytes");
        };
        assert_eq!(event.message(), Some("—\n🦀".as_bytes()));
        assert_eq!(first.consumed + second.consumed, stream.len());
    }
}

#[test]
fn input_shorter_than_before_does_not_panic() {
    for shorter in [&b""[..], b"d", b"data", b"\n", b"\xEF\xBB\xBF"] {
        let mut parser = SseParser::new(100);
        assert_eq!(parser.next(b"data: abc\nid: 5\r").consumed, 0);
        let _ = parser.next(shorter);
        let _ = parser.finish(shorter);
    }
}

/// 50 MB through a buffer of the documented size: one line, many lines, a comment, many comments.
#[test]
fn a_flood_stays_within_the_window() {
    const LIMIT: usize = 100_000;
    for (flood, reports_due) in [
        (&b"data: x"[..], 1),
        (b"data: x\n", 1),
        (b"x\r\n", 1),
        (b": x", 0),
        (b": x\n", 0),
        (b"\r\n", 0),
        (b"x\n\n", 0),
    ] {
        let mut parser = SseParser::new(LIMIT);
        let mut buffer = vec![0; parser.window()];
        let (mut filled, mut reports, mut sent) = (0, 0, 0);
        while sent < 50 << 20 {
            let read = (64 << 10).min(buffer.len() - filled);
            assert!(read > 0, "the window is full and nothing was consumed");
            for byte in &mut buffer[filled..filled + read] {
                *byte = flood[sent % flood.len()];
                sent += 1;
            }
            filled += read;
            let SseStep { consumed, outcome } = parser.next(&buffer[..filled]);
            reports += usize::from(outcome == SseOutcome::TooLong { limit: LIMIT });
            buffer.copy_within(consumed..filled, 0);
            filled -= consumed;
        }
        assert_eq!(reports, reports_due, "{flood:?}");
        let after = [&buffer[..filled], b"\n\ndata: ping\n\n"].concat();
        let outcome = parser.next(&after).outcome;
        assert!(
            matches!(&outcome, SseOutcome::Event(event) if *event.data == *b"ping"),
            "{flood:?}"
        );
    }
}

/// Half a megabyte in single bytes: were each call to look at everything again, this would be 125 GB of work.
#[test]
fn the_cost_of_a_slow_event_is_linear() {
    let mut stream = b"data: ".to_vec();
    while stream.len() < 1 << 19 {
        stream.extend_from_slice(b"0123456789abcdef\r\ndata: ");
    }
    let mut parser = SseParser::new(stream.len());
    for end in 1..stream.len() {
        assert_eq!(parser.next(&stream[..end]).consumed, 0);
        assert!(end - parser.lines.max(parser.searched) <= 1);
    }
}

#[test]
fn se_03_any_stream_in_any_cut_agrees_with_the_oracle() {
    let piece = prop::sample::select(vec![
        &b"\n"[..],
        b"\n",
        b"\r\n",
        b"\r",
        b"\n\n",
        b"\xEF\xBB\xBF",
        b"\xEF",
        b":",
        b" ",
        b"\0",
        b"1",
        b"x",
        b"data",
        b"data:",
        b"data: y",
        b"id:",
        b"id: 7",
        b"event:",
        b"retry: 5",
    ]);
    let streams = prop::collection::vec(piece, 0..20);
    proptest!(ProptestConfig::with_cases(512), |(pieces in streams, limit in 0_usize..40)| {
        let stream = pieces.concat();
        let expected = oracle(limit, &stream);
        for chunks in every_cut(&stream) {
            prop_assert_eq!(&run(limit, chunks.iter().copied()).items, &expected, "limit {}, chunks {:02x?}", limit, chunks);
        }
    });
}

fn written(id: Option<&str>, event: Option<&str>, data: &str) -> String {
    let mut out = Vec::new();
    write_event(&mut out, id, event, data.as_bytes()).expect("a Vec is never full");
    String::from_utf8(out).expect("all of it is text")
}

#[test]
fn events_are_written_line_by_line() {
    assert_eq!(
        written(Some("1"), Some("message"), "{\"a\":1}"),
        "id: 1\nevent: message\ndata: {\"a\":1}\n\n"
    );
    assert_eq!(written(Some("1"), None, ""), "id: 1\ndata: \n\n");
    assert_eq!(
        written(None, None, "a\nb\r\nc\rd\n"),
        "data: a\ndata: b\ndata: c\ndata: d\ndata: \n\n"
    );
    // Nothing is smuggled in.
    assert_eq!(
        written(Some("1\ndata: x"), Some("a\rb"), "y"),
        "data: y\n\n"
    );
    assert_eq!(written(Some("1\0"), None, "y"), "data: y\n\n");

    let mut out = Vec::new();
    write_comment(&mut out, "").expect("a Vec is never full");
    write_comment(&mut out, "a\n\ndata: b").expect("a Vec is never full");
    write_retry(&mut out, Duration::from_micros(1_500_999)).expect("a Vec is never full");
    write_retry(&mut out, Duration::MAX).expect("a Vec is never full");
    assert_eq!(
        out,
        b": \n\n: a\n: \n: data: b\n\nretry: 1500\n\nretry: 18446744073709551615\n\n"
    );
    check(1000, out, &[with_retry(1500), with_retry(u64::MAX)]);
}

#[test]
fn what_has_no_room_leaves_nothing() {
    let mut out = heapless::Vec::<u8, 20>::new();
    write_retry(&mut out, Duration::from_millis(5)).expect("there is room");
    let before = out.clone();
    for written in [
        write_event(&mut out, Some("1"), None, b"123"),
        write_event(&mut out, None, None, b"1\n2"),
        write_comment(&mut out, "123456789"),
        write_retry(&mut out, Duration::from_secs(100)),
    ] {
        assert_eq!(written, Err(Full));
    }
    assert_eq!(out, before);
    assert_eq!(write_event(&mut out, None, None, b"1"), Ok(()));
}

#[test]
fn what_is_written_is_read() {
    proptest!(|(id in any::<Option<String>>(), event in any::<Option<String>>(), data in "[ -~é:\r\n]*")| {
        let stream = written(id.as_deref(), event.as_deref(), &data);
        let safe = |text: &String| !text.contains(['\r', '\n', '\0']);
        let id = id.filter(safe).map(String::into_bytes);
        let name = event.filter(safe).filter(|name| !name.is_empty());
        let expected = Item {
            last_id: id.clone().unwrap_or_default(),
            event: Some(Said {
                name: name.map_or_else(|| b"message".to_vec(), String::into_bytes),
                data: data.replace("\r\n", "\n").replace('\r', "\n").into_bytes(),
                id,
                retry: None,
            }),
        };
        prop_assert_eq!(run(10_000, [stream.as_bytes()]).items, [expected]);
    });
}
