//! Tools and their results (server, "Tools").

use super::{ClientCapabilities, ContentBlock, ProtocolVersion};
use crate::json::{RawJson, Sink, Writer};

/// The definition of a tool.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Tool<'a> {
    /// Unique on its server; 1 to 128 of `A-Za-z0-9_-.` by recommendation (TOOL-07).
    pub name: &'a str,
    /// What it does, for the model.
    pub description: Option<&'a str>,
    /// What it is called, for people. From 2025-06-18 on.
    pub title: Option<&'a str>,
    /// A JSON Schema object with `"type": "object"` at its root (TOOL-04).
    pub input_schema: RawJson<'a>,
    /// The schema of `structuredContent`. From 2025-06-18 on; before 2026-07-28 only with an object at its root
    /// (TOOL-06), so others are kept from older peers.
    pub output_schema: Option<RawJson<'a>>,
    /// Hints about its behaviour. From 2025-03-26 on.
    pub annotations: ToolAnnotations,
    /// What it needs of the client. Not on the wire: a call by a client that did not declare it is refused.
    pub requires: ClientCapabilities,
}

/// Hints about a tool's behaviour; `None` leaves the specification's default (TOOL-10).
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct ToolAnnotations {
    /// It changes nothing. Default: false.
    pub read_only: Option<bool>,
    /// It may destroy something. Default: true.
    pub destructive: Option<bool>,
    /// Calling it twice with the same arguments is as good as once. Default: false.
    pub idempotent: Option<bool>,
    /// It talks to an open world. Default: true.
    pub open_world: Option<bool>,
}

impl<'a> Tool<'a> {
    /// A tool with a name and a schema for its arguments.
    #[must_use]
    pub fn new(name: &'a str, input_schema: RawJson<'a>) -> Self {
        Self {
            name,
            description: None,
            title: None,
            input_schema,
            output_schema: None,
            annotations: ToolAnnotations::default(),
            requires: ClientCapabilities::NONE,
        }
    }

    /// Writes the definition as `version` has it (TOOL-02).
    pub(crate) fn write<S: Sink + ?Sized>(
        &self,
        version: ProtocolVersion,
        json: &mut Writer<'_, S>,
    ) {
        json.begin_object();
        json.key("name");
        json.string(self.name);
        if let Some(title) = self
            .title
            .filter(|_| version >= ProtocolVersion::V2025_06_18)
        {
            json.key("title");
            json.string(title);
        }
        if let Some(description) = self.description {
            json.key("description");
            json.string(description);
        }
        json.key("inputSchema");
        json.raw(self.input_schema);
        if let Some(schema) = self
            .output_schema
            .filter(|schema| has_output_schema(*schema, version))
        {
            json.key("outputSchema");
            json.raw(schema);
        }
        if version >= ProtocolVersion::V2025_03_26 {
            self.annotations.write(json);
        }
        json.end_object();
    }
}

impl ToolAnnotations {
    fn write<S: Sink + ?Sized>(self, json: &mut Writer<'_, S>) {
        if self == Self::default() {
            return;
        }
        json.key("annotations");
        json.begin_object();
        for (name, hint) in [
            ("readOnlyHint", self.read_only),
            ("destructiveHint", self.destructive),
            ("idempotentHint", self.idempotent),
            ("openWorldHint", self.open_world),
        ] {
            if let Some(hint) = hint {
                json.key(name);
                json.boolean(hint);
            }
        }
        json.end_object();
    }
}

/// TOOL-06: 2025-06-18 and 2025-11-25 ask for `"type": "object"` at the root.
fn has_output_schema(schema: RawJson<'_>, version: ProtocolVersion) -> bool {
    version >= ProtocolVersion::V2026_07_28
        || version >= ProtocolVersion::V2025_06_18 && is_object_schema(schema)
}

/// Whether it is a JSON Schema with `"type": "object"` at its root.
pub(crate) fn is_object_schema(schema: RawJson<'_>) -> bool {
    schema.as_object().is_some_and(|mut members| {
        members.any(|(name, value)| name == "type" && value.is_text("object"))
    })
}

/// The result of `tools/call`.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct CallToolResult<'a> {
    /// What the model reads.
    pub content: &'a [ContentBlock<'a>],
    /// What programs read; `Some` of JSON null differs from `None` (TOOL-13). From 2025-06-18 on, and there only
    /// objects; the text for older peers is yours to put into `content` (TOOL-16, TOOL-17).
    pub structured_content: Option<RawJson<'a>>,
    /// Whether the tool failed, so that the model can correct itself (TOOL-22).
    pub is_error: bool,
}

impl<'a> CallToolResult<'a> {
    /// A result of content blocks.
    #[must_use]
    pub const fn new(content: &'a [ContentBlock<'a>]) -> Self {
        Self {
            content,
            structured_content: None,
            is_error: false,
        }
    }

    /// The same with a structured result.
    #[must_use]
    pub const fn structured(self, value: RawJson<'a>) -> Self {
        Self {
            structured_content: Some(value),
            ..self
        }
    }

    /// The same, saying whether the tool failed.
    #[must_use]
    pub const fn failed(self, is_error: bool) -> Self {
        Self { is_error, ..self }
    }

    /// Writes the members of the result into an open object.
    pub(crate) fn write<S: Sink + ?Sized>(
        &self,
        version: ProtocolVersion,
        json: &mut Writer<'_, S>,
    ) {
        json.open("\"content\":[");
        for block in self.content {
            block.write(version, json);
        }
        json.end_array();
        let structured = self.structured_content.filter(|value| {
            version >= ProtocolVersion::V2026_07_28
                || version >= ProtocolVersion::V2025_06_18 && value.as_object().is_some()
        });
        if let Some(value) = structured {
            json.key("structuredContent");
            json.raw(value);
        }
        if self.is_error {
            json.key("isError");
            json.boolean(true);
        }
    }
}
