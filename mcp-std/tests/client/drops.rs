//! Futures that are dropped before they are done, wherever they wait.

use core::future::Future;
use core::pin::pin;
use std::time::Duration;

use futures_lite::future::poll_once;
use mcp_std::Limits;
use mcp_std::client::CallOptions;
use mcp_std::model::SubscriptionFilter;
use serde_json::json;

use crate::peer::{Peer, builder, complete, discovery, start, with};

/// Polls a future so often, with time for others in between; whether it is done.
async fn poll_times(future: impl Future, times: usize) -> bool {
    let mut future = pin!(future);
    for _ in 0..times {
        if poll_once(future.as_mut()).await.is_some() {
            return true;
        }
        smol::Timer::after(Duration::from_millis(2)).await;
    }
    false
}

/// A client with room for one request: a place that is not given back would stop all that follow.
#[test]
fn a_dropped_call_gives_back_its_place_wherever_it_was() {
    let mut limits = Limits::DEFAULT;
    limits.max_pending = 1;
    let script = |peer: &mut Peer| {
        peer.modern();
        let mut cancelled = 0;
        while let Some(request) = peer.next() {
            match request["method"].as_str() {
                Some("tools/call") => {
                    let ask = json!({"resultType": "input_required", "requestState": "again"});
                    if request["params"].get("requestState").is_none() {
                        peer.answer(&request, &ask);
                    }
                }
                Some("server/discover") => peer.answer(&request, &discovery()),
                Some("tools/list") => {
                    let tool = json!({"name": "t", "inputSchema": {"type": "object"}});
                    let page = json!({"tools": [tool], "nextCursor": request["id"].to_string()});
                    peer.answer(&request, &complete(page));
                }
                Some("notifications/cancelled") => cancelled += 1,
                Some("subscriptions/listen") | None | Some(_) => {}
            }
        }
        // Of those that were polled for long; the others depend on the load of the machine.
        assert!(cancelled >= 4, "{cancelled}");
    };
    with(builder().limits(limits), script, async |client| {
        for times in (0..8).chain([70, 80]) {
            let mut done = poll_times(client.call_tool("x", &()), times).await;
            done |= poll_times(client.list_tools(), times).await;
            let filter = SubscriptionFilter::default();
            done |= poll_times(client.subscribe(filter), times).await;
            assert!(!done, "nothing of this ever ends");
            let ping = client.ping();
            let late = async {
                smol::Timer::after(Duration::from_secs(5)).await;
                panic!("after {times} polls no place is left");
            };
            let pong = smol::future::or(ping, late).await;
            pong.expect("it is there");
        }
    });
}

#[test]
fn a_dropped_connect_ends_the_stream() {
    smol::block_on(async {
        for times in 0..6 {
            let (stream, script) = start(|peer| while peer.next().is_some() {});
            let stream = smol::Async::new(stream).expect("it can be polled");
            let stream = smol::net::unix::UnixStream::from(stream);
            let done = poll_times(builder().connect(stream.clone(), stream), times).await;
            assert!(!done, "nobody answers");
            smol::unblock(|| script.done()).await;
        }
    });
}

#[test]
fn what_was_dropped_in_a_full_queue_is_never_sent() {
    let mut limits = Limits::DEFAULT;
    limits.max_pending = 1;
    let (dropped, are_dropped) = std::sync::mpsc::channel();
    let script = move |peer: &mut Peer| {
        peer.modern();
        let first = peer.expect("tools/call");
        assert_eq!(first["params"]["name"], "first");
        are_dropped.recv().expect("the test says so");
        peer.answer(&first, &complete(json!({"content": []})));
        peer.serve("tools/call", &complete(json!({"content": []})));
        peer.ends();
    };
    with(builder().limits(limits), script, async |client| {
        let first = client.call_tool("first", &());
        let others = async {
            // More than the queue holds.
            let calls: Vec<_> = (0..3000)
                .map(|_| {
                    let client = client.clone();
                    smol::spawn(async move {
                        let options = CallOptions::new();
                        client.call_tool_with("never", &(), options).await
                    })
                })
                .collect();
            smol::Timer::after(Duration::from_millis(20)).await;
            for call in calls {
                call.cancel().await;
            }
            dropped.send(()).expect("the server waits");
        };
        let (first, ()) = smol::future::zip(first, others).await;
        first.expect("it answers");
        client.call_tool("last", &()).await.expect("it answers");
    });
}
