//! The client for threads.

use core::time::Duration;

use mcp_std::blocking::Client;
use mcp_std::client::{CallError, CallOptions, Canceller, Change};
use mcp_std::model::{ElicitRequestParams, ElicitResult, Map, RequestedSchema, SubscriptionFilter};
use mcp_std::{Context, ProtocolVersion, Server};
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
    let filter = SubscriptionFilter::new().tools();
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

fn asking() -> Server {
    let ask = |context: Context| async move {
        let fields = RequestedSchema::new(Map::EMPTY);
        let asked = context.elicit(ElicitRequestParams::form("Who?", fields));
        format!("{:?}", asked.await.map(|answer| answer.action))
    };
    let server = Server::builder("asks", "1").tool("ask", "Asks", ask);
    server.build().expect("it is one")
}

/// In both eras, a handler that blocks holds up nobody else.
#[test]
fn handlers_are_functions_that_may_block() {
    for version in [ProtocolVersion::V2025_06_18, ProtocolVersion::V2026_07_28] {
        let (go, gone) = std::sync::mpsc::channel();
        let gone = std::sync::Mutex::new(gone);
        let client = Client::builder("test", "1")
            .revision(version)
            .elicitation(move |request| {
                assert_eq!(request.server.expect("it said so").name, "asks");
                let gone = gone.lock().expect("one question");
                gone.recv_timeout(Duration::from_secs(10))
                    .expect("the other call is done");
                ElicitResult::decline()
            })
            .connect_in_process(&asking())
            .expect("it connects");
        std::thread::scope(|scope| {
            let call = scope.spawn(|| client.call_tool("ask", &()));
            std::thread::sleep(MOMENT);
            client.list_tools().expect("it answers meanwhile");
            go.send(()).expect("the handler waits");
            let outcome = call.join().expect("no panic").expect("it answers");
            assert_eq!(outcome.text(), "Ok(Decline)", "{version}");
        });
        client.close();
    }
}

#[test]
fn streams_that_block_will_do() {
    let (near, far) = std::os::unix::net::UnixStream::pair().expect("two ends");
    let server = std::thread::spawn(move || {
        let far = smol::Async::new(far).expect("a stream");
        let (input, output) = smol::io::split(far);
        smol::block_on(asking().serve(input, output)).map(drop)
    });
    let input = near.try_clone().expect("a second one");
    let client = Client::builder("test", "1").connect(input, near.try_clone().expect("a third"));
    let client = client.expect("it connects");
    assert_eq!(client.list_tools().expect("it answers").len(), 1);
    near.shutdown(std::net::Shutdown::Both)
        .expect("it was open");
    client.close();
    server.join().expect("no panic").expect("it ends in order");
}
