//! Function calling: tools as providers want them, and calls and results as they have them.
//!
//! ```
//! use mcp_std::ContentBlock;
//! use mcp_std::host::ToolDefinition;
//! use mcp_std::host::adapters::{CallResult, Provider, Toolset};
//! use mcp_std::model::CallToolResult;
//! use serde_json::json;
//!
//! let forecast = ToolDefinition::new(
//!     "weather__forecast",
//!     Some("Tomorrow's weather"),
//!     json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}),
//! );
//! let tools = Toolset::new(Provider::Anthropic, &[forecast]);
//! assert_eq!(tools.definitions().raw().as_array().map(Iterator::count), Some(1));
//!
//! // What the provider answers …
//! let answer = br#"{"content": [{"type": "tool_use", "id": "toolu_1", "name": "weather__forecast",
//!     "input": {"city": "Oslo"}}], "stop_reason": "tool_use", "usage": {"input_tokens": 9, "output_tokens": 7}}"#;
//! let reply = tools.read(answer)?;
//! assert_eq!(reply.calls[0].id, "toolu_1");
//!
//! // … and what it is told of the call.
//! let result = CallToolResult::new([ContentBlock::text("Rain.")]);
//! let results = [CallResult::new(&reply.calls[0], result)];
//! let messages = tools.results(&results);
//! assert!(messages[0].as_str().contains(r#""tool_use_id":"toolu_1""#));
//! # Ok::<(), mcp_std::host::adapters::ReplyFault>(())
//! ```
//!
//! # What each provider takes, and what we do
//!
//! | | OpenAI Chat | OpenAI Responses | Anthropic | Gemini |
//! | --- | --- | --- | --- | --- |
//! | name of a tool | 1-64 of `A-Za-z0-9_-` | the same | the same | the same, and no digit or `-` first |
//! | description | 1024 characters: cut there | the same | any | any |
//! | schema | [open](schema::Dialect::OpenAi) or [strict](schema::Dialect::OpenAiStrict) | the same | [2020-12](schema::Dialect::Anthropic) | [a subset of OpenAPI](schema::Dialect::Gemini) |
//! | arguments | text | text | object | object |
//! | id of a call | yes | yes | yes | newer models; else by place |
//! | a tool that failed | text that says so | text that says so | `is_error` | `error` beside of `output` |
//! | pictures in results | after them, as the user's | yes | yes | after them, as the user's |
//! | sound | after them, WAV and MP3 | told in words | told in words | after them, as the user's |
//! | PDF | told in words | yes | yes | after them, as the user's |
//!
//! Other names are replaced, and found again when the tool is called. Nothing in base64 is ever shown as text: what a
//! provider does not take is told in a few words. Structured content is shown as JSON where no text block says the same.
//!
//! # Failures
//!
//! A tool that fails says so to the model, which can correct itself; so do [calls that cannot be
//! made](ToolCall::refusal). An error of the protocol or of the connection is not the model's: it goes to who runs the
//! tools. A tool whose schema [cannot be lowered](schema::LowerError) is [refused](Toolset::refused) alone.

mod anthropic;
mod call;
mod content;
mod conversation;
mod fence;
mod gemini;
mod names;
mod openai;
mod read;
mod responses;
pub mod schema;
mod stream;
mod toolset;

pub(crate) use call::failure;
pub use call::{Arguments, MAX_ARGUMENTS, ToolCall};
pub use conversation::{CallResult, Prompt, Reply, Stop, Turn, Usage};
pub(super) use fence::fenced;
pub use read::ReplyFault;
pub use stream::{Delta, MAX_CALLS, MAX_REPLY, ReplyStream};
pub use toolset::{Options, Refused, Toolset};

/// Whose interface it is.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Provider {
    /// OpenAI's Chat Completions, which many others offer too.
    OpenAiChat,
    /// OpenAI's Responses.
    OpenAiResponses,
    /// Anthropic's Messages.
    Anthropic,
    /// Gemini's `generateContent`.
    Gemini,
}
