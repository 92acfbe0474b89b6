//! Handshakes, schemas and changes as odd clients meet them.

use std::time::Duration;

use async_io::Timer;
use futures_lite::FutureExt as _;
use mcp_std::{AskError, Context, Elicited, Server, Structured, Tool};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::peer::{failure, serve, session, text};

fn server() -> Server {
    Server::builder("odd", "1")
        .title("Odd")
        .tool("now", "", || async { "now" })
        .list_changes()
        .build()
        .expect("a server")
}

#[test]
fn or_02_a_ping_may_come_first() {
    for id in [json!(1), json!(0), json!("p1"), json!("")] {
        let end = serve(&server(), |mut peer| async move {
            let ping = json!({ "jsonrpc": "2.0", "id": id, "method": "ping" });
            peer.send(&ping.to_string()).await;
            let answer = json!({ "jsonrpc": "2.0", "id": id, "result": {} });
            assert_eq!(peer.message().await, answer);
            // Anything else is too early, and no harm.
            for method in ["tools/list", "tools/call", "prompts/get", "x"] {
                let early = peer
                    .request("early", method, &json!({ "name": "now" }))
                    .await;
                assert!(early["error"]["code"].is_i64(), "{early}");
            }
            peer.handshake("2025-06-18", &json!({})).await;
            peer.ping().await;
            assert_eq!(text(&peer.answer(2, "now", "{}").await), "now");
            assert_eq!(peer.rest().await, [Value::Null; 0]);
        });
        end.expect("sockets do not fail");
    }
}

#[test]
fn or_01_requests_before_the_client_is_ready_are_answered() {
    let end = serve(&server(), |mut peer| async move {
        peer.initialize().await;
        let list = peer.request("1", "tools/list", &json!({})).await;
        assert_eq!(list["tools"][0]["name"], "now");
        for _ in 0..3 {
            peer.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)
                .await;
            peer.ping().await;
        }
        assert_eq!(text(&peer.answer(2, "now", "{}").await), "now");
        assert_eq!(peer.rest().await, [Value::Null; 0]);
    });
    end.expect("sockets do not fail");
}

#[test]
fn ve_04_initialize_succeeds_with_any_version() {
    for (asked, agreed) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2024-01-01", "2025-11-25"),
        ("2099-12-31", "2025-11-25"),
        ("foo", "2025-11-25"),
        ("", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
    ] {
        let end = serve(&server(), |mut peer| async move {
            let params = json!({ "protocolVersion": asked, "capabilities": {},
                                 "clientInfo": { "name": "t", "version": "1" } });
            let hello = peer.request("init", "initialize", &params).await;
            assert_eq!(hello["protocolVersion"], agreed, "{asked}: {hello}");
            // What follows is of that version: titles came with 2025-06-18, batches were of 2025-03-26.
            let titled = agreed >= "2025-06-18";
            assert_eq!(hello["serverInfo"].get("title").is_some(), titled);
            peer.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)
                .await;
            peer.send(r#"[{"jsonrpc":"2.0","id":7,"method":"ping"}]"#)
                .await;
            let batch = peer.message().await;
            assert_eq!(batch.is_array(), agreed == "2025-03-26", "{batch}");
            assert_eq!(text(&peer.answer(2, "now", "{}").await), "now");
            assert_eq!(peer.rest().await, [Value::Null; 0]);
        });
        end.expect("sockets do not fail");
    }
}

/// SC-03: what an author writes is listed as written; a tool without arguments has `properties` all the same.
#[test]
fn sc_03_sc_04_schemas_that_say_little_are_listed_and_served() {
    let anything = |args: Value| async move { args.to_string() };
    let schemas = [
        json!({ "type": "object" }),
        json!({ "type": "object", "additionalProperties": {} }),
        json!({ "type": "object", "properties": {
            "tags": { "type": "array" },
            "m": { "type": "array", "prefixItems": [{ "type": "string" }] },
        } }),
    ];
    let mut builder = Server::builder("schemas", "1").tool("none", "", || async { "none" });
    for (at, schema) in schemas.iter().enumerate() {
        let tool = Tool::new(format!("t{at}"), "", anything).input_schema(schema);
        builder = builder.with_tool(tool);
    }
    let server = builder.build().expect("a server");
    session(&server, |mut peer| async move {
        let list = peer.request("1", "tools/list", &json!({})).await;
        let none = &list["tools"][0]["inputSchema"];
        assert_eq!(none["type"], "object");
        assert_eq!(none["properties"], json!({}));
        for (at, schema) in schemas.iter().enumerate() {
            assert_eq!(&list["tools"][at + 1]["inputSchema"], schema);
            let arguments = r#"{"tags":[1,"a",null,{}],"m":["x",2]}"#;
            let answer = peer.answer(at as u64, &format!("t{at}"), arguments).await;
            let said: Value = serde_json::from_str(text(&answer)).expect("JSON");
            assert_eq!(said["tags"], json!([1, "a", null, {}]));
        }
        #[cfg(feature = "validate")]
        failure(&peer.answer(9, "t2", r#"{"m":[2]}"#).await);
    });
}

/// SC-07: absent is not null.
#[test]
fn sc_07_results_of_any_root_arrive_as_they_are() {
    let server = Server::builder("roots", "1")
        .tool("null", "", || async { Structured(None::<u8>) })
        .tool("zero", "", || async { Structured(0) })
        .tool("list", "", || async { Structured([0_u8; 0]) })
        .tool("text", "", || async { "text" })
        .build()
        .expect("a server");
    let end = serve(&server, |mut peer| async move {
        for (tool, expected) in [
            ("null", Some(json!(null))),
            ("zero", Some(json!(0))),
            ("list", Some(json!([]))),
            ("text", None),
        ] {
            let params = json!({ "name": tool, "arguments": {} });
            let result = peer.modern("1", "tools/call", &params, &json!({})).await;
            assert_eq!(
                result.get("structuredContent").cloned(),
                expected,
                "{result}"
            );
        }
    });
    end.expect("sockets do not fail");
}

#[test]
fn li_03_asking_for_a_list_changes_none() {
    let server = server();
    let changing = server.clone();
    session(&server, |mut peer| async move {
        peer.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)
            .await;
        for _ in 0..50 {
            // The next message is the answer, each time.
            let list = peer.request("1", "tools/list", &json!({})).await;
            assert_eq!(list["tools"].as_array().map(Vec::len), Some(1));
        }
        let quiet = async {
            Timer::after(Duration::from_millis(50)).await;
            None
        };
        let told = async { Some(peer.message().await) };
        assert_eq!(told.or(quiet).await, None);
        // To add what is there, and to remove what is not, is no change.
        let again = Tool::new("now", "", || async { "now" });
        changing.add_tool(again).expect_err("it is there");
        assert_eq!(changing.remove_tool("never"), Ok(false));
        let quiet = async {
            Timer::after(Duration::from_millis(50)).await;
            None
        };
        let told = async { Some(peer.message().await) };
        assert_eq!(told.or(quiet).await, None);
    });
}

#[derive(Deserialize, JsonSchema)]
struct Seat {
    row: u8,
}

/// RT-03: what a form was filled in with is looked at before the tool has it. RT-02: who declines, or goes away, is heard.
#[test]
fn rt_02_rt_03_forms_are_looked_at() {
    let server = Server::builder("forms", "1")
        .tool("book", "", |context: Context| async move {
            Ok::<_, AskError>(match context.elicit_form::<Seat>("Where?").await? {
                Elicited::Accepted(seat) => format!("row {}", seat.row),
                Elicited::Declined => "declined".to_owned(),
                Elicited::Cancelled => "cancelled".to_owned(),
            })
        })
        .build()
        .expect("a server");
    session(&server, |mut peer| async move {
        let capabilities = json!({ "elicitation": { "form": {} } });
        let params = json!({ "name": "book", "arguments": {} });
        let first = peer.modern("1", "tools/call", &params, &capabilities).await;
        let state = first["requestState"].clone();
        for (answer, expected) in [
            (
                json!({ "action": "accept", "content": { "row": 3 } }),
                Ok("row 3"),
            ),
            (json!({ "action": "decline" }), Ok("declined")),
            (json!({ "action": "cancel" }), Ok("cancelled")),
            (
                json!({ "action": "accept", "content": { "row": "3" } }),
                Err(()),
            ),
            (
                json!({ "action": "accept", "content": { "row": 300 } }),
                Err(()),
            ),
            (json!({ "action": "accept", "content": {} }), Err(())),
            (json!({ "action": "accept" }), Err(())),
        ] {
            let mut retry = params.clone();
            retry["requestState"] = state.clone();
            retry["inputResponses"] = json!({ "0": answer });
            let result = peer.modern("1", "tools/call", &retry, &capabilities).await;
            match expected {
                Ok(said) => assert_eq!(text(&result), said),
                Err(()) => {
                    failure(&result);
                }
            }
        }
    });
}
