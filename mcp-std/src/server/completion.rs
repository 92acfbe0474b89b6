//! Completion: what an argument could be, while it is typed.

use core::fmt;
use core::future::Future;
use std::collections::BTreeMap;
use std::sync::Arc;

use futures_lite::FutureExt;
use mcp_core::model::{CompleteResult, Completion};

use super::context::Context;
use super::error::Instead;
use super::handler::{Finished, Given, Handler, Local, Outcome, Shared, Sharing, Started, run};

/// The arguments that are settled while another is typed, by their names. Clients before 2025-06-18 do not tell.
pub type Settled = BTreeMap<String, String>;

/// Suggests values for one argument.
pub(crate) struct Completer<S: Sharing> {
    pub(crate) argument: String,
    pub(crate) start: Box<S::Start>,
}

/// Those of one prompt or template.
pub(crate) struct Completers<S: Sharing>(Vec<Arc<Completer<S>>>);

impl<S: Sharing> Default for Completers<S> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<S: Sharing> Completers<S> {
    /// The newest for an argument is the one that counts.
    pub(crate) fn push(&mut self, completer: Completer<S>) {
        self.0.retain(|other| other.argument != completer.argument);
        self.0.push(Arc::new(completer));
    }

    pub(crate) fn get(&self, argument: &str) -> Option<&Arc<Completer<S>>> {
        self.0
            .iter()
            .find(|completer| completer.argument == argument)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Completer<Shared> {
    pub(crate) fn new<C, F>(argument: String, completer: C) -> Self
    where
        C: Fn(String, Settled) -> F + Send + Sync + 'static,
        F: Future<Output: IntoCompletion> + Send + 'static,
    {
        let suggest = Suggest(completer);
        let start = move |context: Context, given: Given<'_>| {
            let args = suggestion(given);
            Started::Running(complete(&suggest, context, args).boxed())
        };
        Self {
            argument,
            start: Box::new(start),
        }
    }
}

impl Completer<Local> {
    pub(crate) fn local<C, F>(argument: String, completer: C) -> Self
    where
        C: Fn(String, Settled) -> F + 'static,
        F: Future<Output: IntoCompletion> + 'static,
    {
        let suggest = Suggest(completer);
        let start = move |context: Context, given: Given<'_>| {
            let args = suggestion(given);
            Started::Running(complete(&suggest, context, args).boxed_local())
        };
        Self {
            argument,
            start: Box::new(start),
        }
    }
}

/// A completer as a handler.
struct Suggest<C>(C);

impl<C, F> Handler<()> for Suggest<C>
where
    C: Fn(String, Settled) -> F + 'static,
    F: Future + 'static,
{
    type Args = (String, Settled);
    type Output = F::Output;
    type Future = F;

    const TAKES_CONTEXT: bool = false;

    fn call(&self, _: Context, (typed, settled): (String, Settled)) -> F {
        (self.0)(typed, settled)
    }
}

fn complete<H: Handler<(), Args = (String, Settled), Output: IntoCompletion>>(
    handler: &H,
    context: Context,
    args: (String, Settled),
) -> impl Future<Output = Finished> + use<H> {
    run(handler, context, args, |output: H::Output| {
        match output.into_completion() {
            Ok(completion) => Outcome::Completion(CompleteResult::new(completion)),
            Err(instead) => Outcome::Instead(instead),
        }
    })
}

fn suggestion(given: Given<'_>) -> (String, Settled) {
    let Given::Completion { value, context } = given else {
        unreachable!("the engine gives a completion its value")
    };
    let settled = context
        .into_iter()
        .filter_map(|context| context.member("arguments")?.as_object())
        .flatten()
        .filter_map(|(name, value)| {
            let value = value.as_string()?.decode().into_owned();
            Some((name.decode().into_owned(), value))
        });
    (value.into_owned(), settled.collect())
}

/// What a completer may return: strings, the best first.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not something a completer can return",
    note = "a completer returns a `Vec` of `String` or `&'static str`, a `Completion`, or a `Result` of one of these"
)]
pub trait IntoCompletion {
    /// Makes the completion: at most 100 values.
    ///
    /// # Errors
    ///
    /// What the request is answered with instead.
    fn into_completion(self) -> Result<Completion<'static>, Instead>;
}

impl IntoCompletion for Completion<'static> {
    fn into_completion(self) -> Result<Completion<'static>, Instead> {
        Ok(self)
    }
}

fn first(
    values: impl ExactSizeIterator<Item = std::borrow::Cow<'static, str>>,
) -> Completion<'static> {
    let total = values.len();
    let values: Vec<_> = values.take(Completion::MAX_VALUES).collect();
    let all = values.len() == total;
    let mut completion = Completion::new(values);
    completion.total = Some(total as u64);
    completion.has_more = Some(!all);
    completion
}

impl IntoCompletion for Vec<String> {
    fn into_completion(self) -> Result<Completion<'static>, Instead> {
        Ok(first(self.into_iter().map(Into::into)))
    }
}

impl IntoCompletion for Vec<&'static str> {
    fn into_completion(self) -> Result<Completion<'static>, Instead> {
        Ok(first(self.into_iter().map(Into::into)))
    }
}

/// An `Err` becomes a JSON-RPC error.
impl<T: IntoCompletion, E: fmt::Display + 'static> IntoCompletion for Result<T, E> {
    fn into_completion(self) -> Result<Completion<'static>, Instead> {
        match self {
            Ok(output) => output.into_completion(),
            Err(error) => Err(Instead::of(&error).unwrap_or_else(Instead::internal)),
        }
    }
}
