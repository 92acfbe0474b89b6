//! What a host offers, as an agent uses it.

use core::fmt;

use mcp_core::model::CallToolResult;

use super::super::adapters::{Arguments, ToolCall};
use super::super::execute::{ExecuteError, ToolCall as HostCall};
use super::super::session::Session;
use super::super::snapshot::Snapshot;
use super::super::tool::ToolDefinition;
use super::super::tools::{Tools, ToolsError};

/// Calls go through the approval, the middleware and the bounds of the host. What servers say is between
/// [marks](super::super::ToolReply::fenced) that tell the model from whom it is.
impl Tools for Session {
    type Snapshot = Snapshot;

    fn snapshot(&self) -> Snapshot {
        Self::snapshot(self)
    }

    fn definitions(&self, snapshot: &Snapshot) -> Vec<ToolDefinition> {
        let tools = snapshot.tools().iter();
        tools.map(|tool| ToolDefinition::clone(tool)).collect()
    }

    async fn call(
        &self,
        snapshot: &Snapshot,
        call: &ToolCall,
    ) -> Result<CallToolResult<'static>, ToolsError> {
        let arguments = match &call.arguments {
            Arguments::Object(arguments) => {
                serde_json::from_str::<serde_json::Value>(arguments.as_str())?
            }
            Arguments::Invalid { reason } => return Err(reason.clone().into()),
        };
        let call = HostCall::new(call.id.clone(), call.name.clone(), arguments);
        let reply = Self::call(self, snapshot, call).await;
        if reply.outcome.is_ok() {
            return Ok(reply.fenced());
        }
        let told = reply.untrusted.then(|| reply.fenced());
        reply.outcome.map_err(|error| match told {
            Some(told) => Told { error, told }.into(),
            None => error.into(),
        })
    }
}

/// An error with words of a server's in it, and what the model is to read of it.
#[derive(Debug)]
pub(super) struct Told {
    error: ExecuteError,
    pub(super) told: CallToolResult<'static>,
}

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl core::error::Error for Told {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        Some(&self.error)
    }
}
