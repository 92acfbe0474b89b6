//! Round trips of modern clients: what is sealed, what is refused, and when it ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_io::Timer;
use futures_lite::future::zip;
use mcp_std::model::{ElicitAction, ElicitRequestParams, ElicitResult};
use mcp_std::{
    AskError, Context, InputRequired, Instead, IntoToolResult, Server, ServerBuilder, ToolResult,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::peer::{Peer, session, text};

#[derive(Deserialize, JsonSchema)]
struct Name {
    name: String,
}

async fn greet(context: Context) -> Result<String, AskError> {
    let (one, other) = zip(
        context.elicit_form::<Name>("Yours?"),
        context.elicit_form::<Name>("Mine?"),
    )
    .await;
    let name = |it: Name| it.name;
    let (one, other) = (one?.accepted().map(name), other?.accepted().map(name));
    Ok(format!("{one:?} {other:?}"))
}

async fn endless(context: Context) -> Result<(), AskError> {
    for n in 0.. {
        context.elicit_form::<Name>(format!("{n}?")).await?;
    }
    Ok(())
}

/// Steers by itself.
async fn subscribe(context: Context) -> Result<ToolResult, Instead> {
    match context.input_response::<ElicitResult<'_>>("consent")? {
        Some(answer) if answer.action == ElicitAction::Accept => context
            .request_state()
            .unwrap_or("nothing")
            .to_owned()
            .into_tool_result(),
        Some(_) => "no".into_tool_result(),
        None => InputRequired::new()
            .elicit(
                "consent",
                ElicitRequestParams::url("Agree?", "https://example.com"),
            )
            .state("weekly \u{e9}")
            .into_tool_result(),
    }
}

fn builder() -> ServerBuilder {
    let runs = Arc::new(AtomicUsize::new(0));
    Server::builder("rounds", "1")
        .tool("greet", "", greet)
        .tool("endless", "", endless)
        .tool("subscribe", "", subscribe)
        .tool("plain", "", || async { "plain" })
        .tool("shed", "", |context: Context| async move {
            match context.request_state() {
                None => InputRequired::new().state("1").into_tool_result(),
                Some(state) => state.to_owned().into_tool_result(),
            }
        })
        .tool("fickle", "", move |context: Context| {
            let run = runs.fetch_add(1, Ordering::SeqCst);
            async move {
                context.elicit_form::<Name>(format!("Run {run}?")).await?;
                Ok::<_, AskError>("?")
            }
        })
        .max_rounds(3)
}

fn both() -> Value {
    json!({ "elicitation": { "form": {}, "url": {} } })
}

async fn call(peer: &mut Peer, tool: &str, more: Value) -> Value {
    let mut params = json!({ "name": tool, "arguments": {} });
    if let (Value::Object(params), Value::Object(more)) = (&mut params, more) {
        params.extend(more);
    }
    peer.modern("1", "tools/call", &params, &both()).await
}

fn named(name: &str) -> Value {
    json!({ "action": "accept", "content": { "name": name } })
}

fn keys(result: &Value) -> Vec<&str> {
    assert_eq!(result["resultType"], "input_required", "{result}");
    let requests = result["inputRequests"].as_object().expect("questions");
    requests.keys().map(String::as_str).collect()
}

/// MRTR-18: what is missing is asked again, what has no question is ignored, what is malformed is an error.
#[test]
fn rt_03_answers_that_are_missing_or_malformed() {
    session(
        &builder().build().expect("a server"),
        |mut peer| async move {
            let first = call(&mut peer, "greet", json!({})).await;
            assert_eq!(keys(&first), ["0", "1"]);
            let state = &first["requestState"];

            let some = json!({ "1": named("Eve"), "7": 1, "x": named("X"), "01": 5 });
            let second = call(
                &mut peer,
                "greet",
                json!({ "requestState": state, "inputResponses": some }),
            )
            .await;
            assert_eq!(keys(&second), ["0"]);
            let rest = json!({ "0": named("Ann"), "1": named("ignored: it has been answered") });
            let state = &second["requestState"];
            let last = call(
                &mut peer,
                "greet",
                json!({ "requestState": state, "inputResponses": rest }),
            )
            .await;
            assert_eq!(text(&last), r#"Some("Ann") Some("Eve")"#);

            let state = &first["requestState"];
            for malformed in [
                json!({ "0": 5 }),
                json!({ "0": { "action": 1 } }),
                json!({ "0": { "action": "postpone" } }),
                json!({ "0": { "action": "accept", "content": "Ann" } }),
                json!([]),
                json!("x"),
            ] {
                let retry = json!({ "requestState": state, "inputResponses": malformed });
                let error = call(&mut peer, "greet", retry).await;
                assert_eq!(error["error"]["code"], -32602, "{malformed}: {error}");
            }
            // Nothing at all: asked again, as often as rounds are allowed.
            let again = call(&mut peer, "greet", json!({ "requestState": state })).await;
            assert_eq!(keys(&again), ["0", "1"]);
            assert_eq!(peer.rest().await, [Value::Null; 0]);
        },
    );
}

/// MRTR-15, MRTR-16.
#[test]
fn rt_03_a_state_opens_with_its_call_alone() {
    session(
        &builder().build().expect("a server"),
        |mut peer| async move {
            let first = call(&mut peer, "greet", json!({})).await;
            let state = first["requestState"].as_str().expect("a state").to_owned();
            let answers = json!({ "0": named("Ann"), "1": named("Eve") });
            let retry = |state: &str| json!({ "requestState": state, "inputResponses": answers });
            let refused = "requestState is not one that this server gave for this call";
            let mut flipped = state.clone().into_bytes();
            for at in (0..state.len()).step_by(7).chain([state.len() - 1]) {
                let byte = flipped[at];
                flipped[at] = if byte == b'A' { b'B' } else { b'A' };
                let forged = String::from_utf8(flipped.clone()).expect("ASCII");
                if forged != state {
                    let error = call(&mut peer, "greet", retry(&forged)).await;
                    assert_eq!(error["error"]["code"], -32602, "{error}");
                    assert_eq!(error["error"]["message"], refused);
                }
                flipped[at] = byte;
            }
            for forged in ["", "x", &state[1..], &state[..state.len() - 1]] {
                let error = call(&mut peer, "greet", retry(forged)).await;
                assert_eq!(error["error"]["message"], refused, "{error}");
            }
            // Another tool, also one that never asked; and other arguments.
            for tool in ["endless", "plain"] {
                let error = call(&mut peer, tool, retry(&state)).await;
                assert_eq!(error["error"]["message"], refused, "{error}");
            }
            let mut other = retry(&state);
            other["arguments"] = json!({ "more": 1 });
            let error = call(&mut peer, "greet", other).await;
            assert_eq!(error["error"]["message"], refused, "{error}");
            let granted = call(&mut peer, "greet", retry(&state)).await;
            assert_eq!(text(&granted), r#"Some("Ann") Some("Eve")"#);
            assert_eq!(peer.rest().await, [Value::Null; 0]);
        },
    );
}

/// Servers that share a key go on with each other's calls; others do not.
#[test]
fn several_instances() {
    let with = |key: u8| builder().state_key([key; 32]).build().expect("a server");
    let mut states = Vec::new();
    for (server, granted) in [(with(1), true), (with(1), true), (with(2), false)] {
        let known = states.first().cloned();
        let (sent, state) = std::sync::mpsc::channel();
        session(&server, |mut peer| async move {
            let first = call(&mut peer, "greet", json!({})).await;
            if let Some(state) = known {
                let answers = json!({ "0": named("Ann"), "1": named("Eve") });
                let retry: Value = json!({ "requestState": state, "inputResponses": answers });
                let result = call(&mut peer, "greet", retry).await;
                assert_eq!(result.get("error").is_none(), granted, "{result}");
            }
            sent.send(first["requestState"].clone())
                .expect("it is there");
            assert_eq!(peer.rest().await, [Value::Null; 0]);
        });
        states.push(state.recv().expect("a state"));
    }
}

#[test]
fn rt_03_a_state_expires() {
    let server = builder()
        .state_lifetime(Duration::ZERO)
        .build()
        .expect("a server");
    session(&server, |mut peer| async move {
        let first = call(&mut peer, "greet", json!({})).await;
        // Whole seconds, so that the next one is later than this.
        Timer::after(Duration::from_millis(2100)).await;
        let retry = json!({ "requestState": first["requestState"] });
        let error = call(&mut peer, "greet", retry).await;
        assert_eq!(error["error"]["code"], -32602);
        let message = "requestState has expired: call again without it";
        assert_eq!(error["error"]["message"], message);
        assert_eq!(peer.rest().await, [Value::Null; 0]);
    });
}

#[test]
fn rounds_end() {
    session(
        &builder().build().expect("a server"),
        |mut peer| async move {
            let mut result = call(&mut peer, "endless", json!({})).await;
            for round in 0..3 {
                assert_eq!(keys(&result), [round.to_string()]);
                let answers = json!({ round.to_string(): named("Ann") });
                let retry =
                    json!({ "requestState": result["requestState"], "inputResponses": answers });
                result = call(&mut peer, "endless", retry).await;
            }
            let error =
                json!({ "code": -32603, "message": "Gave up after asking for input 3 times" });
            assert_eq!(result["error"], error);
            assert_eq!(peer.rest().await, [Value::Null; 0]);
        },
    );
}

#[test]
fn a_handler_that_asks_something_else() {
    session(
        &builder().build().expect("a server"),
        |mut peer| async move {
            let first = call(&mut peer, "fickle", json!({})).await;
            let retry = json!({
                "requestState": first["requestState"],
                "inputResponses": { "0": named("Ann") },
            });
            let error = call(&mut peer, "fickle", retry).await;
            let message = "Tool fickle asked something else than before as its question 0";
            assert_eq!(
                error["error"],
                json!({ "code": -32603, "message": message })
            );
            assert_eq!(peer.rest().await, [Value::Null; 0]);
        },
    );
}

#[test]
fn a_handler_that_steers_by_itself() {
    session(
        &builder().build().expect("a server"),
        |mut peer| async move {
            let first = call(&mut peer, "subscribe", json!({})).await;
            assert_eq!(keys(&first), ["consent"]);
            let state = &first["requestState"];
            let retry = |state: &Value, answer: Value| json!({ "requestState": state, "inputResponses": { "consent": answer } });
            let granted = call(
                &mut peer,
                "subscribe",
                retry(state, json!({ "action": "accept" })),
            )
            .await;
            assert_eq!(text(&granted), "weekly \u{e9}");
            let refused = call(
                &mut peer,
                "subscribe",
                retry(state, json!({ "action": "decline" })),
            )
            .await;
            assert_eq!(text(&refused), "no");
            let malformed = call(&mut peer, "subscribe", retry(state, json!({}))).await;
            assert_eq!(malformed["error"]["code"], -32602, "{malformed}");
            let forged = call(&mut peer, "subscribe", retry(&json!("x"), json!({}))).await;
            assert_eq!(forged["error"]["code"], -32602, "{forged}");

            // A state alone: the client just comes back.
            let shed = call(&mut peer, "shed", json!({})).await;
            assert_eq!(shed["resultType"], "input_required");
            assert_eq!(shed.get("inputRequests"), None);
            let back = call(
                &mut peer,
                "shed",
                json!({ "requestState": shed["requestState"] }),
            )
            .await;
            assert_eq!(text(&back), "1");

            // Not to be had in a session.
            let legacy = peer
                .request("2", "tools/call", &json!({ "name": "subscribe" }))
                .await;
            assert_eq!(legacy["error"]["code"], -32603, "{legacy}");
            assert_eq!(peer.rest().await, [Value::Null; 0]);
        },
    );
}
