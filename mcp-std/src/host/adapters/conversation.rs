//! What is said in turns, whoever the provider is.

use mcp_core::json::Json;
use mcp_core::model::{CallToolResult, ContentBlock};

use super::{Provider, ToolCall, Toolset};

/// One turn of a conversation.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Turn {
    /// What the user says.
    User(Vec<ContentBlock<'static>>),
    /// What the model answered.
    Model(Reply),
    /// What came of the calls of the turn before, in their order.
    Results(Vec<CallResult>),
}

impl Turn {
    /// A text of the user.
    pub fn user(text: impl Into<String>) -> Self {
        Self::User(vec![ContentBlock::text(text.into())])
    }

    /// The calls that the model asks for in this turn.
    #[must_use]
    pub fn calls(&self) -> &[ToolCall] {
        match self {
            Self::Model(reply) => &reply.calls,
            Self::User(_) | Self::Results(_) => &[],
        }
    }
}

/// What a model is asked.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Prompt<'a> {
    /// How the model is to behave.
    pub system: Option<&'a str>,
    /// The conversation so far, the newest turn last.
    pub turns: &'a [Turn],
    /// What it may call.
    pub tools: &'a Toolset,
    /// The most tokens it may answer with.
    pub max_tokens: Option<u64>,
}

impl<'a> Prompt<'a> {
    /// These turns and tools.
    #[must_use]
    pub const fn new(turns: &'a [Turn], tools: &'a Toolset) -> Self {
        Self {
            system: None,
            turns,
            tools,
            max_tokens: None,
        }
    }

    /// How the model is to behave.
    #[must_use]
    pub const fn system(mut self, text: Option<&'a str>) -> Self {
        self.system = text;
        self
    }

    /// The most tokens it may answer with. Default: what the provider does, or 4096 where it has to be said.
    #[must_use]
    pub const fn max_tokens(mut self, tokens: Option<u64>) -> Self {
        self.max_tokens = tokens;
        self
    }
}

/// What a model answered.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Reply {
    /// What it says.
    pub text: String,
    /// The calls it asks for, in its order.
    pub calls: Vec<ToolCall>,
    /// Why it stopped.
    pub stop: Stop,
    /// What it cost.
    pub usage: Usage,
    /// The message, or its parts, in the provider's own words: what it has to be given back as it was, such as signed
    /// thoughts.
    pub(super) echo: Option<(Provider, Json<'static>)>,
}

impl Reply {
    /// An answer that a program makes up.
    #[must_use]
    pub fn new(text: impl Into<String>, calls: Vec<ToolCall>) -> Self {
        Self {
            text: text.into(),
            stop: if calls.is_empty() {
                Stop::End
            } else {
                Stop::Calls
            },
            calls,
            ..Self::default()
        }
    }

    /// The same, and what it cost.
    #[must_use]
    pub const fn usage(mut self, usage: Usage) -> Self {
        self.usage = usage;
        self
    }
}

/// Why a model stopped.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum Stop {
    /// It has said what it had to say.
    #[default]
    End,
    /// It waits for the results of its calls.
    Calls,
    /// The most tokens were reached.
    Length,
    /// The provider, or the model, does not want to say more.
    Refused,
    /// Something else: the provider's word for it.
    Other(String),
}

/// Tokens, as the provider counts them. 0 where it did not say.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Usage {
    /// Of the prompt, cached ones included.
    pub input: u64,
    /// Of the answer, thoughts included.
    pub output: u64,
}

impl Usage {
    /// So many.
    #[must_use]
    pub const fn new(input: u64, output: u64) -> Self {
        Self { input, output }
    }

    /// All of them.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.input.saturating_add(self.output)
    }
}

/// What came of a call.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CallResult {
    /// [`ToolCall::id`].
    pub id: String,
    /// The name that the model called the tool by.
    pub name: String,
    /// The result.
    pub result: CallToolResult<'static>,
}

impl CallResult {
    /// The result of this call.
    #[must_use]
    pub fn new(call: &ToolCall, result: CallToolResult<'static>) -> Self {
        Self {
            id: call.id.clone(),
            name: call.given_name.clone(),
            result,
        }
    }
}
