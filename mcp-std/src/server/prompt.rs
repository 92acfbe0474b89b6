//! Prompts: a definition, and the function that fills it in.

use core::fmt::Display;
use core::future::Future;

use futures_lite::FutureExt;
use mcp_core::json::RawJson;
use mcp_core::model::{self, ContentBlock, GetPromptResult, PromptArgument, PromptMessage, Role};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::arguments::fields::in_order;
use super::arguments::strings::{Text, decode_strings};
use super::completion::{Completer, Completers, IntoCompletion, Settled};
use super::context::Context;
use super::elicitation::InputRequired;
use super::error::{Instead, ProtocolError};
use super::handler::{Finished, Given, Handler, Local, Outcome, Shared, Sharing, Started, run};
use super::tool::schema_of;

/// A template of messages, for people to choose: what a client is told about it, and the function that fills it in.
///
/// Its arguments are the fields of one struct, with their doc comments. They are text on the wire; numbers, booleans and
/// enums are read from it.
///
/// ```
/// use mcp_std::{Prompt, Server};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Review {
///     /// What to look at.
///     code: String,
///     /// How strict to be.
///     strictness: Option<u8>,
/// }
///
/// let review = Prompt::new("review", "Reviews code", |args: Review| async move {
///     format!("Review this, with strictness {}:\n{}", args.strictness.unwrap_or(5), args.code)
/// })
/// .title("Code review")
/// .complete("strictness", |_, _| async { vec!["1", "5", "9"] });
/// let server = Server::builder("reviewer", "1.0.0").with_prompt(review).build()?;
/// # Ok::<(), mcp_std::BuildError>(())
/// ```
pub struct Prompt<S: Sharing = Shared> {
    pub(crate) definition: model::Prompt<'static>,
    pub(crate) takes_context: bool,
    pub(crate) completers: Completers<S>,
    pub(crate) start: Box<S::Start>,
}

impl Prompt {
    /// A prompt of this name. What a client is told of its arguments comes from the type of the handler's.
    pub fn new<M: 'static, H>(
        name: impl Into<String>,
        description: impl Into<String>,
        handler: H,
    ) -> Self
    where
        H: Handler<M, Args: JsonSchema, Output: IntoPrompt, Future: Send> + Send + Sync,
    {
        let start =
            move |context: Context, given: Given<'_>| match prepare(&handler, context, given) {
                Ok(future) => Started::Running(future.boxed()),
                Err(outcome) => Started::Done(outcome),
            };
        Self::with_start::<M, H>(name.into(), description.into(), Box::new(start))
    }

    /// Suggests values for an argument while they are typed: `completer` gets what has been typed, and the arguments that
    /// are settled. It returns a list, of which the client gets the first hundred, the best first.
    #[must_use]
    pub fn complete<C, F>(mut self, argument: impl Into<String>, completer: C) -> Self
    where
        C: Fn(String, Settled) -> F + Send + Sync + 'static,
        F: Future<Output: IntoCompletion> + Send + 'static,
    {
        self.completers
            .push(Completer::new(argument.into(), completer));
        self
    }
}

impl Prompt<Local> {
    /// The same for a handler that is not `Send`; for [`Server::local`](crate::Server::local).
    pub fn local<M: 'static, H>(
        name: impl Into<String>,
        description: impl Into<String>,
        handler: H,
    ) -> Self
    where
        H: Handler<M, Args: JsonSchema, Output: IntoPrompt>,
    {
        let start =
            move |context: Context, given: Given<'_>| match prepare(&handler, context, given) {
                Ok(future) => Started::Running(future.boxed_local()),
                Err(outcome) => Started::Done(outcome),
            };
        Self::with_start::<M, H>(name.into(), description.into(), Box::new(start))
    }

    /// Suggests values for an argument while they are typed, as [`Prompt::complete`] of servers that are not local does.
    #[must_use]
    pub fn complete<C, F>(mut self, argument: impl Into<String>, completer: C) -> Self
    where
        C: Fn(String, Settled) -> F + 'static,
        F: Future<Output: IntoCompletion> + 'static,
    {
        self.completers
            .push(Completer::local(argument.into(), completer));
        self
    }
}

impl<S: Sharing> Prompt<S> {
    fn with_start<M, H: Handler<M, Args: JsonSchema>>(
        name: String,
        description: String,
        start: Box<S::Start>,
    ) -> Self {
        let mut definition = model::Prompt::new(name);
        definition.description = Some(description.into());
        let arguments = arguments::<H::Args>();
        if !arguments.is_empty() {
            definition.arguments = Some(arguments.into());
        }
        Self {
            definition,
            takes_context: H::TAKES_CONTEXT,
            completers: Completers::default(),
            start,
        }
    }
}

super::described! { Prompt }

/// What a type says of its fields.
fn arguments<A: JsonSchema + DeserializeOwned>() -> Vec<PromptArgument<'static>> {
    let schema = schema_of::<A>();
    let required = schema["required"].as_array();
    let Some(Value::Object(fields)) = schema.get("properties") else {
        return Vec::new();
    };
    let text = |field: &Value, name: &str| field[name].as_str().map(|text| text.to_owned().into());
    let arguments = fields.iter().map(|(name, field)| {
        let mut argument = PromptArgument::new(name.clone());
        argument.title = text(field, "title");
        argument.description = text(field, "description");
        argument.required = required.is_some_and(|required| required.iter().any(|it| it == name));
        argument
    });
    let mut arguments: Vec<_> = arguments.collect();
    in_order::<A, _>(&mut arguments, |argument| &argument.name);
    arguments
}

/// Decodes the arguments and calls the handler.
fn prepare<M, H: Handler<M, Output: IntoPrompt>>(
    handler: &H,
    context: Context,
    given: Given<'_>,
) -> Result<impl Future<Output = Finished> + use<M, H>, Outcome> {
    let Given::Arguments(given) = given else {
        unreachable!("the engine gives a prompt its arguments")
    };
    let args = decode(given).map_err(|problem| {
        Outcome::Instead(Instead::invalid_params(format!(
            "Invalid arguments: {problem}"
        )))
    })?;
    Ok(run(handler, context, args, |output: H::Output| {
        output
            .into_prompt()
            .map_or_else(Outcome::Instead, Outcome::Prompt)
    }))
}

fn decode<A: DeserializeOwned>(given: Option<RawJson<'_>>) -> Result<A, String> {
    let members = given.into_iter().flat_map(RawJson::as_object).flatten();
    let texts = members.map(|(name, value)| {
        let name = name.decode().into_owned();
        match value.as_string() {
            Some(text) => Ok((name, Text::One(text.decode().into_owned()))),
            None => Err(format!("`{name}`: expected a string")),
        }
    });
    decode_strings(texts.collect::<Result<Vec<_>, _>>()?.into_iter())
}

/// What the function of a prompt may return.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not something a prompt can return",
    note = "a prompt returns `String`, `&'static str`, `PromptMessage` or a `Vec` of them, `GetPromptResult`, or a `Result` of one of these"
)]
pub trait IntoPrompt {
    /// Makes the result.
    ///
    /// # Errors
    ///
    /// What the request is answered with instead.
    fn into_prompt(self) -> Result<GetPromptResult<'static>, Instead>;
}

impl IntoPrompt for GetPromptResult<'static> {
    fn into_prompt(self) -> Result<GetPromptResult<'static>, Instead> {
        Ok(self)
    }
}

impl IntoPrompt for Vec<PromptMessage<'static>> {
    fn into_prompt(self) -> Result<GetPromptResult<'static>, Instead> {
        Ok(GetPromptResult::new(self))
    }
}

impl IntoPrompt for PromptMessage<'static> {
    fn into_prompt(self) -> Result<GetPromptResult<'static>, Instead> {
        vec![self].into_prompt()
    }
}

/// One message of the user.
impl IntoPrompt for String {
    fn into_prompt(self) -> Result<GetPromptResult<'static>, Instead> {
        PromptMessage::new(Role::User, ContentBlock::text(self)).into_prompt()
    }
}

/// One message of the user.
impl IntoPrompt for &'static str {
    fn into_prompt(self) -> Result<GetPromptResult<'static>, Instead> {
        PromptMessage::new(Role::User, ContentBlock::text(self)).into_prompt()
    }
}

/// An `Err` becomes a JSON-RPC error: that of [`ProtocolError`], else an internal error with its text.
impl<T: IntoPrompt, E: Display + 'static> IntoPrompt for Result<T, E> {
    fn into_prompt(self) -> Result<GetPromptResult<'static>, Instead> {
        match self {
            Ok(output) => output.into_prompt(),
            Err(error) => Err(match Instead::of(&error) {
                Ok(Instead::NotFound) => Instead::internal(error.to_string()),
                Ok(instead) => instead,
                Err(text) => Instead::internal(text),
            }),
        }
    }
}

impl IntoPrompt for ProtocolError {
    fn into_prompt(self) -> Result<GetPromptResult<'static>, Instead> {
        Err(self.into())
    }
}

/// The client is asked for input.
impl IntoPrompt for InputRequired {
    fn into_prompt(self) -> Result<GetPromptResult<'static>, Instead> {
        Err(Instead::InputRequired(self))
    }
}
