//! Apps: pages that a server has for the results of its tools, and that a host shows within the conversation
//! (`io.modelcontextprotocol/ui`, the revision 2026-01-26 of its specification).

mod bridge;
mod csp;
mod meta;
mod server;
#[cfg(test)]
mod tests;

pub use bridge::{
    AppAsk, AppBridge, AppEvent, AppInfo, AppPage, AppReply, AppRequest, BridgeError, BridgeFault,
    BridgeLimits, BridgeOptions, DisplayMode, HostCapabilities,
};
pub use csp::{Csp, OriginFault};
pub use meta::{AppMeta, Permissions, ToolUi, Visibility};
pub use server::{App, AppError};

/// The identifier of the extension.
pub const UI: &str = "io.modelcontextprotocol/ui";

/// The media type of the pages.
pub const MIME_TYPE: &str = "text/html;profile=mcp-app";

/// The revision of the messages between a page and its host.
pub const PROTOCOL_VERSION: &str = "2026-01-26";

/// The permissions of the sandbox, and of the frame in it: the attribute `sandbox` of its `iframe`.
pub const SANDBOX: &str = "allow-scripts allow-same-origin";
