//! The agent: rounds, parallel calls, snapshots, and how runs end.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use mcp_std::ContentBlock;
use mcp_std::client::Canceller;
use mcp_std::host::adapters::{Arguments, Provider, ToolCall, Turn, Usage};
use mcp_std::host::model::{Answer, ApiKey, HttpModel, ModelError, ScriptedModel};
use mcp_std::host::{Agent, AgentError, AgentEvent, Finish, ToolDefinition, Tools, ToolsError};
use mcp_std::model::CallToolResult;
use serde_json::{Value, json};

use crate::provider::{Canned, FakeProvider};

/// `wait` waits for so many milliseconds, `fail` fails, `broken` cannot be called, `grow` adds a tool, `late0` and so on are the
/// tools that were added.
#[derive(Clone, Default)]
struct Workshop {
    grown: Arc<AtomicUsize>,
    running: Arc<AtomicUsize>,
    most: Arc<AtomicUsize>,
}

impl Tools for Workshop {
    type Snapshot = usize;

    fn snapshot(&self) -> usize {
        self.grown.load(Ordering::SeqCst)
    }

    fn definitions(&self, snapshot: &usize) -> Vec<ToolDefinition> {
        let any = json!({"type": "object"});
        let wait = json!({"type": "object", "properties": {"ms": {"type": "integer"}}, "required": ["ms"]});
        let mut all = vec![ToolDefinition::new("wait", Some("Waits"), wait)];
        all.extend(
            ["fail", "broken", "grow"].map(|name| ToolDefinition::new(name, None, any.clone())),
        );
        all.extend(
            (0..*snapshot).map(|at| ToolDefinition::new(format!("late{at}"), None, any.clone())),
        );
        all
    }

    async fn call(
        &self,
        snapshot: &usize,
        call: &ToolCall,
    ) -> Result<CallToolResult<'static>, ToolsError> {
        let now = self.running.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
        let Arguments::Object(arguments) = &call.arguments else {
            return Err("no arguments".into());
        };
        let arguments: Value = serde_json::from_str(arguments.as_str())?;
        let ms = arguments["ms"].as_u64().unwrap_or(0);
        smol::Timer::after(Duration::from_millis(ms)).await;
        self.running.fetch_sub(1, Ordering::SeqCst);
        let text = |text: String| CallToolResult::new([ContentBlock::text(text)]);
        match call.name.as_str() {
            "wait" => Ok(text(format!("waited {ms}"))),
            "fail" => Ok(text("it failed".to_owned()).failed(true)),
            "grow" => {
                self.grown.fetch_add(1, Ordering::SeqCst);
                Ok(text(format!("of {snapshot}")))
            }
            "broken" => Err("the connection is gone".into()),
            late => Ok(text(late.to_owned())),
        }
    }
}

/// What happened, in words.
fn told(event: &AgentEvent<'_>) -> String {
    match event {
        AgentEvent::Round { number, .. } => format!("round {number}"),
        AgentEvent::Text(text) => format!("text {text}"),
        AgentEvent::Reply(reply) => format!("reply {}", reply.calls.len()),
        AgentEvent::Started(call) => format!("started {}", call.id),
        AgentEvent::Finished { call, result, .. } => {
            format!("finished {} {}", call.id, result.is_error)
        }
        AgentEvent::Failed { call, error, .. } => format!("failed {} {error}", call.id),
        _ => "something else".to_owned(),
    }
}

/// The ids and texts of the results in a conversation.
fn results(turns: &[Turn]) -> Vec<(String, String, bool)> {
    let all = turns.iter().filter_map(|turn| {
        if let Turn::Results(all) = turn {
            Some(all)
        } else {
            None
        }
    });
    all.flatten()
        .map(|it| {
            (
                it.id.clone(),
                it.result.content[0]
                    .as_text()
                    .unwrap_or_default()
                    .to_owned(),
                it.result.is_error,
            )
        })
        .collect()
}

#[test]
fn calls_of_a_round_run_at_the_same_time_and_come_back_in_order() {
    let model = ScriptedModel::new([
        Answer::calls([
            ("wait", json!({"ms": 120})),
            ("wait", json!({"ms": 60})),
            ("fail", json!({})),
            ("broken", json!({})),
            ("nowhere", json!({})),
        ])
        .saying("Working."),
        Answer::text("Done."),
    ]);
    let workshop = Workshop::default();
    let agent = Agent::new(model, workshop.clone());
    let mut turns = vec![Turn::user("Go.")];
    let mut events = Vec::new();
    let outcome = smol::block_on(agent.run(&mut turns, &mut |event| events.push(told(&event))))
        .expect("a run");
    assert!(
        workshop.most.load(Ordering::SeqCst) >= 2,
        "they ran one after the other"
    );
    assert_eq!(
        (outcome.finish, outcome.rounds, outcome.text.as_str()),
        (Finish::Answered, 2, "Done.")
    );
    let results = results(&turns);
    let texts: Vec<(&str, &str, bool)> = results
        .iter()
        .map(|(id, text, failed)| (id.as_str(), text.as_str(), *failed))
        .collect();
    assert_eq!(
        texts,
        [
            ("call-1", "waited 120", false),
            ("call-2", "waited 60", false),
            ("call-3", "it failed", true),
            (
                "call-4",
                "`broken` could not be called: the connection is gone",
                true
            ),
            ("call-5", "There is no tool `nowhere`.", true),
        ]
    );
    let order: Vec<&str> = events.iter().map(String::as_str).collect();
    assert_eq!(order[..3], ["round 1", "text Working.", "reply 5"]);
    let at = |event: &str| {
        order
            .iter()
            .position(|known| *known == event)
            .unwrap_or_else(|| panic!("{event}: {order:?}"))
    };
    assert!(at("started call-4") < at("failed call-4 the connection is gone"));
    assert!(
        at("finished call-2 false") < at("finished call-1 false"),
        "the shorter one is done first"
    );
    assert_eq!(
        order[order.len() - 3..],
        ["round 2", "text Done.", "reply 0"]
    );
}

#[test]
fn a_round_never_sees_two_sets_of_tools() {
    let model = ScriptedModel::new([
        // What is added in this round is not there yet.
        Answer::calls([("grow", json!({})), ("late0", json!({}))]),
        Answer::calls([("late0", json!({}))]),
        Answer::text("Done."),
    ]);
    let agent = Agent::new(model, Workshop::default());
    let mut turns = vec![Turn::user("Go.")];
    smol::block_on(agent.run(&mut turns, &mut |_| {})).expect("a run");
    let results = results(&turns);
    assert_eq!(results[0].1, "of 0");
    assert_eq!(results[1].1, "There is no tool `late0`.");
    assert_eq!(results[2].1, "late0");
    let prompts = agent.model().prompts();
    assert!(!prompts[0].as_str().contains("late0") && prompts[1].as_str().contains("late0"));
}

#[test]
fn a_run_is_over_after_so_many_rounds() {
    let again = || Answer::calls([("wait", json!({"ms": 0}))]);
    let model = ScriptedModel::new([again(), again(), Answer::text("Going on.")]);
    let agent = Agent::new(model, Workshop::default()).max_rounds(2);
    let mut turns = vec![Turn::user("Go.")];
    let outcome = smol::block_on(agent.run(&mut turns, &mut |_| {})).expect("a run");
    assert_eq!((outcome.finish, outcome.rounds), (Finish::Rounds, 2));
    let all = results(&turns);
    assert_eq!((all[0].1.as_str(), all[1].2), ("waited 0", true));
    // The conversation can go on: each call has its result.
    turns.push(Turn::user("Go on."));
    let outcome = smol::block_on(agent.run(&mut turns, &mut |_| {})).expect("a run");
    assert_eq!(outcome.text, "Going on.");
}

#[test]
fn a_run_is_over_when_its_budget_is() {
    let model = ScriptedModel::new([
        Answer::calls([("wait", json!({"ms": 0}))]).usage(Usage::new(60, 10)),
        Answer::calls([("wait", json!({"ms": 0}))]).usage(Usage::new(25, 5)),
        Answer::text("Too late."),
    ]);
    let agent = Agent::new(model, Workshop::default()).budget(100);
    let mut turns = vec![Turn::user("Go.")];
    let outcome = smol::block_on(agent.run(&mut turns, &mut |_| {})).expect("a run");
    assert_eq!((outcome.finish, outcome.rounds), (Finish::Budget, 2));
    assert_eq!((outcome.usage.input, outcome.usage.output), (85, 15));
    assert_eq!(
        results(&turns).iter().map(|it| it.2).collect::<Vec<_>>(),
        [false, true]
    );
}

#[test]
fn a_run_is_cancelled_between_and_within_calls() {
    let canceller = Canceller::new();
    let model = ScriptedModel::new([Answer::calls([
        ("wait", json!({"ms": 0})),
        ("wait", json!({"ms": 60_000})),
    ])]);
    let workshop = Workshop::default();
    let agent = Agent::new(model, workshop).canceller(&canceller);
    let mut turns = vec![Turn::user("Go.")];
    let begun = Instant::now();
    let outcome = smol::block_on(agent.run(&mut turns, &mut |event| {
        if matches!(event, AgentEvent::Finished { .. }) {
            canceller.cancel();
        }
    }));
    let outcome = outcome.expect("a run");
    assert!(begun.elapsed() < Duration::from_secs(10));
    assert_eq!(outcome.finish, Finish::Cancelled);
    let texts: Vec<String> = results(&turns).into_iter().map(|it| it.1).collect();
    assert_eq!(texts, ["waited 0", "The call was cancelled."]);
    // And before the model is asked.
    let before = turns.len();
    let outcome = smol::block_on(agent.run(&mut turns, &mut |_| {})).expect("a run");
    assert_eq!((outcome.finish, turns.len()), (Finish::Cancelled, before));
}

#[test]
fn an_error_may_end_the_run() {
    let calls = || Answer::calls([("broken", json!({})), ("wait", json!({"ms": 60_000}))]);
    let agent = Agent::new(ScriptedModel::new([calls()]), Workshop::default()).stop_on_error(true);
    let mut turns = vec![Turn::user("Go.")];
    let error = smol::block_on(agent.run(&mut turns, &mut |_| {})).expect_err("an error");
    assert!(matches!(&error, AgentError::Tools(_)), "{error}");
    assert_eq!(
        results(&turns).len(),
        2,
        "each call has a result all the same"
    );
    let silent = Agent::new(
        ScriptedModel::new([Answer::error(ModelError::Transport("gone".to_owned()))]),
        Workshop::default(),
    );
    let mut turns = vec![Turn::user("Go.")];
    let error = smol::block_on(silent.run(&mut turns, &mut |_| {})).expect_err("an error");
    assert!(matches!(error, AgentError::Model(ModelError::Transport(_))));
    assert_eq!(turns.len(), 1);
}

/// Runs can be spawned.
#[test]
fn a_run_may_be_on_any_thread() {
    fn any_thread<F: Future + Send>(future: F) -> F {
        future
    }
    let agent = Agent::new(
        ScriptedModel::new([Answer::text("Done.")]),
        Workshop::default(),
    );
    let mut turns = vec![Turn::user("Go.")];
    let outcome = smol::block_on(any_thread(agent.run(&mut turns, &mut |_| {})));
    assert_eq!(outcome.expect("a run").text, "Done.");
}

/// One round of two calls and an answer, in the shape of a provider.
fn dialogue(provider: Provider, stream: bool) -> Vec<Canned> {
    let bodies: [Value; 2] = match (provider, stream) {
        (Provider::OpenAiChat, false) => [
            json!({"choices": [{"finish_reason": "tool_calls", "message": {"content": null, "tool_calls": [
                {"id": "a", "function": {"name": "wait", "arguments": "{\"ms\": 30}"}}, {"id": "b", "function": {"name": "fail", "arguments": ""}}]}}]}),
            json!({"choices": [{"finish_reason": "stop", "message": {"content": "Done."}}]}),
        ],
        (Provider::OpenAiChat, true) => [
            json!([{"choices": [{"delta": {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "wait", "arguments": "{\"ms\""}}]}}]},
                {"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"arguments": ": 30}"}}]}}]},
                {"choices": [{"delta": {"tool_calls": [{"index": 1, "id": "b", "function": {"name": "fail", "arguments": ""}}]}, "finish_reason": "tool_calls"}]}]),
            json!([{"choices": [{"delta": {"content": "Done."}, "finish_reason": "stop"}]}]),
        ],
        (_, false) => [
            json!({"stop_reason": "tool_use", "content": [{"type": "tool_use", "id": "a", "name": "wait", "input": {"ms": 30}}, {"type": "tool_use", "id": "b", "name": "fail", "input": {}}]}),
            json!({"stop_reason": "end_turn", "content": [{"type": "text", "text": "Done."}]}),
        ],
        (_, true) => [
            json!([{"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "a", "name": "wait", "input": {}}},
                {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": "{\"ms\": 30}"}},
                {"type": "content_block_start", "index": 1, "content_block": {"type": "tool_use", "id": "b", "name": "fail", "input": {}}},
                {"type": "message_delta", "delta": {"stop_reason": "tool_use"}}, {"type": "message_stop"}]),
            json!([{"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "Done."}},
                {"type": "message_delta", "delta": {"stop_reason": "end_turn"}}, {"type": "message_stop"}]),
        ],
    };
    let canned = |body: Value| match body.as_array() {
        Some(events) => Canned::events(
            &events
                .iter()
                .map(|event| format!("data: {event}\n\n"))
                .collect::<String>(),
        ),
        None => Canned::json(&body.to_string()),
    };
    bodies.map(canned).to_vec()
}

#[test]
fn an_agent_runs_over_http_in_both_shapes() {
    for provider in [Provider::OpenAiChat, Provider::Anthropic] {
        for stream in [false, true] {
            let fake = FakeProvider::new(dialogue(provider, stream));
            let model = if provider == Provider::Anthropic {
                HttpModel::anthropic("m")
            } else {
                HttpModel::openai("m")
            };
            let model = model
                .base_url(&*fake.url)
                .api_key(ApiKey::new("k"))
                .stream(stream)
                .build()
                .expect("a model");
            let agent = Agent::new(model, Workshop::default()).system("Be brief.");
            let mut turns = vec![Turn::user("Go.")];
            let outcome = smol::block_on(agent.run(&mut turns, &mut |_| {})).expect("a run");
            assert_eq!(
                (outcome.finish, outcome.text.as_str()),
                (Finish::Answered, "Done.")
            );
            let second = &fake.asked()[1].body;
            if provider == Provider::Anthropic {
                assert_eq!(
                    second["messages"][1]["content"][0]["input"],
                    json!({"ms": 30})
                );
                assert_eq!(
                    second["messages"][2]["content"],
                    json!([
                    {"type": "tool_result", "tool_use_id": "a", "content": [{"type": "text", "text": "waited 30"}]},
                    {"type": "tool_result", "tool_use_id": "b", "content": [{"type": "text", "text": "it failed"}], "is_error": true}])
                );
            } else {
                assert_eq!(
                    second["messages"][0],
                    json!({"role": "system", "content": "Be brief."})
                );
                assert_eq!(
                    second["messages"][2]["tool_calls"][1]["function"],
                    json!({"name": "fail", "arguments": "{}"})
                );
                assert_eq!(
                    second["messages"][3],
                    json!({"role": "tool", "tool_call_id": "a", "content": "waited 30"})
                );
                assert_eq!(
                    second["messages"][4],
                    json!({"role": "tool", "tool_call_id": "b", "content": "The tool failed:\nit failed"})
                );
            }
        }
    }
}
