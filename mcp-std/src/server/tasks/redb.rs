//! Tasks in a file that survives the process, however that ends.

use std::path::Path;
use std::{fs, io};

use redb::{Database, ReadableDatabase as _, ReadableTable as _, TableDefinition};

use super::record::{TaskEnd, TaskRecord};
use super::store::{TaskStore, TaskStoreError};
use crate::entropy;

const TASKS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("tasks");

/// Tasks in a file, which one process at a time can open. Each change is on the disk before it counts: a process that is
/// killed loses none. Bounded by number: beyond it new ones are refused.
#[derive(Debug)]
pub struct RedbTaskStore {
    database: Database,
    most: u64,
}

impl RedbTaskStore {
    /// Opens the file, which is made if there is none. At most 1 048 576 tasks are kept.
    ///
    /// # Errors
    ///
    /// It cannot be opened or made, is none of these, or another process has it.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, TaskStoreError> {
        let path = path.as_ref();
        if !path.try_exists().map_err(other)? {
            make(path)?;
        }
        Ok(Self {
            database: Database::open(path).map_err(other)?,
            most: 1 << 20,
        })
    }

    /// At most so many tasks are kept.
    #[must_use]
    pub const fn max_tasks(mut self, tasks: u64) -> Self {
        self.most = tasks;
        self
    }
}

/// Makes the file beside its place, and puts it there when it is one: a process that is killed meanwhile leaves no half of
/// it, which nobody could open any more. Of two that do so at a time, the file of the first is that of both.
fn make(path: &Path) -> Result<(), TaskStoreError> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{:016x}.new", entropy::seed()));
    let made = fill(Path::new(&beside)).and_then(|()| {
        match fs::hard_link(&beside, path) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            // Not every file system can do that.
            Err(_) => fs::rename(&beside, path).map_err(other),
        }
    });
    // It has another name now, or is of no use.
    let _ = fs::remove_file(&beside);
    made
}

fn fill(file: &Path) -> Result<(), TaskStoreError> {
    let database = Database::create(file).map_err(other)?;
    let write = database.begin_write().map_err(other)?;
    write.open_table(TASKS).map_err(other)?;
    write.commit().map_err(other)
}

fn other(error: impl core::error::Error + Send + Sync + 'static) -> TaskStoreError {
    TaskStoreError::Other(Box::new(error))
}

fn decode(bytes: &[u8]) -> Result<TaskRecord, TaskStoreError> {
    serde_json::from_slice(bytes).map_err(other)
}

fn encode(task: &TaskRecord) -> Result<Vec<u8>, TaskStoreError> {
    serde_json::to_vec(task).map_err(other)
}

impl TaskStore for RedbTaskStore {
    fn create(&self, task: &TaskRecord) -> Result<(), TaskStoreError> {
        use redb::ReadableTableMetadata as _;
        let write = self.database.begin_write().map_err(other)?;
        {
            let mut table = write.open_table(TASKS).map_err(other)?;
            if table.get(&*task.id).map_err(other)?.is_some() {
                return Err(TaskStoreError::Exists);
            }
            if table.len().map_err(other)? >= self.most {
                return Err(TaskStoreError::Full);
            }
            table.insert(&*task.id, &*encode(task)?).map_err(other)?;
        }
        write.commit().map_err(other)
    }

    fn get(&self, id: &str) -> Result<Option<TaskRecord>, TaskStoreError> {
        let read = self.database.begin_read().map_err(other)?;
        let table = read.open_table(TASKS).map_err(other)?;
        let found = table.get(id).map_err(other)?;
        found.map(|found| decode(found.value())).transpose()
    }

    fn finish(&self, id: &str, end: &TaskEnd, at: u64) -> Result<bool, TaskStoreError> {
        let write = self.database.begin_write().map_err(other)?;
        {
            let mut table = write.open_table(TASKS).map_err(other)?;
            let found = table.get(id).map_err(other)?;
            let found = found.map(|found| decode(found.value())).transpose()?;
            let Some(mut task) = found.filter(|task| task.end.is_none()) else {
                return Ok(false);
            };
            task.end = Some(end.clone());
            task.updated = at;
            table.insert(id, &*encode(&task)?).map_err(other)?;
        }
        write.commit().map_err(other)?;
        Ok(true)
    }

    fn list(&self, after: Option<&str>, most: usize) -> Result<Vec<TaskRecord>, TaskStoreError> {
        use core::ops::Bound::{Excluded, Unbounded};
        let read = self.database.begin_read().map_err(other)?;
        let table = read.open_table(TASKS).map_err(other)?;
        let from = after.map_or(Unbounded, Excluded);
        let range = table.range::<&str>((from, Unbounded)).map_err(other)?;
        range
            .take(most)
            .map(|entry| decode(entry.map_err(other)?.1.value()))
            .collect()
    }

    fn sweep(&self, now: u64) -> Result<(), TaskStoreError> {
        let write = self.database.begin_write().map_err(other)?;
        {
            let mut table = write.open_table(TASKS).map_err(other)?;
            table
                .retain(|_, bytes| {
                    let task = decode(bytes);
                    !task.is_ok_and(|task| task.end.is_some() && task.is_expired(now))
                })
                .map_err(other)?;
        }
        write.commit().map_err(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::tasks::check_task_store;

    #[test]
    fn it_is_a_store_and_is_still_there_when_it_is_opened_again() {
        let file = std::env::temp_dir().join(format!("tasks-{}.redb", std::process::id()));
        let _ = std::fs::remove_file(&file);
        let store = RedbTaskStore::open(&file).expect("it can be made");
        check_task_store(&store);
        let before = store.list(None, 9).expect("it can be listed");
        assert!(RedbTaskStore::open(&file).is_err(), "one at a time");
        drop(store);
        let store = RedbTaskStore::open(&file).expect("it can be opened again");
        assert_eq!(store.list(None, 9).expect("it can be listed"), before);
        drop(store);
        std::fs::remove_file(&file).expect("it can be removed");
    }

    /// The slower of two processes that start at the same time, where there was no file.
    #[test]
    fn a_file_that_is_there_is_not_replaced() {
        let directory = std::env::temp_dir().join(format!("redb-{}", std::process::id()));
        std::fs::create_dir_all(&directory).expect("a directory");
        let file = directory.join("tasks");
        let store = RedbTaskStore::open(&file).expect("it can be made");
        check_task_store(&store);
        let before = store.list(None, 9).expect("it can be listed");
        drop(store);
        make(&file).expect("it is there");
        let store = RedbTaskStore::open(&file).expect("it can be opened again");
        assert_eq!(store.list(None, 9).expect("it can be listed"), before);
        drop(store);
        let files = std::fs::read_dir(&directory).expect("it can be read");
        assert_eq!(files.count(), 1, "nothing else is left");
        std::fs::remove_dir_all(&directory).expect("it can be removed");
    }
}
