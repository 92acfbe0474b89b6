//! What servers ask of clients, in both eras by the same handlers.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mcp_std::Json;
use mcp_std::client::{CallError, ClientBuilder, ConnectError, Declined, Unsupported};
use mcp_std::model::{
    ContentBlock, CreateMessageResult, ElicitAction, ElicitRequestParams, ElicitResult, Role, Root,
};
use serde_json::{Value, json};

use crate::peer::{Peer, builder, complete, with};

fn elicitation() -> Value {
    json!({"method": "elicitation/create", "params": {
        "message": "Who?",
        "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}},
    }})
}

fn sampling() -> Value {
    json!({"method": "sampling/createMessage", "params": {
        "messages": [{"role": "user", "content": {"type": "text", "text": "2+2?"}}],
        "maxTokens": 10,
    }})
}

fn obliging() -> ClientBuilder {
    builder()
        .elicitation(|request| async move {
            assert_eq!(request.server.expect("it said so").name, "by hand");
            let ElicitRequestParams::Form(form) = request.params else {
                panic!("no other mode was declared");
            };
            assert_eq!(form.message, "Who?");
            let mut result = ElicitResult::new(ElicitAction::Accept);
            result.content = Some(Json::owned(r#"{"name":"me"}"#.to_owned()).expect("JSON"));
            result
        })
        .sampling(|request| async move {
            if request.params.max_tokens == 0 {
                return Err(Declined::by_user("not today"));
            }
            let said = [ContentBlock::text("4")];
            Ok(CreateMessageResult::new(Role::Assistant, said, "a model"))
        })
        .roots([Root::new("file:///home/me")])
}

#[test]
fn what_is_declared_is_what_there_are_handlers_for() {
    let declared = |builder: ClientBuilder| {
        let (sender, receiver) = std::sync::mpsc::channel();
        let script = move |peer: &mut Peer| {
            let probe = peer.expect("server/discover");
            let meta = &probe["params"]["_meta"];
            let declared = meta["io.modelcontextprotocol/clientCapabilities"].clone();
            peer.answer(&probe, &crate::peer::discovery());
            sender.send(declared).expect("the test waits");
            peer.ends();
        };
        with(builder, script, async |_| {});
        receiver.recv().expect("it was sent")
    };
    let nothing = ElicitResult::new(ElicitAction::Cancel);
    let (one, other) = (nothing.clone(), nothing.clone());
    assert_eq!(declared(builder()), json!({}));
    assert_eq!(declared(builder().roots([])), json!({"roots": {}}));
    assert_eq!(
        declared(obliging()),
        json!({"elicitation": {}, "roots": {}, "sampling": {}})
    );
    let builder = builder()
        .elicitation(move |_| std::future::ready(one.clone()))
        .url_elicitation(move |_| std::future::ready(other.clone()))
        .sampling_tools()
        .sampling(|_| async { Err(Declined::failed("never")) });
    assert_eq!(
        declared(builder),
        json!({"elicitation": {"form": {}, "url": {}}, "sampling": {"tools": {}}})
    );
}

#[test]
fn or_10_requests_of_a_legacy_server_are_answered_while_calls_wait() {
    let script = |peer: &mut Peer| {
        peer.legacy("2025-11-25");
        let call = peer.expect("tools/call");
        let mut ask = |id: &str, request: Value| {
            let mut request = request;
            request["jsonrpc"] = "2.0".into();
            request["id"] = id.into();
            peer.send(&request);
            let answer = peer.next().expect("it answers");
            assert_eq!(answer["id"], id);
            answer
        };
        assert_eq!(ask("p1", json!({"method": "ping"}))["result"], json!({}));
        let elicited = ask("e", elicitation());
        assert_eq!(
            elicited["result"],
            json!({"action": "accept", "content": {"name": "me"}})
        );
        let sampled = ask("s", sampling());
        assert_eq!(
            sampled["result"]["content"],
            json!({"type": "text", "text": "4"})
        );
        let roots = ask("r", json!({"method": "roots/list"}));
        assert_eq!(
            roots["result"]["roots"],
            json!([{"uri": "file:///home/me"}])
        );
        let mut declined = sampling();
        declined["params"]["maxTokens"] = 0.into();
        assert_eq!(ask("d", declined)["error"]["code"], -1);
        let mut tools = sampling();
        tools["params"]["tools"] = json!([]);
        assert_eq!(ask("t", tools)["error"]["code"], -32602);
        let mut url = elicitation();
        url["params"] = json!({"mode": "url", "message": "m", "url": "https://a.example", "elicitationId": "1"});
        assert_eq!(ask("u", url)["error"]["code"], -32602);
        let mut wrong = elicitation();
        wrong["params"]["message"] = 1.into();
        assert_eq!(ask("w", wrong)["error"]["code"], -32602);
        assert_eq!(ask("x", json!({"method": "x/y"}))["error"]["code"], -32601);
        peer.answer(&call, &json!({"content": []}));
        peer.ends();
    };
    with(obliging(), script, async |client| {
        client.call_tool("x", &()).await.expect("it answers");
    });
}

#[test]
fn a_question_that_is_taken_back_is_forgotten() {
    let script = |peer: &mut Peer| {
        peer.legacy("2025-06-18");
        let mut request = elicitation();
        request["jsonrpc"] = "2.0".into();
        request["id"] = "e".into();
        peer.send(&request);
        peer.silence();
        peer.notify("notifications/cancelled", &json!({"requestId": "e"}));
        peer.send(&json!({"jsonrpc": "2.0", "id": 5, "method": "ping"}));
        assert_eq!(peer.next().expect("it answers")["id"], 5);
        peer.ends();
    };
    let dropped = Arc::new(AtomicUsize::new(0));
    struct Count(Arc<AtomicUsize>);
    impl Drop for Count {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let seen = dropped.clone();
    let never = builder().elicitation(move |_| {
        let count = Count(seen.clone());
        async move {
            let _count = count;
            std::future::pending().await
        }
    });
    with(never, script, async |_| {
        while dropped.load(Ordering::SeqCst) == 0 {
            smol::Timer::after(crate::peer::MOMENT / 10).await;
        }
    });
}

#[test]
fn rt_01_rounds_of_a_modern_server_are_answered_by_the_same_handlers() {
    let script = |peer: &mut Peer| {
        peer.modern();
        let first = peer.expect("tools/call");
        let state = "{\"b\":1 , \"a\":\"é\u{0}\"}== ";
        peer.answer(
            &first,
            &json!({
                "resultType": "input_required",
                "inputRequests": {"who": elicitation(), "sum": sampling(), "where": {"method": "roots/list"}},
                "requestState": state,
            }),
        );
        let second = peer.expect("tools/call");
        assert_ne!(first["id"], second["id"]);
        assert_eq!(second["params"]["name"], first["params"]["name"]);
        assert_eq!(second["params"]["arguments"], first["params"]["arguments"]);
        assert_eq!(second["params"]["requestState"], state);
        let responses = &second["params"]["inputResponses"];
        assert_eq!(responses["who"]["content"]["name"], "me");
        assert_eq!(responses["sum"]["model"], "a model");
        assert_eq!(responses["where"]["roots"][0]["uri"], "file:///home/me");
        peer.answer(&second, &complete(json!({"content": []})));
        let declined = peer.expect("tools/call");
        let mut sample = sampling();
        sample["params"]["maxTokens"] = 0.into();
        peer.answer(
            &declined,
            &json!({"resultType": "input_required", "inputRequests": {"k": sample}}),
        );
        // Requests are nothing that a modern server sends, and no answer goes to it (STD-07).
        peer.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}));
        for _ in 0..=10 {
            let request = peer.expect("prompts/get");
            peer.answer(
                &request,
                &json!({"resultType": "input_required", "inputRequests": {"k": elicitation()}}),
            );
        }
        peer.ends();
    };
    with(obliging(), script, async |client| {
        client
            .call_tool("x", &json!({"n": 1}))
            .await
            .expect("it is given");
        let error = client.call_tool("x", &()).await.expect_err("it is not");
        assert!(matches!(error, CallError::Declined { .. }), "{error}");
        let error = client
            .get_prompt("p", &())
            .await
            .expect_err("it never ends");
        assert!(
            matches!(error, CallError::TooManyRounds { limit: 10, .. }),
            "{error}"
        );
    });
}

#[test]
fn roots_can_change_if_they_were_declared() {
    let script = |peer: &mut Peer| {
        peer.legacy("2024-11-05");
        peer.expect("notifications/roots/list_changed");
        peer.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "roots/list"}));
        let answer = peer.next().expect("it answers");
        assert_eq!(
            answer["result"]["roots"],
            json!([{"uri": "file:///b", "name": "B"}])
        );
        peer.ends();
    };
    with(obliging(), script, async |client| {
        let mut root = Root::new("file:///b");
        root.name = Some("B".into());
        client.set_roots([root]).expect("they were declared");
        smol::Timer::after(crate::peer::MOMENT).await;
    });
    // ROOT-03: also when it looks like a path, or like nothing.
    for uri in ["https://example.com", "/home/me", "file:/b", "", "é"] {
        let script = |peer: &mut Peer| {
            peer.modern();
            peer.ends();
        };
        with(obliging(), script, async |client| {
            let error = client.set_roots([Root::new(uri)]).expect_err(uri);
            assert!(matches!(error, CallError::Arguments(_)), "{error}");
        });
        let script = |peer: &mut Peer| peer.ends();
        let (client, script) = smol::block_on(crate::peer::connect(
            builder().roots([Root::new(uri)]),
            script,
        ));
        let error = client.expect_err(uri);
        assert!(matches!(error, ConnectError::Config(_)), "{error}");
        script.done();
    }
    let modern = |peer: &mut Peer| {
        peer.modern();
        peer.ends();
    };
    with(builder(), modern, async |client| {
        let error = client.set_roots([]).expect_err("they were not");
        assert!(matches!(error, CallError::Unsupported(Unsupported::Roots)));
    });
}

#[test]
fn log_messages_go_to_the_handler_and_all_notifications_to_who_listens() {
    let script = |peer: &mut Peer| {
        peer.legacy("2025-06-18");
        peer.serve("logging/setLevel", &json!({}));
        peer.notify(
            "notifications/message",
            &json!({"level": "warning", "logger": "l", "data": {"n": 1}}),
        );
        peer.notify("notifications/x", &json!({"y": []}));
        peer.ends();
    };
    let (sender, receiver) = std::sync::mpsc::channel();
    let listening = builder().on_log(move |message| {
        let said = (message.level, message.data.as_str().to_owned());
        sender.send(said).expect("the test waits");
    });
    with(listening, script, async |client| {
        let mut notifications = client.notifications();
        client
            .set_level(mcp_std::model::LoggingLevel::Info)
            .await
            .expect("it has that");
        let first = notifications.next().await.expect("it comes");
        assert_eq!(first.method, "notifications/message");
        let second = notifications.next().await.expect("it comes");
        assert_eq!(second.method, "notifications/x");
        assert_eq!(second.params.expect("it has some").as_str(), r#"{"y":[]}"#);
        let said = receiver.recv().expect("it was told");
        assert_eq!(
            said,
            (
                mcp_std::model::LoggingLevel::Warning,
                r#"{"n":1}"#.to_owned()
            )
        );
    });
}
