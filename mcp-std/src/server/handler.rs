//! Handlers: functions of a server's author, whatever they serve.

use core::future::{Future, poll_fn};
use core::panic::AssertUnwindSafe;
use core::pin::{Pin, pin};
use core::task::Poll;
use std::borrow::Cow;

use futures_lite::FutureExt;
use mcp_core::json::RawJson;
use mcp_core::model::{CompleteResult, GetPromptResult, ReadResourceResult};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::context::Context;
use super::error::Instead;
use super::output::ToolResult;
use crate::panic::{Panicked, contain, discard};

/// Whether a server's handlers may move between threads: [`Shared`] ones may, [`Local`] ones need not.
pub trait Sharing: sealed::Sealed + Sized + 'static {
    /// A handler that runs.
    #[doc(hidden)]
    type Running: Future<Output = Finished> + ?Sized;
    /// Starts a handler.
    #[doc(hidden)]
    type Start: Fn(Context, Given<'_>) -> Started<Self> + ?Sized;
}

/// Handlers are `Send`: the server can be spawned on an executor of several threads.
#[derive(Debug)]
#[non_exhaustive]
pub enum Shared {}

/// Handlers may hold an `Rc` and the like: the server stays on the thread it is built on.
#[derive(Debug)]
#[non_exhaustive]
pub enum Local {}

impl Sharing for Shared {
    type Running = dyn Future<Output = Finished> + Send;
    type Start = dyn Fn(Context, Given<'_>) -> Started<Self> + Send + Sync;
}

impl Sharing for Local {
    type Running = dyn Future<Output = Finished>;
    type Start = dyn Fn(Context, Given<'_>) -> Started<Self>;
}

mod sealed {
    #[expect(unnameable_types, reason = "that is the point")]
    pub trait Sealed {}
    impl Sealed for super::Shared {}
    impl Sealed for super::Local {}
}

/// What a handler is given by the request, besides its context.
#[doc(hidden)]
#[expect(unnameable_types, reason = "an inner part of a sealed trait")]
#[derive(Debug)]
#[non_exhaustive]
pub enum Given<'b> {
    /// To a tool or a prompt.
    Arguments(Option<RawJson<'b>>),
    /// To a resource.
    Uri(Cow<'b, str>),
    /// To a completion.
    Completion {
        /// What has been typed.
        value: Cow<'b, str>,
        /// Arguments that are settled: `{"arguments":{…}}`
        context: Option<RawJson<'b>>,
    },
}

/// What a handler ended with.
#[doc(hidden)]
#[expect(unnameable_types, reason = "an inner part of a sealed trait")]
#[derive(Debug)]
#[non_exhaustive]
pub enum Outcome {
    /// Of a tool.
    Tool(ToolResult),
    /// Of a resource.
    Resource(ReadResourceResult<'static>),
    /// Of a prompt.
    Prompt(GetPromptResult<'static>),
    /// Of a completion.
    Completion(CompleteResult<'static>),
    /// Of another server, which was asked in its place.
    #[cfg(feature = "host")]
    Relayed(super::relay::Relayed),
    /// No result.
    Instead(Instead),
    /// It waits for answers of a modern client, which are asked for; its future is dropped.
    Asked,
}

/// An outcome, unless it panicked.
#[doc(hidden)]
pub(crate) type Finished = Result<Outcome, Panicked>;

/// What starting a handler gives.
#[doc(hidden)]
#[expect(unnameable_types, reason = "an inner part of a sealed trait")]
#[non_exhaustive]
pub enum Started<S: Sharing> {
    /// An outcome at once: what was given did not fit.
    Done(Outcome),
    /// A future, not polled yet.
    Running(Pin<Box<S::Running>>),
}

/// A function that can be a handler: of a tool, a prompt, a resource or a resource template.
///
/// Implemented for closures and functions that return a future: `|args: A| async move { … }`,
/// `|context: Context, args: A| async move { … }`, and both without `args` for those that take none. `A` is one struct,
/// whose fields are the arguments (for a template, its variables): it is decoded by serde, and described by schemars
/// where clients are told of it. `Marker` tells the forms apart and is always inferred.
#[diagnostic::on_unimplemented(
    message = "this function cannot be a handler",
    label = "not a handler",
    note = "a handler is `|args: A| async move {{ … }}`, `|context: Context, args: A| async move {{ … }}`, or either without `args`",
    note = "`A` derives `serde::Deserialize`, and `schemars::JsonSchema` for tools and prompts; several arguments are the fields of one `A`"
)]
pub trait Handler<Marker>: 'static {
    /// The arguments.
    type Args: DeserializeOwned + 'static;
    /// What it returns in the end.
    type Output;
    /// The future it returns.
    type Future: Future<Output = Self::Output> + 'static;

    /// Whether it looks at its context. What only a context shows is not kept for those that do not.
    const TAKES_CONTEXT: bool = true;

    /// Runs it.
    fn call(&self, context: Context, args: Self::Args) -> Self::Future;
}

// What makes a form is here. What else a handler's types have to be is asked for where it is used, so that the compiler
// names what is missing rather than the function.

impl<F, A, Fut> Handler<(A,)> for F
where
    F: Fn(A) -> Fut + 'static,
    A: DeserializeOwned + 'static,
    Fut: Future + 'static,
{
    type Args = A;
    type Output = Fut::Output;
    type Future = Fut;

    const TAKES_CONTEXT: bool = false;

    fn call(&self, _: Context, args: A) -> Fut {
        self(args)
    }
}

impl<F, A, Fut> Handler<(Context, A)> for F
where
    F: Fn(Context, A) -> Fut + 'static,
    A: DeserializeOwned + 'static,
    Fut: Future + 'static,
{
    type Args = A;
    type Output = Fut::Output;
    type Future = Fut;

    fn call(&self, context: Context, args: A) -> Fut {
        self(context, args)
    }
}

impl<F, Fut> Handler<Context> for F
where
    F: Fn(Context) -> Fut + 'static,
    Fut: Future + 'static,
{
    type Args = NoArguments;
    type Output = Fut::Output;
    type Future = Fut;

    fn call(&self, context: Context, _: NoArguments) -> Fut {
        self(context)
    }
}

impl<F, Fut> Handler<()> for F
where
    F: Fn() -> Fut + 'static,
    Fut: Future + 'static,
{
    type Args = NoArguments;
    type Output = Fut::Output;
    type Future = Fut;

    const TAKES_CONTEXT: bool = false;

    fn call(&self, _: Context, _: NoArguments) -> Fut {
        self()
    }
}

/// The arguments of a handler that takes none; what is given all the same is ignored.
#[derive(Debug, serde::Deserialize, JsonSchema)]
// Without this the line above would be told to the model.
#[schemars(transform = drop_description)]
#[non_exhaustive]
pub struct NoArguments {}

fn drop_description(schema: &mut schemars::Schema) {
    schema.remove("description");
}

/// Calls a handler and makes what it returns an outcome; a panic in it ends here, be it in the call or in its future.
///
/// A handler that waits for a modern client ends as well, with [`Outcome::Asked`]: it will be run again.
pub(crate) fn run<M, H: Handler<M>, F>(
    handler: &H,
    context: Context,
    args: H::Args,
    outcome: F,
) -> impl Future<Output = Finished> + use<M, H, F>
where
    F: FnOnce(H::Output) -> Outcome + 'static,
{
    let round = context.round();
    let called = contain(|| handler.call(context, args));
    async move {
        let future = called?;
        let answered = AssertUnwindSafe(async { outcome(future.await) }).catch_unwind();
        let Some(round) = round else {
            return answered.await.map_err(discard);
        };
        let mut answered = pin!(Some(answered));
        let finished = poll_fn(|cx| {
            if let Some(answered) = answered.as_mut().as_pin_mut()
                && let Poll::Ready(finished) = answered.poll(cx)
            {
                return Poll::Ready(finished.map_err(discard));
            }
            match round.is_asking(cx.waker()) {
                true => Poll::Ready(Ok(Outcome::Asked)),
                false => Poll::Pending,
            }
        })
        .await;
        // What it does when it is dropped is its own business.
        let _ = contain(|| answered.set(None));
        round.end();
        finished
    }
}
