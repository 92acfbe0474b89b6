//! What cannot be seen from outside: the table of calls, and that a full output changes nothing.

mod batch;
mod catalog;
mod extension;
mod listen;
mod outgoing;
mod pages;
mod reference;

use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt::Debug;
use core::mem::size_of;

use super::*;
use crate::engine::Growing;
use crate::engine::call::Slot;
use crate::error::ErrorCode;
use crate::model::{CallToolResult, ContentBlock, Decode, Implementation, Progress, Tool};
use crate::rpc::{ErrorObject, RequestId};

const SEED: u64 = 0x5eed;

fn raw(text: &str) -> RawJson<'_> {
    RawJson::parse(text.as_bytes()).expect(text)
}

fn id(text: &str) -> RequestId<'_> {
    RequestId::new(raw(text)).expect(text)
}

fn limits(max_in_flight: usize) -> Limits {
    Limits {
        max_in_flight,
        ..Limits::DEFAULT
    }
}

fn insert(calls: &mut Calls, text: &str, limits: &Limits) -> Result<CallKey, PeerFault> {
    calls.insert(id(text), None, ProtocolVersion::LATEST_MODERN, None, limits)
}

/// The id of a call, as it will be echoed.
fn echo(calls: &mut Calls, key: CallKey) -> String {
    calls.get_mut(key).expect("in flight").id().as_str().into()
}

#[test]
fn a_call_is_found_by_id_and_by_key() {
    let mut calls: Calls = Calls::new(SEED);
    assert_eq!(calls.find(id("1")), None);
    let ids = ["1", r#""1""#, "0", "-0.5e1", r#""""#, r#""\u0061\n""#];
    let keys: Vec<CallKey> = ids
        .iter()
        .map(|text| insert(&mut calls, text, &Limits::DEFAULT).expect(text))
        .collect();
    for (text, key) in ids.iter().zip(&keys) {
        assert_eq!(calls.find(id(text)), Some(*key));
        assert_eq!(echo(&mut calls, *key), *text, "in the text it came in");
    }
    // By value, not by text (RPC-07, ID-01).
    assert_eq!(calls.find(id("1.0")), Some(keys[0]));
    assert_eq!(calls.find(id("-5")), Some(keys[3]));
    assert_eq!(calls.find(id(r#""a\u000a""#)), Some(keys[5]));
    assert_eq!(calls.find(id(r#""0""#)), None);
    assert_eq!(calls.len(), ids.len());
}

/// RPC-05, RPC-06, ID-06.
#[test]
fn an_id_in_flight_is_not_taken_twice() {
    let mut calls: Calls = Calls::new(SEED);
    let key = insert(&mut calls, "1", &Limits::DEFAULT).expect("free");
    for same in ["1", "1.0", "10e-1"] {
        assert_eq!(
            insert(&mut calls, same, &Limits::DEFAULT),
            Err(PeerFault::IdInUse)
        );
    }
    assert!(insert(&mut calls, r#""1""#, &Limits::DEFAULT).is_ok());
    assert_eq!(calls.len(), 2);
    // Over means free (RPC-06).
    assert!(calls.remove(key).is_some());
    assert!(insert(&mut calls, "1.0", &Limits::DEFAULT).is_ok());
}

#[test]
fn a_key_of_a_call_that_is_over_names_nothing() {
    let mut calls: Calls = Calls::new(SEED);
    let mut stale = Vec::new();
    for round in 0..100 {
        let key = insert(&mut calls, "7", &Limits::DEFAULT).expect("free");
        assert_eq!(key.index(), 0, "the place is used again");
        assert!(!stale.contains(&key));
        for &old in &stale {
            assert!(calls.get_mut(old).is_none() && calls.remove(old).is_none());
        }
        assert_eq!(echo(&mut calls, key), "7", "round {round}");
        assert!(calls.remove(key).is_some());
        assert!(calls.remove(key).is_none() && calls.find(id("7")).is_none());
        stale.push(key);
    }
    assert_eq!(calls.len(), 0);
    // A key from elsewhere may point outside the table.
    let mut other = Calls::new(SEED);
    insert(&mut other, "1", &Limits::DEFAULT).expect("free");
    let second = insert(&mut other, "2", &Limits::DEFAULT).expect("free");
    assert!(calls.get_mut(second).is_none() && calls.remove(second).is_none());
}

#[test]
fn the_table_has_a_limit() {
    let mut calls: Calls = Calls::new(SEED);
    let limits = limits(2);
    let busy = Err(PeerFault::Busy { limit: 2 });
    let first = insert(&mut calls, "1", &limits).expect("room");
    insert(&mut calls, "2", &limits).expect("room");
    assert_eq!(insert(&mut calls, "3", &limits), busy);
    assert_eq!(calls.len(), 2);
    assert!(calls.find(id("3")).is_none());
    calls.remove(first);
    insert(&mut calls, "3", &limits).expect("room again");
    assert_eq!(insert(&mut calls, "1", &limits), busy);
}

/// ID-04, and that nothing is lost or mixed up in a table that grows, empties and fills again.
#[test]
fn a_hundred_thousand_calls() {
    const MANY: usize = 100_000;
    let limits = limits(MANY);
    let mut calls: Calls = Calls::new(SEED);
    // Neighbours of 2^53 are the same double; every third is a string of the same digits.
    let text = |n: usize| {
        let value = 9_007_199_254_740_992_u64 + n as u64;
        if n.is_multiple_of(3) {
            format!("\"{value}\"")
        } else {
            value.to_string()
        }
    };
    for round in 0..2 {
        let keys: Vec<CallKey> = (0..MANY)
            .map(|n| insert(&mut calls, &text(n), &limits).expect("room"))
            .collect();
        assert_eq!(calls.len(), MANY);
        let mut places: Vec<usize> = keys.iter().map(|key| key.index()).collect();
        places.sort_unstable();
        assert!(places.into_iter().eq(0..MANY), "dense, each place once");
        for (n, &key) in keys.iter().enumerate() {
            assert_eq!(calls.find(id(&text(n))), Some(key));
            assert_eq!(echo(&mut calls, key), text(n));
        }
        // Half from the back, then the rest from the front.
        let order = (MANY / 2..MANY).rev().chain(0..MANY / 2);
        for (gone, n) in order.enumerate() {
            let call = calls.remove(keys[n]).expect("in flight");
            assert_eq!(call.id().as_str(), text(n));
            assert_eq!(calls.len(), MANY - gone - 1);
            assert_eq!(calls.find(id(&text(n))), None, "round {round}");
        }
    }
}

/// The worst case that [`Limits`] states.
#[test]
fn a_call_costs_what_the_limits_say() {
    // A slot, its place among the free ones, and its part of the index: 4 + 1 bytes for a bucket, twice as many buckets
    // as calls, and twice that if what was removed has left too many marks in it.
    let cost = size_of::<Slot<Growing>>() + size_of::<u32>() + (size_of::<u32>() + 1) * 4;
    assert!(cost <= 144, "{cost}, and `Limits` says less");
    // No `Vec` of so many has room to spare.
    assert!(Limits::DEFAULT.max_in_flight.is_power_of_two());
}

#[test]
fn ids_and_tokens_of_any_length_are_kept() {
    let mut calls: Calls = Calls::new(SEED);
    for length in [0, 1, 35, 36, 37, 38, 39, 100, 2_000] {
        let text = format!("\"{}\"", "x".repeat(length));
        let token = format!("\"{}\"", "y".repeat(length));
        let version = ProtocolVersion::LATEST_LEGACY;
        let key = calls
            .insert(id(&text), Some(id(&token)), version, None, &Limits::DEFAULT)
            .expect("free");
        let call = calls.get_mut(key).expect("in flight");
        assert_eq!(call.id().as_str(), text);
        assert_eq!(call.progress_token().map(RawJson::as_str), Some(&*token));
        assert_eq!(call.version, version);
        assert_eq!(calls.find(id(&text)), Some(key));
    }
}

fn catalog() -> Arc<Catalog> {
    let mut structured = Tool::new("add", raw(r#"{"type":"object"}"#));
    structured.output_schema = Some(raw(r#"{"type":"object"}"#).into());
    let tools = [Tool::new("echo", raw(r#"{"type":"object"}"#)), structured];
    let server = Implementation::new("test", "1");
    let catalog = Catalog::builder(&server).instructions("Ask.").tools(&tools);
    Arc::new(catalog.build().expect("valid"))
}

fn engine() -> ServerEngine {
    ServerEngine::new(catalog(), Limits::DEFAULT, SEED)
}

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;

const MODERN: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"progressToken":"p"}"#;

/// Starts a call that wants progress.
fn call(engine: &mut ServerEngine, id: &str) -> ReplyToken {
    let text = format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"echo",{MODERN}}}}}"#
    );
    let mut out = Vec::new();
    let Incoming::Call(call) = engine.receive(text.as_bytes(), &mut out) else {
        panic!("{text}");
    };
    assert!(out.is_empty() && call.wants_progress);
    assert!(matches!(call.request, CallRequest::Tool { tool: 0, .. }));
    call.token
}

/// The output of one command, without a limit.
fn whole(command: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = Vec::new();
    command(&mut out);
    assert!(!out.is_empty());
    out
}

/// Tries a command with each amount of room, from none to just enough: until then it must say that it has none, and
/// leave the output alone; and then write what was `expected`.
fn at_every_room<T: Debug + PartialEq>(
    expected: &[u8],
    full: T,
    mut command: impl FnMut(&mut heapless::Vec<u8, 2_048>) -> T,
) -> T {
    let size = 2_048;
    for room in 0..expected.len() {
        let before = vec![b'#'; size - room];
        let mut out = heapless::Vec::from_slice(&before).expect("it fits");
        assert_eq!(command(&mut out), full, "room for {room}");
        assert_eq!(out.as_slice(), before, "room for {room}");
    }
    let before = vec![b'#'; size - expected.len()];
    let mut out = heapless::Vec::from_slice(&before).expect("it fits");
    let result = command(&mut out);
    assert_eq!(&out[before.len()..], expected);
    result
}

#[test]
fn a_message_is_blocked_by_a_full_output() {
    let legacy = [
        INITIALIZE,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
    ];
    let discover =
        format!(r#"{{"jsonrpc":"2.0","id":"d","method":"server/discover","params":{{{MODERN}}}}}"#);
    let list =
        format!(r#"{{"jsonrpc":"2.0","id":"l","method":"tools/list","params":{{{MODERN}}}}}"#);
    let unknown = format!(
        r#"{{"jsonrpc":"2.0","id":"u","method":"tools/call","params":{{"name":"nope",{MODERN}}}}}"#
    );
    let messages = [
        r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":3,"method":"prompts/list"}"#,
        r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
        "not json",
        "[]",
        INITIALIZE,
        &discover,
        &list,
        &unknown,
    ];
    let (mut free, mut bounded) = (engine(), engine());
    for message in legacy.iter().chain(&messages) {
        let session = bounded.session_version();
        let expected = whole(|out| {
            let _ = free.receive(message.as_bytes(), out);
        });
        let blocked = at_every_room(&expected, true, |out| {
            let blocked = matches!(bounded.receive(message.as_bytes(), out), Incoming::Blocked);
            let same = bounded.session_version() == session && bounded.in_flight() == 0;
            assert!(same || !blocked, "nothing has changed");
            blocked
        });
        assert!(!blocked);
    }
    let expected = whole(|out| {
        let _ = free.too_long(TOO_LONG, out);
    });
    at_every_room(&expected, true, |out| {
        matches!(bounded.too_long(TOO_LONG, out), Incoming::Blocked)
    });
}

/// Answers with a result, or with an error.
fn answer<S: Sink + ?Sized>(
    engine: &mut ServerEngine,
    token: ReplyToken,
    fails: bool,
    out: &mut S,
) -> Result<(), SendError<ReplyToken>> {
    if fails {
        let error = ErrorObject::new(ErrorCode::INTERNAL_ERROR, "gone").with_data(raw("[1]"));
        return engine.fail(token, &error, out);
    }
    let content = [ContentBlock::text("line\nline")];
    let result = CallToolResult::new(content).structured(raw(r#"{"a":1}"#));
    engine.reply(token, &result, out)
}

#[test]
fn a_token_comes_back_from_a_full_output() {
    for fails in [false, true] {
        let mut free = engine();
        let token = call(&mut free, "9");
        let expected = whole(|out| answer(&mut free, token, fails, out).expect("room"));
        let mut bounded = engine();
        let mut token = Some(call(&mut bounded, "9"));
        let key = token.as_ref().map(ReplyToken::key);
        let blocked = at_every_room(&expected, true, |out| {
            let held = token.take().expect("it came back");
            let Err(error) = answer(&mut bounded, held, fails, out) else {
                return false;
            };
            let SendError::Full(same) = error else {
                panic!("it is in flight");
            };
            assert_eq!(Some(same.key()), key);
            assert_eq!(bounded.in_flight(), 1);
            token = Some(same);
            true
        });
        assert!(!blocked);
        assert_eq!(bounded.in_flight(), 0);
    }
}

#[test]
fn progress_that_did_not_fit_was_not_made() {
    let progress = Progress::new(0.25).of(1.0).saying("a quarter");
    let mut free = engine();
    let token = call(&mut free, "1");
    let expected = whole(|out| {
        free.progress(token.key(), &progress, out).expect("room");
    });
    let mut bounded = engine();
    let token = call(&mut bounded, "1");
    let sent = at_every_room(&expected, Err(SendError::Full(())), |out| {
        bounded.progress(token.key(), &progress, out)
    });
    assert_eq!(sent, Ok(()));
}

/// PRG-03, PRG-04.
#[test]
fn progress_strictly_increases() {
    let mut engine = engine();
    let token = call(&mut engine, "1");
    let mut sent = |progress: f64| {
        let mut out = Vec::new();
        engine
            .progress(token.key(), &Progress::new(progress), &mut out)
            .expect("in flight");
        !out.is_empty()
    };
    for (progress, goes_out) in [
        (f64::NAN, false),
        (f64::NEG_INFINITY, false),
        (f64::INFINITY, false),
        (f64::MIN, true),
        (-1.0, true),
        (-1.0, false),
        (0.0, true),
        (-0.0, false),
        (f64::NAN, false),
        (f64::MIN_POSITIVE, true),
        (0.0, false),
        (f64::INFINITY, false),
        (9_007_199_254_740_992.0, true),
        (9_007_199_254_740_993.0, false),
        (f64::MAX, true),
        (f64::MAX, false),
        (f64::INFINITY, false),
    ] {
        assert_eq!(sent(progress), goes_out, "{progress}");
    }
}

#[test]
fn a_call_that_is_over_takes_nothing() {
    let mut engine = engine();
    let mut out = Vec::new();
    let cancel =
        br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    let token = call(&mut engine, "1");
    let key = token.key();
    let Incoming::Cancelled(cancelled) = engine.receive(cancel, &mut out) else {
        panic!("it was in flight");
    };
    assert_eq!(cancelled, key);
    assert!(matches!(
        engine.receive(cancel, &mut out),
        Incoming::Handled
    ));
    // The same id in the same place is another call.
    let next = call(&mut engine, "1");
    assert_eq!(next.key().index(), key.index());
    let result = CallToolResult::new([]);
    assert_eq!(
        engine.reply(token, &result, &mut out),
        Err(SendError::Stale)
    );
    assert_eq!(
        engine.progress(key, &Progress::new(1.0), &mut out),
        Err(SendError::Stale)
    );
    assert!(out.is_empty());
    assert_eq!(engine.in_flight(), 1);
    assert_eq!(engine.reply(next, &result, &mut out), Ok(()));
    assert_eq!(engine.in_flight(), 0);
}

/// OR-09: cancelling what is not there costs nothing, and the next message is served.
#[test]
fn or_09_a_thousand_strange_cancellations() {
    let mut engine = engine();
    let mut out = Vec::new();
    for n in 0..1_000_u64 {
        let reference = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let params = match n % 5 {
            0 => format!(r#"{{"requestId":{reference}}}"#),
            1 => format!(r#"{{"requestId":"{reference}"}}"#),
            2 => format!(r#"{{"requestId":[{reference}]}}"#),
            3 => format!(r#"{{"requestId":-{n}.5,"reason":{{}}}}"#),
            _ => "{}".into(),
        };
        let text =
            format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{params}}}"#);
        let incoming = engine.receive(text.as_bytes(), &mut out);
        assert!(matches!(incoming, Incoming::Handled), "{text}");
    }
    assert!(out.is_empty());
    let ping = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    assert!(matches!(engine.receive(ping, &mut out), Incoming::Handled));
    assert_eq!(out, br#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
}

const TOO_LONG: &[u8] = br#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"#;

#[test]
fn a_message_has_a_limit() {
    let ping = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let mut limits = Limits::DEFAULT;
    limits.max_message = ping.len();
    let mut engine = ServerEngine::new(catalog(), limits, SEED);
    let mut out = Vec::new();
    assert!(matches!(engine.receive(ping, &mut out), Incoming::Handled));
    let longer = [&ping[..], b" "].concat();
    let (mut received, mut discarded) = (Vec::new(), Vec::new());
    assert!(matches!(
        engine.receive(&longer, &mut received),
        Incoming::Rejected(PeerFault::TooLong { limit }) if limit == ping.len()
    ));
    assert!(matches!(
        engine.too_long(ping, &mut discarded),
        Incoming::Rejected(_)
    ));
    assert_eq!(received, discarded);
    assert!(!received.is_empty());
}

/// RPC-09: whose message it is stands before what makes it long, or is not known.
#[test]
fn a_message_above_the_limit_is_answered_with_its_id() {
    let spaces = " ".repeat(256);
    for (start, id) in [
        (
            r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"#,
            Some("5"),
        ),
        (
            r#"{"jsonrpc":"2.0","id":"a b","method":"tools/call","params":{"#,
            Some("\"a b\""),
        ),
        (
            r#"{"id":5,"jsonrpc":"2.0","method":"x","more":"abc"#,
            Some("5"),
        ),
        (
            r#"{"jsonrpc":"2.0","method":"tools/call","id":5}"#,
            Some("5"),
        ),
        (
            r#"{"jsonrpc":"2.0","method":"tools/call","params":{},"id":5,"more":""#,
            None,
        ),
        // More of the number may follow.
        (r#"{"jsonrpc":"2.0","method":"tools/call","id":5"#, None),
        (r#"{"jsonrpc":"2.0","id":5,"id":6,"method":"#, None),
        (r#"{"id":5,"method":"tools/call","params":{"#, None),
        (
            r#"{"jsonrpc":"1.0","id":5,"method":"tools/call","params":{"#,
            None,
        ),
        (
            r#"{"jsonrpc":"2.0","id":[5],"method":"tools/call","params":{"#,
            None,
        ),
        (
            r#"{"jsonrpc":"2.0","id":5.5,"method":"tools/call","params":{"#,
            None,
        ),
        (r#"[{"jsonrpc":"2.0","id":5,"method":"#, None),
        (
            &format!(r#"{{"jsonrpc":"2.0",{spaces}"id":5,"method":"x","params":{{"#),
            None,
        ),
        ("xxxx", None),
        ("", None),
    ] {
        let mut engine = ServerEngine::new(catalog(), Limits::DEFAULT, SEED);
        let mut out = Vec::new();
        let incoming = engine.too_long(start.as_bytes(), &mut out);
        assert!(matches!(incoming, Incoming::Rejected(_)), "{start}");
        let answer = RawJson::parse(&out).expect("an answer");
        assert_eq!(answer.member("id").map(RawJson::as_str), id, "{start}");
        assert!(answer.member("error").is_some(), "{start}");
    }
    // An answer to no request of ours is not answered.
    let mut engine = ServerEngine::new(catalog(), Limits::DEFAULT, SEED);
    let mut out = Vec::new();
    let answer = br#"{"jsonrpc":"2.0","id":0,"result":{"#;
    let incoming = engine.too_long(answer, &mut out);
    assert!(matches!(incoming, Incoming::Rejected(_)) && out.is_empty());
}

#[test]
fn the_seed_changes_no_output() {
    let talk = |seed| {
        let mut engine = ServerEngine::new(catalog(), Limits::DEFAULT, seed);
        let mut out = Vec::new();
        let _ = engine.receive(INITIALIZE.as_bytes(), &mut out);
        let tokens: Vec<ReplyToken> = (0..50)
            .map(|n| call(&mut engine, &format!("\"{n}\"")))
            .collect();
        for token in tokens {
            let result = CallToolResult::new([]);
            engine.reply(token, &result, &mut out).expect("in flight");
        }
        out
    };
    assert_eq!(talk(1), talk(2));
    assert_eq!(talk(1), talk(1));
}

/// Several engines in one process: a token answers the call it was made for, or none.
#[test]
fn a_token_of_another_engine_is_stale() {
    let mut one = engine();
    let mut other = ServerEngine::new(catalog(), Limits::DEFAULT, SEED + 1);
    let (token, held) = (call(&mut one, "1"), call(&mut other, "1"));
    assert_ne!(token.key(), held.key());
    let mut out = Vec::new();
    let sent = other.reply(token, &CallToolResult::new([]), &mut out);
    assert_eq!((sent, out.len()), (Err(SendError::Stale), 0));
    assert_eq!(other.in_flight(), 1);
}

#[test]
fn a_call_can_be_given_up() {
    let mut engine = engine();
    let token = call(&mut engine, "1");
    assert_eq!(engine.abandon(token.key(), &mut Vec::new()), Ok(()));
    let mut out = Vec::new();
    assert_eq!(engine.abandon(token.key(), &mut out), Err(SendError::Stale));
    let sent = engine.reply(token, &CallToolResult::new([]), &mut out);
    assert_eq!((sent, out.len()), (Err(SendError::Stale), 0));
    // Its id is free again.
    drop(call(&mut engine, "1"));
}
