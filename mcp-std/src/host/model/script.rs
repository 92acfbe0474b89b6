//! A model that says what it was told to say.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use mcp_core::json::Json;
use serde_json::Value;

use super::super::adapters::{Delta, Prompt, Provider, Reply, Usage};
use super::{Model, ModelError, Replying};

/// Answers from a list, one to each prompt, and keeps the prompts.
///
/// ```
/// use mcp_std::host::adapters::{Prompt, Provider, Toolset, Turn};
/// use mcp_std::host::model::{Answer, Model, ScriptedModel};
///
/// # smol::block_on(async {
/// let model = ScriptedModel::new([Answer::text("Hello.")]);
/// let tools = Toolset::new(Provider::Anthropic, &[]);
/// let turns = [Turn::user("Hi!")];
/// let reply = model.reply(Prompt::new(&turns, &tools), &mut |_| {}).await?;
/// assert_eq!(reply.text, "Hello.");
/// assert!(model.prompts()[0].as_str().contains("Hi!"));
/// # Ok::<(), mcp_std::host::model::ModelError>(())
/// # }).unwrap();
/// ```
#[derive(Debug)]
pub struct ScriptedModel {
    provider: Provider,
    answers: Mutex<VecDeque<Answer>>,
    prompts: Mutex<Vec<Json<'static>>>,
}

/// What a [`ScriptedModel`] says to one prompt.
#[derive(Clone, Debug)]
pub struct Answer(Result<Said, ModelError>);

#[derive(Clone, Debug, Default)]
struct Said {
    text: String,
    calls: Vec<(String, Value)>,
    usage: Usage,
}

impl Answer {
    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Self(Ok(Said {
            text: text.into(),
            ..Said::default()
        }))
    }

    /// Calls of these tools with these arguments. Their ids are `call-` and a number, counted over all answers.
    pub fn calls<N: Into<String>>(calls: impl IntoIterator<Item = (N, Value)>) -> Self {
        Self(Ok(Said {
            calls: calls
                .into_iter()
                .map(|(name, arguments)| (name.into(), arguments))
                .collect(),
            ..Said::default()
        }))
    }

    /// No answer.
    #[must_use]
    pub const fn error(error: ModelError) -> Self {
        Self(Err(error))
    }

    /// The same, and what it costs.
    #[must_use]
    pub fn usage(mut self, usage: Usage) -> Self {
        if let Ok(said) = &mut self.0 {
            said.usage = usage;
        }
        self
    }

    /// The same, with a text before the calls.
    #[must_use]
    pub fn saying(mut self, text: impl Into<String>) -> Self {
        if let Ok(said) = &mut self.0 {
            said.text = text.into();
        }
        self
    }
}

impl ScriptedModel {
    /// These answers, in this order, in the form that Anthropic has.
    pub fn new(answers: impl IntoIterator<Item = Answer>) -> Self {
        Self::of(Provider::Anthropic, answers)
    }

    /// The same in the form of another provider.
    pub fn of(provider: Provider, answers: impl IntoIterator<Item = Answer>) -> Self {
        Self {
            provider,
            answers: Mutex::new(answers.into_iter().collect()),
            prompts: Mutex::default(),
        }
    }

    /// The requests so far, as the provider would have got them from a model named `scripted`.
    #[must_use]
    pub fn prompts(&self) -> Vec<Json<'static>> {
        self.prompts
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

impl Model for ScriptedModel {
    fn provider(&self) -> Provider {
        self.provider
    }

    fn reply<'a>(
        &'a self,
        prompt: Prompt<'a>,
        each: &'a mut (dyn FnMut(Delta) + Send),
    ) -> Replying<'a> {
        let count = {
            let mut prompts = self.prompts.lock().unwrap_or_else(PoisonError::into_inner);
            prompts.push(prompt.tools.request("scripted", &prompt, false));
            prompt
                .turns
                .iter()
                .map(|turn| turn.calls().len())
                .sum::<usize>()
        };
        let answer = self
            .answers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop_front();
        Box::pin(async move {
            let Some(answer) = answer else {
                return Err(ModelError::Unscripted);
            };
            let said = answer.0?;
            if !said.text.is_empty() {
                each(Delta::Text(said.text.clone()));
            }
            let calls = said
                .calls
                .iter()
                .enumerate()
                .map(|(at, (name, arguments))| {
                    each(Delta::Call(name.clone()));
                    let arguments = Json::from(arguments.clone());
                    prompt
                        .tools
                        .call(format!("call-{}", count + at + 1), name, arguments.raw())
                });
            let calls = calls.collect();
            Ok(Reply::new(said.text, calls).usage(said.usage))
        })
    }
}
