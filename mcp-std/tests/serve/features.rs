//! Resources, prompts and completion, in both eras.

use mcp_std::model::{ContentBlock, Icon, PromptMessage, ResourceContents, Role};
use mcp_std::{
    ErrorCode, Json, Prompt, ProtocolError, Resource, ResourceError, ResourceTemplate, Server,
    Settled, Structured, Tool,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::peer::{Peer, serve, session};

#[derive(Deserialize)]
struct At {
    book: String,
    page: u32,
}

#[derive(Deserialize, JsonSchema)]
struct Review {
    /// What to look at.
    code: String,
    /// How strict to be.
    strictness: Option<u8>,
    #[serde(default)]
    tone: Tone,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Tone {
    #[default]
    Kind,
    Harsh,
}

#[derive(Serialize, JsonSchema)]
struct Sum {
    sum: i64,
}

fn server() -> Server {
    let page = |at: At| async move {
        match (at.book.as_str(), at.page) {
            ("emma", page @ 1..=9) => Ok(format!("page {page}")),
            ("broken", _) => Err(ResourceError::Failed("the ink has run".into())),
            _ => Err(ResourceError::NotFound),
        }
    };
    let pages = ResourceTemplate::new("book://{book}/{page}", "page", page)
        .title("A page")
        .mime_type("text/plain")
        .complete("book", |typed: String, settled: Settled| async move {
            let books = ["emma", "evelina", "persuasion"];
            let fitting = books.into_iter().filter(|book| book.starts_with(&typed));
            let page = settled.get("page").cloned().unwrap_or_default();
            fitting
                .map(|book| format!("{book}{page}"))
                .collect::<Vec<_>>()
        });
    let review = Prompt::new("review", "Reviews code", |args: Review| async move {
        format!("{} {:?} {:?}", args.code, args.strictness, args.tone)
    })
    .title("Code review")
    .icon(Icon::new("https://example.com/review.png"))
    .complete("strictness", |_, _| async {
        (0..250).map(|n| n.to_string()).collect::<Vec<_>>()
    });
    Server::builder("features", "1")
        .title("Features")
        .description("All of them")
        .website("https://example.com")
        .icon(Icon::new("https://example.com/icon.png"))
        .with_resource(
            Resource::new("mem://text", "text", || async { "text" })
                .title("Text")
                .description("Some text")
                .mime_type("text/plain")
                .size(4),
        )
        .resource("mem://bytes", "bytes", || async { vec![0_u8, 255] })
        .resource("mem://parts", "parts", || async {
            vec![
                ResourceContents::text("mem://parts/a", "a").of_type("text/a"),
                ResourceContents::blob("mem://parts/b", "Yg=="),
            ]
        })
        .resource("mem://gone", "gone", || async { None::<String> })
        .resource("mem://refused", "refused", || async {
            Err::<String, _>(ProtocolError::new(ErrorCode::new(-31000), "no entry"))
        })
        .resource("mem://panic", "panic", || async {
            if true {
                panic!("in a resource");
            }
            ""
        })
        .with_template(pages)
        .with_prompt(review)
        .prompt("talk", "Two messages", || async {
            vec![
                PromptMessage::new(Role::User, ContentBlock::text("question")),
                PromptMessage::new(Role::Assistant, ContentBlock::text("answer")),
            ]
        })
        .prompt("fail", "Fails", || async {
            Err::<String, _>("out of order")
        })
        .prompt("panic", "Panics", || async {
            if true {
                panic!("in a prompt");
            }
            ""
        })
        .with_tool(
            Tool::new("sum", "Sums", || async { Structured(Sum { sum: 3 }) })
                .icon(Icon::new("https://example.com/sum.png"))
                .meta(Json::parse(br#"{"example.com/a":1}"#).expect("JSON")),
        )
        .tool("refuse", "Refuses", || async {
            let boxed: Box<dyn std::error::Error + Send + Sync> = Box::new(
                ProtocolError::new(ErrorCode::new(-31001), "not today")
                    .data(Json::parse(b"[1]").expect("JSON")),
            );
            Err::<(), _>(boxed)
        })
        .build()
        .expect("a server")
}

const REVISIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// Runs a client in each legacy revision and in the modern one, which has no handshake.
fn in_each_revision(client: impl AsyncFn(&mut Peer, Option<&str>)) {
    for version in REVISIONS.map(Some).into_iter().chain([None]) {
        let client = &client;
        let end = serve(&server(), |mut peer| async move {
            if let Some(version) = version {
                peer.handshake(version, &json!({})).await;
            }
            client(&mut peer, version).await;
            assert_eq!(peer.rest().await, [Value::Null; 0]);
        });
        end.expect("sockets do not fail");
    }
}

async fn ask(peer: &mut Peer, version: Option<&str>, method: &str, params: Value) -> Value {
    match version {
        Some(_) => peer.request("1", method, &params).await,
        None => peer.modern("1", method, &params, &json!({})).await,
    }
}

#[test]
fn dx_02_resources_are_read() {
    in_each_revision(async |peer, version| {
        let mut read =
            async |uri: &str| ask(peer, version, "resources/read", json!({ "uri": uri })).await;
        let text = json!([{ "uri": "mem://text", "mimeType": "text/plain", "text": "text" }]);
        assert_eq!(read("mem://text").await["contents"], text);
        let bytes = json!([{ "uri": "mem://bytes", "blob": "AP8=" }]);
        assert_eq!(read("mem://bytes").await["contents"], bytes);
        let parts = json!([
            { "uri": "mem://parts/a", "mimeType": "text/a", "text": "a" },
            { "uri": "mem://parts/b", "blob": "Yg==" },
        ]);
        assert_eq!(read("mem://parts").await["contents"], parts);
        let page = json!([{ "uri": "book://emma/7", "mimeType": "text/plain", "text": "page 7" }]);
        assert_eq!(read("book://emma/7").await["contents"], page);

        // RSC-04: what the template fits and its type does not is as absent as what it does not fit.
        let absent = if version.is_some() { -32002 } else { -32602 };
        for uri in [
            "mem://gone",
            "mem://other",
            "book://emma/10",
            "book://emma/seven",
            "book://emma/-1",
            "book://emma",
        ] {
            let error = read(uri).await;
            assert_eq!(error["error"]["code"], absent, "{uri}: {error}");
            assert_eq!(error["error"]["data"]["uri"], uri, "{error}");
        }
        // RSC-05.
        let failed = read("book://broken/1").await;
        assert_eq!(
            failed["error"],
            json!({ "code": -32603, "message": "the ink has run" })
        );
        let refused = read("mem://refused").await;
        assert_eq!(
            refused["error"],
            json!({ "code": -31000, "message": "no entry" })
        );
        let panicked = read("mem://panic").await;
        let message = "Resource mem://panic panicked";
        assert_eq!(
            panicked["error"],
            json!({ "code": -32603, "message": message })
        );
    });
}

#[test]
fn resources_are_listed() {
    in_each_revision(async |peer, version| {
        let list = ask(peer, version, "resources/list", json!({})).await;
        let first = &list["resources"][0];
        assert_eq!(first["uri"], "mem://text");
        assert_eq!(first["size"], 4);
        let titled = version != Some("2024-11-05") && version != Some("2025-03-26");
        assert_eq!(first.get("title").is_some(), titled, "{version:?} {first}");
        assert_eq!(list["resources"].as_array().map(Vec::len), Some(6));
        let list = ask(peer, version, "resources/templates/list", json!({})).await;
        let template = &list["resourceTemplates"][0];
        assert_eq!(template["uriTemplate"], "book://{book}/{page}");
        assert_eq!(template["mimeType"], "text/plain");
    });
}

#[test]
fn prompts_are_filled_in() {
    in_each_revision(async |peer, version| {
        let list = ask(peer, version, "prompts/list", json!({})).await;
        let arguments = &list["prompts"][0]["arguments"];
        assert_eq!(
            arguments[0],
            json!({ "name": "code", "description": "What to look at.", "required": true })
        );
        assert_eq!(arguments[1]["name"], "strictness");
        assert_eq!(arguments[1].get("required"), None);
        assert_eq!(list["prompts"][1].get("arguments"), None);

        let mut get = async |name: &str, arguments: Value| {
            let params = json!({ "name": name, "arguments": arguments });
            ask(peer, version, "prompts/get", params).await
        };
        let user =
            |text: &str| json!([{ "role": "user", "content": { "type": "text", "text": text } }]);
        let plain = get("review", json!({ "code": "x" })).await;
        assert_eq!(plain["messages"], user("x None Kind"), "{plain}");
        let full = json!({ "code": "1", "strictness": "7", "tone": "harsh", "other": "" });
        let full = get("review", full).await;
        assert_eq!(full["messages"], user("1 Some(7) Harsh"), "{full}");
        let wrong = get("review", json!({ "code": "x", "strictness": "very" })).await;
        assert_eq!(wrong["error"]["code"], -32602);
        let message =
            "Invalid arguments: `strictness`: expected a whole number from 0 on, not \"very\"";
        assert_eq!(wrong["error"]["message"], message);
        let missing = get("review", json!({})).await;
        assert_eq!(missing["error"]["code"], -32602, "{missing}");
        let unknown = get("unknown", json!({})).await;
        assert_eq!(unknown["error"]["code"], -32602, "{unknown}");

        let talk = get("talk", json!({})).await;
        assert_eq!(talk["messages"][1]["role"], "assistant");
        let failed = get("fail", json!({})).await;
        assert_eq!(
            failed["error"],
            json!({ "code": -32603, "message": "out of order" })
        );
        let panicked = get("panic", json!({})).await;
        assert_eq!(panicked["error"]["message"], "Prompt panic panicked");
    });
}

#[test]
fn arguments_are_completed() {
    in_each_revision(async |peer, version| {
        let mut complete = async |reference: Value, name: &str, value: &str, context: Value| {
            let argument = json!({ "name": name, "value": value });
            let mut params = json!({ "ref": reference, "argument": argument });
            if !context.is_null() {
                params["context"] = context;
            }
            ask(peer, version, "completion/complete", params).await
        };
        let template = json!({ "type": "ref/resource", "uri": "book://{book}/{page}" });
        let prompt = json!({ "type": "ref/prompt", "name": "review" });
        let books = complete(template.clone(), "book", "e", Value::Null).await;
        let expected = json!({ "values": ["emma", "evelina"], "total": 2, "hasMore": false });
        assert_eq!(books["completion"], expected, "{books}");
        let settled = json!({ "arguments": { "page": "7" } });
        let books = complete(template.clone(), "book", "p", settled).await;
        assert_eq!(books["completion"]["values"], json!(["persuasion7"]));
        // CMP-02: a hundred at most.
        let many = complete(prompt.clone(), "strictness", "", Value::Null).await;
        let many = &many["completion"];
        assert_eq!(many["values"].as_array().map(Vec::len), Some(100));
        assert_eq!(
            (&many["total"], &many["hasMore"]),
            (&json!(250), &json!(true))
        );
        for (reference, argument) in [(&template, "page"), (&prompt, "code")] {
            let none = complete(reference.clone(), argument, "x", Value::Null).await;
            assert_eq!(none["completion"]["values"], json!([]), "{none}");
        }
    });
}

#[test]
fn tools_say_more_about_themselves() {
    in_each_revision(async |peer, version| {
        let list = ask(peer, version, "tools/list", json!({})).await;
        let sum = &list["tools"][0];
        let newest = version.is_none() || version == Some("2025-11-25");
        assert_eq!(sum.get("icons").is_some(), newest, "{sum}");
        let titled = newest || version == Some("2025-06-18");
        assert_eq!(sum.get("_meta").is_some(), titled, "{sum}");
        assert_eq!(sum.get("outputSchema").is_some(), titled, "{sum}");
        let refused = ask(peer, version, "tools/call", json!({ "name": "refuse" })).await;
        let error = json!({ "code": -31001, "message": "not today", "data": [1] });
        assert_eq!(refused["error"], error, "a tool's error inside a box");
    });
}

#[test]
fn the_server_says_who_it_is() {
    session(&server(), |mut peer| async move {
        let found = peer
            .modern("1", "server/discover", &json!({}), &json!({}))
            .await;
        let info = &found["_meta"]["io.modelcontextprotocol/serverInfo"];
        assert_eq!(info["title"], "Features", "{found}");
        assert_eq!(info["description"], "All of them");
        assert_eq!(info["websiteUrl"], "https://example.com");
        assert_eq!(info["icons"][0]["src"], "https://example.com/icon.png");
        let capabilities = &found["capabilities"];
        for (capability, there) in [
            ("tools", true),
            ("resources", true),
            ("prompts", true),
            ("completions", true),
            ("logging", false),
        ] {
            assert_eq!(
                capabilities.get(capability).is_some(),
                there,
                "{capability}: {found}"
            );
        }
        assert_eq!(capabilities["tools"].get("listChanged"), None);
        assert_eq!(peer.rest().await, [Value::Null; 0]);
    });
}
