//! Answers of each provider, as a whole and in events: the same reply, however they are cut.

use mcp_std::host::ToolDefinition;
use mcp_std::host::adapters::{
    Arguments, Delta, Options, Prompt, Provider, Reply, ReplyFault, Stop, Toolset, Turn,
};
use mcp_std::host::model::{ApiKey, HttpModel, HttpModelBuilder, Model, ModelError};
use serde_json::{Value, json};

use crate::provider::{Canned, FakeProvider};

fn weather() -> ToolDefinition {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}, "required": ["city"]});
    ToolDefinition::new("weather__forecast", Some("Tomorrow's weather"), schema)
}

fn events(lines: &[Value]) -> String {
    let event = |line: &Value| match line["type"].as_str() {
        Some(kind) => format!("event: {kind}\ndata: {line}\n\n"),
        None => format!("data: {line}\n\n"),
    };
    lines.iter().map(event).collect()
}

/// A text and two calls, as a whole.
fn whole(provider: Provider) -> Value {
    let (one, two) = (
        json!({"city": "Tromsø"}),
        json!({"city": "Oslo", "days": 3}),
    );
    match provider {
        Provider::OpenAiChat => {
            json!({"id": "x", "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {
            "role": "assistant", "content": "Let me see 🌦.", "tool_calls": [
                {"id": "call_1", "type": "function", "function": {"name": "weather__forecast", "arguments": one.to_string()}},
                {"id": "call_2", "type": "function", "function": {"name": "weather__forecast", "arguments": two.to_string()}}]}}],
            "usage": {"prompt_tokens": 20, "completion_tokens": 10, "total_tokens": 30}})
        }
        Provider::OpenAiResponses => {
            json!({"id": "resp_1", "status": "completed", "error": null, "incomplete_details": null, "output": [
            {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "secret"},
            {"type": "message", "id": "msg_1", "role": "assistant", "content": [{"type": "output_text", "text": "Let me see 🌦.", "annotations": []}]},
            {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "weather__forecast", "arguments": one.to_string()},
            {"type": "function_call", "id": "fc_2", "call_id": "call_2", "name": "weather__forecast", "arguments": two.to_string()}],
            "usage": {"input_tokens": 20, "output_tokens": 10}})
        }
        Provider::Anthropic => {
            json!({"type": "message", "role": "assistant", "stop_reason": "tool_use", "content": [
            {"type": "thinking", "thinking": "Rain?", "signature": "sig=="},
            {"type": "text", "text": "Let me see 🌦."},
            {"type": "tool_use", "id": "call_1", "name": "weather__forecast", "input": one},
            {"type": "tool_use", "id": "call_2", "name": "weather__forecast", "input": two}],
            "usage": {"input_tokens": 5, "cache_creation_input_tokens": 7, "cache_read_input_tokens": 8, "output_tokens": 10}})
        }
        Provider::Gemini => {
            json!({"candidates": [{"finishReason": "STOP", "content": {"role": "model", "parts": [
            {"text": "Rain?", "thought": true},
            {"text": "Let me see 🌦."},
            {"functionCall": {"id": "call_1", "name": "weather__forecast", "args": one}, "thoughtSignature": "sig=="},
            {"functionCall": {"id": "call_2", "name": "weather__forecast", "args": two}}]}}],
            "usageMetadata": {"promptTokenCount": 20, "candidatesTokenCount": 8, "thoughtsTokenCount": 2}})
        }
        _ => panic!("a provider without an answer"),
    }
}

/// The same in events.
fn streamed(provider: Provider) -> String {
    match provider {
        Provider::OpenAiChat => {
            let delta = |delta: Value| json!({"choices": [{"index": 0, "delta": delta, "finish_reason": null}]});
            let lines = [
                delta(json!({"role": "assistant", "content": ""})),
                delta(json!({"content": "Let me "})),
                delta(json!({"content": "see 🌦."})),
                delta(
                    json!({"tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": {"name": "weather__forecast", "arguments": ""}}]}),
                ),
                delta(
                    json!({"tool_calls": [{"index": 0, "function": {"arguments": "{\"city\":\"Tro"}}]}),
                ),
                delta(json!({"tool_calls": [{"index": 0, "function": {"arguments": "msø\"}"}}]})),
                delta(
                    json!({"tool_calls": [{"index": 1, "id": "call_2", "type": "function", "function": {"name": "weather__forecast", "arguments": "{\"city\":\"Oslo\",\"days\":3}"}}]}),
                ),
                json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}),
                json!({"choices": [], "usage": {"prompt_tokens": 20, "completion_tokens": 10}}),
            ];
            format!(": keep-alive\n\n{}data: [DONE]\n\n", events(&lines))
        }
        Provider::OpenAiResponses => {
            let whole = whole(provider);
            let mut lines = vec![
                json!({"type": "response.created", "response": {"id": "resp_1", "status": "in_progress", "output": []}}),
                json!({"type": "response.output_text.delta", "delta": "Let me "}),
                json!({"type": "response.output_text.delta", "delta": "see 🌦."}),
            ];
            for item in whole["output"].as_array().expect("items") {
                lines.push(json!({"type": "response.output_item.added", "item": item}));
                lines.push(json!({"type": "response.output_item.done", "item": item}));
            }
            lines.push(json!({"type": "response.completed", "response": whole}));
            events(&lines)
        }
        Provider::Anthropic => events(&[
            json!({"type": "message_start", "message": {"usage": {"input_tokens": 5, "cache_creation_input_tokens": 7, "cache_read_input_tokens": 8, "output_tokens": 1}}}),
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": "", "signature": ""}}),
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "Rain?"}}),
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "sig=="}}),
            json!({"type": "content_block_stop", "index": 0}),
            json!({"type": "ping"}),
            json!({"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}}),
            json!({"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "Let me "}}),
            json!({"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "see 🌦."}}),
            json!({"type": "content_block_stop", "index": 1}),
            json!({"type": "content_block_start", "index": 2, "content_block": {"type": "tool_use", "id": "call_1", "name": "weather__forecast", "input": {}}}),
            json!({"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": ""}}),
            json!({"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": "{\"city\":\"Tro"}}),
            json!({"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": "msø\"}"}}),
            json!({"type": "content_block_stop", "index": 2}),
            json!({"type": "content_block_start", "index": 3, "content_block": {"type": "tool_use", "id": "call_2", "name": "weather__forecast", "input": {}}}),
            json!({"type": "content_block_delta", "index": 3, "delta": {"type": "input_json_delta", "partial_json": "{\"city\":\"Oslo\",\"days\":3}"}}),
            json!({"type": "content_block_stop", "index": 3}),
            json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 10}}),
            json!({"type": "message_stop"}),
        ]),
        Provider::Gemini => {
            let whole = whole(provider);
            let parts = whole["candidates"][0]["content"]["parts"]
                .as_array()
                .expect("parts");
            let mut lines: Vec<Value> = parts
                .iter()
                .map(
                    |part| json!({"candidates": [{"content": {"role": "model", "parts": [part]}}]}),
                )
                .collect();
            lines.push(json!({"candidates": [{"content": {"role": "model", "parts": []}, "finishReason": "STOP"}], "usageMetadata": whole["usageMetadata"]}));
            events(&lines)
        }
        _ => panic!("a provider without an answer"),
    }
}

fn model(provider: Provider, url: &str) -> HttpModelBuilder {
    let model = match provider {
        Provider::OpenAiChat => HttpModel::openai("m-1"),
        Provider::OpenAiResponses => HttpModel::openai_responses("m-1"),
        Provider::Anthropic => HttpModel::anthropic("m-1"),
        Provider::Gemini => HttpModel::gemini("m-1"),
        _ => panic!("a provider without a model"),
    };
    model.base_url(url).api_key(ApiKey::new("sk-secret-key"))
}

const PROVIDERS: [Provider; 4] = [
    Provider::OpenAiChat,
    Provider::OpenAiResponses,
    Provider::Anthropic,
    Provider::Gemini,
];

fn ask(model: &HttpModel, tools: &Toolset, turns: &[Turn]) -> (Result<Reply, ModelError>, String) {
    let mut said = String::new();
    let mut each = |delta: Delta| {
        if let Delta::Text(text) = delta {
            said.push_str(&text);
        }
    };
    let reply = smol::block_on(model.reply(
        Prompt::new(turns, tools).system(Some("Be brief.")),
        &mut each,
    ));
    (reply, said)
}

fn is_right(reply: &Reply, provider: Provider) {
    assert_eq!(reply.text, "Let me see 🌦.", "{provider:?}");
    assert_eq!(reply.stop, Stop::Calls, "{provider:?}");
    assert_eq!(
        (reply.usage.input, reply.usage.output),
        (20, 10),
        "{provider:?}"
    );
    let calls: Vec<(&str, &str, &str)> = reply
        .calls
        .iter()
        .map(|call| {
            let Arguments::Object(arguments) = &call.arguments else {
                panic!("{provider:?}: {:?}", call.arguments);
            };
            (&*call.id, &*call.name, arguments.as_str())
        })
        .collect();
    assert_eq!(
        calls,
        [
            ("call_1", "weather__forecast", r#"{"city":"Tromsø"}"#),
            ("call_2", "weather__forecast", r#"{"city":"Oslo","days":3}"#),
        ],
        "{provider:?}"
    );
}

#[test]
fn an_answer_is_the_same_as_a_whole_and_in_events() {
    for provider in PROVIDERS {
        let fake = FakeProvider::new(vec![
            Canned::json(&whole(provider).to_string()),
            Canned::events(&streamed(provider)),
            // Pieces were asked for, and it came as a whole.
            Canned::json(&whole(provider).to_string()),
        ]);
        let tools = Toolset::new(provider, &[weather()]);
        let turns = [Turn::user("The weather?")];
        let plain = model(provider, &fake.url)
            .stream(false)
            .build()
            .expect("a model");
        let piecewise = model(provider, &fake.url).build().expect("a model");
        let mut replies = Vec::new();
        for model in [&plain, &piecewise, &piecewise] {
            let (reply, said) = ask(model, &tools, &turns);
            let reply = reply.expect("an answer");
            is_right(&reply, provider);
            assert_eq!(said, reply.text, "{provider:?}");
            replies.push(reply);
        }
        // What goes back to the provider is the same, signed thoughts included.
        let back = |reply: &Reply| {
            let turns = [turns[0].clone(), Turn::Model(reply.clone())];
            tools.request("m-1", &Prompt::new(&turns, &tools), false)
        };
        assert_eq!(back(&replies[0]), back(&replies[1]), "{provider:?}");
        assert!(
            provider == Provider::OpenAiChat
                || back(&replies[0]).as_str().contains("sig==")
                || back(&replies[0]).as_str().contains("encrypted_content")
        );

        let asked = fake.asked();
        let (target, key) = match provider {
            Provider::OpenAiChat => ("/chat/completions", "authorization: bearer sk-secret-key"),
            Provider::OpenAiResponses => ("/responses", "authorization: bearer sk-secret-key"),
            Provider::Anthropic => ("/v1/messages", "x-api-key: sk-secret-key"),
            Provider::Gemini | _ => (
                "/models/m-1:generateContent",
                "x-goog-api-key: sk-secret-key",
            ),
        };
        assert_eq!(asked[0].target, target);
        assert!(asked[0].head.contains(key), "{}", asked[0].head);
        assert!(
            asked[1].body["stream"] == true
                || asked[1].target.ends_with(":streamGenerateContent?alt=sse")
        );
        assert!(
            asked[0].body.to_string().contains("Be brief.")
                && asked[0].body.to_string().contains("weather__forecast")
        );
    }
}

#[test]
fn events_may_be_cut_anywhere() {
    for provider in [Provider::OpenAiChat, Provider::Anthropic] {
        let body = streamed(provider);
        let cuts: Vec<Canned> = (1..body.len())
            .map(|cut| Canned {
                cut: Some(cut),
                ..Canned::events(&body)
            })
            .collect();
        let count = cuts.len();
        let fake = FakeProvider::new(cuts);
        let tools = Toolset::new(provider, &[weather()]);
        let model = model(provider, &fake.url).build().expect("a model");
        for _ in 0..count {
            let (reply, said) = ask(&model, &tools, &[Turn::user("The weather?")]);
            is_right(&reply.expect("an answer"), provider);
            assert_eq!(said, "Let me see 🌦.");
        }
    }
}

#[test]
fn an_answer_that_breaks_off_is_none() {
    for provider in PROVIDERS {
        let body = streamed(provider);
        let half = &body[..body.len() / 2];
        let half = &half[..half.rfind("\n\n").expect("an event") + 2];
        let fake = FakeProvider::new(vec![Canned::events(half), Canned::events(&body)]);
        let tools = Toolset::new(provider, &[weather()]);
        let model = model(provider, &fake.url).build().expect("a model");
        let (reply, _) = ask(&model, &tools, &[Turn::user("The weather?")]);
        assert_eq!(
            reply.expect_err("half of it"),
            ModelError::Reply(ReplyFault::Cut),
            "{provider:?}"
        );
        assert_eq!(
            fake.asked().len(),
            1,
            "an answer that has begun is not asked for again"
        );
    }
}

#[test]
fn a_busy_provider_is_asked_again() {
    for provider in PROVIDERS {
        let fake = FakeProvider::new(vec![
            Canned::error(
                429,
                "Retry-After: 0\r\n",
                r#"{"error": {"message": "slow down"}}"#,
            ),
            Canned::error(503, "retry-after-ms: 1\r\n", "busy"),
            Canned::json(&whole(provider).to_string()),
        ]);
        let tools = Toolset::new(provider, &[weather()]);
        let model = model(provider, &fake.url).build().expect("a model");
        let (reply, _) = ask(&model, &tools, &[Turn::user("The weather?")]);
        is_right(&reply.expect("an answer at last"), provider);
        assert_eq!(fake.asked().len(), 3);
    }
}

#[test]
fn retries_are_bounded() {
    let later = Canned::error(429, "Retry-After: 3600\r\n", "{}");
    let fake = FakeProvider::new(vec![
        later.clone(),
        Canned::error(
            400,
            "",
            r#"{"error": {"type": "invalid_request_error", "message": "no"}}"#,
        ),
        Canned::error(500, "Retry-After: 0\r\n", "{}"),
        Canned::error(500, "Retry-After: 0\r\n", "{}"),
        Canned::error(500, "Retry-After: 0\r\n", "{}"),
    ]);
    let tools = Toolset::new(Provider::Anthropic, &[]);
    let model = model(Provider::Anthropic, &fake.url)
        .build()
        .expect("a model");
    let mut statuses = Vec::new();
    for asked in [1, 2, 5] {
        let (reply, _) = ask(&model, &tools, &[Turn::user("?")]);
        let Err(ModelError::Status { status, .. }) = reply else {
            panic!("{reply:?}");
        };
        statuses.push(status);
        assert_eq!(
            fake.asked().len(),
            asked,
            "a long pause and a wrong request are not tried again"
        );
    }
    assert_eq!(statuses, [429, 400, 500]);
}

#[test]
fn keys_are_neither_shown_nor_sent_in_the_clear() {
    let fake = FakeProvider::new(vec![Canned::error(
        401,
        "",
        r#"{"error": {"message": "Incorrect API key: sk-secret-key"}}"#,
    )]);
    let tools = Toolset::new(Provider::OpenAiChat, &[]);
    let built = model(Provider::OpenAiChat, &fake.url)
        .build()
        .expect("a model");
    let (reply, _) = ask(&built, &tools, &[Turn::user("?")]);
    let error = reply.expect_err("a wrong key");
    assert!(
        !error.to_string().contains("secret") && !format!("{error:?}").contains("secret"),
        "{error}"
    );
    assert!(!format!("{built:?}").contains("secret"));
    assert!(!format!("{:?}", model(Provider::OpenAiChat, &fake.url)).contains("secret"));
    let plain = model(Provider::OpenAiChat, "http://models.example/v1");
    assert!(matches!(plain.clone().build(), Err(ModelError::Config(_))));
    assert!(plain.plain_http(true).build().is_ok());
}

#[test]
fn an_error_in_the_stream_is_the_providers() {
    let error = "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n";
    let fake = FakeProvider::new(vec![Canned::events(error)]);
    let tools = Toolset::new(Provider::Anthropic, &[]);
    let model = model(Provider::Anthropic, &fake.url)
        .build()
        .expect("a model");
    let (reply, _) = ask(&model, &tools, &[Turn::user("?")]);
    assert_eq!(
        reply.expect_err("an error").to_string(),
        "the provider refused: Overloaded (overloaded_error)"
    );
}

#[test]
fn thoughts_are_given_back_but_those_that_led_to_nothing() {
    let tools = Toolset::new(Provider::OpenAiResponses, &[weather()]);
    let given_back = |answer: &Value| {
        let reply = tools
            .read(answer.to_string().as_bytes())
            .expect("an answer");
        let turns = [Turn::user("?"), Turn::Model(reply), Turn::user("Go on.")];
        let request = tools.request("m", &Prompt::new(&turns, &tools), true);
        let request: Value = serde_json::from_str(request.as_str()).expect("JSON");
        let input = request["input"].as_array().expect("a list").iter();
        let kinds = input.map(|item| item["type"].as_str().unwrap_or("-").to_owned());
        kinds.collect::<Vec<_>>()
    };
    let all = [
        "-",
        "reasoning",
        "message",
        "function_call",
        "function_call",
        "-",
    ];
    assert_eq!(given_back(&whole(Provider::OpenAiResponses)), all);
    let thought = json!({"type": "reasoning", "id": "rs_1", "summary": []});
    let cut = json!({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}, "output": [thought]});
    assert_eq!(given_back(&cut), ["-", "-"], "it would be refused");
}

#[test]
fn what_keeps_nothing_gets_thoughts_that_are_encrypted() {
    let options = Options::default().stateless(true);
    for provider in PROVIDERS {
        let tools = Toolset::with(provider, &[weather()], options);
        let turns = [Turn::user("?")];
        let request = tools.request("m", &Prompt::new(&turns, &tools), false);
        let request: Value = serde_json::from_str(request.as_str()).expect("JSON");
        let is_it = provider == Provider::OpenAiResponses;
        assert_eq!(request.get("store"), is_it.then_some(&json!(false)));
        let include = json!(["reasoning.encrypted_content"]);
        assert_eq!(request.get("include"), is_it.then_some(&include));
    }
}

#[test]
fn a_base_url_keeps_its_query() {
    for (provider, target) in [
        (
            Provider::OpenAiChat,
            "/at/chat/completions?api-version=1&x=2",
        ),
        (Provider::OpenAiResponses, "/at/responses?api-version=1&x=2"),
        (Provider::Anthropic, "/at/v1/messages?api-version=1&x=2"),
        (
            Provider::Gemini,
            "/at/models/m-1:streamGenerateContent?api-version=1&x=2&alt=sse",
        ),
    ] {
        let fake = FakeProvider::new(vec![Canned::json(&whole(provider).to_string())]);
        let tools = Toolset::new(provider, &[weather()]);
        let model = model(provider, &format!("{}/at/?api-version=1&x=2", fake.url));
        let model = model.key_header("api-key").build().expect("a model");
        let (reply, _) = ask(&model, &tools, &[Turn::user("?")]);
        is_right(&reply.expect("an answer"), provider);
        let asked = &fake.asked()[0];
        assert_eq!(asked.target, target);
        assert!(asked.head.contains("api-key: ") && !asked.head.contains("authorization"));
    }
}

fn anthropic_stream(lines: &[Value]) -> Reply {
    let tools = Toolset::new(Provider::Anthropic, &[weather()]);
    let mut stream = tools.stream();
    for line in lines {
        stream.event(line.to_string().as_bytes()).expect("an event");
    }
    stream.finish().expect("it is whole")
}

#[test]
fn streamed_arguments_that_are_no_object_are_not_called_with() {
    for (given, invalid) in [
        ("[1]", true),
        ("42", true),
        ("\"text\"", true),
        ("{oops", true),
        ("{\"a\": 1, \"a\": 2}", true),
        ("null", false),
        ("{\"city\": \"Oslo\"}", false),
    ] {
        let reply = anthropic_stream(&[
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "c", "name": "weather__forecast", "input": {}}}),
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": given}}),
            json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}),
            json!({"type": "message_stop"}),
        ]);
        let call = &reply.calls[0];
        assert_eq!(
            matches!(call.arguments, Arguments::Invalid { .. }),
            invalid,
            "{given}: {call:?}"
        );
        assert_eq!(call.refusal().is_some(), invalid);
    }
}

#[test]
fn what_is_added_to_a_block_that_began_empty_is_not_lost() {
    let reply = anthropic_stream(&[
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text"}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Let me see."}}),
        json!({"type": "content_block_start", "index": 1, "content_block": {"type": "thinking"}}),
        json!({"type": "content_block_delta", "index": 1, "delta": {"type": "thinking_delta", "thinking": "Rain?"}}),
        json!({"type": "content_block_delta", "index": 1, "delta": {"type": "signature_delta", "signature": "sig=="}}),
        json!({"type": "content_block_start", "index": 2, "content_block": {"type": "tool_use", "id": "c", "name": "weather__forecast"}}),
        json!({"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": "{\"city\": \"Oslo\"}"}}),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}),
        json!({"type": "message_stop"}),
    ]);
    assert_eq!(reply.text, "Let me see.");
    let Arguments::Object(arguments) = &reply.calls[0].arguments else {
        panic!("{:?}", reply.calls);
    };
    assert_eq!(arguments.as_str(), r#"{"city": "Oslo"}"#);
    // The provider wants its blocks back as they were.
    let tools = Toolset::new(Provider::Anthropic, &[weather()]);
    let turns = [Turn::Model(reply)];
    let again = tools.request("m", &Prompt::new(&turns, &tools), false);
    assert!(again.as_str().contains("Rain?"), "{}", again.as_str());
}
