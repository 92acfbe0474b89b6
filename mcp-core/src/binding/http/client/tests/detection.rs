//! Of which era the server is (DET-06 to DET-11).

use super::*;

#[test]
fn hm_05_a_server_that_asks_for_its_version_is_modern() {
    // DET-07; also where that is the version it was asked in.
    let mut stage = Stage::new(EraMode::Auto);
    let probe = stage.next();
    let body = probe.error(
        -32022,
        r#"{"supported":["2026-07-28"],"requested":"2026-07-28"}"#,
    );
    stage.json(&probe, 400, &body);
    let again = stage.next();
    assert_eq!(again.get("mcp-method"), Some("server/discover"));
    assert_ne!(again.id(), probe.id());
    let answer = DISCOVERED.replace("\"id\":0", &format!("\"id\":{}", again.id()));
    stage.json(&again, 200, &answer);
    stage.tells(&["connected"]);
}

#[test]
fn modern_errors_do_not_lead_back() {
    for (status, code) in [(400, -32020), (400, -32021), (200, -32021)] {
        let mut stage = Stage::new(EraMode::Auto);
        let probe = stage.next();
        stage.json(&probe, status, &probe.error(code, "{}"));
        assert!(
            stage.told[0].starts_with("not connected"),
            "{:?}",
            stage.told
        );
        assert!(stage.fresh.is_empty());
    }
    // DET-08: modern, and has nothing to say about itself.
    let mut stage = Stage::new(EraMode::Auto);
    let probe = stage.next();
    stage.json(&probe, 404, &probe.error(-32601, "{}"));
    stage.tells(&["connected"]);
    stage.call("tools/list", "{}");
    assert_eq!(stage.next().get("mcp-method"), Some("tools/list"));
}

fn refused(code: i32) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":0,"error":{{"code":{code},"message":"no"}}}}"#)
}

#[test]
fn ve_01_ve_02_ve_03_anything_else_leads_to_initialize() {
    // DET-07, DET-09.
    let null = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: No valid session ID provided"}}"#;
    let unknown =
        r#"{"jsonrpc":"2.0","id":0,"error":{"code":-32601,"message":"Method not found"}}"#;
    let ran = r#"{"jsonrpc":"2.0","id":0,"result":{}}"#;
    for (status, kind, body) in [
        (400, "text/plain", "Bad Request"),
        (400, "application/json", null),
        (400, "application/json", ""),
        (404, "text/html", "<html></html>"),
        (405, "text/plain", ""),
        (406, "application/json", r#"{"error":"x"}"#),
        (200, "application/json", unknown),
        (200, "application/json", ran),
        (200, "text/html", "<html></html>"),
        (200, "application/json", ""),
        (200, "application/json", " \n"),
        (200, "text/event-stream", ""),
        (200, "", ""),
        (202, "", ""),
        (204, "", ""),
        (400, "application/json", &refused(-32600)),
        (400, "application/json", &refused(-32602)),
        (200, "application/json", &refused(-32603)),
        (200, "application/json", &refused(-32000)),
        (200, "application/json", &refused(0)),
    ] {
        let mut stage = Stage::new(EraMode::Auto);
        let probe = stage.next();
        stage.answer(&probe, status, &[("content-type", kind)], body);
        let initialize = stage.next();
        assert!(
            initialize.text().contains("\"initialize\""),
            "{status} {body}"
        );
        assert_eq!(initialize.get("mcp-method"), None);
        assert_eq!(initialize.get("mcp-protocol-version"), None);
        let answer = initialized_as(initialize.id(), "2025-06-18");
        stage.json(&initialize, 200, &answer);
        stage.tells(&["connected"]);
    }
}

#[test]
fn ve_03_what_says_nothing_about_the_era_ends_the_attempt() {
    // DET-10.
    for status in [401, 403, 429, 500, 503] {
        let mut stage = Stage::new(EraMode::Auto);
        let probe = stage.next();
        stage.answer(&probe, status, &[], "");
        stage.tells(&["not connected: `server/discover` was not answered"]);
        assert!(stage.fresh.is_empty());
        assert!(matches!(stage.faults[0], HttpFault::Status { .. }));
    }
    let mut stage = Stage::new(EraMode::Auto);
    let probe = stage.next();
    stage.breaks(&probe, true);
    stage.tells(&["not connected: `server/discover` was not answered"]);
}

#[test]
fn a_refusal_is_told_in_the_words_of_the_server() {
    let forbidden =
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"not \u0062y that name"}}"#;
    let lacking = "Bearer error=\"insufficient_scope\", scope=\"a b\"";
    let other = "Basic realm=\"x\"";
    let status = |code: u16| format!("the server answers with status {code}");
    for (code, challenges, body, expected) in [
        (403, &[][..], forbidden, ": not by that name"),
        (
            403,
            &[other, lacking],
            forbidden,
            ": not by that name; the scopes that it takes: a b",
        ),
        (403, &["Bearer scope=\"a b\""], "no", ": no"),
        (
            403,
            &["Bearer error=\"insufficient_scope\", xscope=\"a\""],
            "",
            "",
        ),
        (
            401,
            &[lacking],
            "",
            ", it wants to know who asks; the scopes that it takes: a b",
        ),
        (401, &[other], "<html>", ", it wants to know who asks"),
        (403, &[], r#"{"error":"x"}"#, r#": {"error":"x"}"#),
    ] {
        let mut stage = Stage::new(EraMode::Auto);
        let probe = stage.next();
        let fields: Vec<_> = challenges
            .iter()
            .map(|it| ("WWW-Authenticate", *it))
            .collect();
        stage.answer(&probe, code, &fields, body);
        assert_eq!(stage.faults[0].to_string(), status(code) + expected);
    }
}

#[test]
fn a_modern_server_names_its_versions_to_initialize() {
    // VER-06, VER-07: what was known of the server is no longer so.
    let mut config = ClientConfig::new(Implementation::new("c", "1"));
    config.known_version = Some(ProtocolVersion::V2025_06_18);
    let mut stage = Stage::with(config);
    let initialize = stage.next();
    assert!(initialize.text().contains("\"initialize\""));
    let body = initialize.error(-32601, r#"{"supported":["2026-07-28"]}"#);
    stage.json(&initialize, 404, &body);
    let probe = stage.next();
    assert_eq!(probe.get("mcp-method"), Some("server/discover"));
    assert_eq!(probe.get("mcp-session-id"), None);
}

#[test]
fn an_old_server_names_its_endpoint_on_a_stream() {
    // DET-11, SSE-01 to SSE-04.
    let mut stage = Stage::new(EraMode::Auto);
    let probe = stage.next();
    stage.answer(&probe, 405, &[], "");
    let initialize = stage.next();
    stage.answer(&initialize, 405, &[], "");
    let get = stage.next();
    assert_eq!((get.verb, get.target.as_deref()), (Verb::Get, None));
    stage.head(&get, 200, &[EVENTS]);
    stage.data(&get, "event: endpoint\ndata: messages?id=1\n\n");
    let again = stage.next();
    assert_eq!(again.body, initialize.body);
    assert_eq!(again.target.as_deref(), Some("/p/messages?id=1"));
    stage.answer(&again, 202, &[], "Accepted");
    let hello = initialized_as(again.id(), "2024-11-05");
    stage.data(&get, &format!("event: message\ndata: {hello}\n\n"));
    stage.tells(&["connected"]);
    let opening = stage.next();
    assert_eq!(opening.target.as_deref(), Some("/p/messages?id=1"));
    stage.answer(&opening, 202, &[], "");
    let key = stage.call("tools/call", r#"{"name":"t"}"#);
    let call = stage.next();
    stage.answer(&call, 200, &[JSON], "null");
    stage.data(&get, &event(&call.result("{}")));
    stage.tells(&["result {}"]);
    let _ = key;
    // Refused: the call ends, and no other.
    stage.call("tools/call", r#"{"name":"t"}"#);
    let call = stage.next();
    stage.answer(&call, 400, &[], "no");
    stage.tells(&["unanswered"]);
    // SSE-07: the stream is the session.
    stage.end(&get);
    stage.tells(&["lost"]);
    assert!(stage.http.leave().is_none());
}

#[test]
fn dx_08_an_endpoint_elsewhere_is_refused() {
    // DX-08, SSE-06.
    let mut stage = Stage::new(EraMode::Legacy(ProtocolVersion::V2024_11_05));
    let initialize = stage.next();
    stage.answer(&initialize, 404, &[], "");
    let get = stage.next();
    stage.head(&get, 200, &[EVENTS]);
    stage.data(&get, "event: endpoint\ndata: https://evil.example/m\n\n");
    stage.tells(&["not connected: `initialize` was not answered"]);
    assert!(stage.faults[0].to_string().contains("evil.example"));
    assert!(stage.fresh.is_empty());
    assert_eq!(stage.closed, [get.key]);
}

#[test]
fn without_such_a_stream_the_refusal_is_told() {
    let own = |stage: &mut Stage, get: &HttpRequest, run: u8| match run {
        0 => stage.answer(get, 405, &[], ""),
        1 => stage.answer(get, 200, &[("content-type", "text/html")], "<html>"),
        2 => stage.breaks(get, true),
        _ => {
            stage.head(get, 200, &[EVENTS]);
            stage.data(get, "data: {}\n\n");
        }
    };
    for run in 0..4 {
        let mut stage = Stage::new(EraMode::Legacy(ProtocolVersion::V2025_11_25));
        let initialize = stage.next();
        stage.json(&initialize, 400, &initialize.error(-32602, "{}"));
        let get = stage.next();
        own(&mut stage, &get, run);
        stage.tells(&["not connected: the server refused `initialize`: no (-32602)"]);
    }
    let mut stage = Stage::new(EraMode::Legacy(ProtocolVersion::V2025_11_25));
    let initialize = stage.next();
    stage.answer(&initialize, 404, &[], "Not Found");
    let get = stage.next();
    stage.answer(&get, 404, &[], "");
    assert!(
        stage.told[0].starts_with("not connected"),
        "{:?}",
        stage.told
    );
    assert!(stage.faults[0].to_string().contains("404"));
}
