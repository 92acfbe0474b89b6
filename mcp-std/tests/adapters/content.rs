//! Arguments as models give them, and results as models are shown them.

use mcp_std::ContentBlock;
use mcp_std::RawJson;
use mcp_std::host::ToolDefinition;
use mcp_std::host::adapters::{Arguments, CallResult, Options, Prompt, Provider, Toolset, Turn};
use mcp_std::model::{CallToolResult, Decode, Resource, ResourceContents};
use serde_json::{Value, json};

fn tools(provider: Provider) -> Toolset {
    Toolset::new(
        provider,
        &[ToolDefinition::new("t", None, json!({"type": "object"}))],
    )
}

/// What a call with these arguments, as text, is read as.
fn read(arguments: &str) -> Arguments {
    let tools = tools(Provider::OpenAiChat);
    let answer = json!({"choices": [{"message": {"tool_calls": [{"id": "1", "function": {"name": "t", "arguments": arguments}}]}}]});
    let reply = tools
        .read(answer.to_string().as_bytes())
        .expect("an answer");
    reply.calls[0].arguments.clone()
}

#[test]
fn arguments_are_an_object_in_the_end() {
    for (given, read_as) in [
        ("", "{}"),
        ("  \n", "{}"),
        ("null", "{}"),
        ("\"\"", "{}"),
        ("{}", "{}"),
        (r#" {"a": 1} "#, r#"{"a": 1}"#),
        (r#""{\"a\": [1]}""#, r#"{"a": [1]}"#),
        (
            r#"{"n": 18446744073709551616}"#,
            r#"{"n": 18446744073709551616}"#,
        ),
    ] {
        let Arguments::Object(arguments) = read(given) else {
            panic!("{given}");
        };
        assert_eq!(arguments.as_str(), read_as);
    }
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    let long = format!("{{\"a\": \"{}\"}}", "x".repeat(5 * 1024 * 1024));
    for given in [
        "{",
        "[]",
        "42",
        "true",
        "{\"a\": 1",
        "\"text\"",
        r#"{"a": 1, "a": 2}"#,
        r#"{"x": {"b": 1, "\u0062": 2}}"#,
        &deep,
        &long,
    ] {
        assert!(
            matches!(read(given), Arguments::Invalid { .. }),
            "{}",
            &given[..given.len().min(30)]
        );
    }
}

#[test]
fn a_model_is_told_what_was_wrong_with_its_call() {
    for provider in [Provider::OpenAiChat, Provider::OpenAiResponses] {
        let tools = tools(provider);
        let answer = match provider {
            Provider::OpenAiChat => json!({"choices": [{"message": {"tool_calls": [
                {"id": "1", "function": {"name": "t", "arguments": "{oops"}},
                {"id": "2", "function": {"name": "unknown", "arguments": "{}"}}]}}]}),
            Provider::OpenAiResponses | Provider::Anthropic | Provider::Gemini | _ => {
                json!({"output": [
                {"type": "function_call", "call_id": "1", "name": "t", "arguments": "{oops"},
                {"type": "function_call", "call_id": "2", "name": "unknown", "arguments": "{}"}]})
            }
        };
        let reply = tools
            .read(answer.to_string().as_bytes())
            .expect("an answer");
        let refusals: Vec<CallToolResult<'_>> = reply
            .calls
            .iter()
            .filter_map(|call| call.refusal())
            .collect();
        assert!(refusals.iter().all(|refusal| refusal.is_error) && refusals.len() == 2);
        assert!(
            refusals[0].content[0]
                .as_text()
                .is_some_and(|text| text.contains("no JSON"))
        );
        assert!(
            refusals[1].content[0]
                .as_text()
                .is_some_and(|text| text.contains("`unknown`"))
        );
        // What goes back is JSON: some providers refuse a conversation in which it is not.
        let neutral = mcp_std::host::adapters::Reply::new("", reply.calls.clone());
        let turns = [Turn::Model(neutral)];
        let request: Value = serde_json::from_str(
            tools
                .request("m", &Prompt::new(&turns, &tools), false)
                .as_str(),
        )
        .expect("JSON");
        let given = request
            .pointer("/messages/0/tool_calls/0/function/arguments")
            .or_else(|| request.pointer("/input/0/arguments"));
        let given: Value =
            serde_json::from_str(given.and_then(Value::as_str).expect("a text")).expect("JSON");
        assert_eq!(given, json!({"invalid_arguments": "{oops"}));
    }
}

fn result() -> CallToolResult<'static> {
    let unknown = RawJson::parse(br#"{"type": "hologram", "data": "QUJD"}"#).expect("JSON");
    CallToolResult::new([
        ContentBlock::text("one"),
        ContentBlock::image("aW1hZ2U=", "image/png"),
        ContentBlock::audio("c291bmQ=", "audio/wav"),
        ContentBlock::resource_link(Resource::new("file:///a.txt", "a.txt")),
        ContentBlock::resource(ResourceContents::text("note://1", "a note")),
        ContentBlock::resource(ResourceContents::blob("file:///b.bin", "YmxvYg==")),
        ContentBlock::decode(unknown).expect("a block").into_owned(),
    ])
    .structured(mcp_std::Json::from(json!({"n": 1})))
}

fn shown(provider: Provider, options: Options, results: &[CallResult]) -> Vec<Value> {
    let tools = Toolset::with(provider, &[], options);
    tools
        .results(results)
        .iter()
        .map(|message| serde_json::from_str(message.as_str()).expect("JSON"))
        .collect()
}

fn results(results: impl IntoIterator<Item = CallToolResult<'static>>) -> Vec<CallResult> {
    let tools = tools(Provider::Anthropic);
    let empty = RawJson::parse(b"{}").expect("JSON");
    results
        .into_iter()
        .enumerate()
        .map(|(at, result)| CallResult::new(&tools.call(format!("id{at}"), "t", empty), result))
        .collect()
}

#[test]
fn results_have_the_blocks_of_the_provider() {
    let all = results([result()]);
    let chat = shown(Provider::OpenAiChat, Options::default(), &all);
    assert_eq!(
        (&chat[0]["role"], &chat[0]["tool_call_id"]),
        (&json!("tool"), &json!("id0"))
    );
    let text = chat[0]["content"].as_str().expect("a text");
    assert!(text.starts_with("one\n[image/png, shown below]\n[audio/wav, shown below]\n[resource a.txt at file:///a.txt]\n[resource note://1]\na note\n"), "{text}");
    assert!(
        text.ends_with("`hologram`, not shown]\n{\"n\":1}"),
        "{text}"
    );
    let below: Vec<&Value> = chat[1]["content"]
        .as_array()
        .expect("parts")
        .iter()
        .map(|part| &part["type"])
        .collect();
    assert_eq!((chat.len(), &chat[1]["role"]), (2, &json!("user")));
    assert_eq!(below, ["text", "image_url", "input_audio"]);

    let responses = shown(Provider::OpenAiResponses, Options::default(), &all);
    assert_eq!(
        (&responses[0]["type"], &responses[0]["call_id"]),
        (&json!("function_call_output"), &json!("id0"))
    );
    assert_eq!(
        responses[0]["output"][1],
        json!({"type": "input_image", "image_url": "data:image/png;base64,aW1hZ2U="})
    );

    let anthropic = shown(Provider::Anthropic, Options::default(), &all);
    let block = &anthropic[0]["content"][0];
    assert_eq!(
        (&block["type"], &block["tool_use_id"]),
        (&json!("tool_result"), &json!("id0"))
    );
    assert_eq!(
        block["content"][1],
        json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aW1hZ2U="}})
    );
    assert_eq!(block.get("is_error"), None);

    let gemini = shown(Provider::Gemini, Options::default(), &all);
    let response = &gemini[0]["parts"][0]["functionResponse"];
    assert_eq!(
        (&response["name"], &response["id"]),
        (&json!("t"), &json!("id0"))
    );
    assert!(
        response["response"]["output"]
            .as_str()
            .is_some_and(|text| text.starts_with("one\n"))
    );
    assert_eq!(
        gemini[1]["parts"][1],
        json!({"inlineData": {"mimeType": "image/png", "data": "aW1hZ2U="}})
    );

    // Nothing in base64 is shown as text, and without media nothing of it at all.
    for provider in [
        Provider::OpenAiChat,
        Provider::OpenAiResponses,
        Provider::Anthropic,
        Provider::Gemini,
    ] {
        let plain = Value::from(shown(provider, Options::default().media(false), &all)).to_string();
        for data in ["aW1hZ2U", "c291bmQ", "YmxvYg", "QUJD"] {
            assert!(!plain.contains(data), "{provider:?}: {plain}");
        }
    }
}

#[test]
fn a_tool_that_failed_says_so_in_the_providers_way() {
    let failed = || CallToolResult::new([ContentBlock::text("no such file")]).failed(true);
    let all = results([failed(), CallToolResult::new([ContentBlock::text("fine")])]);
    let chat = shown(Provider::OpenAiChat, Options::default(), &all);
    assert_eq!(chat[0]["content"], "The tool failed:\nno such file");
    assert_eq!(chat[1]["content"], "fine");
    let responses = shown(Provider::OpenAiResponses, Options::default(), &all);
    assert_eq!(responses[0]["output"], "The tool failed:\nno such file");
    let anthropic = shown(Provider::Anthropic, Options::default(), &all);
    assert_eq!(anthropic.len(), 1, "all results are in one message");
    assert_eq!(anthropic[0]["content"][0]["is_error"], true);
    assert_eq!(anthropic[0]["content"][1].get("is_error"), None);
    let gemini = shown(Provider::Gemini, Options::default(), &all);
    assert_eq!(
        gemini[0]["parts"][0]["functionResponse"]["response"],
        json!({"error": "no such file"})
    );
    assert_eq!(
        gemini[0]["parts"][1]["functionResponse"]["response"],
        json!({"output": "fine"})
    );
}

#[test]
fn structured_content_is_not_told_twice() {
    let text = CallToolResult::new([ContentBlock::text("{ \"n\": 1 }")])
        .structured(mcp_std::Json::from(json!({"n": 1})));
    let anthropic = shown(Provider::Anthropic, Options::default(), &results([text]));
    assert_eq!(
        anthropic[0]["content"][0]["content"]
            .as_array()
            .map(Vec::len),
        Some(1)
    );
}

#[test]
fn calls_without_ids_are_told_apart_by_their_place() {
    let tools = tools(Provider::Gemini);
    let answer = json!({"candidates": [{"finishReason": "STOP", "content": {"parts": [
        {"functionCall": {"name": "t", "args": {"n": 1}}}, {"functionCall": {"name": "t", "args": {"n": 2}}}]}}]});
    let reply = tools
        .read(answer.to_string().as_bytes())
        .expect("an answer");
    assert_ne!(reply.calls[0].id, reply.calls[1].id);
    let results: Vec<CallResult> = reply
        .calls
        .iter()
        .zip(["first", "second"])
        .map(|(call, text)| CallResult::new(call, CallToolResult::new([ContentBlock::text(text)])))
        .collect();
    let message: Value = serde_json::from_str(tools.results(&results)[0].as_str()).expect("JSON");
    assert_eq!(
        message["parts"],
        json!([
        {"functionResponse": {"name": "t", "response": {"output": "first"}}},
        {"functionResponse": {"name": "t", "response": {"output": "second"}}}])
    );
}
