//! What everybody may know.

use serde_json::json;

use crate::issuer::{Issuer, RESOURCE};
use crate::protected::{Protected, builder};
use crate::site::{Request, Site};

const PLACE: &str = "/.well-known/oauth-protected-resource";

/// OA-01: without a token. RSV-01, RSV-02, RSV-09.
#[test]
fn oa_01_metadata_are_at_both_places() {
    let issuer = Issuer::new(&[]);
    let builder = builder(&issuer)
        .scopes(["read"])
        .tool_scopes("deploy", ["deploy"])
        .name("Ops")
        .documentation("https://mcp.example.com/help");
    let protected = Protected::new(builder);
    for target in ["", "/", "/mcp", "/mcp/"].map(|path| format!("{PLACE}{path}")) {
        // Any `Accept`, host and page.
        let request = Request::new("GET")
            .at(&target)
            .set("host", "mcp.example.com")
            .with("origin", "https://app.example");
        let response = protected.site.ask(&request);
        assert_eq!(response.status, 200);
        assert_eq!(response.header("content-type"), Some("application/json"));
        assert_eq!(response.header("access-control-allow-origin"), Some("*"));
        assert_eq!(
            response.message(),
            json!({
                "resource": RESOURCE,
                "authorization_servers": [issuer.url],
                "bearer_methods_supported": ["header"],
                "scopes_supported": ["read"],
                "resource_name": "Ops",
                "resource_documentation": "https://mcp.example.com/help",
            })
        );
    }
}

#[test]
fn scopes_are_told_as_they_are_chosen() {
    let issuer = Issuer::new(&[]);
    let told = |builder| {
        let protected = Protected::new(builder);
        let request = Request::new("GET").at(PLACE);
        protected.site.ask(&request).message()["scopes_supported"].clone()
    };
    assert_eq!(told(builder(&issuer)), json!(null));
    let chosen = builder(&issuer).scopes(["a"]).scopes_supported(["a", "b"]);
    assert_eq!(told(chosen), json!(["a", "b"]));
}

/// OA-01: preflights need no token either.
#[test]
fn oa_01_browsers_may_ask_first() {
    let issuer = Issuer::new(&[]);
    let protected = Protected::by(&issuer);
    let request = Request::new("OPTIONS")
        .at(PLACE)
        .with("origin", "https://app.example")
        .with("access-control-request-method", "GET")
        .with("access-control-request-headers", "mcp-protocol-version");
    let response = protected.site.ask(&request);
    assert_eq!(response.status, 204);
    assert_eq!(response.header("access-control-allow-origin"), Some("*"));
    assert_eq!(response.header("access-control-allow-headers"), Some("*"));
}

/// OA-01: what is not there is 404, and no 401.
#[test]
fn oa_01_nothing_else_is_there() {
    let issuer = Issuer::new(&[]);
    let protected = Protected::by(&issuer);
    let status = |method: &str, target: &str| {
        let mut client = protected.site.connect();
        client.begin(&Request::new(method).at(target)).status
    };
    assert_eq!(status("HEAD", PLACE), 200);
    for method in ["POST", "PUT", "DELETE"] {
        assert_eq!(status(method, PLACE), 405, "{method}");
    }
    for target in [
        "/.well-known/oauth-authorization-server",
        "/.well-known/openid-configuration",
        "/.well-known/oauth-protected-resource/other",
        "/.well-known/oauth-protected-resource/mcp/other",
        "/.well-known/oauth-protected-resource//",
        "/.well-known/oauth-protected-resourcemcp",
    ] {
        assert_eq!(status("GET", target), 404, "{target}");
    }
}

/// Without it there is nothing of it.
#[test]
fn a_server_without_it_has_none() {
    let server = mcp_std::Server::builder("open", "1").build();
    let site = Site::new(&server.expect("a server"));
    let json = Request::new("GET").with("accept", "application/json");
    let response = site.ask(&json.at(PLACE));
    assert_eq!(response.status, 406);
    let discover = Request::modern(1, "server/discover", &json!({}));
    assert_eq!(site.ask(&discover).status, 200);
}
