//! Hosts: many servers, one model.

mod config;
mod glob;
mod tool;

pub use config::{ConfigError, HostConfig, RateLimit, ServerConfig, Text, Transport, Variables};
pub use tool::ToolDefinition;
