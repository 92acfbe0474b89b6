//! Prompts (server, "Prompts").

use crate::Cow;

use super::codec::{record, result_impls};
use super::{CacheScope, ContentBlock, Icon, List, Map, Role};
use crate::json::Json;

record! {
    /// The description of a prompt.
    pub struct Prompt<'a> {
        /// For programs.
        name: req Cow<'a, str> = "name";
        /// For people. From 2025-06-18 on.
        title: opt Cow<'a, str> = "title" [C E];
        /// What it is for.
        description: opt Cow<'a, str> = "description";
        /// What can be filled in.
        arguments: opt List<'a, PromptArgument<'a>> = "arguments";
        /// Pictures of it. From 2025-11-25 on.
        icons: opt List<'a, Icon<'a>> = "icons" [D E];
        /// `_meta`. From 2025-06-18 on.
        meta: opt Json<'a> = "_meta" [C E];
    }
}

record! {
    /// What can be filled in.
    pub struct PromptArgument<'a> {
        /// For programs.
        name: req Cow<'a, str> = "name";
        /// For people. From 2025-06-18 on.
        title: opt Cow<'a, str> = "title" [C E];
        /// What it is for.
        description: opt Cow<'a, str> = "description";
        /// Whether it must be given.
        required: flag bool = "required";
    }
}

record! {
    /// One message of a prompt.
    pub struct PromptMessage<'a> {
        /// Who says it.
        role: req Role<'a> = "role";
        /// What is said: one block.
        content: req ContentBlock<'a> = "content";
    }
}

record! {
    /// The result of `prompts/list`.
    pub struct ListPromptsResult<'a> {
        /// A page of the prompts.
        prompts: req List<'a, Prompt<'a>> = "prompts";
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
result_impls!(ListPromptsResult cacheable);

record! {
    /// The params of `prompts/get`.
    pub struct GetPromptRequestParams<'a> {
        /// The prompt.
        name: req Cow<'a, str> = "name";
        /// What is filled in: strings only.
        arguments: opt Map<'a, Cow<'a, str>> = "arguments";
        /// Answers to [`InputRequiredResult`](super::InputRequiredResult), by its keys. From 2026-07-28 on.
        input_responses: opt Map<'a, Json<'a>> = "inputResponses" [E E];
        /// [`InputRequiredResult::request_state`](super::InputRequiredResult), if there was one.
        request_state: opt Cow<'a, str> = "requestState" [E E];
        /// `_meta`.
        meta: opt Json<'a> = "_meta";
    }
}

record! {
    /// The result of `prompts/get`.
    pub struct GetPromptResult<'a> {
        /// What it is for.
        description: opt Cow<'a, str> = "description";
        /// What is put into the conversation.
        messages: req List<'a, PromptMessage<'a>> = "messages";
    }
    around {
        /// `_meta`.
        meta: opt Json<'a> = "_meta" [A E];
    }
}
result_impls!(GetPromptResult);
