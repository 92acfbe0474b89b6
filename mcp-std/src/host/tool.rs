//! A tool, as a model is to see it.

use std::sync::Arc;

use serde_json::Value;

/// A tool as it is shown to a model: under a name that a provider takes, and with the schema of the arguments that the model
/// is to give.
///
/// What a model sees may differ from what the server declared: the name tells the server too, and preset arguments are not in
/// the schema.
///
/// ```
/// use mcp_std::host::ToolDefinition;
///
/// let schema = serde_json::json!({"type": "object", "properties": {"city": {"type": "string"}}});
/// let tool = ToolDefinition::new("weather__forecast", Some("Tomorrow's weather"), schema);
/// assert_eq!(tool.name, "weather__forecast");
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolDefinition {
    /// The name for the model: 1 to 64 of `A-Za-z0-9_-`, and unique in its snapshot.
    pub name: String,
    /// What it is called, for people.
    pub title: Option<String>,
    /// What it does, for the model. It is what the server says, and no more to be trusted than the server is.
    pub description: Option<String>,
    /// The JSON Schema of the arguments: an object. Members are in the order in which the server has them.
    pub input_schema: Value,
    /// The JSON Schema of the structured content, if the server declared one.
    pub output_schema: Option<Value>,
    /// The server says that the tool changes nothing.
    pub read_only: Option<bool>,
    /// The server says that the tool may destroy something, or that it does not.
    pub destructive: Option<bool>,
    /// The name of the server in the configuration; empty for a tool that no server has, such as `search_tools`.
    pub server: Arc<str>,
    /// The name that the server has for the tool.
    pub tool: String,
    /// The app that shows its results, and who may call it: as the server says.
    #[cfg(feature = "apps")]
    pub ui: crate::apps::ToolUi,
}

impl ToolDefinition {
    /// A tool of no server, of which nothing else is known.
    pub fn new(
        name: impl Into<String>,
        description: Option<&str>,
        input_schema: impl Into<Value>,
    ) -> Self {
        let name = name.into();
        Self {
            tool: name.clone(),
            name,
            title: None,
            description: description.map(str::to_owned),
            input_schema: input_schema.into(),
            output_schema: None,
            read_only: None,
            destructive: None,
            server: Arc::from(""),
            #[cfg(feature = "apps")]
            ui: crate::apps::ToolUi::read(None),
        }
    }
}
