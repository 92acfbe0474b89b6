//! Hosts: many servers, one model.

mod tool;

pub use tool::ToolDefinition;
