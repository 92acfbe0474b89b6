//! Hosts, and the pages of browsers.

use mcp_std::Server;
use mcp_std::http::HttpRules;
use serde_json::json;

use crate::site::{Request, Site};

fn server() -> Server {
    Server::builder("pages", "1").build().expect("a server")
}

fn discover() -> Request {
    Request::modern(1, "server/discover", &json!({}))
}

/// HS-03, HTTP-04.
#[test]
fn hs_03_hosts_are_of_this_machine() {
    let site = Site::new(&server());
    for (host, expected) in [
        ("localhost", 200),
        ("localhost.:3000", 200),
        ("[::1]:3000", 200),
        ("127.0.0.1", 200),
        ("evil.example", 403),
        ("evil.example:3000", 403),
        ("127.0.0.1.evil.example", 403),
        ("localhost:99x", 400),
        ("", 400),
    ] {
        // Before the body is looked at.
        for body in ["", "{"] {
            let request = discover().set("host", host);
            let request = if body.is_empty() {
                request
            } else {
                request.saying(body)
            };
            let response = site.ask(&request);
            let expected = if expected == 200 && !body.is_empty() {
                400
            } else {
                expected
            };
            assert_eq!(response.status, expected, "{host}: {response:?}");
        }
    }
    let twice = discover().with("host", "localhost");
    assert_eq!(site.ask(&twice).status, 400);
    assert_eq!(site.ask(&discover().without("host")).status, 400);
    let named = Site::with(&server(), |http| {
        http.rules(HttpRules::new().host("mcp.example.com"))
    });
    let request = discover().set("host", "MCP.example.com:8443");
    assert_eq!(named.ask(&request).status, 200);
}

/// HS-04, HTTP-02: for each method.
#[test]
fn hs_04_origins_are_of_this_machine() {
    let site = Site::new(&server());
    for (origin, permitted) in [
        ("http://localhost:5173", true),
        ("http://[::1]:3000", true),
        ("null", false),
        ("https://evil.example", false),
        ("http://localhost.evil.example", false),
        ("", false),
    ] {
        for request in [
            discover(),
            Request::get().with("mcp-session-id", "x"),
            Request::new("DELETE").with("mcp-session-id", "x"),
            Request::new("OPTIONS"),
            Request::new("PUT"),
        ] {
            let response = site.ask(&request.clone().with("origin", origin));
            assert_eq!(response.status != 403, permitted, "{origin} {request:?}");
            let told = response.header("access-control-allow-origin");
            assert_eq!(told, permitted.then_some(origin));
        }
    }
    let twice = discover()
        .with("origin", "http://localhost")
        .with("origin", "http://localhost");
    assert_eq!(site.ask(&twice).status, 403);
}

/// A page may send what it has to and read what it needs; the answer is not kept for another page.
#[test]
fn a_page_asks_beforehand() {
    let site = Site::new(&server());
    let preflight = Request::new("OPTIONS")
        .with("origin", "http://localhost:5173")
        .with("access-control-request-method", "POST")
        .with(
            "access-control-request-headers",
            "content-type,mcp-method,mcp-protocol-version",
        );
    let expected = "HTTP/1.1 204 No Content\n\
        allow: POST, GET, DELETE, OPTIONS\n\
        access-control-allow-methods: POST, GET, DELETE, OPTIONS\n\
        access-control-allow-headers: content-type,mcp-method,mcp-protocol-version\n\
        access-control-max-age: 600\n\
        access-control-allow-origin: http://localhost:5173\n\
        access-control-expose-headers: Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate\n\
        vary: Origin\n\n";
    assert_eq!(site.ask(&preflight).transcript(), expected);
    // What is no list of names is not repeated.
    let odd = preflight.set("access-control-request-headers", "a: b");
    let response = site.ask(&odd);
    assert_eq!(response.status, 204);
    assert_eq!(response.header("access-control-allow-headers"), None);
    // Who is no page is told what there is.
    let response = site.ask(&Request::new("OPTIONS"));
    assert_eq!(
        response.transcript(),
        "HTTP/1.1 204 No Content\nallow: POST, GET, DELETE, OPTIONS\n\n"
    );
    // Refusals can be read as well.
    let request = discover().without("mcp-method");
    let response = site.ask(&request.with("origin", "http://localhost"));
    assert_eq!(response.status, 400);
    let origin = response.header("access-control-allow-origin");
    assert_eq!(origin, Some("http://localhost"));
}
