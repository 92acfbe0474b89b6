//! Keys of issuers come and go, and so do issuers.

use std::time::{Duration, Instant};

use mcp_std::http::auth::{Issuer as Trusted, ResourceServer};
use serde_json::json;

use crate::issuer::{Issuer, RESOURCE};
use crate::keys::Signer;
use crate::protected::Protected;
use crate::site::until;

fn quick(issuer: &Issuer) -> Trusted {
    Trusted::new(&issuer.url)
        .refresh_interval(Duration::from_millis(300))
        .refresh_after(Duration::from_secs(60))
}

fn by(trusted: Trusted) -> Protected {
    Protected::new(ResourceServer::builder(RESOURCE).issuer(trusted))
}

#[test]
fn a_new_key_is_fetched_when_a_token_names_it() {
    let (old, new) = (Signer::es256("old"), Signer::es256("new"));
    let issuer = Issuer::new(&[&old]);
    let protected = by(quick(&issuer));
    assert_eq!(protected.who(&old.token(&issuer.claims())).status, 200);
    issuer.set_keys(&[&old, &new]);
    std::thread::sleep(Duration::from_millis(350));
    assert_eq!(protected.who(&new.token(&issuer.claims())).status, 200);
    assert_eq!(protected.who(&old.token(&issuer.claims())).status, 200);
    assert_eq!(issuer.hits("/keys"), 2);
}

#[test]
fn it_is_asked_once_in_an_interval() {
    let key = Signer::es256("a");
    let issuer = Issuer::new(&[&key]);
    let protected = by(quick(&issuer));
    let stranger = Signer::es256("x").token(&issuer.claims());
    let began = Instant::now();
    while began.elapsed() < Duration::from_millis(1000) {
        assert_eq!(protected.who(&stranger).status, 401);
    }
    let most = began.elapsed().as_millis() / 300 + 1;
    let hits = issuer.hits("/keys") as u128;
    assert!((2..=most).contains(&hits), "{hits}");
}

/// A key that the issuer took back is not accepted any more, after a while.
#[test]
fn an_old_key_is_forgotten() {
    let (old, new) = (Signer::es256("old"), Signer::es256("new"));
    let issuer = Issuer::new(&[&old]);
    let protected = by(quick(&issuer).refresh_after(Duration::from_millis(300)));
    let claims = |n: u32| issuer.claims_with(&json!({ "jti": n }));
    assert_eq!(protected.who(&old.token(&claims(0))).status, 200);
    issuer.set_keys(&[&new]);
    std::thread::sleep(Duration::from_millis(350));
    // This one sees that they have become old, and does not wait.
    assert_eq!(protected.who(&old.token(&claims(1))).status, 200);
    until("the keys are fetched", || issuer.hits("/keys") == 2);
    until("the key is forgotten", || {
        protected.who(&old.token(&claims(2))).status == 401
    });
}

#[test]
fn keys_are_used_while_their_issuer_is_down_but_not_for_ever() {
    let key = Signer::es256("a");
    let issuer = Issuer::new(&[&key]);
    let trusted = quick(&issuer)
        .refresh_after(Duration::from_millis(100))
        .stale_for(Duration::from_secs(4));
    let protected = by(trusted);
    let claims = |n: u32| issuer.claims_with(&json!({ "jti": n }));
    assert_eq!(protected.who(&key.token(&claims(0))).status, 200);
    issuer.page("/keys", 500, &json!({}));
    std::thread::sleep(Duration::from_millis(400));
    for n in 1..5 {
        assert_eq!(protected.who(&key.token(&claims(n))).status, 200);
    }
    until("it is asked again", || issuer.hits("/keys") >= 2);
    let began = Instant::now();
    until("they are too old", || {
        std::thread::sleep(Duration::from_millis(100));
        // Another one each time: what was accepted is remembered.
        let n = 9 + began.elapsed().as_millis() as u32;
        protected.who(&key.token(&claims(n))).status == 503
    });
    // And it comes back.
    issuer.set_keys(&[&key]);
    until("it is there again", || {
        protected.who(&key.token(&claims(8))).status == 200
    });
}

#[test]
fn an_issuer_that_was_never_there_is_nobodys_refusal() {
    let key = Signer::es256("a");
    let url = Issuer::empty().url.clone();
    let protected = by(Trusted::new(&url));
    let claims =
        json!({ "iss": url, "sub": "a", "aud": RESOURCE, "exp": crate::issuer::now() + 60 });
    let response = protected.who(&key.token(&claims));
    assert_eq!(response.status, 503, "{response:?}");
    assert_eq!(response.header("retry-after"), Some("5"));
}

/// DSC-04.
#[test]
fn metadata_are_found_where_issuers_put_them() {
    let key = Signer::es256("a");
    for (path, place) in [
        ("", "/.well-known/openid-configuration"),
        ("/t1", "/.well-known/oauth-authorization-server/t1"),
        ("/t1", "/.well-known/openid-configuration/t1"),
        ("/t1", "/t1/.well-known/openid-configuration"),
        ("/", "/.well-known/oauth-authorization-server"),
    ] {
        let issuer = Issuer::empty();
        issuer.set_keys(&[&key]);
        let url = format!("{}{path}", issuer.url);
        let metadata = json!({ "issuer": url, "jwks_uri": format!("{}/keys", issuer.url) });
        issuer.page(place, 200, &metadata);
        let protected = by(Trusted::new(&url));
        let token = key.token(&issuer.claims_with(&json!({ "iss": url })));
        assert_eq!(protected.who(&token).status, 200, "{place}");
        let last = issuer.state().asked.len() - 2;
        assert_eq!(issuer.state().asked[last].0, place);
    }
}

#[test]
fn keys_may_be_at_a_place_that_is_given() {
    let key = Signer::es256("a");
    let issuer = Issuer::empty();
    issuer.set_keys(&[&key]);
    let protected = by(Trusted::new(&issuer.url).jwks_uri(format!("{}/keys", issuer.url)));
    assert_eq!(protected.who(&key.token(&issuer.claims())).status, 200);
    assert_eq!(issuer.state().asked.len(), 1);
}
