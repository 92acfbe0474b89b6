//! How a call becomes a task.
//!
//! ```text
//!  call ──> handler runs in its connection ──> the task is kept ──> Note::Detach ──> its client is answered
//!                                                                        └──> the handler goes on by itself
//! ```

use core::pin::Pin;
use std::sync::{Arc, OnceLock};

use async_channel::{Receiver, Sender};
use async_io::Timer;
use core::time::Duration;
use futures_lite::FutureExt;
use mcp_core::ErrorCode;
use mcp_core::json::Json;
#[cfg(feature = "host")]
use mcp_core::json::RawJson;
use mcp_core::model::{EncodeResult as _, ProtocolVersion};

use super::live::Live;
use super::record::{TaskEnd, TaskRecord};
use super::{Service, now};
use crate::entropy;
use crate::panic::contain;
use crate::server::context::{Context, Note};
use crate::server::error::{Instead, ProtocolError};
use crate::server::extension::ExtensionResult;
use crate::server::handler::{Finished, Outcome, Shared};
use crate::server::output::ToolResult;
use crate::server::tool::Tool;

/// What a call that may become a task holds for that.
#[derive(Debug)]
pub(crate) struct Slot {
    service: Arc<Service>,
    tool: Box<str>,
    version: ProtocolVersion,
    /// It becomes one before its handler has begun.
    at_once: bool,
    /// What a client of 2025-11-25 asked for.
    experimental: Option<Option<u64>>,
    session: u64,
    live: OnceLock<Arc<Live>>,
}

/// A handler that no longer runs in its connection, and what its result is checked with.
#[doc(hidden)]
#[expect(unnameable_types, reason = "an inner part of a sealed trait")]
#[expect(missing_debug_implementations, reason = "the same")]
#[non_exhaustive]
pub struct Detached {
    pub(crate) future: Pin<Box<dyn Future<Output = Finished> + Send>>,
    pub(crate) tool: Arc<Tool<Shared>>,
    pub(crate) check_outputs: bool,
}

/// A task that was kept and that nobody runs yet.
#[derive(Debug)]
pub(crate) struct Begun {
    service: Arc<Service>,
    pub(crate) live: Arc<Live>,
    /// Tells the handler that it may go on.
    go_on: Sender<()>,
    may_go_on: Receiver<()>,
    /// Somebody runs it.
    runs: bool,
}

impl Slot {
    pub(crate) fn new(
        service: Arc<Service>,
        tool: &str,
        version: ProtocolVersion,
        at_once: bool,
        experimental: Option<Option<u64>>,
        session: u64,
    ) -> Self {
        Self {
            service,
            tool: tool.into(),
            version,
            at_once,
            experimental,
            session,
            live: OnceLock::new(),
        }
    }

    pub(crate) const fn at_once(&self) -> bool {
        self.at_once
    }

    pub(crate) fn live(&self) -> Option<&Arc<Live>> {
        self.live.get()
    }

    /// Says more about how the task stands.
    pub(crate) fn say(&self, live: &Live, message: &str) {
        live.set_message(message);
        self.service.announce(live);
    }

    pub(crate) async fn ask(
        &self,
        live: &Live,
        request: mcp_core::model::InputRequest<'static>,
    ) -> Result<Json<'static>, crate::server::context::AskError> {
        // Also when its handler does not wait any longer.
        let _answered = Announced(&self.service, live);
        live.ask(request, || self.service.announce(live)).await
    }

    /// Keeps the task, and has the connection answer with it.
    pub(crate) async fn begin(&self, context: &Context) -> Result<(), Instead> {
        if self.live.get().is_some() {
            return Ok(());
        }
        let service = &self.service;
        let at = now();
        let ttl = match self.experimental {
            Some(Some(asked)) => Some(service.ttl.map_or(asked, |ttl| asked.min(ttl))),
            Some(None) | None => service.ttl,
        };
        let record = TaskRecord {
            id: entropy::key()[..20]
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect(),
            owner: context.principal().map(|it| it.name().to_owned()),
            session: self.session,
            tool: self.tool.clone().into(),
            is_experimental: self.experimental.is_some(),
            created: at,
            updated: at,
            ttl,
            poll_interval: service.poll_interval,
            end: None,
        };
        // TX-06: before its client is told.
        let begun = service.create(record, self.version).await?;
        let may_go_on = begun.may_go_on.clone();
        let _ = self.live.set(begun.live.clone());
        context
            .note(Note::Detach(context.key, Box::new(begun)))
            .await;
        match may_go_on.recv().await {
            Ok(()) => Ok(()),
            Err(_) => Err(Instead::internal("The call ended before it was a task")),
        }
    }
}

/// Tells who listens how a task stands after this.
struct Announced<'a>(&'a Service, &'a Live);

impl Drop for Announced<'_> {
    fn drop(&mut self) {
        self.0.announce(self.1);
    }
}

impl Begun {
    pub(super) fn new(service: Arc<Service>, live: Arc<Live>) -> Self {
        let (go_on, may_go_on) = async_channel::bounded(1);
        Self {
            service,
            live,
            go_on,
            may_go_on,
            runs: false,
        }
    }

    /// What the client is answered with.
    // TL-04, TX-05.
    pub(crate) fn answer(&self) -> ExtensionResult {
        let record = &self.live.record;
        let members = |json: &mut mcp_core::json::Writer<'_, Vec<u8>>| {
            json.begin_object();
            record.write(None, json);
            json.end_object();
        };
        if record.is_experimental {
            return ExtensionResult::complete(Json::written(|json| {
                json.begin_object();
                json.key("task");
                members(json);
                json.end_object();
            }));
        }
        ExtensionResult::of_type("task", Json::written(members))
    }

    /// Lets the handler go on by itself.
    pub(crate) fn run(mut self, detached: Detached) {
        self.runs = true;
        let _ = self.go_on.try_send(());
        let (service, live) = (self.service.clone(), self.live.clone());
        let spawner = service.spawner.clone();
        spawner.spawn(drive(service, live, detached));
    }
}

impl Drop for Begun {
    /// Its client went away before it was told: nobody knows the task.
    fn drop(&mut self) {
        if !self.runs {
            let (service, live) = (self.service.clone(), self.live.clone());
            self.service.spawner.spawn(async move {
                service.finish(&live, TaskEnd::Cancelled).await;
            });
        }
    }
}

/// Runs a task to its end.
async fn drive(service: Arc<Service>, live: Arc<Live>, detached: Detached) {
    let version = live.version;
    let Detached {
        mut future,
        tool,
        check_outputs,
    } = detached;
    let cancelled = async {
        live.cancelled().await;
        TaskEnd::Cancelled
    };
    let left = live.record.ttl.map(Duration::from_millis);
    let late = async {
        match left {
            Some(left) => Timer::after(left).await,
            None => core::future::pending().await,
        };
        TaskEnd::failed(ErrorCode::INTERNAL_ERROR, "The time of the task is over")
    };
    let finished = async {
        let finished = (&mut future).await;
        end(finished, &tool, check_outputs, version)
    };
    let end = cancelled.or(late).or(finished).await;
    // What it does when it is dropped is its own business.
    let _ = contain(|| drop(future));
    service.finish(&live, end).await;
}

/// What a handler's outcome is to its task.
fn end(
    finished: Finished,
    tool: &Tool<Shared>,
    check_outputs: bool,
    version: ProtocolVersion,
) -> TaskEnd {
    let internal = |message: String| TaskEnd::failed(ErrorCode::INTERNAL_ERROR, message);
    let Ok(outcome) = finished else {
        return internal(format!("Tool {} panicked", tool.definition.name));
    };
    match outcome {
        Outcome::Tool(result) => {
            if let Some(problem) = misfit(tool, check_outputs, &result) {
                return internal(problem);
            }
            let Some(borrowed) = result.borrowed() else {
                return internal("The tool's structured content is not JSON".to_owned());
            };
            let written = Json::written(|json| {
                json.begin_object();
                if let Some(meta) = &result.meta {
                    json.key("_meta");
                    json.raw(meta.raw());
                }
                borrowed.members(version, json);
                json.end_object();
            });
            TaskEnd::Completed {
                result: written.as_str().to_owned(),
                is_error: result.is_error,
            }
        }
        #[cfg(feature = "host")]
        Outcome::Relayed(result) => {
            let written = Json::written(|json| {
                json.begin_object();
                if let Some(meta) = result.meta() {
                    json.key("_meta");
                    json.raw(meta);
                }
                result.members(version, json);
                json.end_object();
            });
            let is_error = written.raw().member("isError");
            TaskEnd::Completed {
                is_error: is_error.and_then(RawJson::as_bool) == Some(true),
                result: written.as_str().to_owned(),
            }
        }
        Outcome::Instead(Instead::Error(error)) => {
            let ProtocolError {
                code,
                message,
                data,
                ..
            } = error;
            TaskEnd::Failed {
                code: code.value(),
                message,
                data: data.map(|data| data.as_str().to_owned()),
            }
        }
        Outcome::Instead(instead) => internal(instead.to_string()),
        Outcome::Resource(_)
        | Outcome::Prompt(_)
        | Outcome::Completion(_)
        | Outcome::Extension(_)
        | Outcome::Asked => internal("The tool ended with something that is no result".to_owned()),
    }
}

#[cfg(feature = "validate")]
fn misfit(tool: &Tool<Shared>, check: bool, result: &ToolResult) -> Option<String> {
    let violations = tool.misfit(result).filter(|_| check)?;
    let name = &tool.definition.name;
    Some(format!(
        "The result of tool {name} does not fit its output schema: {violations}"
    ))
}

#[cfg(not(feature = "validate"))]
const fn misfit(_: &Tool<Shared>, _: bool, _: &ToolResult) -> Option<String> {
    None
}
