//! Arguments: what is accepted, and what the model is told about the rest.

use mcp_std::{Context, Server};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::peer::{failure, session, text};

#[derive(Deserialize, JsonSchema)]
struct Sum {
    a: i64,
    b: u64,
    #[serde(default)]
    list: Vec<i32>,
    #[serde(default)]
    nested: Option<Nested>,
}

#[derive(Deserialize, JsonSchema)]
struct Nested {
    float: f64,
    #[serde(rename = "ünï\"code")]
    strange: u8,
}

fn server() -> Server {
    Server::builder("arguments", "1")
        .tool("sum", "", |args: Sum| async move {
            let list = args.list.iter().map(|n| i128::from(*n)).sum::<i128>();
            let nested = args.nested.map_or_else(String::new, |nested| {
                format!(" {} {}", nested.float, nested.strange)
            });
            format!("{}{nested}", i128::from(args.a) + i128::from(args.b) + list)
        })
        .tool(
            "anything",
            "",
            |args: Value| async move { args.to_string() },
        )
        .tool("members", "", |args: Map<String, Value>| async move {
            args.len().to_string()
        })
        .tool("nothing", "", || async { "nothing" })
        .build()
        .expect("a server")
}

/// In the words of the schema that the model sees, not in those of Rust.
#[test]
fn a_number_out_of_range_is_told_its_range() {
    session(&server(), |mut peer| async move {
        for (args, expected) in [
            (
                r#"{"a":0,"b":-1}"#,
                "`b`: invalid value: integer `-1`, expected an integer from 0 to 18446744073709551615",
            ),
            (
                r#"{"a":0,"b":0,"nested":{"float":0,"ünï\"code":300}}"#,
                "integer `300`, expected an integer from 0 to 255",
            ),
            (
                r#"{"a":0,"b":0,"nested":{"float":"x","ünï\"code":3}}"#,
                "expected a number",
            ),
        ] {
            let result = peer.answer(1, "sum", args).await;
            assert!(failure(&result).contains(expected), "{result}");
        }
    });
}

/// SC-09, SC-10.
#[test]
fn sc_09_sc_10_an_integer_is_one_however_it_is_written() {
    session(&server(), |mut peer| async move {
        for (args, sum) in [
            (r#"{"a":2,"b":3}"#, "5"),
            (r#"{"a":2.0,"b":3}"#, "5"),
            (r#"{"a":1e3,"b":120000.0}"#, "121000"),
            (r#"{"a":-0.0,"b":25e-1,"b2":0}"#, ""),
            (
                r#"{"a":9007199254740993.0,"b":9007199254740993}"#,
                "18014398509481986",
            ),
            (
                r#"{"a":-9223372036854775808,"b":18446744073709551615}"#,
                "9223372036854775807",
            ),
            (
                r#"{"a":-1.0,"b":1.8446744073709551615e19}"#,
                "18446744073709551614",
            ),
            (r#"{"a":0,"b":18446744073709551616.0}"#, ""),
            (r#"{"a":0,"b":0,"list":[1.0,2e0,3]}"#, "6"),
            (
                r#"{"a":0,"b":1.0,"nested":{"float":0.5,"ünï\"code":2.0}}"#,
                "1 0.5 2",
            ),
            (
                r#"{"a":0,"b":1,"nested":{"float":3,"\u00fcn\u00ef\"code":2}}"#,
                "1 3 2",
            ),
            (r#"{"a":0,"b":1,"nested":null,"unknown":[{}]}"#, "1"),
        ] {
            let result = peer.answer(1, "sum", args).await;
            if sum.is_empty() {
                assert!(failure(&result).contains("`b`"), "{result}");
            } else {
                assert_eq!(text(&result), sum, "{args}");
            }
        }
        assert_eq!(peer.rest().await.len(), 0);
    });
}

/// TOOL-24, CO-08: a failure of the tool that names the member, so that the model can correct itself.
#[test]
fn sc_09_sc_10_co_08_what_is_wrong_is_named() {
    session(&server(), |mut peer| async move {
        for (args, named) in [
            ("{}", "missing field `a`"),
            (r#"{"a":1}"#, "missing field `b`"),
            (r#"{"a":1.5,"b":1}"#, "`a`: "),
            // The first one is an integer, if one that needs a second look.
            (r#"{"a":2.0,"b":1.5}"#, "`b`: "),
            (r#"{"a":1,"b":-1}"#, "`b`: "),
            (r#"{"a":"1","b":1}"#, "`a`: "),
            (r#"{"a":1e400,"b":1}"#, "`a`"),
            (r#"{"a":1,"b":2,"list":[1,2,2147483648]}"#, "`list[2]`: "),
            (
                r#"{"a":1,"b":2,"nested":{"float":1}}"#,
                "`nested`: missing field `ünï\"code`",
            ),
            (r#"{"a":1,"a":2,"b":2}"#, "duplicate field `a`"),
        ] {
            let result = peer.answer(1, "sum", args).await;
            let said = failure(&result);
            assert!(said.starts_with("Invalid arguments: "), "{args}: {said}");
            assert!(said.contains(named), "{args}: {said}");
            assert!(!said.contains(" line "), "{args}: {said}");
        }
        assert_eq!(peer.rest().await.len(), 0);
    });
}

#[test]
fn arguments_that_are_no_object_are_refused() {
    session(&server(), |mut peer| async move {
        for args in ["[]", "1", "\"{}\"", "true"] {
            let refused = peer.answer(1, "sum", args).await;
            assert_eq!(refused["error"]["code"], -32602, "{args}: {refused}");
        }
        let result = peer.answer(1, "nothing", "null").await;
        assert_eq!(text(&result), "nothing");
        assert_eq!(peer.rest().await.len(), 0);
    });
}

#[test]
fn sc_03_handlers_that_take_anything() {
    session(&server(), |mut peer| async move {
        let args = r#"{"z":1.50,"a":[null,{"b":"é"}]}"#;
        let result = peer.answer(1, "anything", args).await;
        assert_eq!(
            serde_json::from_str::<Value>(text(&result)).expect("JSON"),
            serde_json::from_str::<Value>(args).expect("JSON")
        );
        assert_eq!(text(&peer.answer(1, "members", args).await), "2");
        assert_eq!(text(&peer.answer(1, "members", "{}").await), "0");
        let result = peer.answer(1, "nothing", r#"{"ignored":1}"#).await;
        assert_eq!(text(&result), "nothing");
        peer.send(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"anything"}}"#)
            .await;
        assert_eq!(text(&peer.message().await["result"]), "{}");
        peer.send(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#)
            .await;
        let list = peer.message().await;
        for tool in list["result"]["tools"].as_array().expect("tools") {
            // TOOL-04, TOOL-05, SC-03.
            assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
            assert!(tool["inputSchema"]["properties"].is_object(), "{tool}");
        }
        assert_eq!(peer.rest().await.len(), 0);
    });
}

/// All four forms of a handler.
#[test]
fn a_handler_takes_what_it_needs() {
    let server = Server::builder("forms", "1")
        .tool("none", "", || async { "none" })
        .tool("context", "", |context: Context| async move {
            context.version().as_str()
        })
        .tool("args", "", |args: Word| async move { args.word })
        .tool("both", "", |context: Context, args: Word| async move {
            format!("{} in {}", args.word, context.version().as_str())
        })
        .build()
        .expect("a server");
    session(&server, |mut peer| async move {
        for (id, (tool, arguments, expected)) in [
            ("none", "{}", "none"),
            ("context", "{}", "2025-11-25"),
            ("args", r#"{"word":"w"}"#, "w"),
            ("both", r#"{"word":"w"}"#, "w in 2025-11-25"),
        ]
        .into_iter()
        .enumerate()
        {
            let answer = peer.answer(id as u64, tool, arguments).await;
            assert_eq!(text(&answer), expected);
        }
        peer.close();
    });
}

#[derive(Deserialize, JsonSchema)]
struct Word {
    word: String,
}
