//! From a refusal to a token, and from a token to another.

use core::time::Duration;
use std::sync::Arc;
use std::thread;

use mcp_std::client::{CallError, ConnectError, HttpFault};
use serde_json::json;

use crate::site::Answer;
use crate::world::{BACK, RESOURCE, SERVER, World, call, user};

#[test]
fn oa_04_oa_15_ve_03_a_refusal_leads_to_a_login_and_every_request_has_the_token() {
    let world = World::new();
    let client = world.connect(user()).expect("a connection");
    assert_eq!(call(&client, "read").expect("an answer"), "read");
    // DSC-02, DSC-04: one request for each document.
    assert_eq!(world.server.asked(RESOURCE).len(), 1);
    assert_eq!(world.issuer.asked(SERVER).len(), 1);
    // REG-07, RFR-01.
    let registered = &world.issuer.asked("/register")[0].json();
    assert_eq!(registered["application_type"], "native");
    assert_eq!(registered["redirect_uris"], json!([BACK]));
    assert_eq!(registered["client_name"], "test");
    assert_eq!(registered["token_endpoint_auth_method"], "none");
    // PKC-01, RSI-01, SCP-01.
    let visit = &world.issuer.asked("/authorize")[0];
    let token = &world.issuer.asked("/token")[0];
    for (name, expected) in [
        ("response_type", "code"),
        ("client_id", "client-1"),
        ("code_challenge_method", "S256"),
        ("scope", "read"),
        ("resource", &world.url()),
    ] {
        assert_eq!(visit.parameter(name).as_deref(), Some(expected), "{name}");
    }
    assert_eq!(token.parameter("resource"), Some(world.url()));
    assert_eq!(token.parameter("redirect_uri").as_deref(), Some(BACK));
    assert_eq!(token.verb, "POST");
    assert!(token.field("authorization").is_none());
    // TOK-01: all but the first one, and never in the query.
    let requests = world.server.asked("/mcp");
    assert!(requests.len() >= 3 && requests[0].field("authorization").is_none());
    for request in &requests[1..] {
        assert_eq!(request.field("authorization"), Some("Bearer access-3"));
        assert_eq!(request.query, "");
    }
}

#[test]
fn oa_04_oa_07_a_token_that_expires_is_refreshed_and_the_refresh_token_rotates() {
    let world = World::new();
    world.given.lock().expect("no panic").expires_in = Some(0);
    let client = world.connect(user()).expect("a connection");
    // Expired at once, so it is replaced before it is shown.
    assert_eq!(world.grants(), ["authorization_code", "refresh_token"]);
    world.revoke();
    assert_eq!(call(&client, "read").expect("an answer"), "read");
    assert_eq!(world.visits(), 1);
    let asked = world.issuer.asked("/token");
    let used: Vec<_> = asked
        .iter()
        .filter_map(|it| it.parameter("refresh_token"))
        .collect();
    assert_eq!(used, ["refresh-4", "refresh-6"]);
    assert!(
        asked
            .iter()
            .all(|it| it.parameter("resource") == Some(world.url()))
    );
}

#[test]
fn oa_08_a_refresh_token_that_is_over_leads_to_the_user() {
    let world = World::new();
    let client = world.connect(user()).expect("a connection");
    world.revoke();
    world.given.lock().expect("no panic").refresh.clear();
    assert_eq!(call(&client, "read").expect("an answer"), "read");
    let grants = ["authorization_code", "refresh_token", "authorization_code"];
    assert_eq!(world.grants(), grants);
    // The registration is still good.
    assert_eq!(world.issuer.asked("/register").len(), 1);
}

#[test]
fn oa_08_requests_that_are_refused_at_once_share_one_login() {
    let world = World::new();
    let client = world.connect(user()).expect("a connection");
    world.revoke();
    world.given.lock().expect("no panic").refresh.clear();
    let client = Arc::new(client);
    let calls = [(); 8].map(|()| {
        let client = client.clone();
        thread::spawn(move || call(&client, "read"))
    });
    for one in calls {
        assert_eq!(one.join().expect("no panic").expect("an answer"), "read");
    }
    assert_eq!(world.visits(), 2);
}

#[test]
fn oa_12_a_step_up_asks_for_what_there_was_too() {
    let world = World::new();
    let client = world.connect(user()).expect("a connection");
    assert_eq!(call(&client, "write").expect("an answer"), "write");
    assert_eq!(call(&client, "write").expect("an answer"), "write");
    let visits = world.issuer.asked("/authorize");
    let scopes: Vec<_> = visits
        .iter()
        .filter_map(|it| it.parameter("scope"))
        .collect();
    // SCP-03.
    assert_eq!(scopes, ["read", "read write"]);
    assert_eq!(world.issuer.asked("/register").len(), 1);
    let grants = ["authorization_code", "authorization_code"];
    assert_eq!(world.grants(), grants);
}

#[test]
fn another_authorization_server_gets_nothing_of_the_first_one() {
    let world = World::new();
    let client = world.connect(user()).expect("a connection");
    let second = world.another_issuer();
    let mut resource = world.resource();
    resource["authorization_servers"] = json!([second.origin()]);
    world
        .server
        .replace(RESOURCE, move |_| Answer::json(&resource));
    world.revoke();
    assert_eq!(call(&client, "read").expect("an answer"), "read");
    // REG-09, DSC-10: it registers anew, and the refresh token of the first one stays where it is.
    assert_eq!(second.asked("/register").len(), 1);
    let first = world.issuer.asked("/authorize")[0].parameter("client_id");
    let first = first.expect("a client id");
    for asked in second.all() {
        let text = format!("{asked:?}");
        assert!(!text.contains("refresh") || asked.path == "/register");
        assert!(!text.contains(&first), "{text}");
    }
    assert_eq!(world.issuer.asked("/token").len(), 1);
}

#[test]
fn a_server_of_2025_03_26_is_its_own_authorization_server() {
    // DSC-08: without any metadata the endpoints are where they are by default.
    let world = World::legacy();
    let client = world.connect(user()).expect("a connection");
    assert_eq!(call(&client, "read").expect("an answer"), "read");
    let visit = &world.server.asked("/authorize")[0];
    assert_eq!(
        visit.parameter("code_challenge_method").as_deref(),
        Some("S256")
    );
    let metadata = &world.server.asked(SERVER)[0];
    assert_eq!(metadata.field("mcp-protocol-version"), Some("2025-03-26"));
    // DSC-09: it is a switch.
    let world = World::legacy();
    let refused = world.connect(user().legacy(false)).expect_err("no way");
    assert!(
        refused.to_string().contains("does not say where"),
        "{refused}"
    );
    assert!(world.server.asked("/register").is_empty());
}

#[test]
fn who_is_not_logged_in_is_told_so() {
    let world = World::new();
    let error = world
        .connect(user().unattended())
        .expect_err("nobody is there");
    let ConnectError::Http(fault @ HttpFault::Unauthorized { .. }) = &error else {
        panic!("{error:?}");
    };
    assert!(fault.is_uncommitted() && !fault.is_transient());
    assert!(world.issuer.asked("/register").is_empty());
    let client = world.connect(user()).expect("a connection");
    world.revoke();
    world.issuer.replace("/token", |_| {
        Answer::json(&json!({"error": "invalid_grant", "error_description": "over"}))
            .body_status(400)
    });
    let refused = smol::block_on(client.call_tool("read", &())).expect_err("no token");
    let CallError::Http { fault, .. } = &refused else {
        panic!("{refused:?}");
    };
    assert!(matches!(fault, HttpFault::Unauthorized { .. }));
    assert!(
        fault.to_string().contains("invalid_grant (over)"),
        "{fault}"
    );
    // It is not tried again and again.
    let before = world.issuer.all().len();
    call(&client, "read").expect_err("no token");
    assert_eq!(world.issuer.all().len(), before);
}

#[test]
fn the_time_of_the_user_does_not_count() {
    let world = World::new();
    let auth = mcp_std::auth::Auth::code().redirect(BACK, |page| async move {
        smol::Timer::after(Duration::from_millis(700)).await;
        let answer = smol::unblock(move || crate::site::get(&page, None)).await;
        crate::site::field(&answer, "location").ok_or_else(|| "no way back".to_owned())
    });
    let url = world.url();
    let client = mcp_std::Client::builder("test", "1")
        .proxy(mcp_std::client::Proxy::None)
        .connect_timeout(Duration::from_millis(500))
        .request_timeout(Duration::from_millis(400))
        .auth(auth)
        .connect_http(&url);
    let client = smol::block_on(client).expect("a connection");
    assert_eq!(client.version().as_str(), "2026-07-28");
    assert_eq!(call(&client, "write").expect("an answer"), "write");
    assert_eq!(world.visits(), 2);
    // Afterwards it counts again.
    world.server.replace("/mcp", |_| {
        thread::sleep(Duration::from_secs(2));
        Answer::status(500)
    });
    let late = smol::block_on(client.call_tool("read", &())).expect_err("no answer");
    assert!(matches!(late, CallError::Timeout(_)), "{late}");
}
