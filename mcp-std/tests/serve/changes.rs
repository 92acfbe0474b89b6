//! Changes while a server is served: who hears of them, and what becomes of calls that run.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_io::Timer;
use mcp_std::{BuildError, End, Prompt, Resource, ResourceTemplate, Server, ServerBuilder, Tool};
use serde_json::{Value, json};

use crate::peer::{Peer, modern, request, serve, text};

fn builder() -> ServerBuilder {
    Server::builder("changes", "1")
        .tool("first", "", || async { "first" })
        .resource("mem://a", "a", || async { "a" })
        .list_changes()
        .subscriptions()
}

fn tool(name: &str) -> Tool {
    Tool::new(name, "", || async { "new" })
}

fn clean<C: Future<Output = Peer>>(server: &Server, client: impl FnOnce(Peer) -> C) {
    let end = serve(server, |peer| async move {
        let peer = client(peer).await;
        assert_eq!(peer.rest().await, [Value::Null; 0]);
    });
    assert_eq!(end.expect("sockets do not fail"), End::Complete);
}

async fn names(peer: &mut Peer) -> Vec<Value> {
    let list = peer.request("list", "tools/list", &json!({})).await;
    let tools = list["tools"].as_array().expect("a list");
    tools.iter().map(|tool| tool["name"].clone()).collect()
}

#[test]
fn a_session_hears_of_each_list() {
    let server = builder().build().expect("a server");
    let changing = server.clone();
    clean(&server, |mut peer| async move {
        let hello = peer.handshake("2025-06-18", &json!({})).await;
        let capabilities = &hello["capabilities"];
        assert_eq!(capabilities["tools"], json!({ "listChanged": true }));
        assert_eq!(capabilities["prompts"], json!({ "listChanged": true }));
        assert_eq!(
            capabilities["resources"],
            json!({ "listChanged": true, "subscribe": true })
        );
        // Answered after the notification that the session is ready was taken.
        peer.ping().await;

        changing.add_tool(tool("second")).expect("it is new");
        let told = peer.message().await;
        assert_eq!(told["method"], "notifications/tools/list_changed");
        assert_eq!(names(&mut peer).await, ["first", "second"]);
        let call = json!({ "name": "second" });
        assert_eq!(text(&peer.request("1", "tools/call", &call).await), "new");

        assert_eq!(changing.remove_tool("first"), Ok(true));
        assert_eq!(
            peer.message().await["method"],
            "notifications/tools/list_changed"
        );
        let gone = peer
            .request("2", "tools/call", &json!({ "name": "first" }))
            .await;
        assert_eq!(gone["error"]["code"], -32602);
        // What was at the second place is at the first one now.
        assert_eq!(text(&peer.request("1", "tools/call", &call).await), "new");

        changing
            .add_prompt(Prompt::new("p", "", || async { "p" }))
            .expect("it is new");
        assert_eq!(
            peer.message().await["method"],
            "notifications/prompts/list_changed"
        );
        let prompt = peer
            .request("3", "prompts/get", &json!({ "name": "p" }))
            .await;
        assert_eq!(prompt["messages"][0]["content"]["text"], "p");

        changing
            .add_resource(Resource::new("mem://b", "b", || async { "b" }))
            .expect("it is new");
        assert_eq!(
            peer.message().await["method"],
            "notifications/resources/list_changed"
        );
        #[derive(serde::Deserialize)]
        struct Named {
            name: String,
        }
        let named = |it: Named| async move { it.name };
        changing
            .add_template(ResourceTemplate::new("mem://named/{name}", "named", named))
            .expect("it is new");
        assert_eq!(
            peer.message().await["method"],
            "notifications/resources/list_changed"
        );
        let read = peer
            .request("4", "resources/read", &json!({ "uri": "mem://named/x" }))
            .await;
        assert_eq!(read["contents"][0]["text"], "x");
        peer
    });
}

#[test]
fn what_cannot_be_changed() {
    let server = builder().build().expect("a server");
    let twice = server.add_tool(tool("first"));
    assert!(matches!(twice, Err(BuildError::Catalog(_))), "{twice:?}");
    assert_eq!(server.remove_tool("other"), Ok(false));
    let fixed = Server::builder("fixed", "1").build().expect("a server");
    assert_eq!(fixed.add_tool(tool("t")), Err(BuildError::Unchanging));
    assert_eq!(fixed.remove_tool("t"), Err(BuildError::Unchanging));
    fixed.resource_updated("mem://a");
    clean(&server, |mut peer| async move {
        peer.handshake("2025-06-18", &json!({})).await;
        assert_eq!(names(&mut peer).await, ["first"], "nothing has changed");
        peer
    });
}

/// SUB-02, SUB-03, SUB-06: who listens is told of what they asked for, with the name of their subscription.
#[test]
fn modern_listeners_hear_what_they_asked_for() {
    let server = builder().build().expect("a server");
    let changing = server.clone();
    let end = serve(&server, |mut peer| async move {
        let listen = |id: &str, notifications: Value| {
            let params = modern(&json!({ "notifications": notifications }), &json!({}));
            request(id, "subscriptions/listen", &params)
        };
        let subscription = |message: &Value| {
            message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"].clone()
        };
        peer.send(&listen("tools", json!({ "toolsListChanged": true })))
            .await;
        let ack = peer.message().await;
        assert_eq!(ack["method"], "notifications/subscriptions/acknowledged");
        assert_eq!(subscription(&ack), "tools");
        peer.send(&listen(
            "a",
            json!({ "resourceSubscriptions": ["mem://a"] }),
        ))
        .await;
        assert_eq!(subscription(&peer.message().await), "a");

        changing.add_tool(tool("second")).expect("it is new");
        let told = peer.message().await;
        assert_eq!(told["method"], "notifications/tools/list_changed");
        assert_eq!(subscription(&told), "tools");
        changing
            .add_prompt(Prompt::new("p", "", || async { "p" }))
            .expect("it is new");
        changing.resource_updated("mem://b");
        changing.resource_updated("mem://a");
        let told = peer.message().await;
        assert_eq!(told["method"], "notifications/resources/updated");
        assert_eq!(told["params"]["uri"], "mem://a");
        assert_eq!(subscription(&told), "a");

        // The end of the input ends them.
        let rest = peer.rest().await;
        for id in ["tools", "a"] {
            let closed = rest.iter().find(|message| message["id"] == id);
            let closed = closed.unwrap_or_else(|| panic!("{id} is closed: {rest:?}"));
            assert_eq!(closed["result"]["resultType"], "complete");
        }
    });
    assert_eq!(end.expect("sockets do not fail"), End::Complete);
}

/// A call keeps the handler it began with, and its place in the new list does not matter.
#[test]
fn calls_in_flight_keep_their_handler() {
    let go = Arc::new(AtomicBool::new(false));
    let waiting = go.clone();
    let server = builder()
        .tool("slow", "", move || {
            let go = waiting.clone();
            async move {
                while !go.load(Ordering::SeqCst) {
                    Timer::after(Duration::from_millis(1)).await;
                }
                "slow"
            }
        })
        .max_concurrent(1)
        .build()
        .expect("a server");
    let changing = server.clone();
    clean(&server, |mut peer| async move {
        peer.handshake("2025-06-18", &json!({})).await;
        peer.call(1, "slow", "{}").await;
        // Accepted, and waiting for its turn.
        peer.call(2, "first", "{}").await;
        peer.ping().await;
        assert_eq!(changing.remove_tool("first"), Ok(true));
        assert_eq!(changing.remove_tool("slow"), Ok(true));
        changing.add_tool(tool("third")).expect("it is new");
        assert_eq!(
            peer.message().await["method"],
            "notifications/tools/list_changed"
        );
        go.store(true, Ordering::SeqCst);
        for (id, expected) in [(1, "slow"), (2, "first")] {
            // Some changes may be told of one by one.
            let mut message = peer.message().await;
            while message.get("id").is_none() {
                message = peer.message().await;
            }
            assert_eq!(message["id"], id);
            assert_eq!(text(&message["result"]), expected);
        }
        assert_eq!(names(&mut peer).await, ["third"]);
        peer
    });
}

/// A client that does not read, while everything changes without end: it is told once of each.
#[test]
fn li_03_a_storm_of_changes() {
    let server = builder().build().expect("a server");
    let changing = server.clone();
    clean(&server, |mut peer| async move {
        peer.handshake("2025-06-18", &json!({})).await;
        peer.request("s", "resources/subscribe", &json!({ "uri": "mem://a" }))
            .await;
        // It answers pings, so all before is done; from here on it is only written to.
        peer.ping().await;
        let storm = std::thread::spawn(move || {
            for n in 0..100_000 {
                changing.resource_updated("mem://a");
                changing.resource_updated(&format!("mem://{n}"));
            }
            for _ in 0..100 {
                changing.add_tool(tool("more")).expect("it is new");
                assert_eq!(changing.remove_tool("more"), Ok(true));
            }
        });
        while !storm.is_finished() {
            Timer::after(Duration::from_millis(1)).await;
        }
        storm.join().expect("it does not panic");
        peer.send(&request("last", "tools/list", &json!({}))).await;
        let mut updates = 0;
        loop {
            let message = peer.message().await;
            if message["id"] == "last" {
                break;
            }
            let method = message["method"].as_str().expect("a notification");
            assert!(
                [
                    "notifications/resources/updated",
                    "notifications/tools/list_changed",
                    "notifications/resources/list_changed"
                ]
                .contains(&method),
                "{message}"
            );
            if method == "notifications/resources/updated" {
                assert_eq!(message["params"]["uri"], "mem://a");
            }
            updates += 1;
        }
        assert!(updates >= 2, "it was told");
        peer
    });
}

/// A change that comes while the connection hears of another is told after it, not with the next message that happens to
/// come.
#[test]
fn li_02_two_changes_close_together() {
    const ROUNDS: u32 = 10_000;
    let server = builder().build().expect("a server");
    let changing = server.clone();
    let (change, changes) = std::sync::mpsc::channel::<u32>();
    let thread = std::thread::spawn(move || {
        for apart in changes {
            changing.resource_updated("mem://a");
            (0..apart).for_each(|_| core::hint::spin_loop());
            changing.resource_updated("mem://b");
        }
    });
    clean(&server, |mut peer| async move {
        peer.handshake("2025-06-18", &json!({})).await;
        for uri in ["mem://a", "mem://b"] {
            let subscribe = json!({ "uri": uri });
            peer.request("s", "resources/subscribe", &subscribe).await;
        }
        for round in 0..ROUNDS {
            change.send(round % 500).expect("the thread runs");
            let both = [peer.message().await, peer.message().await];
            let mut uris = both.each_ref().map(|it| &it["params"]["uri"]);
            uris.sort_by_key(|it| it.as_str());
            assert_eq!(uris, ["mem://a", "mem://b"]);
        }
        peer
    });
    thread.join().expect("it does not panic");
}
