//! Results, as callers get them.

use core::fmt;
use core::marker::PhantomData;
use core::ops::Deref;
use std::sync::Arc;

use mcp_core::json::{Json, RawJson};
use mcp_core::model::request::Request;
use mcp_core::model::{CallToolResult, ContentBlock, Decode, DecodeError};
use serde::de::DeserializeOwned;

use super::error::CallError;

/// What a tool brought: its result, and whether it failed.
///
/// A tool that failed is a result and no error: the model reads it and tries another way. A program that wants an error
/// says [`into_result`](Self::into_result).
#[derive(Clone, Debug, PartialEq)]
pub struct ToolOutcome(pub(super) CallToolResult<'static>);

impl ToolOutcome {
    /// Whether the tool failed.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.0.is_error
    }

    /// The texts among the content, with line ends between them.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        for block in &self.0.content {
            if let ContentBlock::Text(block) = block {
                if !text.is_empty() {
                    text.push('\n');
                }
                text.push_str(&block.text);
            }
        }
        text
    }

    /// The structured content, as a type of yours. `None`: there is none, as always from a server that speaks a revision
    /// before 2025-06-18, which has only [texts](Self::text).
    ///
    /// # Errors
    ///
    /// It does not fit the type.
    pub fn structured<T: DeserializeOwned>(&self) -> Option<Result<T, serde_json::Error>> {
        let content = self.0.structured_content.as_ref()?;
        Some(serde_json::from_str(content.as_str()))
    }

    /// The result, whether the tool failed or not.
    #[must_use]
    pub fn into_inner(self) -> CallToolResult<'static> {
        self.0
    }

    /// The result, or an error if the tool failed.
    ///
    /// # Errors
    ///
    /// [`CallError::Tool`].
    pub fn into_result(self) -> Result<CallToolResult<'static>, CallError> {
        if self.is_error() {
            return Err(CallError::Tool(Box::new(self.0)));
        }
        Ok(self.0)
    }
}

impl Deref for ToolOutcome {
    type Target = CallToolResult<'static>;

    fn deref(&self) -> &CallToolResult<'static> {
        &self.0
    }
}

/// The result of a request, as it came: read it with [`decode`](Self::decode), without a copy.
pub struct Response<R> {
    json: Arc<Json<'static>>,
    request: PhantomData<fn() -> R>,
}

impl<R: Request> Response<R> {
    pub(super) fn new(json: Arc<Json<'static>>) -> Self {
        Self {
            json,
            request: PhantomData,
        }
    }

    /// The result.
    ///
    /// # Errors
    ///
    /// It is not what the method's result is to be.
    pub fn decode(&self) -> Result<R::Result<'_>, DecodeError> {
        R::Result::decode(self.json.raw())
    }

    /// All of it, members that nobody knows included.
    #[must_use]
    pub fn raw(&self) -> RawJson<'_> {
        self.json.raw()
    }
}

impl<R> fmt::Debug for Response<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.json.fmt(f)
    }
}
