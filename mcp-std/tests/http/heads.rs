//! Heads of requests: sessions that are none, versions, and names in any case.

use mcp_std::Server;
use serde_json::json;

use crate::site::{Request, Session, Site, initialize, request};

fn server() -> Server {
    Server::builder("heads", "1")
        .tool("now", "", || async { "now" })
        .build()
        .expect("a server")
}

/// HS-08, LH-22.
#[test]
fn hs_08_what_cannot_be_the_id_of_a_session_is_not_looked_for() {
    let site = Site::new(&server());
    let list = request(1, "tools/list", &json!({}));
    let long = "a".repeat(60 * 1024);
    for id in ["", "a b", "a, a", "\u{e9}", "a\tb", &"a".repeat(129), &long] {
        for request in [Request::post(&list), Request::get(), Request::new("DELETE")] {
            let response = site.ask(&request.with("mcp-session-id", id));
            assert_eq!(response.status, 400, "{id:.20}");
        }
    }
    // More than a head may have.
    let longer = "a".repeat(100 * 1024);
    let response = site.ask(&Request::post(&list).with("mcp-session-id", &longer));
    assert_eq!(response.status, 431);
    let session = Session::new(&site, "2025-11-25");
    let twice = session.post(&list).with("mcp-session-id", &session.id);
    assert_eq!(site.ask(&twice).status, 200);
    let two = session.post(&list).with("mcp-session-id", "other");
    assert_eq!(site.ask(&two).status, 400);
}

/// LH-22: nobody guesses one.
#[test]
fn ids_of_sessions_are_visible_and_all_different() {
    let site = Site::new(&server());
    let mut ids: Vec<_> = (0..50)
        .map(|_| Session::new(&site, "2025-11-25").id)
        .collect();
    for id in &ids {
        assert!(id.len() >= 32 && id.len() < 128, "{id}");
        assert!(id.bytes().all(|byte| byte.is_ascii_graphic()), "{id}");
    }
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 50);
}

/// LH-31, LH-32, LH-30.
#[test]
fn versions_in_heads() {
    let site = Site::new(&server());
    let list = request(1, "tools/list", &json!({}));
    let session = Session::new(&site, "2025-06-18");
    for (version, expected) in [
        ("2025-06-18", 200),
        // A known one of another session is no fault.
        ("2025-03-26", 200),
        ("1999-01-01", 400),
        ("nonsense", 400),
        ("", 400),
    ] {
        let request = session.post(&list).set("mcp-protocol-version", version);
        assert_eq!(site.ask(&request).status, expected, "{version}");
    }
    // The session knows its version.
    let request = session.post(&list).without("mcp-protocol-version");
    assert_eq!(site.ask(&request).status, 200);
    // The body settles it.
    for header in ["2025-11-25", "2025-03-26"] {
        let open = initialize("2025-06-18", &json!({})).with("mcp-protocol-version", header);
        let response = site.ask(&open);
        assert_eq!(response.result()["protocolVersion"], "2025-06-18");
        assert!(response.header("mcp-session-id").is_some());
    }
}

/// HDR-10, HDR-12.
#[test]
fn names_in_any_case_and_blanks_around_values() {
    let site = Site::new(&server());
    let mut request = Request::modern(1, "tools/call", &json!({ "name": "now" }));
    for (name, value) in &mut request.headers {
        *name = name.to_uppercase();
        *value = format!("  {value} \t");
    }
    let response = site.ask(&request);
    assert_eq!(response.status, 200, "{response:?}");
    // Values are as they are.
    let request = Request::modern(1, "tools/call", &json!({ "name": "now" }));
    assert_eq!(
        site.ask(&request.clone().set("mcp-name", "Now")).status,
        400
    );
    assert_eq!(
        site.ask(&request.set("mcp-method", "TOOLS/CALL")).status,
        400
    );
}

/// DET-12, HDR-11, SN-07: a modern request is one whatever session it names, and opens none.
#[test]
fn sn_07_modern_requests_have_no_session() {
    let site = Site::new(&server());
    let discover = Request::modern(1, "server/discover", &json!({}));
    for request in [
        discover.clone(),
        discover.clone().with("mcp-session-id", "never-issued"),
        discover.clone().with("mcp-session-id", "a b"),
        discover.clone().with("last-event-id", "1-1"),
        discover.clone().at("/mcp?sessionId=x"),
    ] {
        let response = site.ask(&request);
        assert_eq!(response.status, 200, "{response:?}");
        assert_eq!(response.header("mcp-session-id"), None);
    }
    // By its header alone, so that it is told what its body lacks.
    let bare = Request::post(request(1, "tools/list", &json!({})));
    let response = site.ask(&bare.clone().with("mcp-protocol-version", "2026-07-28"));
    assert_eq!((response.status, response.code()), (400, Some(-32602)));
    // By its body alone, so that it is told what its head lacks (HDR-05).
    let response = site.ask(&discover.without("mcp-protocol-version"));
    assert_eq!((response.status, response.code()), (400, Some(-32020)));
}
