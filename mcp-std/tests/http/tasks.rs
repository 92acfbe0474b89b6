//! Tasks over HTTP: what headers repeat, and that a task outlives the exchange that began it.

use std::time::Duration;

use mcp_std::model::TaskSupport;
use mcp_std::tasks::{MemoryTaskStore, Tasks};
use mcp_std::{Server, Tool};
use serde_json::{Value, json};

use crate::site::{Request, Site, until};

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
