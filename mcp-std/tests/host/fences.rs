//! What a server says stands between marks, wherever a model would read it.

use mcp_std::host::adapters::{CallResult, Options, Provider, Toolset};
use mcp_std::host::{ServerConfig, ToolCall, ToolReply};
use mcp_std::model::{CallToolResult, Decode as _, Resource, ResourceContents};
use mcp_std::{ContentBlock, ErrorCode, ProtocolError, RawJson, Server, Tool, ToolResult};
use serde_json::{Value, json};

use crate::{built, host};

/// The word that all of the server's texts have.
const WORD: &str = "zwieback";

fn everything() -> ToolResult {
    let unknown = RawJson::parse(br#"{"type": "zwieback", "data": "QUJD"}"#).expect("JSON");
    let mut link = Resource::new("file:///zwieback", "zwieback");
    link.description = Some("zwieback".into());
    let mut odd = ResourceContents::blob("file:///zwieback.bin", "YmxvYg==");
    if let ResourceContents::Blob(blob) = &mut odd {
        blob.mime_type = Some("application/zwieback".into());
    }
    let mut paper = ResourceContents::blob("file:///zwieback.pdf", "JVBERg==");
    if let ResourceContents::Blob(blob) = &mut paper {
        blob.mime_type = Some("application/pdf".into());
    }
    let mut all = ToolResult::text(r#"{"n":"zwieback"}"#);
    all.content.extend([
        ContentBlock::image("aW1hZ2U=", "image/png"),
        ContentBlock::image("aW1hZ2U=", "image/zwieback"),
        ContentBlock::audio("c291bmQ=", "audio/wav"),
        ContentBlock::audio("c291bmQ=", "zwieback"),
        ContentBlock::resource_link(link),
        ContentBlock::resource(ResourceContents::text("note://zwieback", "zwieback")),
        ContentBlock::resource(odd),
        ContentBlock::resource(paper),
        ContentBlock::decode(unknown).expect("a block").into_owned(),
    ]);
    all.structured_content = Some(r#"{"n":"zwieback"}"#.to_owned());
    all
}

/// All texts of a message.
fn texts(value: &Value, all: &mut Vec<String>) {
    match value {
        Value::String(text) => all.push(text.clone()),
        Value::Array(elements) => elements.iter().for_each(|it| texts(it, all)),
        Value::Object(members) => members.values().for_each(|it| texts(it, all)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// What is left of a text when all that stands between marks is taken out.
fn outside(text: &str) -> String {
    let mut rest = text;
    let mut out = String::new();
    while let Some((before, after)) = rest.split_once("<untrusted from=\"") {
        out.push_str(before);
        let (_, after) = after.split_once("id=\"").expect("it has a number");
        let number = &after[..16];
        let end = format!("</untrusted id=\"{number}\">");
        rest = after.split_once(&end).expect("it ends").1;
    }
    out.push_str(rest);
    out
}

/// What the model of each provider reads of it, outside and in all.
fn read(result: &CallToolResult<'static>) -> Vec<(String, String)> {
    let providers = [
        Provider::OpenAiChat,
        Provider::OpenAiResponses,
        Provider::Anthropic,
        Provider::Gemini,
    ];
    let each = providers.into_iter().map(|provider| {
        let tools = Toolset::with(provider, &[], Options::default());
        let empty = RawJson::parse(b"{}").expect("JSON");
        let result = CallResult::new(&tools.call("1", "t", empty), result.clone());
        let mut all = Vec::new();
        for message in tools.results(&[result]) {
            let message: Value = serde_json::from_str(message.as_str()).expect("JSON");
            texts(&message, &mut all);
        }
        (all.iter().map(|text| outside(text)).collect(), all.concat())
    });
    each.collect()
}

async fn replies() -> Vec<ToolReply> {
    let all = Tool::new("all", "", || async { everything() });
    let refuses = Tool::new("refuse", "", || async {
        let code = ErrorCode::new(-32050);
        Err::<String, _>(ProtocolError::new(code, format!("{WORD} and obey")))
    });
    let fails = Tool::new("fail", "", || async { Err::<String, _>(WORD) });
    let server = Server::builder("a", "1").with_tool(all);
    let server = built(server.with_tool(refuses).with_tool(fails));
    let ends = "echo zwieback >&2; exit 3";
    let host = host([
        ServerConfig::in_process("a", &server),
        ServerConfig::stdio("b", "sh").args(["-c", ends]),
    ])
    .start();
    host.settled().await;
    let session = host.session();
    let snapshot = session.snapshot();
    let mut replies = Vec::new();
    for name in ["a__all", "a__refuse", "a__fail"] {
        let call = ToolCall::new("1", name, json!({}));
        replies.push(session.call(&snapshot, call).await);
    }
    host.close().await;
    replies
}

#[test]
fn each_word_of_a_server_stands_between_marks() {
    smol::block_on(async {
        for reply in replies().await {
            assert!(reply.untrusted, "{reply:?}");
            for (outside, all) in read(&reply.fenced()) {
                assert!(all.contains(WORD), "{}: {all}", reply.name);
                assert!(!outside.contains(WORD), "{}: {outside}", reply.name);
            }
        }
    });
}

#[test]
fn pictures_are_shown_and_nothing_is_said_twice() {
    smol::block_on(async {
        let replies = replies().await;
        let fenced = replies[0].fenced();
        for (_, all) in read(&fenced) {
            assert_eq!(all.matches("{\"n\":\"zwieback\"}").count(), 1, "{all}");
            assert!(all.contains("aW1hZ2U="), "{all}");
        }
        assert!(replies[2].fenced().is_error);
    });
}
