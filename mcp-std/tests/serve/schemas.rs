//! Inputs and outputs that have to fit their schemas.

use mcp_std::{BuildError, Server, ServerBuilder, Structured, Tool, ToolResult};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::peer::{failure, session, text};

#[derive(Deserialize, JsonSchema)]
struct Trip {
    #[schemars(length(min = 2))]
    to: String,
    #[schemars(range(min = 1, max = 14))]
    days: u8,
    /// Counted in, and by no other type.
    #[serde(default)]
    bags: u8,
}

fn builder() -> ServerBuilder {
    let anything = |args: Value| async move { args.to_string() };
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}},
        "anyOf": [{"required": ["a"]}, {"required": ["b"]}]});
    Server::builder("schemas", "1")
        .tool("trip", "", |trip: Trip| async move {
            format!("{} {} {}", trip.to, trip.days, trip.bags)
        })
        .with_tool(Tool::new("either", "", anything).input_schema(&schema))
}

/// TOOL-24, ERR-11, SC-02.
#[test]
fn sc_02_sc_10_the_model_is_told_what_does_not_fit() {
    session(
        &builder().build().expect("a server"),
        |mut peer| async move {
            let cases = [
                ("trip", r#"{"to":"Oslo","days":14}"#, Ok("Oslo 14 0")),
                (
                    "trip",
                    r#"{"to":"Oslo","days":1.40e1,"bags":2.0}"#,
                    Ok("Oslo 14 2"),
                ),
                (
                    "trip",
                    r#"{"to":"Oslo","days":15}"#,
                    Err("`/days` is greater than the maximum of 14"),
                ),
                (
                    "trip",
                    r#"{"to":"O","days":0}"#,
                    Err(
                        "`/to` is shorter than 2 characters; `/days` is less than the minimum of 1",
                    ),
                ),
                (
                    "trip",
                    r#"{"days":3}"#,
                    Err("the arguments object lacks the required member `to`"),
                ),
                (
                    "trip",
                    "{}",
                    Err(
                        "the arguments object lacks the required member `to`; the arguments object lacks the required member `days`",
                    ),
                ),
                // What the schema allows and the type does not take is found where it is decoded.
                ("either", r#"{"a":"x"}"#, Ok(r#"{"a":"x"}"#)),
                (
                    "either",
                    "{}",
                    Err(
                        "the arguments object fits none of 2 alternatives: it lacks the required member `a`, or it lacks the required member `b`",
                    ),
                ),
                (
                    "either",
                    r#"{"a":1}"#,
                    Err("`/a` is not of type \"string\""),
                ),
            ];
            for (id, (tool, arguments, expected)) in (1..).zip(cases) {
                let answer = peer.answer(id, tool, arguments).await;
                match expected {
                    Ok(expected) => assert_eq!(text(&answer), expected),
                    Err(problem) => assert_eq!(
                        failure(&answer),
                        format!(
                            "Invalid arguments: {problem}. Call the tool again with arguments that fit its input schema."
                        )
                    ),
                }
            }
            // Without arguments at all.
            peer.send(
                r#"{"jsonrpc":"2.0","id":99,"method":"tools/call","params":{"name":"trip"}}"#,
            )
            .await;
            let answer = peer.message().await;
            assert!(
                failure(&answer["result"]).contains("lacks the required member"),
                "{answer}"
            );
        },
    );
}

#[derive(Serialize, JsonSchema)]
struct Count {
    #[schemars(range(max = 3))]
    count: u32,
}

fn counting() -> ServerBuilder {
    let structured = |text: &str| {
        let mut result = ToolResult::default();
        result.structured_content = Some(text.to_owned());
        result
    };
    let says = move |given: Value| async move {
        match given["say"].as_str() {
            Some(text) => structured(text),
            None => ToolResult::text("nothing structured"),
        }
    };
    #[derive(Deserialize, JsonSchema)]
    struct To {
        to: u32,
    }
    Server::builder("counting", "1")
        .tool("count", "", |To { to }: To| async move {
            if to > 9 {
                Err("too many")
            } else {
                Ok(Structured(Count { count: to }))
            }
        })
        .with_tool(Tool::new("says", "", says).output_schema(&json!({"type": ["null", "object"]})))
}

/// TOOL-14: a result that breaks the promise is the server's fault.
#[test]
fn results_that_do_not_fit_are_not_sent() {
    session(
        &counting().check_outputs(true).build().expect("a server"),
        |mut peer| async move {
            let answer = peer.answer(1, "count", r#"{"to":3}"#).await;
            assert_eq!(answer["structuredContent"], json!({"count": 3}));
            let answer = peer.answer(2, "count", r#"{"to":4}"#).await;
            assert_eq!(answer["error"]["code"], -32603);
            assert_eq!(
                answer["error"]["message"],
                "The result of Tool count does not fit its output schema: `/count` is greater than the maximum of 3"
            );
            // An error has no structured content, and needs none.
            assert_eq!(
                failure(&peer.answer(3, "count", r#"{"to":10}"#).await),
                "too many"
            );
            let answer = peer.answer(4, "says", "{}").await;
            let message = answer["error"]["message"].as_str().expect("an error");
            assert!(message.contains("is missing"), "{message}");
            let answer = peer.answer(5, "says", r#"{"say":"[]"}"#).await;
            assert_eq!(answer["error"]["code"], -32603);
            let answer = peer.answer(6, "says", r#"{"say":"{}"}"#).await;
            assert_eq!(answer["structuredContent"], json!({}));
        },
    );
    session(
        &counting().check_outputs(false).build().expect("a server"),
        |mut peer| async move {
            let answer = peer.answer(1, "count", r#"{"to":4}"#).await;
            assert_eq!(answer["structuredContent"], json!({"count": 4}));
        },
    );
}

/// JSC-03, JSC-05, JSC-08.
#[test]
fn sc_06_schemas_that_nobody_can_use_are_not_offered() {
    for (schema, problem) in [
        (
            json!({"type": "object", "$ref": "http://127.0.0.1:1/s.json"}),
            "`http://127.0.0.1:1/s.json`, which is not inside of it",
        ),
        (
            json!({"type": "object", "$schema": "urn:mine"}),
            "dialect `urn:mine` is not supported",
        ),
        (
            json!({"type": "object", "properties": {"a": {"type": "strin"}}}),
            "`/properties/a/type`",
        ),
    ] {
        let tool = || Tool::new("tool", "", || async {});
        for tool in [tool().input_schema(&schema), tool().output_schema(&schema)] {
            let error = builder().with_tool(tool).build().expect_err("no server");
            assert!(matches!(&error, BuildError::InvalidSchema { tool, .. } if tool == "tool"));
            assert!(error.to_string().contains(problem), "{error}");
        }
    }
}
