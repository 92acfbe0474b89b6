//! Batches of 2025-03-26.

use super::*;
use crate::error::EnvelopeFault;

const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

fn session(version: &str) -> ServerEngine {
    let mut engine = engine();
    let initialize = format!(
        r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"{version}","capabilities":{{}},"clientInfo":{{"name":"c","version":"1"}}}}}}"#
    );
    let incoming = engine.receive(initialize.as_bytes(), &mut Vec::new());
    assert!(matches!(incoming, Incoming::Handled));
    engine
}

fn tool_call(id: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"echo"}}}}"#)
}

fn ping(id: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#)
}

fn pong(id: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)
}

fn done(id: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[]}}}}"#)
}

fn cancelled(id: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
    )
}

/// Sends a batch and takes its messages; the calls in it come back, and what was written.
fn send(engine: &mut ServerEngine, messages: &[String]) -> (Vec<ReplyToken>, String) {
    let text = format!("[{}]", messages.join(","));
    let mut out = Vec::new();
    let Incoming::Batch(mut batch) = engine.receive(text.as_bytes(), &mut out) else {
        panic!("no batch: {text}");
    };
    let mut calls = Vec::new();
    while let Some(incoming) = engine.next_in_batch(&mut batch, &mut out) {
        if let Incoming::Call(call) = incoming {
            calls.push(call.token);
        }
    }
    (calls, String::from_utf8(out).expect("UTF-8"))
}

fn reply(engine: &mut ServerEngine, token: ReplyToken) -> String {
    let mut out = Vec::new();
    engine
        .reply(token, &CallToolResult::new([]), &mut out)
        .expect("in flight");
    String::from_utf8(out).expect("UTF-8")
}

/// BAT-01, BAT-07.
#[test]
fn what_needs_no_handler_is_answered_in_one_array() {
    let mut engine = session("2025-03-26");
    let (calls, out) = send(
        &mut engine,
        &[ping("1"), INITIALIZED.into(), ping(r#""2""#)],
    );
    assert!(calls.is_empty());
    assert_eq!(out, format!("[{},{}]", pong("1"), pong(r#""2""#)));
    // No answer is due: none comes, not even an empty array.
    let (_, out) = send(&mut engine, &[INITIALIZED.into(), cancelled("9")]);
    assert_eq!(out, "");
}

#[test]
fn the_answers_leave_with_the_last_one() {
    let mut engine = session("2025-03-26");
    let batch = [tool_call("1"), ping("2"), tool_call("3"), tool_call("4")];
    let (mut calls, out) = send(&mut engine, &batch);
    assert_eq!((calls.len(), out.as_str()), (3, ""));
    // Another batch, and a message of its own, go their own ways meanwhile.
    let (mut others, out) = send(&mut engine, &[tool_call("5")]);
    assert_eq!(out, "");
    let mut out = Vec::new();
    assert!(matches!(
        engine.receive(ping("6").as_bytes(), &mut out),
        Incoming::Handled
    ));
    assert_eq!(out, pong("6").as_bytes());

    assert_eq!(reply(&mut engine, calls.remove(2)), "");
    assert_eq!(
        reply(&mut engine, others.remove(0)),
        format!("[{}]", done("5"))
    );
    assert_eq!(reply(&mut engine, calls.remove(0)), "");
    assert_eq!(
        reply(&mut engine, calls.remove(0)),
        format!("[{},{},{},{}]", pong("2"), done("4"), done("1"), done("3"))
    );
    assert_eq!(engine.in_flight(), 0);
}

/// STD-12: a cancelled call is not answered, and the others do not wait for it.
#[test]
fn a_cancelled_call_is_not_waited_for() {
    let mut engine = session("2025-03-26");
    let (mut calls, _) = send(&mut engine, &[tool_call("1"), tool_call("2")]);
    assert_eq!(reply(&mut engine, calls.remove(0)), "");
    let mut out = Vec::new();
    let cancel = cancelled("2");
    let incoming = engine.receive(cancel.as_bytes(), &mut out);
    assert!(matches!(incoming, Incoming::Cancelled(key) if key == calls[0].key()));
    assert_eq!(out, format!("[{}]", done("1")).as_bytes());
    // All of them cancelled: no answer is due. One is cancelled by the batch it is in.
    let (_, out) = send(
        &mut engine,
        &[tool_call("3"), tool_call("4"), cancelled("3")],
    );
    assert_eq!(out, "");
    let mut out = Vec::new();
    assert!(matches!(
        engine.receive(cancelled("4").as_bytes(), &mut out),
        Incoming::Cancelled(_)
    ));
    assert_eq!((out.len(), engine.in_flight()), (0, 0));
}

/// ID-10, BAT-03: what is wrong in a batch is answered in it.
#[test]
fn id_10_what_does_not_belong_in_a_batch_is_refused_in_it() {
    let mut engine = session("2025-03-26");
    let (_, out) = send(&mut engine, &["1".into(), "2".into()]);
    assert_eq!(out.matches("-32600").count(), 2, "{out}");
    assert!(out.starts_with('[') && out.ends_with(']'));

    let initialize = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
    let discover = r#"{"jsonrpc":"2.0","id":2,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    let nested = format!("[{}]", ping("3"));
    let batch = [initialize.into(), discover.into(), nested, ping("4")];
    let (_, out) = send(&mut engine, &batch);
    assert_eq!(out.matches("-32600").count(), 3, "{out}");
    assert!(out.contains(&pong("4")), "{out}");
    // The same id twice: the second is refused while the first is in flight.
    let (calls, _) = send(&mut engine, &[tool_call("5"), tool_call("5")]);
    assert_eq!(calls.len(), 1);
}

/// BAT-08: no other revision has batches, and nothing in one is done.
#[test]
fn no_batch_outside_2025_03_26() {
    let batch = format!("[{},{}]", ping("1"), ping("2"));
    for version in ["2024-11-05", "2025-06-18", "2025-11-25"] {
        let mut engine = session(version);
        let incoming = engine.receive(batch.as_bytes(), &mut Vec::new());
        let fault = EnvelopeFault::Batch.into();
        assert!(matches!(incoming, Incoming::Rejected(found) if found == fault));
    }
    let incoming = engine().receive(batch.as_bytes(), &mut Vec::new());
    assert!(matches!(incoming, Incoming::Rejected(_)));
}

/// ID-10: one object, not an array; and a batch has a limit, for its answers are held back.
#[test]
fn id_10_a_batch_has_a_size() {
    let mut engine = session("2025-03-26");
    let mut rejected = |text: &str| {
        let mut out = Vec::new();
        let Incoming::Rejected(fault) = engine.receive(text.as_bytes(), &mut out) else {
            panic!("{text}");
        };
        assert!(out.starts_with(b"{") && out.ends_with(b"}"));
        fault
    };
    assert_eq!(rejected("[]"), EnvelopeFault::EmptyBatch.into());
    assert_eq!(rejected("[ ]"), EnvelopeFault::EmptyBatch.into());
    let limit = Limits::DEFAULT.max_batch;
    let many = |count: usize| format!("[{}]", vec![INITIALIZED; count].join(","));
    let fault = EnvelopeFault::LongBatch { limit };
    assert_eq!(rejected(&many(limit + 1)), fault.into());
    assert!(matches!(
        engine.receive(many(limit).as_bytes(), &mut Vec::new()),
        Incoming::Batch(_)
    ));
}

/// A full output changes nothing: the last answer, or what a cancellation sets free, is offered again.
#[test]
fn answers_wait_for_room() {
    let mut engine = session("2025-03-26");
    let (mut calls, _) = send(&mut engine, &[tool_call("1"), tool_call("2")]);
    assert_eq!(reply(&mut engine, calls.remove(0)), "");
    let mut small = heapless::Vec::<u8, 40>::new();
    let blocked = engine.reply(calls.remove(0), &CallToolResult::new([]), &mut small);
    let Err(SendError::Full(token)) = blocked else {
        panic!("{blocked:?}");
    };
    assert!(matches!(
        engine.receive(cancelled("2").as_bytes(), &mut small),
        Incoming::Blocked
    ));
    assert_eq!((small.len(), engine.in_flight()), (0, 1));
    assert_eq!(
        reply(&mut engine, token),
        format!("[{},{}]", done("1"), done("2"))
    );

    let text = format!("[{}]", ping("1"));
    let Incoming::Batch(mut batch) = engine.receive(text.as_bytes(), &mut small) else {
        panic!("a batch");
    };
    let mut tiny = heapless::Vec::<u8, 10>::new();
    assert!(matches!(
        engine.next_in_batch(&mut batch, &mut tiny),
        Some(Incoming::Handled)
    ));
    assert!(matches!(
        engine.next_in_batch(&mut batch, &mut tiny),
        Some(Incoming::Blocked)
    ));
    assert!(engine.next_in_batch(&mut batch, &mut small).is_none());
    assert_eq!(small, format!("[{}]", pong("1")).as_bytes());
}

/// The same for a cancellation that is itself in a batch: it is taken again.
#[test]
fn a_cancellation_in_a_batch_waits_for_room() {
    let mut engine = session("2025-03-26");
    let (mut calls, _) = send(&mut engine, &[tool_call("1"), tool_call("2")]);
    assert_eq!(reply(&mut engine, calls.remove(0)), "");
    let text = format!("[{},{}]", cancelled("2"), ping("3"));
    let mut small = heapless::Vec::<u8, 40>::new();
    let Incoming::Batch(mut batch) = engine.receive(text.as_bytes(), &mut small) else {
        panic!("a batch");
    };
    assert!(matches!(
        engine.next_in_batch(&mut batch, &mut small),
        Some(Incoming::Blocked)
    ));
    let mut out = Vec::new();
    assert!(matches!(
        engine.next_in_batch(&mut batch, &mut out),
        Some(Incoming::Cancelled(key)) if key == calls[0].key()
    ));
    assert_eq!(out, format!("[{}]", done("1")).as_bytes());
    while engine.next_in_batch(&mut batch, &mut small).is_some() {}
    assert_eq!(small, format!("[{}]", pong("3")).as_bytes());
    // Asked once more, it has nothing more.
    assert!(engine.next_in_batch(&mut batch, &mut small).is_none());
}
