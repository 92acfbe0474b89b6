//! Tasks: calls of tools that go on after their answer, which is a handle to ask by (`io.modelcontextprotocol/tasks`, and the
//! experimental form that they had in 2025-11-25).
//!
//! Both are extensions to the rest of the server; what is special here is only how a running handler leaves its connection.

mod begin;
mod live;
mod methods;
mod record;
#[cfg(feature = "tasks-redb")]
mod redb;
mod store;

use core::fmt;
use core::time::Duration;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use async_io::Timer;
use mcp_core::ErrorCode;
use mcp_core::json::Json;
use mcp_core::model::ProtocolVersion;

#[cfg(feature = "tasks-redb")]
pub use self::redb::RedbTaskStore;
pub use record::{TaskEnd, TaskRecord};
pub use store::{MemoryTaskStore, TaskStore, TaskStoreError, check_task_store};

pub(crate) use begin::{Begun, Detached, Slot};
pub(crate) use live::Live;

use super::changes::Board;
use super::error::{Instead, ProtocolError};
use crate::Spawner;

/// The identifier of the extension.
pub(crate) const TASKS: &str = "io.modelcontextprotocol/tasks";

/// How a server keeps and runs tasks: for [`ServerBuilder::with_tasks`](super::ServerBuilder::with_tasks).
///
/// ```
/// use mcp_std::model::TaskSupport;
/// use mcp_std::tasks::{MemoryTaskStore, Tasks};
/// use mcp_std::{Server, Tool};
///
/// let digest = Tool::new("digest", "Reads everything", || async { "That takes long." })
///     .as_task(TaskSupport::Optional);
/// let server = Server::builder("reader", "1.0.0")
///     .with_tool(digest)
///     .with_tasks(Tasks::new(MemoryTaskStore::new()))
///     .build()?;
/// # Ok::<(), mcp_std::BuildError>(())
/// ```
#[must_use = "nothing is kept before it is given to a server"]
pub struct Tasks {
    store: Arc<dyn TaskStore>,
    ttl: Option<Duration>,
    poll_interval: Duration,
    most_running: usize,
    spawner: Spawner,
}

impl Tasks {
    /// Tasks that are kept there. Those that a process left behind that ran them are marked as failed when the server is
    /// built; none is run again.
    pub fn new(store: impl TaskStore) -> Self {
        Self {
            store: Arc::new(store),
            ttl: Some(Duration::from_secs(60 * 60)),
            poll_interval: Duration::from_secs(1),
            most_running: 1024,
            spawner: Spawner::default(),
        }
    }

    /// How long a task is kept, from when it began; one that still runs then is ended. Default: an hour.
    pub const fn ttl(mut self, ttl: Duration) -> Self {
        self.ttl = Some(ttl);
        self
    }

    /// Tasks are kept for ever, as far as the store goes, and may run as long.
    pub const fn without_ttl(mut self) -> Self {
        self.ttl = None;
        self
    }

    /// How often clients are told to ask. Default: every second.
    pub const fn poll_interval(mut self, interval: Duration) -> Self {
        self.poll_interval = interval;
        self
    }

    /// How many tasks of all clients may run at a time; a call that would be one more is refused. Default: 1024.
    pub const fn max_running(mut self, tasks: usize) -> Self {
        self.most_running = tasks;
        self
    }

    /// Where tasks run.
    pub fn spawner(mut self, spawner: Spawner) -> Self {
        self.spawner = spawner;
        self
    }

    pub(crate) fn service(self) -> Result<Arc<Service>, TaskStoreError> {
        interrupt(&*self.store)?;
        Ok(Arc::new(Service {
            store: self.store,
            ttl: self.ttl.map(millis),
            poll_interval: millis(self.poll_interval).max(1),
            most_running: self.most_running,
            spawner: self.spawner,
            running: Mutex::default(),
            swept: Mutex::default(),
            board: OnceLock::new(),
        }))
    }
}

impl fmt::Debug for Tasks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tasks")
            .field("ttl", &self.ttl)
            .field("poll_interval", &self.poll_interval)
            .field("most_running", &self.most_running)
            .finish_non_exhaustive()
    }
}

/// Marks what was left behind by a process that is gone.
fn interrupt(store: &dyn TaskStore) -> Result<(), TaskStoreError> {
    const PAGE: usize = 256;
    let end = TaskEnd::failed(
        ErrorCode::INTERNAL_ERROR,
        "Interrupted: the server ended while the task was running",
    );
    let mut after: Option<String> = None;
    loop {
        let page = store.list(after.as_deref(), PAGE)?;
        for task in page.iter().filter(|task| task.end.is_none()) {
            store.finish(&task.id, &end, now())?;
        }
        match page.last() {
            Some(last) if page.len() == PAGE => after = Some(last.id.clone()),
            _ => break,
        }
    }
    store.sweep(now())
}

/// What is answered when there is no room for a task.
const BUSY: &str = "Server busy: too many tasks, retry later";

/// How long after a full store was looked through it is not again.
const SWEPT: Duration = Duration::from_secs(1);

/// From one attempt to keep the end of a task to the next: each is twice as long as the one before.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LAST_PAUSE: Duration = Duration::from_secs(60);

/// The tasks of a server.
pub(crate) struct Service {
    store: Arc<dyn TaskStore>,
    ttl: Option<u64>,
    poll_interval: u64,
    most_running: usize,
    spawner: Spawner,
    running: Mutex<HashMap<String, Arc<Live>>>,
    /// When a full store was last looked through for what need not be kept.
    swept: Mutex<Option<Instant>>,
    /// Where changes are told, and the position of the extension there.
    board: OnceLock<(Arc<Board>, usize)>,
}

impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Service").finish_non_exhaustive()
    }
}

impl Service {
    /// From now on changes are told there.
    pub(crate) fn tell(&self, board: Arc<Board>, extension: usize) {
        let _ = self.board.set((board, extension));
    }

    /// Keeps a new task. It is to be run by who asked: if they have gone away meanwhile, it has ended.
    async fn create(
        self: &Arc<Self>,
        record: TaskRecord,
        version: ProtocolVersion,
    ) -> Result<Begun, Instead> {
        let live = Arc::new(Live::new(record, version));
        {
            let mut running = self.running();
            if running.len() >= self.most_running {
                return Err(Instead::internal(BUSY));
            }
            running.insert(live.id().to_owned(), live.clone());
        }
        let service = self.clone();
        let kept = self.whole(async move {
            let (keeps, record) = (service.clone(), live.record.clone());
            let kept = service
                .on_store(move || match keeps.store.create(&record) {
                    Err(TaskStoreError::Full) if keeps.may_sweep() => {
                        keeps.store.sweep(now())?;
                        keeps.store.create(&record)
                    }
                    kept => kept,
                })
                .await;
            match kept {
                Ok(()) => Ok(Begun::new(service, live)),
                Err(error) => {
                    service.running().remove(live.id());
                    Err(error)
                }
            }
        });
        match kept.await {
            Some(Ok(begun)) => Ok(begun),
            Some(Err(error)) => {
                tracing::warn!(%error, "a task could not be kept");
                Err(match error {
                    TaskStoreError::Full => Instead::internal(BUSY),
                    TaskStoreError::Exists | TaskStoreError::Other(_) => {
                        Instead::internal("The task could not be kept")
                    }
                })
            }
            None => Err(Instead::internal("The task could not be kept")),
        }
    }

    /// Whether the last time is long enough ago: it takes a look at all tasks, and calls may come as fast as they are refused.
    fn may_sweep(&self) -> bool {
        let mut swept = self.swept.lock().unwrap_or_else(PoisonError::into_inner);
        let may = swept.is_none_or(|at| at.elapsed() >= SWEPT);
        if may {
            *swept = Some(Instant::now());
        }
        may
    }

    /// A task has ended. Where that cannot be kept for now, it is tried again and again, while the task holds its place
    /// among those that run.
    async fn finish(&self, live: &Arc<Live>, end: TaskEnd) {
        let mut how = (end, now());
        let mut pause = FIRST_PAUSE;
        loop {
            // What its clients were told is what is kept.
            how = live.unkept().unwrap_or(how);
            let (end, at) = how.clone();
            let (store, id) = (self.store.clone(), live.id().to_owned());
            let kept = self.on_store(move || store.finish(&id, &end, at)).await;
            if let Ok(first) = kept {
                self.running().remove(live.id());
                return self.ended(live, first);
            }
            self.not_kept(live, &how.0, how.1, kept);
            Timer::after(pause).await;
            pause = (pause * 2).min(LAST_PAUSE);
        }
    }

    /// A task is to end. How it stands says so at once, whenever its handler does, and whether or not somebody waits here.
    // TL-12, TX-12, TX-13.
    async fn cancel(self: &Arc<Self>, live: Option<Arc<Live>>) {
        let Some(live) = live else { return };
        let service = self.clone();
        let cancelled = async move {
            let (store, id, at) = (service.store.clone(), live.id().to_owned(), now());
            let cancelled = move || store.finish(&id, &TaskEnd::Cancelled, at);
            let kept = service.on_store(cancelled).await;
            live.cancel();
            match kept {
                Ok(first) => service.ended(&live, first),
                // Whoever runs it is about to end it, and to keep that.
                kept => service.not_kept(&live, &TaskEnd::Cancelled, at, kept),
            }
        };
        self.whole(cancelled).await;
    }

    /// It has ended, and that is kept.
    fn ended(&self, live: &Live, is_first: bool) {
        let told = live.unkept().map(|(end, _)| end);
        live.end();
        // If it was not the first, it had ended before, and that was told.
        if is_first
            && let Ok(Some(record)) = self.store.get(live.id())
            && (told.is_none() || record.end != told)
        {
            let _telling = live.telling();
            self.announce_record(&record, None);
        }
    }

    /// It has ended, and that is not kept yet. Its clients are told: it may be long before it is.
    fn not_kept(&self, live: &Live, end: &TaskEnd, at: u64, kept: Result<bool, TaskStoreError>) {
        let Err(error) = kept else { return };
        if live.end_unkept(end, at) {
            tracing::warn!(%error, "the end of a task could not be kept: it is tried again");
            let _telling = live.telling();
            if let Some(record) = live.record_unkept() {
                self.announce_record(&record, None);
            }
        }
    }

    /// Does all of this, whoever stops waiting for it. `None`: it has not been done, for nothing runs here any more.
    async fn whole<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Option<T> {
        if !self.store.blocks() {
            // It has no place where it could be left.
            return Some(work.await);
        }
        let (done, is_done) = async_channel::bounded(1);
        self.spawner.spawn(async move {
            // Nobody waits any longer, at worst.
            let _ = done.send(work.await).await;
        });
        is_done.recv().await.ok()
    }

    async fn on_store<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> T {
        match self.store.blocks() {
            true => smol::unblock(work).await,
            false => work(),
        }
    }

    fn running(&self) -> MutexGuard<'_, HashMap<String, Arc<Live>>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The task of this id, if it is that of this owner and of this form, and who runs it.
    fn find(
        &self,
        id: &str,
        owner: Option<&str>,
        is_experimental: bool,
    ) -> Result<(TaskRecord, Option<Arc<Live>>), ProtocolError> {
        let live = self.running().get(id).cloned();
        // One whose end is not kept yet has ended all the same.
        let unkept = live.as_ref().and_then(|live| live.record_unkept());
        let live = live.filter(|live| !live.is_ended());
        let record = match (&live, unkept) {
            (_, Some(unkept)) => Some(unkept),
            (Some(live), None) => Some(live.record.clone()),
            (None, None) => self.store.get(id).map_err(|error| {
                tracing::warn!(%error, "a task could not be read");
                ProtocolError::new(ErrorCode::INTERNAL_ERROR, "The task could not be read")
            })?,
        };
        // TL-15, TX-20: on each request.
        let record = record.filter(|record| {
            record.owner.as_deref() == owner
                && record.is_experimental == is_experimental
                && !record.is_expired(now())
        });
        // TX-14: what is not there and what is not theirs are answered in the same way.
        let missing = || ProtocolError::new(ErrorCode::INVALID_PARAMS, "Task not found");
        Ok((record.ok_or_else(missing)?, live))
    }

    /// Tells who listens how a running task stands. What is told last is the latest, whoever else tells something.
    fn announce(&self, live: &Live) {
        let _telling = live.telling();
        // Its end says how it stands.
        if !live.is_ended() {
            self.announce_record(&live.record, Some(&live.now()));
        }
    }

    fn announce_record(&self, record: &TaskRecord, now: Option<&live::Now>) {
        if let Some((board, extension)) = self.board.get()
            && !record.is_experimental
        {
            board.announce(*extension, &record.id, record.details(now));
        }
    }

    /// How a task stands.
    fn details(&self, record: &TaskRecord, live: Option<&Live>) -> Json<'static> {
        record.details(live.map(Live::now).as_ref())
    }
}

fn millis(duration: Duration) -> u64 {
    duration.as_millis().try_into().unwrap_or(u64::MAX)
}

/// Milliseconds since 1970.
fn now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, millis)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(id: &str, owner: Option<&str>) -> TaskRecord {
        TaskRecord {
            id: id.to_owned(),
            owner: owner.map(str::to_owned),
            session: 1,
            tool: "t".to_owned(),
            is_experimental: false,
            created: now(),
            updated: now(),
            ttl: Some(60_000),
            poll_interval: 1,
            end: None,
        }
    }

    /// To others, and to nobody in particular, a task of somebody is as unknown as one that is not there.
    #[test]
    fn a_task_is_its_owners() {
        let service = Tasks::new(MemoryTaskStore::new()).service();
        let service = service.expect("an empty store");
        for (id, owner) in [("a", Some("ada")), ("b", None)] {
            let kept = service.store.create(&record(id, owner));
            kept.expect("there is room");
        }
        let unknown = service.find("x", None, false).expect_err("there is none");
        for (id, owner, found) in [
            ("a", Some("ada"), true),
            ("a", Some("grace"), false),
            ("a", None, false),
            ("b", None, true),
            ("b", Some("ada"), false),
        ] {
            match service.find(id, owner, false) {
                Ok(_) => assert!(found, "{id} {owner:?}"),
                Err(error) => {
                    assert!(!found, "{id} {owner:?}");
                    assert_eq!(error, unknown, "nothing tells them apart");
                }
            }
            assert!(service.find(id, owner, true).is_err(), "in another form");
        }
    }

    /// Full for good.
    #[derive(Default)]
    struct Full(std::sync::atomic::AtomicUsize);

    impl TaskStore for Full {
        fn create(&self, _: &TaskRecord) -> Result<(), TaskStoreError> {
            Err(TaskStoreError::Full)
        }

        fn get(&self, _: &str) -> Result<Option<TaskRecord>, TaskStoreError> {
            Ok(None)
        }

        fn finish(&self, _: &str, _: &TaskEnd, _: u64) -> Result<bool, TaskStoreError> {
            Ok(false)
        }

        fn list(&self, _: Option<&str>, _: usize) -> Result<Vec<TaskRecord>, TaskStoreError> {
            Ok(Vec::new())
        }

        fn sweep(&self, _: u64) -> Result<(), TaskStoreError> {
            self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            Ok(())
        }
    }

    /// However many calls it refuses.
    #[test]
    fn a_full_store_is_swept_once_in_a_while() {
        let full = Arc::new(Full::default());
        let mut service = Tasks::new(Full::default()).service().expect("it is empty");
        Arc::get_mut(&mut service).expect("it is ours").store = full.clone();
        for at in 0..100 {
            let task = record(&at.to_string(), None);
            let begun = smol::block_on(service.create(task, ProtocolVersion::V2026_07_28));
            assert!(begun.is_err(), "there is no room");
        }
        assert!(service.running().is_empty());
        let sweeps = full.0.load(std::sync::atomic::Ordering::Relaxed);
        // Once in a second.
        assert!((1..20).contains(&sweeps), "{sweeps}");
    }

    /// What ran when its process ended says so, and nothing else has changed.
    #[test]
    fn what_was_left_behind_is_marked() {
        let store = MemoryTaskStore::new();
        for n in 0..600 {
            store
                .create(&record(&format!("{n:03}"), None))
                .expect("there is room");
        }
        store
            .finish("300", &TaskEnd::Cancelled, now())
            .expect("it is there");
        interrupt(&store).expect("it can be read");
        let all = store.list(None, 1000).expect("it can be read");
        assert_eq!(all.len(), 600);
        for task in all {
            match task.end {
                Some(TaskEnd::Cancelled) => assert_eq!(task.id, "300"),
                Some(TaskEnd::Failed { message, .. }) => {
                    assert!(message.starts_with("Interrupted"), "{message}");
                }
                other => panic!("{}: {other:?}", task.id),
            }
        }
    }
}
