//! A loop in which a model thinks and tools act.
//!
//! ```
//! use mcp_std::ContentBlock;
//! use mcp_std::host::adapters::{ToolCall, Turn};
//! use mcp_std::host::model::{Answer, ScriptedModel};
//! use mcp_std::host::{Agent, Finish, ToolDefinition, Tools, ToolsError};
//! use mcp_std::model::CallToolResult;
//! use serde_json::json;
//!
//! struct Clock;
//!
//! impl Tools for Clock {
//!     type Snapshot = ();
//!
//!     fn snapshot(&self) {}
//!
//!     fn definitions(&self, _: &()) -> Vec<ToolDefinition> {
//!         vec![ToolDefinition::new("now", Some("The time"), json!({"type": "object"}))]
//!     }
//!
//!     async fn call(&self, _: &(), _: &ToolCall) -> Result<CallToolResult<'static>, ToolsError> {
//!         Ok(CallToolResult::new([ContentBlock::text("12:00")]))
//!     }
//! }
//!
//! # smol::block_on(async {
//! let model = ScriptedModel::new([
//!     Answer::calls([("now", json!({}))]),
//!     Answer::text("It is noon."),
//! ]);
//! let agent = Agent::new(model, Clock).system("Be brief.").max_rounds(4);
//! let mut turns = vec![Turn::user("What time is it?")];
//! let outcome = agent.run(&mut turns, &mut |_| {}).await?;
//! assert_eq!(outcome.finish, Finish::Answered);
//! assert_eq!(outcome.text, "It is noon.");
//! assert_eq!(turns.len(), 4);
//! # Ok::<(), mcp_std::host::AgentError>(())
//! # }).unwrap();
//! ```

mod event;
mod join;
mod session;

use core::fmt;
use core::time::Duration;

use mcp_core::model::CallToolResult;

use self::join::Join;
use super::adapters::{
    CallResult, Delta, Prompt, Reply, Stop, ToolCall, Toolset, Turn, Usage, failure,
};
use super::model::{Model, ModelError};
use super::tool::ToolDefinition;
use super::tools::{Tools, ToolsError};
use crate::client::Canceller;

pub use event::AgentEvent;

/// Thinks with a model and acts with tools, in rounds: the model is asked, what it calls is called, all calls of a round at
/// the same time, and the results are in the next prompt, in the model's order. The tools of a round are those of one
/// [snapshot](Tools::snapshot).
///
/// | Bound | Default | Beyond it |
/// | --- | --- | --- |
/// | [`max_rounds`](Self::max_rounds) | 16 answers of the model | the run is over |
/// | [`budget`](Self::budget) | none | the run is over after the round |
/// | [`max_concurrent`](Self::max_concurrent) | 16 calls at the same time | the call waits |
///
/// However a run ends, each call in the conversation has a result, so that it can go on.
#[derive(Debug)]
pub struct Agent<M, T> {
    model: M,
    tools: T,
    system: Option<String>,
    max_tokens: Option<u64>,
    max_rounds: usize,
    budget: Option<u64>,
    max_concurrent: usize,
    canceller: Option<Canceller>,
    stop_on_error: bool,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Outcome {
    /// Why.
    pub finish: Finish,
    /// The last that the model said.
    pub text: String,
    /// The answers of the model.
    pub rounds: usize,
    /// The tokens of all of them.
    pub usage: Usage,
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Finish {
    /// The model has said what it had to say.
    Answered,
    /// The model's answer was cut, since it reached the most tokens.
    Length,
    /// The model, or its provider, does not want to answer.
    Refused,
    /// The most rounds were reached, and the model wants more calls.
    Rounds,
    /// The budget of tokens is used up, and the model wants more calls.
    Budget,
    /// The run was cancelled.
    Cancelled,
}

/// Why a run failed. The conversation is as it was after the last round.
#[derive(Debug)]
#[non_exhaustive]
pub enum AgentError {
    /// The model did not answer.
    Model(ModelError),
    /// A call could not be made, and [that was to end the run](Agent::stop_on_error).
    Tools(ToolsError),
}

impl fmt::Display for AgentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Model(error) => error.fmt(f),
            Self::Tools(error) => write!(f, "a tool could not be called: {error}"),
        }
    }
}

impl core::error::Error for AgentError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Model(error) => Some(error),
            Self::Tools(error) => Some(&**error),
        }
    }
}

impl<M: Model, T: Tools> Agent<M, T> {
    /// This model with these tools.
    pub const fn new(model: M, tools: T) -> Self {
        Self {
            model,
            tools,
            system: None,
            max_tokens: None,
            max_rounds: 16,
            budget: None,
            max_concurrent: 16,
            canceller: None,
            stop_on_error: false,
        }
    }

    /// How the model is to behave.
    #[must_use]
    pub fn system(mut self, text: impl Into<String>) -> Self {
        self.system = Some(text.into());
        self
    }

    /// The most tokens of one answer.
    #[must_use]
    pub const fn max_tokens(mut self, tokens: u64) -> Self {
        self.max_tokens = Some(tokens);
        self
    }

    /// The most answers of the model in one run. The calls of the last one are not made. Default: 16.
    #[must_use]
    pub const fn max_rounds(mut self, rounds: usize) -> Self {
        self.max_rounds = rounds;
        self
    }

    /// The most tokens of one run, prompts and answers together, as far as the provider counts them. When so many are used,
    /// no further call is made and the model is not asked again. Default: no limit.
    #[must_use]
    pub const fn budget(mut self, tokens: u64) -> Self {
        self.budget = Some(tokens);
        self
    }

    /// How many calls run at the same time. Default: 16.
    #[must_use]
    pub const fn max_concurrent(mut self, calls: usize) -> Self {
        self.max_concurrent = calls;
        self
    }

    /// Cancels runs from elsewhere. Calls under way are dropped, which cancels them.
    #[must_use]
    pub fn canceller(mut self, canceller: &Canceller) -> Self {
        self.canceller = Some(canceller.clone());
        self
    }

    /// Whether a call that could not be made ends the run. Default: no, the model is told and may do something else; the
    /// caller is told by [`AgentEvent::Failed`].
    #[must_use]
    pub const fn stop_on_error(mut self, stop: bool) -> Self {
        self.stop_on_error = stop;
        self
    }

    /// The model.
    pub const fn model(&self) -> &M {
        &self.model
    }

    /// The tools.
    pub const fn tools(&self) -> &T {
        &self.tools
    }

    /// Runs until the model has answered the last turn, or a bound is reached. What is said meanwhile is added to `turns`, and
    /// `watch` is told of it as it happens.
    ///
    /// # Errors
    ///
    /// The model did not answer, or a call could not be made and [that ends the run](Self::stop_on_error).
    pub async fn run(
        &self,
        turns: &mut Vec<Turn>,
        watch: &mut (dyn FnMut(AgentEvent<'_>) + Send),
    ) -> Result<Outcome, AgentError> {
        let mut outcome = Outcome {
            finish: Finish::Answered,
            text: String::new(),
            rounds: 0,
            usage: Usage::default(),
        };
        let mut last: Option<(Vec<ToolDefinition>, Toolset)> = None;
        loop {
            let snapshot = self.tools.snapshot();
            let definitions = self.tools.definitions(&snapshot);
            // Lowering the schemas of thousands of tools is done once for as long as they stay the same.
            let (_, tools) = match last.take() {
                Some(known) if known.0 == definitions => last.insert(known),
                _ => {
                    let (provider, options) = (self.model.provider(), self.model.options());
                    let tools = Toolset::with(provider, &definitions, options);
                    last.insert((definitions, tools))
                }
            };
            let tools = &*tools;
            outcome.rounds += 1;
            watch(AgentEvent::Round {
                number: outcome.rounds,
                tools,
            });
            let prompt = Prompt::new(turns, tools)
                .system(self.system.as_deref())
                .max_tokens(self.max_tokens);
            let mut each = |delta: Delta| {
                if let Delta::Text(text) = &delta {
                    watch(AgentEvent::Text(text));
                }
            };
            let Some(reply) = self.guard(self.model.reply(prompt, &mut each)).await else {
                outcome.finish = Finish::Cancelled;
                return Ok(outcome);
            };
            let reply = reply.map_err(AgentError::Model)?;
            outcome.text.clone_from(&reply.text);
            outcome.usage = Usage::new(
                outcome.usage.input.saturating_add(reply.usage.input),
                outcome.usage.output.saturating_add(reply.usage.output),
            );
            watch(AgentEvent::Reply(&reply));
            if let Some(finish) = self.finish(&reply, &outcome) {
                outcome.finish = finish;
                let unmade = "The call was not made: the run is over.";
                close(turns, reply, |_| failure(unmade));
                return Ok(outcome);
            }
            let mut results: Vec<Option<CallToolResult<'static>>> = vec![None; reply.calls.len()];
            let acted = self
                .guard(self.act(&snapshot, &reply, &mut results, watch))
                .await;
            close(turns, reply, |at| {
                let result = results.get_mut(at).and_then(Option::take);
                result.unwrap_or_else(|| failure("The call was cancelled."))
            });
            match acted {
                None => {
                    outcome.finish = Finish::Cancelled;
                    return Ok(outcome);
                }
                Some(Err(error)) => return Err(AgentError::Tools(error)),
                Some(Ok(())) => {}
            }
        }
    }

    /// Whether this was the last answer.
    fn finish(&self, reply: &Reply, outcome: &Outcome) -> Option<Finish> {
        match reply.stop {
            Stop::Length => return Some(Finish::Length),
            Stop::Refused => return Some(Finish::Refused),
            Stop::End | Stop::Calls | Stop::Other(_) => {}
        }
        if reply.calls.is_empty() {
            return Some(Finish::Answered);
        }
        if self
            .budget
            .is_some_and(|budget| outcome.usage.total() >= budget)
        {
            return Some(Finish::Budget);
        }
        (outcome.rounds >= self.max_rounds).then_some(Finish::Rounds)
    }

    /// Calls what the model asks for.
    async fn act(
        &self,
        snapshot: &T::Snapshot,
        reply: &Reply,
        results: &mut [Option<CallToolResult<'static>>],
        watch: &mut (dyn FnMut(AgentEvent<'_>) + Send),
    ) -> Result<(), ToolsError> {
        let mut join = Join::new(self.max_concurrent.max(1));
        for (at, call) in reply.calls.iter().enumerate() {
            watch(AgentEvent::Started(call));
            match call.refusal() {
                Some(refusal) => {
                    watch(AgentEvent::Finished {
                        call,
                        result: &refusal,
                        time: Duration::ZERO,
                    });
                    results[at] = Some(refusal);
                }
                None => join.push(at, self.tools.call(snapshot, call)),
            }
        }
        while let Some((at, outcome, time)) = join.next().await {
            let call = &reply.calls[at];
            let result = match outcome {
                Ok(result) => {
                    watch(AgentEvent::Finished {
                        call,
                        result: &result,
                        time,
                    });
                    result
                }
                Err(error) => {
                    watch(AgentEvent::Failed {
                        call,
                        error: &*error,
                        time,
                    });
                    let told = told(call, &error);
                    if self.stop_on_error {
                        results[at] = Some(told);
                        return Err(error);
                    }
                    told
                }
            };
            results[at] = Some(result);
        }
        Ok(())
    }

    /// `None`: cancelled.
    async fn guard<O>(&self, work: impl Future<Output = O>) -> Option<O> {
        match &self.canceller {
            Some(canceller) => canceller.guard(async { Ok(work.await) }).await.ok(),
            None => Some(work.await),
        }
    }
}

/// What the model reads of a call that could not be made.
fn told(call: &ToolCall, error: &ToolsError) -> CallToolResult<'static> {
    if let Some(error) = error.downcast_ref::<session::Told>() {
        return error.told.clone();
    }
    let words: String = error.to_string().chars().take(500).collect();
    failure(format!("`{}` could not be called: {words}", call.name))
}

/// Adds the reply, and a result for each of its calls.
fn close(
    turns: &mut Vec<Turn>,
    reply: Reply,
    mut result: impl FnMut(usize) -> CallToolResult<'static>,
) {
    let results: Vec<CallResult> = reply
        .calls
        .iter()
        .enumerate()
        .map(|(at, call)| CallResult::new(call, result(at)))
        .collect();
    turns.push(Turn::Model(reply));
    if !results.is_empty() {
        turns.push(Turn::Results(results));
    }
}
