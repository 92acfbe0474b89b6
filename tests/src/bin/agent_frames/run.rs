//! The run: a scripted model with the tools of two servers.

use core::time::Duration;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use async_io::Timer;
use mcp_std::client::Direction;
use mcp_std::host::adapters::{Arguments, Provider, Reply, ToolCall, Toolset, Turn};
use mcp_std::host::model::{Answer, ScriptedModel};
use mcp_std::host::{
    Agent, AgentEvent, Finish, Host, HostConfig, ServerConfig, ServerState, Session, Snapshot,
    ToolDefinition, Tools, ToolsError,
};
use mcp_std::model::CallToolResult;
use serde_json::{Value, json};

use crate::record::{Log, Message, Story};
use crate::{Failure, check};

/// Those of the servers' tools that the model is shown.
const SHOWN: [&str; 6] = [
    "echo",
    "add",
    "fail",
    "slow",
    "test_trigger_tool_change",
    "test_dummy_tool",
];
/// What adds a tool to its server, and the tool.
const TRIGGER: &str = "test_trigger_tool_change";
const ADDED: &str = "test_dummy_tool";

type Shared = Arc<Mutex<Log>>;

fn lock(log: &Shared) -> MutexGuard<'_, Log> {
    log.lock().unwrap_or_else(PoisonError::into_inner)
}

/// `url` is that of the Python server; the command starts the TypeScript one.
pub(crate) async fn run(url: &str, program: &str, rest: &[String]) -> Result<Story, Failure> {
    let log = Shared::default();
    let host = start(url, program, rest, &log);
    host.settled().await;
    for status in host.status() {
        if status.state != ServerState::Ready {
            return Err(format!("{} is not there: {:?}", status.name, status.fault).into());
        }
    }
    let agent = Agent::new(script(), Steady(host.session())).system("Use the tools.");
    let mut turns = vec![Turn::user("Try everything.")];
    let mut seen = Seen::default();
    let outcome = {
        let (log, seen) = (log.clone(), &mut seen);
        agent
            .run(&mut turns, &mut |event| watch(&event, &log, seen))
            .await?
    };
    check("the model answers in the third round", {
        outcome.finish == Finish::Answered && outcome.rounds == 3 && outcome.text == "Done."
    })?;
    if !seen.failed.is_empty() || seen.errors != ["ts__fail"] {
        let (failed, errors) = (seen.failed, seen.errors);
        return Err(format!("only ts__fail is to fail: {errors:?}, {failed:?}").into());
    }
    {
        let mut log = lock(&log);
        log.left = Some(log.messages.len());
    }
    host.close().await;
    let log = lock(&log);
    check("all calls of a round are under way at once", at_once(&log))?;
    let mut story = Story::new(&log)?;
    let prompts = agent.model().prompts();
    for (frame, tools) in [2, 7].into_iter().zip(&seen.shown) {
        story.add(frame, "tools", tools);
    }
    for ((frame, prompt), reply) in [3, 8, 10].into_iter().zip(&prompts).zip(&seen.replies) {
        story.add(frame, "ask", &serde_json::from_str(prompt.as_str())?);
        story.add(frame, "answer", reply);
    }
    let results = turns.iter().find_map(|turn| match turn {
        Turn::Results(results) => Some(results),
        Turn::User(_) | Turn::Model(_) | _ => None,
    });
    let tools = Toolset::new(Provider::Anthropic, &[]);
    for message in tools.results(results.ok_or("there are no results")?) {
        story.add(5, "results", &serde_json::from_str(message.as_str())?);
    }
    check(
        "the second round has the tools that came, and the first has not",
        {
            let has = |at: usize, name: &str| seen.shown[at].to_string().contains(name);
            seen.shown.len() == 2
                && !has(0, ADDED)
                && has(1, &format!("ts__{ADDED}"))
                && has(1, &format!("py__{ADDED}"))
        },
    )?;
    match story.empty() {
        None => Ok(story),
        Some(frame) => Err(format!("nothing happened in the frame `{frame}`").into()),
    }
}

fn start(url: &str, program: &str, rest: &[String], log: &Shared) -> Host {
    let config = HostConfig::new()
        .server(ServerConfig::http("py", url).allow(SHOWN))
        .server(
            ServerConfig::stdio("ts", program)
                .args(rest.iter().map(String::as_str))
                .allow(SHOWN),
        );
    let log = log.clone();
    Host::builder(config)
        .client("agent", "1.0.0")
        .configure(move |server, builder| {
            let (server, log) = (server.to_owned(), log.clone());
            builder.on_frame(move |direction, bytes| {
                // What is no JSON is told as a text, and found in the comparison.
                let value = serde_json::from_slice(bytes)
                    .unwrap_or_else(|_| json!(String::from_utf8_lossy(bytes)));
                lock(&log).messages.push(Message {
                    server: server.clone(),
                    direction,
                    value,
                });
            })
        })
        .start()
}

fn script() -> ScriptedModel {
    let slow = json!({"steps": 1, "delay_ms": 700});
    ScriptedModel::new([
        Answer::calls([
            ("ts__slow", slow.clone()),
            ("py__slow", slow),
            ("ts__echo", json!({"text": "Grüße"})),
            ("py__add", json!({"a": 2, "b": 40})),
            ("ts__fail", json!({"message": "not today"})),
            ("ts__test_trigger_tool_change", json!({})),
            ("py__test_trigger_tool_change", json!({})),
        ])
        .saying("Let me try."),
        Answer::calls([
            ("ts__test_dummy_tool", json!({})),
            ("py__echo", json!({"text": "again"})),
        ]),
        Answer::text("Done."),
    ])
}

/// What the events of the run tell.
#[derive(Default)]
struct Seen {
    /// The tools of each set that the model was shown.
    shown: Vec<Value>,
    replies: Vec<Value>,
    /// Tools that said that they failed.
    errors: Vec<String>,
    /// Calls without a result.
    failed: Vec<String>,
}

fn watch(event: &AgentEvent<'_>, log: &Shared, seen: &mut Seen) {
    match event {
        AgentEvent::Round { tools, .. } => {
            let tools: Value =
                serde_json::from_str(tools.definitions().as_str()).unwrap_or_default();
            if seen.shown.last() != Some(&tools) {
                seen.shown.push(tools);
            }
        }
        AgentEvent::Reply(reply) => {
            let mut log = lock(log);
            let at = log.messages.len();
            log.answers.push(at);
            seen.replies.push(told(reply));
        }
        AgentEvent::Finished { call, result, .. } if result.is_error => {
            seen.errors.push(call.name.clone());
        }
        AgentEvent::Failed { call, error, .. } => {
            seen.failed.push(format!("{}: {error}", call.name));
        }
        AgentEvent::Text(_) | AgentEvent::Started(_) | AgentEvent::Finished { .. } | _ => {}
    }
}

fn told(reply: &Reply) -> Value {
    let calls = reply.calls.iter().map(|call| {
        let arguments = match &call.arguments {
            Arguments::Object(object) => object.as_str(),
            Arguments::Invalid { .. } | _ => "(none)",
        };
        let arguments: Value = serde_json::from_str(arguments).unwrap_or_default();
        json!({"id": call.id, "name": call.name, "arguments": arguments})
    });
    json!({"text": reply.text, "calls": calls.collect::<Vec<_>>()})
}

/// Whether each call of the first round was sent before the first of the slow ones was answered.
fn at_once(log: &Log) -> bool {
    let calls: Vec<_> = log
        .messages
        .iter()
        .enumerate()
        .filter(|(_, it)| it.value["method"] == "tools/call")
        .collect();
    let is_answer = |call: &Message, it: &Message| {
        it.server == call.server
            && it.direction == Direction::Received
            && it.value.get("method").is_none()
            && it.value["id"] == call.value["id"]
    };
    let slow = calls
        .iter()
        .filter(|(_, call)| call.value["params"]["name"] == "slow");
    let answered = slow
        .filter_map(|(_, call)| log.messages.iter().position(|it| is_answer(call, it)))
        .min();
    let first_round = calls.get(..7).and_then(|calls| calls.last());
    matches!((first_round, answered), (Some((sent, _)), Some(answered)) if *sent < answered)
}

/// The session, in which a call that changes the tools takes until the host has heard of it: then the next round has them.
struct Steady(Session);

impl Tools for Steady {
    type Snapshot = Snapshot;

    fn snapshot(&self) -> Snapshot {
        self.0.snapshot()
    }

    fn definitions(&self, snapshot: &Snapshot) -> Vec<ToolDefinition> {
        Tools::definitions(&self.0, snapshot)
    }

    async fn call(
        &self,
        snapshot: &Snapshot,
        call: &ToolCall,
    ) -> Result<CallToolResult<'static>, ToolsError> {
        const PATIENCE: Duration = Duration::from_secs(20);
        let result = Tools::call(&self.0, snapshot, call).await?;
        if let Some(server) = call.name.strip_suffix(TRIGGER) {
            let wanted = format!("{server}{ADDED}");
            let started = Instant::now();
            while self.0.snapshot().get(&wanted).is_none() {
                if started.elapsed() > PATIENCE {
                    return Err(format!("{wanted} did not come within {PATIENCE:?}").into());
                }
                Timer::after(Duration::from_millis(5)).await;
            }
        }
        Ok(result)
    }
}
