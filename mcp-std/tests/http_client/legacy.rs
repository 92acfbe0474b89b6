//! Servers with sessions, and the oldest ones.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

use mcp_std::LoggingLevel;
use mcp_std::ProtocolVersion;
use mcp_std::client::{ClosedReason, Restart};
use mcp_std::model::{ElicitAction, ElicitResult, SubscriptionFilter};
use serde_json::{Value, json};
use smol::block_on;

use super::peer::{Answer, Asked, Peer};
use super::{builder, initialized, text};

/// A session `s1`, without a stream of the server's own messages.
fn usual(asked: &Asked, answer: &mut Answer<'_>) -> bool {
    match (&*asked.verb, asked.method()) {
        ("POST", "initialize") => {
            let session = "Mcp-Session-Id: s1\r\n";
            answer.json(200, session, &asked.result(&initialized("2025-11-25")));
        }
        ("POST", "tools/call") => answer.json(200, "", &asked.result(&text("done"))),
        ("POST", _) if asked.body.get("id").is_none() => answer.status(202, "", ""),
        ("POST", _) => answer.json(200, "", &asked.result(&json!({}))),
        ("GET", _) => answer.status(405, "", ""),
        _ => answer.status(200, "", ""),
    }
    true
}

#[test]
fn sn_05_a_session_is_begun_used_and_left() {
    // SN-05.
    for status in [200, 404, 405] {
        let peer = Peer::new(move |asked, answer| {
            if asked.verb == "DELETE" {
                answer.status(status, "", "");
                return true;
            }
            usual(asked, answer)
        });
        block_on(async {
            let client = builder()
                .revision(ProtocolVersion::V2025_11_25)
                .connect_http(&peer.url())
                .await
                .expect("connected");
            let outcome = client.call_tool("t", &()).await.expect("an outcome");
            assert_eq!(outcome.text(), "done");
            let closed = client.close().await;
            assert!(matches!(closed.reason(), ClosedReason::Us));
        });
        let expected = [
            "initialize",
            "notifications/initialized",
            "GET",
            "tools/call",
            "DELETE",
        ];
        assert_eq!(peer.methods(), expected);
        for asked in &peer.asked()[1..] {
            assert_eq!(asked.field("mcp-session-id"), Some("s1"));
            assert_eq!(asked.field("mcp-protocol-version"), Some("2025-11-25"));
            assert_eq!(asked.field("mcp-method"), None);
        }
    }
}

#[test]
fn sn_05_a_server_that_keeps_silent_at_the_end_is_left() {
    let peer = Peer::new(|asked, answer| {
        if asked.verb == "DELETE" {
            std::thread::sleep(Duration::from_secs(20));
        }
        usual(asked, answer)
    });
    let started = std::time::Instant::now();
    block_on(async {
        let client = builder()
            .connect_http(&peer.url())
            .await
            .expect("connected");
        client.close().await;
    });
    assert!(started.elapsed() < Duration::from_secs(5));
}

#[test]
fn or_10_the_server_asks_on_a_stream_of_its_own() {
    // The answer goes out while the call is pending.
    let (ask, asks) = channel::<()>();
    let (answered, answers) = channel::<Value>();
    let (ask, asks) = (Mutex::new(ask), Mutex::new(asks));
    let (answered, answers) = (Mutex::new(answered), Mutex::new(answers));
    let peer = Peer::new(move |asked, answer| {
        match (&*asked.verb, asked.method()) {
            ("GET", _) => {
                answer.stream();
                asks.lock().expect("no panic").recv().expect("a call");
                answer.event(
                    &json!({"jsonrpc": "2.0", "id": "q", "method": "elicitation/create",
                    "params": {"message": "who?", "requestedSchema": {"type": "object",
                        "properties": {"name": {"type": "string"}}}}}),
                );
            }
            ("POST", "tools/call") => {
                ask.lock().expect("no panic").send(()).expect("heard");
                let reply = answers.lock().expect("no panic").recv().expect("an answer");
                let name = reply["result"]["content"]["name"].as_str().expect("a name");
                answer.json(200, "", &asked.result(&text(name)));
            }
            ("POST", "") => {
                answered
                    .lock()
                    .expect("no panic")
                    .send(asked.body.clone())
                    .expect("heard");
                answer.status(202, "", "");
            }
            _ => return usual(asked, answer),
        }
        true
    });
    block_on(async {
        let client = builder()
            .revision(ProtocolVersion::V2025_11_25)
            .elicitation(|_| async {
                let mut result = ElicitResult::new(ElicitAction::Accept);
                let content = mcp_std::Json::owned(r#"{"name":"ann"}"#.to_owned());
                result.content = Some(content.expect("JSON"));
                result
            })
            .connect_http(&peer.url())
            .await
            .expect("connected");
        let outcome = client.call_tool("t", &()).await.expect("an outcome");
        assert_eq!(outcome.text(), "ann");
        client.close().await;
    });
}

#[test]
fn an_interrupted_call_is_resumed_when_the_server_says() {
    // LH-12, LH-13: as a server does that has its clients poll.
    let peer = Peer::new(|asked, answer| {
        match (&*asked.verb, asked.method()) {
            ("POST", "tools/call") => {
                answer.stream();
                answer.chunk("id: e-1\nretry: 500\ndata:\n\n");
                answer.end();
            }
            ("GET", _) if asked.field("last-event-id").is_some() => {
                answer.stream();
                let result = json!({"jsonrpc": "2.0", "id": 1, "result": text("late")});
                answer.event(&result);
            }
            _ => return usual(asked, answer),
        }
        true
    });
    block_on(async {
        let client = builder()
            .revision(ProtocolVersion::V2025_11_25)
            .connect_http(&peer.url())
            .await
            .expect("connected");
        let outcome = client.call_tool("t", &()).await.expect("an outcome");
        assert_eq!(outcome.text(), "late");
        client.close().await;
    });
    let call = peer.wait(|asked| asked.method() == "tools/call");
    let get = peer.wait(|asked| asked.field("last-event-id") == Some("e-1"));
    let waited = get.at - call.at;
    assert!(waited >= Duration::from_millis(490), "{waited:?}");
    assert!(waited < Duration::from_millis(1_500), "{waited:?}");
    let gets = peer.methods().iter().filter(|it| *it == "GET").count();
    assert_eq!(gets, 2);
}

#[test]
fn sn_01_a_session_that_the_server_ended_is_renewed_with_its_subscriptions() {
    // SN-01.
    let sessions = AtomicUsize::new(0);
    let calls = AtomicUsize::new(0);
    let peer = Peer::new(move |asked, answer| {
        match (&*asked.verb, asked.method()) {
            ("POST", "initialize") => {
                let number = sessions.fetch_add(1, Ordering::Relaxed);
                let session = format!("Mcp-Session-Id: s{number}\r\n");
                answer.json(200, &session, &asked.result(&initialized("2025-11-25")));
            }
            ("POST", "tools/call") if calls.fetch_add(1, Ordering::Relaxed) == 0 => {
                answer.status(404, "", "");
            }
            _ => return usual(asked, answer),
        }
        true
    });
    block_on(async {
        let client = builder()
            .revision(ProtocolVersion::V2025_11_25)
            .connect_http(&peer.url())
            .await
            .expect("connected");
        let mut filter = SubscriptionFilter::default();
        filter.resource_subscriptions = Some(vec!["a:b".into()].into());
        let mut changes = client.subscribe(filter).await.expect("a subscription");
        let outcome = client.call_tool("t", &()).await.expect("an outcome");
        assert_eq!(outcome.text(), "done");
        // What may have been missed is told.
        assert!(changes.next().await.is_some());
        client.close().await;
    });
    let again = |asked: &Asked| {
        asked.method() == "resources/subscribe" && asked.field("mcp-session-id") == Some("s1")
    };
    peer.wait(again);
    let initializes = peer
        .methods()
        .iter()
        .filter(|it| *it == "initialize")
        .count();
    assert_eq!(initializes, 2);
}

/// SN-01: so is the level of the log, which nobody sets twice.
#[test]
fn a_session_that_the_server_ended_is_renewed_with_its_log_level() {
    let sessions = AtomicUsize::new(0);
    let calls = AtomicUsize::new(0);
    let peer = Peer::new(move |asked, answer| {
        match (&*asked.verb, asked.method()) {
            ("POST", "initialize") => {
                let number = sessions.fetch_add(1, Ordering::Relaxed);
                let session = format!("Mcp-Session-Id: s{number}\r\n");
                let mut result = initialized("2025-11-25");
                result["capabilities"]["logging"] = json!({});
                answer.json(200, &session, &asked.result(&result));
            }
            ("POST", "tools/call") if calls.fetch_add(1, Ordering::Relaxed) == 0 => {
                answer.status(404, "", "");
            }
            _ => return usual(asked, answer),
        }
        true
    });
    block_on(async {
        let client = builder()
            .revision(ProtocolVersion::V2025_11_25)
            .connect_http(&peer.url())
            .await
            .expect("connected");
        for level in [LoggingLevel::Debug, LoggingLevel::Warning] {
            client.set_level(level).await.expect("set");
        }
        let outcome = client.call_tool("t", &()).await.expect("an outcome");
        assert_eq!(outcome.text(), "done");
        let again = peer.wait(|asked| {
            asked.method() == "logging/setLevel" && asked.field("mcp-session-id") == Some("s1")
        });
        assert_eq!(again.body["params"]["level"], "warning");
        client.close().await;
    });
    let told = peer.methods();
    let told = told.iter().filter(|it| *it == "logging/setLevel").count();
    assert_eq!(told, 3, "twice by the program, and once in the new session");
}

#[test]
fn hc_02_the_oldest_servers_have_two_endpoints() {
    // DET-11, SSE-01 to SSE-04.
    let (say, said) = channel::<Value>();
    let (say, said) = (Mutex::new(say), Mutex::new(said));
    let peer = Peer::new(move |asked, answer| {
        match (&*asked.verb, &*asked.target) {
            ("GET", _) => {
                answer.stream();
                answer.chunk("event: endpoint\ndata: /messages?id=7\n\n");
                let said = said.lock().expect("no panic");
                while let Ok(message) = said.recv_timeout(Duration::from_secs(5)) {
                    if message.is_null() {
                        break;
                    }
                    answer.chunk(&format!("event: message\ndata: {message}\n\n"));
                }
                return false;
            }
            ("POST", "/messages?id=7") => {
                answer.status(202, "", "Accepted");
                let message = match asked.method() {
                    "initialize" => asked.result(&initialized("2024-11-05")),
                    "tools/call" => asked.result(&text("old")),
                    "tools/list" => Value::Null,
                    _ => return true,
                };
                say.lock().expect("no panic").send(message).expect("heard");
            }
            _ => answer.status(405, "", ""),
        }
        true
    });
    block_on(async {
        let client = builder()
            .restart(Restart::Never)
            .connect_http(&peer.url())
            .await
            .expect("connected");
        assert_eq!(client.version(), ProtocolVersion::V2024_11_05);
        let outcome = client.call_tool("t", &()).await.expect("an outcome");
        assert_eq!(outcome.text(), "old");
        // The stream is the session: it ends, and so does the client.
        client.list_tools().await.expect_err("no answer any more");
        let closed = client.close().await;
        assert!(
            matches!(closed.reason(), ClosedReason::Http(_)),
            "{closed:?}"
        );
    });
}
