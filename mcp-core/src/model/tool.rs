//! Tools and their results (server, "Tools").

use crate::Cow;

use super::codec::{C, E, Target, names, record, result_impls};
use super::{CacheScope, ClientCapabilities, ContentBlock, Icon, List, Map, TaskMetadata};
use crate::json::{Json, RawJson};

record! {
    /// The definition of a tool.
    pub struct Tool<'a> {
        /// Unique on its server; 1 to 128 of `A-Za-z0-9_-.` by recommendation (TOOL-07).
        name: req Cow<'a, str> = "name";
        /// What it is called, for people. From 2025-06-18 on.
        title: opt Cow<'a, str> = "title" [C E];
        /// What it does, for the model.
        description: opt Cow<'a, str> = "description";
        /// A JSON Schema object with `"type": "object"` at its root (TOOL-04).
        input_schema: req Json<'a> = "inputSchema";
        /// The schema of `structuredContent`. From 2025-06-18 on; before 2026-07-28 only with an object at its root
        /// (TOOL-06), so others are kept from older peers.
        output_schema: opt Json<'a> = "outputSchema" [C E] if has_output_schema;
        /// Hints about its behaviour. From 2025-03-26 on.
        annotations: opt ToolAnnotations<'a> = "annotations" [B E];
        /// How it is run. Only 2025-11-25.
        execution: opt ToolExecution<'a> = "execution" [D D];
        /// Pictures of it. From 2025-11-25 on.
        icons: opt List<'a, Icon<'a>> = "icons" [D E];
        /// `_meta`. From 2025-06-18 on.
        meta: opt Json<'a> = "_meta" [C E];
        /// What it needs of the client. Not on the wire: a call by a client that did not declare it is refused.
        requires: off ClientCapabilities = "\u{0}requires";
    }
}

record! {
    /// Hints about a tool's behaviour, not to be trusted more than the server is (TOOL-09). `None` leaves the
    /// specification's default (TOOL-10).
    #[derive(Default)]
    pub struct ToolAnnotations<'a> {
        /// What it is called, for people; [`Tool::title`] goes before it.
        title: opt Cow<'a, str> = "title";
        /// It changes nothing. Default: false.
        read_only_hint: opt bool = "readOnlyHint";
        /// It may destroy something. Default: true.
        destructive_hint: opt bool = "destructiveHint";
        /// Calling it twice with the same arguments is as good as once. Default: false.
        idempotent_hint: opt bool = "idempotentHint";
        /// It talks to an open world. Default: true.
        open_world_hint: opt bool = "openWorldHint";
    }
}

record! {
    /// How a tool is run. Only 2025-11-25.
    #[derive(Default)]
    pub struct ToolExecution<'a> {
        /// Whether it can be run as a task; absent means not (TL-03).
        task_support: opt TaskSupport<'a> = "taskSupport";
    }
}

names! {
    /// Whether a tool is run as a task.
    pub enum TaskSupport {
        /// Never.
        Forbidden = "forbidden",
        /// If the caller wishes.
        Optional = "optional",
        /// Always.
        Required = "required",
    }
}

record! {
    /// The result of `tools/list`.
    pub struct ListToolsResult<'a> {
        /// A page of the tools.
        tools: req List<'a, Tool<'a>> = "tools";
        /// Where the next page begins; absent on the last. An empty string is a cursor too (PAG-02).
        next_cursor: opt Cow<'a, str> = "nextCursor";
    }
    around {
        /// For how many milliseconds it may be kept. From 2026-07-28 on, as is the next.
        ttl_ms: opt i64 = "ttlMs" [E E];
        /// For whom it may be kept.
        cache_scope: opt CacheScope = "cacheScope" [E E];
        /// `_meta`.
        meta: opt Json<'a> = "_meta" [A E];
    }
}
result_impls!(ListToolsResult cacheable);

record! {
    /// The params of `tools/call`.
    pub struct CallToolRequestParams<'a> {
        /// The tool.
        name: req Cow<'a, str> = "name";
        /// Its arguments: an object.
        arguments: opt Json<'a> = "arguments";
        /// Answers to [`InputRequiredResult`](super::InputRequiredResult), by its keys. From 2026-07-28 on.
        input_responses: opt Map<'a, Json<'a>> = "inputResponses" [E E];
        /// [`InputRequiredResult::request_state`](super::InputRequiredResult), if there was one.
        request_state: opt Cow<'a, str> = "requestState" [E E];
        /// Asks that it be run as a task. Only 2025-11-25.
        task: opt TaskMetadata = "task" [D D];
        /// `_meta`.
        meta: opt Json<'a> = "_meta";
    }
}

record! {
    /// The result of `tools/call`.
    pub struct CallToolResult<'a> {
        /// What the model reads.
        content: req List<'a, ContentBlock<'a>> = "content";
        /// What programs read; `Some` of JSON null differs from `None` (TOOL-13). From 2025-06-18 on, and there only
        /// objects; the text for older peers is yours to put into `content` (TOOL-16, TOOL-17).
        structured_content: keep Json<'a> = "structuredContent" if can_structure;
        /// Whether the tool failed, so that the model can correct itself (TOOL-22).
        is_error: flag bool = "isError";
    }
    around {
        /// `_meta`.
        meta: opt Json<'a> = "_meta" [A E];
    }
}
result_impls!(CallToolResult);

impl<'a> Tool<'a> {
    /// What to call it when people read: its title, that in its annotations, or its name (TYP-02).
    #[must_use]
    pub fn display_name(&self) -> &str {
        let annotated = || self.annotations.as_ref()?.title.as_deref();
        self.title
            .as_deref()
            .or_else(annotated)
            .unwrap_or(&self.name)
    }
}

impl<'a> CallToolResult<'a> {
    /// The same with a structured result.
    #[must_use]
    pub fn structured(self, value: impl Into<Json<'a>>) -> Self {
        Self {
            structured_content: Some(value.into()),
            ..self
        }
    }

    /// The same, saying whether the tool failed.
    #[must_use]
    pub fn failed(self, is_error: bool) -> Self {
        Self { is_error, ..self }
    }
}

/// TOOL-13: 2025-06-18 and 2025-11-25 have objects only.
pub(super) fn can_structure(value: &Json<'_>, target: Target) -> bool {
    target.since(E) || target.since(C) && value.raw().as_object().is_some()
}

/// TOOL-06: 2025-06-18 and 2025-11-25 ask for `"type": "object"` at the root.
fn has_output_schema(schema: &Json<'_>, target: Target) -> bool {
    target.since(E) || is_object_schema(schema.raw())
}

/// Whether it is a JSON Schema with `"type": "object"` at its root.
pub(crate) fn is_object_schema(schema: RawJson<'_>) -> bool {
    let kind = schema.member("type");
    kind.is_some_and(|kind| kind.is_text("object"))
}
