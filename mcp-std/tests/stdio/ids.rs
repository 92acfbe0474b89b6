//! Requests are told apart by the exact value of their ids.

use crate::child::{INITIALIZE, INITIALIZED, PING, PONG, Serve, call, slow, text};

/// ID-01, ID-03, ID-04.
#[test]
fn id_01_id_04_ids_that_look_alike_are_different_requests() {
    const CANCELLED: [&str; 2] = ["9007199254740993", "0"];
    let long = format!("\"{}\"", "i".repeat(2000));
    let ids = [
        "9007199254740993",
        "9007199254740992",
        "-9223372036854775808",
        "9223372036854775807",
        "\"1\"",
        "1",
        "0",
        "\"0\"",
        "\"007\"",
        "\"1e3\"",
        "\" 1\"",
        "\"\"",
        "-1",
        "\"9007199254740993\"",
        &long,
    ];
    let mut serve = Serve::session();
    // All are in flight together, and tell by their steps which one they are.
    let calls: String = (1..)
        .zip(ids)
        .map(|(steps, id)| match CANCELLED.contains(&id) {
            true => slow(id, 1000, 1000),
            false => slow(id, steps, 15),
        })
        .map(|line| line + "\n")
        .collect();
    serve.write(calls.as_bytes());
    for id in CANCELLED {
        serve.send(&cancel(id));
    }
    let mut lines = serve.end().clean();
    let mut expected: Vec<_> = (1..)
        .zip(ids)
        .filter(|(_, id)| !CANCELLED.contains(id))
        .map(|(steps, id)| text(id, &format!("done after {steps} steps")))
        .collect();
    lines.sort();
    expected.sort();
    assert_eq!(lines, expected);
}

/// RPC-05: the second one is refused, and the first one is answered.
#[test]
fn id_06_an_id_in_use_is_refused() {
    let mut serve = Serve::session();
    serve.send(&slow("7", 2, 200));
    serve.send(&call("7", "echo", r#"{"text":"a"}"#));
    let refused = serve.line();
    assert!(
        refused.starts_with(r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32600,"#),
        "{refused}"
    );
    assert_eq!(serve.line(), text("7", "done after 2 steps"));
    serve.send(&call("7", "echo", r#"{"text":"a"}"#));
    assert_eq!(serve.line(), text("7", "a"));
    assert!(serve.end().status.success());
}

/// ID-03, CAN-04: nothing is sent for a call after it was cancelled, progress included; its id can be used again.
#[test]
fn id_03_a_cancelled_call_falls_silent() {
    let mut serve = Serve::session();
    serve.send(
        r#"{"jsonrpc":"2.0","id":0,"method":"tools/call","params":{"name":"slow","arguments":{"steps":1000,"delay_ms":5},"_meta":{"progressToken":0}}}"#,
    );
    let progress = serve.line();
    assert_eq!(
        progress,
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":0,"progress":1,"total":1000}}"#
    );
    serve.send(&cancel("0"));
    serve.send(PING);
    while serve.line() != PONG {}
    serve.send(&slow("0", 10, 10));
    assert_eq!(serve.line(), text("0", "done after 10 steps"));
    assert_eq!(serve.end().clean(), [""; 0]);
}

/// OR-09.
#[test]
fn or_09_cancelling_what_is_not_there_does_nothing() {
    let mut serve = Serve::session();
    serve.send(&slow("\"1\"", 20, 40));
    let mut lines = String::new();
    for n in 0..250 {
        lines += &format!("{}\n", cancel(&n.to_string()));
        lines += &format!("{}\n", cancel(&format!("\"no {n}\"")));
        lines += &format!("{}\n", cancel(&format!("[{n}]")));
        lines += "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{}}\n";
    }
    serve.write(lines.as_bytes());
    serve.ping();
    assert_eq!(serve.end().clean(), [text("\"1\"", "done after 20 steps")]);
}

/// Ids and progress tokens come back in the very text they came in.
#[test]
fn id_04_a_session_whose_ids_are_strange() {
    let mut serve = Serve::start();
    serve.send(&INITIALIZE.replace("\"init\"", "\"\\u0069\\ud83e\\udd80\""));
    assert!(
        serve
            .line()
            .starts_with(r#"{"jsonrpc":"2.0","id":"\u0069\ud83e\udd80","result""#)
    );
    serve.send(INITIALIZED);
    for id in ["null", "1.5", "true", "[1]", "{}", "9223372036854775808"] {
        serve.send(&call(id, "echo", r#"{"text":"a"}"#));
        let line = serve.line();
        assert!(
            line.starts_with(r#"{"jsonrpc":"2.0","error":{"code":-32600,"#),
            "{id}: {line}"
        );
    }
    serve.ping();
}

fn cancel(id: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id},"reason":"test"}}}}"#
    )
}
