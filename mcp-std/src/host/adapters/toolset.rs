//! The tools of one request.

use std::collections::HashMap;

use mcp_core::json::{Json, RawJson, Writer};
use serde_json::{Value, json};

use super::call::{Arguments, ToolCall, normalise};
use super::schema::{Dialect, Loss, LowerError, Lowered, lower};
use super::{CallResult, Prompt, Provider, Reply, ReplyFault, ReplyStream, names};
use super::{anthropic, gemini, openai, responses};
use crate::host::ToolDefinition;

/// The longest description of a function that OpenAI takes, in characters.
const MAX_DESCRIPTION: usize = 1024;

/// What can be chosen about how tools are shown.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Options {
    /// OpenAI's strict mode, where a tool's schema is within its limits: the model cannot but keep to the schema. Default:
    /// off.
    pub strict: bool,
    /// Whether pictures, sound and documents in results are shown, where the provider takes them. Off, they are told in a
    /// few words, for models that only read. Default: on.
    pub media: bool,
    /// OpenAI's Responses keep nothing at the provider (`store` is false), and thoughts come encrypted, to be given back with
    /// the next request. Only models that reason take it. Default: off, thoughts are found again by their ids.
    pub stateless: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            strict: false,
            media: true,
            stateless: false,
        }
    }
}

impl Options {
    /// Whether to use OpenAI's strict mode.
    #[must_use]
    pub const fn strict(mut self, strict: bool) -> Self {
        self.strict = strict;
        self
    }

    /// Whether pictures, sound and documents are shown.
    #[must_use]
    pub const fn media(mut self, media: bool) -> Self {
        self.media = media;
        self
    }

    /// Whether OpenAI's Responses keep nothing at the provider.
    #[must_use]
    pub const fn stateless(mut self, stateless: bool) -> Self {
        self.stateless = stateless;
        self
    }
}

/// Tools as a provider has them. It stays the same while a request is under way: another set of tools is another toolset.
#[derive(Clone, Debug)]
pub struct Toolset {
    provider: Provider,
    options: Options,
    definitions: Json<'static>,
    tools: Vec<Tool>,
    /// By the provider's names.
    places: HashMap<String, usize>,
    refused: Vec<Refused>,
}

#[derive(Clone, Debug)]
struct Tool {
    name: String,
    given_name: String,
    lowered: Lowered,
}

/// A tool that no model is shown.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Refused {
    /// Its [name](ToolDefinition::name).
    pub name: String,
    /// What is wrong with its schema.
    pub error: LowerError,
}

impl Toolset {
    /// These tools, in their order.
    #[must_use]
    pub fn new(provider: Provider, tools: &[ToolDefinition]) -> Self {
        Self::with(provider, tools, Options::default())
    }

    /// The same, with what was chosen.
    #[must_use]
    pub fn with(provider: Provider, tools: &[ToolDefinition], options: Options) -> Self {
        let all: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
        let given_names = names::assign(provider, &all);
        let mut definitions = Vec::new();
        let mut kept = Vec::new();
        let mut refused = Vec::new();
        for (tool, given_name) in tools.iter().zip(given_names) {
            match lowered(provider, &tool.input_schema, options.strict) {
                Ok((mut lowered, strict)) => {
                    let description = tool.description.as_deref().or(tool.title.as_deref());
                    let cuts = matches!(provider, Provider::OpenAiChat | Provider::OpenAiResponses);
                    if cuts
                        && description
                            .is_some_and(|text| text.chars().nth(MAX_DESCRIPTION).is_some())
                    {
                        lowered.lose("description", "the provider takes 1024 characters of it");
                    }
                    definitions.push(define(
                        provider,
                        &given_name,
                        description,
                        lowered.schema(),
                        strict,
                    ));
                    kept.push(Tool {
                        name: tool.name.clone(),
                        given_name,
                        lowered,
                    });
                }
                Err(error) => refused.push(Refused {
                    name: tool.name.clone(),
                    error,
                }),
            }
        }
        let places = kept
            .iter()
            .enumerate()
            .map(|(at, tool)| (tool.given_name.clone(), at));
        let definitions = match provider {
            Provider::Gemini if definitions.is_empty() => json!([]),
            Provider::Gemini => json!([{"functionDeclarations": definitions}]),
            Provider::OpenAiChat | Provider::OpenAiResponses | Provider::Anthropic => {
                Value::Array(definitions)
            }
        };
        Self {
            provider,
            options,
            definitions: definitions.into(),
            places: places.collect(),
            tools: kept,
            refused,
        }
    }

    /// Whose tools they are.
    #[must_use]
    pub const fn provider(&self) -> Provider {
        self.provider
    }

    /// What was chosen.
    #[must_use]
    pub const fn options(&self) -> Options {
        self.options
    }

    /// The member `tools` of a request.
    #[must_use]
    pub const fn definitions(&self) -> &Json<'static> {
        &self.definitions
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// What the schema of a tool lost: see [`schema`](super::schema).
    #[must_use]
    pub fn losses(&self, name: &str) -> &[Loss] {
        self.tool(name).map_or(&[], |tool| tool.lowered.losses())
    }

    /// The tools that are not shown, since their schemas cannot be used.
    #[must_use]
    pub fn refused(&self) -> &[Refused] {
        &self.refused
    }

    /// The name by which the provider knows a tool: mostly the same.
    #[must_use]
    pub fn given_name(&self, name: &str) -> Option<&str> {
        self.tool(name).map(|tool| tool.given_name.as_str())
    }

    /// A call of a tool, as if the model had asked for it: for conversations that are written by programs.
    #[must_use]
    pub fn call(&self, id: impl Into<String>, name: &str, arguments: RawJson<'_>) -> ToolCall {
        let tool = self.tool(name);
        let given = tool.map_or_else(|| arguments.into(), |tool| tool.lowered.lower(arguments));
        let given_name = tool.map_or(name, |tool| &tool.given_name);
        self.asked(id.into(), given_name.to_owned(), given.as_str().to_owned())
    }

    /// The body of a request to a model of this name.
    #[must_use]
    pub fn request(&self, model: &str, prompt: &Prompt<'_>, stream: bool) -> Json<'static> {
        match self.provider {
            Provider::OpenAiChat => openai::request(model, prompt, stream),
            Provider::OpenAiResponses => responses::request(model, prompt, stream),
            Provider::Anthropic => anthropic::request(model, prompt, stream),
            Provider::Gemini => gemini::request(prompt),
        }
    }

    /// What a provider answered as a whole.
    ///
    /// # Errors
    ///
    /// It is no answer: the provider's error, or something that is not of its interface.
    pub fn read(&self, answer: &[u8]) -> Result<Reply, ReplyFault> {
        let answer =
            RawJson::parse(answer).map_err(|error| ReplyFault::Malformed(error.to_string()))?;
        match self.provider {
            Provider::OpenAiChat => openai::read(self, answer),
            Provider::OpenAiResponses => responses::read(self, answer),
            Provider::Anthropic => anthropic::read(self, answer),
            Provider::Gemini => gemini::read(self, answer),
        }
    }

    /// Reads what a provider answers in pieces.
    #[must_use]
    pub fn stream(&self) -> ReplyStream<'_> {
        ReplyStream::new(self)
    }

    /// The messages, or items of the conversation, that tell the model what came of its calls.
    #[must_use]
    pub fn results(&self, results: &[CallResult]) -> Vec<Json<'static>> {
        match self.provider {
            Provider::OpenAiChat => openai::results(results, self.options),
            Provider::OpenAiResponses => responses::results(results, self.options),
            Provider::Anthropic => anthropic::results(results, self.options),
            Provider::Gemini => gemini::results(results, self.options),
        }
    }

    fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools.iter().find(|tool| tool.name == name)
    }

    /// A call, of what the model gave.
    pub(super) fn asked(&self, id: String, given_name: String, given: String) -> ToolCall {
        let tool = self.places.get(&given_name).map(|at| &self.tools[*at]);
        let arguments = match normalise(&given) {
            Ok(object) => Arguments::Object(match tool {
                Some(tool) => tool.lowered.raise(object.raw()),
                None => object.into_owned(),
            }),
            Err(reason) => Arguments::Invalid { reason },
        };
        ToolCall {
            id,
            name: tool.map_or_else(|| given_name.clone(), |tool| tool.name.clone()),
            arguments,
            is_known: tool.is_some(),
            given_name,
            given,
        }
    }
}

/// The members of a request that say what can be called, and whether the answer is to come in pieces: the same words for all
/// but Gemini, whose tools are in groups, and whose URL says how it answers.
pub(super) fn write_tools(prompt: &Prompt<'_>, stream: bool, json: &mut Writer<'_, Vec<u8>>) {
    if !prompt.tools.is_empty() {
        json.key("tools");
        json.raw(prompt.tools.definitions().raw());
    }
    if stream {
        json.key("stream");
        json.boolean(true);
    }
}

/// The schema, and whether it is a strict one.
fn lowered(
    provider: Provider,
    schema: &Value,
    strict: bool,
) -> Result<(Lowered, bool), LowerError> {
    let dialect = match provider {
        Provider::Anthropic => Dialect::Anthropic,
        Provider::Gemini => Dialect::Gemini,
        Provider::OpenAiChat | Provider::OpenAiResponses => {
            if strict {
                match lower(schema, Dialect::OpenAiStrict) {
                    Ok(lowered) => return Ok((lowered, true)),
                    Err(LowerError::TooLarge(_)) => {}
                    Err(error) => return Err(error),
                }
            }
            Dialect::OpenAi
        }
    };
    lower(schema, dialect).map(|lowered| (lowered, false))
}

fn define(
    provider: Provider,
    name: &str,
    description: Option<&str>,
    schema: &Value,
    strict: bool,
) -> Value {
    let cut = |text: &str| text.chars().take(MAX_DESCRIPTION).collect::<String>();
    match provider {
        Provider::OpenAiChat => {
            let mut function = json!({"name": name, "parameters": schema});
            // Not all who offer this interface know the word.
            if strict {
                function["strict"] = json!(true);
            }
            if let Some(text) = description {
                function["description"] = json!(cut(text));
            }
            json!({"type": "function", "function": function})
        }
        Provider::OpenAiResponses => {
            let mut function =
                json!({"type": "function", "name": name, "parameters": schema, "strict": strict});
            if let Some(text) = description {
                function["description"] = json!(cut(text));
            }
            function
        }
        Provider::Anthropic => {
            let mut tool = json!({"name": name, "input_schema": schema});
            if let Some(text) = description {
                tool["description"] = json!(text);
            }
            tool
        }
        Provider::Gemini => {
            // It is required there.
            let text = description.filter(|text| !text.is_empty()).unwrap_or(name);
            json!({"name": name, "description": text, "parameters": schema})
        }
    }
}
