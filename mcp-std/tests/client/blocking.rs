//! The client for threads.

use core::time::Duration;

use mcp_std::blocking::Client;
use mcp_std::client::{CallError, CallOptions, Canceller, Change};
use mcp_std::model::SubscriptionFilter;
use serde_json::json;

use crate::peer::{MOMENT, Peer, builder, connect};

#[test]
fn calls_lists_and_changes_block_their_threads_and_no_others() {
    let script = |peer: &mut Peer| {
        peer.legacy("2025-06-18");
        let tool = json!({"name": "t", "inputSchema": {"type": "object"}});
        peer.serve("tools/list", &json!({"tools": [tool], "nextCursor": "2"}));
        peer.serve("tools/list", &json!({"tools": [tool]}));
        let mut calls = [peer.expect("tools/call"), peer.expect("tools/call")];
        calls.reverse();
        for call in calls {
            let text = call["params"]["arguments"]["n"].to_string();
            peer.answer(&call, &json!({"content": [{"type": "text", "text": text}]}));
        }
        peer.expect("tools/call");
        peer.expect("notifications/cancelled");
        peer.notify("notifications/tools/list_changed", &json!({}));
        peer.ends();
    };
    let (client, script) = smol::block_on(connect(builder(), script));
    let client: Client = client.expect("it connects").blocking();
    let names: Vec<_> = client
        .tools()
        .map(|tool| tool.expect("it answers").name)
        .collect();
    assert_eq!(names, ["t", "t"]);
    std::thread::scope(|scope| {
        for n in 0..2 {
            let client = client.clone();
            scope.spawn(move || {
                let outcome = client.call_tool("t", &json!({"n": n}));
                assert_eq!(outcome.expect("it answers").text(), n.to_string());
            });
        }
    });
    let mut filter = SubscriptionFilter::default();
    filter.tools_list_changed = true;
    let mut changes = client.subscribe(filter).expect("it is taken");
    assert_eq!(changes.next_within(MOMENT), None);
    let canceller = Canceller::new();
    std::thread::scope(|scope| {
        let options = CallOptions::new().canceller(&canceller);
        let call = scope.spawn(|| client.call_tool_with("t", &(), options));
        std::thread::sleep(MOMENT);
        canceller.cancel();
        let error = call.join().expect("no panic");
        assert!(matches!(error, Err(CallError::Cancelled)), "{error:?}");
    });
    let change = changes.next_within(Duration::from_secs(10));
    assert_eq!(change, Some(Change::Tools));
    client.close();
    assert_eq!(changes.next(), None);
    script.done();
}
