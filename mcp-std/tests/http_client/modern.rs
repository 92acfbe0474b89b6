//! Servers of 2026-07-28.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use mcp_std::ProtocolVersion;
use mcp_std::client::{CallError, CallOptions, Client, ConnectError, Direction, EraCache};
use mcp_std::model::SubscriptionFilter;
use serde_json::json;
use smol::block_on;

use super::peer::{Answer, Asked, Peer};
use super::{builder, discovered, text, tools};

/// Answers what every test asks.
fn usual(asked: &Asked, answer: &mut Answer<'_>) -> bool {
    match asked.method() {
        "server/discover" => answer.json(200, "", &asked.result(&discovered())),
        "tools/list" => answer.json(200, "", &asked.result(&tools("Region"))),
        "tools/call" => {
            answer.stream();
            let token = &asked.body["params"]["_meta"]["progressToken"];
            if token.is_number() {
                let progress = json!({"jsonrpc": "2.0", "method": "notifications/progress",
                                      "params": {"progressToken": token, "progress": 1}});
                answer.event(&progress);
            }
            answer.event(&asked.result(&text("done")));
            answer.end();
        }
        _ => answer.json(404, "", &asked.error(-32601, &json!({}))),
    }
    true
}

async fn connect(peer: &Peer) -> Client {
    builder()
        .connect_http(&peer.url())
        .await
        .expect("connected")
}

#[test]
fn hc_05_calls_go_out_with_their_headers_and_come_back() {
    let peer = Peer::new(usual);
    let frames = Arc::new(AtomicUsize::new(0));
    let counted = frames.clone();
    block_on(async {
        let client = builder()
            .header("Authorization", "Bearer t")
            .header("Mcp-Method", "nonsense")
            .on_frame(move |_: Direction, _| {
                counted.fetch_add(1, Ordering::Relaxed);
            })
            .connect_http(&format!("  {}  ", peer.url()))
            .await
            .expect("connected");
        assert_eq!(client.version(), ProtocolVersion::V2026_07_28);
        // XH-07: one of the two cannot be called.
        let tools = client.list_tools().await.expect("tools");
        assert_eq!(tools.len(), 1);
        let told = Arc::new(AtomicUsize::new(0));
        let counts = told.clone();
        let options = CallOptions::new().on_progress(move |_| {
            counts.fetch_add(1, Ordering::Relaxed);
        });
        let outcome = client
            .call_tool_with("t", &json!({"region": "us west 1"}), options)
            .await
            .expect("an outcome");
        assert_eq!(outcome.text(), "done");
        assert_eq!(told.load(Ordering::Relaxed), 1);
        client.close().await;
    });
    let asked = peer.asked();
    assert_eq!(
        peer.methods(),
        ["server/discover", "tools/list", "tools/call"]
    );
    let call = &asked[2];
    assert_eq!(call.target, "/mcp?tenant=a");
    assert_eq!(call.field("authorization"), Some("Bearer t"));
    assert_eq!(call.field("mcp-method"), Some("tools/call"));
    assert_eq!(call.field("mcp-name"), Some("t"));
    assert_eq!(call.field("mcp-param-region"), Some("us west 1"));
    assert_eq!(call.field("mcp-protocol-version"), Some("2026-07-28"));
    assert_eq!(frames.load(Ordering::Relaxed), 7);
}

#[test]
fn a_call_that_is_given_up_closes_its_stream() {
    let (gone, seen) = std::sync::mpsc::channel();
    let gone = Mutex::new(gone);
    let peer = Peer::new(move |asked, answer| {
        if asked.method() != "tools/call" {
            return usual(asked, answer);
        }
        answer.stream();
        // The connection is read from until it ends.
        gone.lock().expect("no panic").send(()).expect("heard");
        true
    });
    block_on(async {
        let client = connect(&peer).await;
        let options = CallOptions::new().timeout(Duration::from_millis(50));
        let error = client
            .call_tool_with("t", &(), options)
            .await
            .expect_err("nothing comes");
        assert!(matches!(error, CallError::Timeout(_)), "{error:?}");
        seen.recv().expect("begun");
        client.close().await;
    });
    assert_eq!(peer.methods(), ["server/discover", "tools/call"]);
}

#[test]
fn hc_06_hc_09_a_list_is_asked_for_again_and_a_call_is_not() {
    // HTTP-20, HC-06, HC-09.
    let lists = AtomicUsize::new(0);
    let peer = Peer::new(move |asked, answer| match asked.method() {
        "tools/list" if lists.fetch_add(1, Ordering::Relaxed) == 0 => {
            answer.stream();
            answer.end();
            true
        }
        "tools/call" => {
            answer.stream();
            answer.chunk("data: {");
            false
        }
        _ => usual(asked, answer),
    });
    block_on(async {
        let client = connect(&peer).await;
        assert_eq!(client.list_tools().await.expect("tools").len(), 1);
        let started = Instant::now();
        let error = client.call_tool("t", &()).await.expect_err("it broke");
        assert!(started.elapsed() < Duration::from_secs(1));
        assert!(matches!(error, CallError::Http { .. }), "{error:?}");
        assert!(error.to_string().contains("unknown"), "{error}");
        // The next call works.
        assert!(client.list_tools().await.is_ok());
        // Who says that it may be called twice gets that.
        let again = CallOptions::new().retry(true);
        client
            .call_tool_with("t", &(), again)
            .await
            .expect_err("it breaks each time");
        client.close().await;
    });
    let asked = peer.asked();
    let ids: Vec<_> = asked
        .iter()
        .map(|asked| asked.body["id"].as_u64())
        .collect();
    let mut distinct = ids.clone();
    distinct.dedup();
    assert_eq!(ids, distinct, "each with an id of its own");
    let calls = asked.iter().filter(|asked| asked.method() == "tools/call");
    assert_eq!(calls.count(), 4);
}

#[test]
fn headers_that_do_not_match_are_mended_once() {
    // XH-13.
    let lists = AtomicUsize::new(0);
    let peer = Peer::new(move |asked, answer| {
        match asked.method() {
            "tools/list" => {
                let header = if lists.fetch_add(1, Ordering::Relaxed) == 0 {
                    "Old"
                } else {
                    "New"
                };
                answer.json(200, "", &asked.result(&tools(header)));
            }
            "tools/call" if asked.field("mcp-param-new").is_none() => {
                answer.json(400, "", &asked.error(-32020, &json!({})));
            }
            _ => return usual(asked, answer),
        }
        true
    });
    block_on(async {
        let client = connect(&peer).await;
        client.list_tools().await.expect("tools");
        let arguments = json!({"region": "r"});
        let outcome = client.call_tool("t", &arguments).await.expect("mended");
        assert_eq!(outcome.text(), "done");
        // And no more than once.
        let error = client
            .call_tool("t", &json!({}))
            .await
            .expect_err("not mended");
        assert!(matches!(error, CallError::Protocol(_)), "{error:?}");
        client.close().await;
    });
    let expected = [
        "server/discover",
        "tools/list",
        "tools/call",
        "tools/list",
        "tools/call",
        "tools/call",
        "tools/list",
        "tools/call",
    ];
    assert_eq!(peer.methods(), expected);
}

#[test]
fn hc_07_a_subscription_is_a_stream_and_is_made_again_when_that_breaks() {
    // HC-07, SUB-18.
    let listens = AtomicUsize::new(0);
    let peer = Peer::new(move |asked, answer| {
        if asked.method() != "subscriptions/listen" {
            return usual(asked, answer);
        }
        let meta = json!({"io.modelcontextprotocol/subscriptionId": asked.body["id"]});
        answer.stream();
        answer.event(&json!({"jsonrpc": "2.0",
            "method": "notifications/subscriptions/acknowledged",
            "params": {"_meta": meta, "notifications": {"toolsListChanged": true}}}));
        answer.event(
            &json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed",
            "params": {"_meta": meta}}),
        );
        // The first stream breaks.
        listens.fetch_add(1, Ordering::Relaxed) > 0
    });
    block_on(async {
        let client = builder()
            .request_timeout(Duration::from_millis(500))
            .connect_http(&peer.url())
            .await
            .expect("connected");
        let mut filter = SubscriptionFilter::default();
        filter.tools_list_changed = true;
        let mut changes = client.subscribe(filter).await.expect("a subscription");
        assert!(changes.next().await.is_some());
        // Again, since it is not known what was missed.
        assert!(changes.next().await.is_some());
        client.close().await;
    });
    let again = peer
        .methods()
        .iter()
        .filter(|it| *it == "subscriptions/listen")
        .count();
    assert_eq!(again, 2);
}

#[test]
fn nobody_and_no_server_of_ours_are_told_apart() {
    block_on(async {
        let error = builder().connect_http("http://127.0.0.1:1/mcp").await;
        let error = error.expect_err("nobody is there");
        assert!(matches!(error, ConnectError::Http(_)), "{error:?}");
        assert!(error.to_string().contains("127.0.0.1:1"), "{error}");
        for url in ["mcp", "/mcp", "h.example:80", ""] {
            let error = builder().connect_http(url).await.expect_err("no URL");
            assert!(matches!(error, ConnectError::Config(_)), "{error:?}");
        }
        for (url, shown, reason) in [
            ("ws://h.example/x?t=s3cret", "ws://h.example/x", "http://"),
            ("ftp://h.example:21/", "ftp://h.example:21/", "http://"),
            (
                "http://user:s3cret@h.example/mcp",
                "http://h.example/mcp",
                "a user in it",
            ),
            (
                "http://user:s3cret@h example/",
                "http://h example/",
                "is expected",
            ),
            (
                "user:s3cret@h.example/?t=s3cret",
                "`h.example/`",
                "is expected",
            ),
        ] {
            let error = builder().connect_http(url).await.expect_err("no URL");
            assert!(matches!(error, ConnectError::Config(_)), "{error:?}");
            let said = error.to_string();
            assert!(said.contains(shown) && said.contains(reason), "{said}");
            assert!(!said.contains("s3cret"), "{said}");
        }
        let error = builder().header("a b", "c").connect_http("http://h/").await;
        assert!(matches!(error, Err(ConnectError::Config(_))));
        let page = Peer::new(|_, answer| {
            answer.status(200, "Content-Type: text/html\r\n", "<html></html>");
            true
        });
        let error = builder()
            .connect_http(&page.url())
            .await
            .expect_err("a page");
        assert!(error.to_string().contains("text/html"), "{error}");
        let closed = Peer::new(|_, answer| {
            answer.status(401, "WWW-Authenticate: Bearer\r\n", "");
            true
        });
        let error = builder()
            .connect_http(&closed.url())
            .await
            .expect_err("closed");
        assert!(error.to_string().contains("401"), "{error}");
    });
}

#[test]
fn what_the_server_speaks_is_remembered() {
    // VER-07, VER-08.
    let peer = Peer::new(|asked, answer| {
        match (&*asked.verb, asked.method()) {
            ("POST", "initialize") => {
                let result = asked.result(&super::initialized("2025-06-18"));
                answer.json(200, "", &result);
            }
            ("POST", "server/discover") => answer.status(400, "", "no"),
            ("POST", _) => answer.status(202, "", ""),
            _ => answer.status(405, "", ""),
        }
        true
    });
    let eras = EraCache::new();
    block_on(async {
        for _ in 0..2 {
            let client = builder().era_cache(&eras).connect_http(&peer.url()).await;
            client.expect("connected").close().await;
        }
    });
    let probes = peer
        .methods()
        .iter()
        .filter(|it| *it == "server/discover")
        .count();
    assert_eq!(probes, 1);
    let known = Some(ProtocolVersion::V2025_06_18);
    assert_eq!(eras.get_url(&peer.url()), known);
}

#[test]
fn without_async_it_is_the_same() {
    let peer = Peer::new(usual);
    let client = block_on(builder().connect_http(&peer.url()))
        .expect("connected")
        .blocking();
    assert_eq!(
        client.call_tool("t", &()).expect("an outcome").text(),
        "done"
    );
    client.close();
}

#[test]
fn oa_16_ve_03_a_server_that_has_no_time_is_asked_again() {
    // DET-10.
    let asks = AtomicUsize::new(0);
    let peer = Peer::new(move |asked, answer| {
        if asks.fetch_add(1, Ordering::Relaxed) < 2 {
            answer.status(503, "", "");
            return true;
        }
        usual(asked, answer)
    });
    block_on(async { connect(&peer).await.close().await });
    assert_eq!(peer.methods(), ["server/discover"; 3]);
    let never = Peer::new(|_, answer| {
        answer.status(503, "", "");
        true
    });
    let error = block_on(builder().connect_http(&never.url())).expect_err("it never has");
    assert!(error.to_string().contains("503"), "{error}");
    assert_eq!(never.methods(), ["server/discover"; 3]);
}
