//! What clients ask about tasks.

use std::sync::Arc;

use futures_lite::FutureExt;
use mcp_core::ErrorCode;
use mcp_core::json::Json;
use mcp_core::model::{ElicitRequestParams, InputRequest, ProtocolVersion, key};
use serde::Deserialize;
use serde_json::{Value, json};

use super::live::Live;
use super::record::{TaskEnd, TaskRecord};
use super::{Service, TASKS, TaskStore, TaskStoreError};
use crate::server::context::{AskError, Context};
use crate::server::error::{Instead, ProtocolError};
use crate::server::extension::{Extension, Listening};
use crate::server::principal::Principal;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Which {
    task_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Update {
    task_id: String,
    input_responses: serde_json::Map<String, Value>,
}

#[derive(Deserialize)]
struct Page {
    cursor: Option<String>,
}

fn owner(context: &Context) -> Option<&str> {
    context.principal().map(Principal::name)
}

impl Service {
    /// As 2026-07-28 has it.
    pub(crate) fn extension(self: &Arc<Self>) -> Extension {
        let (get, update, cancel) = (self.clone(), self.clone(), self.clone());
        let listen = self.clone();
        Extension::new(TASKS)
            .required()
            .since(ProtocolVersion::V2026_07_28)
            .mirrored_method(
                "tasks/get",
                "taskId",
                move |context: Context, which: Which| {
                    let service = get.clone();
                    async move {
                        let (record, live) =
                            service.find(&which.task_id, owner(&context), false)?;
                        Ok::<_, ProtocolError>(service.details(&record, live.as_deref()))
                    }
                },
            )
            .mirrored_method(
                "tasks/update",
                "taskId",
                move |context: Context, update_: Update| {
                    let service = update.clone();
                    async move { service.update(owner(&context), &update_) }
                },
            )
            .mirrored_method(
                "tasks/cancel",
                "taskId",
                move |context: Context, which: Which| {
                    let service = cancel.clone();
                    async move {
                        let (_, live) = service.find(&which.task_id, owner(&context), false)?;
                        service.cancel(live).await;
                        Ok::<_, ProtocolError>(())
                    }
                },
            )
            .topics(
                // TX-15.
                "taskIds",
                "notifications/tasks",
                move |id, principal| match listen.find(id, principal.map(Principal::name), false) {
                    Ok((record, live)) => {
                        Listening::AcceptedWith(listen.details(&record, live.as_deref()))
                    }
                    Err(_) => Listening::Refused,
                },
            )
    }

    fn update(&self, owner: Option<&str>, update: &Update) -> Result<(), ProtocolError> {
        let (_, live) = self.find(&update.task_id, owner, false)?;
        let Some(live) = live else { return Ok(()) };
        for (key, answer) in &update.input_responses {
            let malformed = |problem| ProtocolError::new(ErrorCode::INVALID_PARAMS, problem);
            let answer =
                Json::owned(answer.to_string()).map_err(|error| malformed(error.to_string()))?;
            // TX-12: what is not asked, or not any more, is ignored.
            live.answer(key, answer.raw()).map_err(malformed)?;
        }
        self.announce(&live);
        Ok(())
    }

    /// As 2025-11-25 had it.
    pub(crate) fn experimental(self: &Arc<Self>) -> Extension {
        let settings = r#"{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}"#;
        let settings = Json::parse(settings.as_bytes()).unwrap_or(Json::EMPTY_OBJECT);
        let (get, result, list, cancel) = (self.clone(), self.clone(), self.clone(), self.clone());
        Extension::capability("tasks", ProtocolVersion::V2025_11_25)
            .settings(settings)
            .method("tasks/get", move |context: Context, which: Which| {
                let service = get.clone();
                async move {
                    let (record, live) = service.find(&which.task_id, owner(&context), true)?;
                    Ok::<_, ProtocolError>(plain(&record, live.as_deref()))
                }
            })
            .method("tasks/result", move |context: Context, which: Which| {
                let service = result.clone();
                async move { service.result(&context, &which.task_id).await }
            })
            .method("tasks/list", move |context: Context, page: Page| {
                let service = list.clone();
                async move { service.list(&context, page.cursor).await }
            })
            .method("tasks/cancel", move |context: Context, which: Which| {
                let service = cancel.clone();
                async move {
                    let (record, live) = service.find(&which.task_id, owner(&context), true)?;
                    if record.end.is_some() {
                        let message = "The task has ended: it cannot be cancelled";
                        return Err(ProtocolError::new(ErrorCode::INVALID_PARAMS, message));
                    }
                    service.cancel(live).await;
                    let (record, live) = service.find(&which.task_id, owner(&context), true)?;
                    Ok::<_, ProtocolError>(plain(&record, live.as_deref()))
                }
            })
    }

    /// Waits for the end of a task, and asks its client meanwhile what the task wants to know.
    // TL-08, TL-10, TL-11.
    async fn result(&self, context: &Context, id: &str) -> Result<Json<'static>, Instead> {
        let mut seen = None;
        // There may be a way to its client.
        let mut is_heard = true;
        let record = loop {
            let (record, live) = self.find(id, owner(context), true)?;
            let Some(live) = live else { break record };
            if is_heard && let Some((number, request)) = live.take_question() {
                let question = Question {
                    live: &live,
                    number,
                };
                let asked = async {
                    let answer = context.ask_now(related(request, id)).await;
                    // Nobody is there: whoever asks for the result next may be. This request only waits from now on, or
                    // it would take the same question again at once.
                    let answered = !matches!(answer, Err(AskError::Closed));
                    question.settle(answered.then_some(answer));
                    answered
                };
                let ended = async {
                    live.ended().await;
                    true
                };
                is_heard = asked.or(ended).await;
                continue;
            }
            let (version, ended) = live.changed(seen).await;
            seen = Some(version);
            if ended {
                let (record, _) = self.find(id, owner(context), true)?;
                break record;
            }
        };
        let about = |json: &mut mcp_core::json::Writer<'_, Vec<u8>>| {
            json.key(key::RELATED_TASK);
            json.begin_object();
            json.key("taskId");
            json.string(id);
            json.end_object();
        };
        match record.end {
            Some(TaskEnd::Completed { result, .. }) => {
                let result = Json::parse(result.as_bytes()).unwrap_or(Json::EMPTY_OBJECT);
                Ok(Json::written(|json| {
                    json.begin_object();
                    let members = || result.raw().as_object().into_iter().flatten();
                    json.key("_meta");
                    json.begin_object();
                    let meta = members().find(|(name, _)| *name == "_meta");
                    let meta = meta.and_then(|(_, meta)| meta.as_object());
                    for (name, value) in meta.into_iter().flatten() {
                        json.key(&name.decode());
                        json.raw(value);
                    }
                    about(json);
                    json.end_object();
                    for (name, value) in members().filter(|(name, _)| *name != "_meta") {
                        json.key(&name.decode());
                        json.raw(value);
                    }
                    json.end_object();
                }))
            }
            Some(TaskEnd::Failed {
                code,
                message,
                data,
            }) => {
                let mut error = ProtocolError::new(ErrorCode::new(code), message);
                error.data = data.and_then(|data| Json::owned(data).ok());
                Err(error.into())
            }
            Some(TaskEnd::Cancelled) | None => Err(Instead::invalid_params(
                "The task was cancelled: it has no result",
            )),
        }
    }

    /// The tasks of one client: those of its name; if it has none, those of its connection. A page of them may have none
    /// and not be the last: so many tasks of others were looked through.
    // TL-15.
    async fn list(
        &self,
        context: &Context,
        cursor: Option<String>,
    ) -> Result<Json<'static>, Instead> {
        let session = context.session();
        let owner = owner(context).map(str::to_owned);
        let at = super::now();
        let theirs = move |record: &TaskRecord| {
            record.owner == owner
                && (owner.is_some() || record.session == session)
                && record.is_experimental
                && !record.is_expired(at)
        };
        let store = self.store.clone();
        let found = self.on_store(move || look_through(&*store, cursor, theirs));
        let (found, next) = found.await.map_err(|error| {
            tracing::warn!(%error, "tasks could not be listed");
            Instead::internal("The tasks could not be listed")
        })?;
        let found: Vec<_> = found
            .into_iter()
            .map(|record| {
                let live = self.running().get(&record.id).cloned();
                match live.as_ref().and_then(|live| live.record_unkept()) {
                    Some(unkept) => plain(&unkept, None),
                    None => plain(&record, live.as_deref()),
                }
            })
            .collect();
        Ok(Json::written(|json| {
            json.begin_object();
            json.key("tasks");
            json.begin_array();
            for task in &found {
                json.raw(task.raw());
            }
            json.end_array();
            if let Some(next) = next {
                json.key("nextCursor");
                json.string(&next);
            }
            json.end_object();
        }))
    }
}

/// How many tasks are listed at a time, and read from the store at a time.
const PAGE: usize = 100;

/// So many times a store is read for one page.
const READS: usize = 16;

/// The next tasks after a cursor that somebody is shown, and the cursor after them.
fn look_through(
    store: &dyn TaskStore,
    mut after: Option<String>,
    is_shown: impl Fn(&TaskRecord) -> bool,
) -> Result<(Vec<TaskRecord>, Option<String>), TaskStoreError> {
    let mut found = Vec::new();
    for _ in 0..READS {
        let page = store.list(after.as_deref(), PAGE)?;
        let is_last = page.len() < PAGE;
        for record in page {
            if found.len() == PAGE {
                // The last that was shown is the cursor.
                return Ok((found, after));
            }
            let is_shown = is_shown(&record);
            after = Some(match is_shown {
                true => record.id.clone(),
                // Whoever knows the id of a task that is nobody's can ask for it. The half of it comes right before it.
                false => record.id.chars().take(record.id.len() / 2).collect(),
            });
            if is_shown {
                found.push(record);
            }
        }
        if is_last {
            return Ok((found, None));
        }
    }
    Ok((found, after))
}

/// How a task stands, without its result.
fn plain(record: &TaskRecord, live: Option<&Live>) -> Json<'static> {
    let now = live.map(Live::now);
    Json::written(|json| {
        json.begin_object();
        record.write(now.as_ref(), json);
        json.end_object();
    })
}

/// A question of a task, as long as the client is asked.
struct Question<'l> {
    live: &'l Live,
    number: u64,
}

impl Question<'_> {
    fn settle(self, answer: Option<crate::server::context::Answered>) {
        self.live.settle_question(self.number, answer);
        core::mem::forget(self);
    }
}

impl Drop for Question<'_> {
    fn drop(&mut self) {
        self.live.settle_question(self.number, None);
    }
}

/// A question that says which task it belongs to.
fn related(mut request: InputRequest<'static>, id: &str) -> InputRequest<'static> {
    let meta = Json::owned(json!({ key::RELATED_TASK: { "taskId": id } }).to_string()).ok();
    match &mut request {
        InputRequest::Elicit(ElicitRequestParams::Form(form)) => form.meta = meta,
        InputRequest::Elicit(ElicitRequestParams::Url(url)) => url.meta = meta,
        InputRequest::Sample(sample) => sample.meta = meta,
        InputRequest::Elicit(_) | InputRequest::ListRoots | InputRequest::Unknown { .. } | _ => {}
    }
    request
}

#[cfg(test)]
mod tests {
    use core::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::server::tasks::MemoryTaskStore;

    struct Counted(MemoryTaskStore, AtomicUsize);

    impl TaskStore for Counted {
        fn create(&self, task: &TaskRecord) -> Result<(), TaskStoreError> {
            self.0.create(task)
        }

        fn get(&self, id: &str) -> Result<Option<TaskRecord>, TaskStoreError> {
            self.0.get(id)
        }

        fn finish(&self, id: &str, end: &TaskEnd, at: u64) -> Result<bool, TaskStoreError> {
            self.0.finish(id, end, at)
        }

        fn list(
            &self,
            after: Option<&str>,
            most: usize,
        ) -> Result<Vec<TaskRecord>, TaskStoreError> {
            self.1.fetch_add(1, Ordering::Relaxed);
            self.0.list(after, most)
        }

        fn sweep(&self, now: u64) -> Result<(), TaskStoreError> {
            self.0.sweep(now)
        }
    }

    /// Each of them is found once, with a bound on what is read at a time, and nothing is said of those of others.
    #[test]
    fn a_list_among_those_of_others_is_read_in_parts() {
        let store = Counted(MemoryTaskStore::new(), AtomicUsize::new(0));
        let mut mine = Vec::new();
        for n in 0..10_000_u64 {
            // As long as ids are, and in no order.
            let id = format!("{:016x}{n:024x}", n.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            let is_mine = n < 250 || n % 1000 == 0;
            if is_mine {
                mine.push(id.clone());
            }
            let record = TaskRecord {
                id,
                owner: is_mine.then(|| "me".to_owned()),
                session: 0,
                tool: String::new(),
                is_experimental: true,
                created: 0,
                updated: 0,
                ttl: None,
                poll_interval: 1,
                end: None,
            };
            store.create(&record).expect("there is room");
        }
        mine.sort_unstable();
        let (mut found, mut cursor, mut requests) = (Vec::new(), None, 0);
        loop {
            let before = store.1.load(Ordering::Relaxed);
            let is_mine = |task: &TaskRecord| task.owner.is_some();
            let (page, next) = look_through(&store, cursor, is_mine).expect("it can be read");
            requests += 1;
            assert!(page.len() <= PAGE);
            assert!(store.1.load(Ordering::Relaxed) - before <= READS);
            found.extend(page.into_iter().map(|task| task.id));
            let Some(next) = next else { break };
            let task = store.get(&next).expect("it can be read");
            assert!(task.is_none_or(|task| task.owner.is_some()), "{next}");
            cursor = Some(next);
        }
        assert_eq!(found, mine);
        assert!(requests > 5, "{requests}");
    }
}
