//! Hosts: many servers, one model.

pub mod adapters;
mod tool;

pub use tool::ToolDefinition;
