//! Sampling: a server asks the client's model (client, "Sampling").

use crate::Cow;

use super::codec::{names, record, result_impls};
use super::{ContentBlock, List, Role, TaskMetadata, Tool};
use crate::json::Json;

record! {
    /// The params of `sampling/createMessage`.
    pub struct CreateMessageRequestParams<'a> {
        /// The conversation so far. A message of several blocks goes to revisions before 2025-11-25 as several messages
        /// of one (SMP-13).
        messages: req List<'a, SamplingMessage<'a>> = "messages" as conversation;
        /// Which model would be good.
        model_preferences: opt ModelPreferences<'a> = "modelPreferences";
        /// What to tell the model first.
        system_prompt: opt Cow<'a, str> = "systemPrompt";
        /// Whose context to put in.
        include_context: opt IncludeContext<'a> = "includeContext";
        /// How much chance is to have.
        temperature: opt f64 = "temperature";
        /// How long the answer may be, in tokens.
        max_tokens: num u64 = "maxTokens";
        /// What ends the answer.
        stop_sequences: opt List<'a, Cow<'a, str>> = "stopSequences";
        /// For the provider of the model: an object.
        metadata: opt Json<'a> = "metadata";
        /// What the model may use. From 2025-11-25 on, if the client declared `sampling.tools`.
        tools: opt List<'a, Tool<'a>> = "tools" [D E];
        /// Whether it has to. From 2025-11-25 on.
        tool_choice: opt ToolChoice<'a> = "toolChoice" [D E];
        /// Asks that it be run as a task. Only 2025-11-25.
        task: opt TaskMetadata = "task" [D D];
        /// `_meta`. Up to 2025-11-25.
        meta: opt Json<'a> = "_meta" [A D];
    }
}

record! {
    /// One message of a conversation.
    pub struct SamplingMessage<'a> {
        /// Who says it.
        role: req Role<'a> = "role";
        /// What is said: usually one block. More or none are an array on the wire, from 2025-11-25 on.
        content: req List<'a, ContentBlock<'a>> = "content" as said;
        /// `_meta`. From 2025-11-25 on.
        meta: opt Json<'a> = "_meta" [D E];
    }
}

record! {
    /// The result of `sampling/createMessage`.
    pub struct CreateMessageResult<'a> {
        /// Who says it.
        role: req Role<'a> = "role";
        /// What is said: usually one block. More or none are an array on the wire, from 2025-11-25 on; to older
        /// revisions goes the first (SMP-13).
        content: req List<'a, ContentBlock<'a>> = "content" as said;
        /// Which model said it.
        model: req Cow<'a, str> = "model";
        /// Why it stopped, if that is known.
        stop_reason: opt StopReason<'a> = "stopReason";
    }
    around {
        /// `_meta`.
        meta: opt Json<'a> = "_meta" [A E];
    }
}
result_impls!(CreateMessageResult);

names! {
    /// Why a model stopped.
    pub enum StopReason {
        /// It had said what it had to say.
        EndTurn = "endTurn",
        /// It came to a stop sequence.
        StopSequence = "stopSequence",
        /// It was not allowed more.
        MaxTokens = "maxTokens",
        /// It wants tools called.
        ToolUse = "toolUse",
    }
}

names! {
    /// Whose context is put into a conversation.
    pub enum IncludeContext {
        /// Nobody's.
        None = "none",
        /// That of the server which asks.
        ThisServer = "thisServer",
        /// That of all servers.
        AllServers = "allServers",
    }
}

record! {
    /// Which model would be good. The client decides.
    #[derive(Default)]
    pub struct ModelPreferences<'a> {
        /// Names, the most wanted first; the first that fits counts.
        hints: opt List<'a, ModelHint<'a>> = "hints";
        /// How much its price matters, from 0 to 1.
        cost_priority: opt f64 = "costPriority";
        /// How much its speed matters, from 0 to 1.
        speed_priority: opt f64 = "speedPriority";
        /// How much its wits matter, from 0 to 1.
        intelligence_priority: opt f64 = "intelligencePriority";
    }
}

record! {
    /// A name to look for.
    #[derive(Default)]
    pub struct ModelHint<'a> {
        /// Part of a model's name.
        name: opt Cow<'a, str> = "name";
    }
}

record! {
    /// Whether a model has to use tools.
    #[derive(Default)]
    pub struct ToolChoice<'a> {
        /// Absent means [`ToolChoiceMode::Auto`].
        mode: opt ToolChoiceMode<'a> = "mode";
    }
}

names! {
    /// Whether a model has to use tools.
    pub enum ToolChoiceMode {
        /// As it likes.
        Auto = "auto",
        /// It has to.
        Required = "required",
        /// It must not.
        None = "none",
    }
}

/// One block, or an array of them.
mod said {
    use super::super::codec::{D, Decode, DecodeError, Target, Write};
    use super::super::{ContentBlock, List};
    use crate::json::{Kind, RawJson, Sink, Writer};

    #[cfg(feature = "alloc")]
    pub(super) fn decode<'b>(
        value: RawJson<'b>,
    ) -> Result<List<'b, ContentBlock<'b>>, DecodeError> {
        if value.kind() == Kind::Array {
            return List::decode(value);
        }
        ContentBlock::decode(value).map(List::from)
    }

    pub(super) fn write<S: Sink + ?Sized>(
        blocks: &List<'_, ContentBlock<'_>>,
        target: Target,
        json: &mut Writer<'_, S>,
    ) {
        match &**blocks {
            [block] => block.write(target, json),
            several if target.since(D) => {
                json.begin_array();
                for block in several {
                    block.write(target, json);
                }
                json.end_array();
            }
            [first, ..] => first.write(target, json),
            [] => ContentBlock::text("").write(target, json),
        }
    }
}

/// Messages, each of one block where a revision has no others.
mod conversation {
    use super::super::List;
    use super::super::codec::{D, Decode, DecodeError, Target, Write};
    use super::SamplingMessage;
    use crate::json::{RawJson, Sink, Writer};

    #[cfg(feature = "alloc")]
    pub(super) fn decode<'b>(
        value: RawJson<'b>,
    ) -> Result<List<'b, SamplingMessage<'b>>, DecodeError> {
        List::decode(value)
    }

    pub(super) fn write<S: Sink + ?Sized>(
        messages: &List<'_, SamplingMessage<'_>>,
        target: Target,
        json: &mut Writer<'_, S>,
    ) {
        if target.since(D) {
            return messages.write(target, json);
        }
        json.begin_array();
        for message in messages {
            for block in &message.content {
                json.begin_object();
                json.key("role");
                message.role.write(target, json);
                json.key("content");
                block.write(target, json);
                json.end_object();
            }
        }
        json.end_array();
    }
}
