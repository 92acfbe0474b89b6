//! Which tokens are accepted.

use mcp_std::Server;
use mcp_std::http::HttpRules;
use mcp_std::http::auth::{
    Algorithm, Claims, Issuer as Trusted, Rejection, ResourceServer, StaticTokens, Verifier,
    Verifying,
};
use serde_json::{Value, json};

use crate::issuer::{Issuer, RESOURCE, now};
use crate::keys::{Signer, encode};
use crate::protected::{Protected, bearing, builder, call, parameter};
use crate::site::{Request, Site, said};

/// RSV-04.
#[test]
fn tokens_of_each_algorithm_are_accepted() {
    let keys = [
        Signer::es256("a"),
        Signer::es384("b"),
        Signer::ed_dsa("c"),
        Signer::rsa("d"),
    ];
    let issuer = Issuer::new(&keys.iter().collect::<Vec<_>>());
    let protected = Protected::by(&issuer);
    for key in &keys {
        let response = protected.who(&key.token(&issuer.claims()));
        assert_eq!(
            said(&response.message()),
            "true alice app [read] null null",
            "{}",
            key.kid
        );
    }
    // One fetch for all of them.
    assert_eq!(issuer.hits("/keys"), 1);
}

#[test]
fn rsa_with_pss_is_accepted_where_the_key_or_the_configuration_says_so() {
    let key = Signer::rsa("d");
    let mut header = key.header();
    header["alg"] = "PS256".into();
    let issuer = Issuer::new(&[&key]);
    let token = key.token_with(&header, &issuer.claims());
    assert_eq!(Protected::by(&issuer).who(&token).status, 401);
    let pinned = Trusted::new(&issuer.url).algorithms([Algorithm::Ps256]);
    let protected = Protected::new(ResourceServer::builder(RESOURCE).issuer(pinned));
    assert_eq!(protected.who(&token).status, 200);
    assert_eq!(protected.who(&key.token(&issuer.claims())).status, 401);
    let mut jwk = key.jwk();
    jwk["alg"] = "PS256".into();
    issuer.page("/keys", 200, &json!({ "keys": [jwk] }));
    let protected = Protected::by(&issuer);
    assert_eq!(protected.who(&token).status, 200);
    assert_eq!(protected.who(&key.token(&issuer.claims())).status, 401);
}

#[test]
fn a_configuration_may_permit_fewer_algorithms() {
    let keys = [Signer::es256("a"), Signer::ed_dsa("b")];
    let issuer = Issuer::new(&[&keys[0], &keys[1]]);
    let pinned = Trusted::new(&issuer.url).algorithms([Algorithm::EdDsa]);
    let protected = Protected::new(ResourceServer::builder(RESOURCE).issuer(pinned));
    assert_eq!(protected.who(&keys[1].token(&issuer.claims())).status, 200);
    assert_eq!(protected.who(&keys[0].token(&issuer.claims())).status, 401);
}

#[test]
fn types_of_access_tokens_are_accepted_and_no_others() {
    let key = Signer::es256("a");
    let issuer = Issuer::new(&[&key]);
    let protected = Protected::by(&issuer);
    for (typ, expected) in [
        (json!("at+jwt"), 200),
        (json!("application/at+jwt"), 200),
        (json!("AT+JWT"), 200),
        (json!("JWT"), 200),
        (Value::Null, 200),
        (json!("dpop+jwt"), 401),
        (json!("logout+jwt"), 401),
        (json!("oauth-authz-req+jwt"), 401),
        (json!(""), 401),
    ] {
        let mut header = key.header();
        header["typ"] = typ.clone();
        let token = key.token_with(&header, &issuer.claims());
        assert_eq!(protected.who(&token).status, expected, "{typ}");
    }
}

/// RFC 7515, section 4.1.11.
#[test]
fn extensions_that_are_not_understood_are_refused() {
    let key = Signer::es256("a");
    let issuer = Issuer::new(&[&key]);
    let protected = Protected::by(&issuer);
    for crit in [json!(["b64"]), json!(["x"]), json!([])] {
        let mut header = key.header();
        header["crit"] = crit;
        header["b64"] = true.into();
        let token = key.token_with(&header, &issuer.claims());
        assert_eq!(protected.who(&token).status, 401);
    }
}

#[test]
fn a_token_without_a_key_name_needs_an_issuer_with_one_key() {
    let (one, other) = (Signer::es256("a"), Signer::es256("b"));
    let issuer = Issuer::new(&[&one, &Signer::ed_dsa("c")]);
    let header = json!({ "alg": "ES256", "typ": "at+jwt" });
    let token = one.token_with(&header, &issuer.claims());
    assert_eq!(Protected::by(&issuer).who(&token).status, 200);
    issuer.set_keys(&[&one, &other]);
    assert_eq!(Protected::by(&issuer).who(&token).status, 401);
}

#[test]
fn a_signature_that_does_not_fit_is_refused() {
    let (key, other) = (Signer::es256("a"), Signer::es256("a"));
    let issuer = Issuer::new(&[&key]);
    let protected = Protected::by(&issuer);
    let good = key.token(&issuer.claims());
    assert_eq!(protected.who(&good).status, 200);
    let (signed, signature) = good.rsplit_once('.').expect("three parts");
    let (header, _) = signed.split_once('.').expect("three parts");
    let admin = encode(issuer.claims_with(&json!({ "sub": "admin" })).to_string());
    for bad in [
        other.token(&issuer.claims()),
        format!("{header}.{admin}.{signature}"),
        format!("{signed}."),
        format!("{signed}.{}", encode([0; 64])),
        format!("{signed}.{}", &signature[..signature.len() - 4]),
        format!("{signed}.{signature}="),
        format!("{good}.x"),
        format!(".{good}"),
        signed.to_owned(),
        "a.b.c".to_owned(),
        "..".to_owned(),
        "opaque".to_owned(),
    ] {
        let (status, _) = protected.status(&bad);
        assert_eq!(status, 401, "{bad}");
    }
}

/// RSV-04: by its issuer's own word, letter by letter.
#[test]
fn the_claims_of_a_token_decide() {
    let key = Signer::es256("a");
    let issuer = Issuer::new(&[&key]);
    let protected = Protected::new(builder(&issuer).audience("api").claims(["tenant"]));
    let other = format!("{}/", issuer.url);
    for (change, expected, said) in [
        (json!({}), 200, ""),
        (json!({ "aud": "api" }), 200, ""),
        (json!({ "aud": ["x", RESOURCE] }), 200, ""),
        (json!({ "iss": other }), 401, "not trusted"),
        (json!({ "iss": null }), 401, "kind"),
        (json!({ "aud": null }), 401, "resource"),
        (json!({ "aud": "https://mcp.example.com" }), 401, "resource"),
        (
            json!({ "aud": "https://mcp.example.com/mcp/" }),
            401,
            "resource",
        ),
        (json!({ "exp": null }), 401, "no end"),
        (json!({ "exp": "soon" }), 401, "times"),
        (json!({ "sub": null, "client_id": null }), 401, "whose"),
        (json!({ "sub": null }), 200, ""),
        // Nobody looks at what would prove that whoever shows it may.
        (json!({ "cnf": { "jkt": "a-key" } }), 401, "bound"),
    ] {
        let (status, reason) = protected.status(&key.token(&issuer.claims_with(&change)));
        assert_eq!(status, expected, "{change}");
        assert!(reason.contains(said), "{change}: {reason}");
    }
}

/// RSV-04: a minute is for clocks that differ.
#[test]
fn times_are_looked_at_with_some_skew() {
    let key = Signer::es256("a");
    let issuer = Issuer::new(&[&key]);
    let protected = Protected::by(&issuer);
    for (change, expected) in [
        (json!({ "exp": now() - 20 }), 200),
        (json!({ "exp": now() - 61 }), 401),
        (json!({ "nbf": now() + 40 }), 200),
        (json!({ "nbf": now() + 90 }), 401),
        (json!({ "iat": now() + 40 }), 200),
        (json!({ "iat": now() + 90 }), 401),
    ] {
        let (status, _) = protected.status(&key.token(&issuer.claims_with(&change)));
        assert_eq!(status, expected, "{change}");
    }
}

/// A token that was accepted is not accepted beyond its end because it is remembered.
#[test]
fn a_remembered_token_ends_in_time() {
    let key = Signer::es256("a");
    let issuer = Issuer::new(&[&key]);
    let protected = Protected::new(builder(&issuer).skew(std::time::Duration::ZERO));
    let token = key.token(&issuer.claims_with(&json!({ "exp": now() + 4 })));
    assert_eq!(protected.who(&token).status, 200);
    assert_eq!(protected.who(&token).status, 200);
    std::thread::sleep(std::time::Duration::from_millis(4100));
    assert_eq!(protected.who(&token).status, 401);
}

/// OA-10: an error is only where a token was. AUT-03, RSV-02, RSV-03, RFC 6750.
#[test]
fn oa_10_what_is_no_token_is_told_apart() {
    let key = Signer::es256("a");
    let issuer = Issuer::new(&[&key]);
    let protected = Protected::new(builder(&issuer).scopes(["read"]));
    let token = key.token(&issuer.claims());
    let bearer = format!("Bearer {token}");
    for (lines, status, error) in [
        (&[][..], 401, None),
        (&["Basic YTpi"], 401, None),
        (&["Bearer"], 400, Some("invalid_request")),
        (&["Bearer a b"], 400, Some("invalid_request")),
        (&[&bearer, &bearer], 400, Some("invalid_request")),
        (&["Bearer x"], 401, Some("invalid_token")),
        (&[&bearer], 200, None),
    ] {
        let request = lines.iter().fold(call("who"), |request, line| {
            request.with("authorization", line)
        });
        let response = protected.site.ask(&request);
        assert_eq!(response.status, status, "{lines:?}");
        assert_eq!(parameter(&response, "error").as_deref(), error, "{lines:?}");
        if status != 200 {
            assert_eq!(parameter(&response, "scope").as_deref(), Some("read"));
            assert_eq!(
                parameter(&response, "resource_metadata").as_deref(),
                Some("https://mcp.example.com/.well-known/oauth-protected-resource/mcp")
            );
            assert_eq!(response.header("cache-control"), Some("no-store"));
            assert_eq!(response.message()["error"]["code"], -32600);
        }
    }
    assert_eq!(protected.runs(), 1);
}

/// AUT-05, SEC-07: every request, in every era, for itself.
#[test]
fn every_request_needs_a_token() {
    let key = Signer::es256("a");
    let issuer = Issuer::new(&[&key]);
    let protected = Protected::by(&issuer);
    let token = key.token(&issuer.claims());
    let id = protected.session("2025-11-25", &token);
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    for request in [
        Request::modern(1, "server/discover", &json!({})),
        Request::post(&list).with("mcp-session-id", &id),
        Request::get().with("mcp-session-id", &id),
        Request::get(),
        Request::new("GET"),
        Request::new("DELETE").with("mcp-session-id", &id),
        Request::post("no JSON"),
        Request::post(&list).without("content-type"),
    ] {
        // Without its body: a `HEAD` has none.
        let mut client = protected.site.connect();
        let response = client.begin(&request.clone().at("/elsewhere"));
        assert_eq!(response.status, 401, "{request:?}");
    }
    let response = protected.in_session(&id, "2025-11-25", &token, &list);
    assert_eq!(response.status, 200);
}

/// HS-06: what nobody may do is no question of who asks.
#[test]
fn hs_06_a_method_that_is_not_served_needs_no_token() {
    let key = Signer::es256("a");
    let issuer = Issuer::new(&[&key]);
    let auth = builder(&issuer).build().expect("a resource server");
    let server = Server::builder("stateless", "1").build().expect("a server");
    let site = Site::with(&server, |http| {
        http.auth(auth).rules(HttpRules::new().sessions(false))
    });
    let token = key.token(&issuer.claims());
    let events = Request::new("GET").with("accept", "text/event-stream");
    for request in [events, Request::new("PUT"), Request::new("DELETE")] {
        for request in [request.clone(), bearing(request, &token)] {
            let response = site.ask(&request);
            assert_eq!(response.status, 405, "{request:?}");
            assert_eq!(response.header("www-authenticate"), None);
            assert_eq!(response.header("allow"), Some("POST, OPTIONS"));
        }
    }
    // Whoever may do something has to say who it is, all the same.
    assert_eq!(site.ask(&call("who")).status, 401);
}

/// VAL-07: `Host` and `Origin` come first, and a page may read why it was refused.
#[test]
fn origins_come_first_and_challenges_can_be_read() {
    let key = Signer::es256("a");
    let issuer = Issuer::new(&[&key]);
    let protected = Protected::by(&issuer);
    let evil = call("who").with("origin", "https://evil.example");
    assert_eq!(protected.site.ask(&evil).status, 403);
    let own = call("who").with("origin", "http://localhost:9");
    let response = protected.site.ask(&own);
    assert_eq!(response.status, 401);
    assert_eq!(
        response.header("access-control-allow-origin"),
        Some("http://localhost:9")
    );
    let exposed = response.header("access-control-expose-headers");
    assert!(exposed.is_some_and(|it| it.contains("WWW-Authenticate")));
}

#[test]
fn a_preflight_needs_no_token() {
    let issuer = Issuer::new(&[]);
    let protected = Protected::by(&issuer);
    let request = Request::new("OPTIONS")
        .with("origin", "http://localhost:9")
        .with("access-control-request-method", "POST")
        .with("access-control-request-headers", "authorization");
    let response = protected.site.ask(&request);
    assert_eq!(response.status, 204);
    assert_eq!(
        response.header("access-control-allow-headers"),
        Some("authorization")
    );
}

/// Only what was asked for.
#[test]
fn handlers_see_who_asks() {
    let key = Signer::es256("a");
    let issuer = Issuer::new(&[&key]);
    let protected = Protected::new(builder(&issuer).claims(["tenant"]));
    let claims = issuer.claims_with(&json!({ "tenant": "t1", "secret": "s", "scope": "b a" }));
    let response = protected.who(&key.token(&claims));
    assert_eq!(
        said(&response.message()),
        "true alice app [a b] \"t1\" null"
    );
}

#[test]
fn keys_may_be_given() {
    let key = Signer::es256("a");
    let trusted = Trusted::new("https://as.example").jwks(crate::keys::set(&[&key]).to_string());
    let protected = Protected::new(ResourceServer::builder(RESOURCE).issuer(trusted));
    let claims =
        json!({ "iss": "https://as.example", "sub": "a", "aud": RESOURCE, "exp": now() + 9 });
    assert_eq!(protected.who(&key.token(&claims)).status, 200);
    let stranger = Signer::es256("b");
    assert_eq!(protected.who(&stranger.token(&claims)).status, 401);
}

/// Whoever verifies a token: whom it is for, and when, is checked all the same.
#[test]
fn verifiers_of_others_cannot_forget_the_audience() {
    let claims = || {
        Claims::new("alice")
            .with("aud", RESOURCE)
            .with("scope", "read")
    };
    let tokens = StaticTokens::new()
        .token("good", claims())
        .token("no-audience", Claims::new("alice"))
        .token(
            "other-audience",
            claims().with("aud", "https://other.example"),
        )
        .token(
            "other-issuer",
            claims().with("iss", "https://other.example"),
        )
        .token("over", claims().with("exp", now() - 100));
    let trusted = Trusted::verified_by("https://as.example", tokens);
    let protected = Protected::new(ResourceServer::builder(RESOURCE).issuer(trusted));
    let response = protected.who("good");
    assert_eq!(said(&response.message()), "true alice - [read] null null");
    for bad in [
        "no-audience",
        "other-audience",
        "other-issuer",
        "over",
        "unknown",
    ] {
        assert_eq!(protected.who(bad).status, 401, "{bad}");
    }
}

#[test]
fn a_verifier_that_cannot_tell_is_no_refusal() {
    struct Broken;
    impl Verifier for Broken {
        fn verify<'a>(&'a self, _: &'a str) -> Verifying<'a> {
            Box::pin(async { Err(Rejection::unavailable("The database is down")) })
        }
    }
    let trusted = Trusted::verified_by("https://as.example", Broken);
    let protected = Protected::new(ResourceServer::builder(RESOURCE).issuer(trusted));
    let response = protected.site.ask(&bearing(call("who"), "x"));
    assert_eq!(response.status, 503);
    assert_eq!(response.header("retry-after"), Some("5"));
    assert_eq!(response.header("www-authenticate"), None);
}

#[test]
fn what_cannot_be_is_refused_before_anything_is_served() {
    let failed = |resource: &str, issuer: &str, scope: &str| {
        let builder = ResourceServer::builder(resource).issuer(issuer);
        let error = builder.scopes([scope]).build().expect_err("it cannot be");
        error.to_string()
    };
    let good = "https://as.example";
    for (error, part) in [
        (failed("http://mcp.example.com/mcp", good, "a"), "https://"),
        (
            failed("https://MCP.example.com/mcp", good, "a"),
            "lower case",
        ),
        (failed("https://mcp.example.com/#x", good, "a"), "fragment"),
        (failed(RESOURCE, "http://as.example", "a"), "https://"),
        (failed(RESOURCE, "as.example", "a"), "https://"),
        (failed(RESOURCE, good, "a b"), "blank"),
        (failed(RESOURCE, good, "offline_access"), "refresh"),
    ] {
        assert!(error.contains(part), "{error}");
    }
    let error = ResourceServer::builder(RESOURCE).build();
    assert!(error.is_err());
}
