//! A server whose tasks survive it: `server_tasks FILE` keeps them in this file. A task that ran when the process was killed
//! is found to have failed when the server is there again; none is run twice.

use std::time::Duration;

use async_io::Timer;
use mcp_std::model::TaskSupport;
use mcp_std::tasks::{RedbTaskStore, Tasks};
use mcp_std::{Server, Tool};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Work {
    /// What to call it.
    name: String,
    /// How long it takes, in milliseconds.
    millis: u64,
    /// A file that says what was begun.
    journal: Option<String>,
}

async fn work(args: Work) -> std::io::Result<String> {
    if let Some(journal) = &args.journal {
        use std::io::Write as _;
        let mut how = std::fs::OpenOptions::new();
        let mut file = how.create(true).append(true).open(journal)?;
        writeln!(file, "{}", args.name)?;
    }
    Timer::after(Duration::from_millis(args.millis)).await;
    Ok(format!("{} is done", args.name))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let file = std::env::args().nth(1).ok_or("usage: server_tasks FILE")?;
    let tasks = Tasks::new(RedbTaskStore::open(file)?).poll_interval(Duration::from_millis(100));
    let tool = Tool::new("work", "Takes its time", work).as_task(TaskSupport::Required);
    let server = Server::builder("worker", "1.0.0")
        .with_tool(tool)
        .with_tasks(tasks)
        .build()?;
    server.run_stdio()?;
    Ok(())
}
