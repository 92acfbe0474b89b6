//! Hosts: many servers, one model.

pub mod adapters;
mod agent;
pub mod model;
mod tool;
mod tools;

pub use agent::{Agent, AgentError, AgentEvent, Finish, Outcome};
pub use tool::ToolDefinition;
pub use tools::{Tools, ToolsError};
