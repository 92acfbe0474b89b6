//! Tools, as an agent uses them.

use core::error::Error;
use core::future::Future;

use mcp_core::model::CallToolResult;

use super::adapters::ToolCall;
use super::tool::ToolDefinition;

/// Why there is no result of a call: an error of the protocol, of the connection or of a rule. A tool that fails has a
/// result.
pub type ToolsError = Box<dyn Error + Send + Sync>;

/// What an [`Agent`](super::Agent) calls.
pub trait Tools: Send + Sync {
    /// The tools of one round.
    type Snapshot: Send + Sync;

    /// The tools as they are now. What changes later is in the next snapshot.
    fn snapshot(&self) -> Self::Snapshot;

    /// What the model is shown of them.
    fn definitions(&self, snapshot: &Self::Snapshot) -> Vec<ToolDefinition>;

    /// Calls a tool of the snapshot, by the name in its definition. Calls of one round run at the same time; dropping the
    /// future cancels the call. The call has [arguments](super::adapters::Arguments::Object) that are an object.
    fn call<'a>(
        &'a self,
        snapshot: &'a Self::Snapshot,
        call: &'a ToolCall,
    ) -> impl Future<Output = Result<CallToolResult<'static>, ToolsError>> + Send + 'a;
}
