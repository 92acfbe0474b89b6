//! Calls that go on after their answer, as a task that the client asks for (`io.modelcontextprotocol/tasks`, and the form
//! that 2025-11-25 had for trial).

mod changes;
mod legacy;

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::time::Duration;
use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use async_io::Timer;
use mcp_core::json::{Json, RawJson};
use mcp_core::model::{CallToolResult, Decode as _, Progress};

use super::Client;
use super::ceiling::Ceiling;
use super::error::{CallError, ErrorAnswer};
use super::options::CallOptions;
use super::outcome::ToolOutcome;
use super::rounds::{Rounds, written};

pub use changes::TaskChanges;

/// The identifier of the extension.
pub(crate) const TASKS: &str = "io.modelcontextprotocol/tasks";

/// So often a server is asked that does not say how often it wants to be.
const POLL: Duration = Duration::from_secs(1);

/// And as often at most, and at least, whatever it says.
const SHORTEST: Duration = Duration::from_millis(20);
const LONGEST: Duration = Duration::from_secs(60);

/// What came of a call: a result, or a task that will have one.
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "a tool is answered with these two")]
pub enum Begun {
    /// The server did it at once.
    Done(ToolOutcome),
    /// It goes on.
    Task(TaskHandle),
}

impl Begun {
    /// The result, now or when there is one.
    ///
    /// # Errors
    ///
    /// Those of [`TaskHandle::wait`].
    pub async fn wait(self) -> Result<ToolOutcome, CallError> {
        match self {
            Self::Done(outcome) => Ok(outcome),
            Self::Task(task) => task.wait(CallOptions::new()).await,
        }
    }
}

/// A task at a server. Dropping it does nothing to the task: [`id`](Self::id) is all it takes to come back to it, after a
/// restart as well, by [`Client::task`].
#[derive(Clone)]
pub struct TaskHandle {
    client: Client,
    id: String,
}

/// How a task stands.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TaskState {
    /// In one word.
    pub status: TaskStatus,
    /// More about that, for people: untrusted text.
    pub message: Option<String>,
    /// How often the server wants to be asked.
    pub poll_interval: Option<Duration>,
    /// All of it, as the server said it: with `result`, `error` or `inputRequests`, which 2025-11-25 does not have.
    pub raw: Json<'static>,
}

/// How a task stands, in one word.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum TaskStatus {
    /// It runs.
    Working,
    /// It waits for answers: see [`TaskHandle::update`].
    InputRequired,
    /// There is a result, be it that the tool failed.
    Completed,
    /// The call failed with a JSON-RPC error.
    Failed,
    /// It was cancelled.
    Cancelled,
}

impl TaskStatus {
    /// As it is on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Working => "working",
            Self::InputRequired => "input_required",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

impl TaskState {
    fn read(raw: &Json<'static>) -> Result<Self, &'static str> {
        let text = |name: &str| raw.raw().member(name).and_then(RawJson::as_string);
        let status = text("status").ok_or("`status` is no string")?.decode();
        let status = match &*status {
            "working" => TaskStatus::Working,
            "input_required" => TaskStatus::InputRequired,
            "completed" => TaskStatus::Completed,
            "failed" => TaskStatus::Failed,
            "cancelled" => TaskStatus::Cancelled,
            _ => return Err("`status` is none that a task can have"),
        };
        let interval = raw.raw().member("pollIntervalMs");
        // As 2025-11-25 has it.
        let interval = interval.or_else(|| raw.raw().member("pollInterval"));
        let interval = interval.and_then(|it| it.as_number()?.as_u64());
        Ok(Self {
            status,
            message: text("statusMessage").map(|text| text.decode().into_owned()),
            poll_interval: interval.map(Duration::from_millis),
            raw: raw.clone(),
        })
    }
}

/// The task that a call is waiting for: should it be cancelled, the task is as well.
#[derive(Debug, Default)]
pub(super) struct Followed(Mutex<Option<String>>);

impl Followed {
    fn set(&self, id: &str) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(id.to_owned());
    }

    fn get(&self) -> Option<String> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

/// What comes of a task in the end. A call waits for calls of its own here.
type Following<'f> = Pin<Box<dyn Future<Output = Result<Json<'static>, CallError>> + Send + 'f>>;

impl Client {
    /// A task that was begun before, by this program or another run of it.
    #[must_use]
    pub fn task(&self, id: impl Into<String>) -> TaskHandle {
        TaskHandle {
            client: self.clone(),
            id: id.into(),
        }
    }

    /// Waits for the end of a task that a call became: its result.
    pub(super) fn follow<'f>(
        &'f self,
        begun: Json<'static>,
        options: &'f CallOptions,
        ceiling: Ceiling,
        followed: &'f Followed,
    ) -> Following<'f> {
        Box::pin(async move {
            let task = TaskHandle::new(self.clone(), &begun)?;
            followed.set(&task.id);
            // What it says of itself first is how long to wait before it is asked.
            let first = TaskState::read(&begun).map_err(|fault| fault_of("tools/call", fault))?;
            task.follow(Some(first), options, ceiling).await
        })
    }

    pub(super) fn give_up<'f>(
        &'f self,
        followed: &'f Followed,
    ) -> Pin<Box<dyn Future<Output = ()> + Send + 'f>> {
        Box::pin(async move {
            if let Some(id) = followed.get() {
                // Whoever cancelled is not to hear how that went.
                let _ = self.task(id).cancel().await;
            }
        })
    }
}

impl TaskHandle {
    pub(super) fn new(client: Client, begun: &Json<'static>) -> Result<Self, CallError> {
        let id = begun.raw().member("taskId").and_then(RawJson::as_string);
        let id = id.ok_or_else(|| fault_of("tools/call", "`taskId` is no string"))?;
        Ok(Self {
            id: id.decode().into_owned(),
            client,
        })
    }

    /// What names it. To be kept by a program that wants to come back to it, like a password.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// How it stands.
    ///
    /// # Errors
    ///
    /// The call failed; there is no such task, or not any more.
    pub async fn get(&self) -> Result<TaskState, CallError> {
        let options = CallOptions::new().retry(true);
        let params = serde_json::json!({ "taskId": self.id });
        let state = self.client.request_by_name("tasks/get", &params, options);
        TaskState::read(&state.await?).map_err(|fault| fault_of("tasks/get", fault))
    }

    /// Answers what it asks, by the keys of its `inputRequests`: an object. [`wait`](Self::wait) does that by itself. Servers of
    /// 2025-11-25 ask while they are waited for, and refuse this.
    ///
    /// # Errors
    ///
    /// The call failed.
    pub async fn update(&self, answers: &Json<'_>) -> Result<(), CallError> {
        let answers: serde_json::Value = serde_json::from_str(answers.as_str())
            .map_err(|error| CallError::Arguments(error.to_string()))?;
        let params = serde_json::json!({ "taskId": self.id, "inputResponses": answers });
        let options = CallOptions::new();
        let updated = self
            .client
            .request_by_name("tasks/update", &params, options);
        updated.await.map(drop)
    }

    /// Asks for it to be cancelled. It may end otherwise.
    ///
    /// # Errors
    ///
    /// The call failed.
    pub async fn cancel(&self) -> Result<(), CallError> {
        let params = serde_json::json!({ "taskId": self.id });
        let options = CallOptions::new();
        let cancelled = self
            .client
            .request_by_name("tasks/cancel", &params, options);
        cancelled.await.map(drop)
    }

    /// Waits for its end, and has the client's handlers answer what it asks. Of the options, those about time, progress and
    /// cancelling count: each answer of the server is told as progress. Cancelling cancels the task; dropping the future
    /// does not.
    ///
    /// # Errors
    ///
    /// The task failed, with its error as that of a call; it was cancelled; it was not done in time, and goes on; a question
    /// of it was declined, or a call failed.
    pub async fn wait(&self, options: CallOptions) -> Result<ToolOutcome, CallError> {
        let timeouts = &self.client.shared().timeouts;
        let ceiling = Ceiling::new(options.max_total.unwrap_or(timeouts.max_total));
        let following = self.follow(None, &options, ceiling);
        let result = match &options.canceller {
            Some(canceller) => {
                let result = canceller.guard(following).await;
                if matches!(result, Err(CallError::Cancelled)) {
                    let _ = self.cancel().await;
                }
                result?
            }
            None => following.await?,
        };
        let decoded = CallToolResult::decode(result.raw());
        let decoded = decoded.map_err(|error| CallError::Decode {
            method: "tools/call".into(),
            error,
        })?;
        Ok(ToolOutcome(decoded.into_owned()))
    }

    async fn follow(
        &self,
        first: Option<TaskState>,
        options: &CallOptions,
        ceiling: Ceiling,
    ) -> Result<Json<'static>, CallError> {
        let mut answered = HashSet::new();
        let mut polls = 0.0;
        let mut next = first;
        loop {
            let state = match next.take() {
                // It was not asked for, and has neither a result nor questions.
                Some(begun) => begun,
                None => ceiling.guard(self.get()).await?,
            };
            polls += 1.0;
            if let Some(told) = &options.on_progress {
                let message = state.message.as_deref();
                let message = message.unwrap_or(state.status.as_str());
                let mut progress = Progress::new(polls);
                progress.message = Some(message.to_owned().into());
                told(&progress);
            }
            if self.is_legacy() {
                if state.status == TaskStatus::Cancelled {
                    return Err(CallError::Cancelled);
                }
                if state.status != TaskStatus::Working {
                    return ceiling.guard(self.legacy_result(options)).await;
                }
            }
            let member = |name: &'static str| {
                let found = state.raw.raw().member(name);
                found
                    .ok_or_else(|| fault_of("tasks/get", "a task without what its status promises"))
            };
            match state.status {
                TaskStatus::Completed if polls > 1.0 => {
                    return Ok(Json::from(member("result")?).into_owned());
                }
                TaskStatus::Failed if polls > 1.0 => {
                    let error = member("error")?;
                    return Err(ErrorAnswer::read(error).map_or_else(
                        || fault_of("tasks/get", "`error` is none"),
                        CallError::Protocol,
                    ));
                }
                TaskStatus::Cancelled => return Err(CallError::Cancelled),
                TaskStatus::InputRequired if polls > 1.0 => {
                    let requests = member("inputRequests")?;
                    if ceiling
                        .guard(self.answer(requests, &mut answered, ceiling))
                        .await?
                    {
                        continue;
                    }
                }
                TaskStatus::Working
                | TaskStatus::Completed
                | TaskStatus::Failed
                | TaskStatus::InputRequired => {}
            }
            let pause = state.poll_interval.unwrap_or(POLL);
            let over = state.status != TaskStatus::Working;
            let pause = if over {
                SHORTEST
            } else {
                pause.clamp(SHORTEST, LONGEST)
            };
            let pause = async {
                Timer::after(pause).await;
                Ok(())
            };
            ceiling.guard(pause).await?;
        }
    }

    // TX-10.
    /// Answers what was not answered before (it may be told again until the server has taken it). Whether there was any.
    async fn answer(
        &self,
        requests: RawJson<'_>,
        answered: &mut HashSet<String>,
        ceiling: Ceiling,
    ) -> Result<bool, CallError> {
        let all = requests.as_object().into_iter().flatten();
        let open = all.map(|(key, request)| (key.decode().into_owned(), request));
        let open: Vec<_> = open.filter(|(key, _)| !answered.contains(key)).collect();
        if open.is_empty() {
            return Ok(false);
        }
        let shared = self.client.shared();
        if answered.len() + open.len() > shared.settings.max_rounds.saturating_mul(8) {
            let limit = shared.settings.max_rounds;
            return Err(CallError::TooManyRounds { limit });
        }
        let server = shared.server();
        let rounds = Rounds {
            method: "tasks/get".into(),
            handlers: &shared.handlers,
            server: server.and_then(|server| server.implementation.clone()),
            version: self.client.version(),
            limit: shared.settings.max_rounds,
            ceiling,
            knows_tasks: false,
        };
        let open_requests = written(|json| {
            json.begin_object();
            for (key, request) in &open {
                json.key(key);
                json.raw(*request);
            }
            json.end_object();
        })?;
        let answers = rounds.answers(open_requests.raw()).await?;
        self.update(&answers).await?;
        answered.extend(open.into_iter().map(|(key, _)| key));
        Ok(true)
    }
}

impl fmt::Debug for TaskHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Who knows the id may have the task.
        f.debug_struct("TaskHandle").finish_non_exhaustive()
    }
}

fn fault_of(method: &'static str, fault: &str) -> CallError {
    CallError::Answer {
        method: method.into(),
        fault: fault.to_owned(),
    }
}
