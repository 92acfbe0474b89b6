//! Handlers that ask the client: the same ones, in a session and in round trips.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_io::Timer;
use futures_lite::future::zip;
use mcp_std::model::{
    ContentBlock, CreateMessageRequestParams, ElicitAction, ElicitRequestParams,
    ElicitRequestUrlParams, Role, SamplingMessage, ToolResultContent,
};
use mcp_std::{AskError, Context, Elicited, End, ProtocolError, Server};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::peer::{Peer, cancel, failure, modern, request, serve, text};

#[derive(Debug, Deserialize, JsonSchema)]
struct Seat {
    /// Which row?
    row: u8,
    window: Option<bool>,
}

#[derive(Deserialize, JsonSchema)]
struct Trip {
    to: String,
}

async fn book(context: Context, trip: Trip) -> Result<String, AskError> {
    let seat = context
        .elicit_form::<Seat>(format!("A seat to {}?", trip.to))
        .await?;
    Ok(match seat {
        Elicited::Accepted(seat) => format!("{}: row {}, {:?}", trip.to, seat.row, seat.window),
        Elicited::Declined => "declined".into(),
        Elicited::Cancelled => "cancelled".into(),
    })
}

fn question() -> CreateMessageRequestParams<'static> {
    let message = SamplingMessage::new(Role::User, [ContentBlock::text("2 + 2?")]);
    CreateMessageRequestParams::new([message], 10)
}

/// A question whose message has the result of a tool, and something else.
async fn mixed(context: Context) -> Result<String, AskError> {
    let mut question = question();
    let result = ContentBlock::tool_result(ToolResultContent::new("1", [ContentBlock::text("4")]));
    let message = SamplingMessage::new(Role::User, [result, ContentBlock::text("Well?")]);
    question.messages = [message].into();
    context
        .sample(question)
        .await
        .map(|answer| answer.model.into())
}

async fn both(context: Context) -> Result<String, AskError> {
    let (sample, roots) = zip(context.sample(question()), context.roots()).await;
    let roots = roots?;
    let roots: Vec<_> = roots.iter().map(|root| root.uri.as_ref()).collect();
    Ok(format!("{} {}", sample?.model, roots.join(",")))
}

async fn twice(context: Context) -> Result<String, AskError> {
    let first = context.elicit_form::<Seat>("First?").await?.accepted();
    let row = first.map_or(0, |seat| seat.row);
    let second = context
        .elicit_form::<Seat>(format!("After {row}?"))
        .await?
        .accepted();
    Ok(format!("{row} {}", second.map_or(0, |seat| seat.row)))
}

async fn sign(context: Context) -> Result<String, AskError> {
    let action = context
        .elicit_url("Please sign", "https://example.com/sign")
        .await?;
    Ok(if action == ElicitAction::Accept {
        "opened"
    } else {
        "refused"
    }
    .into())
}

async fn pay(context: Context) -> Result<String, ProtocolError> {
    let mut url = ElicitRequestUrlParams::new("Pay", "https://example.com/pay");
    url.elicitation_id = Some("p1".into());
    context.elicitation_complete("p0").await;
    Err(ProtocolError::url_elicitation_required(
        "Payment first",
        &[url],
    ))
}

fn builder() -> mcp_std::ServerBuilder {
    Server::builder("asking", "1")
        .tool("book", "", book)
        .tool("both", "", both)
        .tool("mixed", "", mixed)
        .tool("twice", "", twice)
        .tool("sign", "", sign)
        .tool("pay", "", pay)
        .prompt("plan", "", |context: Context| async move {
            let seat = context.elicit_form::<Seat>("Where?").await?;
            Ok::<_, AskError>(format!("{:?}", seat.accepted().map(|seat| seat.row)))
        })
        .resource("mem://seat", "seat", |context: Context| async move {
            let seat = context.elicit_form::<Seat>("Where?").await?;
            Ok::<_, AskError>(format!("{:?}", seat.accepted().map(|seat| seat.row)))
        })
}

fn everything() -> Value {
    json!({ "elicitation": { "form": {}, "url": {} }, "sampling": { "tools": {} }, "roots": {} })
}

/// Serves a client, which ends without anything left to read.
fn clean<C: Future<Output = Peer>>(server: &Server, client: impl FnOnce(Peer) -> C) {
    let end = serve(server, |peer| async move {
        let peer = client(peer).await;
        assert_eq!(peer.rest().await, [Value::Null; 0]);
    });
    assert_eq!(end.expect("sockets do not fail"), End::Complete);
}

/// Answers what is asked by its text, in either era.
fn answer(method: &str, params: &Value) -> Value {
    match method {
        "elicitation/create" if params["mode"] == "url" => json!({ "action": "accept" }),
        "elicitation/create" => {
            let row = match params["message"].as_str() {
                Some("First?") => 3,
                Some("After 3?") => 4,
                _ => 7,
            };
            json!({ "action": "accept", "content": { "row": row } })
        }
        "sampling/createMessage" => json!({
            "role": "assistant", "content": { "type": "text", "text": "4" }, "model": "m",
        }),
        "roots/list" => json!({ "roots": [{ "uri": "file:///a" }, { "uri": "file:///b" }] }),
        other => panic!("not asked for: {other}"),
    }
}

/// Makes a request of a session and answers what the server asks meanwhile. Returns the answer, and what was asked.
async fn legacy(peer: &mut Peer, method: &str, params: &Value) -> (Value, Vec<Value>) {
    peer.send(&request("1", method, params)).await;
    let mut asked = Vec::new();
    loop {
        let message = peer.message().await;
        if message["id"] == "1" && message.get("method").is_none() {
            return (message, asked);
        }
        let method = message["method"].as_str().expect("a request");
        peer.reply(&message, &answer(method, &message["params"]))
            .await;
        asked.push(message);
    }
}

/// Makes a request as a modern client, and makes it again with what it asks for. Returns the answer, and what was asked in
/// each round.
async fn rounds(peer: &mut Peer, method: &str, params: &Value) -> (Value, Vec<Value>) {
    let mut asked = Vec::new();
    let mut params = params.clone();
    for n in 0..10 {
        let id = format!("r{n}");
        peer.send(&request(&id, method, &modern(&params, &everything())))
            .await;
        let message = peer.message().await;
        assert_eq!(message["id"], *id, "{message}");
        let result = &message["result"];
        if result["resultType"] != "input_required" {
            return (message, asked);
        }
        assert_eq!(result.get("ttlMs"), None, "MRTR-19: {result}");
        params["requestState"] = result["requestState"].clone();
        let requests = result["inputRequests"].as_object().expect("questions");
        params["inputResponses"] = requests
            .iter()
            .map(|(key, it)| {
                assert_eq!(it.get("id"), None, "MRTR-04: {it}");
                let method = it["method"].as_str().expect("a method");
                (key.clone(), answer(method, &it["params"]))
            })
            .collect::<serde_json::Map<_, _>>()
            .into();
        asked.push(result["inputRequests"].clone());
    }
    panic!("it goes on asking");
}

#[test]
fn one_handler_for_both_eras() {
    let server = builder().build().expect("a server");
    let call = |tool: &str| json!({ "name": tool, "arguments": { "to": "Oslo" } });
    let calls = [
        ("tools/call", call("book"), "Oslo: row 7, None", vec![1]),
        ("tools/call", call("both"), "m file:///a,file:///b", vec![2]),
        ("tools/call", call("twice"), "3 4", vec![1, 1]),
        ("tools/call", call("sign"), "opened", vec![1]),
        ("prompts/get", json!({ "name": "plan" }), "Some(7)", vec![1]),
        (
            "resources/read",
            json!({ "uri": "mem://seat" }),
            "Some(7)",
            vec![1],
        ),
    ];
    let said = |message: &Value| {
        let result = &message["result"];
        let content = &result["content"][0]["text"];
        let message = &result["messages"][0]["content"]["text"];
        let contents = &result["contents"][0]["text"];
        [content, message, contents]
            .iter()
            .find_map(|it| it.as_str())
            .map(str::to_owned)
    };
    clean(&server, |mut peer| async move {
        peer.handshake("2025-11-25", &everything()).await;
        for (method, params, expected, questions) in &calls {
            let (result, asked) = legacy(&mut peer, method, params).await;
            assert_eq!(said(&result).as_deref(), Some(*expected), "{result}");
            assert_eq!(asked.len(), questions.iter().sum::<usize>());
            let (result, asked) = rounds(&mut peer, method, params).await;
            assert_eq!(said(&result).as_deref(), Some(*expected), "{result}");
            let asked: Vec<_> = asked
                .iter()
                .map(|it| it.as_object().map_or(0, |it| it.len()))
                .collect();
            assert_eq!(asked, *questions);
        }
        peer
    });
}

#[test]
fn what_a_client_is_asked() {
    let server = builder().build().expect("a server");
    let schema = json!({
        "type": "object",
        "properties": {
            "row": { "type": "integer", "minimum": 0, "maximum": 255, "description": "Which row?" },
            "window": { "type": "boolean" },
        },
        "required": ["row"],
    });
    let book = json!({ "name": "book", "arguments": { "to": "Oslo" } });
    clean(&server, |mut peer| async move {
        peer.handshake("2025-11-25", &everything()).await;
        let (_, asked) = legacy(&mut peer, "tools/call", &book).await;
        assert_eq!(asked[0]["params"]["message"], "A seat to Oslo?");
        assert_eq!(asked[0]["params"]["requestedSchema"], schema);
        let (_, asked) = rounds(&mut peer, "tools/call", &book).await;
        assert_eq!(asked[0]["0"]["method"], "elicitation/create");
        assert_eq!(asked[0]["0"]["params"]["requestedSchema"], schema);
        let sign = json!({ "name": "sign" });
        let (_, asked) = legacy(&mut peer, "tools/call", &sign).await;
        assert!(asked[0]["params"]["elicitationId"].is_string(), "{asked:?}");
        let (_, asked) = rounds(&mut peer, "tools/call", &sign).await;
        let expected =
            json!({ "mode": "url", "message": "Please sign", "url": "https://example.com/sign" });
        assert_eq!(asked[0]["0"]["params"], expected);
        peer
    });
}

/// ELI-02, MRTR-06: both the handler and its client are told.
#[test]
fn what_was_not_declared_is_not_asked() {
    let server = builder()
        .tool("try", "", |context: Context| async move {
            let error = context
                .elicit(ElicitRequestParams::url("m", "https://example.com"))
                .await;
            format!("{:?}", error.map(|_| ()))
        })
        .build()
        .expect("a server");
    let form = json!({ "elicitation": {} });
    clean(&server, |mut peer| async move {
        peer.handshake("2025-11-25", &form).await;
        let tried = json!({ "name": "try" });
        let legacy = peer.request("1", "tools/call", &tried).await;
        assert!(text(&legacy).starts_with("Err(Unsupported("), "{legacy}");
        let modern = peer.modern("2", "tools/call", &tried, &form).await;
        assert!(text(&modern).starts_with("Err(Unsupported("), "{modern}");
        let sign = json!({ "name": "sign" });
        let legacy = peer.request("3", "tools/call", &sign).await;
        assert!(legacy["error"]["code"].is_number(), "{legacy}");
        let modern = peer.modern("4", "tools/call", &sign, &form).await;
        assert_eq!(modern["error"]["code"], -32021, "{modern}");
        let required = json!({ "elicitation": { "url": {} } });
        assert_eq!(modern["error"]["data"]["requiredCapabilities"], required);
        peer
    });
}

/// SMP-05.
#[test]
fn results_of_tools_are_sent_with_nothing_beside_them() {
    let server = builder().build().expect("a server");
    clean(&server, |mut peer| async move {
        peer.handshake("2025-11-25", &everything()).await;
        let mixed = json!({ "name": "mixed", "arguments": {} });
        peer.send(&request("1", "tools/call", &mixed)).await;
        assert_eq!(
            failure(&peer.message().await["result"]),
            "This cannot be asked: a message with the result of a tool holds something else"
        );
        peer
    });
}

#[test]
fn every_answer_has_its_meaning() {
    let server = builder().build().expect("a server");
    let book = json!({ "name": "book", "arguments": { "to": "Oslo" } });
    clean(&server, |mut peer| async move {
        peer.handshake("2025-11-25", &everything()).await;
        for (result, expected) in [
            (json!({ "action": "decline" }), "declined"),
            (json!({ "action": "cancel" }), "cancelled"),
            (
                json!({ "action": "accept", "content": { "row": 2.0 } }),
                "Oslo: row 2, None",
            ),
        ] {
            peer.send(&request("1", "tools/call", &book)).await;
            let asked = peer.message().await;
            peer.reply(&asked, &result).await;
            assert_eq!(text(&peer.message().await["result"]), expected);
        }
        for (result, expected) in [
            (
                json!({ "action": "accept", "content": { "row": "x" } }),
                "The answer is not what was asked for: `row`: invalid type: string \"x\", expected an integer from 0 to 255",
            ),
            (
                json!({ "action": "accept" }),
                "The answer is not what was asked for: missing field `row`",
            ),
            (
                json!({ "content": {} }),
                "The client's answer is malformed: ElicitResult.action: expected a string",
            ),
            (
                json!({ "action": "postpone" }),
                "The client's answer is malformed: ElicitResult.action: expected \"accept\", \"decline\" or \"cancel\"",
            ),
            (
                json!({ "action": "decline", "content": ["row"] }),
                "The client's answer is malformed: ElicitResult.content: expected an object",
            ),
        ] {
            peer.send(&request("1", "tools/call", &book)).await;
            let asked = peer.message().await;
            peer.reply(&asked, &result).await;
            assert_eq!(failure(&peer.message().await["result"]), expected);
        }
        peer.send(&request("1", "tools/call", &book)).await;
        let asked = peer.message().await;
        let refusal = json!({ "jsonrpc": "2.0", "id": asked["id"], "error": { "code": -1, "message": "no" } });
        peer.send(&refusal.to_string()).await;
        let expected = "The client refused to answer: no";
        assert_eq!(failure(&peer.message().await["result"]), expected);
        peer
    });
}

#[test]
fn a_client_that_never_answers() {
    let server = builder()
        .ask_timeout(Duration::from_millis(30))
        .build()
        .expect("a server");
    clean(&server, |mut peer| async move {
        peer.handshake("2025-11-25", &everything()).await;
        let book = json!({ "name": "book", "arguments": { "to": "Oslo" } });
        peer.send(&request("1", "tools/call", &book)).await;
        let asked = peer.message().await;
        // In either order: the client is told that nobody waits any more, and the call is answered.
        let (one, other) = (peer.message().await, peer.message().await);
        let (cancelled, result) = if one["id"] == "1" {
            (other, one)
        } else {
            (one, other)
        };
        assert_eq!(cancelled["method"], "notifications/cancelled");
        assert_eq!(cancelled["params"]["requestId"], asked["id"]);
        assert_eq!(
            failure(&result["result"]),
            "The client did not answer in time"
        );
        // An answer all the same.
        peer.reply(&asked, &json!({ "action": "cancel" })).await;
        peer.ping().await;
        peer
    });
}

#[test]
fn a_call_that_is_cancelled_while_it_asks() {
    let server = builder().build().expect("a server");
    clean(&server, |mut peer| async move {
        peer.handshake("2025-11-25", &everything()).await;
        peer.call(1, "both", "{}").await;
        let (sample, roots) = (peer.message().await, peer.message().await);
        peer.send(&cancel(1)).await;
        let mut cancelled = [peer.message().await, peer.message().await]
            .map(|message| message["params"]["requestId"].clone());
        cancelled.sort_by_key(Value::as_u64);
        assert_eq!(cancelled, [sample["id"].clone(), roots["id"].clone()]);
        peer.ping().await;
        peer
    });
}

/// The input ends while a handler waits for an answer: it is told so, and the call is answered.
#[test]
fn a_client_that_leaves_while_it_is_asked() {
    let server = builder().build().expect("a server");
    let end = serve(&server, |mut peer| async move {
        peer.handshake("2025-11-25", &everything()).await;
        let book = json!({ "name": "book", "arguments": { "to": "Oslo" } });
        peer.send(&request("1", "tools/call", &book)).await;
        peer.message().await;
        let rest = peer.rest().await;
        let answer = rest
            .iter()
            .find(|message| message["id"] == "1")
            .expect("an answer");
        assert_eq!(failure(&answer["result"]), "The client is gone");
    });
    assert_eq!(end.expect("sockets do not fail"), End::Complete);
}

/// A context that was taken elsewhere outlives its call, and is told so.
#[test]
fn a_question_after_the_call() {
    let closed = Arc::new(AtomicUsize::new(0));
    let seen = closed.clone();
    let server = builder()
        .tool("later", "", move |context: Context| {
            let closed = seen.clone();
            async move {
                std::thread::spawn(move || {
                    async_io::block_on(async {
                        Timer::after(Duration::from_millis(20)).await;
                        if context.roots().await == Err(AskError::Closed) {
                            closed.fetch_add(1, Ordering::SeqCst);
                        }
                    });
                });
            }
        })
        .build()
        .expect("a server");
    clean(&server, |mut peer| async move {
        peer.handshake("2025-11-25", &everything()).await;
        let later = json!({ "name": "later" });
        peer.request("1", "tools/call", &later).await;
        peer.modern("2", "tools/call", &later, &everything()).await;
        for _ in 0..200 {
            if closed.load(Ordering::SeqCst) == 2 {
                return peer;
            }
            Timer::after(Duration::from_millis(10)).await;
        }
        panic!("nobody told them");
    });
}

/// INIT-05: nothing is asked before the client has said that the handshake is over.
#[test]
fn or_01_a_client_that_is_not_ready() {
    let server = builder().build().expect("a server");
    clean(&server, |mut peer| async move {
        let params = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": everything(),
            "clientInfo": { "name": "test", "version": "1" },
        });
        peer.request("init", "initialize", &params).await;
        peer.call(1, "sign", "{}").await;
        peer.ping().await;
        peer.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)
            .await;
        let asked = peer.message().await;
        peer.reply(&asked, &json!({ "action": "decline" })).await;
        assert_eq!(text(&peer.message().await["result"]), "refused");
        peer
    });
}

/// ERR-05, ELI-12, ELI-13: what one revision has and no other.
#[test]
fn urls_of_2025_11_25() {
    let server = builder().build().expect("a server");
    let pay = json!({ "name": "pay" });
    clean(&server, |mut peer| async move {
        peer.handshake("2025-11-25", &everything()).await;
        peer.send(&request("1", "tools/call", &pay)).await;
        let complete = peer.message().await;
        assert_eq!(complete["method"], "notifications/elicitation/complete");
        assert_eq!(complete["params"]["elicitationId"], "p0");
        let error = &peer.message().await["error"];
        assert_eq!(error["code"], -32042, "{error}");
        assert_eq!(error["data"]["elicitations"][0]["elicitationId"], "p1");
        let modern = peer.modern("2", "tools/call", &pay, &everything()).await;
        assert_ne!(modern["error"]["code"], -32042, "{modern}");
        assert_eq!(modern["error"]["message"], "Payment first");
        peer
    });
}
