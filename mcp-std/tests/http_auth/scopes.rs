//! What a token has to be good for, and what a client is told whose token is not.

use serde_json::{Value, json};

use crate::issuer::Issuer;
use crate::keys::Signer;
use crate::protected::{Protected, bearing, builder, call, parameter};
use crate::site::{Request, Response, initialize, request, said};

struct Scoped {
    key: Signer,
    issuer: Issuer,
    protected: Protected,
}

impl Scoped {
    fn new() -> Self {
        let key = Signer::es256("a");
        let issuer = Issuer::new(&[&key]);
        let builder = builder(&issuer)
            .scopes(["read"])
            .method_scopes("tools/call", ["call"])
            .tool_scopes("deploy", ["deploy"])
            .implies("admin", ["read", "call", "deploy"]);
        let protected = Protected::new(builder);
        Self {
            key,
            issuer,
            protected,
        }
    }

    fn token(&self, scope: &str) -> String {
        let claims = self.issuer.claims_with(&json!({ "scope": scope }));
        self.key.token(&claims)
    }

    fn ask(&self, request: Request, scope: &str) -> Response {
        self.protected
            .site
            .ask(&bearing(request, &self.token(scope)))
    }
}

fn lacks(response: &Response, scopes: &str) {
    assert_eq!(response.status, 403, "{response:?}");
    let error = parameter(response, "error");
    assert_eq!(error.as_deref(), Some("insufficient_scope"));
    assert_eq!(parameter(response, "scope").as_deref(), Some(scopes));
    let metadata = parameter(response, "resource_metadata");
    assert!(metadata.is_some_and(|url| url.ends_with("/.well-known/oauth-protected-resource/mcp")));
    assert!(parameter(response, "error_description").is_some());
}

/// OA-10: in the usual form. RSV-03: before there is any token.
#[test]
fn oa_10_the_first_challenge_says_what_everything_takes() {
    let scoped = Scoped::new();
    let response = scoped.protected.site.ask(&call("deploy"));
    assert_eq!(response.status, 401);
    assert_eq!(parameter(&response, "scope").as_deref(), Some("read"));
    assert_eq!(parameter(&response, "error"), None);
}

/// OA-10: with the error. RSV-06, RSV-07: all of them in one challenge.
#[test]
fn oa_10_a_missing_scope_is_told_before_any_handler_runs() {
    let scoped = Scoped::new();
    lacks(&scoped.ask(call("who"), ""), "read");
    lacks(&scoped.ask(call("who"), "read"), "read call");
    lacks(&scoped.ask(call("who"), "call deploy"), "read");
    lacks(&scoped.ask(call("deploy"), "read"), "read call deploy");
    lacks(&scoped.ask(call("deploy"), "read call"), "read call deploy");
    lacks(
        &scoped.ask(call("deploy"), "read call Deploy"),
        "read call deploy",
    );
    assert_eq!(scoped.protected.runs(), 0);
    assert_eq!(scoped.ask(call("who"), "read call").status, 200);
    assert_eq!(scoped.ask(call("deploy"), "read call deploy").status, 200);
    assert_eq!(scoped.protected.runs(), 2);
    let list = Request::modern(1, "tools/list", &json!({}));
    assert_eq!(scoped.ask(list, "read").status, 200);
}

/// RSV-08.
#[test]
fn a_broader_scope_is_enough() {
    let scoped = Scoped::new();
    let response = scoped.ask(call("deploy"), "admin");
    assert_eq!(
        said(&response.message()),
        "true alice app [admin call deploy read] null null"
    );
}

/// All that everything takes, for requests without a body as well.
#[test]
fn requests_without_a_body_take_scopes() {
    let scoped = Scoped::new();
    let id = scoped
        .protected
        .session("2025-11-25", &scoped.token("read"));
    for request in [Request::get(), Request::new("DELETE")] {
        let request = request.with("mcp-session-id", &id);
        lacks(&scoped.ask(request, "call"), "read");
    }
    lacks(
        &scoped.ask(initialize("2025-11-25", &json!({})), "call"),
        "read",
    );
}

/// Of the legacy eras, and the same session goes on with the better token (step-up).
#[test]
fn a_session_goes_on_with_more_scopes() {
    let scoped = Scoped::new();
    let protected = &scoped.protected;
    for version in ["2025-03-26", "2025-06-18", "2025-11-25"] {
        let poor = scoped.token("read call");
        let id = protected.session(version, &poor);
        let call = |tool: &str| request(1, "tools/call", &json!({ "name": tool }));
        let ask = |token: &str, tool: &str| protected.in_session(&id, version, token, &call(tool));
        lacks(&ask(&poor, "deploy"), "read call deploy");
        let before = protected.runs();
        let rich = scoped.token("read call deploy");
        let response = ask(&rich, "deploy");
        assert!(said(&response.message()).contains("[call deploy read]"));
        // And what it may do does not stay behind.
        lacks(&ask(&poor, "deploy"), "read call deploy");
        let response = ask(&poor, "who");
        assert!(said(&response.message()).contains("[call read]"));
        assert_eq!(protected.runs(), before + 2);
    }
}

/// Each message of a batch, before the first one is served.
#[test]
fn batches_take_the_scopes_of_all_their_messages() {
    let scoped = Scoped::new();
    let protected = &scoped.protected;
    let poor = scoped.token("read call");
    let id = protected.session("2025-03-26", &poor);
    let call = |id: u32, tool: &str| request(id, "tools/call", &json!({ "name": tool }));
    let ask = |scope: &str, batch: &Value| {
        let token = scoped.token(scope);
        protected.in_session(&id, "2025-03-26", &token, batch)
    };
    let batch = json!([call(1, "who"), call(2, "deploy")]);
    lacks(&ask("read call", &batch), "read call deploy");
    lacks(&ask("read deploy", &batch), "read call deploy");
    assert_eq!(protected.runs(), 0);
    assert_eq!(ask("read call deploy", &batch).status, 200);
    assert_eq!(protected.runs(), 2);
    let innocent = json!([call(1, "who"), request(2, "tools/list", &json!({}))]);
    assert_eq!(ask("read call", &innocent).status, 200);
}
