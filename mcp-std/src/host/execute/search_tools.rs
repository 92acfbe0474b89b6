//! The tool by which a model finds those that it is not offered.

use mcp_core::model::{CallToolResult, ContentBlock};
use serde_json::{Value, json};

use super::super::session::Session;
use super::super::snapshot::Snapshot;
use super::super::tool::ToolDefinition;
use super::call::ExecuteError;

/// So many are found unless the model says otherwise.
const FOUND: u64 = 5;
/// And at most so many.
const MOST: u64 = 20;

/// The tool, under this name.
pub(in crate::host) fn definition(name: &str) -> ToolDefinition {
    let schema = json!({
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "What the tool is to do, in a few words"},
            "limit": {"type": "integer", "minimum": 1, "maximum": MOST, "description": "How many tools at most"},
        },
        "required": ["query"],
    });
    let what = "Finds tools beyond those that are listed. The tools that are found can be called from the next turn on.";
    let mut tool = ToolDefinition::new(name, Some(what), schema);
    tool.read_only = Some(true);
    tool
}

/// Finds tools, and offers them from the next snapshot on.
pub(super) fn run(
    session: &Session,
    snapshot: &Snapshot,
    arguments: &Value,
) -> Result<CallToolResult<'static>, ExecuteError> {
    let query = arguments["query"].as_str();
    let query = query.ok_or_else(|| ExecuteError::Arguments("`query` is a string".to_owned()))?;
    let limit = arguments["limit"].as_u64().unwrap_or(FOUND).clamp(1, MOST);
    let found = snapshot.search(query, usize::try_from(limit).unwrap_or(usize::MAX));
    session.activate_tools(&found);
    let tools: Vec<_> = found
        .iter()
        .map(|tool| json!({"name": tool.name, "description": tool.description}))
        .collect();
    let text = json!({ "tools": tools }).to_string();
    Ok(CallToolResult::new(vec![ContentBlock::text(text)]))
}
