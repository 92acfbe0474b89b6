//! The tools.

use mcp_std::host::ToolDefinition;
use mcp_std::host::adapters::schema::Dialect;
use serde_json::Value;

pub(crate) const DIALECTS: [Dialect; 4] = [
    Dialect::Anthropic,
    Dialect::OpenAi,
    Dialect::OpenAiStrict,
    Dialect::Gemini,
];

pub(crate) struct Tool {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) schema: Value,
    pub(crate) samples: Vec<Value>,
}

impl Tool {
    pub(crate) fn definition(&self) -> ToolDefinition {
        ToolDefinition::new(&*self.name, Some(&self.description), self.schema.clone())
    }
}

pub(crate) fn tools() -> Vec<Tool> {
    let text = include_str!("tools.jsonl");
    let tools: Vec<Tool> = text.lines().map(tool).collect();
    assert!(tools.len() >= 200, "the corpus has {} tools", tools.len());
    tools
}

fn tool(line: &str) -> Tool {
    let tool: Value = serde_json::from_str(line).expect("a line is JSON");
    let text = |member: &str| tool[member].as_str().expect("a text").to_owned();
    Tool {
        name: format!("{}__{}", text("server"), text("name")),
        description: text("description"),
        schema: tool["inputSchema"].clone(),
        samples: tool["samples"].as_array().expect("a list").clone(),
    }
}
