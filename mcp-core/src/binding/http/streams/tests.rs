use alloc::format;
use alloc::string::String;

use super::*;
use crate::json::Sink as _;

const V: ProtocolVersion = ProtocolVersion::V2025_06_18;
const PRIMING: ProtocolVersion = ProtocolVersion::V2025_11_25;

fn streams(max_open: usize, max_kept: usize, max_buffered: usize) -> Streams {
    Streams::new(StreamLimits {
        max_open,
        max_kept,
        max_buffered,
        max_buffered_in_all: usize::MAX,
    })
}

fn write(reply: Option<&mut Reply>, message: &str) {
    let reply = reply.expect("a stream");
    assert_eq!(reply.append(message.as_bytes()), Ok(()));
    assert_eq!(reply.end_message(), Ok(()));
}

fn events(streams: &mut Streams, id: StreamId) -> String {
    let output = streams.take(id);
    let Output::Events(bytes) = output else {
        panic!("no events: {output:?}");
    };
    String::from_utf8(bytes).expect("UTF-8")
}

fn key(index: usize) -> CallKey {
    CallKey::for_tests(index as u32, 1)
}

/// A POST with calls of these places.
fn post(streams: &mut Streams, calls: &[usize]) -> StreamId {
    let id = streams.post(Accepts::Both, Some(V));
    for &call in calls {
        streams.began(key(call));
    }
    streams.taken();
    id
}

/// LH-07, LH-08.
#[test]
fn what_is_about_a_call_goes_with_its_answer() {
    let mut streams = streams(9, 1000, 1000);
    let one = post(&mut streams, &[1]);
    let two = post(&mut streams, &[2, 3]);
    let get = streams.get(V);
    write(streams.about(key(3)), "{about 3}");
    write(streams.answer(key(1)), "{answer 1}");
    streams.ended(key(1));
    write(streams.answer(key(2)), "{answer 2}");
    streams.ended(key(2));
    write(streams.unrelated(), "{unrelated}");
    let Output::Json { body, .. } = streams.take(one) else {
        panic!("it was all that was said");
    };
    assert_eq!(body, b"{answer 1}");
    assert_eq!(streams.take(one), Output::End, "it is gone");
    let said = events(&mut streams, two);
    assert!(said.contains("{about 3}") && said.contains("{answer 2}"));
    assert_eq!(events(&mut streams, two), "", "a call is left");
    streams.ended(key(3));
    assert_eq!(streams.take(two), Output::End);
    assert!(events(&mut streams, get).contains("{unrelated}"));
    assert!(streams.about(key(1)).is_some(), "it is of no POST any more");
    assert!(streams.answer(key(1)).is_none());
}

/// A POST without calls is accepted; what is answered at once is answered there.
#[test]
fn a_post_without_calls() {
    let mut streams = streams(9, 1000, 1000);
    let id = streams.post(Accepts::Both, None);
    assert_eq!(streams.take(id), Output::Undecided);
    streams.taken();
    assert_eq!(streams.take(id), Output::Accepted);
    let id = streams.post(Accepts::Both, Some(V));
    write(streams.sender(), "{pong}");
    streams.taken();
    assert!(matches!(streams.take(id), Output::Json { .. }));
    assert!(streams.sender().is_none());
    assert_eq!(streams.open(), 0);
}

/// LH-20, LH-21: the oldest that is there.
#[test]
fn what_is_about_nothing_goes_to_one_stream() {
    let mut streams = streams(9, 1000, 1000);
    assert!(!streams.is_listened_to() && streams.unrelated().is_none());
    let first = streams.get(V);
    let second = streams.get(V);
    write(streams.unrelated(), "{1}");
    assert!(events(&mut streams, first).contains("{1}"));
    streams.leave(first);
    write(streams.unrelated(), "{2}");
    assert!(events(&mut streams, second).contains("{2}"));
    // A JSON response has no room for what is about its call.
    let json = streams.post(Accepts::Json, Some(V));
    streams.began(key(1));
    streams.taken();
    write(streams.about(key(1)), "{3}");
    assert!(events(&mut streams, second).contains("{3}"));
    assert_eq!(streams.take(json), Output::Undecided);
    streams.end_listening();
    assert!(!streams.is_listened_to());
    assert_eq!(streams.take(second), Output::End);
    assert_eq!(streams.take(json), Output::Undecided, "it is answered yet");
    streams.end();
    assert_eq!(streams.take(json), Output::Accepted);
}

/// LH-15, LH-16, SN-08.
#[test]
fn sn_08_a_stream_is_taken_up_by_the_id_of_an_event() {
    let mut streams = streams(9, 1000, 1000);
    let id = post(&mut streams, &[1]);
    let other = post(&mut streams, &[2]);
    write(streams.about(key(1)), "{1}");
    write(streams.about(key(2)), "{other}");
    assert_eq!(events(&mut streams, id), "id: 0-0\ndata: {1}\n\n");
    streams.leave(id);
    write(streams.about(key(1)), "{2}");
    let back = streams.resume("0-0").expect("it is kept");
    assert_eq!(back.index(), id.index());
    assert_eq!(events(&mut streams, back), "id: 0-1\ndata: {2}\n\n");
    // The old reader, should it still be there, has lost it, and its leaving changes nothing.
    assert_eq!(streams.take(id), Output::End);
    streams.leave(id);
    write(streams.answer(key(1)), "{3}");
    streams.ended(key(1));
    assert_eq!(events(&mut streams, back), "id: 0-2\ndata: {3}\n\n");
    assert_eq!(streams.take(back), Output::End);
    assert!(streams.resume("0-1").is_some(), "after its end as well");
    assert!(events(&mut streams, other).contains("{other}"));
    for unknown in [
        "",
        "0",
        "-",
        "0-9",
        "9-0",
        "x-0",
        "0-x",
        "4294967296-0",
        "0--1",
    ] {
        assert_eq!(streams.resume(unknown), None, "{unknown}");
    }
}

#[test]
fn how_many_are_open() {
    let mut streams = streams(2, 1000, 1000);
    let one = streams.get(V);
    assert!(streams.has_room());
    let two = post(&mut streams, &[1]);
    assert!(!streams.has_room());
    streams.leave(two);
    assert!(streams.has_room(), "who has left does not count");
    streams.leave(one);
    assert_eq!(streams.open(), 0);
}

/// However many are opened and left, with or without something to be read again: what is kept is bounded.
#[test]
fn streams_that_were_left_are_forgotten() {
    for version in [V, PRIMING] {
        let mut streams = streams(4, 300, 1000);
        for n in 0..1000 {
            let get = streams.get(version);
            write(streams.unrelated(), "{unrelated}");
            let post = streams.post(Accepts::Both, Some(version));
            streams.began(key(1));
            streams.taken();
            write(streams.about(key(1)), "{about}");
            streams.leave(get);
            streams.leave(post);
            write(streams.answer(key(1)), "{answer}");
            streams.ended(key(1));
            streams.trim();
            while streams.next_changed().is_some() {}
            let kept = streams.slots.iter().flatten();
            let size: usize = kept.clone().map(|slot| slot.reply.log_size()).sum();
            assert!(size <= 300, "{n}: {size}");
            assert!(kept.count() <= 4, "{n}");
            assert!(streams.slots.len() <= 8, "{n}");
        }
    }
}

/// The oldest events go first, of streams that nobody reads before those of others.
#[test]
fn what_is_kept_is_bounded() {
    let mut streams = streams(9, 100, 10_000);
    let left = post(&mut streams, &[1]);
    write(streams.about(key(1)), "{1}");
    streams.leave(left);
    streams.ended(key(1));
    let read = post(&mut streams, &[2]);
    for n in 0..20 {
        write(streams.about(key(2)), &format!("{{{n:02}}}"));
        streams.trim();
    }
    assert_eq!(streams.resume("0-0"), None);
    assert!(
        events(&mut streams, read).contains("{00}"),
        "it was not read yet"
    );
    assert_eq!(streams.resume("1-0"), None);
    let back = streams.resume("1-17").expect("it is kept");
    let rest = "id: 1-18\ndata: {18}\n\nid: 1-19\ndata: {19}\n\n";
    assert_eq!(events(&mut streams, back), rest);
}

/// A reader of what is about nothing that is too slow: others hear of it from then on.
#[test]
fn a_slow_reader_is_passed_over() {
    let mut streams = streams(9, 1000, 10);
    let slow = streams.get(V);
    for n in 0..3 {
        write(streams.unrelated(), &format!("{{{n}}}"));
        if n == 0 {
            assert!(streams.is_listened_to());
        }
        if !streams.is_listened_to() {
            break;
        }
    }
    assert!(!streams.is_listened_to());
    let other = streams.get(V);
    write(streams.unrelated(), "{other}");
    assert!(events(&mut streams, other).contains("{other}"));
    assert_eq!(events(&mut streams, slow), "id: 0-0\ndata: {0}\n\n");
    assert_eq!(streams.take(slow), Output::End);
    let back = streams.resume("0-0").expect("it is kept");
    assert_eq!(events(&mut streams, back), "id: 0-1\ndata: {1}\n\n");
}

/// SSE-02, SSE-04, SSE-08.
#[test]
fn the_one_stream_of_the_old_transport() {
    let mut streams = streams(9, 1000, 1000);
    let only = streams.only("?s=1");
    write(streams.sender(), "{1}");
    write(streams.answer(key(5)), "{2}");
    write(streams.about(key(5)), "{3}");
    write(streams.unrelated(), "{4}");
    let said = events(&mut streams, only);
    assert!(said.starts_with("event: endpoint\ndata: ?s=1\n\n"));
    for n in 1..=4 {
        assert!(
            said.contains(&format!("event: message\ndata: {{{n}}}\n\n")),
            "{said}"
        );
    }
    assert!(!streams.disconnect(key(5), Duration::ZERO));
    streams.leave(only);
    assert!(streams.answer(key(5)).is_none());
}

/// Each stream with something new is named, and quiet ones stay quiet.
#[test]
fn who_has_something_new() {
    let mut streams = streams(9, 1000, 1000);
    let get = streams.get(V);
    let post = post(&mut streams, &[1]);
    while streams.next_changed().is_some() {}
    write(streams.unrelated(), "{1}");
    assert_eq!(streams.next_changed(), Some(get));
    assert_eq!(streams.next_changed(), None);
    streams.keep_alive(post);
    assert_eq!(
        streams.next_changed(),
        None,
        "its reader has said so itself"
    );
    assert_eq!(events(&mut streams, post), ":\n\n");
    write(streams.answer(key(1)), "{2}");
    streams.ended(key(1));
    assert_eq!(streams.next_changed(), Some(post));
}

#[test]
fn all_readers_together_have_a_bound() {
    let mut streams = Streams::new(StreamLimits {
        max_buffered_in_all: 120,
        ..StreamLimits::default()
    });
    let (slow, other) = (streams.get(V), streams.get(V));
    let text = "x".repeat(60);
    write(streams.reply(slow), "{}");
    assert_eq!(events(&mut streams, slow), "id: 0-0\ndata: {}\n\n");
    write(streams.reply(slow), &text);
    write(streams.reply(other), "{}");
    streams.trim();
    assert!(events(&mut streams, other).contains("{}"));
    write(streams.reply(slow), "{}");
    write(streams.reply(other), "{}");
    write(streams.reply(other), "{}");
    streams.trim();
    // Whoever had the most to read has lost it, and finds it again when it comes back.
    assert_eq!(streams.take(slow), Output::End);
    assert_eq!(events(&mut streams, other).matches("{}").count(), 2);
    let back = streams.resume("0-0").expect("it is kept");
    assert!(events(&mut streams, back).contains(&text));
}

/// Numbers that are the same in each run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % most as u64) as usize
    }
}

/// What was counted on the way is what there is, whatever is done in whatever order.
#[test]
fn totals_are_the_sums_over_all_streams() {
    for seed in 1..=40 {
        let mut dice = Dice(seed);
        let mut streams = Streams::new(StreamLimits {
            max_open: 6,
            max_kept: 400,
            max_buffered: 200,
            max_buffered_in_all: 500,
        });
        let mut ids = Vec::new();
        for step in 0..500 {
            let call = key(dice.below(12));
            let any = |ids: &[StreamId], dice: &mut Dice| match ids.len() {
                0 => None,
                len => Some(ids[dice.below(len)]),
            };
            match dice.below(14) {
                0 if streams.has_room() => {
                    ids.push(streams.post(Accepts::Both, Some(PRIMING)));
                    streams.began(call);
                    streams.taken();
                }
                1 if streams.has_room() => ids.push(streams.get(V)),
                2 if streams.has_room() && dice.below(8) == 0 => ids.push(streams.only("?a")),
                3 => {
                    let event = format!("{}-{}", dice.below(20), dice.below(5));
                    ids.extend(streams.resume(&event));
                }
                4 => streams.ended(call),
                5 => {
                    streams.disconnect(call, Duration::from_secs(1));
                }
                6 => {
                    if let Some(id) = any(&ids, &mut dice) {
                        streams.leave(id);
                    }
                }
                7 | 8 => {
                    if let Some(id) = any(&ids, &mut dice) {
                        streams.take(id);
                    }
                }
                9 => {
                    if let Some(id) = any(&ids, &mut dice) {
                        streams.keep_alive(id);
                    }
                }
                10 if dice.below(20) == 0 => streams.end_listening(),
                10 => {
                    if let Some(reply) = streams.answer(call) {
                        write(Some(reply), "{the answer of a call}");
                    }
                }
                11 => {
                    if let Some(reply) = streams.about(call) {
                        write(Some(reply), "{something about a call}");
                    }
                }
                _ => {
                    if let Some(reply) = streams.unrelated() {
                        write(Some(reply), "{something about nothing}");
                    }
                }
            }
            if dice.below(2) == 0 {
                streams.trim();
            } else {
                while streams.next_changed().is_some() {}
            }
            let slots: Vec<_> = streams.slots.iter().flatten().collect();
            let sum = |of: &dyn Fn(&Slot) -> usize| slots.iter().map(|slot| of(slot)).sum();
            let totals = &streams.totals;
            let counted = [totals.open, totals.left, totals.kept, totals.buffered];
            let summed: [usize; 4] = [
                sum(&|slot| usize::from(!slot.reply.is_detached())),
                sum(&|slot| usize::from(slot.is_left())),
                sum(&|slot| slot.reply.log_size()),
                sum(&|slot| slot.reply.buffered()),
            ];
            assert_eq!(counted, summed, "seed {seed}, step {step}");
            let forgettable = slots
                .iter()
                .filter(|slot| slot.is_left() || slot.reply.log_size() > 0);
            assert_eq!(totals.forgettable.len(), forgettable.count());
            let listeners = slots
                .iter()
                .filter(|slot| slot.kind == Kind::Get || slot.kind == Kind::Only);
            assert_eq!(streams.listeners.len(), listeners.count());
            assert_eq!(streams.free.len(), streams.slots.len() - slots.len());
        }
    }
}
