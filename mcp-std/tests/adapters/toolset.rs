//! Names, as each provider takes them, and back.

use std::collections::HashSet;

use mcp_std::host::ToolDefinition;
use mcp_std::host::adapters::{Options, Provider, Toolset};
use serde_json::{Value, json};

use crate::corpus::tools;

const PROVIDERS: [Provider; 4] = [
    Provider::OpenAiChat,
    Provider::OpenAiResponses,
    Provider::Anthropic,
    Provider::Gemini,
];

/// An answer that asks for a call of this tool.
fn answer(provider: Provider, name: &str) -> Value {
    match provider {
        Provider::OpenAiChat => json!({"choices": [{"message": {"tool_calls": [
            {"id": "c1", "function": {"name": name, "arguments": "{}"}}]}, "finish_reason": "tool_calls"}]}),
        Provider::OpenAiResponses => json!({"output": [
            {"type": "function_call", "call_id": "c1", "name": name, "arguments": ""}], "status": "completed"}),
        Provider::Anthropic => json!({"content": [
            {"type": "tool_use", "id": "c1", "name": name, "input": {}}], "stop_reason": "tool_use"}),
        Provider::Gemini => json!({"candidates": [{"content": {"parts": [
            {"functionCall": {"name": name, "args": {}}}]}, "finishReason": "STOP"}]}),
        _ => panic!("a provider without an answer"),
    }
}

#[test]
fn every_tool_is_called_by_its_own_name() {
    let mut definitions: Vec<ToolDefinition> =
        tools().iter().map(|tool| tool.definition()).collect();
    let odd = [
        "",
        "1st",
        "-x",
        "näme",
        "a.b",
        "a b",
        &"x".repeat(65),
        &"x".repeat(66),
        "a/b",
    ];
    definitions.extend(odd.map(|name| ToolDefinition::new(name, None, json!({"type": "object"}))));
    for provider in PROVIDERS {
        for strict in [false, true] {
            let tools = Toolset::with(provider, &definitions, Options::default().strict(strict));
            assert_eq!(tools.refused(), []);
            let mut seen = HashSet::new();
            for tool in &definitions {
                let given = tools.given_name(&tool.name).expect("it is in the set");
                let allowed =
                    |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
                assert!(
                    (1..=64).contains(&given.len()) && given.bytes().all(allowed),
                    "{given}"
                );
                let first = given.as_bytes()[0];
                assert!(
                    provider != Provider::Gemini || first.is_ascii_alphabetic() || first == b'_',
                    "{given}"
                );
                assert!(seen.insert(given.to_owned()), "{given} twice");
                let reply = tools
                    .read(answer(provider, given).to_string().as_bytes())
                    .expect("an answer");
                assert_eq!(reply.calls[0].name, tool.name);
                assert!(reply.calls[0].is_known && reply.calls[0].refusal().is_none());
            }
            let again = Toolset::with(provider, &definitions, Options::default().strict(strict));
            assert_eq!(tools.definitions(), again.definitions(), "names are stable");
        }
    }
}

#[test]
fn definitions_have_the_providers_form() {
    let tool = ToolDefinition::new("t", Some(&"d".repeat(2000)), json!({"type": "object"}));
    let form = |provider| {
        let tools = Toolset::new(provider, core::slice::from_ref(&tool));
        serde_json::from_str::<Value>(tools.definitions().as_str()).expect("JSON")
    };
    let schema = json!({"type": "object", "properties": {}});
    let chat = form(Provider::OpenAiChat);
    assert_eq!(chat[0]["type"], "function");
    assert_eq!(chat[0]["function"]["parameters"], schema);
    assert_eq!(
        chat[0]["function"]["description"].as_str().map(str::len),
        Some(1024)
    );
    let responses = form(Provider::OpenAiResponses);
    assert_eq!(
        (
            &responses[0]["type"],
            &responses[0]["name"],
            &responses[0]["parameters"]
        ),
        (&json!("function"), &json!("t"), &schema)
    );
    let anthropic = form(Provider::Anthropic);
    assert_eq!(anthropic[0]["input_schema"], schema);
    assert_eq!(
        anthropic[0]["description"].as_str().map(str::len),
        Some(2000)
    );
    let gemini = form(Provider::Gemini);
    assert_eq!(gemini[0]["functionDeclarations"][0]["parameters"], schema);
}

#[test]
fn a_schema_that_cannot_be_used_costs_its_own_tool_only() {
    let bad = [
        json!({"$ref": "http://127.0.0.1:1/s.json"}),
        json!({"type": "object", "properties": {"a": {"$ref": "file:///etc/hosts"}}}),
        json!({"type": "object", "properties": {"a": {"$dynamicRef": "#x"}}}),
        json!({"type": "object", "$schema": "https://example.com/dialect"}),
        json!({"type": "string"}),
        json!(false),
    ];
    let mut definitions: Vec<ToolDefinition> = bad
        .iter()
        .enumerate()
        .map(|(at, schema)| ToolDefinition::new(format!("bad{at}"), None, schema.clone()))
        .collect();
    let good = json!({"$ref": "#/$defs/a", "$defs": {"a": {"type": "object"}}});
    definitions.push(ToolDefinition::new("good", None, good));
    for provider in PROVIDERS {
        let tools = Toolset::new(provider, &definitions);
        let refused: Vec<&str> = tools
            .refused()
            .iter()
            .map(|refused| refused.name.as_str())
            .collect();
        assert_eq!(refused, ["bad0", "bad1", "bad2", "bad3", "bad4", "bad5"]);
        assert!(tools.given_name("good").is_some() && tools.given_name("bad0").is_none());
    }
}
