//! The end of a login (RFC 7009).

use mcp_std::auth::{AuthError, LoggedOut};
use serde_json::json;

use crate::site::Answer;
use crate::world::{World, user};

/// A world whose authorization server answers so when it is told that a token is over.
fn world(answer: impl Fn(&str) -> Answer + Send + Sync + 'static) -> World {
    let world = World::new();
    let endpoint = format!("{}/revoke", world.issuer.origin());
    world.with_metadata(|it| it["revocation_endpoint"] = json!(endpoint));
    world.issuer.replace("/revoke", move |asked| {
        answer(&asked.parameter("token_type_hint").unwrap_or_default())
    });
    world
}

/// What a logout comes to after a login.
fn log_out(world: &World) -> LoggedOut {
    let auth = user();
    world.connect(auth.clone()).expect("a connection");
    assert!(auth.is_known(&world.url()).expect("a store"));
    let end = smol::block_on(auth.logout(&world.url())).expect("a store");
    // Whatever came of it.
    assert!(!auth.is_known(&world.url()).expect("a store"));
    let again = smol::block_on(auth.logout(&world.url())).expect("a store");
    assert_eq!(again, LoggedOut::Unknown);
    end
}

/// The hints of what was revoked, in order.
fn revoked(world: &World) -> Vec<String> {
    let asked = world.issuer.asked("/revoke");
    let hints = asked.iter().map(|it| it.parameter("token_type_hint"));
    hints.map(|hint| hint.expect("a hint")).collect()
}

#[test]
fn both_tokens_are_revoked_the_one_that_gives_more_first() {
    let world = world(|_| Answer::status(200));
    assert_eq!(log_out(&world), LoggedOut::Revoked);
    assert_eq!(revoked(&world), ["refresh_token", "access_token"]);
    let asked = world.issuer.asked("/revoke");
    let tokens: Vec<_> = asked.iter().map(|it| it.parameter("token")).collect();
    assert_eq!(
        tokens,
        ["refresh-4", "access-3"].map(|it| Some(it.to_owned()))
    );
    // As whom they were given to, and with nothing of it in the URL.
    for one in &asked {
        assert_eq!(one.verb, "POST");
        assert_eq!(one.parameter("client_id").as_deref(), Some("client-1"));
        assert_eq!(one.query, "");
    }
}

#[test]
fn a_kind_that_cannot_be_revoked_is_no_failure() {
    let world = world(|hint| match hint {
        "access_token" => {
            Answer::json(&json!({"error": "unsupported_token_type"})).body_status(400)
        }
        _ => Answer::status(200),
    });
    assert_eq!(log_out(&world), LoggedOut::Revoked);
}

#[test]
fn what_was_not_revoked_is_told_and_forgotten() {
    let down = world(|_| Answer::status(503));
    let LoggedOut::Unrevoked(error) = log_out(&down) else {
        panic!("it was not revoked");
    };
    assert!(error.is_transient(), "{error}");
    let refused = world(|_| Answer::json(&json!({"error": "invalid_client"})).body_status(401));
    let LoggedOut::Unrevoked(AuthError::Refused { error, .. }) = log_out(&refused) else {
        panic!("it was not revoked");
    };
    assert_eq!(error, "invalid_client");
    assert_eq!(revoked(&refused), ["refresh_token"]);
    // Where it cannot be told.
    assert_eq!(log_out(&World::new()), LoggedOut::Forgotten);
    assert_eq!(log_out(&World::legacy()), LoggedOut::Forgotten);
}

#[test]
fn tokens_are_not_revoked_at_a_place_in_the_clear() {
    let world = World::new();
    let auth = user();
    world.connect(auth.clone()).expect("a connection");
    world.with_metadata(|it| it["revocation_endpoint"] = json!("http://as.example/revoke"));
    let end = smol::block_on(auth.logout(&world.url())).expect("a store");
    assert!(
        matches!(end, LoggedOut::Unrevoked(AuthError::Url { .. })),
        "{end:?}"
    );
    // Nor where another one's metadata say so.
    let world = World::new();
    let auth = user();
    world.connect(auth.clone()).expect("a connection");
    world.with_metadata(|it| it["issuer"] = json!("https://evil.example"));
    let end = smol::block_on(auth.logout(&world.url())).expect("a store");
    assert!(
        matches!(end, LoggedOut::Unrevoked(AuthError::Issuer { .. })),
        "{end:?}"
    );
}
