//! Calls, as a model asks for them.

use std::collections::HashSet;

use mcp_core::json::{Json, Kind, RawJson};
use mcp_core::model::{CallToolResult, ContentBlock};

/// The longest arguments of one call, in bytes.
pub const MAX_ARGUMENTS: usize = 4 * 1024 * 1024;

/// A call that a model asks for.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolCall {
    /// The provider's name of the call, which its result answers to. Gemini's older models have none: then it is made of
    /// the place of the call, and not told to the provider.
    pub id: String,
    /// The [name](crate::host::ToolDefinition::name) of the tool. That which the model gave, if no tool has it.
    pub name: String,
    /// The arguments for the server.
    pub arguments: Arguments,
    /// Whether the toolset has a tool of that name.
    pub is_known: bool,
    /// The name as the model gave it.
    pub(super) given_name: String,
    /// The arguments as the model gave them.
    pub(super) given: String,
}

/// What a model gave as arguments.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Arguments {
    /// A JSON object, as the tool's schema has it.
    Object(Json<'static>),
    /// Something else. A model can correct itself when it is told.
    #[non_exhaustive]
    Invalid {
        /// What is wrong with them.
        reason: String,
    },
}

impl ToolCall {
    /// What the model is to be told instead of a call, if none can be made: there is no such tool, or the arguments are no
    /// JSON object.
    #[must_use]
    pub fn refusal(&self) -> Option<CallToolResult<'static>> {
        if !self.is_known {
            return Some(failure(format!("There is no tool `{}`.", self.name)));
        }
        match &self.arguments {
            Arguments::Object(_) => None,
            Arguments::Invalid { reason } => Some(failure(format!(
                "The arguments of `{}` cannot be used: {reason}. Call it again with a JSON object.",
                self.name
            ))),
        }
    }
}

/// A result that says in words what went wrong, for the model.
pub(crate) fn failure(text: impl Into<String>) -> CallToolResult<'static> {
    CallToolResult::new([ContentBlock::text(text.into())]).failed(true)
}

/// The object that a model gave: as an object or as its text, once or twice quoted. Nothing, blanks and null are `{}`.
pub(super) fn normalise(given: &str) -> Result<Json<'_>, String> {
    if given.len() > MAX_ARGUMENTS {
        return Err("they are longer than 4 MiB".to_owned());
    }
    let given = given.trim();
    if given.is_empty() {
        return Ok(Json::EMPTY_OBJECT);
    }
    let value =
        RawJson::parse(given.as_bytes()).map_err(|error| format!("they are no JSON: {error}"))?;
    match value.kind() {
        Kind::Object => {
            unique(value)?;
            Ok(value.into())
        }
        Kind::Null => Ok(Json::EMPTY_OBJECT),
        Kind::String => {
            let text = value.as_string().map(|text| text.decode().into_owned());
            let text = text.unwrap_or_default();
            if text.trim().is_empty() {
                return Ok(Json::EMPTY_OBJECT);
            }
            let inner = Json::owned(text)
                .map_err(|error| format!("they are a text that is no JSON: {error}"))?;
            if inner.raw().kind() != Kind::Object {
                return Err("they are no JSON object".to_owned());
            }
            unique(inner.raw())?;
            Ok(inner)
        }
        Kind::Bool | Kind::Number | Kind::Array => Err("they are no JSON object".to_owned()),
    }
}

/// FR-14: who approves and who runs would read two members of one name each in his own way.
fn unique(value: RawJson<'_>) -> Result<(), String> {
    if let Some(members) = value.as_object() {
        let mut seen = HashSet::new();
        for (name, value) in members {
            let name = name.decode();
            unique(value)?;
            if seen.contains(&name) {
                let shown: String = name.chars().take(64).collect();
                return Err(format!("`{shown}` is in them twice"));
            }
            seen.insert(name);
        }
    }
    value.as_array().into_iter().flatten().try_for_each(unique)
}
