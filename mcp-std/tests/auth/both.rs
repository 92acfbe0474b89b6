//! Our client at our protected server, whose tokens the authorization server of these tests signs.

use std::sync::Arc;
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

use mcp_io::http::server::Listener;
use mcp_std::auth::LoggedOut;
use mcp_std::client::{Client, Proxy};
use mcp_std::http::auth::ResourceServer;
use mcp_std::{Context, Server};
use serde_json::{Value, json};

use crate::keys::{self, Signer};
use crate::site::Answer;
use crate::world::{World, call, user};

/// A world whose tokens say what they are by themselves.
fn signing() -> World {
    let world = World::new();
    let key = Arc::new(Signer::es256("a"));
    let issuer = world.issuer.origin();
    let set = keys::set(&[&key]);
    world.issuer.replace("/keys", move |_| Answer::json(&set));
    world.issuer.replace("/revoke", |_| Answer::status(200));
    world.with_metadata(|it| {
        it["jwks_uri"] = json!(format!("{issuer}/keys"));
        it["revocation_endpoint"] = json!(format!("{issuer}/revoke"));
    });
    world.with_tokens(move |asked, mut answer| {
        if answer.status != 200 {
            return answer;
        }
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = since.expect("after 1970").as_secs();
        let mut body: Value = serde_json::from_slice(&answer.body).expect("JSON");
        let claims = json!({"iss": issuer, "sub": "alice", "aud": asked.parameter("resource"),
            "client_id": asked.parameter("client_id"), "jti": body["access_token"],
            "scope": body["scope"], "iat": now, "exp": now + 300});
        body["access_token"] = key.token(&claims).into();
        answer.body = body.to_string().into_bytes();
        answer
    });
    world
}

/// Serves until the process ends; its URL.
fn protected(world: &World) -> String {
    let listener = Listener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("of TCP");
    let url = format!("http://{address}/mcp");
    let who = |context: Context| async move {
        let subject = context.principal().and_then(|it| it.subject());
        subject.unwrap_or("nobody").to_owned()
    };
    let server = Server::builder("both", "1")
        .tool("read", "", who)
        .tool("write", "", who)
        .build()
        .expect("a server");
    let auth = ResourceServer::builder(&url)
        .issuer(world.issuer.origin())
        .scopes(["read"])
        .tool_scopes("write", ["write"])
        .build()
        .expect("a resource server");
    let http = server.http().auth(auth);
    thread::spawn(move || async_io::block_on(http.serve_on(listener, core::future::pending())));
    url
}

#[test]
fn a_login_a_refresh_a_step_up_and_a_logout() {
    let world = signing();
    let url = protected(&world);
    // The first token counts as expired at once.
    world.given.lock().expect("no panic").expires_in = Some(0);
    let auth = user();
    let builder = Client::builder("test", "1").proxy(Proxy::None);
    let client = smol::block_on(builder.auth(auth.clone()).connect_http(&url));
    let client = client.expect("a connection");
    assert_eq!(call(&client, "read").expect("an answer"), "alice");
    assert_eq!(world.grants(), ["authorization_code", "refresh_token"]);
    assert_eq!(call(&client, "write").expect("an answer"), "alice");
    assert_eq!(call(&client, "read").expect("an answer"), "alice");
    let visits = world.issuer.asked("/authorize");
    let scopes: Vec<_> = visits.iter().map(|it| it.parameter("scope")).collect();
    assert_eq!(scopes, ["read", "read write"].map(|it| Some(it.to_owned())));
    for visit in visits {
        assert_eq!(visit.parameter("resource").as_deref(), Some(&*url));
    }
    // The keys were asked for once, and nothing but the client came to the other endpoints.
    assert_eq!(world.issuer.asked("/keys").len(), 1);
    let end = smol::block_on(auth.logout(&url)).expect("a store");
    assert_eq!(end, LoggedOut::Revoked);
}
