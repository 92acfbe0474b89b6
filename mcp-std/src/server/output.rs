//! What a tool returns, and what can be turned into it.

use core::fmt::Display;

use mcp_core::json::{Json, MAX_DEPTH, RawJson};
use mcp_core::model::{CallToolResult, ContentBlock};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::elicitation::InputRequired;
use super::error::{Instead, ProtocolError};
use super::tool::schema_of;

/// The result of a tool.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ToolResult {
    /// What the model reads.
    pub content: Vec<ContentBlock<'static>>,
    /// What programs read: JSON text.
    pub structured_content: Option<String>,
    /// Whether the tool failed, so that the model can correct itself.
    // TOOL-22.
    pub is_error: bool,
    /// `_meta` of the result: an object.
    pub meta: Option<Json<'static>>,
}

impl ToolResult {
    /// A result of one text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            content: vec![ContentBlock::text(text.into())],
            ..Self::default()
        }
    }

    /// A failure, and what the model should know about it.
    #[must_use]
    pub fn error(text: impl Into<String>) -> Self {
        Self {
            is_error: true,
            ..Self::text(text)
        }
    }

    /// As the engine takes it. `None`: the structured content is not JSON, or nests deeper than [`MAX_DEPTH`].
    pub(crate) fn borrowed(&self) -> Option<CallToolResult<'_>> {
        let result = CallToolResult::new(&self.content).failed(self.is_error);
        Some(match &self.structured_content {
            Some(text) => {
                result.structured(RawJson::parse_with_depth(text.as_bytes(), MAX_DEPTH).ok()?)
            }
            None => result,
        })
    }
}

/// What a handler may return.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not something a tool can return",
    note = "a tool returns `String`, `&'static str`, `Structured<T>`, `ContentBlock` or a `Vec` of them, `ToolResult`, `()`, or a `Result` of one of these"
)]
pub trait IntoToolResult {
    /// Makes the result.
    ///
    /// # Errors
    ///
    /// What the call is answered with instead.
    fn into_tool_result(self) -> Result<ToolResult, Instead>;

    /// The JSON Schema of the structured content, if there is any.
    #[must_use]
    fn output_schema() -> Option<Value> {
        None
    }
}

impl IntoToolResult for ToolResult {
    fn into_tool_result(self) -> Result<ToolResult, Instead> {
        Ok(self)
    }
}

impl IntoToolResult for String {
    fn into_tool_result(self) -> Result<ToolResult, Instead> {
        Ok(ToolResult::text(self))
    }
}

impl IntoToolResult for &'static str {
    fn into_tool_result(self) -> Result<ToolResult, Instead> {
        Ok(ToolResult::text(self))
    }
}

/// Nothing to say: no content.
impl IntoToolResult for () {
    fn into_tool_result(self) -> Result<ToolResult, Instead> {
        Ok(ToolResult::default())
    }
}

impl IntoToolResult for ContentBlock<'static> {
    fn into_tool_result(self) -> Result<ToolResult, Instead> {
        vec![self].into_tool_result()
    }
}

impl IntoToolResult for Vec<ContentBlock<'static>> {
    fn into_tool_result(self) -> Result<ToolResult, Instead> {
        Ok(ToolResult {
            content: self,
            ..ToolResult::default()
        })
    }
}

/// An `Err` is a failure that the model is told of; it is not a JSON-RPC error, unless it is a [`ProtocolError`].
impl<T: IntoToolResult, E: Display + 'static> IntoToolResult for Result<T, E> {
    fn into_tool_result(self) -> Result<ToolResult, Instead> {
        match self {
            Ok(output) => output.into_tool_result(),
            Err(error) => match Instead::of(&error) {
                // A tool is no resource: one it could not find is its own affair.
                Ok(Instead::NotFound) => Ok(ToolResult::error(error.to_string())),
                Ok(instead) => Err(instead),
                Err(text) => Ok(ToolResult::error(text)),
            },
        }
    }

    fn output_schema() -> Option<Value> {
        T::output_schema()
    }
}

/// The request is answered with an error, whatever it was.
impl IntoToolResult for ProtocolError {
    fn into_tool_result(self) -> Result<ToolResult, Instead> {
        Err(self.into())
    }
}

/// The client is asked for input.
impl IntoToolResult for InputRequired {
    fn into_tool_result(self) -> Result<ToolResult, Instead> {
        Err(Instead::InputRequired(self))
    }
}

/// A structured result: the value as `structuredContent`, the same as JSON text for the model and for older clients,
/// and the schema of the type as the tool's output schema.
///
/// Revisions before 2026-07-28 only have structured content that is an object: their clients get other values as text
/// alone.
// TOOL-16.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "a wrapper, made by its users")]
pub struct Structured<T>(pub T);

impl<T: Serialize + JsonSchema> IntoToolResult for Structured<T> {
    fn into_tool_result(self) -> Result<ToolResult, Instead> {
        Ok(match serde_json::to_string(&self.0) {
            Ok(text) => ToolResult {
                structured_content: Some(text.clone()),
                ..ToolResult::text(text)
            },
            Err(error) => {
                ToolResult::error(format!("The result cannot be written as JSON: {error}"))
            }
        })
    }

    fn output_schema() -> Option<Value> {
        Some(schema_of::<T>())
    }
}
