//! Where what outlives a call runs.

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use std::sync::Arc;

/// A task to be run.
type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Starts tasks that go on by themselves, such as those that drive the handlers of a session, or the connection of a client.
/// By default they run on the threads of smol's global executor; handlers that need another runtime need its own:
///
/// ```
/// use mcp_std::Spawner;
///
/// # fn tokio() -> Spawner {
/// Spawner::new(|task| {
///     tokio::spawn(task);
/// })
/// # }
/// ```
#[derive(Clone)]
pub struct Spawner(Arc<dyn Fn(Task) + Send + Sync>);

impl Spawner {
    /// Tasks are given to `spawn`, which has to see to it that they are polled until they end.
    pub fn new(spawn: impl Fn(Task) + Send + Sync + 'static) -> Self {
        Self(Arc::new(spawn))
    }

    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        (self.0)(Box::pin(task));
    }
}

impl Default for Spawner {
    fn default() -> Self {
        Self::new(|task| smol::spawn(task).detach())
    }
}

impl fmt::Debug for Spawner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Spawner(…)")
    }
}
