//! What happens in a run.

use core::error::Error;
use core::time::Duration;

use mcp_core::model::CallToolResult;

use super::super::adapters::{Reply, ToolCall, Toolset};

/// Something happened in a run.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum AgentEvent<'a> {
    /// The model is asked.
    #[non_exhaustive]
    Round {
        /// Which time, from 1 on.
        number: usize,
        /// What it may call.
        tools: &'a Toolset,
    },
    /// The model says more.
    Text(&'a str),
    /// The model's answer is whole.
    Reply(&'a Reply),
    /// A call begins, in the model's order.
    Started(&'a ToolCall),
    /// A call has a result, which may say that the tool failed; as they come.
    #[non_exhaustive]
    Finished {
        /// The call.
        call: &'a ToolCall,
        /// Its result.
        result: &'a CallToolResult<'static>,
        /// How long it took.
        time: Duration,
    },
    /// A call could not be made.
    #[non_exhaustive]
    Failed {
        /// The call.
        call: &'a ToolCall,
        /// Why.
        error: &'a (dyn Error + Send + Sync),
        /// How long it took.
        time: Duration,
    },
}
