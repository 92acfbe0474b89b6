//! `mcp host chat`, with models of both interfaces and a real server.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::program::{MCP, Ran};
use crate::provider::{Canned, Provider};

/// A configuration with one server, for as long as this is there.
pub(crate) struct Config(PathBuf);

impl Config {
    pub(crate) fn new(name: &str) -> Self {
        let path =
            std::env::temp_dir().join(format!("mcp-chat-{name}-{}.json", std::process::id()));
        let config = json!({"mcpServers": {"small": {"command": MCP, "args": ["serve"]}}});
        fs::write(&path, config.to_string()).expect("it can be written");
        Self(path)
    }

    /// `mcp host chat`, with a key in the environment.
    pub(crate) fn chat(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(MCP);
        command.args(["host", "--config"]).arg(&self.0).arg("chat");
        command.args(["--model", "test-1", "--key-env", "TEST_KEY"]);
        command.args(arguments).env("TEST_KEY", "sk-of-the-test");
        command.env_remove("COLUMNS").stdin(Stdio::null());
        command
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        Ran::of(self.chat(arguments).output().expect("it runs"))
    }
}

impl Drop for Config {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// A text, in two pieces.
pub(crate) fn says(text: &str) -> Canned {
    let (one, two) = text.split_at(text.len() / 2);
    Canned::openai(&[
        json!({"choices": [{"index": 0, "delta": {"role": "assistant", "content": one}}]}),
        json!({"choices": [{"index": 0, "delta": {"content": two}}]}),
        json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}),
    ])
}

/// Calls of these tools, their arguments in two pieces.
pub(crate) fn calls(calls: &[(&str, Value)]) -> Canned {
    let mut chunks = vec![
        json!({"choices": [{"index": 0, "delta": {"role": "assistant", "content": "Let me see."}}]}),
    ];
    for (index, (name, arguments)) in calls.iter().enumerate() {
        let text = arguments.to_string();
        let (one, two) = text.split_at(text.len() / 2);
        let id = format!("call_{index}");
        chunks.push(json!({"choices": [{"index": 0, "delta": {"tool_calls": [
            {"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": one}}]}}]}));
        chunks.push(json!({"choices": [{"index": 0, "delta": {"tool_calls": [
            {"index": index, "function": {"arguments": two}}]}}]}));
    }
    chunks.push(json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}));
    Canned::openai(&chunks)
}

#[test]
fn an_answer_streams_and_two_tools_are_called_at_once() {
    let config = Config::new("openai");
    let provider = Provider::new(vec![
        calls(&[
            ("small__echo", json!({"text": "grüße"})),
            ("small__add", json!({"a": 2, "b": 40})),
        ]),
        says("It is 42 \u{1b}[31mnow."),
    ]);
    let base = format!("{}/v1?api-version=1", provider.url);
    let ran = config.run(&[
        "What is it?",
        "--base-url",
        &base,
        "--system",
        "Be brief.",
        "--approve",
        "small__*",
    ]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    // What a terminal would obey does not come through.
    assert_eq!(ran.stdout, "Let me see.\nIt is 42 \u{fffd}[31mnow.\n");
    for shown in [
        "-> small__echo {\"text\":\"grüße\"}",
        "-> small__add {\"a\":2,\"b\":40}",
        "<- small__add done in ",
    ] {
        assert!(ran.stderr.contains(shown), "{shown}: {}", ran.stderr);
    }
    let both = ran.stderr.find("-> small__add").expect("it is shown");
    assert!(
        both < ran.stderr.find("<- ").expect("a result"),
        "both are under way"
    );
    let asked = provider.asked();
    assert_eq!(asked.len(), 2);
    assert_eq!(asked[0].target, "/v1/chat/completions?api-version=1");
    assert!(
        asked[0]
            .head
            .contains("authorization: bearer sk-of-the-test")
    );
    assert_eq!(asked[0].body["stream"], true);
    assert_eq!(asked[0].body["messages"][0]["content"], "Be brief.");
    let results: Vec<_> = asked[1].body["messages"]
        .as_array()
        .expect("a list")
        .iter()
        .filter(|message| message["role"] == "tool")
        .collect();
    assert_eq!(results.len(), 2);
    assert!(
        results[0]["content"]
            .as_str()
            .expect("a text")
            .contains("\ngrüße\n")
    );
    assert!(
        results[1]["content"]
            .as_str()
            .expect("a text")
            .contains("42")
    );
}

#[test]
fn nothing_is_called_that_nobody_approves_of() {
    let config = Config::new("denied");
    let begin =
        |block: Value| json!({"type": "content_block_start", "index": 0, "content_block": block});
    let stop = |reason: &str| json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 3}});
    let provider = Provider::new(vec![
        Canned::anthropic(&[
            json!({"type": "message_start", "message": {"usage": {"input_tokens": 5}}}),
            begin(json!({"type": "tool_use", "id": "toolu_1", "name": "small__echo", "input": {}})),
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": "{\"text\":\"x\"}"}}),
            stop("tool_use"),
            json!({"type": "message_stop"}),
        ]),
        Canned::anthropic(&[
            json!({"type": "message_start", "message": {"usage": {"input_tokens": 9}}}),
            begin(json!({"type": "text", "text": ""})),
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "I may not."}}),
            stop("end_turn"),
            json!({"type": "message_stop"}),
        ]),
    ]);
    let mut chat = config.chat(&[
        "--provider",
        "anthropic",
        "--base-url",
        &provider.url,
        "--json",
    ]);
    chat.stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut chat = chat.spawn().expect("it runs");
    let mut prompt = chat.stdin.take().expect("a pipe");
    prompt.write_all(b"Say x.\n").expect("it reads");
    drop(prompt);
    let ran = Ran::of(chat.wait_with_output().expect("it ends"));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let expected = json!({"text": "I may not.", "finish": "answered", "rounds": 2, "usage": {"input": 14, "output": 6}});
    assert_eq!(ran.json(), expected);
    assert!(
        ran.stderr.contains("`--approve small__echo` allows it"),
        "{}",
        ran.stderr
    );
    let asked = provider.asked();
    assert_eq!(asked[0].target, "/v1/messages");
    assert!(asked[0].head.contains("x-api-key: sk-of-the-test"));
    assert_eq!(
        asked[0].body["messages"][0]["content"][0]["text"],
        "Say x.\n"
    );
    let result = &asked[1].body["messages"][2]["content"][0];
    assert_eq!(result["tool_use_id"], "toolu_1");
    assert!(
        result["content"].to_string().contains("not approved"),
        "{result}"
    );
    assert!(
        !result["content"].to_string().contains("untrusted"),
        "no server has said anything: {result}"
    );
}

#[test]
fn what_the_provider_refuses_is_said_and_is_no_answer() {
    let config = Config::new("errors");
    let provider = Provider::new(vec![Canned::Error(
        401,
        json!({"error": {"message": "Incorrect API key: sk-of-the-test"}}).to_string(),
    )]);
    let ran = config.run(&[
        "Hello",
        "--base-url",
        &provider.url,
        "--key-header",
        "api-key",
    ]);
    assert_eq!((ran.code, &*ran.stdout), (Some(3), ""), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("401: Incorrect API key: (the key)"),
        "{}",
        ran.stderr
    );
    assert!(!ran.stderr.contains("sk-of"), "{}", ran.stderr);
    assert!(provider.asked()[0].head.contains("api-key: sk-of-the-test"));
    assert!(!provider.asked()[0].head.contains("authorization"));
    // In the middle of an answer: what came is shown, and it is no answer.
    let half = json!({"choices": [{"index": 0, "delta": {"content": "Half"}}]});
    let error = json!({"error": {"message": "overloaded", "type": "server_error"}});
    let provider = Provider::new(vec![Canned::openai(&[half, error])]);
    let ran = config.run(&["Hello", "--base-url", &provider.url]);
    assert_eq!(
        (ran.code, &*ran.stdout),
        (Some(3), "Half\n"),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.contains("overloaded"), "{}", ran.stderr);
}

#[test]
fn what_cannot_be_asked_is_wrong_usage() {
    let config = Config::new("usage");
    let no_key = config.chat(&["Hello", "--key-env", "NO_SUCH_KEY"]).output();
    let ran = Ran::of(no_key.expect("it runs"));
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    let ran = config.run(&["--base-url", "http://127.0.0.1:1"]);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("there is no prompt"), "{}", ran.stderr);
}

#[test]
fn an_answer_that_is_cut_is_told_by_the_exit_status() {
    let config = Config::new("rounds");
    let again = || calls(&[("small__echo", json!({"text": "x"}))]);
    let provider = Provider::new(vec![again(), again(), again()]);
    let ran = config.run(&[
        "Go",
        "--base-url",
        &provider.url,
        "--max-rounds",
        "2",
        "--approve",
        "*",
    ]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("`--max-rounds` allows more"),
        "{}",
        ran.stderr
    );
    assert_eq!(provider.asked().len(), 2);
}
