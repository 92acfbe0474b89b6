//! Streams are not open for longer than their token is good.

use std::time::{Duration, Instant};

use mcp_std::Server;
use serde_json::json;

use crate::issuer::{Issuer, now};
use crate::keys::Signer;
use crate::protected::{bearing, builder};
use crate::site::{Request, Site, initialize, said};

fn site(issuer: &Issuer) -> Site {
    let server = Server::builder("streams", "1")
        .list_changes()
        .tool("slow", "", || async {
            async_io::Timer::after(Duration::from_millis(3500)).await;
            "done"
        })
        .build()
        .expect("a server");
    let auth = builder(issuer).skew(Duration::ZERO).build();
    let auth = auth.expect("a resource server");
    Site::with(&server, |http| http.auth(auth))
}

#[test]
fn a_stream_ends_with_its_token() {
    let key = Signer::es256("a");
    let issuer = Issuer::new(&[&key]);
    let site = site(&issuer);
    let long = key.token(&issuer.claims());
    let begin = bearing(initialize("2025-11-25", &json!({})), &long);
    let id = site.ask(&begin);
    let id = id.header("mcp-session-id").expect("a session");
    let listen = json!({ "notifications": { "toolsListChanged": true } });
    for request in [
        Request::get()
            .with("mcp-session-id", id)
            .with("mcp-protocol-version", "2025-11-25"),
        Request::modern(1, "subscriptions/listen", &listen),
        // That of 2024-11-05.
        Request::get(),
    ] {
        let short = key.token(&issuer.claims_with(&json!({ "exp": now() + 3 })));
        let began = Instant::now();
        let stream = site.connect().stream(&bearing(request.clone(), &short));
        stream.rest();
        let took = began.elapsed();
        assert!(took > Duration::from_millis(1500), "{took:?}");
        // With another one it is opened again.
        let again = site.connect().begin(&bearing(request, &long));
        assert_eq!(again.status, 200);
    }
}

/// What was begun in time is answered.
#[test]
fn a_call_goes_on_beyond_its_token() {
    let key = Signer::es256("a");
    let issuer = Issuer::new(&[&key]);
    let site = site(&issuer);
    let short = key.token(&issuer.claims_with(&json!({ "exp": now() + 3 })));
    let call = Request::modern(1, "tools/call", &json!({ "name": "slow" }));
    let response = site.ask(&bearing(call.clone(), &short));
    assert_eq!(said(&response.message()), "done");
    assert_eq!(site.ask(&bearing(call, &short)).status, 401);
}
