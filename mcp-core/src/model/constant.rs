//! What a server offers, for a `static`: made when the program is compiled.

use super::{ClientCapabilities, Implementation, List, Prompt, PromptArgument, Resource, Tool};
use crate::Cow;
use crate::json::Json;

impl<'a> Implementation<'a> {
    /// Name and version, for a `static`.
    #[must_use]
    pub const fn constant(name: &'a str, version: &'a str) -> Self {
        Self {
            name: Cow::Borrowed(name),
            title: None,
            version: Cow::Borrowed(version),
            description: None,
            icons: None,
            website_url: None,
        }
    }
}

impl<'a> Tool<'a> {
    /// Name, description and input schema, for a `static`.
    ///
    /// ```
    /// use mcp_core::json::Json;
    /// use mcp_core::model::Tool;
    ///
    /// static TOOLS: [Tool<'_>; 1] = [Tool::constant(
    ///     "blink",
    ///     "Lets the lamp blink",
    ///     Json::constant(r#"{"type":"object"}"#),
    /// )];
    /// assert_eq!(TOOLS[0].name, "blink");
    /// ```
    #[must_use]
    pub const fn constant(name: &'a str, description: &'a str, input_schema: Json<'a>) -> Self {
        Self {
            name: Cow::Borrowed(name),
            title: None,
            description: Some(Cow::Borrowed(description)),
            input_schema,
            output_schema: None,
            annotations: None,
            execution: None,
            icons: None,
            meta: None,
            requires: ClientCapabilities::NONE,
        }
    }
}

impl<'a> Resource<'a> {
    /// URI, name and type, for a `static`.
    #[must_use]
    pub const fn constant(uri: &'a str, name: &'a str, mime_type: &'a str) -> Self {
        Self {
            uri: Cow::Borrowed(uri),
            name: Cow::Borrowed(name),
            title: None,
            description: None,
            mime_type: Some(Cow::Borrowed(mime_type)),
            annotations: None,
            size: None,
            icons: None,
            meta: None,
        }
    }
}

impl<'a> Prompt<'a> {
    /// Name, description and arguments, for a `static`.
    #[must_use]
    pub const fn constant(
        name: &'a str,
        description: &'a str,
        arguments: &'a [PromptArgument<'a>],
    ) -> Self {
        Self {
            name: Cow::Borrowed(name),
            title: None,
            description: Some(Cow::Borrowed(description)),
            arguments: Some(List::Borrowed(arguments)),
            icons: None,
            meta: None,
        }
    }
}

impl<'a> PromptArgument<'a> {
    /// Name, description, and whether it must be given, for a `static`.
    #[must_use]
    pub const fn constant(name: &'a str, description: &'a str, required: bool) -> Self {
        Self {
            name: Cow::Borrowed(name),
            title: None,
            description: Some(Cow::Borrowed(description)),
            required,
        }
    }
}
