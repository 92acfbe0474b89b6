//! Where the handlers of sessions run unless something else is chosen.

use core::future::pending;
use core::num::NonZeroUsize;
use std::sync::OnceLock;
use std::thread;

use smol::Executor;

use crate::Spawner;

/// So many at least: as many handlers less one may block their threads before others have to wait.
const FEWEST: usize = 4;

static EXECUTOR: Executor<'static> = Executor::new();

/// Threads of their own, which all servers of this process share. They are started when the first session begins, and
/// never end.
pub(super) fn spawner() -> Spawner {
    static STARTED: OnceLock<usize> = OnceLock::new();
    Spawner::new(|task| {
        if *STARTED.get_or_init(start) > 0 {
            EXECUTOR.spawn(task).detach();
        } else {
            smol::spawn(task).detach();
        }
    })
}

/// How many could be started.
fn start() -> usize {
    let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let threads = (0..cores.max(FEWEST)).map(|_| {
        let run = || async_io::block_on(EXECUTOR.run(pending::<()>()));
        thread::Builder::new().name("mcp-session".into()).spawn(run)
    });
    threads.filter(Result::is_ok).count()
}
