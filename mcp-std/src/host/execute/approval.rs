//! Whether somebody has to say yes before a tool is called.

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use std::sync::Arc;

use serde_json::Value;

use super::super::guard::Finding;
use super::super::tool::ToolDefinition;

/// Which calls are asked about. Tools that the configuration approves of, and those that somebody has said to remember, are
/// never.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum AskAbout {
    /// All.
    #[default]
    All,
    /// All but those of tools whose server says that they change nothing. Only for servers that are trusted to say so.
    Writes,
}

/// A call that waits for a yes.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ApprovalRequest {
    /// The server, by its name in the configuration.
    pub server: Arc<str>,
    /// The tool, with what it says of itself.
    pub tool: Arc<ToolDefinition>,
    /// What it is to be called with, preset arguments included.
    pub arguments: Value,
    /// Identifies the definition of the tool: what is remembered holds for this one only.
    pub digest: String,
    /// What is suspicious about the tool.
    pub findings: Vec<Finding>,
}

/// What somebody said to a call.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Decision {
    /// Yes, this time.
    Once,
    /// Yes, to all calls of this tool in this session, as long as its definition does not change.
    Session,
    /// Yes, to all calls of this tool, as long as its definition does not change: the [`TrustStore`](crate::host::TrustStore)
    /// remembers it.
    Always,
    /// No, and why; the model reads it.
    Deny(String),
}

type Asking = Pin<Box<dyn Future<Output = Decision> + Send>>;

/// Asks somebody.
#[derive(Clone)]
pub(in crate::host) struct Approver {
    pub(in crate::host) about: AskAbout,
    pub(in crate::host) ask: Arc<dyn Fn(ApprovalRequest) -> Asking + Send + Sync>,
}

impl Approver {
    pub(in crate::host) fn new<F>(
        about: AskAbout,
        ask: impl Fn(ApprovalRequest) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Decision> + Send + 'static,
    {
        Self {
            about,
            ask: Arc::new(move |request| Box::pin(ask(request))),
        }
    }
}

impl fmt::Debug for Approver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Approver")
            .field("about", &self.about)
            .finish_non_exhaustive()
    }
}
