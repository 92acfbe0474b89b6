//! The examples do what they show.

use std::process::Command;

use serde_json::json;

use crate::example::{Example, path};
use crate::site::{Request, initialize, notification, request, said};

/// `nap` in both eras: in the legacy one its handler goes on where the spawner says.
fn naps(example: &Example, user: Option<&str>) -> String {
    let nap = json!({ "name": "nap", "arguments": { "ms": 5 } });
    let modern = Request::modern(1, "tools/call", &nap);
    let answer = example.ask(user, modern);
    assert_eq!(said(&answer.message()), "slept for 5 ms");
    let opened = example.ask(user, initialize("2025-11-25", &json!({})));
    let id = opened.header("mcp-session-id").expect("a session");
    let of_session = |message| Request::post(message).with("mcp-session-id", id);
    let initialized = notification("notifications/initialized", &json!({}));
    assert_eq!(example.ask(user, of_session(initialized)).status, 202);
    let answer = example.ask(user, of_session(request(2, "tools/call", &nap)));
    assert_eq!(said(&answer.message()), "slept for 5 ms");
    id.to_owned()
}

#[test]
fn server_http_and_client_http() {
    let example = Example::start("server_http", &[]);
    let client = Command::new(path("client_http")).arg(&example.url).output();
    let client = client.expect("it runs");
    let printed = String::from_utf8(client.stdout).expect("UTF-8");
    let expected = "2026-07-28\necho: Says the text again\nhello\n";
    assert_eq!(printed, expected, "{:?}", client.stderr);
    let named = |host| {
        let ping = Request::modern(1, "server/discover", &json!({}));
        example.ask(None, ping.set("host", host)).status
    };
    assert_eq!(named("mcp.example.com"), 200);
    assert_eq!(named("other.example.com"), 403);
    assert!(example.end());
}

#[test]
fn server_http_tokio() {
    naps(&Example::start("server_http_tokio", &[]), None);
}

/// Clients find their way from a path below an application to where tokens come from.
#[cfg(feature = "auth")]
#[test]
fn server_axum_auth() {
    let example = Example::start("server_axum_auth", &[]);
    let who = || Request::modern(1, "tools/call", &json!({ "name": "who" })).at("/api/mcp");
    let refused = example.ask(None, who());
    assert_eq!(refused.status, 401);
    let challenge = refused.header("www-authenticate").expect("a challenge");
    let (origin, _) = example.url.split_at(example.url.len() - "/api/mcp".len());
    let (_, place) = challenge.split_once(origin).expect("of the same origin");
    let (place, _) = place.split_once('"').expect("a quoted string");
    for place in [place, "/.well-known/oauth-protected-resource"] {
        let metadata = example.ask(None, Request::new("GET").at(place));
        assert_eq!(metadata.message()["resource"], *example.url, "{place}");
    }
    let answer = example.ask(Some("alice"), who());
    assert_eq!(said(&answer.message()), "alice");
}

/// LH-34: a session is of the user who began it.
#[test]
fn server_axum() {
    let example = Example::start("server_axum", &[]);
    let health = example.ask(None, Request::new("GET").at("/health"));
    assert_eq!((health.status, health.text()), (200, "well"));
    let nap = json!({ "name": "nap", "arguments": { "ms": 5 } });
    let modern = Request::modern(1, "tools/call", &nap);
    assert_eq!(example.ask(None, modern.clone()).status, 401);
    assert_eq!(example.ask(Some("eve"), modern.clone()).status, 401);
    let id = naps(&example, Some("alice"));
    let call = Request::post(request(3, "tools/call", &nap)).with("mcp-session-id", &id);
    assert_eq!(example.ask(Some("bob"), call).status, 404);
    let delete = Request::new("DELETE").with("mcp-session-id", &id);
    assert_eq!(example.ask(Some("bob"), delete.clone()).status, 404);
    assert_eq!(example.ask(Some("alice"), delete).status, 204);
}
