//! Tasks: as 2026-07-28 has them, and in the experimental form of 2025-11-25.

use std::time::Duration;

use async_io::Timer;
use mcp_std::model::TaskSupport;
use mcp_std::tasks::{MemoryTaskStore, Tasks};
use mcp_std::{AskError, BuildError, Context, Instead, Progress, ProtocolError, Server, Tool};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::peer::{Peer, modern, request, serve};

const TASKS: &str = "io.modelcontextprotocol/tasks";

#[derive(Deserialize, JsonSchema)]
struct Name {
    name: String,
}

async fn ask(context: Context) -> Result<String, AskError> {
    let first = context.elicit_form::<Name>("First?").await?;
    let second = context.elicit_form::<Name>("Second?").await?;
    let name = |it: Option<Name>| it.map_or_else(|| "nobody".to_owned(), |it| it.name);
    Ok(format!(
        "{} {}",
        name(first.accepted()),
        name(second.accepted())
    ))
}

async fn later(context: Context) -> Result<String, Instead> {
    let asked = context.elicit_form::<Name>("Who?").await;
    let name = asked.map_err(|error| {
        if let AskError::Unsupported(missing) = error {
            return Instead::MissingCapability(missing);
        }
        ProtocolError::new(mcp_std::ErrorCode::INTERNAL_ERROR, error.to_string()).into()
    })?;
    let name = name
        .accepted()
        .map_or_else(|| "nobody".to_owned(), |it| it.name);
    let is_task = context.begin_task().await?;
    assert_eq!(context.task_id().is_some(), is_task);
    Timer::after(Duration::from_millis(10)).await;
    Ok(format!("{name}, {is_task}"))
}

fn builder(tasks: Tasks) -> mcp_std::ServerBuilder {
    Server::builder("worker", "1")
        .with_tasks(tasks.poll_interval(Duration::from_millis(10)))
        .tool("plain", "Is no task", || async { "plain" })
        .with_tool(
            Tool::new("quick", "Is done soon", || async { "done" }).as_task(TaskSupport::Optional),
        )
        .with_tool(
            Tool::new("only", "Is a task", || async { Err::<(), _>("no") })
                .as_task(TaskSupport::Required),
        )
        .with_tool(
            Tool::new("endless", "Never ends", |context: Context| async move {
                let mut progress = Progress::new(1.0);
                progress.message = Some("on my way".into());
                context.progress(progress).await;
                core::future::pending::<()>().await;
            })
            .as_task(TaskSupport::Optional),
        )
        .with_tool(
            Tool::new("panics", "Panics", || async {
                if true {
                    panic!("on purpose");
                }
            })
            .as_task(TaskSupport::Optional),
        )
        .with_tool(Tool::new("ask", "Asks twice", ask).as_task(TaskSupport::Optional))
        .with_tool(
            Tool::new("later", "Asks, then is a task", later).begins_task(TaskSupport::Optional),
        )
}

fn server() -> Server {
    let built = builder(Tasks::new(MemoryTaskStore::new())).build();
    built.expect("it can be built")
}

fn able() -> Value {
    json!({ "extensions": { TASKS: {} }, "elicitation": {} })
}

async fn call(peer: &mut Peer, tool: &str) -> Value {
    peer.modern("call", "tools/call", &json!({ "name": tool }), &able())
        .await
}

/// The id of a task that a call became.
async fn begun(peer: &mut Peer, tool: &str) -> String {
    let begun = call(peer, tool).await;
    assert_eq!(begun["resultType"], "task", "{begun}");
    begun["taskId"].as_str().expect("an id").to_owned()
}

async fn about(peer: &mut Peer, method: &str, id: &str) -> Value {
    peer.modern("about", method, &json!({ "taskId": id }), &able())
        .await
}

/// How a task stands when it has this status.
async fn until(peer: &mut Peer, id: &str, status: &str) -> Value {
    for _ in 0..500 {
        let task = about(peer, "tasks/get", id).await;
        if task["status"] == status {
            return task;
        }
        Timer::after(Duration::from_millis(10)).await;
    }
    panic!(
        "the task is not {status}: {}",
        about(peer, "tasks/get", id).await
    );
}

#[test]
fn a_task_is_begun_asked_for_and_ended() {
    let end = serve(&server(), |mut peer| async move {
        let first = call(&mut peer, "quick").await;
        assert_eq!(first["status"], "working", "{first}");
        assert_eq!(first["ttlMs"], 3_600_000, "{first}");
        assert_eq!(first["pollIntervalMs"], 10, "{first}");
        assert!(first.get("result").is_none(), "{first}");
        let id = first["taskId"].as_str().expect("an id").to_owned();
        assert_eq!(id.len(), 40, "160 bits");
        let done = until(&mut peer, &id, "completed").await;
        assert_eq!(done["resultType"], "complete");
        assert_eq!(done["result"]["content"][0]["text"], "done");
        assert_eq!(done["result"]["resultType"], "complete");
        assert_eq!(done["createdAt"], first["createdAt"]);
        let again = begun(&mut peer, "quick").await;
        assert_ne!(again, id);
        // A failure of the tool is a result; a panic is an error.
        let id = begun(&mut peer, "only").await;
        let failed = until(&mut peer, &id, "completed").await;
        assert_eq!(failed["result"]["isError"], true, "{failed}");
        let id = begun(&mut peer, "panics").await;
        let failed = until(&mut peer, &id, "failed").await;
        assert_eq!(failed["error"]["code"], -32603, "{failed}");
        assert!(failed["statusMessage"].is_string(), "{failed}");
        assert!(failed.get("result").is_none(), "{failed}");
        let unknown = about(&mut peer, "tasks/get", "0123").await;
        assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
        for method in ["tasks/update", "tasks/cancel"] {
            let params = json!({ "taskId": "0123", "inputResponses": {} });
            let unknown = peer.modern("1", method, &params, &able()).await;
            assert_eq!(unknown["error"]["code"], -32602, "{method}: {unknown}");
        }
        for method in ["tasks/result", "tasks/list"] {
            let unknown = about(&mut peer, method, &id).await;
            assert_eq!(unknown["error"]["code"], -32601, "{method}: {unknown}");
        }
        peer.close();
    });
    end.expect("sockets do not fail");
}

#[test]
fn who_does_not_know_tasks_gets_none() {
    let end = serve(&server(), |mut peer| async move {
        let none = json!({ "tasks": {}, "elicitation": {} });
        let plain = json!({ "name": "quick" });
        let plain = peer.modern("1", "tools/call", &plain, &none).await;
        assert_eq!(plain["resultType"], "complete", "{plain}");
        assert!(plain.get("taskId").is_none(), "{plain}");
        let only = json!({ "name": "only" });
        let refused = peer.modern("2", "tools/call", &only, &none).await;
        assert_eq!(refused["error"]["code"], -32021, "{refused}");
        let needed = &refused["error"]["data"]["requiredCapabilities"]["extensions"];
        assert_eq!(*needed, json!({ TASKS: {} }));
        for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
            let params = json!({ "taskId": "x" });
            let refused = peer.modern("3", method, &params, &none).await;
            assert_eq!(refused["error"]["code"], -32021, "{method}: {refused}");
        }
        let filter = json!({ "notifications": { "taskIds": ["x"] } });
        let refused = peer
            .modern("4", "subscriptions/listen", &filter, &none)
            .await;
        assert_eq!(refused["error"]["code"], -32021, "{refused}");
        peer.close();
    });
    end.expect("sockets do not fail");
}

#[test]
fn a_task_can_be_cancelled_once_and_any_number_of_times() {
    let end = serve(&server(), |mut peer| async move {
        let id = begun(&mut peer, "endless").await;
        let mut working = until(&mut peer, &id, "working").await;
        while working.get("statusMessage").is_none() {
            working = until(&mut peer, &id, "working").await;
        }
        assert_eq!(working["statusMessage"], "on my way");
        for _ in 0..2 {
            let ended = about(&mut peer, "tasks/cancel", &id).await;
            assert_eq!(ended["resultType"], "complete", "{ended}");
            assert!(ended.get("status").is_none(), "{ended}");
            let task = about(&mut peer, "tasks/get", &id).await;
            assert_eq!(task["status"], "cancelled", "{task}");
        }
        // That a call was cancelled says nothing about the task that it has become.
        let id = begun(&mut peer, "endless").await;
        peer.send(
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"call"}}"#,
        )
        .await;
        until(&mut peer, &id, "working").await;
        peer.close();
    });
    end.expect("sockets do not fail");
}

#[test]
fn a_task_asks_and_is_answered() {
    let end = serve(&server(), |mut peer| async move {
        let id = begun(&mut peer, "ask").await;
        let mut seen = Vec::new();
        for name in ["Ada", "Grace"] {
            let asks = until(&mut peer, &id, "input_required").await;
            let requests = asks["inputRequests"].as_object().expect("an object");
            assert_eq!(requests.len(), 1, "{asks}");
            let (key, asked) = requests.iter().next().expect("there is one");
            assert_eq!(asked["method"], "elicitation/create", "{asks}");
            assert!(!seen.contains(key), "a key is used once");
            seen.push(key.clone());
            let update = |answers: Value| {
                modern(&json!({ "taskId": id, "inputResponses": answers }), &able())
            };
            let stray = update(json!({ "99": { "action": "decline" }, "x": {} }));
            let ignored = peer.request("1", "tasks/update", &stray).await;
            assert_eq!(ignored["resultType"], "complete", "{ignored}");
            let malformed = update(json!({ key: { "action": 7 } }));
            let refused = peer.request("2", "tasks/update", &malformed).await;
            assert_eq!(refused["error"]["code"], -32602, "{refused}");
            let answer = json!({ key: { "action": "accept", "content": { "name": name } } });
            let taken = peer.request("3", "tasks/update", &update(answer)).await;
            assert_eq!(taken["resultType"], "complete", "{taken}");
        }
        let done = until(&mut peer, &id, "completed").await;
        assert_eq!(done["result"]["content"][0]["text"], "Ada Grace");
        peer.close();
    });
    end.expect("sockets do not fail");
}

/// Round trips come first, as a call; then it is a task, without the state of them.
#[test]
fn a_call_asks_and_then_becomes_a_task() {
    for (capabilities, expected) in [
        (able(), "Ada, true"),
        (json!({ "elicitation": {} }), "Ada, false"),
    ] {
        let end = serve(&server(), |mut peer| async move {
            let first = json!({ "name": "later" });
            let asked = peer.modern("1", "tools/call", &first, &capabilities).await;
            assert_eq!(asked["resultType"], "input_required", "{asked}");
            let again = json!({
                "name": "later",
                "inputResponses": { "0": { "action": "accept", "content": { "name": "Ada" } } },
                "requestState": asked["requestState"],
            });
            let begun = peer.modern("2", "tools/call", &again, &capabilities).await;
            assert!(begun.get("requestState").is_none(), "{begun}");
            let result = match begun["taskId"].as_str() {
                Some(id) => until(&mut peer, id, "completed").await["result"].clone(),
                None => begun,
            };
            assert_eq!(result["content"][0]["text"], expected, "{result}");
            peer.close();
        });
        end.expect("sockets do not fail");
    }
}

/// What the conformance suite always skips: each notification is what `tasks/get` would have said.
#[test]
fn who_listens_is_told_how_a_task_stands() {
    let end = serve(&server(), |mut peer| async move {
        let id = begun(&mut peer, "ask").await;
        let filter = json!({ "notifications": { "taskIds": [id, "unknown"] } });
        peer.send(&request(
            "sub",
            "subscriptions/listen",
            &modern(&filter, &able()),
        ))
        .await;
        let told = peer.message().await;
        assert_eq!(told["method"], "notifications/subscriptions/acknowledged");
        assert_eq!(told["params"]["notifications"], json!({ "taskIds": [id] }));
        let mut answered = Vec::new();
        loop {
            let told = peer.message().await;
            if told["id"] == "answer" {
                continue;
            }
            assert_eq!(told["method"], "notifications/tasks", "{told}");
            let task = &told["params"];
            let about = &task["_meta"]["io.modelcontextprotocol/subscriptionId"];
            assert_eq!(*about, "sub", "META-14");
            assert_eq!(task["taskId"], id.as_str());
            // What it said before the latest may not be told any more.
            let asked = task["inputRequests"].as_object();
            let key = asked.and_then(|asked| asked.keys().next());
            if let Some(key) = key.filter(|key| !answered.contains(*key)) {
                assert_eq!(task["status"], "input_required", "{task}");
                let answer = json!({ key: { "action": "accept", "content": { "name": "Ada" } } });
                let params = json!({ "taskId": id, "inputResponses": answer });
                let update = modern(&params, &able());
                peer.send(&request("answer", "tasks/update", &update)).await;
                answered.push(key.clone());
            }
            if task["status"] == "completed" {
                assert_eq!(task["result"]["content"][0]["text"], "Ada Ada", "{task}");
                break;
            }
        }
        assert_eq!(answered.len(), 2);
        // One that has ended already is told at once, or nobody would ever be.
        let filter = json!({ "notifications": { "taskIds": [id] } });
        peer.send(&request(
            "late",
            "subscriptions/listen",
            &modern(&filter, &able()),
        ))
        .await;
        let mut late = peer.message().await;
        while late["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"] != "late"
            || late["method"] != "notifications/tasks"
        {
            late = peer.message().await;
        }
        assert_eq!(late["params"]["status"], "completed", "{late}");
        peer.close();
    });
    end.expect("sockets do not fail");
}

/// A task goes on when its client is gone, and another connection asks for it.
#[test]
fn a_task_outlives_its_connection_but_not_its_time() {
    let server = server();
    let mut id = String::new();
    let kept = &mut id;
    let end = serve(&server, |mut peer| async move {
        *kept = begun(&mut peer, "quick").await;
        peer.close();
    });
    end.expect("sockets do not fail");
    let end = serve(&server, |mut peer| async move {
        until(&mut peer, &id, "completed").await;
        peer.close();
    });
    end.expect("sockets do not fail");
    let short = Tasks::new(MemoryTaskStore::new()).ttl(Duration::from_millis(200));
    let server = builder(short).build().expect("it can be built");
    let end = serve(&server, |mut peer| async move {
        let id = begun(&mut peer, "endless").await;
        Timer::after(Duration::from_millis(400)).await;
        let gone = about(&mut peer, "tasks/get", &id).await;
        assert_eq!(gone["error"]["code"], -32602, "{gone}");
        peer.close();
    });
    end.expect("sockets do not fail");
}

#[test]
fn tasks_are_bounded() {
    let few = Tasks::new(MemoryTaskStore::new()).max_running(2);
    let server = builder(few).build().expect("it can be built");
    let end = serve(&server, |mut peer| async move {
        let one = begun(&mut peer, "endless").await;
        begun(&mut peer, "endless").await;
        let refused = call(&mut peer, "endless").await;
        assert_eq!(refused["error"]["code"], -32603, "{refused}");
        about(&mut peer, "tasks/cancel", &one).await;
        // There is room when its handler has ended, which is soon.
        while call(&mut peer, "endless").await["resultType"] != "task" {}
        peer.close();
    });
    end.expect("sockets do not fail");
}

#[test]
fn a_server_without_tasks_has_no_tools_that_are() {
    let tool = Tool::new("t", "", || async { "" }).as_task(TaskSupport::Optional);
    let built = Server::builder("s", "1").with_tool(tool).build();
    assert!(matches!(built, Err(BuildError::NoTasks(_))), "{built:?}");
}

/// The experimental form: asked for by the client, waited for by `tasks/result`, which is also the way to ask it.
#[test]
fn as_2025_11_25_had_them() {
    let end = serve(&server(), |mut peer| async move {
        let said = peer
            .handshake("2025-11-25", &json!({ "elicitation": {} }))
            .await;
        assert_eq!(
            said["capabilities"]["tasks"],
            json!({ "list": {}, "cancel": {}, "requests": { "tools": { "call": {} } } })
        );
        let tools = peer.request("t", "tools/list", &json!({})).await;
        let support = |name: &str| {
            let tools = tools["tools"].as_array().expect("a list");
            let tool = tools.iter().find(|tool| tool["name"] == name);
            tool.expect("it is there")["execution"]["taskSupport"].clone()
        };
        assert_eq!(support("quick"), "optional");
        assert_eq!(support("only"), "required");
        assert_eq!(support("plain"), Value::Null);
        for (params, code) in [
            (json!({ "name": "only" }), -32601),
            (json!({ "name": "plain", "task": {} }), -32601),
            (json!({ "name": "quick", "task": { "ttl": "x" } }), -32602),
        ] {
            let refused = peer.request("1", "tools/call", &params).await;
            assert_eq!(refused["error"]["code"], code, "{params}: {refused}");
        }
        let plain = json!({ "name": "quick" });
        let plain = peer.request("2", "tools/call", &plain).await;
        assert_eq!(plain["content"][0]["text"], "done", "{plain}");
        let begin = |tool: &str| json!({ "name": tool, "task": { "ttl": 60_000 } });
        let begun = peer.request("3", "tools/call", &begin("ask")).await;
        let task = &begun["task"];
        assert_eq!(task["ttl"], 60_000, "{begun}");
        assert_eq!(task["pollInterval"], 10, "{begun}");
        let id = json!({ "taskId": task["taskId"] });
        peer.send(&request("result", "tasks/result", &id)).await;
        for name in ["Ada", "Grace"] {
            let asked = peer.message().await;
            assert_eq!(asked["method"], "elicitation/create", "{asked}");
            let related = &asked["params"]["_meta"]["io.modelcontextprotocol/related-task"];
            assert_eq!(*related, id);
            peer.reply(
                &asked,
                &json!({ "action": "accept", "content": { "name": name } }),
            )
            .await;
        }
        let result = peer.message().await;
        assert_eq!(result["id"], "result", "{result}");
        let result = &result["result"];
        assert_eq!(result["content"][0]["text"], "Ada Grace", "{result}");
        assert_eq!(result["_meta"]["io.modelcontextprotocol/related-task"], id);
        // TL-09: a tool that failed is a task that failed.
        let begun = peer.request("4", "tools/call", &begin("only")).await;
        let failed = json!({ "taskId": begun["task"]["taskId"] });
        let result = peer.request("5", "tasks/result", &failed).await;
        assert_eq!(result["isError"], true, "{result}");
        let task = peer.request("6", "tasks/get", &failed).await;
        assert_eq!(task["status"], "failed", "{task}");
        let begun = peer.request("7", "tools/call", &begin("endless")).await;
        let endless = json!({ "taskId": begun["task"]["taskId"] });
        let ended = peer.request("8", "tasks/cancel", &endless).await;
        assert_eq!(ended["status"], "cancelled", "{ended}");
        let again = peer.request("9", "tasks/cancel", &endless).await;
        assert_eq!(again["error"]["code"], -32602, "{again}");
        let none = peer.request("10", "tasks/result", &endless).await;
        assert_eq!(none["error"]["code"], -32602, "{none}");
        let all = peer.request("11", "tasks/list", &json!({})).await;
        assert_eq!(all["tasks"].as_array().map(Vec::len), Some(3), "{all}");
        peer.close();
    });
    end.expect("sockets do not fail");
}

/// Nobody sees the tasks of others in a list, and no form those of the other.
#[test]
fn a_list_is_that_of_its_session() {
    let server = server();
    let begun_there = &mut String::new();
    let end = serve(&server, |mut peer| async move {
        peer.handshake("2025-11-25", &json!({})).await;
        let params = json!({ "name": "endless", "task": {} });
        let begun = peer.request("1", "tools/call", &params).await;
        *begun_there = begun["task"]["taskId"].as_str().expect("an id").to_owned();
        let id = begun_there.as_str();
        let hidden = about(&mut peer, "tasks/get", id).await;
        assert_eq!(hidden["error"]["code"], -32602, "{hidden}");
        peer.close();
    });
    end.expect("sockets do not fail");
    let end = serve(&server, |mut peer| async move {
        peer.handshake("2025-11-25", &json!({})).await;
        let all = peer.request("1", "tasks/list", &json!({})).await;
        assert_eq!(all, json!({ "tasks": [] }));
        peer.close();
    });
    end.expect("sockets do not fail");
}
