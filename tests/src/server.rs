//! The server that the tests talk to.

use alloc::sync::Arc;

use mcp_core::engine::server::{CacheHint, CacheScope, Catalog};
use mcp_core::json::Json;
use mcp_core::model::{ClientCapabilities, Implementation, Tool, ToolAnnotations};

/// Three tools: `echo`; `add`, which has an output schema; and `ask`, which needs a client with elicitation.
///
/// # Panics
///
/// Never: the texts below are valid.
#[must_use]
pub fn catalog() -> Arc<Catalog> {
    let mut echo = Tool::new(
        "echo",
        schema(r#"{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}"#),
    );
    echo.title = Some("Echo".into());
    echo.description = Some("Says it again.".into());
    let mut hints = ToolAnnotations::default();
    hints.read_only_hint = Some(true);
    echo.annotations = Some(hints);
    let mut add = Tool::new(
        "add",
        schema(
            r#"{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"}},"required":["a","b"]}"#,
        ),
    );
    add.output_schema = Some(schema(
        r#"{"type":"object","properties":{"sum":{"type":"number"}},"required":["sum"]}"#,
    ));
    let mut ask = Tool::new("ask", schema(r#"{"type":"object"}"#));
    ask.output_schema = Some(schema(r#"{"type":"array"}"#));
    ask.requires = ClientCapabilities::ELICITATION;
    offer(&[echo, add, ask])
}

/// No tools at all.
#[must_use]
pub fn empty_catalog() -> Arc<Catalog> {
    offer(&[])
}

fn offer(tools: &[Tool<'_>]) -> Arc<Catalog> {
    let mut server = Implementation::new("dialogue", "1.0");
    server.title = Some("Dialogue".into());
    let catalog = Catalog::new(
        &server,
        Some("Use echo."),
        tools,
        CacheHint::new(60_000, CacheScope::Public),
    );
    Arc::new(catalog.expect("the catalog is valid"))
}

fn schema(text: &str) -> Json<'_> {
    Json::parse(text.as_bytes()).expect("the schema is JSON")
}
