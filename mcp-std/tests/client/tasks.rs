//! Tools that are tasks, called by clients that know them and by others.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use async_io::Timer;
use mcp_std::client::{Begun, CallError, CallOptions, Canceller, Client, TaskStatus};
use mcp_std::model::{ElicitResult, ProtocolVersion, TaskSupport};
use mcp_std::tasks::{MemoryTaskStore, Tasks};
use mcp_std::{AskError, Context, Elicited, ErrorCode, Json, ProtocolError, Server, Tool};

use serde_json::json;

use crate::peer::{Peer, builder, with};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Name {
    name: String,
}

fn server() -> Server {
    let tasks = Tasks::new(MemoryTaskStore::new()).poll_interval(Duration::from_millis(5));
    Server::builder("worker", "1")
        .with_tasks(tasks)
        .tool("plain", "Is no task", || async { "at once" })
        .with_tool(
            Tool::new("slow", "Takes its time", || async {
                Timer::after(Duration::from_millis(30)).await;
                "done"
            })
            .as_task(TaskSupport::Required),
        )
        .with_tool(
            Tool::new("fails", "Fails", || async {
                Err::<(), _>(ProtocolError::new(ErrorCode::new(-31_000), "no"))
            })
            .as_task(TaskSupport::Required),
        )
        .with_tool(
            Tool::new("endless", "Never ends", || async {
                core::future::pending::<()>().await;
            })
            .as_task(TaskSupport::Required),
        )
        .with_tool(
            Tool::new("asks", "Asks", |context: Context| async move {
                Ok::<_, AskError>(match context.elicit_form::<Name>("Who?").await? {
                    Elicited::Accepted(it) => it.name,
                    Elicited::Declined | Elicited::Cancelled => "nobody".to_owned(),
                })
            })
            .as_task(TaskSupport::Required),
        )
        .build()
        .expect("it can be built")
}

async fn client(server: &Server) -> Client {
    let asked = builder().elicitation(|_| async {
        let content = Json::owned(r#"{"name":"Ada"}"#.to_owned()).expect("JSON");
        ElicitResult::accept(content)
    });
    let connected = asked.tasks().connect_in_process(server).await;
    connected.expect("it connects")
}

#[test]
fn a_call_waits_for_its_task() {
    smol::block_on(async {
        let client = client(&server()).await;
        let told = Arc::new(AtomicU32::new(0));
        let count = told.clone();
        let options = CallOptions::new().on_progress(move |_| {
            count.fetch_add(1, Ordering::Relaxed);
        });
        let done = client.call_tool_with("slow", &(), options).await;
        assert_eq!(done.expect("it answers").text(), "done");
        assert!(
            told.load(Ordering::Relaxed) >= 2,
            "it is told how it stands"
        );
        let asked = client.call_tool("asks", &()).await;
        assert_eq!(asked.expect("it answers").text(), "Ada");
        let failed = client.call_tool("fails", &()).await;
        let Err(CallError::Protocol(error)) = failed else {
            panic!("{failed:?}");
        };
        assert_eq!((error.code.value(), &*error.message), (-31_000, "no"));
        client.close().await;
    });
}

#[test]
fn a_handle_is_polled_cancelled_and_found_again() {
    smol::block_on(async {
        let server = server();
        let client = client(&server).await;
        let begun = client.begin_tool("endless", &(), CallOptions::new()).await;
        let Ok(Begun::Task(task)) = begun else {
            panic!("{begun:?}");
        };
        let state = task.get().await.expect("it is there");
        assert_eq!(state.status, TaskStatus::Working);
        assert_eq!(state.poll_interval, Some(Duration::from_millis(5)));
        let again = client.task(task.id());
        again.cancel().await.expect("it is told");
        let ended = task.get().await.expect("it is there");
        assert_eq!(ended.status, TaskStatus::Cancelled);
        let waited = task.wait(CallOptions::new()).await;
        assert!(matches!(waited, Err(CallError::Cancelled)), "{waited:?}");
        let nothing = client.task("nothing").get().await;
        assert!(
            matches!(nothing, Err(CallError::Protocol(_))),
            "{nothing:?}"
        );
        let begun = client.begin_tool("slow", &(), CallOptions::new()).await;
        let done = begun.expect("it begins").wait().await;
        assert_eq!(done.expect("it is done").text(), "done");
        client.close().await;
    });
}

#[test]
fn a_call_that_is_cancelled_cancels_its_task_and_one_that_is_late_does_not() {
    smol::block_on(async {
        let client = client(&server()).await;
        let canceller = Canceller::new();
        let options = CallOptions::new().canceller(&canceller);
        let cancel = async {
            Timer::after(Duration::from_millis(50)).await;
            canceller.cancel();
        };
        let called = client.call_tool_with("endless", &(), options);
        let (called, ()) = futures_lite::future::zip(called, cancel).await;
        assert!(matches!(called, Err(CallError::Cancelled)), "{called:?}");
        let options = CallOptions::new().max_total(Duration::from_millis(50));
        let late = client.call_tool_with("endless", &(), options).await;
        assert!(matches!(late, Err(CallError::Timeout(_))), "{late:?}");
        client.close().await;
    });
}

#[test]
fn a_client_that_does_not_know_tasks_is_refused() {
    smol::block_on(async {
        let client = builder().connect_in_process(&server()).await;
        let client = client.expect("it connects");
        let refused = client.call_tool("slow", &()).await;
        let Err(CallError::Protocol(error)) = refused else {
            panic!("{refused:?}");
        };
        assert_eq!(error.code, ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY);
        client.close().await;
    });
}

/// As 2025-11-25 had them: asked for by the client, whose handlers are asked while it waits.
#[test]
fn a_server_of_2025_11_25_is_asked_for_a_task() {
    smol::block_on(async {
        let asked = builder().elicitation(|_| async {
            let content = Json::owned(r#"{"name":"Ada"}"#.to_owned()).expect("JSON");
            ElicitResult::accept(content)
        });
        let asked = asked.tasks().revision(ProtocolVersion::V2025_11_25);
        let client = asked.connect_in_process(&server()).await;
        let client = client.expect("it connects");
        for (tool, result) in [("slow", "done"), ("asks", "Ada")] {
            let begun = client.begin_tool(tool, &(), CallOptions::new()).await;
            let Ok(Begun::Task(task)) = begun else {
                panic!("{begun:?}");
            };
            let done = task.wait(CallOptions::new()).await;
            assert_eq!(done.expect("it is done").text(), result);
            let state = task.get().await.expect("it is there");
            assert_eq!(state.status, TaskStatus::Completed);
            assert_eq!(state.poll_interval, Some(Duration::from_millis(5)));
        }
        let begun = client.begin_tool("fails", &(), CallOptions::new()).await;
        let failed = begun.expect("it begins").wait().await;
        let Err(CallError::Protocol(error)) = failed else {
            panic!("{failed:?}");
        };
        assert_eq!((error.code.value(), &*error.message), (-31_000, "no"));
        let begun = client.begin_tool("endless", &(), CallOptions::new()).await;
        let Ok(Begun::Task(task)) = begun else {
            panic!("{begun:?}");
        };
        task.cancel().await.expect("it is told");
        let waited = task.wait(CallOptions::new()).await;
        assert!(matches!(waited, Err(CallError::Cancelled)), "{waited:?}");
        // A tool that is no task is called all the same, once.
        let begun = client.begin_tool("plain", &(), CallOptions::new()).await;
        let Ok(Begun::Done(done)) = begun else {
            panic!("{begun:?}");
        };
        assert_eq!(done.text(), "at once");
        client.close().await;
    });
}

#[test]
fn who_subscribes_to_a_task_is_told_how_it_stands_to_its_end() {
    smol::block_on(async {
        let client = client(&server()).await;
        let begin = async |tool: &str| match client.begin_tool(tool, &(), CallOptions::new()).await
        {
            Ok(Begun::Task(task)) => task,
            begun => panic!("{begun:?}"),
        };
        let (one, other) = (begin("endless").await, begin("slow").await);
        let mut changes = one.changes();
        let first = changes.next().await.expect("it is told").expect("a state");
        assert_eq!(first.status, TaskStatus::Working, "how it stands now");
        let mut others = other.changes();
        let mut last = None;
        while let Some(state) = others.next().await {
            last = Some(state.expect("a state"));
        }
        let last = last.expect("it is told");
        assert_eq!(last.status, TaskStatus::Completed);
        assert!(last.raw.as_str().contains("done"), "{:?}", last.raw);
        one.cancel().await.expect("it is told");
        let ended = changes.next().await.expect("it is told").expect("a state");
        assert_eq!(
            ended.status,
            TaskStatus::Cancelled,
            "and nothing of the other one"
        );
        assert!(changes.next().await.is_none());
        // A client that may not listen is told so, once.
        let stranger = builder()
            .connect_in_process(&server())
            .await
            .expect("it connects");
        let mut refused = stranger.task("nothing").changes();
        let error = refused.next().await.expect("it is told");
        assert!(matches!(error, Err(CallError::Protocol(_))), "{error:?}");
        assert!(refused.next().await.is_none());
        client.close().await;
        stranger.close().await;
    });
}

/// It may do so, or not: ours does not.
#[test]
fn a_server_of_2025_11_25_tells_how_a_task_stands_unasked() {
    let known = builder().tasks().revision(ProtocolVersion::V2025_11_25);
    let script = |peer: &mut Peer| {
        let said = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": { "tasks": {} },
            "serverInfo": { "name": "by hand", "version": "1" },
        });
        peer.serve("initialize", &said);
        peer.expect("notifications/initialized");
        let asked = peer.expect("tasks/get");
        for (id, status) in [
            ("one", "working"),
            ("other", "failed"),
            ("one", "completed"),
        ] {
            let state = json!({ "taskId": id, "status": status, "ttl": null, "pollInterval": 7 });
            peer.notify("notifications/tasks/status", &state);
        }
        let state = json!({ "taskId": "one", "status": "completed", "ttl": null });
        peer.answer(&asked, &state);
        peer.ends();
    };
    with(known, script, async |client| {
        let task = client.task("one");
        let mut changes = task.changes();
        let state = task.get().await.expect("it is there");
        assert_eq!(state.status, TaskStatus::Completed);
        let mut told = Vec::new();
        while let Some(state) = changes.next().await {
            let state = state.expect("a state");
            assert_eq!(state.poll_interval, Some(Duration::from_millis(7)));
            told.push(state.status);
        }
        let all = [TaskStatus::Working, TaskStatus::Completed];
        assert_eq!(told, all, "and nothing of the other one");
    });
}
