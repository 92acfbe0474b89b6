//! What attackers try, and that it does not work. Each test is named after the attack.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use mcp_std::http::auth::{Issuer as Trusted, ResourceServer};
use serde_json::{Value, json};

use crate::issuer::{Issuer, RESOURCE, now};
use crate::keys::{Signer, encode, unsigned, with_secret};
use crate::protected::{Protected, bearing, builder, call, parameter};
use crate::site::{Request, said};

/// RSV-04, SEC-06: a token that its user gave to another server, which tries it here.
#[test]
fn audience_confusion() {
    let key = Signer::es256("a");
    let issuer = Issuer::new(&[&key]);
    let protected = Protected::by(&issuer);
    for audience in [
        json!("https://other.example.com/mcp"),
        json!(["https://other.example.com/mcp"]),
        json!("https://mcp.example.com"),
        json!("https://mcp.example.com/mcp/"),
        json!("https://mcp.example.com/mcp?x"),
        json!("https://MCP.example.com/mcp"),
        json!("https://mcp.example.com/mcp https://other.example.com"),
        json!("app"),
        json!([]),
        Value::Null,
    ] {
        let token = key.token(&issuer.claims_with(&json!({ "aud": audience })));
        let response = protected.who(&token);
        assert_eq!(response.status, 401, "{audience}");
        let error = parameter(&response, "error");
        assert_eq!(error.as_deref(), Some("invalid_token"));
    }
    assert_eq!(protected.runs(), 0);
}

/// RSV-05, SEC-06: what a handler could pass on. All it has of the token is what it says.
#[test]
fn token_passthrough() {
    static SEEN: AtomicUsize = AtomicUsize::new(0);
    let key = Signer::es256("a");
    let issuer = Issuer::new(&[&key]);
    let token = key.token(&issuer.claims());
    let signature = token.rsplit('.').next().expect("three parts").to_owned();
    let server = mcp_std::Server::builder("passing", "1")
        .tool("all", "", |context: mcp_std::Context| async move {
            SEEN.fetch_add(1, Ordering::SeqCst);
            let meta = context.meta().map(|meta| meta.as_str().to_owned());
            format!("{context:#?} {:#?} {meta:?}", context.principal())
        })
        .build()
        .expect("a server");
    let auth = builder(&issuer).build().expect("a resource server");
    let debug = format!("{auth:#?}");
    let site = crate::site::Site::with(&server, |http| http.auth(auth));
    let response = site.ask(&bearing(call("all"), &token));
    let text = said(&response.message()).to_owned();
    assert!(text.contains("alice"), "{text}");
    for secret in [&token, &signature] {
        assert!(!text.contains(secret.as_str()), "{text}");
        assert!(!response.transcript().contains(secret.as_str()));
        assert!(!debug.contains(secret.as_str()));
    }
    assert_eq!(SEEN.load(Ordering::SeqCst), 1);
    // Nor is a refused one sent back.
    let response = site.ask(&bearing(call("all"), &format!("{token}x")));
    assert_eq!(response.status, 401);
    assert!(!response.transcript().contains(&signature));
}

/// SEC-06: a server that is a client of another one goes there as itself, and with nothing of who asked for it.
#[test]
fn confused_deputy() {
    let key = Signer::es256("a");
    let issuer = Issuer::new(&[&key]);
    // It writes down what it is asked, and gives no answer to it.
    let upstream = Issuer::empty();
    let url = format!("{}/mcp", upstream.url);
    let server = mcp_std::Server::builder("deputy", "1")
        .tool("onward", "", move || {
            let url = url.clone();
            async move {
                let builder = mcp_std::Client::builder("deputy", "1");
                let connected = builder
                    .proxy(mcp_std::client::Proxy::None)
                    .connect_http(&url);
                connected
                    .await
                    .map_or_else(|error| error.to_string(), |_| "there".to_owned())
            }
        })
        .build()
        .expect("a server");
    let auth = builder(&issuer).build().expect("a resource server");
    let site = crate::site::Site::with(&server, |http| http.auth(auth));
    let token = key.token(&issuer.claims());
    let response = site.ask(&bearing(call("onward"), &token));
    assert_eq!(response.status, 200, "{response:?}");
    let asked = upstream.state().asked.clone();
    assert!(!asked.is_empty());
    for (path, credentials, body) in asked {
        assert_eq!(credentials, "", "{path}");
        assert!(!body.contains("alice") && !body.contains(&token), "{body}");
    }
}

/// A token that is bound to a key, with a proof that was seen on its way: there is no scheme in which this server takes it.
#[test]
fn replayed_dpop_proof() {
    let key = Signer::es256("a");
    let issuer = Issuer::new(&[&key]);
    let protected = Protected::by(&issuer);
    let token = key.token(&issuer.claims_with(&json!({ "cnf": { "jkt": "a-key" } })));
    let proof = key.token(&json!({ "htm": "POST", "htu": RESOURCE, "jti": "1", "iat": now() }));
    for scheme in ["DPoP", "Bearer", "DPoP", "Bearer"] {
        let request = call("who")
            .with("authorization", &format!("{scheme} {token}"))
            .with("dpop", &proof);
        let response = protected.site.ask(&request);
        assert_eq!(response.status, 401, "{scheme}");
    }
    assert_eq!(protected.runs(), 0);
}

/// RFC 8725, section 2.1: the attacker chooses how the token is checked.
#[test]
fn algorithm_confusion() {
    let (rsa, curve) = (Signer::rsa("r"), Signer::es256("e"));
    let issuer = Issuer::new(&[&rsa, &curve]);
    let protected = Protected::by(&issuer);
    let claims = issuer.claims();
    let header = |alg: &str, kid: &str| json!({ "alg": alg, "typ": "at+jwt", "kid": kid });
    let mut tokens = Vec::new();
    for none in ["none", "None", "NONE", "nOnE", ""] {
        for kid in ["r", "e"] {
            tokens.push(format!("{}.", unsigned(&header(none, kid), &claims)));
            tokens.push(rsa.token_with(&header(none, kid), &claims));
        }
    }
    // The public key, which everybody has, as the secret.
    for (kid, jwk) in [("r", rsa.jwk()), ("e", curve.jwk())] {
        for alg in ["HS256", "HS384", "HS512"] {
            let number = jwk["n"].as_str().or(jwk["x"].as_str()).expect("a key");
            for secret in [number.to_owned(), jwk.to_string(), String::new()] {
                let token = with_secret(&header(alg, kid), &claims, secret.as_bytes());
                tokens.push(token);
            }
        }
    }
    // One key in the way of another.
    for alg in ["RS256", "PS256", "ES256", "ES384", "EdDSA", "RS1", "ES256K"] {
        for (signer, kid) in [(&rsa, "e"), (&curve, "r"), (&rsa, "r"), (&curve, "e")] {
            let fits = matches!((alg, kid), ("RS256", "r") | ("ES256", "e"));
            if !fits || signer.kid != kid {
                tokens.push(signer.token_with(&header(alg, kid), &claims));
            }
        }
    }
    // Its own key along with it.
    let mine = Signer::es256("mine");
    for member in ["jwk", "jku", "x5u", "x5c"] {
        for kid in ["e", "mine"] {
            let mut header = header("ES256", kid);
            header[member] = match member {
                "jwk" => mine.jwk(),
                "x5c" => json!([encode("certificate")]),
                _ => json!(format!("{}/attacker", issuer.url)),
            };
            tokens.push(mine.token_with(&header, &claims));
        }
    }
    for token in &tokens {
        let response = protected.who(token);
        assert_eq!(response.status, 401, "{token}");
    }
    assert_eq!(protected.runs(), 0);
    assert_eq!(issuer.hits("/attacker"), 0);
    assert_eq!(protected.who(&rsa.token(&claims)).status, 200);
    assert_eq!(protected.who(&curve.token(&claims)).status, 200);
}

/// Tokens with names of keys that nobody has, each of which would make this server ask the issuer.
#[test]
fn jwks_flood() {
    let key = Signer::es256("a");
    let issuer = Issuer::new(&[&key]);
    let protected = Protected::by(&issuer);
    let good = key.token(&issuer.claims());
    assert_eq!(protected.who(&good).status, 200);
    assert_eq!(issuer.hits("/keys"), 1);
    let stranger = Signer::es256("x");
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (protected, stranger, issuer) = (&protected, &stranger, &issuer);
            scope.spawn(move || {
                for n in 0..100 {
                    let mut header = stranger.header();
                    header["kid"] = format!("{thread}-{n}").into();
                    let token = stranger.token_with(&header, &issuer.claims());
                    assert_eq!(protected.who(&token).status, 401);
                }
            });
        }
    });
    // The interval is 30 seconds.
    assert_eq!(issuer.hits("/keys"), 1);
    assert_eq!(protected.who(&good).status, 200);
}

/// The same while nothing is known: one question, whoever waits for the answer.
#[test]
fn jwks_flood_at_the_beginning() {
    let key = Signer::es256("a");
    let issuer = Issuer::new(&[&key]);
    issuer.delay(Duration::from_millis(200));
    let protected = Protected::by(&issuer);
    std::thread::scope(|scope| {
        for n in 0..20 {
            let (protected, key, issuer) = (&protected, &key, &issuer);
            scope.spawn(move || {
                let claims = issuer.claims_with(&json!({ "jti": n }));
                assert_eq!(protected.who(&key.token(&claims)).status, 200);
            });
        }
    });
    assert_eq!(issuer.hits("/keys"), 1);
}

/// Clients that hang up do not keep the keys from coming.
#[test]
fn jwks_flood_of_clients_that_leave() {
    let key = Signer::es256("a");
    let issuer = Issuer::new(&[&key]);
    issuer.delay(Duration::from_millis(300));
    let protected = Protected::by(&issuer);
    let token = key.token(&issuer.claims());
    for _ in 0..5 {
        let mut client = protected.site.connect();
        client.send(&bearing(call("who"), &token));
        std::thread::sleep(Duration::from_millis(30));
    }
    let began = Instant::now();
    assert_eq!(protected.who(&token).status, 200);
    assert!(began.elapsed() < Duration::from_secs(5));
    assert_eq!(issuer.hits("/keys"), 1);
}

/// RSV-04.
#[test]
fn expired_token() {
    let key = Signer::es256("a");
    let issuer = Issuer::new(&[&key]);
    let protected = Protected::by(&issuer);
    for exp in [
        json!(now() - 3600),
        json!(0),
        json!(-1),
        json!(-1e300),
        json!("x"),
    ] {
        let token = key.token(&issuer.claims_with(&json!({ "exp": exp })));
        assert_eq!(protected.who(&token).status, 401, "{exp}");
    }
}

/// RSV-04.
#[test]
fn token_that_is_not_valid_yet() {
    let key = Signer::es256("a");
    let issuer = Issuer::new(&[&key]);
    let protected = Protected::by(&issuer);
    for claim in ["nbf", "iat"] {
        let token = key.token(&issuer.claims_with(&json!({ claim: now() + 3600 })));
        let (status, _) = protected.status(&token);
        assert_eq!(status, 401, "{claim}");
    }
}

/// LH-34, SEC-07, SEC-08, SEC-09: somebody has found out the name of a session.
#[test]
fn session_of_another_principal() {
    let key = Signer::es256("a");
    let issuer = Issuer::new(&[&key]);
    let protected = Protected::by(&issuer);
    let token = |sub: &str, client: &str| {
        let change = json!({ "sub": sub, "client_id": client });
        key.token(&issuer.claims_with(&change))
    };
    let (alice, mallory) = (token("alice", "app"), token("mallory", "app"));
    let call =
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "who" } });
    for version in ["2025-03-26", "2025-11-25"] {
        let id = protected.session(version, &alice);
        let before = protected.runs();
        assert_eq!(
            protected.in_session(&id, version, &mallory, &call).status,
            404
        );
        for request in [Request::get(), Request::new("DELETE")] {
            let request = request.with("mcp-session-id", &id);
            let request = request.with("mcp-protocol-version", version);
            let response = protected.site.ask(&bearing(request, &mallory));
            assert_eq!(response.status, 404, "{response:?}");
        }
        // Nor one who is called as the other's client is, or as the issuer writes it.
        for name in ["app", "client app", "alice client app", "alice\u{0}"] {
            let other = token(name, "alice");
            assert_eq!(
                protected.in_session(&id, version, &other, &call).status,
                404
            );
        }
        assert_eq!(protected.runs(), before);
        // Its own user comes with another token, and it is there.
        let again = token("alice", "another-app");
        let response = protected.in_session(&id, version, &again, &call);
        assert!(said(&response.message()).contains("alice another-app"));
    }
}

/// The same subject of another issuer is somebody else.
#[test]
fn session_of_a_namesake() {
    let keys = [Signer::es256("a"), Signer::es256("b")];
    let issuers = [Issuer::new(&[&keys[0]]), Issuer::new(&[&keys[1]])];
    let protected = Protected::new(builder(&issuers[0]).issuer(issuers[1].url.as_str()));
    let alice = keys[0].token(&issuers[0].claims());
    let namesake = keys[1].token(&issuers[1].claims());
    let id = protected.session("2025-11-25", &alice);
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    let ask = |token: &str| protected.in_session(&id, "2025-11-25", token, &list).status;
    assert_eq!((ask(&namesake), ask(&alice)), (404, 200));
}

/// MRTR-15, MRTR-16.
#[test]
fn request_state_of_another_principal() {
    let key = Signer::es256("a");
    let issuer = Issuer::new(&[&key]);
    let protected = Protected::by(&issuer);
    let token = |sub: &str| key.token(&issuer.claims_with(&json!({ "sub": sub })));
    let able = json!({ "elicitation": {} });
    let mut params = json!({ "name": "book" });
    let book = |params: &Value, sub: &str| {
        let request = Request::able(1, "tools/call", params, &able);
        protected.site.ask(&bearing(request, &token(sub)))
    };
    let asked = book(&params, "alice").result();
    let questions = asked["inputRequests"].as_object().expect("questions");
    let (name, _) = questions.iter().next().expect("one");
    params["inputResponses"] =
        json!({ name.as_str(): { "action": "accept", "content": { "row": 7 } } });
    params["requestState"] = asked["requestState"].clone();
    let response = book(&params, "mallory");
    assert_eq!(response.code(), Some(-32602), "{response:?}");
    assert_eq!(said(&book(&params, "alice").message()), "row 7");
}

/// RFC 6750, section 2.3; TOK-01: it would be in the logs of all that is on the way.
#[test]
fn token_in_the_query() {
    let key = Signer::es256("a");
    let issuer = Issuer::new(&[&key]);
    let protected = Protected::by(&issuer);
    let token = key.token(&issuer.claims());
    for target in [
        format!("/mcp?access_token={token}"),
        format!("/mcp?Authorization=Bearer%20{token}"),
    ] {
        let response = protected.site.ask(&call("who").at(&target));
        assert_eq!(response.status, 401);
        assert!(!response.transcript().contains(&token));
    }
    for (name, value) in [
        ("cookie", format!("access_token={token}")),
        ("x-access-token", token),
    ] {
        let response = protected.site.ask(&call("who").with(name, &value));
        assert_eq!(response.status, 401);
    }
}

/// One issuer makes tokens in the name of another.
#[test]
fn token_in_the_name_of_another_issuer() {
    let keys = [Signer::es256("a"), Signer::es256("b")];
    let issuers = [Issuer::new(&[&keys[0]]), Issuer::new(&[&keys[1]])];
    let protected = Protected::new(builder(&issuers[0]).issuer(issuers[1].url.as_str()));
    let both = [
        keys[0].token(&issuers[0].claims()),
        keys[1].token(&issuers[1].claims()),
    ];
    assert!(both.iter().all(|token| protected.who(token).status == 200));
    // Signed by the one, claimed to be of the other, with the name of either key.
    for kid in ["a", "b"] {
        let mut header = keys[0].header();
        header["kid"] = kid.into();
        let token = keys[0].token_with(&header, &issuers[1].claims());
        assert_eq!(protected.who(&token).status, 401, "{kid}");
    }
    // An issuer that nobody trusts is not even asked.
    let stranger = Issuer::new(&[&keys[0]]);
    let token = keys[0].token(&stranger.claims());
    assert_eq!(protected.who(&token).status, 401);
    assert_eq!(stranger.state().asked, []);
}

/// RFC 8414, section 3.3: metadata in the name of an issuer at another's place.
#[test]
fn metadata_of_another_issuer() {
    let key = Signer::es256("a");
    let issuer = Issuer::new(&[&key]);
    for named in ["https://honest.example", "", &format!("{}/", issuer.url)] {
        let metadata = json!({ "issuer": named, "jwks_uri": format!("{}/keys", issuer.url) });
        issuer.page("/.well-known/oauth-authorization-server", 200, &metadata);
        let protected = Protected::by(&issuer);
        assert_eq!(protected.who(&key.token(&issuer.claims())).status, 503);
    }
    assert_eq!(issuer.hits("/keys"), 0);
}

/// VAL-06: headers say one tool, and the body another.
#[test]
fn scopes_by_header() {
    let key = Signer::es256("a");
    let issuer = Issuer::new(&[&key]);
    let protected = Protected::new(builder(&issuer).tool_scopes("deploy", ["deploy"]));
    let token = key.token(&issuer.claims());
    let lying = call("deploy").set("mcp-name", "who");
    let response = protected.site.ask(&bearing(lying, &token));
    assert_eq!(response.status, 403);
    assert_eq!(protected.runs(), 0);
    let twice =
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"who","name":"deploy"}}"#;
    let other =
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"deploy","name":"who"}}"#;
    let id = protected.session("2025-11-25", &token);
    for body in [twice, other] {
        let request = Request::post(body)
            .with("mcp-session-id", &id)
            .with("mcp-protocol-version", "2025-11-25");
        let response = protected.site.ask(&bearing(request, &token));
        assert!(response.message()["error"].is_object(), "{response:?}");
    }
    assert_eq!(protected.runs(), 0);
}

/// A token of many megabytes, a key set without end, keys without number.
#[test]
fn large_things() {
    let key = Signer::es256("a");
    let issuer = Issuer::new(&[&key]);
    let protected = Protected::by(&issuer);
    let long = "a".repeat(40 * 1024);
    assert_eq!(protected.who(&long).status, 400);
    let padding = "x".repeat(300 * 1024);
    let keys = json!({ "keys": [key.jwk()], "padding": padding });
    issuer.page("/keys", 200, &keys);
    let token = key.token(&issuer.claims());
    assert_eq!(Protected::by(&issuer).who(&token).status, 503);
    let mut many: Vec<Value> = (0..200)
        .map(|_| json!({ "kty": "oct", "k": "AA" }))
        .collect();
    many.push(key.jwk());
    issuer.page("/keys", 200, &json!({ "keys": many }));
    assert_eq!(Protected::by(&issuer).who(&token).status, 401);
}

/// Somebody else's key set, with a secret key in it.
#[test]
fn secret_keys_in_the_set() {
    let issuer = Issuer::new(&[]);
    let secret = json!({ "kty": "oct", "kid": "s", "alg": "HS256", "k": encode("secret") });
    issuer.page("/keys", 200, &json!({ "keys": [secret] }));
    let protected = Protected::by(&issuer);
    let header = json!({ "alg": "HS256", "typ": "at+jwt", "kid": "s" });
    let token = with_secret(&header, &issuer.claims(), b"secret");
    assert_eq!(protected.who(&token).status, 401);
}

/// A key that is for encryption, or for another algorithm than its kind suggests.
#[test]
fn keys_for_something_else() {
    let key = Signer::es256("a");
    let issuer = Issuer::new(&[&key]);
    let token = key.token(&issuer.claims());
    for (member, value, expected) in [
        ("use", json!("enc"), 401),
        ("key_ops", json!(["sign"]), 401),
        ("key_ops", json!(["verify"]), 200),
        ("alg", json!("ES384"), 401),
        ("alg", json!("RS256"), 401),
        ("alg", json!("ES256"), 200),
        ("crv", json!("P-384"), 401),
        ("x", json!("AA"), 401),
    ] {
        let mut jwk = key.jwk();
        jwk[member] = value.clone();
        issuer.page("/keys", 200, &json!({ "keys": [jwk] }));
        let trusted = Trusted::new(&issuer.url).jwks_uri(format!("{}/keys", issuer.url));
        let protected = Protected::new(ResourceServer::builder(RESOURCE).issuer(trusted));
        assert_eq!(protected.who(&token).status, expected, "{member} {value}");
    }
}
