//! Answers that servers allow to be kept (CAC-01 to CAC-12).

use core::time::Duration;

use mcp_std::client::{CacheLimits, CacheUse, CallOptions, Clock};
use serde_json::json;

use crate::peer::{Peer, builder, complete, with};

fn page(names: &[&str], ttl: u64) -> serde_json::Value {
    let tools: Vec<_> = names
        .iter()
        .map(|name| json!({"name": name, "inputSchema": {"type": "object"}}))
        .collect();
    complete(json!({"tools": tools, "ttlMs": ttl, "cacheScope": "private"}))
}

#[test]
fn li_02_a_list_is_asked_for_again_when_its_time_is_over_or_it_has_changed() {
    let clock = Clock::simulated();
    let script = |peer: &mut Peer| {
        peer.modern();
        peer.serve("tools/list", &page(&["a"], 1000));
        peer.serve("tools/list", &page(&["b"], 1000));
        let ping = peer.expect("server/discover");
        peer.notify("notifications/tools/list_changed", &json!({}));
        peer.answer(&ping, &crate::peer::discovery());
        peer.serve("tools/list", &page(&["c"], 1000));
        peer.serve("tools/list", &page(&["d"], 0));
        peer.serve("tools/list", &page(&["e"], 0));
        peer.ends();
    };
    with(builder().clock(&clock), script, async |client| {
        let first = async || {
            client.list_tools().await.expect("it answers")[0]
                .name
                .to_string()
        };
        assert_eq!(first().await, "a");
        clock.advance(Duration::from_millis(999));
        assert_eq!(first().await, "a");
        clock.advance(Duration::from_millis(1));
        assert_eq!(first().await, "b");
        assert_eq!(first().await, "b");
        client
            .ping()
            .await
            .expect("what came before has been heard");
        assert_eq!(first().await, "c");
        client.clear_cache();
        assert_eq!(first().await, "d");
        assert_eq!(first().await, "e", "no time to live, nothing kept");
    });
}

#[test]
fn reads_are_kept_by_their_uri_unless_the_call_says_otherwise() {
    let script = |peer: &mut Peer| {
        peer.modern();
        let mut answer = |text: &str| {
            let contents = json!([{"uri": "a:b", "text": text}]);
            peer.serve(
                "resources/read",
                &complete(json!({"contents": contents, "ttlMs": 60_000, "cacheScope": "public"})),
            );
        };
        for text in ["1", "2", "3", "4"] {
            answer(text);
        }
        let ping = peer.expect("server/discover");
        peer.notify(
            "notifications/resources/updated",
            &json!({"uri": "a:b/part"}),
        );
        peer.answer(&ping, &crate::peer::discovery());
        peer.serve(
            "resources/read",
            &complete(json!({"contents": [{"uri": "a:b", "text": "5"}]})),
        );
        peer.ends();
    };
    with(builder(), script, async |client| {
        let read = async |uri: &str, cache| {
            let options = CallOptions::new().cache(cache);
            let result = client.read_resource_with(uri, options).await;
            serde_json::to_value(&result.expect("it answers").contents[0]).expect("JSON")["text"]
                .clone()
        };
        assert_eq!(read("a:b", CacheUse::Use).await, "1");
        assert_eq!(read("a:b", CacheUse::Use).await, "1");
        assert_eq!(read("a:c", CacheUse::Use).await, "2");
        assert_eq!(read("a:b", CacheUse::Bypass).await, "3");
        assert_eq!(read("a:b", CacheUse::Use).await, "1");
        assert_eq!(read("a:b", CacheUse::Refresh).await, "4");
        assert_eq!(read("a:b", CacheUse::Use).await, "4");
        client
            .ping()
            .await
            .expect("what came before has been heard");
        assert_eq!(read("a:b", CacheUse::Use).await, "5");
    });
}

#[test]
fn what_took_input_is_not_kept_and_a_cache_that_is_off_keeps_nothing() {
    let script = |peer: &mut Peer| {
        peer.modern();
        let read = complete(json!({"contents": [], "ttlMs": 60_000, "cacheScope": "public"}));
        for _ in 0..2 {
            let first = peer.expect("resources/read");
            let ask = json!({"resultType": "input_required", "requestState": "s"});
            peer.answer(&first, &ask);
            peer.serve("resources/read", &read);
        }
        peer.ends();
    };
    with(builder(), script, async |client| {
        for _ in 0..2 {
            client.read_resource("a:b").await.expect("it answers");
        }
    });
    let script = |peer: &mut Peer| {
        peer.modern();
        peer.serve("tools/list", &page(&["a"], 1000));
        peer.serve("tools/list", &page(&["b"], 1000));
        peer.ends();
    };
    with(builder().cache(CacheLimits::OFF), script, async |client| {
        for _ in 0..2 {
            client.list_tools().await.expect("it answers");
        }
    });
}

#[test]
fn a_legacy_server_has_no_say_in_it() {
    let script = |peer: &mut Peer| {
        peer.legacy("2025-11-25");
        peer.serve("tools/list", &page(&["a"], 1000));
        peer.serve("tools/list", &page(&["b"], 1000));
        peer.ends();
    };
    with(builder(), script, async |client| {
        for _ in 0..2 {
            client.list_tools().await.expect("it answers");
        }
    });
}

#[test]
fn a_list_whose_kept_pages_no_longer_lead_on_is_read_anew() {
    let clock = Clock::simulated();
    let script = |peer: &mut Peer| {
        peer.modern();
        let mut first = page(&["a"], 60_000);
        first["nextCursor"] = "2".into();
        peer.serve("tools/list", &first);
        peer.serve("tools/list", &page(&["b"], 1));
        let stale = peer.expect("tools/list");
        assert_eq!(stale["params"]["cursor"], "2", "the first page is kept");
        peer.refuse(&stale, -32602, "Invalid cursor");
        peer.serve("tools/list", &page(&["c"], 0));
        peer.ends();
    };
    with(builder().clock(&clock), script, async |client| {
        let tools = client.list_tools().await.expect("it answers");
        assert_eq!(tools.len(), 2);
        clock.advance(Duration::from_millis(10));
        let tools = client.list_tools().await.expect("it answers");
        assert_eq!(tools.len(), 1);
        assert_eq!(tools[0].name, "c");
    });
}
