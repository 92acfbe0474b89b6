//! Tasks as 2025-11-25 had them: asked for by `params.task`, and waited for by `tasks/result`.

use core::time::Duration;

use mcp_core::ErrorCode;
use mcp_core::json::{Json, RawJson};
use mcp_core::model::ProtocolVersion;

use super::{TaskHandle, fault_of};
use crate::client::Client;
use crate::client::error::CallError;
use crate::client::options::CallOptions;
use crate::client::rounds::written;

/// A result is waited for as long as its task takes: what ends that is the time of the whole call.
const SILENT: Duration = Duration::from_secs(365 * 24 * 60 * 60);

impl Client {
    /// Asks for a task, of a server that declares that calls of tools can be some. `None`: there is none, and nothing was
    /// called.
    pub(in crate::client) async fn begin_legacy(
        &self,
        params: &Json<'_>,
        options: &CallOptions,
    ) -> Result<Option<TaskHandle>, CallError> {
        let shared = self.shared();
        if self.version() != ProtocolVersion::V2025_11_25 || !shared.settings.tasks {
            return Ok(None);
        }
        let server = shared.server();
        let capabilities = server.as_ref().and_then(|it| it.capabilities.as_ref());
        let tasks = capabilities.and_then(|it| it.tasks.as_ref());
        let calls =
            tasks.and_then(|it| it.raw().member("requests")?.member("tools")?.member("call"));
        if calls.is_none() {
            return Ok(None);
        }
        let asking = written(|json| {
            json.begin_object();
            for (name, value) in params.raw().as_object().into_iter().flatten() {
                json.key(&name.decode());
                json.raw(value);
            }
            json.key("task");
            json.begin_object();
            json.end_object();
            json.end_object();
        })?;
        let begun = match self.rounds("tools/call".into(), asking, options).await {
            Ok(done) => done.result,
            // TL-04: the tool is no task.
            Err(CallError::Protocol(error)) if error.code == ErrorCode::METHOD_NOT_FOUND => {
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        let task = begun.raw().member("task");
        let task =
            task.ok_or_else(|| fault_of("tools/call", "a task was asked for, and is none"))?;
        TaskHandle::new(self.clone(), &Json::from(task).into_owned()).map(Some)
    }
}

impl TaskHandle {
    pub(super) fn is_legacy(&self) -> bool {
        self.client.version() == ProtocolVersion::V2025_11_25
    }

    /// What the call brought. The server asks the client's handlers meanwhile, and answers when the task has ended.
    pub(super) async fn legacy_result(
        &self,
        options: &CallOptions,
    ) -> Result<Json<'static>, CallError> {
        let mut waiting = CallOptions::new().timeout(SILENT).retry(true);
        waiting.max_total = options.max_total;
        let params = serde_json::json!({ "taskId": self.id });
        self.client
            .request_by_name("tasks/result", &params, waiting)
            .await
    }

    /// Whether what a server tells is about this one, in either form.
    pub(super) fn is_about(&self, params: &Json<'_>) -> bool {
        let id = params.raw().member("taskId").and_then(RawJson::as_string);
        id.is_some_and(|id| *id.decode() == *self.id)
    }
}
