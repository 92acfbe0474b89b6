//! Extensions of third parties: the server of `examples/server_extension.rs`.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_io::Timer;
use mcp_std::{Extension, Json, Listening, Server};
use serde_json::{Value, json};

use crate::peer::{modern, request, serve, session};

#[expect(dead_code, reason = "the rest is for those who run it")]
#[path = "../../examples/server_extension.rs"]
mod example;

use example::LAMPS;

fn able(settings: &Value) -> Value {
    json!({ "extensions": { LAMPS: settings } })
}

/// Negotiated per request in 2026-07-28: declared, required, with settings on both sides.
#[test]
fn a_modern_client_declares_it_on_each_request() {
    let server = example::server().expect("it can be built");
    let end = serve(&server, |mut peer| async move {
        let none = json!({});
        let offered = peer.modern("d", "server/discover", &json!({}), &none).await;
        assert_eq!(
            offered["capabilities"]["extensions"][LAMPS],
            json!({ "lamps": 2 })
        );
        let hall = json!({ "lampId": "hall" });
        let refused = peer.modern("1", "lamps/get", &hall, &none).await;
        assert_eq!(refused["error"]["code"], -32021, "{refused}");
        assert_eq!(
            refused["error"]["data"]["requiredCapabilities"],
            able(&json!({})),
            "ERR-08"
        );
        let not_an_object = json!({ "extensions": { LAMPS: true } });
        let refused = peer.modern("2", "lamps/get", &hall, &not_an_object).await;
        assert_eq!(refused["error"]["code"], -32021, "CAP-05: {refused}");
        let able_ = able(&json!({}));
        let state = peer.modern("3", "lamps/get", &hall, &able_).await;
        assert_eq!(state["resultType"], "complete");
        assert_eq!(
            (&state["lampId"], &state["on"]),
            (&"hall".into(), &false.into())
        );
        // CAP-07: what was declared before does not count.
        let refused = peer.modern("4", "lamps/get", &hall, &none).await;
        assert_eq!(refused["error"]["code"], -32021, "{refused}");
        let unknown = peer.modern("5", "lamps/burn", &hall, &able_).await;
        assert_eq!(unknown["error"]["code"], -32601, "{unknown}");
        let malformed = peer.modern("6", "lamps/get", &json!({}), &able_).await;
        assert_eq!(malformed["error"]["code"], -32602, "{malformed}");
        let nothing = json!({ "lampId": "moon" });
        let nothing = peer.modern("7", "lamps/get", &nothing, &able_).await;
        assert_eq!(nothing["error"]["code"], -32602, "{nothing}");
        let on = json!({ "lampId": "hall", "on": true });
        let shy = able(&json!({ "readOnly": true }));
        let refused = peer.modern("8", "lamps/switch", &on, &shy).await;
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
        let state = peer.modern("9", "lamps/switch", &on, &able_).await;
        assert_eq!(state["on"], true, "{state}");
        peer.close();
    });
    end.expect("sockets do not fail");
}

/// Negotiated per session before that.
#[test]
fn a_legacy_client_declares_it_for_its_session() {
    let server = example::server().expect("it can be built");
    let hall = json!({ "lampId": "hall", "on": true });
    for (settings, code) in [
        (json!({ "readOnly": true }), json!(-32602)),
        (json!({}), json!(null)),
    ] {
        let (server, hall) = (&server, &hall);
        let end = serve(server, |mut peer| async move {
            peer.handshake("2025-11-25", &able(&settings)).await;
            let answer = peer.request("1", "lamps/switch", hall).await;
            assert_eq!(answer["error"]["code"], code, "{answer}");
            assert_eq!(answer.get("resultType"), None, "{answer}");
            peer.close();
        });
        end.expect("sockets do not fail");
    }
    session(&server, |mut peer| async move {
        let hall = json!({ "lampId": "hall" });
        let refused = peer.request("1", "lamps/get", &hall).await;
        assert_eq!(refused["error"]["code"], -32602, "it did not: {refused}");
        peer.close();
    });
}

/// What clients listen for: asked about, acknowledged, told, and never to who did not declare it.
#[test]
fn topics_are_listened_to() {
    let server = example::server().expect("it can be built");
    let end = serve(&server, |mut peer| async move {
        let filter = json!({ "notifications": { "lampIds": ["hall", "moon", "hall"] } });
        let refused = peer
            .modern("no", "subscriptions/listen", &filter, &json!({}))
            .await;
        assert_eq!(refused["error"]["code"], -32021, "{refused}");
        let malformed = json!({ "notifications": { "lampIds": "hall" } });
        let able = able(&json!({}));
        let refused = peer
            .modern("no", "subscriptions/listen", &malformed, &able)
            .await;
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
        peer.send(&request(
            "sub",
            "subscriptions/listen",
            &modern(&filter, &able),
        ))
        .await;
        let told = peer.message().await;
        assert_eq!(told["method"], "notifications/subscriptions/acknowledged");
        assert_eq!(
            told["params"]["notifications"],
            json!({ "lampIds": ["hall"] })
        );
        let on = json!({ "lampId": "hall", "on": true });
        peer.send(&request("on", "lamps/switch", &modern(&on, &able)))
            .await;
        let (mut told, mut answered) = (peer.message().await, peer.message().await);
        if told["id"] == "on" {
            (told, answered) = (answered, told);
        }
        assert_eq!(answered["result"]["on"], true, "{answered}");
        let expected = json!({
            "jsonrpc": "2.0",
            "method": "notifications/lamps",
            "params": {
                "_meta": { "io.modelcontextprotocol/subscriptionId": "sub" },
                "lampId": "hall",
                "on": true,
            },
        });
        assert_eq!(told, expected, "META-14");
        // A notification of the client, which makes the server tell again.
        peer.send(
            r#"{"jsonrpc":"2.0","method":"notifications/lamps/flash","params":{"lampId":"hall"}}"#,
        )
        .await;
        assert_eq!(peer.message().await, expected);
        peer.close();
    });
    end.expect("sockets do not fail");
}

#[test]
fn what_cannot_be_offered_is_not() {
    for id in ["lamps", "/lamps", "com.example/", ""] {
        let server = Server::builder("s", "1").with_extension(Extension::new(id));
        assert!(server.build().is_err(), "{id:?}");
    }
    let twice = Server::builder("s", "1")
        .with_extension(Extension::new(LAMPS))
        .with_extension(Extension::new(LAMPS));
    assert!(twice.build().is_err());
    let server = Server::builder("s", "1")
        .with_extension(Extension::new(LAMPS))
        .build();
    assert!(!server.expect("a server").announce(
        "com.example/other",
        "x",
        mcp_std::Json::EMPTY_OBJECT
    ));
}

/// How a thing stands is made when there is room to write it: who listens for much and does not read costs little.
#[test]
fn what_is_told_at_first_is_made_when_it_is_written() {
    const TOPICS: usize = 64;
    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    let lamps = Extension::new("com.example/lamps").topics("lampIds", "notifications/lamps", {
        move |topic, _| {
            count.fetch_add(1, Ordering::Relaxed);
            let state = json!({ "lampId": topic, "light": "x".repeat(1 << 20) });
            Listening::AcceptedWith(Json::owned(state.to_string()).expect("JSON"))
        }
    });
    let server = Server::builder("house", "1").with_extension(lamps).build();
    let end = serve(&server.expect("it can be built"), |mut peer| async move {
        let all: Vec<_> = (0..TOPICS).map(|at| format!("lamp {at}")).collect();
        let filter = json!({ "notifications": { "lampIds": all } });
        let params = modern(
            &filter,
            &json!({ "extensions": { "com.example/lamps": {} } }),
        );
        peer.send(&request("sub", "subscriptions/listen", &params))
            .await;
        Timer::after(Duration::from_millis(300)).await;
        let asked_first = asked.load(Ordering::Relaxed);
        let bound = TOPICS..TOPICS + 8;
        assert!(
            bound.contains(&asked_first),
            "{asked_first}, and nobody reads"
        );
        let told = peer.message().await;
        assert_eq!(told["method"], "notifications/subscriptions/acknowledged");
        let mut lit = Vec::new();
        while lit.len() < TOPICS {
            let told = peer.message().await;
            assert_eq!(
                told["params"]["light"].as_str().map(str::len),
                Some(1 << 20)
            );
            lit.push(
                told["params"]["lampId"]
                    .as_str()
                    .expect("a lamp")
                    .to_owned(),
            );
        }
        assert_eq!(lit, all, "each once, in the order of asking");
        assert_eq!(asked.load(Ordering::Relaxed), 2 * TOPICS);
        peer.close();
    });
    end.expect("sockets do not fail");
}
