//! Tasks over HTTP: what headers repeat, and that a task outlives the exchange that began it.

use std::time::Duration;

use mcp_std::model::TaskSupport;
use mcp_std::tasks::{MemoryTaskStore, Tasks};
use mcp_std::{Context, Server, Tool};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::site::{Request, Session, Site, request, until};

#[derive(Deserialize, JsonSchema)]
struct Name {
    #[expect(dead_code, reason = "nobody reads it")]
    name: String,
}

fn server() -> Server {
    Server::builder("worker", "1")
        .with_tasks(Tasks::new(MemoryTaskStore::new()))
        .with_tool(
            Tool::new("slow", "", || async {
                async_io::Timer::after(Duration::from_millis(50)).await;
                "done"
            })
            .as_task(TaskSupport::Required),
        )
        .with_tool(
            Tool::new("asks", "", |context: Context| async move {
                let asked = context.elicit_form::<Name>("Who?").await;
                asked.map(|_| "answered")
            })
            .as_task(TaskSupport::Required),
        )
        .build()
        .expect("a server")
}

fn able() -> Value {
    json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } })
}

fn about(method: &str, id: &str) -> Request {
    Request::able(1, method, &json!({ "taskId": id }), &able()).with("mcp-name", id)
}

/// HDR-07: `Mcp-Name` is the id of the task.
#[test]
fn a_task_is_begun_by_one_exchange_and_asked_for_by_others() {
    let site = Site::new(&server());
    let call = json!({ "name": "slow" });
    let refused = site.ask(&Request::modern(1, "tools/call", &call));
    assert_eq!((refused.status, refused.code()), (400, Some(-32021)));
    let begun = site.ask(&Request::able(1, "tools/call", &call, &able()));
    let begun = begun.result();
    assert_eq!(begun["resultType"], "task", "{begun}");
    let id = begun["taskId"].as_str().expect("an id");
    for wrong in ["x", ""] {
        let request = Request::able(1, "tasks/get", &json!({ "taskId": id }), &able());
        let refused = site.ask(&request.without("mcp-name").with("mcp-name", wrong));
        assert_eq!(
            (refused.status, refused.code()),
            (400, Some(-32020)),
            "{wrong:?}"
        );
    }
    let request = Request::able(1, "tasks/get", &json!({ "taskId": id }), &able());
    let refused = site.ask(&request.without("mcp-name"));
    assert_eq!((refused.status, refused.code()), (400, Some(-32020)));
    let undeclared = Request::modern(1, "tasks/get", &json!({ "taskId": id }));
    let refused = site.ask(&undeclared.without("mcp-name").with("mcp-name", id));
    assert_eq!((refused.status, refused.code()), (400, Some(-32021)));
    until("the task is done", || {
        let task = site.ask(&about("tasks/get", id)).result();
        task["status"] == "completed"
    });
}

/// A client that takes no stream cannot be asked: its request waits, and does not ask again and again.
#[test]
fn who_cannot_be_asked_waits_in_peace() {
    let site = Site::new(&server());
    let session = Session::able(&site, "2025-11-25", &json!({ "elicitation": {} }));
    let call = json!({ "name": "asks", "task": {} });
    let begun = session.ask(&request(1, "tools/call", &call)).result();
    let id = json!({ "taskId": begun["task"]["taskId"] });
    let get = || session.ask(&request(2, "tasks/get", &id)).result();
    until("it asks", || get()["status"] == "input_required");
    let mut waits = site.connect();
    let result = session.post(&request(3, "tasks/result", &id));
    waits.send(&result.set("accept", "application/json"));
    std::thread::sleep(Duration::from_millis(100));
    let first = get();
    std::thread::sleep(Duration::from_millis(200));
    let second = get();
    assert_eq!(first, second, "nothing happens meanwhile");
    assert_eq!(first["status"], "input_required", "{first}");
    // Whoever can be asked is: one stream more, and an answer for both.
    let mut asked = site
        .connect()
        .stream(&session.post(&request(4, "tasks/result", &id)));
    let question = asked.message();
    assert_eq!(question["method"], "elicitation/create", "{question}");
    session.answer(&question, &json!({ "action": "decline" }));
    for message in [asked.message(), waits.response().message()] {
        let content = &message["result"]["content"];
        assert_eq!(content[0]["text"], "answered", "{message}");
    }
}
