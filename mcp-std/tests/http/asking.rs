//! Handlers that ask their client while it waits for them.

use std::time::Duration;

use mcp_std::model::{ContentBlock, CreateMessageRequestParams, Role, SamplingMessage};
use mcp_std::{AskError, Context, Server};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::site::{Events, Request, Session, Site, said};

#[derive(Debug, Deserialize, JsonSchema)]
struct Seat {
    row: u8,
}

fn server() -> Server {
    Server::builder("asking", "1")
        .ask_timeout(Duration::from_secs(1))
        .tool("book", "", |context: Context| async move {
            let seat = context.elicit_form::<Seat>("Where?").await?;
            Ok::<_, AskError>(format!("{:?}", seat.accepted().map(|seat| seat.row)))
        })
        .tool("sample", "", |context: Context| async move {
            let message = SamplingMessage::new(Role::User, [ContentBlock::text("2 + 2?")]);
            let answer = context
                .sample(CreateMessageRequestParams::new([message], 10))
                .await?;
            Ok::<_, AskError>(answer.model.into_owned())
        })
        .build()
        .expect("a server")
}

fn able() -> Value {
    json!({ "elicitation": {}, "sampling": {} })
}

/// The tool, what it asks for, the answer to that, and its own.
fn cases() -> [(&'static str, &'static str, Value, &'static str); 2] {
    let seat = json!({ "action": "accept", "content": { "row": 7 } });
    let sampled = json!({
        "role": "assistant", "content": { "type": "text", "text": "4" }, "model": "m",
    });
    [
        ("book", "elicitation/create", seat, "Some(7)"),
        ("sample", "sampling/createMessage", sampled, "m"),
    ]
}

fn question(stream: &mut Events, method: &str) -> Value {
    let event = stream.next_message().expect("a message");
    let asked = event.message();
    assert_eq!(asked["method"], method, "{event:?}");
    asked
}

/// LH-08: the question is in the stream of the request that it is about.
#[test]
fn in_the_response_to_the_call() {
    let site = Site::new(&server());
    for version in ["2025-06-18", "2025-11-25"] {
        let session = Session::able(&site, version, &able());
        let mut listening = site.connect().stream(&session.get());
        if version == "2025-11-25" {
            listening.next();
        }
        for (tool, method, answer, expected) in cases() {
            let mut stream = site.connect().stream(&session.call(1, tool));
            let asked = question(&mut stream, method);
            session.answer(&asked, &answer);
            assert_eq!(said(&stream.message()), expected);
            assert_eq!(stream.rest(), []);
        }
        assert!(listening.is_quiet(Duration::from_millis(30)));
    }
}

/// Where the response cannot have it, it is in the stream of what is about no request.
#[test]
fn in_the_other_stream_if_the_response_takes_json_only() {
    let site = Site::new(&server());
    let session = Session::able(&site, "2025-11-25", &able());
    let mut listening = site.connect().stream(&session.get());
    for (tool, method, answer, expected) in cases() {
        let mut client = site.connect();
        client.send(&session.call(1, tool).set("accept", "application/json"));
        let asked = question(&mut listening, method);
        session.answer(&asked, &answer);
        let response = client.response();
        assert_eq!(response.header("content-type"), Some("application/json"));
        assert_eq!(said(&response.message()), expected);
    }
}

/// Without one there is nobody to ask.
#[test]
fn nowhere() {
    let site = Site::new(&server());
    let session = Session::able(&site, "2025-11-25", &able());
    let call = session.call(1, "book").set("accept", "application/json");
    let result = site.ask(&call).result();
    assert_eq!(result["isError"], true, "{result}");
    assert_eq!(result["content"][0]["text"], "The client is gone");
}

/// A question is kept like everything else, for a client that comes back.
#[test]
fn a_question_to_a_client_that_has_left() {
    let site = Site::new(&server());
    let session = Session::able(&site, "2025-11-25", &able());
    let mut stream = site.connect().stream(&session.call(1, "book"));
    let primed = stream.next().expect("an event").id.expect("an id");
    drop(stream);
    let back = session.get().with("last-event-id", &primed);
    let mut stream = site.connect().stream(&back);
    let asked = question(&mut stream, "elicitation/create");
    let seat = json!({ "action": "accept", "content": { "row": 3 } });
    session.answer(&asked, &seat);
    assert_eq!(said(&stream.message()), "Some(3)");
}

/// An answer counts in its own session only.
#[test]
fn nobody_else_answers() {
    let site = Site::new(&server());
    let session = Session::able(&site, "2025-11-25", &able());
    let stranger = Session::able(&site, "2025-11-25", &able());
    let mut stream = site.connect().stream(&session.call(1, "book"));
    let asked = question(&mut stream, "elicitation/create");
    let seat = |row: u8| json!({ "action": "accept", "content": { "row": row } });
    stranger.answer(&asked, &seat(6));
    session.answer(&asked, &seat(7));
    assert_eq!(said(&stream.message()), "Some(7)");
    // Nor in none.
    let bare = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": seat(8) });
    assert_eq!(site.ask(&Request::post(&bare)).status, 400);
}

/// HTTP-14: in the modern era the client makes its request again, with the answer.
#[test]
fn in_rounds() {
    let site = Site::new(&server());
    for (tool, method, answer, expected) in cases() {
        let mut params = json!({ "name": tool });
        let asked = site.ask(&Request::able(1, "tools/call", &params, &able()));
        let asked = asked.result();
        assert_eq!(asked["resultType"], "input_required", "{asked}");
        let requests = asked["inputRequests"].as_object().expect("questions");
        let (key, question) = requests.iter().next().expect("a question");
        assert_eq!(question["method"], method);
        params["inputResponses"] = json!({ key.as_str(): answer });
        params["requestState"] = asked["requestState"].clone();
        let response = site.ask(&Request::able(2, "tools/call", &params, &able()));
        assert_eq!(said(&response.message()), expected);
        // HTTP-21: what was not declared is found out in time for the status.
        let response = site.ask(&Request::modern(3, "tools/call", &json!({ "name": tool })));
        assert_eq!(
            (response.status, response.code()),
            (400, Some(-32021)),
            "{response:?}"
        );
    }
}
