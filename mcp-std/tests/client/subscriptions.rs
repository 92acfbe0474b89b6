//! Changes, as both eras tell of them (SUB-03 to SUB-16, LI-02, LI-04, LI-05, LI-06).

use futures_lite::StreamExt;
use mcp_std::client::{CallError, Change, ClientBuilder, SubscriptionEnd, Timeout};
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
fn li_06_a_modern_server_tells_each_subscription_its_own() {
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
fn li_04_li_05_a_subscription_that_ends_before_it_begins_is_one_clear_error() {
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
fn li_06_a_legacy_server_is_asked_for_each_resource_once_and_for_nothing_else() {
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
fn li_02_a_burst_costs_a_slow_reader_one_change_of_each_kind() {
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

/// A client whose requests may be silent for a moment.
fn impatient() -> ClientBuilder {
    builder().request_timeout(MOMENT)
}

#[test]
fn a_subscription_that_is_never_acknowledged_ends_in_time_and_leaves_nothing() {
    let script = |peer: &mut Peer| {
        peer.modern();
        let listen = peer.expect("subscriptions/listen");
        let cancelled = peer.expect("notifications/cancelled");
        assert_eq!(cancelled["params"]["requestId"], listen["id"]);
        acknowledge(peer, &listen, &json!({"toolsListChanged": true}));
        let listen = peer.expect("subscriptions/listen");
        peer.expect("notifications/cancelled");
        acknowledge(peer, &listen, &json!({}));
        peer.ends();
    };
    with(impatient(), script, async |client| {
        let error = client.subscribe(filter(true, &[])).await;
        let timeout = CallError::Timeout(Timeout::Request(MOMENT)).to_string();
        assert_eq!(error.expect_err("it is silent").to_string(), timeout);
        let client = client.blocking();
        let error = smol::unblock(move || client.subscribe(filter(true, &[]))).await;
        assert_eq!(error.expect_err("it is silent").to_string(), timeout);
    });
}

#[test]
fn a_legacy_resource_that_is_not_answered_for_ends_the_wait() {
    let script = |peer: &mut Peer| {
        peer.legacy("2025-06-18");
        let one = peer.expect("resources/subscribe");
        let two = peer.expect("resources/subscribe");
        peer.answer(&one, &json!({}));
        let mut rest = [peer.next(), peer.next()].map(|it| it.expect("it says so"));
        rest.sort_by_key(|message| message["method"].to_string());
        assert_eq!(rest[0]["method"], "notifications/cancelled");
        assert_eq!(rest[0]["params"]["requestId"], two["id"]);
        assert_eq!(rest[1]["method"], "resources/unsubscribe");
        assert_eq!(rest[1]["params"], one["params"]);
        peer.answer(&rest[1], &json!({}));
        // Nothing is left of it: asked anew.
        peer.serve("resources/subscribe", &json!({}));
        while peer.next().is_some() {}
    };
    with(
        impatient().request_timeout(4 * MOMENT),
        script,
        async |client| {
            let error = client.subscribe(filter(false, &["a:b", "c:d"])).await;
            let error = error.expect_err("it is silent");
            assert!(matches!(error, CallError::Timeout(_)), "{error}");
            smol::Timer::after(MOMENT).await;
            let anew = client.subscribe(filter(false, &["a:b"])).await;
            drop(anew.expect("it answers"));
        },
    );
}

#[test]
fn a_legacy_resource_stays_subscribed_while_anybody_wants_it() {
    let script = |peer: &mut Peer| {
        peer.legacy("2025-06-18");
        let asked = peer.expect("resources/subscribe");
        // Two more readers have come, and the first has gone, before this is answered.
        peer.silence();
        peer.answer(&asked, &json!({}));
        peer.silence();
        peer.notify("notifications/resources/updated", &json!({"uri": "a:b"}));
        // All have gone; one comes back before the server has said that it ended.
        let end = peer.expect("resources/unsubscribe");
        peer.silence();
        peer.answer(&end, &json!({}));
        peer.serve("resources/subscribe", &json!({}));
        peer.serve("resources/unsubscribe", &json!({}));
        peer.ends();
    };
    with(builder(), script, async |client| {
        let open = || client.subscribe(filter(false, &["a:b"]));
        let mut gone = Box::pin(open());
        let polled = smol::future::poll_once(gone.as_mut()).await;
        assert!(polled.is_none());
        let readers = smol::future::zip(open(), open());
        let leaves = async {
            smol::Timer::after(MOMENT / 2).await;
            drop(gone);
        };
        let ((one, two), ()) = smol::future::zip(readers, leaves).await;
        for subscription in [one, two] {
            let mut subscription = subscription.expect("taken");
            let change = Change::Resource("a:b".to_owned());
            assert_eq!(subscription.next().await, Some(change));
        }
        smol::Timer::after(MOMENT / 4).await;
        let again = open().await.expect("taken again");
        assert_eq!(again.acknowledged(), filter(false, &["a:b"]));
        drop(again);
        smol::Timer::after(MOMENT).await;
    });
}

/// A client with room for one request: what cannot be sent at once is sent later.
#[test]
fn the_end_of_a_legacy_subscription_waits_for_room() {
    let mut limits = mcp_std::Limits::DEFAULT;
    limits.max_pending = 1;
    let script = |peer: &mut Peer| {
        peer.legacy("2025-06-18");
        peer.serve("resources/subscribe", &json!({}));
        peer.serve("resources/subscribe", &json!({}));
        let ping = peer.expect("ping");
        peer.silence();
        peer.answer(&ping, &json!({}));
        let ended = [
            peer.serve("resources/unsubscribe", &json!({})),
            peer.serve("resources/unsubscribe", &json!({})),
        ];
        let mut uris = ended.map(|request| request["params"]["uri"].to_string());
        uris.sort();
        assert_eq!(uris, ["\"a:b\"", "\"c:d\""]);
        peer.ends();
    };
    with(builder().limits(limits), script, async |client| {
        let both = client.subscribe(filter(false, &["a:b", "c:d"])).await;
        let both = both.expect("taken");
        let leaves = async {
            smol::Timer::after(MOMENT / 2).await;
            drop(both);
        };
        let (pong, ()) = smol::future::zip(client.ping(), leaves).await;
        pong.expect("it answers");
        smol::Timer::after(MOMENT).await;
    });
}

#[test]
fn a_modern_server_that_tells_of_more_than_was_asked_is_not_listened_to() {
    let script = |peer: &mut Peer| {
        peer.modern();
        let listen = peer.expect("subscriptions/listen");
        acknowledge(peer, &listen, &json!({"resourceSubscriptions": ["a:b"]}));
        let meta = json!({ID: listen["id"]});
        peer.notify("notifications/tools/list_changed", &json!({"_meta": meta}));
        for uri in ["c:d", "a:bc", "a:b/c"] {
            let params = json!({"_meta": meta, "uri": uri});
            peer.notify("notifications/resources/updated", &params);
        }
        peer.answer(&listen, &complete(json!({"_meta": meta})));
        peer.ends();
    };
    with(builder(), script, async |client| {
        let changes = client.subscribe(filter(false, &["a:b"])).await;
        let all: Vec<_> = changes.expect("taken").collect().await;
        assert_eq!(all, [Change::Resource("a:b/c".to_owned())]);
    });
}
