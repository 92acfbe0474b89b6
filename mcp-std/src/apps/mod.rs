//! Apps: pages that a server has for the results of its tools, and that a host shows within the conversation
//! (`io.modelcontextprotocol/ui`).
//!
//! Made after the stable revision 2026-01-26 of the specification, SEP-1865: `specification/2026-01-26/apps.mdx` of the
//! repository `modelcontextprotocol/ext-apps`.
//!
//! # Servers
//!
//! An [`App`] is a page and the tools that it is for; a server has it by [`with_app`](crate::ServerBuilder::with_app). Clients
//! that do not declare the extension are not told of any of it, and have the tools as they are: so their results say all in
//! their content. A handler that wants to know asks [`Context::shows_apps`](crate::Context::shows_apps). `server_app` of the
//! repository's examples is a whole server, with a page.
//!
//! # Hosts
//!
//! A host program declares the extension by `ClientBuilder::apps`, or for all of its
//! servers by `HostBuilder::apps`; these are there with the features `client` and `host`.
//! When a tool with a [`resource_uri`](ToolUi::resource_uri) is called, it reads that resource, looks at what the server says
//! of it, and shows it; the page's messages go through an [`AppBridge`], which does no I/O:
//!
//! ```
//! # #[cfg(feature = "client")]
//! # smol::block_on(async {
//! use mcp_std::apps::{App, AppAsk, AppBridge, AppEvent, AppMeta, AppPage, AppReply, BridgeOptions, HostCapabilities, ToolUi};
//! use mcp_std::model::ResourceContents;
//! use mcp_std::{Client, Json, Server, Tool};
//! use serde_json::json;
//!
//! let app = App::new("ui://clock/face", "face", "<!DOCTYPE html><script>/* … */</script>")
//!     .tool(Tool::new("now", "The time", || async { "noon" }));
//! let server = Server::builder("clock", "1").with_app(app)?.build()?;
//!
//! // The host: what is there,
//! let client = Client::builder("chat", "1.0.0").apps().connect_in_process(&server).await?;
//! let tools = client.list_tools().await?;
//! let ui = ToolUi::read(tools[0].meta.as_ref().map(Json::raw));
//! let read = client.read_resource(ui.resource_uri.as_deref().ok_or("no app")?).await?;
//! let Some(ResourceContents::Text(page)) = read.contents.iter().next() else { return Err("no text".into()) };
//! // what it wants: a host leaves out what it does not grant, and serves the sandbox with the policy of the rest,
//! let (meta, _left_out) = AppMeta::read(page.meta.as_ref().map(Json::raw));
//! let policy = meta.content_security_policy();
//! assert!(policy.starts_with("default-src 'none';"));
//! // and the messages.
//! let can = HostCapabilities::new().server_tools().sandbox(&meta);
//! let page = AppPage::new(&*page.text, meta);
//! let mut bridge = AppBridge::sandboxed(BridgeOptions::new("chat", "1.0.0").capabilities(can), page);
//! bridge.tools(&tools);
//! let mut out = Vec::new();
//! bridge.tool_input(&json!({}), &mut out)?;
//! bridge.tool_result(&client.call_tool("now", &()).await?.into_inner(), &mut out)?;
//!
//! # let from_page = [
//! #     r#"{"jsonrpc":"2.0","method":"ui/notifications/sandbox-proxy-ready"}"#.to_owned(),
//! #     r#"{"jsonrpc":"2.0","id":1,"method":"ui/initialize","params":{"protocolVersion":"2026-01-26","appInfo":{"name":"face","version":"1"},"appCapabilities":{}}}"#.to_owned(),
//! #     r#"{"jsonrpc":"2.0","method":"ui/notifications/initialized"}"#.to_owned(),
//! #     r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"now"}}"#.to_owned(),
//! # ];
//! // As messages come from the sandbox's window:
//! for message in from_page {
//!     match bridge.receive(message.as_bytes(), &mut out) {
//!         Some(AppEvent::Wants(request, AppAsk::CallTool { name, arguments, .. })) => {
//!             // Here the user is asked, if the tool is one to ask about.
//!             let reply = match client.call_tool(&name, &arguments).await {
//!                 Ok(outcome) => AppReply::Tool(Box::new(outcome.into_inner())),
//!                 Err(error) => AppReply::failed(-32603, error.to_string()),
//!             };
//!             bridge.answer(request, reply, &mut out)?;
//!         }
//!         Some(AppEvent::Wants(request, _)) => {
//!             bridge.answer(request, AppReply::Denied("not here".to_owned()), &mut out)?;
//!         }
//!         Some(event) => println!("{event:?}"),
//!         None => {}
//!     }
//!     for message in out.drain(..) {
//!         // To be posted to the sandbox's window.
//!         println!("{message}");
//!     }
//! }
//! assert!(bridge.is_ready());
//! client.close().await;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # }).expect("it works");
//! ```
//!
//! # Who keeps which rule
//!
//! | Rule | Here |
//! | --- | --- |
//! | nothing is had from an origin that is not declared | [`AppMeta::content_security_policy`]; the page that serves the sandbox sends it |
//! | the policy says no more than was declared | [`Csp`]: what is no origin is left out |
//! | the order of messages; nothing before the handshake | [`AppBridge`] |
//! | an app calls tools that are for apps, of its server | [`AppBridge::tools`]; and `Session::call_for_app` of hosts |
//! | the model is not offered what is for apps only | `HostBuilder::apps` |
//! | links are of `http` and `https`, and lead where they say | [`AppBridge`] |
//! | bounds | [`BridgeLimits`], and 64 origins of a kind |
//! | consent | the host program: [`AppEvent::Wants`] is the place to ask |
//! | sandbox of another origin; whose window a message is from | the host's page; `tests/apps` of the repository has one |
//!
//! # What is not in it
//!
//! Apps that have tools of their own for the host to call, which the specification names without messages for it; cancelling a
//! request of an app, which it does not have either; `notifications/tools/list_changed` for apps, who cannot list tools.

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
