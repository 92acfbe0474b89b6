//! What is told to the `tracing` facade: names and durations at debug, panics as warnings, never what a message says.
#![cfg(unix)]

use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use mcp_std::Server;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// Writes down the events of mcp_std.
#[derive(Clone, Default)]
struct Events(Arc<Mutex<Vec<(Level, String)>>>);

struct Text<'a>(&'a mut String);

impl Visit for Text<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() != "micros" {
            self.0.push_str(&format!(" {}={value:?}", field.name()));
        }
    }
}

impl Subscriber for Events {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("mcp_std")
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut text = String::new();
        event.record(&mut Text(&mut text));
        let mut events = self.0.lock().expect("nobody panics with it");
        events.push((*event.metadata().level(), text));
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Secret {
    #[expect(dead_code, reason = "it is not to be told")]
    secret: String,
}

#[test]
fn calls_and_faults_are_told() {
    let server = Server::builder("traced", "1")
        .tool("keep", "", |_: Secret| async { "hunter2 is kept" })
        .tool("panic", "", || async {
            if true {
                panic!("hunter2");
            }
        })
        .build()
        .expect("a server");
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    let call = |id: u8, tool: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{{"secret":"hunter2"}},{meta}}}}}"#
        )
    };
    let input = [
        call(1, "keep"),
        call(2, "panic"),
        "junk hunter2".into(),
        String::new(),
    ]
    .join("\n");
    let events = Events::default();
    tracing::subscriber::with_default(events.clone(), || {
        async_io::block_on(server.serve(input.as_bytes(), futures_lite::io::sink()))
            .expect("slices do not fail");
    });
    let events = events.0.lock().expect("nobody panics with it");
    let told: Vec<_> = events
        .iter()
        .map(|(level, text)| format!("{level}{text}"))
        .collect();
    let call = |level: &str, what: &str, name: &str| {
        format!("{level} message={what} method=\"tools/call\" name=\"{name}\"")
    };
    assert_eq!(
        told[..5],
        [
            call("DEBUG", "began", "keep"),
            call("DEBUG", "ended", "keep"),
            call("DEBUG", "began", "panic"),
            call("DEBUG", "ended", "panic"),
            call("WARN", "panicked", "panic"),
        ]
    );
    assert!(
        told[5].starts_with("DEBUG message=the peer broke a rule fault="),
        "{}",
        told[5]
    );
    assert_eq!(told.len(), 6);
    assert!(
        !told.iter().any(|event| event.contains("hunter2")),
        "{told:?}"
    );
}

#[test]
fn names_that_clients_may_not_take_are_told() {
    let events = Events::default();
    tracing::subscriber::with_default(events.clone(), || {
        let server = Server::builder("", "1").tool("a b", "", || async {});
        server.tool("a-b_c/D.1", "", || async {}).build()
    })
    .expect("a server");
    let events = events.0.lock().expect("nobody panics with it");
    let told: Vec<_> = events.iter().map(|it| (it.0, &*it.1)).collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told.iter().all(|it| it.0 == Level::WARN), "{told:?}");
    assert!(told[0].1.contains("no name or no version"), "{told:?}");
    assert!(told[1].1.contains("name=\"a b\""), "{told:?}");
}

/// A mistake in the settings of a server over HTTP is told when serving begins, or with the first request that meets it.
#[cfg(feature = "auth")]
#[test]
fn mistakes_of_whoever_runs_a_server_are_told() {
    use mcp_std::http::HttpRules;
    use mcp_std::http::auth::{Claims, Issuer, ResourceServer, StaticTokens};
    use tower_service::Service as _;

    let claims = Claims::new("alice").with("aud", "https://other.example/");
    let tokens = StaticTokens::new().token("t", claims);
    let auth = ResourceServer::builder("https://mcp.example.com/mcp")
        .issuer(Issuer::verified_by("https://as.example", tokens))
        .tool_scopes("deploy", ["a"])
        .tool_scopes("Deploy", ["a"])
        .method_scopes("tools/list", ["a"])
        .method_scopes("tools/cal", ["a"])
        .build()
        .expect("a resource server");
    let server = Server::builder("s", "1")
        .tool("deploy", "", || async {})
        .build()
        .expect("a server");
    let events = Events::default();
    tracing::subscriber::with_default(events.clone(), || {
        let rules = HttpRules::new()
            .host("https://mcp.example.com/mcp")
            .host("two words")
            .origin("app.example.com");
        let mut service = server.http().rules(rules).auth(auth).service();
        let mut ask = |host: &str| {
            let request = http::Request::post("/mcp")
                .header("host", host)
                .header("content-type", "application/json")
                .header("accept", "application/json, text/event-stream")
                .header("authorization", "Bearer t")
                .body(String::new())
                .expect("a request");
            let response = async_io::block_on(service.call(request));
            response.expect("infallible").status().as_u16()
        };
        assert_eq!(ask("mcp.example.com"), 401);
        assert_eq!(ask("evil.example"), 403);
    });
    let events = events.0.lock().expect("nobody panics with it");
    let told = |level, words: &[&str]| {
        let meant = |text: &str| words.iter().all(|word| text.contains(word));
        let found = events.iter().filter(|it| it.0 == level && meant(&it.1));
        found.count()
    };
    assert_eq!(told(Level::WARN, &[]), 4, "{events:?}");
    for words in [
        &["tool=\"Deploy\"", "not there"],
        &["method=\"tools/cal\"", "none"],
        &["name=\"two words\"", "permitted"],
        &["name=\"app.example.com\"", "permitted"],
    ] {
        assert_eq!(told(Level::WARN, words), 1, "{words:?}: {events:?}");
    }
    for words in [
        &["https://other.example/", "https://mcp.example.com/mcp"],
        &["evil.example", "HttpRules::host"],
    ] {
        assert_eq!(told(Level::DEBUG, words), 1, "{words:?}: {events:?}");
    }
}

#[test]
fn a_handler_without_its_runtime_is_told_what_to_do() {
    let server = Server::builder("s", "1")
        .tool("nap", "", || async {
            tokio::time::sleep(core::time::Duration::from_millis(1)).await;
        })
        .build()
        .expect("a server");
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"nap","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    let events = Events::default();
    tracing::subscriber::with_default(events.clone(), || {
        let input = format!("{call}\n");
        async_io::block_on(server.serve(input.as_bytes(), futures_lite::io::sink()))
            .expect("slices do not fail");
    });
    let events = events.0.lock().expect("nobody panics with it");
    let hint = |it: &&(Level, String)| it.0 == Level::WARN && it.1.contains("around_threads");
    assert_eq!(events.iter().filter(hint).count(), 1, "{events:?}");
}
