//! Where tasks are kept.

use core::fmt;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::record::{TaskEnd, TaskRecord};

/// Where tasks are kept: [`MemoryTaskStore`], with the feature `tasks-redb` the durable one, or your own.
///
/// What a store has to be is what [`check_task_store`] checks: run it on your own in a test.
///
/// - What [`create`](Self::create) and [`finish`](Self::finish) were `Ok` for is there from then on, and where the store is
///   durable, also after the process is killed: no task that a client was told of is lost before its time.
/// - A task ends once. Of two that finish it, one is told that it was not the first.
/// - A task is not forgotten before its time is over. A store that is full refuses new ones instead.
pub trait TaskStore: Send + Sync + 'static {
    /// Keeps a new task.
    ///
    /// # Errors
    ///
    /// There is one of this id, there is no room, or it cannot be kept: the client is told, and no task begins.
    fn create(&self, task: &TaskRecord) -> Result<(), TaskStoreError>;

    /// The task of this id. It is called where connections are read: it has to be quick.
    ///
    /// # Errors
    ///
    /// It cannot be read.
    fn get(&self, id: &str) -> Result<Option<TaskRecord>, TaskStoreError>;

    /// A task has ended, at this time. `false`: there is no such task, or it had ended before, which stays as it was.
    ///
    /// # Errors
    ///
    /// It cannot be kept for now. Clients are told of the end all the same; it is tried again, after pauses of 100 ms that
    /// double up to a minute, as long as the process lives, and until then the task is one of those that
    /// [run](super::Tasks::max_running).
    fn finish(&self, id: &str, end: &TaskEnd, at: u64) -> Result<bool, TaskStoreError>;

    /// The tasks in the order of their ids, from the first after this one, at most so many.
    ///
    /// # Errors
    ///
    /// They cannot be read.
    fn list(&self, after: Option<&str>, most: usize) -> Result<Vec<TaskRecord>, TaskStoreError>;

    /// Forgets the tasks that have ended and whose [time is over](TaskRecord::is_expired).
    ///
    /// # Errors
    ///
    /// They cannot be forgotten.
    fn sweep(&self, now: u64) -> Result<(), TaskStoreError>;

    /// Whether creating and finishing tasks takes so long, for it waits for a disk or a network, that it is done on a
    /// thread for such things.
    fn blocks(&self) -> bool {
        true
    }
}

/// Why a task could not be kept.
#[derive(Debug)]
#[non_exhaustive]
pub enum TaskStoreError {
    /// There are as many as may be: later there may be room.
    Full,
    /// There is one of this id.
    Exists,
    /// Something else: for the log, clients are not told.
    Other(Box<dyn core::error::Error + Send + Sync>),
}

impl fmt::Display for TaskStoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full => f.write_str("too many tasks are kept"),
            Self::Exists => f.write_str("there is a task of this id"),
            Self::Other(error) => write!(f, "tasks cannot be kept: {error}"),
        }
    }
}

impl core::error::Error for TaskStoreError {}

/// Tasks in memory, which end with the process. Bounded: beyond it new ones are refused.
#[derive(Debug)]
pub struct MemoryTaskStore {
    most: usize,
    most_bytes: usize,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    tasks: BTreeMap<String, TaskRecord>,
    /// Of their results.
    bytes: usize,
}

impl MemoryTaskStore {
    /// At most 16 384 tasks. When their results have 64 MiB, no more are begun until some are forgotten.
    #[must_use]
    pub fn new() -> Self {
        Self::bounded(16_384, 64 * 1024 * 1024)
    }

    /// At most so many tasks; when their results have so many bytes, no more are begun until some are forgotten.
    #[must_use]
    pub fn bounded(tasks: usize, bytes: usize) -> Self {
        Self {
            most: tasks,
            most_bytes: bytes,
            kept: Mutex::default(),
        }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for MemoryTaskStore {
    fn default() -> Self {
        Self::new()
    }
}

impl TaskStore for MemoryTaskStore {
    fn create(&self, task: &TaskRecord) -> Result<(), TaskStoreError> {
        let mut kept = self.kept();
        if kept.tasks.contains_key(&task.id) {
            return Err(TaskStoreError::Exists);
        }
        if kept.tasks.len() >= self.most || kept.bytes >= self.most_bytes {
            return Err(TaskStoreError::Full);
        }
        kept.bytes += task.end.as_ref().map_or(0, TaskEnd::len);
        kept.tasks.insert(task.id.clone(), task.clone());
        Ok(())
    }

    fn get(&self, id: &str) -> Result<Option<TaskRecord>, TaskStoreError> {
        Ok(self.kept().tasks.get(id).cloned())
    }

    fn finish(&self, id: &str, end: &TaskEnd, at: u64) -> Result<bool, TaskStoreError> {
        let mut kept = self.kept();
        let Some(task) = kept.tasks.get_mut(id).filter(|task| task.end.is_none()) else {
            return Ok(false);
        };
        task.end = Some(end.clone());
        task.updated = at;
        kept.bytes += end.len();
        Ok(true)
    }

    fn list(&self, after: Option<&str>, most: usize) -> Result<Vec<TaskRecord>, TaskStoreError> {
        use core::ops::Bound::{Excluded, Unbounded};
        let kept = self.kept();
        let from = after.map_or(Unbounded, Excluded);
        let tasks = kept.tasks.range::<str, _>((from, Unbounded)).take(most);
        Ok(tasks.map(|(_, task)| task.clone()).collect())
    }

    fn sweep(&self, now: u64) -> Result<(), TaskStoreError> {
        let mut kept = self.kept();
        kept.tasks
            .retain(|_, task| task.end.is_none() || !task.is_expired(now));
        let ends = kept.tasks.values().filter_map(|task| task.end.as_ref());
        kept.bytes = ends.map(TaskEnd::len).sum();
        Ok(())
    }

    fn blocks(&self) -> bool {
        false
    }
}

/// Checks that a store, empty at first, does what a [`TaskStore`] has to: for tests of your own.
///
/// # Panics
///
/// It does not.
pub fn check_task_store(store: &dyn TaskStore) {
    let task = |id: &str, ttl: Option<u64>| TaskRecord {
        id: id.to_owned(),
        owner: Some("somebody".to_owned()),
        session: 7,
        tool: "tool".to_owned(),
        is_experimental: false,
        created: 1000,
        updated: 1000,
        ttl,
        poll_interval: 500,
        end: None,
    };
    let get = |id: &str| store.get(id).expect("it can be read");
    let ids = |after: Option<&str>, most: usize| -> Vec<String> {
        let tasks = store.list(after, most).expect("they can be listed");
        tasks.into_iter().map(|task| task.id).collect()
    };
    assert_eq!(get("a"), None, "it is empty at first");
    for (id, ttl) in [("b", Some(10)), ("a", Some(10)), ("c", None)] {
        store.create(&task(id, ttl)).expect("there is room");
    }
    assert_eq!(get("a"), Some(task("a", Some(10))), "it is as it was given");
    let twice = store.create(&task("a", None));
    assert!(matches!(twice, Err(TaskStoreError::Exists)), "{twice:?}");
    assert_eq!(get("a"), Some(task("a", Some(10))), "the first stays");
    assert_eq!(ids(None, 9), ["a", "b", "c"], "in the order of their ids");
    assert_eq!(ids(None, 2), ["a", "b"]);
    assert_eq!(ids(Some("b"), 9), ["c"]);
    assert_eq!(ids(Some("bb"), 9), ["c"], "after one that is not there");
    let end = TaskEnd::Completed {
        result: "{}".to_owned(),
        is_error: true,
    };
    let finish = |id: &str, end: &TaskEnd| store.finish(id, end, 1005).expect("it can be kept");
    assert!(finish("a", &end), "it had not ended");
    assert!(!finish("a", &TaskEnd::Cancelled), "it ends once");
    assert!(!finish("x", &end), "there is none");
    let ended = get("a").expect("it is there");
    assert_eq!((ended.end, ended.updated), (Some(end.clone()), 1005));
    assert!(finish("c", &TaskEnd::Cancelled));
    store.sweep(1009).expect("it can be swept");
    assert_eq!(
        ids(None, 9),
        ["a", "b", "c"],
        "nothing goes before its time"
    );
    store.sweep(1010).expect("it can be swept");
    assert_eq!(ids(None, 9), ["b", "c"], "what runs, or has no end, stays");
    // Of many that finish one, one is the first.
    let firsts: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| finish("b", &end))).collect();
        let firsts = threads.into_iter().map(|it| it.join().expect("it ends"));
        firsts.filter(|first| *first).count()
    });
    assert_eq!(firsts, 1);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_one_in_memory_is_one() {
        check_task_store(&MemoryTaskStore::new());
    }

    #[test]
    fn it_is_bounded() {
        let task = |id: &str| TaskRecord {
            id: id.to_owned(),
            owner: None,
            session: 0,
            tool: String::new(),
            is_experimental: false,
            created: 0,
            updated: 0,
            ttl: Some(1),
            poll_interval: 1,
            end: None,
        };
        let store = MemoryTaskStore::bounded(2, 10);
        store.create(&task("a")).expect("there is room");
        let end = TaskEnd::failed(mcp_core::ErrorCode::INTERNAL_ERROR, "0123456789");
        assert!(store.finish("a", &end, 1).expect("it is there"));
        let full = store.create(&task("b"));
        assert!(matches!(full, Err(TaskStoreError::Full)), "{full:?}");
        store.sweep(1).expect("it can be swept");
        store.create(&task("b")).expect("there is room again");
        store.create(&task("c")).expect("and for another");
        let full = store.create(&task("d"));
        assert!(matches!(full, Err(TaskStoreError::Full)), "{full:?}");
    }
}
