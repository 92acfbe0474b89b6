//! Nothing secret is in what is logged or shown.

use core::fmt::{Debug, Write as _};
use std::sync::{Arc, Mutex};

use mcp_std::auth::{
    Auth, Challenge, Credentials, IdentityProvider, MemoryStore, Secret, TokenStore,
};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use crate::world::{World, call, user};

#[test]
fn debug_shows_no_secret() {
    let secret = || Secret::new("hush");
    let client = Credentials::secret("id", secret());
    let provider = IdentityProvider::new("i", "t", client.clone(), move || Ok(secret()));
    let store = MemoryStore::new();
    store.set("name", Some(&Secret::new("hush"))).expect("kept");
    let all: [&dyn Debug; 6] = [
        &Secret::new("hush"),
        &client,
        &provider,
        &Auth::client_credentials(client.clone()),
        &store,
        &Challenge::parse_all([&b"Bearer nonce=hush"[..]]),
    ];
    for one in all {
        let shown = format!("{one:?} {one:#?}");
        assert!(!shown.contains("hush"), "{shown}");
    }
    assert_ne!(Secret::new("hush"), Secret::new("hust"));
    assert_ne!(Secret::new("hush"), Secret::new("hus"));
    assert_eq!(Secret::new("hush"), Secret::new("hush"));
}

/// Writes down everything.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<String>>);

impl Visit for Log {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let mut log = self.0.lock().expect("no panic");
        write!(log, "{field}={value:?} ").expect("a string");
    }
}

impl Subscriber for Log {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }
    fn new_span(&self, span: &Attributes<'_>) -> Id {
        span.record(&mut self.clone());
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, values: &Record<'_>) {
        values.record(&mut self.clone());
    }
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, event: &Event<'_>) {
        event.record(&mut self.clone());
    }
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

#[test]
fn logs_show_no_secret() {
    let log = Log::default();
    // Logins run on threads of their own.
    tracing::subscriber::set_global_default(log.clone()).expect("the only one");
    let world = World::new();
    world.given.lock().expect("no panic").expires_in = Some(0);
    let client = world.connect(user().client(Credentials::secret("id", "s3cret")));
    let client = client.expect("a connection");
    call(&client, "write").expect("an answer");
    world
        .issuer
        .replace("/token", |_| crate::site::Answer::status(400).body("t0ken"));
    world.revoke();
    call(&client, "write").expect_err("no token");
    let log = log.0.lock().expect("no panic").clone();
    assert!(
        log.contains(&format!("{}/token", world.issuer.origin())),
        "it is logged at all"
    );
    let mut secrets = vec!["s3cret".to_owned(), "t0ken".to_owned()];
    for asked in world.issuer.all() {
        let names = ["code", "state", "code_verifier", "refresh_token"];
        secrets.extend(names.iter().filter_map(|name| asked.parameter(name)));
    }
    for asked in world.server.all() {
        let token = asked
            .field("authorization")
            .and_then(|it| it.split(' ').nth(1));
        secrets.extend(token.map(str::to_owned));
    }
    // Other tests log too, with names that are as short: only whole words count.
    let port = world.issuer.port.to_string();
    let mine = log.split("message=").filter(|line| line.contains(&port));
    let mine: String = mine.collect();
    assert!(secrets.len() > 8 && !mine.is_empty());
    for secret in secrets {
        assert!(!mine.contains(&secret), "{secret}");
    }
}
