//! What others may try on the client, one test each.

use std::time::{Duration, Instant};

use mcp_std::ProtocolVersion;
use mcp_std::auth::{Auth, Credentials};
use mcp_std::client::{Client, Proxy};
use serde_json::{Value, json};

use crate::site::{Answer, Site, field, get};
use crate::world::{BACK, RESOURCE, SERVER, World, call, user};

/// What a connection fails with.
fn refused(world: &World, auth: Auth) -> String {
    let error = world.connect(auth).expect_err("this is not to succeed");
    error.to_string()
}

/// Another site, which is to hear nothing.
fn stranger() -> Site {
    Site::new(|_, _| Answer::status(200))
}

/// A user who comes back with what `altered` makes of the query.
fn user_with(altered: impl Fn(String) -> String + Send + Sync + Clone + 'static) -> Auth {
    Auth::code().redirect(BACK, move |page| {
        let altered = altered.clone();
        async move {
            let answer = smol::unblock(move || get(&page, None)).await;
            let back = field(&answer, "location").ok_or("no way back")?;
            Ok(altered(back))
        }
    })
}

fn never_exchanged(world: &World) {
    assert_eq!(world.visits(), 1, "the login is not begun again");
    assert!(world.grants().is_empty(), "a code was sent somewhere");
}

/// OA-03: the answer to a visit.
#[test]
fn oa_03_mix_up_a_code_of_another_issuer_goes_nowhere() {
    // ISS-02, ISS-03: whatever differs, and by whatever little; or what was promised is not there.
    let alterations: [fn(&str) -> String; 5] = [
        |_| "&iss=https://evil.example".to_owned(),
        |issuer| format!("&iss={issuer}/"),
        |issuer| format!("&iss={}", issuer.to_uppercase()),
        |issuer| format!("&iss={}", issuer.replace("localhost", "127.0.0.1")),
        |_| String::new(),
    ];
    for altered in alterations {
        let world = World::new();
        let issuer = world.issuer.origin();
        let (right, wrong) = (format!("&iss={issuer}"), altered(&issuer));
        let told = refused(&world, user_with(move |back| back.replace(&right, &wrong)));
        assert!(told.contains("was to come from"), "{told}");
        never_exchanged(&world);
    }
}

#[test]
fn mix_up_an_issuer_that_was_not_promised_counts_as_well() {
    let world = World::new();
    world.with_metadata(|it| {
        it["authorization_response_iss_parameter_supported"] = json!(false);
    });
    let told = refused(&world, user_with(|back| format!("{}x", back)));
    assert!(told.contains("was to come from"), "{told}");
    never_exchanged(&world);
    // Without any it goes on.
    let world = World::new();
    world.with_metadata(|it| {
        it["authorization_response_iss_parameter_supported"] = Value::Null;
    });
    let iss = format!("&iss={}", world.issuer.origin());
    let client = world.connect(user_with(move |back| back.replace(&iss, "")));
    assert_eq!(
        call(&client.expect("a connection"), "read").expect("an answer"),
        "read"
    );
}

/// OA-03: what such an answer says is not told.
#[test]
fn an_error_of_another_issuer_is_not_shown() {
    // ISS-04.
    let world = World::new();
    let told = refused(
        &world,
        user_with(|back| {
            let back = back.replace(
                "code=",
                "error=access_denied&error_description=Call%20me&x=",
            );
            back.replace("&iss=", "&iss=https://evil.example&y=")
        }),
    );
    assert!(told.contains("was to come from"), "{told}");
    assert!(
        !told.contains("Call me") && !told.contains("access_denied"),
        "{told}"
    );
    let world = World::new();
    let told = refused(
        &world,
        user_with(|back| back.replace("code=", "error=access_denied&error_description=No%1b&x=")),
    );
    assert!(told.contains("access_denied (No)"), "{told}");
}

#[test]
fn code_injection_an_answer_with_another_state_is_none() {
    // PKC-03.
    for broken in ["&state=other&z=", "&z=", "&state=a&state="] {
        let world = World::new();
        let told = refused(
            &world,
            user_with(move |back| back.replace("&state=", broken)),
        );
        assert!(told.contains("another login"), "{told}");
        never_exchanged(&world);
    }
    let world = World::new();
    let told = refused(&world, user_with(|back| format!("{back}&code=code-9")));
    assert!(told.contains("another login"), "{told}");
    never_exchanged(&world);
}

#[test]
fn code_injection_a_code_of_another_login_needs_its_verifier() {
    let world = World::new();
    // Somebody else's code, for the same client.
    let foreign = format!(
        "{}/authorize?redirect_uri=x&state=s&code_challenge=other&resource={}",
        world.issuer.origin(),
        world.url()
    );
    let foreign = field(&get(&foreign, None), "location").expect("a code");
    let (_, foreign) = foreign.split_once("code=").expect("a code");
    let foreign = foreign.split('&').next().expect("a code").to_owned();
    let told = refused(
        &world,
        user_with(move |back| {
            let (before, after) = back.split_once("code=").expect("a code");
            let (_, after) = after.split_once('&').expect("a state");
            format!("{before}code={foreign}&{after}")
        }),
    );
    assert!(told.contains("invalid_grant"), "{told}");
}

#[test]
fn oa_06_metadata_of_another_server_are_not_believed() {
    // DSC-03: a token for the victim would end up with the attacker.
    for evil in [
        "https://evil.example/mcp",
        "http://localhost/mcp",
        "",
        "/mcp",
    ] {
        let world = World::new();
        let mut resource = world.resource();
        resource["resource"] = json!(evil);
        world
            .server
            .replace(RESOURCE, move |_| Answer::json(&resource));
        let told = refused(&world, user());
        assert!(told.contains("of another one"), "{told}");
        assert!(world.issuer.all().is_empty());
    }
}

/// OA-03: the metadata.
#[test]
fn oa_03_metadata_of_another_issuer_are_not_believed() {
    // DSC-06.
    let alterations: [fn(&str) -> String; 3] = [
        |_| "https://evil.example".to_owned(),
        |issuer| format!("{issuer}/tenant"),
        str::to_uppercase,
    ];
    for altered in alterations {
        let world = World::new();
        let wrong = altered(&world.issuer.origin());
        world.with_metadata(|it| it["issuer"] = json!(wrong));
        let told = refused(&world, user());
        assert!(told.contains("of another one"), "{told}");
        assert_eq!(world.issuer.all().len(), 1, "none of its endpoints is used");
    }
}

#[test]
fn nothing_is_sent_where_there_is_no_tls() {
    // AUT-04: all but this machine.
    for name in [
        "token_endpoint",
        "registration_endpoint",
        "authorization_endpoint",
    ] {
        let world = World::new();
        world.with_metadata(|it| it[name] = json!("http://as.example/x"));
        let told = refused(&world, user());
        assert!(told.contains("it is not `https://`"), "{name}: {told}");
    }
    for page in [
        "javascript:alert(1)",
        "file:///etc/passwd",
        "https://a@as.example/",
    ] {
        let world = World::new();
        world.with_metadata(|it| it["authorization_endpoint"] = json!(page));
        let told = refused(&world, user());
        // PKC-04.
        assert!(told.contains("nothing is sent to"), "{page}: {told}");
    }
}

#[test]
fn server_side_requests_are_not_forged() {
    // SEC-05: the challenge and the metadata name what only the client can reach.
    for inside in [
        "https://169.254.169.254/latest/meta-data",
        "http://192.168.0.1/",
        "https://0x7f000001/",
        "gopher://localhost/",
    ] {
        let world = World::new();
        let challenge = format!("Bearer resource_metadata=\"{inside}\"");
        world.server.replace("/mcp", move |_| {
            Answer::status(401).field("www-authenticate", &challenge)
        });
        let told = refused(&world, user());
        assert!(told.contains("nothing is sent to"), "{told}");
        let world = World::new();
        let mut resource = world.resource();
        resource["authorization_servers"] = json!([inside]);
        world
            .server
            .replace(RESOURCE, move |_| Answer::json(&resource));
        refused(&world, user());
        assert!(world.issuer.all().is_empty());
    }
}

#[test]
fn credentials_do_not_follow_redirects() {
    for (path, status) in [
        ("/token", 307),
        ("/token", 308),
        ("/register", 307),
        (SERVER, 302),
    ] {
        let (world, other) = (World::new(), stranger());
        // Even one that stays where it is.
        for to in [other.origin(), world.issuer.origin()] {
            let to = format!("{to}/elsewhere");
            world
                .issuer
                .replace(path, move |_| Answer::status(status).field("location", &to));
            let auth = user().client_metadata("https://app.example/client.json");
            refused(&world, auth);
            assert!(other.all().is_empty() && world.issuer.asked("/elsewhere").is_empty());
        }
    }
    // The server's own redirects: the token stays.
    let (world, other) = (World::new(), stranger());
    let client = world.connect(user()).expect("a connection");
    let to = format!("{}/mcp", other.origin());
    world
        .server
        .replace("/mcp", move |_| Answer::status(307).field("location", &to));
    call(&client, "read").expect_err("no answer");
    assert!(other.all().is_empty());
}

#[test]
fn an_open_redirect_does_not_lead_the_user_astray() {
    // The redirect URI is the client's own: what metadata and challenges say does not change it, nor what stands in the page.
    let world = World::new();
    world.with_metadata(|it| {
        let page = it["authorization_endpoint"].as_str().expect("a page");
        it["authorization_endpoint"] =
            json!(format!("{page}?redirect_uri=https%3A%2F%2Fevil.example"));
    });
    let seen = std::sync::Arc::new(std::sync::Mutex::new(String::new()));
    let told = seen.clone();
    let auth = Auth::code().redirect(BACK, move |page| {
        *told.lock().expect("no panic") = page;
        async { Err("I do not like this".to_owned()) }
    });
    let error = refused(&world, auth);
    assert!(error.contains("I do not like this"), "{error}");
    let page = seen.lock().expect("no panic").clone();
    assert!(
        page.contains("redirect_uri=http%3A%2F%2F127.0.0.1%3A1%2Fcallback"),
        "{page}"
    );
}

#[test]
fn oa_13_a_step_up_without_end_ends() {
    // SCP-04: a server that always wants one more.
    let world = World::new();
    let client = world.connect(user()).expect("a connection");
    let count = std::sync::atomic::AtomicUsize::new(0);
    world.server.replace("/mcp", move |_| {
        let count = count.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        let challenge = format!("Bearer error=\"insufficient_scope\", scope=\"s{count}\"");
        Answer::status(403).field("www-authenticate", &challenge)
    });
    let told = call(&client, "read").expect_err("no answer");
    assert!(told.contains("the scope `s2`"), "{told}");
    assert_eq!(world.visits(), 3);
}

#[test]
fn oa_13_the_same_scope_is_not_asked_for_twice() {
    let world = World::new();
    let client = world.connect(user()).expect("a connection");
    world.server.replace("/mcp", |_| {
        Answer::status(403).field(
            "www-authenticate",
            "Bearer error=insufficient_scope, scope=\"admin\"",
        )
    });
    for _ in 0..3 {
        let told = call(&client, "read").expect_err("no answer");
        assert!(told.contains("the scope `admin`"), "{told}");
    }
    assert_eq!(world.visits(), 2);
}

#[test]
fn oa_11_a_server_that_takes_no_token_does_not_ask_the_user_without_end() {
    let world = World::new();
    world.server.replace("/mcp", |_| Answer::status(401));
    let told = refused(&world, user());
    assert!(told.contains("just issued"), "{told}");
    assert_eq!(world.visits(), 1);
}

#[test]
fn no_document_is_too_large_or_too_slow() {
    for (site, path) in [(true, RESOURCE), (false, SERVER), (false, "/token")] {
        let world = World::new();
        let from = if site { &world.server } else { &world.issuer };
        from.replace(path, |_| Answer::status(200).body(vec![b' '; 300 * 1024]));
        let told = refused(&world, user());
        assert!(told.contains("more than 262144 bytes"), "{path}: {told}");
    }
    let world = World::new();
    world.server.replace(RESOURCE, |_| Answer {
        hangs: true,
        ..Answer::status(200)
    });
    let started = Instant::now();
    let told = refused(&world, user().login_timeout(Duration::from_millis(300)));
    assert!(told.contains("took too long"), "{told}");
    assert!(started.elapsed() < Duration::from_secs(10));
}

#[test]
fn no_document_makes_it_panic() {
    for body in [
        "",
        "[]",
        "null",
        "{\"resource\":1}",
        "<html>",
        "{",
        "\u{feff}{}",
    ] {
        let world = World::new();
        world
            .server
            .replace(RESOURCE, move |_| Answer::status(200).body(body));
        refused(&world, user());
        let world = World::new();
        world
            .issuer
            .replace(SERVER, move |_| Answer::status(200).body(body));
        refused(&world, user());
        let world = World::new();
        world
            .issuer
            .replace("/token", move |_| Answer::status(200).body(body));
        refused(&world, user());
        let world = World::new();
        world
            .issuer
            .replace("/register", move |_| Answer::status(201).body(body));
        refused(&world, user());
    }
    let deep = "[".repeat(100_000);
    let world = World::new();
    world
        .server
        .replace(RESOURCE, move |_| Answer::status(200).body(&*deep));
    refused(&world, user());
}

#[test]
fn a_token_that_no_header_can_hold_is_none() {
    for token in ["a b", "a\r\nX-Evil: 1", "", "é"] {
        let world = World::new();
        let answer = json!({"access_token": token, "token_type": "Bearer"});
        world
            .issuer
            .replace("/token", move |_| Answer::json(&answer));
        let told = refused(&world, user());
        assert!(told.contains("the token is none"), "{told}");
    }
    for kind in ["mac", "DPoP"] {
        let world = World::new();
        let answer = json!({"access_token": "a", "token_type": kind});
        world
            .issuer
            .replace("/token", move |_| Answer::json(&answer));
        refused(&world, user());
        assert!(
            world
                .server
                .asked("/mcp")
                .iter()
                .all(|it| it.field("authorization").is_none())
        );
    }
}

#[test]
fn without_pkce_there_is_no_login() {
    // PKC-02: absent, and with nothing but `plain`.
    for methods in [Value::Null, json!(["plain"])] {
        let world = World::new();
        world.with_metadata(|it| it["code_challenge_methods_supported"] = methods.clone());
        let told = refused(&world, user());
        assert!(told.contains("PKCE"), "{told}");
        assert!(world.issuer.asked("/register").is_empty());
    }
}

#[test]
fn credentials_are_for_the_server_that_gave_them() {
    // REG-09.
    let world = World::new();
    let client = Credentials::secret("id", "a-secret").issuer("https://other.example");
    let told = refused(&world, user().client(client.clone()));
    assert!(told.contains("https://other.example"), "{told}");
    let told = refused(&world, Auth::client_credentials(client));
    assert!(told.contains("https://other.example"), "{told}");
    assert!(world.visits() == 0 && world.grants().is_empty());
}

#[test]
fn a_secret_stays_with_the_server_that_has_taken_it_first() {
    // REG-09, when nobody has said which one it is for: another one that the server names later gets nothing.
    let world = World::new();
    // Clones share what is kept.
    let auth = Auth::client_credentials(Credentials::secret("id", "a-secret"));
    let client = world.connect(auth.clone()).expect("a connection");
    assert_eq!(call(&client, "read").expect("an answer"), "read");

    let evil = world.another_issuer();
    let mut resource = world.resource();
    resource["authorization_servers"] = json!([evil.origin()]);
    world
        .server
        .replace(RESOURCE, move |_| Answer::json(&resource));
    world.revoke();
    let told = refused(&world, auth);
    assert!(told.contains(&world.issuer.origin()), "{told}");
    assert!(evil.asked("/token").is_empty());
}

#[test]
fn a_secret_is_not_shown_to_a_server_that_nothing_is_known_of() {
    let world = World::legacy();
    let client = Credentials::secret("id", "a-secret");
    let told = refused(&world, Auth::client_credentials(client));
    assert!(told.contains("no metadata"), "{told}");
    assert!(world.grants().is_empty());
}

#[test]
fn no_token_goes_to_a_server_in_the_clear() {
    // AUT-04: by a name that is not of this machine, whatever that leads to.
    let site = Site::new(|_, _| Answer::status(401));
    let client = smol::block_on(
        Client::builder("test", "1")
            .proxy(Proxy::Url(site.origin()))
            .revision(ProtocolVersion::V2026_07_28)
            .auth(user())
            .connect_http("http://mcp.example/mcp"),
    );
    let told = client.expect_err("this is not to succeed").to_string();
    assert!(told.contains("it is not `https://`"), "{told}");
}
