//! Results of handlers on the wire, and servers that cannot be built.

use mcp_std::{BuildError, ContentBlock, IntoToolResult, Server, Structured, Tool, ToolResult};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::peer::{failure, serve, session, text};

#[derive(Serialize, JsonSchema)]
struct Point {
    /// To the right.
    x: i32,
}

async fn nothing() {}

fn server() -> Server {
    Server::builder("results", "1")
        .tool("err", "", || async { Err::<&str, _>("out of \"cheese\"") })
        .tool("ok", "", || async { Ok::<_, String>("fine") })
        .tool("point", "", || async { Structured(Point { x: 7 }) })
        .tool("maybe point", "", || async {
            Err::<Structured<Point>, _>("no point")
        })
        .tool("list", "", || async { Structured(vec![1, 2]) })
        .tool("value", "", || async {
            Structured(json!({"a": [1, null]}))
        })
        .tool("nothing", "", nothing)
        .tool("blocks", "", || async {
            vec![ContentBlock::text("one"), ContentBlock::text("two\n")]
        })
        .tool("not json", "", || async {
            let mut result = ToolResult::text("see the structure");
            result.structured_content = Some("{".to_owned());
            result
        })
        .build()
        .expect("a server")
}

#[test]
fn co_08_results_of_a_legacy_session() {
    session(&server(), |mut peer| async move {
        let err = peer.answer(1, "err", "{}").await;
        assert_eq!(failure(&err), "out of \"cheese\"");
        assert_eq!(text(&peer.answer(1, "ok", "{}").await), "fine");
        let point = peer.answer(1, "point", "{}").await;
        assert_eq!(text(&point), r#"{"x":7}"#);
        assert_eq!(point["structuredContent"], json!({"x": 7}));
        let none = peer.answer(1, "maybe point", "{}").await;
        assert_eq!(failure(&none), "no point");
        assert_eq!(none.get("structuredContent"), None);
        // Only objects before 2026-07-28.
        let list = peer.answer(1, "list", "{}").await;
        assert_eq!(text(&list), "[1,2]");
        assert_eq!(list.get("structuredContent"), None);
        assert_eq!(
            peer.answer(1, "nothing", "{}").await,
            json!({"content": []})
        );
        let blocks = peer.answer(1, "blocks", "{}").await;
        assert_eq!(
            blocks["content"],
            json!([{"type": "text", "text": "one"}, {"type": "text", "text": "two\n"}])
        );
        let broken = peer.answer(1, "not json", "{}").await;
        assert_eq!(broken["error"]["code"], -32603);
        assert_eq!(peer.rest().await.len(), 0);
    });
}

#[test]
fn sc_07_structured_results_of_2026_07_28() {
    let end = serve(&server(), |mut peer| async move {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        for (tool, structure) in [
            ("point", json!({"x": 7})),
            ("list", json!([1, 2])),
            ("value", json!({"a": [1, null]})),
        ] {
            let params = json!({"name": tool, "_meta": meta});
            let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
            peer.send(&call.to_string()).await;
            let message = peer.message().await;
            assert_eq!(message["result"]["structuredContent"], structure, "{tool}");
        }
        let list =
            json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}});
        peer.send(&list.to_string()).await;
        let message = peer.message().await;
        let tools = message["result"]["tools"].as_array().expect("tools");
        let schema = |name| {
            let tool = tools.iter().find(|tool| tool["name"] == name);
            tool.expect("listed").get("outputSchema")
        };
        let point = json!({
            "type": "object",
            "properties": {"x": {"description": "To the right.", "format": "int32", "type": "integer"}},
            "required": ["x"],
        });
        assert_eq!(schema("point"), Some(&point));
        assert_eq!(schema("maybe point"), Some(&point));
        assert_eq!(
            schema("list").map(|schema| &schema["type"]),
            Some(&json!("array"))
        );
        assert_eq!(schema("value"), Some(&json!({})));
        assert_eq!(schema("ok"), None);
        assert_eq!(peer.rest().await.len(), 0);
    });
    assert!(end.is_ok());
}

#[test]
fn tools_of_any_name() {
    let names = [
        "a\"b\\c",
        "tab\tnewline\n",
        "🦀 é",
        "\u{7f}\u{0}",
        &"n".repeat(500),
    ]
    .map(str::to_owned);
    let mut builder = Server::builder("names \"quoted\"", "1");
    for name in names.clone() {
        builder = builder.tool(name.clone(), "says its \"name\"", move || {
            std::future::ready(name.clone())
        });
    }
    let server = builder.build().expect("a server");
    session(&server, |mut peer| async move {
        peer.send(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#)
            .await;
        let list = peer.message().await;
        let listed: Vec<_> = list["result"]["tools"]
            .as_array()
            .expect("tools")
            .iter()
            .map(|tool| tool["name"].as_str().expect("a name").to_owned())
            .collect();
        assert_eq!(listed, names);
        for name in &names {
            assert_eq!(text(&peer.answer(1, name, "{}").await), name);
        }
        // The same name, written with escapes.
        peer.send(
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"\ud83e\udd80 \u00e9"}}"#,
        )
        .await;
        assert_eq!(text(&peer.message().await["result"]), "🦀 é");
        let unknown = peer.answer(1, "N", "{}").await;
        assert_eq!(unknown["error"]["code"], -32602);
        assert_eq!(peer.rest().await.len(), 0);
    });
}

/// A schema is the author's, and may be none.
fn refused(input: Value) -> BuildError {
    let tool = Tool::new("t", "", nothing).input_schema(&input);
    let server = Server::builder("s", "1").with_tool(tool).build();
    server.expect_err("it is no schema of arguments")
}

#[test]
fn servers_that_cannot_be_built() {
    let same = Server::builder("s", "1")
        .tool("a", "", nothing)
        .tool("b", "", nothing)
        .tool("a", "", nothing);
    let error = same.build().expect_err("two tools of one name");
    assert_eq!(error.to_string(), "two tools are called `a`");
    let unnamed = Server::builder("s", "1").tool("", "", nothing);
    assert_eq!(
        unnamed.build().expect_err("no name").to_string(),
        "a tool has no name"
    );
    for input in [
        json!({"type": "string"}),
        json!({}),
        json!(true),
        json!({"type": ["object"]}),
    ] {
        let error = refused(input);
        assert!(
            error.to_string().contains("input schema of tool `t`"),
            "{error}"
        );
    }
    let mut deep = json!({"type": "object"});
    for _ in 0..200 {
        deep = json!({"type": "object", "properties": {"p": deep}});
    }
    let error = refused(deep);
    assert!(
        matches!(&error, BuildError::Schema(tool) if tool == "t"),
        "{error}"
    );
}

#[test]
fn a_server_without_tools() {
    let server = Server::builder("bare", "1").build().expect("a server");
    session(&server, |mut peer| async move {
        peer.send(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#)
            .await;
        assert_eq!(peer.message().await["error"]["code"], -32601);
        peer.ping().await;
        assert_eq!(peer.rest().await.len(), 0);
    });
}

/// The conversions that the tests above do not use.
#[test]
fn what_can_be_a_result() {
    let text = Ok(ToolResult::text("t"));
    assert_eq!("t".into_tool_result(), text);
    assert_eq!("t".to_owned().into_tool_result(), text);
    assert_eq!(ContentBlock::text("t").into_tool_result(), text);
    assert_eq!(Ok::<_, &str>("t").into_tool_result(), text);
    let failed = Ok(ToolResult::error("t"));
    assert_eq!(Err::<(), _>("t").into_tool_result(), failed);
}
