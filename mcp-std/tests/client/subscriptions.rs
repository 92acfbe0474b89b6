//! Changes, as both eras tell of them (SUB-03 to SUB-16, LI-02, LI-04, LI-05, LI-06).

use futures_lite::StreamExt;
use mcp_std::client::{CallError, Change, SubscriptionEnd};
use mcp_std::model::SubscriptionFilter;
use serde_json::{Value, json};

use crate::peer::{MOMENT, Peer, builder, complete, with};

fn filter(tools: bool, uris: &[&str]) -> SubscriptionFilter<'static> {
    let mut filter = SubscriptionFilter::default();
    filter.tools_list_changed = tools;
    if !uris.is_empty() {
        filter.resource_subscriptions =
            Some(uris.iter().map(|uri| (*uri).to_owned().into()).collect());
    }
    filter
}

const ID: &str = "io.modelcontextprotocol/subscriptionId";

fn acknowledge(peer: &mut Peer, listen: &Value, honoured: &Value) {
    peer.notify(
        "notifications/subscriptions/acknowledged",
        &json!({"_meta": {ID: listen["id"]}, "notifications": honoured}),
    );
}

#[test]
fn a_modern_server_tells_each_subscription_its_own() {
    let script = |peer: &mut Peer| {
        peer.modern();
        let tools = peer.expect("subscriptions/listen");
        assert_eq!(
            tools["params"]["notifications"],
            json!({"toolsListChanged": true})
        );
        acknowledge(peer, &tools, &json!({"toolsListChanged": true}));
        let file = peer.expect("subscriptions/listen");
        acknowledge(peer, &file, &json!({"resourceSubscriptions": ["a:b"]}));
        let mut tell = |of: &Value, method: &str, mut params: Value| {
            params["_meta"] = json!({ID: of["id"]});
            peer.notify(method, &params);
        };
        tell(&tools, "notifications/tools/list_changed", json!({}));
        tell(
            &file,
            "notifications/resources/updated",
            json!({"uri": "a:b/c"}),
        );
        tell(
            &json!({"id": 12345}),
            "notifications/tools/list_changed",
            json!({}),
        );
        let cancelled = peer.expect("notifications/cancelled");
        assert_eq!(cancelled["params"]["requestId"], tools["id"]);
        let ended = complete(json!({"_meta": {ID: file["id"]}}));
        peer.answer(&file, &ended);
        peer.ends();
    };
    with(builder(), script, async |client| {
        let mut tools = client.subscribe(filter(true, &[])).await.expect("taken");
        let asked = filter(true, &["a:b", "c:d"]);
        let mut file = client.subscribe(asked).await.expect("taken");
        assert!(tools.acknowledged().tools_list_changed);
        let honoured = file.acknowledged();
        assert!(!honoured.tools_list_changed, "less than was asked for");
        assert_eq!(honoured, filter(false, &["a:b"]));
        assert_eq!(tools.next().await, Some(Change::Tools));
        let part = Change::Resource("a:b/c".to_owned());
        assert_eq!(file.next().await, Some(part));
        assert!(file.end().is_none());
        drop(tools);
        assert_eq!(file.next().await, None);
        assert!(matches!(file.end(), Some(SubscriptionEnd::Server)));
    });
}

#[test]
fn a_subscription_that_ends_before_it_begins_is_one_clear_error() {
    let script = |peer: &mut Peer| {
        peer.modern();
        peer.serve("subscriptions/listen", &complete(json!({})));
        let refused = peer.expect("subscriptions/listen");
        peer.refuse(&refused, -32602, "no");
        let empty = peer.expect("subscriptions/listen");
        assert_eq!(empty["params"]["notifications"], json!({}));
        acknowledge(peer, &empty, &json!({}));
        peer.answer(&empty, &complete(json!({"_meta": {ID: empty["id"]}})));
        peer.silence();
        peer.ends();
    };
    with(builder(), script, async |client| {
        let error = client.subscribe(filter(true, &[])).await;
        assert!(matches!(error, Err(CallError::Answer { .. })), "{error:?}");
        let error = client.subscribe(filter(true, &[])).await;
        assert!(matches!(error, Err(CallError::Protocol(_))), "{error:?}");
        let mut empty = client.subscribe(filter(false, &[])).await.expect("taken");
        assert_eq!(empty.next().await, None);
        assert!(matches!(empty.end(), Some(SubscriptionEnd::Server)));
        smol::Timer::after(2 * MOMENT).await;
    });
}

#[test]
fn a_legacy_server_is_asked_for_each_resource_once_and_for_nothing_else() {
    let script = |peer: &mut Peer| {
        peer.legacy("2025-06-18");
        peer.silence();
        let one = peer.expect("resources/subscribe");
        assert_eq!(one["params"], json!({"uri": "a:b"}));
        let two = peer.expect("resources/subscribe");
        peer.refuse(&two, -32002, "Resource not found");
        peer.answer(&one, &json!({}));
        // The second subscription has it already: nothing more is asked.
        peer.silence();
        peer.notify("notifications/tools/list_changed", &json!({}));
        peer.notify("notifications/prompts/list_changed", &json!({}));
        peer.notify("notifications/resources/updated", &json!({"uri": "a:b"}));
        peer.silence();
        let end = peer.expect("resources/unsubscribe");
        assert_eq!(end["params"], json!({"uri": "a:b"}));
        peer.answer(&end, &json!({}));
        peer.ends();
    };
    with(builder(), script, async |client| {
        let lists = client.subscribe(filter(true, &[])).await.expect("taken");
        assert_eq!(lists.acknowledged(), filter(true, &[]));
        smol::Timer::after(2 * MOMENT).await;
        let asked = filter(true, &["a:b", "c:d"]);
        let mut one = client.subscribe(asked).await.expect("taken");
        assert_eq!(one.acknowledged(), filter(true, &["a:b"]));
        let mut two = client
            .subscribe(filter(false, &["a:b"]))
            .await
            .expect("taken");
        let updated = Change::Resource("a:b".to_owned());
        assert_eq!(one.next().await, Some(Change::Tools));
        assert_eq!(one.next().await, Some(updated.clone()));
        assert_eq!(two.next().await, Some(updated));
        drop(one);
        smol::Timer::after(2 * MOMENT).await;
        drop(two);
        smol::Timer::after(MOMENT).await;
    });
}

#[test]
fn a_burst_costs_a_slow_reader_one_change_of_each_kind() {
    let script = |peer: &mut Peer| {
        peer.legacy("2025-11-25");
        let ping = peer.expect("ping");
        for _ in 0..200 {
            peer.notify("notifications/tools/list_changed", &json!({}));
        }
        peer.answer(&ping, &json!({}));
        peer.ends();
    };
    with(builder(), script, async |client| {
        let mut changes = client.subscribe(filter(true, &[])).await.expect("taken");
        client.ping().await.expect("it answers");
        assert_eq!(changes.next().await, Some(Change::Tools));
        let more = smol::future::poll_once(changes.next()).await;
        assert_eq!(more, None, "nothing more waits");
    });
}

#[test]
fn a_subscription_ends_with_the_connection() {
    let script = |peer: &mut Peer| {
        peer.modern();
        let listen = peer.expect("subscriptions/listen");
        acknowledge(peer, &listen, &json!({"toolsListChanged": true}));
    };
    with(builder(), script, async |client| {
        let mut changes = client.subscribe(filter(true, &[])).await.expect("taken");
        assert_eq!(changes.next().await, None);
        assert!(matches!(changes.end(), Some(SubscriptionEnd::Closed(_))));
        let error = client.subscribe(filter(true, &[])).await;
        assert!(matches!(error, Err(CallError::Closed(_))), "{error:?}");
    });
}
