//! The fields of every kind of request (HM-05).

use super::*;

#[test]
fn hs_02_hm_05_modern_requests_say_what_they_are() {
    // HDR-01, HDR-06, HDR-07.
    let mut stage = Stage::modern();
    for (method, params, name) in [
        ("tools/list", "{}", None),
        ("tools/call", r#"{"name":"t"}"#, Some("t")),
        ("tools/call", r#"{"name":" t "}"#, Some("=?base64?IHQg?=")),
        ("prompts/get", r#"{"name":"é"}"#, Some("=?base64?w6k=?=")),
        (
            "resources/read",
            r#"{"uri":"file:\/\/\/path\/to\/file%20name.txt"}"#,
            Some("file:///path/to/file%20name.txt"),
        ),
        ("resources/list", r#"{"name":"x","uri":"y"}"#, None),
        ("subscriptions/listen", r#"{"notifications":{}}"#, None),
    ] {
        stage.call(method, params);
        let post = stage.next();
        assert_eq!(post.verb, Verb::Post);
        assert_eq!(post.target, None);
        assert_eq!(post.get("content-type"), Some("application/json"));
        let accepts = "application/json, text/event-stream";
        assert_eq!(post.get("accept"), Some(accepts));
        assert_eq!(post.get("mcp-protocol-version"), Some("2026-07-28"));
        assert_eq!(post.get("mcp-method"), Some(method));
        assert_eq!(post.get("mcp-name"), name);
        assert_eq!(post.get("mcp-session-id"), None);
        assert_eq!(post.fields.len(), 4 + usize::from(name.is_some()));
        assert!(post.text().contains(&format!("\"method\":\"{method}\"")));
        assert_eq!(post.repeatable, method != "tools/call");
    }
}

#[test]
fn hm_05_legacy_requests_say_what_they_always_said() {
    let mut stage = Stage::new(EraMode::Legacy(ProtocolVersion::V2025_06_18));
    let initialize = stage.next();
    assert_eq!(initialize.fields.len(), 2);
    let fields = [JSON, ("mcp-session-id", "a!~")];
    stage.answer(&initialize, 200, &fields, &initialized("2025-06-18"));
    let opening = stage.next();
    stage.answer(&opening, 202, &[], "");
    let get = stage.next();
    assert_eq!(get.get("accept"), Some("text/event-stream"));
    assert!(get.body.is_empty());
    stage.answer(&get, 405, &[], "");
    stage.call("tools/call", r#"{"name":"t"}"#);
    let call = stage.next();
    let leaving = stage.http.leave().expect("a session");
    assert_eq!(leaving.verb, Verb::Delete);
    for request in [opening, get, call, leaving] {
        assert_eq!(request.get("mcp-session-id"), Some("a!~"));
        assert_eq!(request.get("mcp-protocol-version"), Some("2025-06-18"));
        assert_eq!(request.get("mcp-method"), None);
        assert_eq!(request.get("mcp-name"), None);
    }
    assert!(stage.http.leave().is_none(), "once");

    // The revisions before have no field for it.
    let mut stage = Stage::new(EraMode::Legacy(ProtocolVersion::V2025_03_26));
    let initialize = stage.next();
    stage.json(&initialize, 200, &initialized("2025-03-26"));
    let opening = stage.next();
    assert_eq!(opening.fields.len(), 2);
    assert!(stage.http.leave().is_none());
}

#[test]
fn arguments_are_mirrored() {
    // XH-11, XH-12, ENC-01, ENC-06.
    let mut stage = Stage::modern();
    stage.call("tools/list", "{}");
    let list = stage.next();
    let schema = r#"{"type":"object","properties":{
        "region":{"type":"string","x-mcp-header":"Region"},
        "count":{"type":"integer","x-mcp-header":"Count"},
        "on":{"type":"boolean","x-mcp-header":"Method"},
        "verbose":{"type":["boolean","null"],"x-mcp-header":"Verbose"},
        "query":{"type":"string"}}}"#;
    let tools =
        format!(r#"{{"resultType":"complete","tools":[{{"name":"t","inputSchema":{schema}}}]}}"#);
    stage.json(&list, 200, &list.result(&tools));
    let call = |stage: &mut Stage, arguments: &str| {
        stage.call(
            "tools/call",
            &format!(r#"{{"name":"t","arguments":{arguments}}}"#),
        );
        stage.fresh.pop_front()
    };
    let post = call(
        &mut stage,
        r#"{"region":"","count":-7,"on":false,"verbose":null,"query":"q"}"#,
    )
    .expect("sent");
    assert_eq!(post.get("mcp-param-region"), Some(""));
    assert_eq!(post.get("mcp-param-count"), Some("-7"));
    assert_eq!(post.get("mcp-param-method"), Some("false"));
    assert_eq!(post.get("mcp-method"), Some("tools/call"));
    assert_eq!(post.get("mcp-param-verbose"), None);
    assert_eq!(post.get("mcp-param-query"), None);
    let post = call(&mut stage, r#"{"region":"line1\nline2"}"#).expect("sent");
    let encoded = "=?base64?bGluZTEKbGluZTI=?=";
    assert_eq!(post.get("mcp-param-region"), Some(encoded));
    // XH-17: what has no text that every reader reads alike is not sent.
    assert!(call(&mut stage, r#"{"count":9007199254740993}"#).is_none());
    let fault = stage.faults.pop().expect("a fault");
    assert!(matches!(&fault, HttpFault::Argument { path, .. } if path == "count"));
    assert!(fault.is_uncommitted());
    // XH-14: a newer list counts.
    stage.call("tools/list", "{}");
    let list = stage.next();
    let tools = r#"{"resultType":"complete","tools":[{"name":"t","inputSchema":{}}]}"#;
    stage.json(&list, 200, &list.result(tools));
    let post = call(&mut stage, r#"{"region":"x"}"#).expect("sent");
    assert_eq!(post.get("mcp-param-region"), None);
}
