//! How a server serves.

use core::time::Duration;

use mcp_core::{Limits, PeerFault};

use super::state::Sealer;

/// Is told of the rules that peers break.
pub(crate) type FaultReport = Box<dyn Fn(&PeerFault) + Send + Sync>;

/// What every connection of a server goes by.
pub(crate) struct Settings {
    pub(crate) limits: Limits,
    pub(crate) max_concurrent: usize,
    pub(crate) max_waiting: usize,
    pub(crate) on_fault: Option<FaultReport>,
    #[cfg(feature = "validate")]
    pub(crate) check_outputs: bool,
    pub(crate) logging: bool,
    pub(crate) list_changes: bool,
    pub(crate) subscriptions: bool,
    pub(crate) ask_timeout: Option<Duration>,
    pub(crate) max_rounds: u16,
    pub(crate) sealer: Sealer,
    #[cfg(feature = "tasks")]
    pub(crate) tasks: Option<std::sync::Arc<super::tasks::Service>>,
}
