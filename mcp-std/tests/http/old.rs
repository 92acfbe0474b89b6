//! HTTP+SSE of 2024-11-05.

use std::time::Duration;

use mcp_std::http::{HttpRules, SessionLimits};
use mcp_std::{Context, Server};
use serde_json::{Value, json};

use crate::site::{Events, Request, Session, Site, initialize, notification, request, said, until};

/// A client of that transport.
pub(crate) struct Old<'s> {
    site: &'s Site,
    pub(crate) events: Events,
    /// Where to POST to.
    pub(crate) target: String,
}

impl<'s> Old<'s> {
    /// SSE-01, SSE-02.
    pub(crate) fn new(site: &'s Site) -> Self {
        let mut events = site.connect().stream(&Request::get());
        let first = events.next().expect("an event");
        assert_eq!(first.name.as_deref(), Some("endpoint"));
        let reference = first.data.expect("a reference");
        assert!(
            reference.starts_with('?'),
            "relative to any path: {reference}"
        );
        Self {
            site,
            events,
            target: format!("/mcp{reference}"),
        }
    }

    pub(crate) fn initialize(&mut self, version: &str) -> Value {
        let params = json!({
            "protocolVersion": version,
            "capabilities": { "sampling": {}, "elicitation": {}, "roots": {} },
            "clientInfo": { "name": "test", "version": "1" },
        });
        self.post(&request("init", "initialize", &params));
        let answer = self.events.message();
        assert_eq!(answer["result"]["protocolVersion"], version, "{answer}");
        self.post(&notification("notifications/initialized", &json!({})));
        answer
    }

    /// SSE-04: the response says nothing.
    pub(crate) fn post(&self, message: &Value) {
        let response = self.site.ask(&Request::post(message).at(&self.target));
        assert_eq!(
            (response.status, response.text()),
            (202, ""),
            "{response:?}"
        );
    }
}

fn server() -> Server {
    Server::builder("old", "1")
        .tool("now", "", || async { "now" })
        .tool("roots", "", |context: Context| async move {
            let roots = context.roots().await;
            format!("{}", roots.map_or(0, |roots| roots.len()))
        })
        .build()
        .expect("a server")
}

/// SSE-01, SSE-02, SSE-04, SSE-07: whatever version is agreed on.
#[test]
fn a_session_of_the_old_transport() {
    let site = Site::new(&server());
    for version in ["2024-11-05", "2025-11-25"] {
        let mut old = Old::new(&site);
        old.initialize(version);
        old.post(&request(1, "tools/call", &json!({ "name": "now" })));
        let event = old.events.next().expect("an event");
        assert_eq!(event.name.as_deref(), Some("message"));
        assert_eq!((event.id, event.retry), (None, None), "SSE-08");
        let answer: Value = serde_json::from_str(&event.data.expect("data")).expect("JSON");
        assert_eq!(said(&answer), "now");
        // Questions come the same way.
        old.post(&request(2, "tools/call", &json!({ "name": "roots" })));
        let asked = old.events.message();
        assert_eq!(asked["method"], "roots/list", "{asked}");
        let roots = json!({ "roots": [{ "uri": "file:///a" }] });
        old.post(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": roots }));
        assert_eq!(said(&old.events.message()), "1");
        // What is wrong with a message is told there as well.
        old.post(&json!({ "jsonrpc": "2.0", "id": 3, "method": 4 }));
        assert_eq!(old.events.message()["error"]["code"], -32600);
    }
}

/// SSE-07: the session ends with its stream.
#[test]
fn the_session_ends_with_the_stream() {
    let site = Site::new(&server());
    let mut old = Old::new(&site);
    old.initialize("2024-11-05");
    let target = old.target.clone();
    let other = Old::new(&site);
    assert_ne!(other.target, target);
    drop(old);
    until("it ends", || {
        let ping = request(1, "ping", &json!({}));
        std::thread::sleep(Duration::from_millis(20));
        site.ask(&Request::post(ping).at(&target)).status == 404
    });
    let never = "/mcp?sessionId=00000000000000000000000000000000";
    let ping = Request::post(request(1, "ping", &json!({})));
    assert_eq!(site.ask(&ping.clone().at(never)).status, 404);
    assert_eq!(site.ask(&ping.at("/mcp?sessionId=")).status, 400);
}

/// Switched off, a GET without a session is none.
#[test]
fn it_can_be_switched_off() {
    let site = Site::with(&server(), |http| {
        http.rules(HttpRules::new().http_sse(false))
    });
    assert_eq!(site.ask(&Request::get()).status, 400);
}

/// Streams that nobody begins a session in shut nobody out, and take nobody's session.
#[test]
fn unused_streams_give_way() {
    let site = Site::with(&server(), |http| {
        let mut limits = SessionLimits::default();
        limits.max_sessions = 4;
        http.session_limits(limits)
    });
    let idle = Session::new(&site, "2025-11-25");
    let mut used = Old::new(&site);
    used.initialize("2024-11-05");
    let flood: Vec<Old<'_>> = (0..20).map(|_| Old::new(&site)).collect();
    for _ in 0..2 {
        let response = site.ask(&initialize("2025-11-25", &json!({})));
        assert_eq!(response.status, 200, "{response:?}");
    }
    assert_eq!(idle.ask(&request(1, "tools/list", &json!({}))).status, 200);
    used.post(&request(2, "tools/call", &json!({ "name": "now" })));
    assert_eq!(said(&used.events.message()), "now");
    // All who had to give way see their streams end.
    for old in flood {
        old.events.rest();
    }
}
