//! What servers and authorization servers do that they should not, or need not, and what has to come of it.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use mcp_std::ProtocolVersion;
use mcp_std::auth::{Auth, ClientMethod, Credentials};
use mcp_std::client::{Client, Proxy};
use serde_json::{Value, json};

use crate::site::{Answer, Asked, field, get};
use crate::world::{BACK, RESOURCE, World, call, user};

/// The requests to the token endpoint with this grant.
fn granted(world: &World, grant: &str) -> Vec<Asked> {
    let mut asked = world.issuer.asked("/token");
    asked.retain(|it| it.parameter("grant_type").as_deref() == Some(grant));
    asked
}

/// The scopes that the user was asked for, each time.
fn asked_for(world: &World) -> Vec<String> {
    let visits = world.issuer.asked("/authorize");
    let scopes = visits.iter().map(|it| it.parameter("scope"));
    scopes.map(Option::unwrap_or_default).collect()
}

/// A server that wants, for each tool and each list, the scope that this says, and names nothing but that.
fn wanting(world: &World, wanted: impl Fn(&Value) -> &'static str + Send + Sync + 'static) {
    let given = world.given.clone();
    let metadata = format!("{}{RESOURCE}", world.server.origin());
    world.server.replace("/mcp", move |asked| {
        let token = asked.field("authorization").unwrap_or_default();
        let token = token.trim_start_matches("Bearer ");
        let given = given.lock().expect("no panic");
        let challenge = format!("Bearer resource_metadata=\"{metadata}\"");
        let Some(scopes) = given.access.get(token) else {
            return Answer::status(401).field("www-authenticate", &challenge);
        };
        let body = asked.json();
        let wanted = wanted(&body);
        if !wanted.is_empty() && !scopes.split(' ').any(|scope| scope == wanted) {
            let challenge =
                format!("{challenge}, error=\"insufficient_scope\", scope=\"{wanted}\"");
            return Answer::status(403).field("www-authenticate", &challenge);
        }
        Answer::json(&json!({"jsonrpc": "2.0", "id": body["id"], "result":
            {"resultType": "complete", "ttlMs": 0, "supportedVersions": ["2026-07-28"],
             "capabilities": {"tools": {}}, "cacheScope": "private", "content": [], "tools": []}}))
    });
}

/// OA-02: of two issuers that differ in the slash of an empty path only, that of the metadata counts from then on.
#[test]
fn oa_02_a_slash_after_the_host_of_an_issuer_makes_no_difference() {
    let world = World::new();
    let named = format!("{}/", world.issuer.origin());
    world.with_resource(|it| it["authorization_servers"] = json!([named]));
    let client = world.connect(user()).expect("a connection");
    assert_eq!(call(&client, "read").expect("an answer"), "read");

    let world = World::new();
    let issuer = format!("{}/", world.issuer.origin());
    world.with_metadata(|it| it["issuer"] = json!(issuer));
    // The answer to the visit still has the other one.
    let told = world.connect(user()).expect_err("no token").to_string();
    assert!(told.contains("was to come from"), "{told}");
    let right = user_with(|back| format!("{back}/"));
    let client = world.connect(right).expect("a connection");
    assert_eq!(call(&client, "read").expect("an answer"), "read");
}

/// A user who comes back with what `altered` makes of the query.
fn user_with(altered: impl Fn(String) -> String + Send + Sync + Clone + 'static) -> Auth {
    Auth::code().redirect(BACK, move |page| {
        let altered = altered.clone();
        async move {
            let answer = smol::unblock(move || get(&page, None)).await;
            field(&answer, "location")
                .map(altered)
                .ok_or_else(|| "no way back".to_owned())
        }
    })
}

/// OA-04: what the server calls itself is sent as it stands there.
#[test]
fn oa_04_the_published_resource_is_sent_unchanged() {
    let forms: [fn(&str) -> String; 3] = [
        str::to_owned,
        |origin| format!("{origin}/mcp/"),
        |origin| format!("{}/mcp", origin.to_uppercase()),
    ];
    for form in forms {
        let world = World::new();
        let published = form(&world.server.origin());
        world.with_resource(|it| it["resource"] = json!(published));
        let client = world.connect(user()).expect("a connection");
        world.revoke();
        assert_eq!(call(&client, "read").expect("an answer"), "read");
        assert_eq!(world.grants(), ["authorization_code", "refresh_token"]);
        let asked = [
            world.issuer.asked("/authorize"),
            world.issuer.asked("/token"),
        ]
        .concat();
        assert_eq!(asked.len(), 3);
        for one in asked {
            assert_eq!(one.parameter("resource").as_deref(), Some(&*published));
        }
    }
}

/// OA-05: the query of an endpoint does not make it another server.
#[test]
fn oa_05_an_endpoint_with_a_query_has_the_resource_that_is_published() {
    let world = World::new();
    let client = smol::block_on(
        Client::builder("test", "1")
            .proxy(Proxy::None)
            .revision(ProtocolVersion::V2026_07_28)
            .auth(user())
            .connect_http(&format!("{}?mode=init", world.url())),
    );
    let client = client.expect("a connection");
    assert_eq!(call(&client, "read").expect("an answer"), "read");
    let visit = &world.issuer.asked("/authorize")[0];
    assert_eq!(visit.parameter("resource"), Some(world.url()));
    for asked in world.server.asked("/mcp") {
        assert_eq!(asked.query, "mode=init");
    }
}

/// OA-06: who is shown the metadata of another server is told whose they are, and whose they should be.
#[test]
fn oa_06_a_resource_that_is_another_one_is_named() {
    let world = World::new();
    let wrong = format!("{}/m", world.server.origin());
    world.with_resource(|it| it["resource"] = json!(wrong));
    let told = world.connect(user()).expect_err("no token").to_string();
    assert!(
        told.contains(&wrong) && told.contains(&world.url()),
        "{told}"
    );
}

/// OA-07: 0 and less is over at once, nothing and rubbish is unknown, and all others are so many seconds.
#[test]
fn oa_07_lives_of_tokens_in_every_form() {
    for (life, is_over) in [
        (json!(0), true),
        (json!(-5), true),
        (json!("-5"), true),
        (json!("0"), true),
        (Value::Null, false),
        (json!(3600.9), false),
        (json!("3600"), false),
        (json!("3600abc"), false),
        (json!([60]), false),
        (json!(1e30), false),
        (json!(u64::MAX), false),
    ] {
        let world = World::new();
        let (first, told) = (AtomicUsize::new(0), life.clone());
        world.with_tokens(move |_, mut answer| {
            if first.fetch_add(1, Ordering::SeqCst) == 0 {
                let mut body: Value = serde_json::from_slice(&answer.body).expect("JSON");
                body["expires_in"] = told.clone();
                answer.body = body.to_string().into_bytes();
            }
            answer
        });
        let client = world.connect(user()).expect("a connection");
        assert_eq!(call(&client, "read").expect("an answer"), "read");
        let refreshed = granted(&world, "refresh_token").len();
        assert_eq!(refreshed, usize::from(is_over), "{life}");
    }
}

/// OA-08: a refresh token is kept until the authorization server says that it is over.
#[test]
fn oa_08_a_refresh_token_ends_with_a_word_and_not_with_an_accident() {
    let world = World::new();
    let client = world.connect(user()).expect("a connection");
    let script = Arc::new(Mutex::new(VecDeque::from([
        Answer::json(&json!({"access_token": "n", "token_type": "Bearer", "expires_in": 60})),
        Answer::status(200).body("{\"access_token\":\"m\",\"tok"),
        Answer::status(404).body("<html>not found</html>"),
        Answer::status(503),
        Answer::json(&json!({"error": "invalid_grant"})).body_status(400),
    ])));
    let (given, rest) = (world.given.clone(), script.clone());
    world.issuer.replace("/token", move |_| {
        let mut rest = rest.lock().expect("no panic");
        if rest.len() == 5 {
            let mut given = given.lock().expect("no panic");
            given.access.insert("n".to_owned(), "read".to_owned());
        }
        rest.pop_front().unwrap_or_else(|| Answer::status(500))
    });
    world.revoke();
    assert_eq!(call(&client, "read").expect("an answer"), "read");
    for _ in 0..3 {
        world.revoke();
        let told = call(&client, "read").expect_err("no token");
        assert!(told.contains("/token"), "{told}");
        assert_eq!(world.visits(), 1, "nobody is asked");
    }
    // Now it is over, and the user is asked; that the code is then refused is another matter.
    call(&client, "read").expect_err("no token");
    assert_eq!(world.visits(), 2);
    let used = granted(&world, "refresh_token");
    let used: Vec<_> = used
        .iter()
        .map(|it| it.parameter("refresh_token"))
        .collect();
    assert_eq!(used.len(), 5);
    assert!(
        used.iter().all(|it| it.as_deref() == Some("refresh-4")),
        "{used:?}"
    );
}

/// OA-08: those who find out at once that a token is over refresh it once.
#[test]
fn oa_08_requests_that_are_refused_at_once_share_one_refresh() {
    let world = World::new();
    let client = Arc::new(world.connect(user()).expect("a connection"));
    world.revoke();
    let calls = [(); 8].map(|()| {
        let client = client.clone();
        thread::spawn(move || call(&client, "read"))
    });
    for one in calls {
        assert_eq!(one.join().expect("no panic").expect("an answer"), "read");
    }
    assert_eq!(world.grants(), ["authorization_code", "refresh_token"]);
}

/// OA-09: of two places that a challenge names, and of those that follow from the URL, the one that is there counts.
#[test]
fn oa_09_metadata_are_looked_for_in_all_places_that_are_named() {
    let root = "/.well-known/oauth-protected-resource";
    for second in [true, false] {
        let world = World::new();
        let origin = world.server.origin();
        let mut challenge =
            format!("Bearer resource_metadata=\"{origin}{root}\", error=\"invalid_token\"");
        if second {
            challenge.push_str(&format!(", resource_metadata=\"{origin}{RESOURCE}\""));
        }
        world.given.lock().expect("no panic").challenge = Some(challenge);
        let client = world.connect(user()).expect("a connection");
        assert_eq!(call(&client, "read").expect("an answer"), "read");
        assert_eq!(world.server.asked(root).len(), 1);
        assert_eq!(world.server.asked(RESOURCE).len(), 1);
    }
    // Where nothing is anywhere it is the named place that is told of, and no server of 2025-03-26 is made of it.
    let world = World::new();
    let named = format!("{}/elsewhere", world.server.origin());
    let challenge = format!("Bearer resource_metadata=\"{named}\"");
    world.given.lock().expect("no panic").challenge = Some(challenge);
    world.server.replace(RESOURCE, |_| Answer::status(404));
    let told = world.connect(user()).expect_err("no token").to_string();
    assert!(told.contains(&named) && told.contains("404"), "{told}");
    assert!(world.server.asked("/register").is_empty());
}

/// OA-11: a server that takes no token costs one refresh and one login, and then nothing any more.
#[test]
fn oa_11_a_server_that_takes_nothing_is_given_up() {
    let world = World::new();
    let client = world.connect(user()).expect("a connection");
    world.server.replace("/mcp", |_| Answer::status(401));
    let before = world.server.asked("/mcp").len();
    let told = call(&client, "read").expect_err("no answer");
    assert!(told.contains("just issued"), "{told}");
    let all = ["authorization_code", "refresh_token", "authorization_code"];
    assert_eq!(world.grants(), all);
    assert_eq!(world.server.asked("/mcp").len(), before + 3);
    for _ in 0..2 {
        call(&client, "read").expect_err("no answer");
        assert_eq!(world.grants(), all);
    }
}

/// OA-12: two scopes that are wanted in turns are asked for together.
#[test]
fn oa_12_scopes_that_are_wanted_in_turns_are_asked_for_once() {
    let world = World::new();
    world.with_resource(|it| it["scopes_supported"] = json!([]));
    wanting(&world, |body| match body["method"].as_str() {
        Some("tools/list") => "r",
        Some("tools/call") => "w",
        _ => "",
    });
    let client = world.connect(user()).expect("a connection");
    for _ in 0..3 {
        smol::block_on(client.list_tools()).expect("a list");
        call(&client, "any").expect("an answer");
    }
    assert_eq!(asked_for(&world), ["", "r", "r w"]);
}

/// OA-13: what is missing is named, whoever could or could not be asked for it; a plain 403 is no question.
#[test]
fn oa_13_a_missing_scope_is_named_and_a_refusal_is_one() {
    let world = World::new();
    let store = user();
    world.connect(store.clone()).expect("a connection");
    let client = world.connect(store.unattended()).expect("a connection");
    wanting(&world, |_| "events:write");
    for _ in 0..2 {
        let told = call(&client, "any").expect_err("no answer");
        assert!(told.contains("the scope `events:write`"), "{told}");
    }
    for challenge in [
        None,
        Some("Bearer error=\"invalid_token\", scope=\"events:write\""),
        Some("Bearer"),
    ] {
        let world = World::new();
        let client = world.connect(user()).expect("a connection");
        world.server.replace("/mcp", move |_| match challenge {
            Some(challenge) => Answer::status(403).field("www-authenticate", challenge),
            None => Answer::status(403),
        });
        let told = call(&client, "any").expect_err("no answer");
        assert!(told.contains("403"), "{told}");
        assert_eq!(world.visits(), 1);
    }
}

/// OA-14: a refresh that is refused for its form leads to one login, and no further.
#[test]
fn oa_14_a_refresh_that_is_not_understood_leads_to_the_user() {
    let world = World::new();
    let client = world.connect(user()).expect("a connection");
    world.with_tokens(|asked, answer| {
        if asked.parameter("grant_type").as_deref() == Some("refresh_token") {
            return Answer::json(&json!({"error": "invalid_request"})).body_status(400);
        }
        answer
    });
    world.revoke();
    assert_eq!(call(&client, "read").expect("an answer"), "read");
    let all = ["authorization_code", "refresh_token", "authorization_code"];
    assert_eq!(world.grants(), all);
}

/// OA-14: a token that has become narrower is known as that, and widened when that is wanted.
#[test]
fn oa_14_a_narrower_token_is_widened_when_it_has_to_be() {
    let world = World::new();
    let client = world
        .connect(user().scopes(["read", "write"]))
        .expect("a connection");
    assert_eq!(call(&client, "write").expect("an answer"), "write");
    let given = world.given.clone();
    world.with_tokens(move |asked, mut answer| {
        if asked.parameter("grant_type").as_deref() == Some("refresh_token") {
            let mut body: Value = serde_json::from_slice(&answer.body).expect("JSON");
            let access = body["access_token"].as_str().expect("a token").to_owned();
            let mut given = given.lock().expect("no panic");
            given.access.insert(access, "read".to_owned());
            body["scope"] = json!("read");
            answer.body = body.to_string().into_bytes();
        }
        answer
    });
    world.revoke();
    assert_eq!(call(&client, "read").expect("an answer"), "read");
    assert_eq!(world.visits(), 1);
    assert_eq!(call(&client, "write").expect("an answer"), "write");
    assert_eq!(asked_for(&world), ["read write", "read write"]);
}

/// OA-14: who is not given a scope is not asked for it again and again.
#[test]
fn oa_14_a_scope_that_is_never_given_is_asked_for_once() {
    let world = World::new();
    let given = world.given.clone();
    world.with_tokens(move |_, mut answer| {
        let mut body: Value = serde_json::from_slice(&answer.body).expect("JSON");
        let access = body["access_token"].as_str().expect("a token").to_owned();
        given
            .lock()
            .expect("no panic")
            .access
            .insert(access, "read".to_owned());
        body["scope"] = json!("read");
        answer.body = body.to_string().into_bytes();
        answer
    });
    let client = world.connect(user()).expect("a connection");
    for _ in 0..3 {
        let told = call(&client, "write").expect_err("no answer");
        assert!(told.contains("the scope `write`"), "{told}");
        assert_eq!(call(&client, "read").expect("an answer"), "read");
    }
    assert_eq!(asked_for(&world), ["read", "read write"]);
}

/// OA-15: the method that the registration comes back with is the one that is used, and there is one of them.
#[test]
fn oa_15_the_registered_method_is_used() {
    for (method, secret) in [("none", None), ("client_secret_post", Some("hush"))] {
        let world = World::new();
        let client = json!({"client_id": "c", "client_secret": secret, "token_endpoint_auth_method": method});
        world
            .issuer
            .replace("/register", move |_| Answer::json(&client).body_status(201));
        world.connect(user()).expect("a connection");
        let asked = world.issuer.asked("/register")[0].json();
        assert_eq!(asked["token_endpoint_auth_method"], "none");
        assert_eq!(asked["application_type"], "native");
        let token = &world.issuer.asked("/token")[0];
        assert_eq!(token.parameter("client_secret").as_deref(), secret);
        assert!(token.field("authorization").is_none());
    }
}

/// OA-15: a method that takes a secret is nothing without one, and nobody logs in for it first.
#[test]
fn oa_15_a_client_that_lacks_its_secret_asks_nobody() {
    for method in ["client_secret_basic", "client_secret_post"] {
        let world = World::new();
        let client = json!({"client_id": "c", "token_endpoint_auth_method": method});
        world
            .issuer
            .replace("/register", move |_| Answer::json(&client).body_status(201));
        let told = world.connect(user()).expect_err("no client").to_string();
        assert!(told.contains("no secret"), "{told}");
        assert_eq!(world.visits(), 0);
    }
    for method in [
        ClientMethod::Basic,
        ClientMethod::Post,
        ClientMethod::PrivateKeyJwt,
    ] {
        let world = World::new();
        let auth = user().client(Credentials::public("c").method(method));
        let told = world.connect(auth).expect_err("no client").to_string();
        assert!(told.contains("and has none"), "{told}");
        assert!(world.issuer.all().is_empty());
    }
}

/// An authorization server that has forgotten all clients that it has registered before.
fn forgetful(world: &World) {
    let known = world.issuer.asked("/register").len();
    let site = world.issuer.clone();
    world.with_tokens(move |asked, answer| {
        let again = site.asked("/register").len() > known;
        let new = again && asked.parameter("client_id").as_deref() != Some("client-1");
        if new {
            return answer;
        }
        Answer::json(&json!({"error": "invalid_client"})).body_status(401)
    });
}

/// OA-16: a client that is forgotten is registered once more, whether that shows at a refresh or at a login.
#[test]
fn oa_16_a_client_that_is_forgotten_is_registered_once_more() {
    let world = World::new();
    let client = world.connect(user()).expect("a connection");
    forgetful(&world);
    world.revoke();
    assert_eq!(call(&client, "read").expect("an answer"), "read");
    assert_eq!(world.issuer.asked("/register").len(), 2);
    assert_eq!(world.visits(), 2, "not with the client that is dead");

    let world = World::new();
    let auth = user();
    world.connect(auth.clone()).expect("a connection");
    auth.forget(&world.url()).expect("a store");
    forgetful(&world);
    let client = world.connect(auth).expect("a connection");
    assert_eq!(call(&client, "read").expect("an answer"), "read");
    assert_eq!(world.issuer.asked("/register").len(), 2);
    assert_eq!(world.visits(), 3);
}

/// OA-16: a page that does not lead back may be one that says that the client is not known.
#[test]
fn oa_16_a_visit_without_end_costs_the_registration() {
    let world = World::new();
    let lost = Arc::new(AtomicUsize::new(0));
    let seen = lost.clone();
    let auth = Auth::code()
        .redirect(BACK, move |page| {
            let lost = seen.load(Ordering::SeqCst) > 0;
            async move {
                if lost {
                    core::future::pending::<()>().await;
                }
                let answer = smol::unblock(move || get(&page, None)).await;
                field(&answer, "location").ok_or_else(|| "no way back".to_owned())
            }
        })
        .login_timeout(Duration::from_millis(700));
    world.connect(auth.clone()).expect("a connection");
    auth.forget(&world.url()).expect("a store");
    lost.store(1, Ordering::SeqCst);
    let told = world
        .connect(auth.clone())
        .expect_err("nobody comes back")
        .to_string();
    assert!(told.contains("took too long"), "{told}");
    assert_eq!(world.issuer.asked("/register").len(), 1);
    lost.store(0, Ordering::SeqCst);
    world.connect(auth).expect("a connection");
    assert_eq!(world.issuer.asked("/register").len(), 2);
}

/// OA-16: an answer that says something else than that is no reason to forget anything, and one that says nothing is none to
/// give up.
#[test]
fn oa_16_other_refusals_cost_no_registration() {
    let world = World::new();
    let auth = user();
    world.issuer.replace("/token", |_| {
        Answer::json(&json!({"error": "invalid_request"})).body_status(400)
    });
    let told = world
        .connect(auth.clone())
        .expect_err("no token")
        .to_string();
    assert!(told.contains("invalid_request"), "{told}");
    world.with_tokens(|_, answer| answer);
    let client = world.connect(auth).expect("a connection");
    assert_eq!(world.issuer.asked("/register").len(), 1);

    world.issuer.replace("/token", |_| Answer::status(503));
    world.revoke();
    call(&client, "read").expect_err("no token");
    let visits = world.visits();
    world.with_tokens(|_, answer| answer);
    assert_eq!(call(&client, "read").expect("an answer"), "read");
    assert_eq!(world.visits(), visits);
    assert_eq!(world.issuer.asked("/register").len(), 1);
}
