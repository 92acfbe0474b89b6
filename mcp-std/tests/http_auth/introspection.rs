//! Tokens that their issuer is asked about.

use std::time::Duration;

use mcp_std::http::auth::{Introspection, Issuer as Trusted, ResourceServer};
use serde_json::{Value, json};

use crate::issuer::{Issuer, RESOURCE, now};
use crate::keys::Signer;
use crate::protected::{Protected, parameter};
use crate::site::said;

fn introspection(issuer: &Issuer) -> Introspection {
    Introspection::new(format!("{}/introspect", issuer.url), "mcp:1", "s3cret/+ü")
}

fn by(issuer: &Issuer, introspection: Introspection) -> Protected {
    let trusted = Trusted::introspected(&issuer.url, introspection);
    Protected::new(ResourceServer::builder(RESOURCE).issuer(trusted))
}

fn active(issuer: &Issuer, change: &Value) -> Value {
    let mut claims = issuer.claims_with(change);
    claims["active"] = true.into();
    claims
}

/// RFC 7662.
#[test]
fn the_issuer_is_asked_once_for_a_while() {
    let issuer = Issuer::empty();
    issuer.knows(
        "opaque",
        &active(&issuer, &json!({ "iss": null, "exp": null })),
    );
    let protected = by(&issuer, introspection(&issuer));
    for _ in 0..3 {
        let response = protected.who("opaque");
        assert_eq!(said(&response.message()), "true alice app [read] null null");
    }
    let asked = issuer.state().asked.clone();
    // RFC 6749, section 2.3.1: "mcp%3A1:s3cret%2F%2B%C3%BC".
    assert_eq!(
        asked,
        [(
            "/introspect".to_owned(),
            "Basic bWNwJTNBMTpzM2NyZXQlMkYlMkIlQzMlQkM=".to_owned(),
            "token=opaque&token_type_hint=access_token".to_owned()
        )]
    );
    assert!(!format!("{:?}", introspection(&issuer)).contains("s3cret"));
}

#[test]
fn a_token_that_is_not_active_is_refused() {
    let issuer = Issuer::empty();
    let protected = by(&issuer, introspection(&issuer));
    for (token, answer) in [
        ("a", json!({ "active": false })),
        ("b", active(&issuer, &json!({ "active": "true" }))),
        ("c", json!({})),
    ] {
        let mut answer = answer;
        if token == "b" {
            answer["active"] = "true".into();
        }
        issuer.knows(token, &answer);
        let response = protected.who(token);
        assert_eq!(response.status, 401, "{token}");
        let error = parameter(&response, "error");
        assert_eq!(error.as_deref(), Some("invalid_token"));
    }
    assert_eq!(protected.who("unknown").status, 401);
}

/// RSV-04: that the issuer knows a token is not enough.
#[test]
fn what_the_issuer_says_is_checked() {
    let issuer = Issuer::empty();
    let protected = by(&issuer, introspection(&issuer));
    for (token, change) in [
        ("audience", json!({ "aud": "https://other.example" })),
        ("no-audience", json!({ "aud": null })),
        ("issuer", json!({ "iss": "https://other.example" })),
        ("expired", json!({ "exp": now() - 100 })),
        ("future", json!({ "nbf": now() + 100 })),
    ] {
        issuer.knows(token, &active(&issuer, &change));
        assert_eq!(protected.who(token).status, 401, "{token}");
    }
}

#[test]
fn a_revoked_token_ends_with_the_time_it_is_remembered() {
    let issuer = Issuer::empty();
    issuer.knows("opaque", &active(&issuer, &json!({})));
    let short = introspection(&issuer).cache_for(Duration::from_millis(300));
    let protected = by(&issuer, short);
    assert_eq!(protected.who("opaque").status, 200);
    issuer.knows("opaque", &json!({ "active": false }));
    std::thread::sleep(Duration::from_millis(350));
    assert_eq!(protected.who("opaque").status, 401);
    // Nothing is remembered of what was refused.
    issuer.knows("opaque", &active(&issuer, &json!({})));
    assert_eq!(protected.who("opaque").status, 200);
}

#[test]
fn an_issuer_that_does_not_answer_is_nobodys_refusal() {
    let issuer = Issuer::empty();
    let elsewhere = Introspection::new(format!("{}/nowhere", issuer.url), "a", "b");
    assert_eq!(by(&issuer, elsewhere).who("opaque").status, 503);
}

/// An opaque token goes to the issuer that is asked, a JWT to the one it names.
#[test]
fn issuers_of_both_kinds() {
    let key = Signer::es256("a");
    let (jwt, opaque) = (Issuer::new(&[&key]), Issuer::empty());
    opaque.knows("opaque", &active(&opaque, &json!({ "sub": "bob" })));
    let asked = Trusted::introspected(&opaque.url, introspection(&opaque));
    let builder = ResourceServer::builder(RESOURCE);
    let protected = Protected::new(builder.issuer(jwt.url.as_str()).issuer(asked));
    assert!(said(&protected.who("opaque").message()).contains("bob"));
    assert_eq!(opaque.hits("/introspect"), 1);
    let response = protected.who(&key.token(&jwt.claims()));
    assert!(said(&response.message()).contains("alice"));
    assert_eq!(opaque.hits("/introspect"), 1);
    // One that is for somebody else is shown to nobody.
    let foreign = key.token(&jwt.claims_with(&json!({ "iss": "https://bank.example" })));
    assert_eq!(protected.who(&foreign).status, 401);
    assert_eq!(opaque.hits("/introspect"), 1);
}
