//! What a handler can do while it runs.

use async_channel::Sender;
use mcp_core::engine::server::CallKey;
use mcp_core::model::{ClientCapabilities, Progress, ProtocolVersion};

/// The call a handler serves. Dropping the handler's future is how a call is cancelled: it ends at its next `await`.
#[derive(Clone, Debug)]
pub struct Context {
    pub(crate) key: CallKey,
    pub(crate) version: ProtocolVersion,
    pub(crate) capabilities: ClientCapabilities,
    /// `None` if the client does not want to be told.
    pub(crate) notes: Option<Sender<Note>>,
}

/// Something to be sent about a call that is still running.
#[derive(Debug)]
pub(crate) struct Note {
    pub(crate) key: CallKey,
    progress: f64,
    total: Option<f64>,
    message: Option<String>,
}

impl Context {
    /// The protocol version the call is served under.
    #[must_use]
    pub const fn version(&self) -> ProtocolVersion {
        self.version
    }

    /// What the client declared that it can do.
    #[must_use]
    pub const fn capabilities(&self) -> ClientCapabilities {
        self.capabilities
    }

    /// Whether the client asked to be told about progress.
    #[must_use]
    pub const fn wants_progress(&self) -> bool {
        self.notes.is_some()
    }

    /// Tells the client how far the call has come. It waits while the client is slow to read; without a client that
    /// asked for it, it does nothing. Progress that is not more than last time is left out (PRG-03).
    pub async fn progress(&self, progress: Progress<'_>) {
        let Some(notes) = &self.notes else { return };
        let note = Note {
            key: self.key,
            progress: progress.progress,
            total: progress.total,
            message: progress.message.map(String::from),
        };
        // Refused only when the connection is gone, and this handler with it.
        let _ = notes.send(note).await;
    }
}

impl Note {
    pub(crate) fn progress(&self) -> Progress<'_> {
        let mut progress = Progress::new(self.progress);
        progress.total = self.total;
        progress.message = self.message.as_deref().map(Into::into);
        progress
    }
}
