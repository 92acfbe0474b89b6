//! Calls, and what becomes of them.

use std::sync::{Arc, Mutex};

use mcp_std::Json;
use mcp_std::client::{CallError, CallOptions, Canceller, ErrorAnswer};
use mcp_std::model::request;
use serde_json::{Value, json};

use crate::peer::{Peer, builder, complete, with};

/// Answers every call until the client has gone.
fn serve(peer: &mut Peer, mut answer: impl FnMut(&Value) -> Value) {
    while let Some(request) = peer.next() {
        let result = answer(&request);
        peer.answer(&request, &complete(result));
    }
}

#[test]
fn co_01_a_tool_is_called_with_anything_that_is_a_json_object() {
    #[derive(serde::Serialize)]
    struct Echo {
        text: &'static str,
    }
    let script = |peer: &mut Peer| {
        peer.modern();
        for expected in [
            json!({"text": "a\n\u{0}é"}),
            json!({"text": "b"}),
            Value::Null,
        ] {
            let call = peer.expect("tools/call");
            assert_eq!(call["params"]["name"], "echo");
            assert_eq!(call["params"]["arguments"], expected);
            let content = json!([{"type": "text", "text": "said"}, {"type": "hologram", "x": 1}]);
            peer.answer(&call, &complete(json!({"content": content})));
        }
        peer.ends();
    };
    with(builder(), script, async |client| {
        let said = client.call_tool("echo", &Echo { text: "a\n\u{0}é" }).await;
        let said = said.expect("it answers");
        assert!(!said.is_error());
        assert_eq!(said.text(), "said");
        assert_eq!(said.content.len(), 2, "content of an unknown type is kept");
        client
            .call_tool("echo", &json!({"text": "b"}))
            .await
            .expect("it answers");
        client.call_tool("echo", &()).await.expect("it answers");
        for wrong in [json!([1]), json!("text"), json!(1), json!(true)] {
            let error = client.call_tool("echo", &wrong).await;
            assert!(matches!(error, Err(CallError::Arguments(_))), "{error:?}");
        }
    });
}

#[test]
fn sc_09_a_tool_that_fails_is_a_result_and_an_error_if_that_is_asked_for() {
    let script = |peer: &mut Peer| {
        peer.modern();
        serve(peer, |_| {
            json!({"content": [{"type": "text", "text": "no such city"}], "isError": true,
                   "structuredContent": {"n": 12345678901234567890_u64}})
        });
    };
    with(builder(), script, async |client| {
        let outcome = client.call_tool("weather", &()).await.expect("it answers");
        assert!(outcome.is_error());
        #[derive(serde::Deserialize)]
        struct Content {
            n: u64,
        }
        let content: Content = outcome
            .structured()
            .expect("it is there")
            .expect("it is one");
        assert_eq!(content.n, 12_345_678_901_234_567_890);
        let error = outcome.into_result().expect_err("it says so");
        assert!(matches!(error, CallError::Tool(_)));
        assert_eq!(error.to_string(), "the tool failed: no such city");
    });
}

#[test]
fn id_02_errors_tell_apart_what_they_are() {
    let script = |peer: &mut Peer| {
        peer.modern();
        let call = peer.expect("tools/call");
        peer.refuse(&call, -32602, "Unknown tool");
        let read = peer.expect("resources/read");
        peer.refuse(&read, -32602, "Resource not found");
        let wrong = peer.expect("tools/call");
        peer.answer(&wrong, &complete(json!({"content": 1})));
        let unheard = peer.expect("tools/call");
        peer.answer(&unheard, &json!({"resultType": "hologram", "content": []}));
        let both = peer.expect("tools/call");
        peer.send(&json!({"jsonrpc": "2.0", "id": both["id"], "result": {}, "error": {"code": 1, "message": ""}}));
        // Of another message than any of ours: the connection goes on.
        peer.send(
            &json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32700, "message": "bad"}}),
        );
        let last = peer.expect("tools/call");
        let id = last["id"].to_string();
        peer.send(&json!({"jsonrpc": "2.0", "id": id, "result": complete(json!({"content": []}))}));
        peer.ends();
    };
    with(builder(), script, async |client| {
        let error = client.call_tool("x", &()).await.expect_err("it is refused");
        let CallError::Protocol(answer) = &error else {
            panic!("{error}");
        };
        assert_eq!(
            (answer.code.value(), &*answer.message),
            (-32602, "Unknown tool")
        );
        let error = client
            .read_resource("a:b")
            .await
            .expect_err("it is refused");
        assert!(matches!(error, CallError::Protocol(answer) if answer.is_not_found()));
        let error = client.call_tool("x", &()).await.expect_err("it is wrong");
        assert!(
            matches!(
                &error,
                CallError::Decode { method, .. } if method == "tools/call"
            ),
            "{error}"
        );
        for _ in 0..2 {
            let error = client.call_tool("x", &()).await.expect_err("it is none");
            assert!(matches!(error, CallError::Answer { .. }), "{error}");
        }
        client
            .call_tool("x", &())
            .await
            .expect("a number in quotes is read as one");
    });
}

#[test]
fn a_thousand_calls_at_once_get_each_its_answer_in_any_order() {
    const CALLS: usize = 1000;
    let script = |peer: &mut Peer| {
        peer.modern();
        let mut calls: Vec<Value> = (0..CALLS).map(|_| peer.expect("tools/call")).collect();
        // Far from the order they came in, and the same each time.
        calls.sort_by_key(|call| {
            call["id"]
                .as_u64()
                .map(|id| id.wrapping_mul(0x9E37_79B9) % 1009)
        });
        for call in calls {
            let text = call["params"]["arguments"]["n"].to_string();
            let content = json!([{"type": "text", "text": text}]);
            peer.answer(&call, &complete(json!({"content": content})));
        }
        peer.ends();
    };
    with(builder(), script, async |client| {
        let calls: Vec<_> = (0..CALLS)
            .map(|n| {
                let client = client.clone();
                smol::spawn(async move {
                    let outcome = client.call_tool("echo", &json!({"n": n})).await;
                    assert_eq!(outcome.expect("it answers").text(), n.to_string());
                })
            })
            .collect();
        for call in calls {
            call.await;
        }
    });
}

#[test]
fn or_04_progress_is_told_and_only_while_the_call_runs() {
    let script = |peer: &mut Peer| {
        peer.modern();
        let call = peer.expect("tools/call");
        let token = &call["params"]["_meta"]["progressToken"];
        assert!(!token.is_null(), "{call}");
        for (done, message) in [(1.0, "one"), (2.5, "two")] {
            let params =
                json!({"progressToken": token, "progress": done, "total": 5, "message": message});
            peer.notify("notifications/progress", &params);
        }
        peer.answer(&call, &complete(json!({"content": []})));
        peer.notify(
            "notifications/progress",
            &json!({"progressToken": token, "progress": 3}),
        );
        let call = peer.expect("tools/call");
        assert!(call["params"]["_meta"]["progressToken"].is_null(), "{call}");
        peer.answer(&call, &complete(json!({"content": []})));
        peer.ends();
    };
    with(builder(), script, async |client| {
        let told = Arc::new(Mutex::new(Vec::new()));
        let seen = told.clone();
        let options = CallOptions::new().on_progress(move |progress| {
            let message = progress.message.as_deref().map(str::to_owned);
            let mut told = seen.lock().expect("one thread at a time");
            told.push((progress.progress, progress.total, message));
            panic!("which ends nothing else");
        });
        let called = client.call_tool_with("x", &(), options).await;
        called.expect("it answers");
        client.call_tool("x", &()).await.expect("it answers");
        let told = told.lock().expect_err("it panicked").into_inner().clone();
        let expected = [(1.0, Some(5.0), Some("one".to_owned()))];
        assert_eq!(told, expected);
    });
}

#[test]
fn or_03_a_cancelled_call_ends_at_once_and_its_answer_is_dropped() {
    let script = |peer: &mut Peer| {
        peer.modern();
        let call = peer.expect("tools/call");
        let cancelled = peer.expect("notifications/cancelled");
        assert_eq!(cancelled["params"]["requestId"], call["id"]);
        peer.answer(&call, &complete(json!({"content": []})));
        peer.serve(
            "tools/call",
            &complete(json!({"content": [{"type": "text", "text": "2"}]})),
        );
        peer.ends();
    };
    with(builder(), script, async |client| {
        let canceller = Canceller::new();
        let options = CallOptions::new().canceller(&canceller);
        let call = client.call_tool_with("x", &(), options);
        let cancel = async {
            smol::Timer::after(crate::peer::MOMENT).await;
            canceller.cancel();
            std::future::pending().await
        };
        let error = smol::future::or(call, cancel).await;
        assert!(matches!(error, Err(CallError::Cancelled)), "{error:?}");
        let next = client.call_tool("x", &()).await.expect("it answers");
        assert_eq!(next.text(), "2");
    });
}

#[test]
fn co_04_dx_06_what_goes_with_a_call_goes_with_it() {
    let script = |peer: &mut Peer| {
        peer.modern();
        let call = peer.expect("tools/call");
        let meta = &call["params"]["_meta"];
        assert_eq!(meta["traceparent"], "00-1-2-01");
        assert_eq!(meta["io.modelcontextprotocol/logLevel"], "warning");
        assert_eq!(
            meta["io.modelcontextprotocol/protocolVersion"],
            "2026-07-28"
        );
        peer.answer(&call, &complete(json!({"content": []})));
        let got = peer.serve("prompts/get", &complete(json!({"messages": []})));
        assert_eq!(got["params"]["arguments"], json!({"who": "me"}));
        let asked = peer.serve(
            "completion/complete",
            &complete(json!({"completion": {"values": ["abc"]}})),
        );
        assert_eq!(
            asked["params"]["ref"],
            json!({"type": "ref/prompt", "name": "p"})
        );
        peer.serve(
            "resources/read",
            &complete(json!({"contents": [{"uri": "a:b", "text": "t"}], "x": [1]})),
        );
        peer.ends();
    };
    with(builder(), script, async |client| {
        let meta = r#"{"traceparent":"00-1-2-01","io.modelcontextprotocol/protocolVersion":"1"}"#;
        let options = CallOptions::new()
            .meta(Json::owned(meta.to_owned()).expect("it is JSON"))
            .log_level(mcp_std::model::LoggingLevel::Warning);
        let called = client.call_tool_with("x", &(), options).await;
        called.expect("it answers");
        let got = client.get_prompt("p", &json!({"who": "me"})).await;
        assert!(got.expect("it answers").messages.is_empty());
        let error = client.get_prompt("p", &json!({"who": 1})).await;
        assert!(matches!(error, Err(CallError::Arguments(_))), "{error:?}");
        let reference = mcp_std::model::PromptReference::new("p");
        let params = mcp_std::model::CompleteRequestParams::new(
            mcp_std::model::CompletionReference::Prompt(reference),
            mcp_std::model::CompletionArgument::new("who", "a"),
        );
        let completed = client.complete(&params).await.expect("it answers");
        assert_eq!(&*completed.completion.values[0], "abc");
        let params = mcp_std::model::ReadResourceRequestParams::new("a:b");
        let response = client
            .request::<request::ReadResource>(&params, CallOptions::new())
            .await
            .expect("it answers");
        assert_eq!(response.decode().expect("it is one").contents.len(), 1);
        assert!(response.raw().as_str().contains("\"x\":[1]"));
    });
}

#[test]
fn co_07_what_the_server_did_not_declare_is_not_asked_for() {
    let script = |peer: &mut Peer| {
        let mut discovery = crate::peer::discovery();
        discovery["capabilities"] = json!({"tools": {}});
        peer.serve("server/discover", &discovery);
        peer.ends();
    };
    with(builder(), script, async |client| {
        let error = client.list_prompts().await.expect_err("there are none");
        let text = error.to_string();
        assert_eq!(text, "not sent: the server does not offer `prompts`");
        client
            .read_resource("a:b")
            .await
            .expect_err("there are none");
    });
}

#[test]
fn results_are_looked_at_before_callers_get_them() {
    let script = |peer: &mut Peer| {
        peer.modern();
        serve(peer, |_| json!({"content": []}));
    };
    let checked = builder().check_results(|tool, result| {
        assert!(result.content.is_empty());
        if tool == "bad" {
            Err("no".to_owned())
        } else {
            Ok(())
        }
    });
    with(checked, script, async |client| {
        client
            .call_tool("good", &())
            .await
            .expect("it is let through");
        let error = client.call_tool("bad", &()).await.expect_err("it is not");
        assert!(matches!(error, CallError::Schema(_)), "{error}");
    });
}

#[cfg(feature = "validate")]
#[test]
fn sc_05_results_are_checked_with_the_schemas_of_the_list_if_that_is_asked_for() {
    const N: &str =
        r#"{"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}"#;
    let schema: Value = serde_json::from_str(N).expect("it is JSON");
    let outside = json!({"$ref": "https://example.com/schema"});
    let tool = |name: &str, output: Value| json!({"name": name, "inputSchema": {"type": "object"}, "outputSchema": output});
    let free = json!({"name": "free", "inputSchema": {"type": "object"}});
    let tools = json!({"tools": [tool("t", schema), tool("odd", outside), free]});
    let script = move |peer: &mut Peer| {
        peer.modern();
        let list = |peer: &mut Peer| {
            peer.serve("tools/list", &complete(tools.clone()));
        };
        let call = |peer: &mut Peer, mut result: Value| {
            result["content"] = json!([]);
            peer.serve("tools/call", &complete(result));
        };
        list(peer);
        call(peer, json!({"structuredContent": {"n": 1}}));
        call(peer, json!({"structuredContent": {"n": "1"}}));
        // Its schema may be another by now.
        list(peer);
        call(peer, json!({}));
        list(peer);
        call(peer, json!({"structuredContent": {}, "isError": true}));
        call(peer, json!({"structuredContent": [1]}));
        peer.ends();
    };
    with(builder().check_outputs(true), script, async |client| {
        client.call_tool("t", &()).await.expect("it fits");
        for fault in ["`/n` is not", "missing"] {
            let error = client.call_tool("t", &()).await.expect_err("it does not");
            assert!(matches!(error, CallError::Schema(_)), "{error}");
            assert!(error.to_string().contains(fault), "{error}");
        }
        let failed = client.call_tool("t", &()).await;
        assert!(failed.expect("no error of the call").is_error());
        client.call_tool("free", &()).await.expect("it has none");
        let error = client.call_tool("odd", &()).await.expect_err("a bad one");
        assert!(error.to_string().contains("not called"), "{error}");
    });
}

#[test]
fn pages_that_the_user_is_to_visit_come_as_such() {
    let page = json!({"mode": "url", "elicitationId": "1", "url": "https://example.com/é", "message": "Sign in"});
    for (version, data, is_one) in [
        ("2025-11-25", json!({"elicitations": [page]}), true),
        (
            "2025-11-25",
            json!({"elicitations": [page, {"mode": "form"}]}),
            false,
        ),
        ("2025-11-25", json!({"elicitations": []}), false),
        ("2025-11-25", Value::Null, false),
        ("2025-06-18", json!({"elicitations": [page]}), false),
    ] {
        let script = move |peer: &mut Peer| {
            peer.legacy(version);
            let call = peer.expect("tools/call");
            let error = json!({"code": -32042, "message": "Sign in first", "data": data});
            peer.send(&json!({"jsonrpc": "2.0", "id": call["id"], "error": error}));
            peer.ends();
        };
        with(builder(), script, async |client| {
            let error = client.call_tool("x", &()).await.expect_err("it is refused");
            assert!(error.to_string().contains("Sign in first"), "{error}");
            if let CallError::UrlElicitationRequired { elicitations, .. } = &error {
                assert!(is_one, "{error}");
                assert_eq!(elicitations[0].url, "https://example.com/é");
                assert_eq!(elicitations[0].elicitation_id.as_deref(), Some("1"));
            } else {
                assert!(!is_one, "{error}");
                let is_it = |answer: &ErrorAnswer| answer.code.value() == -32042;
                assert!(matches!(&error, CallError::Protocol(answer) if is_it(answer)));
            }
        });
    }
}

#[test]
fn methods_and_notifications_of_extensions_are_called_by_their_names() {
    let script = |peer: &mut Peer| {
        peer.modern();
        let call = peer.expect("com.example/double");
        assert_eq!(call["params"]["n"], 21);
        assert!(call["params"]["_meta"].is_object());
        peer.answer(&call, &json!({"n": 42}));
        let told = peer.expect("com.example/told");
        assert_eq!(
            told,
            json!({"jsonrpc": "2.0", "method": "com.example/told", "params": {"b": 2}})
        );
        let call = peer.expect("com.example/none");
        peer.refuse(&call, -32601, "Method not found");
        peer.ends();
    };
    with(builder(), script, async |client| {
        let options = CallOptions::new;
        let n = json!({"n": 21});
        let doubled = client.request_by_name("com.example/double", &n, options());
        assert_eq!(doubled.await.expect("it is there").as_str(), r#"{"n":42}"#);
        let told = client.notify("com.example/told", &json!({"b": 2})).await;
        told.expect("it is sent");
        let none = client.request_by_name("com.example/none".to_owned(), &(), options());
        let error = none.await.expect_err("there is none");
        assert!(matches!(error, CallError::Protocol(_)), "{error}");
        let ours = client.notify("notifications/cancelled", &()).await;
        assert!(matches!(ours, Err(CallError::Arguments(_))), "{ours:?}");
        let wrong = client.notify("com.example/told", &1).await;
        assert!(matches!(wrong, Err(CallError::Arguments(_))), "{wrong:?}");
    });
}

#[test]
fn what_is_not_as_it_should_be_is_counted() {
    let script = |peer: &mut Peer| {
        peer.modern();
        let call = peer.expect("tools/call");
        peer.send(&json!({"jsonrpc": "2.0", "id": 4711, "result": {}}));
        peer.send_text("this is no JSON");
        peer.answer(&call, &complete(json!({"content": []})));
        peer.answer(&call, &complete(json!({"content": []})));
        let params = json!({"progressToken": 1, "progress": 1});
        peer.notify("notifications/progress", &params);
        peer.serve("tools/call", &complete(json!({"content": []})));
        peer.ends();
    };
    with(builder(), script, async |client| {
        for _ in 0..2 {
            client.call_tool("x", &()).await.expect("it answers");
        }
        let counters = client.counters();
        assert_eq!((counters.late, counters.unknown), (1, 1), "{counters:?}");
        assert_eq!(
            (counters.rejected, counters.dropped),
            (1, 1),
            "{counters:?}"
        );
        assert_eq!(client.blocking().counters(), counters);
    });
}
