//! Tools that show what a result can hold.

use core::time::Duration;
use std::collections::BTreeMap;

use async_io::Timer;
use mcp_std::model::{Resource, ResourceContents};
use mcp_std::{ContentBlock, Context, LoggingLevel, Progress, ServerBuilder, Tool, ToolResult};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

/// One red pixel, in base64.
pub(super) const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
/// One sample of silence, in base64.
const WAV: &str = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA==";

/// Whatever the client sends.
#[derive(Deserialize, JsonSchema)]
struct Anything {
    #[serde(flatten)]
    #[expect(dead_code, reason = "what a client may send is not what is shown here")]
    members: BTreeMap<String, Value>,
}

#[derive(Deserialize, JsonSchema)]
struct Mirrored {
    /// What clients of 2026-07-28 repeat over HTTP in the header `Mcp-Param-Value`.
    #[schemars(extend("x-mcp-header" = "Value"))]
    value: String,
}

/// The first one asks for nothing and needs nothing, so that a client can try any list by its first tool.
pub(super) fn first(builder: ServerBuilder) -> ServerBuilder {
    builder.tool("test_simple_text", "Says one line", || async {
        "This is a simple text response for testing."
    })
}

pub(super) fn add(builder: ServerBuilder) -> ServerBuilder {
    builder
        .tool("test_image_content", "An image", || async { image() })
        .tool("test_audio_content", "A sound", || async {
            ContentBlock::audio(WAV, "audio/wav")
        })
        .tool("test_embedded_resource", "A resource itself", || async {
            embedded(
                "test://embedded-resource",
                "text/plain",
                "This is an embedded resource content.",
            )
        })
        .tool(
            "test_multiple_content_types",
            "Text, an image and a resource",
            || async {
                vec![
                    ContentBlock::text("Multiple content types test:"),
                    image(),
                    embedded(
                        "test://mixed-content-resource",
                        "application/json",
                        r#"{"test":"data","value":123}"#,
                    ),
                ]
            },
        )
        .tool("test_resource_link", "Where a resource is", || async {
            let mut link = Resource::new("test://static-text", "static-text");
            link.mime_type = Some("text/plain".into());
            ContentBlock::resource_link(link)
        })
        .tool("test_error_handling", "Fails, always", || async {
            ToolResult::error("This tool intentionally returns an error for testing")
        })
        .tool("test_tool_with_progress", "Reports progress", progress)
        .tool("test_tool_with_logging", "Logs three lines", logging)
        .tool(
            "test_logging_tool",
            "Logs one line",
            |context: Context| async move {
                context
                    .log(LoggingLevel::Info, Some("test"), "One line")
                    .await;
                "logged"
            },
        )
        .tool(
            "test_reconnection",
            "Hangs up on a client of 2025-11-25 over HTTP, to answer when it comes again",
            |context: Context| async move {
                context.hang_up(Duration::from_millis(500)).await;
                Timer::after(Duration::from_millis(100)).await;
                "You came back, or never had to go."
            },
        )
        .tool(
            "test_custom_header",
            "Takes an argument that a header repeats",
            |args: Mirrored| async move { args.value },
        )
        .with_tool(
            Tool::new(
                "json_schema_2020_12_tool",
                "Has a schema with much in it",
                |_: Anything| async { "accepted" },
            )
            .input_schema(&dialect()),
        )
}

fn image() -> ContentBlock<'static> {
    ContentBlock::image(PNG, "image/png")
}

pub(super) fn embedded(
    uri: &'static str,
    mime_type: &'static str,
    text: &'static str,
) -> ContentBlock<'static> {
    ContentBlock::resource(ResourceContents::text(uri, text).of_type(mime_type))
}

async fn progress(context: Context) -> &'static str {
    for done in [0, 50, 100] {
        context
            .progress(Progress::new(f64::from(done)).of(100.0))
            .await;
        Timer::after(Duration::from_millis(50)).await;
    }
    "done"
}

async fn logging(context: Context) -> &'static str {
    for line in [
        "Tool execution started",
        "Tool processing data",
        "Tool execution completed",
    ] {
        context.log(LoggingLevel::Info, Some("test"), line).await;
        Timer::after(Duration::from_millis(50)).await;
    }
    "logged"
}

/// What a schema of 2020-12 can have that older ones cannot, to see that it arrives as it is.
fn dialect() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            },
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": false,
    })
}
