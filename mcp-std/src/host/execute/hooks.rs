//! What is said about the calls of one round.

use core::fmt;
use core::time::Duration;
use std::sync::Arc;

use mcp_core::model::Progress;

use super::trace::Trace;
use crate::client::Canceller;

type OnProgress = Arc<dyn Fn(&str, &Progress<'_>) + Send + Sync>;

/// What is said about calls. Begin with [`CallHooks::new`].
#[derive(Clone, Default)]
#[must_use = "it says something about calls, and makes none"]
pub struct CallHooks {
    pub(super) timeout: Option<Duration>,
    pub(super) canceller: Option<Canceller>,
    pub(super) on_progress: Option<OnProgress>,
    pub(super) trace: Option<Trace>,
}

impl CallHooks {
    /// As the host does it when nothing is said.
    pub fn new() -> Self {
        Self::default()
    }

    /// Each call may take so long altogether, from when it is approved: waiting for its turn included. Default: that of the
    /// host.
    pub const fn timeout(mut self, time: Duration) -> Self {
        self.timeout = Some(time);
        self
    }

    /// The calls can be cancelled by this. Servers are told, and so they are when the future of a call is dropped.
    pub fn canceller(mut self, canceller: &Canceller) -> Self {
        self.canceller = Some(canceller.clone());
        self
    }

    /// Asks servers for progress, and is told of it, with the id of the call. It runs where the connection is read, and is not
    /// to take long.
    pub fn on_progress(
        mut self,
        told: impl Fn(&str, &Progress<'_>) + Send + Sync + 'static,
    ) -> Self {
        self.on_progress = Some(Arc::new(told));
        self
    }

    /// The trace that the calls belong to. Default: that of the session.
    pub fn trace(mut self, trace: Trace) -> Self {
        self.trace = Some(trace);
        self
    }
}

impl fmt::Debug for CallHooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallHooks")
            .field("timeout", &self.timeout)
            .field("progress", &self.on_progress.is_some())
            .field("trace", &self.trace)
            .finish_non_exhaustive()
    }
}
