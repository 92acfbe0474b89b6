//! The era of 2026-07-28: one exchange for each request.

use super::*;

const COMPLETE: &str = r#"{"resultType":"complete"}"#;

#[test]
fn sn_05_an_answer_is_json_or_a_stream() {
    let mut stage = Stage::modern();
    stage.call("tools/list", "{}");
    let list = stage.next();
    stage.json(&list, 200, &list.result(COMPLETE));
    stage.tells(&[r#"result {"resultType":"complete"}"#]);
    // HTTP-13, HTTP-18: notifications and comments before it.
    stage.call("tools/call", r#"{"name":"t"}"#);
    let call = stage.next();
    stage.head(&call, 200, &[EVENTS]);
    stage.data(&call, ": keep-alive\n\n");
    let log = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{}}"#;
    stage.data(&call, &event(log));
    stage.data(&call, &event(&call.result(COMPLETE)));
    stage.tells(&["Message", r#"result {"resultType":"complete"}"#]);
    // The stream may end now, and its connection be used again.
    assert!(stage.closed.is_empty());
    stage.end(&call);
    assert!(stage.http.poll_timeout().is_none());
    assert!(stage.faults.is_empty());
    assert!(stage.http.leave().is_none(), "there is no session to leave");
}

#[test]
fn a_stream_that_goes_on_after_the_answer_is_closed() {
    let mut stage = Stage::modern();
    stage.call("tools/call", r#"{"name":"t"}"#);
    let call = stage.next();
    stage.head(&call, 200, &[EVENTS]);
    stage.data(&call, &event(&call.result(COMPLETE)));
    stage.tells(&[r#"result {"resultType":"complete"}"#]);
    stage.data(&call, &event(&call.result(COMPLETE)));
    stage.tells(&[]);
    stage.wait(501 * MS);
    assert_eq!(stage.closed, [call.key]);
}

#[test]
fn hc_06_a_stream_that_ends_without_the_answer_ends_the_call() {
    // HC-06: after an event, by a clean end; by a break; an empty body.
    let mut stage = Stage::modern();
    for run in 0..4 {
        stage.call("tools/call", r#"{"name":"t"}"#);
        let call = stage.next();
        match run {
            0 => {
                stage.head(&call, 200, &[EVENTS]);
                stage.data(&call, "id: 7\nretry: 10\ndata:\n\n");
                stage.end(&call);
            }
            1 => {
                stage.head(&call, 200, &[EVENTS]);
                stage.breaks(&call, false);
            }
            2 => stage.json(&call, 200, ""),
            _ => stage.json(&call, 200, r#"{"jsonrpc":"2.0","method":"x"}"#),
        }
        let told: &[&str] = match run {
            3 => &["Other { method: \"x\" }", "unanswered"],
            _ => &["unanswered"],
        };
        stage.tells(told);
        let fault = stage.faults.pop().expect("a fault");
        assert!(matches!(fault, HttpFault::Truncated { .. }), "{fault:?}");
        assert!(fault.is_transient() && !fault.is_uncommitted());
        // HTTP-19: nothing is resumed.
        assert!(stage.fresh.is_empty() && stage.http.poll_timeout().is_none());
    }
}

#[test]
fn cancelling_closes_the_stream_and_says_nothing() {
    // HTTP-22, HTTP-24.
    let mut stage = Stage::modern();
    let key = stage.call("tools/call", r#"{"name":"t"}"#);
    let call = stage.next();
    stage.head(&call, 200, &[EVENTS]);
    stage.cancel(key);
    assert_eq!(stage.closed, [call.key]);
    assert!(stage.fresh.is_empty());
    // What still comes is nothing.
    stage.http.data(stage.now, call.key, b"data: x\n\n");
    stage.turn();
    stage.tells(&[]);
}

#[test]
fn a_time_out_closes_the_stream_too() {
    let mut stage = Stage::modern();
    stage.call("tools/call", r#"{"name":"t"}"#);
    let call = stage.next();
    let mut out = Vec::new();
    stage.now = stage.now + Duration::from_secs(61);
    stage
        .engine
        .handle_timeout(stage.now, &mut Lines::new(&mut out))
        .expect("room");
    stage.say(&out);
    assert_eq!(stage.closed, [call.key]);
    assert!(stage.fresh.is_empty());
}

#[test]
fn sn_03_an_error_status_with_a_message_is_that_error() {
    let mut stage = Stage::modern();
    for (status, code) in [(400, -32602), (404, -32601), (400, -32020), (500, -32603)] {
        stage.call("tools/call", r#"{"name":"t"}"#);
        let call = stage.next();
        stage.json(&call, status, &call.error(code, "{}"));
        stage.tells(&[&format!("error {code}")]);
    }
    // Without an id, with null, with one that is no number of ours: still the answer to what was asked.
    for id in ["", r#""id":null,"#, r#""id":"server-error","#] {
        stage.call("tools/call", r#"{"name":"t"}"#);
        let call = stage.next();
        let body =
            format!(r#"{{"jsonrpc":"2.0",{id}"error":{{"code":-32000,"message":"Bad Request"}}}}"#);
        stage.json(&call, 400, &body);
        stage.tells(&["error -32000"]);
    }
    assert!(stage.faults.is_empty());
}

#[test]
fn an_error_status_without_one_is_a_fault_that_says_what_it_is() {
    let mut stage = Stage::modern();
    for (status, body, expected) in [
        (404, "<html>no</html>", "status 404"),
        (503, "try\x1b[31m later", "try [31m later"),
        (
            401,
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"x"}}"#,
            "who asks",
        ),
        (413, "", "too large"),
    ] {
        stage.call("tools/call", r#"{"name":"t"}"#);
        let call = stage.next();
        stage.answer(&call, status, &[("content-type", "text/plain")], body);
        stage.tells(&["unanswered"]);
        let fault = stage.faults.pop().expect("a fault");
        assert!(fault.to_string().contains(expected), "{fault}");
        assert!(!fault.to_string().contains("html"), "{fault}");
        assert_eq!(fault.is_uncommitted(), status < 500);
    }
}

#[test]
fn dx_03_other_bodies_are_faults() {
    let mut stage = Stage::modern();
    for (status, fields, expected) in [
        (200, &[("Content-Type", "text/html")][..], "text/html"),
        (200, &[JSON, ("Content-Encoding", "br")][..], "br"),
        (202, &[][..], "notification"),
    ] {
        stage.call("tools/call", r#"{"name":"t"}"#);
        let call = stage.next();
        stage.answer(&call, status, fields, "");
        stage.tells(&["unanswered"]);
        let fault = stage.faults.pop().expect("a fault");
        assert!(fault.to_string().contains(expected), "{fault}");
    }
    stage.call("tools/call", r#"{"name":"t"}"#);
    let call = stage.next();
    stage.breaks(&call, true);
    stage.tells(&["unanswered"]);
    assert!(stage.faults.pop().expect("a fault").is_uncommitted());
}

#[test]
fn what_is_too_long_ends_its_call_and_no_other() {
    let mut config = ClientConfig::new(Implementation::new("c", "1"));
    config.mode = EraMode::Auto;
    let mut stage = Stage::with(config);
    let mut limits = Limits::DEFAULT;
    limits.max_message = 1_000;
    let probe = stage.next();
    stage.json(&probe, 200, DISCOVERED);
    stage.tells(&["connected"]);
    stage.http.limits = limits;
    let long = "x".repeat(20_000);
    for fields in [[JSON], [EVENTS]] {
        stage.call("tools/call", r#"{"name":"t"}"#);
        let call = stage.next();
        stage.head(&call, 200, &fields);
        stage.data(&call, "data: ");
        stage.data(&call, &long);
        stage.tells(&["unanswered"]);
        assert_eq!(stage.closed.pop(), Some(call.key));
        assert_eq!(
            stage.faults.pop(),
            Some(HttpFault::TooLong { limit: 1_000 })
        );
    }
    // Of an error only the beginning is read.
    stage.call("tools/call", r#"{"name":"t"}"#);
    let call = stage.next();
    stage.head(&call, 500, &[]);
    stage.data(&call, &long);
    stage.tells(&["unanswered"]);
}

#[test]
fn hm_03_a_list_is_without_tools_that_cannot_be_called() {
    // XH-07, HM-03.
    let mut stage = Stage::modern();
    stage.call("tools/list", "{}");
    let list = stage.next();
    let tool = |name: &str, header: &str| {
        format!(
            r#"{{"name":"{name}","inputSchema":{{"type":"object","properties":{{"a":{{"type":"string","x-mcp-header":"{header}"}}}}}}}}"#
        )
    };
    let (good, bad) = (tool("good", "Region"), tool("bad", "Bad Name"));
    let result = format!(r#"{{"resultType":"complete","tools":[{bad},{good}],"ttlMs":5}}"#);
    stage.json(&list, 200, &list.result(&result));
    let told = core::mem::take(&mut stage.told);
    assert!(told[0].starts_with("without bad: "), "{told:?}");
    let kept = format!(r#"result {{"resultType":"complete","tools":[{good}],"ttlMs":5}}"#);
    assert_eq!(told[1], kept);
    stage.call("tools/call", r#"{"name":"good","arguments":{"a":"x y"}}"#);
    assert_eq!(stage.next().get("mcp-param-region"), Some("x y"));
}
