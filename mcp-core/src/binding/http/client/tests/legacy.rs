//! Sessions of 2025-03-26 to 2025-11-25.

use super::*;

#[test]
fn requests_wait_until_the_session_is_open() {
    let mut stage = Stage::begun();
    let get = stage.next();
    stage.call("tools/call", r#"{"name":"t"}"#);
    assert!(stage.fresh.is_empty());
    stage.head(&get, 200, &[EVENTS]);
    let call = stage.next();
    // The server asks on its own stream while the call is pending, and is answered.
    let question = r#"{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{}}}}"#;
    stage.data(&get, &event(question));
    stage.tells(&["asked Elicit"]);
    stage.json(&call, 200, &call.result("{}"));
    stage.tells(&["result {}"]);
}

#[test]
fn a_stream_that_says_nothing_is_not_waited_for() {
    let mut stage = Stage::begun();
    let _get = stage.next();
    stage.call("tools/list", "{}");
    stage.wait(299 * MS);
    assert!(stage.fresh.is_empty());
    stage.wait(2 * MS);
    assert!(stage.next().text().contains("tools/list"));
}

#[test]
fn hc_07_the_stream_is_opened_again_after_its_last_event() {
    // LH-13, LH-15, HC-07.
    let mut stage = Stage::begun();
    let get = stage.next();
    stage.head(&get, 200, &[EVENTS]);
    stage.wait(Duration::from_secs(15));
    assert!(stage.fresh.is_empty());
    let changed = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
    stage.data(&get, &format!("id: e-1\nretry: 2000\ndata: {changed}\n\n"));
    stage.tells(&["ToolsChanged"]);
    stage.end(&get);
    stage.wait(1_999 * MS);
    assert!(stage.fresh.is_empty());
    stage.wait(2 * MS);
    let again = stage.next();
    assert_eq!(again.get("last-event-id"), Some("e-1"));
    assert_eq!(again.get("mcp-session-id"), Some("s1"));
    // A server that is away is asked less and less, but for as long as it takes.
    let mut pauses = Vec::new();
    let mut get = again;
    for _ in 0..8 {
        stage.breaks(&get, true);
        let at = stage.http.poll_timeout().expect("it is tried again");
        pauses.push(at.since(stage.now).as_secs());
        stage.wait(at.since(stage.now));
        get = stage.next();
    }
    assert_eq!(pauses, [4, 8, 16, 30, 30, 30, 30, 30]);
    // Calls go on.
    stage.call("tools/list", "{}");
    let list = stage.next();
    stage.json(&list, 200, &list.result("{}"));
    stage.tells(&["result {}"]);
    // LH-26: when it is back it knows nothing of the session.
    stage.head(&get, 404, &[]);
    let again = stage.next();
    assert!(again.text().contains("\"initialize\""), "{again:?}");
    assert_eq!(again.get("mcp-session-id"), None);
}

#[test]
fn an_interrupted_answer_is_fetched() {
    // LH-11 to LH-15: the wish of the server is heeded, and the answer comes on another stream.
    let mut stage = Stage::legacy();
    stage.call("tools/call", r#"{"name":"t"}"#);
    let call = stage.next();
    stage.head(&call, 200, &[EVENTS]);
    stage.data(&call, "id: e-7\nretry: 500\ndata:\n\n");
    stage.end(&call);
    stage.tells(&[]);
    stage.wait(499 * MS);
    assert!(stage.fresh.is_empty());
    stage.wait(2 * MS);
    let get = stage.next();
    assert_eq!(get.verb, Verb::Get);
    assert_eq!(get.get("last-event-id"), Some("e-7"));
    assert_eq!(get.get("mcp-session-id"), Some("s1"));
    stage.head(&get, 200, &[EVENTS]);
    stage.data(&get, &event(&call.result("{}")));
    stage.tells(&["result {}"]);
    // That stream may never end.
    assert_eq!(stage.closed, [get.key]);
}

#[test]
fn what_cannot_be_resumed_ends() {
    let mut stage = Stage::legacy();
    for status in [400, 404, 405] {
        stage.call("tools/call", r#"{"name":"t"}"#);
        let call = stage.next();
        stage.head(&call, 200, &[EVENTS]);
        stage.data(&call, "id: e-7\nretry: 1\ndata:\n\n");
        stage.breaks(&call, false);
        stage.wait(Duration::from_secs(1));
        let get = stage.next();
        stage.answer(&get, status, &[], "");
        stage.tells(&["unanswered"]);
        let status = Some(status);
        assert_eq!(stage.faults.pop(), Some(HttpFault::Unresumable { status }));
    }
    // No id, or one that no field can hold: nothing to resume after.
    for id in ["", "id: \u{e9}\n", "id: x\nid:\n"] {
        stage.call("tools/call", r#"{"name":"t"}"#);
        let call = stage.next();
        stage.head(&call, 200, &[EVENTS]);
        stage.data(&call, &format!("{id}retry: 1\ndata:\n\n"));
        stage.end(&call);
        stage.tells(&["unanswered"]);
        assert!(stage.fresh.is_empty());
    }
}

#[test]
fn hc_01_hc_02_cancelling_tells_the_server() {
    // LH-17.
    let mut stage = Stage::legacy();
    let key = stage.call("tools/call", r#"{"name":"t"}"#);
    let call = stage.next();
    stage.cancel(key);
    let told = stage.next();
    assert!(told.text().contains("notifications/cancelled"));
    assert_eq!(told.get("mcp-session-id"), Some("s1"));
    assert_eq!(stage.closed, [call.key]);
    // HC-01, HC-02: whatever comes is fine.
    stage.answer(&told, 200, &[JSON], "null");
    stage.tells(&[]);
    // One that has not gone out never does.
    let mut stage = Stage::begun();
    let get = stage.next();
    let key = stage.call("tools/call", r#"{"name":"t"}"#);
    stage.cancel(key);
    stage.answer(&get, 405, &[], "");
    assert!(stage.fresh.is_empty());
}

#[test]
fn sn_01_sn_02_a_session_that_is_over_is_begun_anew_once_for_all() {
    // SN-01, SN-02.
    let mut stage = Stage::legacy();
    stage.call("tools/call", r#"{"name":"a"}"#);
    stage.call("tools/call", r#"{"name":"b"}"#);
    let (a, b) = (stage.next(), stage.next());
    stage.answer(&a, 404, &[], "");
    let initialize = stage.next();
    assert_eq!(initialize.get("mcp-session-id"), None);
    assert!(initialize.text().contains("\"initialize\""));
    // A call made meanwhile waits.
    stage.call("tools/call", r#"{"name":"c"}"#);
    assert!(stage.fresh.is_empty());
    let fields = [JSON, ("mcp-session-id", "s2")];
    let answer = initialized_as(initialize.id(), "2025-11-25");
    stage.answer(&initialize, 200, &fields, &answer);
    stage.tells(&["renewed"]);
    let opening = stage.next();
    assert!(opening.text().contains("notifications/initialized"));
    assert_eq!(opening.get("mcp-session-id"), Some("s2"));
    stage.answer(&opening, 202, &[], "");
    let get = stage.next();
    stage.answer(&get, 405, &[], "");
    let (again, c) = (stage.next(), stage.next());
    assert_eq!(again.body, a.body);
    assert_eq!(again.get("mcp-session-id"), Some("s2"));
    assert!(c.text().contains(r#""name":"c""#));
    // The other one comes to know of it later.
    stage.answer(&b, 404, &[], "");
    let late = stage.next();
    assert_eq!(late.body, b.body);
    assert_eq!(late.get("mcp-session-id"), Some("s2"));
    assert!(stage.fresh.is_empty());
    stage.json(&late, 200, &late.result("{}"));
    stage.tells(&["result {}"]);
    // Twice is once too often.
    stage.answer(&again, 404, &[], "");
    stage.tells(&["unanswered"]);
    assert!(matches!(stage.faults[0], HttpFault::SessionLost { .. }));
    assert!(stage.fresh.is_empty());
}

#[test]
fn sn_01_a_session_that_cannot_be_begun_anew_is_lost() {
    for run in 0..5 {
        let mut stage = Stage::legacy();
        stage.call("tools/list", "{}");
        let list = stage.next();
        stage.answer(&list, 404, &[], "");
        let initialize = stage.next();
        match run {
            0 => stage.answer(&initialize, 503, &[], ""),
            1 => stage.breaks(&initialize, true),
            2 => stage.json(&initialize, 200, &initialized("2025-06-18")),
            3 => stage.json(&initialize, 200, ""),
            _ => stage.wait(Duration::from_secs(31)),
        }
        stage.tells(&["unanswered", "lost"]);
    }
}

#[test]
fn hc_08_session_ids_have_to_agree() {
    // HC-08.
    for (ids, good) in [
        (&["abc", "abc"][..], true),
        (&["abc", "def"][..], false),
        (&["abc, abc"][..], false),
        (&["a\u{e9}"][..], false),
        (&["a b"][..], false),
        (&[""][..], false),
    ] {
        let mut stage = Stage::new(EraMode::Legacy(ProtocolVersion::V2025_11_25));
        let initialize = stage.next();
        let mut fields = [JSON].to_vec();
        fields.extend(ids.iter().map(|id| ("Mcp-Session-Id", *id)));
        stage.answer(&initialize, 200, &fields, &initialized("2025-11-25"));
        if good {
            stage.tells(&["connected"]);
            assert_eq!(stage.next().get("mcp-session-id"), Some("abc"));
        } else {
            stage.tells(&["not connected: `initialize` was not answered"]);
            assert_eq!(stage.faults, [HttpFault::SessionId]);
        }
    }
}

#[test]
fn sn_03_a_refusal_that_names_no_request_ends_the_one_it_answers() {
    // SN-03.
    let mut stage = Stage::legacy();
    stage.call("tools/list", "{}");
    let list = stage.next();
    let body = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: No valid session ID provided"}}"#;
    stage.json(&list, 400, body);
    stage.tells(&["error -32000"]);
}

#[test]
fn id_09_a_batch_holds_an_answer() {
    let mut stage = Stage::new(EraMode::Legacy(ProtocolVersion::V2025_03_26));
    let initialize = stage.next();
    stage.json(&initialize, 200, &initialized("2025-03-26"));
    let opening = stage.next();
    stage.answer(&opening, 202, &[], "");
    let get = stage.next();
    stage.answer(&get, 405, &[], "");
    stage.tells(&["connected"]);
    stage.call("tools/list", "{}");
    let list = stage.next();
    stage.json(&list, 200, &format!("[{}]", list.result("{}")));
    stage.tells(&["batch"]);
    assert!(stage.faults.is_empty());
}

#[test]
fn answers_may_come_on_the_stream_of_the_servers_own_messages() {
    let mut stage = Stage::begun();
    let get = stage.next();
    stage.head(&get, 200, &[EVENTS]);
    stage.call("tools/list", "{}");
    let list = stage.next();
    stage.answer(&list, 202, &[], "");
    stage.tells(&[]);
    stage.data(&get, &event(&list.result("{}")));
    stage.tells(&["result {}"]);
}
