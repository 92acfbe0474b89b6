//! Tokens without a user, and how clients show who they are.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use mcp_std::auth::{Auth, ClientMethod, Credentials, IdentityProvider, Secret};
use serde_json::{Value, json};

use crate::site::{Answer, Site};
use crate::world::{SERVER, World, call, user};

#[test]
fn oa_15_a_secret_is_shown_as_the_server_takes_it() {
    let both = json!(["client_secret_post", "client_secret_basic"]);
    for (methods, basic) in [
        (Value::Null, true),
        (both, true),
        (json!(["client_secret_post"]), false),
    ] {
        let world = World::new();
        let mut metadata = world.metadata();
        metadata["token_endpoint_auth_methods_supported"] = methods;
        world
            .issuer
            .replace(SERVER, move |_| Answer::json(&metadata));
        let client = Credentials::secret("the id", "p&ss:word");
        let client = world
            .connect(Auth::client_credentials(client))
            .expect("a connection");
        assert_eq!(call(&client, "read").expect("an answer"), "read");
        let asked = &world.issuer.asked("/token")[0];
        assert_eq!(
            asked.parameter("grant_type").as_deref(),
            Some("client_credentials")
        );
        assert_eq!(asked.parameter("resource"), Some(world.url()));
        let expected = format!("Basic {}", STANDARD.encode("the%20id:p%26ss%3Aword"));
        if basic {
            assert_eq!(asked.field("authorization"), Some(&*expected));
            assert_eq!(asked.parameter("client_secret"), None);
        } else {
            assert_eq!(asked.field("authorization"), None);
            assert_eq!(
                asked.parameter("client_secret").as_deref(),
                Some("p&ss:word")
            );
        }
        assert!(world.visits() == 0 && world.issuer.asked("/register").is_empty());
    }
}

#[test]
fn a_program_steps_up_and_renews_by_itself() {
    let world = World::new();
    world.given.lock().expect("no panic").expires_in = Some(0);
    let client = Credentials::secret("id", "s").method(ClientMethod::Post);
    let client = world
        .connect(Auth::client_credentials(client))
        .expect("a connection");
    assert_eq!(call(&client, "write").expect("an answer"), "write");
    assert_eq!(world.visits(), 0);
    let asked = world.issuer.asked("/token");
    let last = asked.last().expect("a request");
    assert_eq!(last.parameter("scope").as_deref(), Some("read write"));
}

#[test]
fn the_documents_url_is_the_id_where_that_is_known() {
    // REG-01.
    const DOCUMENT: &str = "https://app.example/client.json";
    for supported in [true, false] {
        let world = World::new();
        let mut metadata = world.metadata();
        metadata["client_id_metadata_document_supported"] = json!(supported);
        world
            .issuer
            .replace(SERVER, move |_| Answer::json(&metadata));
        world
            .connect(user().client_metadata(DOCUMENT))
            .expect("a connection");
        let registered = world.issuer.asked("/register").len();
        assert_eq!(registered, usize::from(!supported));
        let id = world.issuer.asked("/authorize")[0].parameter("client_id");
        assert_eq!(id.as_deref() == Some(DOCUMENT), supported);
    }
    // What was told beforehand comes first.
    let world = World::new();
    let told = user()
        .client(Credentials::public("told"))
        .client_metadata(DOCUMENT);
    world.connect(told).expect("a connection");
    let id = world.issuer.asked("/authorize")[0].parameter("client_id");
    assert_eq!(id.as_deref(), Some("told"));
}

#[test]
fn a_registration_that_is_refused_says_why() {
    // REG-08.
    let world = World::new();
    world.issuer.replace("/register", |_| {
        let refusal = json!({"error": "invalid_redirect_uri", "error_description": "not here"});
        Answer::json(&refusal).body_status(400)
    });
    let told = world.connect(user()).expect_err("no client").to_string();
    assert!(told.contains("invalid_redirect_uri not here"), "{told}");
}

#[test]
fn an_identity_provider_vouches() {
    let world = World::new();
    let provider = Site::new(|_, _| {
        Answer::json(&json!({"access_token": "the-id-jag", "token_type": "N_A",
            "issued_token_type": "urn:ietf:params:oauth:token-type:id-jag"}))
    });
    let given = world.given.clone();
    world.issuer.replace("/token", move |_| {
        let mut given = given.lock().expect("no panic");
        given.access.insert("t".to_owned(), "read".to_owned());
        Answer::json(&json!({"access_token": "t", "token_type": "bearer"}))
    });
    let idp = IdentityProvider::new(
        "https://idp.example",
        format!("{}/token", provider.origin()),
        Credentials::public("at-the-idp"),
        || Ok(Secret::new("the-id-token")),
    );
    let auth = Auth::enterprise(Credentials::public("at-the-as"), idp);
    let client = world.connect(auth).expect("a connection");
    assert_eq!(call(&client, "read").expect("an answer"), "read");
    let first = &provider.asked("/token")[0];
    for (name, expected) in [
        ("subject_token", "the-id-token"),
        ("audience", &world.issuer.origin()),
        ("resource", &world.url()),
        ("client_id", "at-the-idp"),
    ] {
        assert_eq!(first.parameter(name).as_deref(), Some(expected), "{name}");
    }
    let second = &world.issuer.asked("/token")[0];
    assert_eq!(second.parameter("assertion").as_deref(), Some("the-id-jag"));
    assert!(!second.body.contains("the-id-token"));
    // OCC-02, EMA-01: the server is told.
    let discover = world.server.asked("/mcp")[0].body.clone();
    assert!(discover.contains("io.modelcontextprotocol/enterprise-managed-authorization"));
}

#[test]
fn a_token_is_bound_where_the_server_wants_it() {
    let world = World::new();
    let mut resource = world.resource();
    resource["dpop_bound_access_tokens_required"] = json!(true);
    world
        .server
        .replace(crate::world::RESOURCE, move |_| Answer::json(&resource));
    world.issuer.replace("/token", |_| {
        Answer::json(&json!({"access_token": "bound", "token_type": "DPoP"}))
    });
    let challenge = format!(
        "Bearer resource_metadata=\"{}{}\"",
        world.server.origin(),
        crate::world::RESOURCE
    );
    world.server.replace("/mcp", move |asked| {
        if asked.field("authorization") != Some("DPoP bound") {
            return Answer::status(401).field("www-authenticate", &challenge);
        }
        let claims = claims(asked.field("dpop").expect("a proof"));
        // A nonce of its own, and another one later (RFC 9449, section 9).
        if claims["nonce"] != "n" {
            return Answer::status(401)
                .field("www-authenticate", "DPoP error=\"use_dpop_nonce\"")
                .field("dpop-nonce", "n");
        }
        let body = asked.json();
        Answer::json(&json!({"jsonrpc": "2.0", "id": body["id"], "result":
            {"resultType": "complete", "ttlMs": 0, "supportedVersions": ["2026-07-28"],
             "capabilities": {"tools": {}}, "cacheScope": "private", "content": []}}))
    });
    let client = world.connect(user()).expect("a connection");
    call(&client, "read").expect("an answer");
    assert_eq!(world.visits(), 1);
    let proofs: Vec<_> = world
        .server
        .asked("/mcp")
        .iter()
        .filter_map(|asked| Some(claims(asked.field("dpop")?)))
        .collect();
    let mut ids: Vec<_> = proofs.iter().map(|it| it["jti"].to_string()).collect();
    let count = ids.len();
    ids.sort();
    ids.dedup();
    assert!(count >= 3 && ids.len() == count, "no proof is used twice");
    for proof in &proofs {
        assert_eq!(proof["htm"], "POST");
        assert_eq!(proof["htu"], world.url());
        assert!(proof["ath"].is_string());
    }
}

fn claims(proof: &str) -> Value {
    let claims = proof.split('.').nth(1).expect("three parts");
    let claims = URL_SAFE_NO_PAD.decode(claims).expect("base64");
    serde_json::from_slice(&claims).expect("JSON")
}
