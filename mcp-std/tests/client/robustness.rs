//! What odd servers say, and how those end that are processes.

use std::process::ExitStatus;
use std::time::{Duration, Instant};

use mcp_std::client::{CallError, CallOptions, ConnectError, HandshakeError, Timeout};
use mcp_std::model::{ElicitAction, ElicitResult};
use mcp_std::{Json, ProtocolVersion};
use serde_json::{Value, json};

use crate::children::{is_gone_soon, shell};
use crate::peer::{MOMENT, Peer, builder, complete, with};

/// CO-01: what is not known stays where it is, as it is, with all its members.
#[test]
fn co_01_dx_06_unknown_blocks_and_all_meta_stay_as_they_are() {
    let blocks = json!([
        { "type": "text", "text": "a", "_meta": { "io.example/x": [1, { "y": null }] } },
        { "type": "hologram", "data": { "x": 1 }, "_meta": { "k": 1 } },
        { "type": "resource_link", "uri": "a://b", "name": "n", "_meta": { "k": "v".repeat(10_000) } },
        { "type": "text", "text": "b" },
    ]);
    let sent = blocks.clone();
    let meta = json!({
        "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "io.example/x": { "big": "v".repeat(10_000), "n": 9_007_199_254_740_993_u64 },
    });
    let asked = meta.clone();
    let script = move |peer: &mut Peer| {
        peer.modern();
        let call = peer.expect("tools/call");
        for (key, value) in asked.as_object().expect("an object") {
            assert_eq!(&call["params"]["_meta"][key], value);
        }
        let result = json!({ "content": sent, "_meta": { "io.example/r": "v".repeat(10_000) } });
        peer.answer(&call, &complete(result));
        peer.ends();
    };
    with(builder(), script, async |client| {
        let meta = Json::owned(meta.to_string()).expect("JSON");
        let options = CallOptions::new().meta(meta);
        let outcome = client.call_tool_with("t", &(), options).await;
        let outcome = outcome.expect("it answers");
        let again: Vec<Value> = (outcome.content.iter())
            .map(|block| serde_json::to_value(block).expect("it can be written"))
            .collect();
        assert_eq!(Value::from(again), blocks);
        let meta = outcome.meta.as_ref().expect("it has some");
        let meta: Value = serde_json::from_str(meta.as_str()).expect("JSON");
        assert_eq!(meta["io.example/r"].as_str().map(str::len), Some(10_000));
    });
}

/// HM-06: codes of others mean nothing to us, and what ends here has none of them.
#[test]
fn hm_06_what_ends_here_has_no_code() {
    let codes = [-32_000, -32_001, -32_010, -32_019, -32_002, 0, 1];
    let script = move |peer: &mut Peer| {
        peer.modern();
        for code in codes {
            let call = peer.expect("tools/call");
            peer.refuse(&call, code, "no");
        }
        let _ = peer.expect("tools/call");
        peer.expect("notifications/cancelled");
        peer.ends();
    };
    with(builder(), script, async |client| {
        for code in codes {
            let error = client.call_tool("t", &()).await.expect_err("refused");
            let CallError::Protocol(answer) = &error else {
                panic!("{error}");
            };
            assert_eq!(answer.code.value(), code);
        }
        let options = CallOptions::new().timeout(MOMENT);
        let error = client.call_tool_with("t", &(), options).await;
        let error = error.expect_err("it is silent");
        assert!(matches!(error, CallError::Timeout(_)), "{error}");
        for code in ["-32020", "-32021", "-32022", "-32001"] {
            assert!(!error.to_string().contains(code), "{error}");
        }
    });
}

/// SC-07: null, 0, a list, and nothing at all are four things.
#[test]
fn sc_07_a_structured_result_may_have_any_root() {
    let values = [json!(null), json!(0), json!([]), json!("x"), json!({})];
    let sent = values.clone();
    let script = move |peer: &mut Peer| {
        peer.modern();
        for value in sent {
            let call = peer.expect("tools/call");
            let result = json!({ "content": [], "structuredContent": value });
            peer.answer(&call, &complete(result));
        }
        peer.serve("tools/call", &complete(json!({ "content": [] })));
        peer.ends();
    };
    with(builder(), script, async |client| {
        for value in values {
            let outcome = client.call_tool("t", &()).await.expect("it answers");
            let found = outcome.structured::<Value>().expect("it is there");
            assert_eq!(found.expect("it is JSON"), value);
        }
        let outcome = client.call_tool("t", &()).await.expect("it answers");
        assert!(outcome.structured::<Value>().is_none());
    });
}

/// SC-03, SC-04: schemas that say little, from a server whose tools can all be called.
#[test]
fn sc_03_sc_04_schemas_that_say_little_are_taken() {
    let schemas = [
        json!({ "type": "object" }),
        json!({}),
        json!({ "type": "object", "additionalProperties": {} }),
        json!({ "type": "object", "properties": {
            "tags": { "type": "array" },
            "m": { "type": "array", "prefixItems": [{ "type": "string" }] } } }),
    ];
    let listed = schemas.clone();
    let script = move |peer: &mut Peer| {
        peer.modern();
        let tools: Vec<_> = (listed.iter().enumerate())
            .map(|(at, schema)| json!({ "name": format!("t{at}"), "inputSchema": schema }))
            .collect();
        let list = json!({ "tools": tools, "ttlMs": 0, "cacheScope": "private" });
        peer.serve("tools/list", &complete(list));
        for at in 0..listed.len() {
            let call = peer.serve("tools/call", &complete(json!({ "content": [] })));
            assert_eq!(call["params"]["name"], format!("t{at}"));
        }
        peer.ends();
    };
    with(builder(), script, async |client| {
        let tools = client.list_tools().await.expect("a list");
        assert_eq!(tools.len(), schemas.len());
        for (tool, schema) in tools.iter().zip(&schemas) {
            let found: Value = serde_json::from_str(tool.input_schema.as_str()).expect("JSON");
            assert_eq!(&found, schema);
            let arguments = json!({ "tags": [1, "a"], "m": ["x", 2] });
            let called = client.call_tool(&tool.name, &arguments).await;
            called.expect("it answers");
        }
    });
}

/// RT-01: a call beside it is not disturbed, and an empty state is one.
#[test]
fn rt_01_an_empty_state_goes_back_and_none_does_not() {
    let question = json!({ "method": "elicitation/create", "params": {
        "message": "Who?", "requestedSchema": { "type": "object", "properties": {} } } });
    let script = move |peer: &mut Peer| {
        peer.modern();
        for state in [Some(""), None, Some(" {\"b\":1 , \"a\":\"é\u{0}\"}== ")] {
            let first = peer.expect("tools/call");
            let mut asks =
                json!({ "resultType": "input_required", "inputRequests": { "q": question } });
            if let Some(state) = state {
                asks["requestState"] = state.into();
            }
            peer.answer(&first, &asks);
            let second = peer.expect("tools/call");
            assert_ne!(second["id"], first["id"]);
            assert_eq!(
                second["params"].get("requestState"),
                state.map(Value::from).as_ref()
            );
            assert_eq!(second["params"]["arguments"], first["params"]["arguments"]);
            peer.answer(&second, &complete(json!({ "content": [] })));
        }
        peer.ends();
    };
    let builder = builder().elicitation(|_| async { ElicitResult::new(ElicitAction::Decline) });
    with(builder, script, async |client| {
        for n in 0..3 {
            let called = client.call_tool("t", &json!({ "n": n })).await;
            called.expect("it answers");
        }
    });
}

/// RT-02: who declines, or goes away, is no error of ours: the server hears of it and decides.
#[test]
fn rt_02_declining_is_an_answer() {
    let question = json!({ "method": "elicitation/create", "params": {
        "message": "Who?", "requestedSchema": { "type": "object", "properties": {} } } });
    let script = move |peer: &mut Peer| {
        peer.modern();
        for action in ["decline", "cancel"] {
            let first = peer.expect("tools/call");
            let asks =
                json!({ "resultType": "input_required", "inputRequests": { "q": question } });
            peer.answer(&first, &asks);
            let second = peer.expect("tools/call");
            assert_eq!(
                second["params"]["inputResponses"],
                json!({ "q": { "action": action } })
            );
            let said = json!([{ "type": "text", "text": "then not" }]);
            peer.answer(
                &second,
                &complete(json!({ "content": said, "isError": true })),
            );
        }
        peer.ends();
    };
    let actions = std::sync::Mutex::new(vec![ElicitAction::Cancel, ElicitAction::Decline]);
    let builder = builder().elicitation(move |_| {
        let action = actions.lock().expect("no panic").pop();
        async move { ElicitResult::new(action.expect("asked twice")) }
    });
    with(builder, script, async |client| {
        for _ in 0..2 {
            let outcome = client.call_tool("t", &()).await.expect("it answers");
            assert_eq!(outcome.text(), "then not");
        }
    });
}

/// OR-06: whatever it says meanwhile, a server that does not answer the handshake is given up, and is gone.
#[test]
fn or_06_progress_does_not_keep_a_handshake_alive() {
    smol::block_on(async {
        let script = r#"
            while :; do
                for token in 0 1 2; do
                    echo '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":'$token',"progress":1}}'
                done
                sleep 0.05
            done"#;
        let mut before = None;
        for _ in 0..3 {
            let (command, pids) = shell(script);
            let started = Instant::now();
            let connecting = builder()
                .revision(ProtocolVersion::V2025_06_18)
                .connect_timeout(Duration::from_millis(400))
                .connect_stdio(command);
            let error = connecting.await.expect_err("it never answers");
            assert!(
                matches!(
                    error,
                    ConnectError::Handshake(HandshakeError::TimedOut { .. })
                ),
                "{error:?}"
            );
            assert!(started.elapsed() >= Duration::from_millis(400));
            assert!(started.elapsed() < Duration::from_secs(4));
            let pid = pids.recv().expect("it said so");
            // Never two at once.
            assert!(pids.try_recv().is_err());
            is_gone_soon(pid).await;
            assert_ne!(before.replace(pid), Some(pid));
        }
    });
}

/// A server of 2025-06-18 that ends in the middle of the second call, or when it is told to by a notification.
fn ending(how: &str) -> String {
    format!(
        r#"
n=0
while read -r line; do
    id=$(printf '%s' "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
    case "$line" in
    *'"initialize"'*) printf '{{"jsonrpc":"2.0","id":%s,"result":{{"protocolVersion":"2025-06-18","capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"f","version":"1"}}}}}}\n' "$id" ;;
    *'"tools/call"'*) n=$((n+1)); if [ $n = 2 ]; then echo last words >&2; {how}; fi ;;
    *'"x/end"'*) echo last words >&2; {how} ;;
    esac
done
"#
    )
}

fn ended(status: ExitStatus, how: &str) -> bool {
    use std::os::unix::process::ExitStatusExt as _;
    match how {
        "exit 0" => status.success(),
        "exit 1" => status.code() == Some(1),
        _ => status.signal() == Some(9),
    }
}

/// PR-04: however it ends, both calls fail at once and say how, and one that is idle is noticed by itself.
#[test]
fn pr_04_the_end_of_a_server_is_told_with_how_it_ended() {
    smol::block_on(async {
        for how in ["exit 0", "exit 1", "kill -9 $$"] {
            for idle in [false, true] {
                let (command, pids) = shell(&ending(how));
                let client = builder()
                    .revision(ProtocolVersion::V2025_06_18)
                    .connect_stdio(command)
                    .await
                    .expect("it connects");
                let started = Instant::now();
                if idle {
                    let end = client.notify("x/end", &()).await;
                    end.expect("sent");
                } else {
                    let arguments = json!({});
                    let calls = smol::future::zip(
                        client.call_tool("a", &arguments),
                        client.call_tool("b", &arguments),
                    );
                    let (one, other) = calls.await;
                    for outcome in [one, other] {
                        let error = outcome.expect_err("it has ended");
                        let CallError::Closed(closed) = &error else {
                            panic!("{how}: {error}");
                        };
                        let exit = closed.exit().expect("it is known");
                        assert!(exit.status.is_some_and(|status| ended(status, how)));
                        assert!(error.to_string().contains("last words"), "{error}");
                    }
                }
                while client.closed().is_none() {
                    smol::Timer::after(MOMENT / 10).await;
                    let late = started.elapsed() > Duration::from_secs(5);
                    assert!(!late, "{how}: not noticed");
                }
                let closed = client.closed().expect("it is over");
                let exit = closed.exit().expect("it is known");
                assert!(
                    exit.status.is_some_and(|status| ended(status, how)),
                    "{exit}"
                );
                is_gone_soon(pids.recv().expect("it said so")).await;
            }
        }
    });
}

/// PR-02: ten megabytes without an end of line before the first answer, and ten more with each call.
#[test]
fn pr_02_a_server_that_says_much_on_standard_error_is_served() {
    let script = r#"
flood() { head -c 10000000 /dev/zero | tr '\0' x >&2; }
flood
while read -r line; do
    id=$(printf '%s' "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
    case "$line" in
    *'"initialize"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"f","version":"1"}}}\n' "$id" ;;
    *'"tools/call"'*) flood; printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"done"}]}}\n' "$id" ;;
    esac
done
"#;
    smol::block_on(async {
        let command = mcp_std::client::Command::new("sh").args(["-c", script]);
        let client = builder()
            .revision(ProtocolVersion::V2025_06_18)
            .connect_stdio(command)
            .await
            .expect("it connects");
        for _ in 0..3 {
            let outcome = client.call_tool("t", &()).await.expect("it answers");
            assert_eq!(outcome.text(), "done");
        }
        let kept = client.stderr();
        assert!(!kept.is_empty() && kept.len() < 100_000, "{}", kept.len());
        client.close().await;
    });
}

/// OR-05: over all rounds together.
#[test]
fn or_05_a_total_limit_is_over_before_the_time_of_one_request() {
    let script = |peer: &mut Peer| {
        peer.modern();
        let call = peer.expect("tools/call");
        let cancelled = peer.expect("notifications/cancelled");
        assert_eq!(cancelled["params"]["requestId"], call["id"]);
        peer.ends();
    };
    with(builder(), script, async |client| {
        let options = CallOptions::new()
            .timeout(Duration::from_secs(10))
            .max_total(3 * MOMENT);
        let started = Instant::now();
        let error = client.call_tool_with("t", &(), options).await;
        let error = error.expect_err("it is silent");
        assert!(
            matches!(error, CallError::Timeout(Timeout::Total(_))),
            "{error:?}"
        );
        assert!(started.elapsed() >= 3 * MOMENT && started.elapsed() < Duration::from_secs(3));
    });
}
