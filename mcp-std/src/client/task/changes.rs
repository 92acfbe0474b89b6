//! How a task stands, as the server tells it.

use core::fmt;
use core::future::{Future, poll_fn};
use core::pin::Pin;
use core::task::{Context, Poll};
use core::time::Duration;

use futures_lite::Stream;
use mcp_core::json::Json;

use super::{TaskHandle, TaskState, TaskStatus, fault_of};
use crate::client::Notifications;
use crate::client::error::CallError;
use crate::client::options::CallOptions;

/// A subscription says nothing until there is something to say.
const SILENT: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// The request that is open as long as the server tells. It ends when it is dropped.
type Listening = Pin<Box<dyn Future<Output = Result<Json<'static>, CallError>> + Send>>;

/// How a task stands, each time that the server tells: by [`next`](Self::next). Made by [`TaskHandle::changes`]; what is told
/// while nobody asks waits, up to the bounds of [`Notifications`].
///
/// It ends with the task: the last state is one in which nothing changes any more. It also ends when the server does not
/// tell any longer. Dropping it ends the subscription.
#[must_use = "nothing is subscribed to before it is asked"]
pub struct TaskChanges {
    task: TaskHandle,
    told: Notifications,
    /// `None`: the server tells unasked (2025-11-25), or it has ended.
    listening: Option<Listening>,
    /// Nothing comes any more, but for this.
    ended: Option<Option<CallError>>,
}

impl TaskHandle {
    /// What the server tells about the task from now on. Of 2026-07-28, it is asked to (`subscriptions/listen`) when the first
    /// state is waited for, and begins with how the task stands then. A server of 2025-11-25 tells what changes, and may leave it
    /// out: whoever needs the result [waits](Self::wait) for it.
    pub fn changes(&self) -> TaskChanges {
        let told = self.client.notifications();
        let listening = (!self.is_legacy()).then(|| {
            let client = self.client.clone();
            let params = serde_json::json!({ "notifications": { "taskIds": [self.id] } });
            let listening: Listening = Box::pin(async move {
                let options = CallOptions::new().timeout(SILENT).max_total(SILENT);
                client
                    .request_by_name("subscriptions/listen", &params, options)
                    .await
            });
            listening
        });
        TaskChanges {
            task: self.clone(),
            told,
            listening,
            ended: None,
        }
    }
}

impl TaskChanges {
    /// The next state, when it is told; `None` when there will be none.
    ///
    /// # Errors
    ///
    /// The server refuses to tell, or the connection failed; nothing comes after that. Or what it told is no state of a task.
    pub async fn next(&mut self) -> Option<Result<TaskState, CallError>> {
        poll_fn(|cx| self.poll(cx)).await
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<TaskState, CallError>>> {
        if let Some(listening) = &mut self.listening
            && let Poll::Ready(end) = listening.as_mut().poll(cx)
        {
            self.listening = None;
            self.ended = Some(end.err());
        }
        // What was told before the end comes before it.
        loop {
            match Pin::new(&mut self.told).poll_next(cx) {
                Poll::Ready(Some(told)) => {
                    let theirs = matches!(
                        &*told.method,
                        "notifications/tasks" | "notifications/tasks/status"
                    );
                    let Some(params) = told.params.filter(|it| theirs && self.task.is_about(it))
                    else {
                        continue;
                    };
                    let state = TaskState::read(&params);
                    if state.as_ref().is_ok_and(|it| it.status.is_final()) {
                        self.listening = None;
                        self.ended = Some(None);
                    }
                    let state = state.map_err(|fault| fault_of("notifications/tasks", fault));
                    return Poll::Ready(Some(state));
                }
                Poll::Ready(None) => return Poll::Ready(self.end()),
                Poll::Pending if self.ended.is_some() => return Poll::Ready(self.end()),
                Poll::Pending => return Poll::Pending,
            }
        }
    }

    /// The error that it ended with, once.
    fn end(&mut self) -> Option<Result<TaskState, CallError>> {
        self.listening = None;
        self.ended.replace(None).flatten().map(Err)
    }
}

impl Stream for TaskChanges {
    type Item = Result<TaskState, CallError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll(cx)
    }
}

impl TaskStatus {
    /// Whether nothing changes any more.
    #[must_use]
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

impl fmt::Debug for TaskChanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskChanges").finish_non_exhaustive()
    }
}
