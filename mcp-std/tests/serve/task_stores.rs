//! Tasks whose store takes its time, or fails.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use async_io::Timer;
use mcp_std::model::TaskSupport;
use mcp_std::tasks::{MemoryTaskStore, TaskEnd, TaskRecord, TaskStore, TaskStoreError, Tasks};
use mcp_std::{Server, Tool};
use serde_json::{Value, json};

use crate::peer::{Peer, modern, request, serve};

const TASKS: &str = "io.modelcontextprotocol/tasks";

/// As slow as a disk, and one that is full at first.
#[derive(Clone)]
struct Disk {
    kept: Arc<MemoryTaskStore>,
    takes: Duration,
    /// So many ends cannot be kept.
    failures: Arc<AtomicUsize>,
}

impl Disk {
    fn new(failures: usize) -> Self {
        Self {
            kept: Arc::new(MemoryTaskStore::new()),
            takes: Duration::from_millis(50),
            failures: Arc::new(AtomicUsize::new(failures)),
        }
    }

    fn ends(&self) -> Vec<Option<TaskEnd>> {
        let all = self.kept.list(None, 100).expect("it can be read");
        all.into_iter().map(|task| task.end).collect()
    }
}

impl TaskStore for Disk {
    fn create(&self, task: &TaskRecord) -> Result<(), TaskStoreError> {
        thread::sleep(self.takes);
        self.kept.create(task)
    }

    fn get(&self, id: &str) -> Result<Option<TaskRecord>, TaskStoreError> {
        self.kept.get(id)
    }

    fn finish(&self, id: &str, end: &TaskEnd, at: u64) -> Result<bool, TaskStoreError> {
        thread::sleep(self.takes);
        let fails = |left: usize| left.checked_sub(1);
        let failures = &self.failures;
        if failures
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, fails)
            .is_ok()
        {
            return Err(TaskStoreError::Other("the disk is full".into()));
        }
        self.kept.finish(id, end, at)
    }

    fn list(&self, after: Option<&str>, most: usize) -> Result<Vec<TaskRecord>, TaskStoreError> {
        self.kept.list(after, most)
    }

    fn sweep(&self, now: u64) -> Result<(), TaskStoreError> {
        self.kept.sweep(now)
    }
}

/// Runs one task at a time.
fn server(disk: &Disk) -> Server {
    let tool = |name: &str, ends: bool| {
        let handler = move || async move {
            if !ends {
                core::future::pending::<()>().await;
            }
            "done"
        };
        Tool::new(name, "", handler).as_task(TaskSupport::Required)
    };
    let tasks = Tasks::new(disk.clone()).max_running(1);
    let built = Server::builder("worker", "1")
        .with_tasks(tasks.poll_interval(Duration::from_millis(10)))
        .with_tool(tool("quick", true))
        .with_tool(tool("endless", false));
    built.build().expect("it can be built")
}

fn able() -> Value {
    json!({ "extensions": { TASKS: {} } })
}

async fn send(peer: &mut Peer, id: &str, method: &str, params: &Value) {
    let text = request(id, method, &modern(params, &able()));
    peer.send(&text).await;
}

/// The id of a task that a call becomes when there is room.
async fn begun(peer: &mut Peer, tool: &str) -> String {
    for _ in 0..100 {
        let call = json!({ "name": tool });
        let begun = peer.modern("call", "tools/call", &call, &able()).await;
        if let Some(id) = begun["taskId"].as_str() {
            return id.to_owned();
        }
        assert_eq!(begun["error"]["code"], -32603, "{begun}");
        Timer::after(Duration::from_millis(20)).await;
    }
    panic!("there is no room");
}

async fn get(peer: &mut Peer, id: &str) -> Value {
    let params = json!({ "taskId": id });
    peer.modern("get", "tasks/get", &params, &able()).await
}

/// As if its client had gone away.
async fn cancel(peer: &mut Peer, request: &str) {
    let params = json!({ "requestId": request });
    let told = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
    peer.send(&told.to_string()).await;
}

/// Its task is of no use to anybody: it has ended, and its place is free.
#[test]
fn a_call_can_be_cancelled_while_its_task_is_being_kept() {
    let disk = Disk::new(0);
    let end = serve(&server(&disk), |mut peer| async move {
        send(&mut peer, "1", "tools/call", &json!({ "name": "endless" })).await;
        Timer::after(Duration::from_millis(20)).await;
        cancel(&mut peer, "1").await;
        begun(&mut peer, "quick").await;
        peer.close();
    });
    end.expect("sockets do not fail");
    let ends = disk.ends();
    assert!(ends.contains(&Some(TaskEnd::Cancelled)), "{ends:?}");
}

/// Whether somebody waits for the answer or not.
#[test]
fn a_task_that_is_cancelled_ends() {
    let end = serve(&server(&Disk::new(0)), |mut peer| async move {
        let id = begun(&mut peer, "endless").await;
        send(&mut peer, "1", "tasks/cancel", &json!({ "taskId": id })).await;
        Timer::after(Duration::from_millis(20)).await;
        cancel(&mut peer, "1").await;
        begun(&mut peer, "quick").await;
        assert_eq!(get(&mut peer, &id).await["status"], "cancelled");
        peer.close();
    });
    end.expect("sockets do not fail");
}

/// Its client is told, and it is kept as soon as that is possible.
#[test]
fn an_end_that_cannot_be_kept_is_not_lost() {
    let disk = Disk::new(2);
    let server = server(&disk);
    let told = disk.clone();
    let end = serve(&server, |mut peer| async move {
        let disk = told;
        let id = begun(&mut peer, "quick").await;
        let filter = json!({ "notifications": { "taskIds": [id] } });
        send(&mut peer, "sub", "subscriptions/listen", &filter).await;
        let mut told = peer.message().await;
        while told["params"]["status"] != "completed" {
            told = peer.message().await;
        }
        assert_eq!(disk.ends(), [None], "it is not kept yet");
        assert_eq!(told["params"]["result"]["content"][0]["text"], "done");
        let task = get(&mut peer, &id).await;
        assert_eq!(task["status"], "completed", "{task}");
        while disk.ends() == [None] {
            Timer::after(Duration::from_millis(20)).await;
        }
        let kept = get(&mut peer, &id).await;
        assert_eq!(kept, task, "it is as it was told");
        begun(&mut peer, "quick").await;
        peer.close();
    });
    end.expect("sockets do not fail");
}

/// What is cancelled and cannot be kept is cancelled all the same.
#[test]
fn a_cancellation_that_cannot_be_kept_is_not_lost() {
    let disk = Disk::new(3);
    let server = server(&disk);
    let told = disk.clone();
    let end = serve(&server, |mut peer| async move {
        let disk = told;
        let id = begun(&mut peer, "endless").await;
        let params = json!({ "taskId": id });
        peer.modern("1", "tasks/cancel", &params, &able()).await;
        assert_eq!(get(&mut peer, &id).await["status"], "cancelled");
        while disk.ends() == [None] {
            Timer::after(Duration::from_millis(20)).await;
        }
        assert_eq!(disk.ends(), [Some(TaskEnd::Cancelled)]);
        assert_eq!(get(&mut peer, &id).await["status"], "cancelled");
        peer.close();
    });
    end.expect("sockets do not fail");
}
