//! The experimental tasks of 2025-11-25, as far as they are on the wire (basic, utilities, "Tasks"). No other revision
//! has them.

use crate::Cow;

use super::List;
use super::codec::{Decode, DecodeError, optional};
use super::codec::{Target, Write, names, own_as_is, record, result_impls, value_impls};
use crate::json::{Json, RawJson, Sink, Writer};

/// Asks that a request be run as a task.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct TaskMetadata {
    /// How long to keep it, in milliseconds from its creation.
    pub ttl: Option<u64>,
}

#[cfg(feature = "alloc")]
impl Decode<'_> for TaskMetadata {
    fn decode(value: RawJson<'_>) -> Result<Self, DecodeError> {
        let at = |error: DecodeError| error.at("TaskMetadata", "ttl");
        let members = value.as_object();
        let mut found = members
            .ok_or(DecodeError::new("an object").at("TaskMetadata", ""))?
            .filter(|(name, _)| *name == "ttl")
            .map(|(_, value)| value);
        let ttl = optional(found.next()).map_err(at)?;
        match found.next() {
            None => Ok(Self { ttl }),
            Some(_) => Err(at(DecodeError::new("one of it only"))),
        }
    }
}

impl Write for TaskMetadata {
    fn write<S: Sink + ?Sized>(&self, _: Target, json: &mut Writer<'_, S>) {
        json.begin_object();
        if let Some(ttl) = self.ttl {
            json.key("ttl");
            json.unsigned(ttl);
        }
        json.end_object();
    }
}

own_as_is!(TaskMetadata);
value_impls!(TaskMetadata);

names! {
    /// How a task stands.
    pub enum TaskStatus {
        /// It runs.
        Working = "working",
        /// It waits for input.
        InputRequired = "input_required",
        /// It is done.
        Completed = "completed",
        /// It failed; a tool's result that is an error counts as failed (TL-09).
        Failed = "failed",
        /// It was cancelled.
        Cancelled = "cancelled",
    }
}

record! {
    /// A task. Also the params of `notifications/tasks/status`, and the result of `tasks/get` and `tasks/cancel`.
    pub struct Task<'a> {
        /// Which.
        task_id: req Cow<'a, str> = "taskId";
        /// How it stands.
        status: req TaskStatus<'a> = "status";
        /// More about that, for people.
        status_message: opt Cow<'a, str> = "statusMessage";
        /// When it began, in ISO 8601.
        created_at: req Cow<'a, str> = "createdAt";
        /// When it last changed, in ISO 8601.
        last_updated_at: req Cow<'a, str> = "lastUpdatedAt";
        /// How long it is kept, in milliseconds from its creation; `None` is for ever.
        ttl: nul u64 = "ttl";
        /// How often to ask, in milliseconds.
        poll_interval: opt u64 = "pollInterval";
    }
    around {
        /// `_meta`, where it stands alone.
        meta: opt Json<'a> = "_meta" [A E];
    }
}
result_impls!(Task);

record! {
    /// The result of a request that is run as a task.
    pub struct CreateTaskResult<'a> {
        /// The task.
        task: req Task<'a> = "task";
    }
    around {
        /// `_meta`.
        meta: opt Json<'a> = "_meta" [A E];
    }
}
result_impls!(CreateTaskResult);

record! {
    /// The result of `tasks/list`.
    pub struct ListTasksResult<'a> {
        /// A page of the tasks.
        tasks: req List<'a, Task<'a>> = "tasks";
        /// Where the next page begins; absent on the last.
        next_cursor: opt Cow<'a, str> = "nextCursor";
    }
    around {
        /// `_meta`.
        meta: opt Json<'a> = "_meta" [A E];
    }
}
result_impls!(ListTasksResult);

record! {
    /// The params of `tasks/get`, `tasks/result` and `tasks/cancel`.
    pub struct TaskRequestParams<'a> {
        /// Which.
        task_id: req Cow<'a, str> = "taskId";
        /// `_meta`.
        meta: opt Json<'a> = "_meta";
    }
}
