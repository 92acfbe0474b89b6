//! Tools that are run as tasks.

use core::time::Duration;

use async_io::Timer;
use mcp_std::model::TaskSupport;
use mcp_std::schemars::{self, JsonSchema};
use mcp_std::tasks::{MemoryTaskStore, Tasks};
use mcp_std::{
    AskError, Context, Elicited, ErrorCode, InputRequired, Instead, IntoToolResult as _,
    ProtocolError, ServerBuilder, Tool, ToolResult,
};
use serde::Deserialize;

use super::rounds::{NAME, filled, one};

#[derive(Deserialize, JsonSchema)]
struct Greet {
    /// Whom.
    name: String,
}

#[derive(Deserialize, JsonSchema)]
struct Compute {
    /// How long it takes.
    #[schemars(range(min = 0, max = 600))]
    seconds: f64,
    /// What to call it.
    #[serde(default)]
    label: String,
}

#[derive(Deserialize, JsonSchema)]
struct Delete {
    /// The file, of which nothing is touched.
    filename: String,
}

#[derive(Deserialize, JsonSchema)]
struct Confirmation {
    /// Whether to go on
    confirm: bool,
}

#[derive(Deserialize, JsonSchema)]
struct Details {
    /// What to call it
    name: String,
    /// Whether to go on
    confirm: bool,
}

pub(super) fn add(builder: ServerBuilder) -> ServerBuilder {
    builder
        .with_tasks(Tasks::new(MemoryTaskStore::new()).poll_interval(Duration::from_millis(200)))
        .with_tool(
            Tool::new("greet", "Says hello, at once", |args: Greet| async move {
                format!("Hello, {}!", args.name)
            })
            .read_only(true),
        )
        .with_tool(
            Tool::new("slow_compute", "Takes its time", slow_compute)
                .as_task(TaskSupport::Optional),
        )
        .with_tool(
            Tool::new("failing_job", "A task whose tool fails", || async {
                Timer::after(Duration::from_secs(1)).await;
                Err::<(), _>("this job always fails")
            })
            .as_task(TaskSupport::Required),
        )
        .with_tool(
            Tool::new("protocol_error_job", "A task that fails", || async {
                Timer::after(Duration::from_millis(200)).await;
                Err::<(), _>(ProtocolError::new(
                    ErrorCode::INTERNAL_ERROR,
                    "this job cannot be done",
                ))
            })
            .as_task(TaskSupport::Optional),
        )
        .with_tool(
            Tool::new("confirm_delete", "A task that asks first", confirm_delete)
                .as_task(TaskSupport::Optional),
        )
        .with_tool(
            Tool::new("multi_input", "A task that asks two things", multi_input)
                .as_task(TaskSupport::Optional),
        )
        .with_tool(
            Tool::new(
                "test_tool_with_task",
                "Asks, and goes on as a task",
                test_tool_with_task,
            )
            .begins_task(TaskSupport::Required),
        )
}

async fn slow_compute(args: Compute) -> Result<String, String> {
    if !(0.0..=600.0).contains(&args.seconds) {
        return Err("at most 600 seconds".to_owned());
    }
    Timer::after(Duration::from_secs_f64(args.seconds)).await;
    Ok(format!("{}: computed for {} s", args.label, args.seconds))
}

async fn confirm_delete(context: Context, args: Delete) -> Result<String, Instead> {
    let question = format!("Delete {}?", args.filename);
    let answer = context.elicit_form::<Confirmation>(question).await;
    Ok(match answer.map_err(asking)? {
        Elicited::Accepted(answer) if answer.confirm => format!("deleted {}", args.filename),
        Elicited::Accepted(_) | Elicited::Declined | Elicited::Cancelled => {
            format!("kept {}", args.filename)
        }
    })
}

async fn multi_input(context: Context) -> Result<String, Instead> {
    let first = context.elicit_form::<Details>("The first thing?");
    let second = context.elicit_form::<Details>("The second thing?");
    let (first, second) = futures_lite::future::zip(first, second).await;
    let name = |answer: Elicited<Details>| match answer.accepted() {
        Some(details) if details.confirm => details.name,
        Some(_) | None => "nothing".to_owned(),
    };
    let (first, second) = (first.map_err(asking)?, second.map_err(asking)?);
    Ok(format!("{} and {}", name(first), name(second)))
}

async fn test_tool_with_task(context: Context) -> Result<ToolResult, Instead> {
    let Some(name) = filled(&context, "user_name", "name")? else {
        return InputRequired::new()
            .elicit("user_name", one("What is your name?", NAME))
            .into_tool_result();
    };
    context.begin_task().await?;
    Timer::after(Duration::from_millis(200)).await;
    format!("Hello, {name}: this is the result of a task").into_tool_result()
}

/// A question without an answer fails the call as its cause says.
fn asking(error: AskError) -> Instead {
    if let AskError::Unsupported(missing) = error {
        return Instead::MissingCapability(missing);
    }
    ProtocolError::new(ErrorCode::INTERNAL_ERROR, error.to_string()).into()
}
