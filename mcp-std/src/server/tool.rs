//! Tools: a definition, and the function behind it.

use core::future::Future;
use core::panic::AssertUnwindSafe;
use core::pin::Pin;

use futures_lite::FutureExt;
use mcp_core::json::RawJson;
use mcp_core::model::{ClientCapabilities, ToolAnnotations};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::arguments;
use super::context::Context;
use super::output::{IntoToolResult, ToolResult};
use crate::panic::{Panicked, contain, discard};

/// Whether a server's handlers may move between threads: [`Shared`] ones may, [`Local`] ones need not.
pub trait Sharing: sealed::Sealed + Sized + 'static {
    /// A handler that runs.
    #[doc(hidden)]
    type Running: Future<Output = Finished> + ?Sized;
    /// Starts a handler.
    #[doc(hidden)]
    type Start: Fn(Context, Option<RawJson<'_>>) -> Started<Self> + ?Sized;
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
    type Start = dyn Fn(Context, Option<RawJson<'_>>) -> Started<Self> + Send + Sync;
}

impl Sharing for Local {
    type Running = dyn Future<Output = Finished>;
    type Start = dyn Fn(Context, Option<RawJson<'_>>) -> Started<Self>;
}

mod sealed {
    #[expect(unnameable_types, reason = "that is the point")]
    pub trait Sealed {}
    impl Sealed for super::Shared {}
    impl Sealed for super::Local {}
}

/// What a handler ended with.
pub(crate) type Finished = Result<ToolResult, Panicked>;

/// What starting a handler gives.
#[doc(hidden)]
#[expect(unnameable_types, reason = "an inner part of a sealed trait")]
#[non_exhaustive]
pub enum Started<S: Sharing> {
    /// A result at once: the arguments did not fit.
    Done(ToolResult),
    /// A future, not polled yet.
    Running(Pin<Box<S::Running>>),
}

/// A function that can be a tool.
///
/// Implemented for closures and functions that return a future: `|args: A| async move { … }`,
/// `|context: Context, args: A| async move { … }`, and both without `args` for tools that take none. `A` is one
/// struct, whose fields are the tool's arguments: it is decoded by serde and described by schemars. The output is
/// anything that is [`IntoToolResult`]. `Marker` tells the forms apart and is always inferred.
#[diagnostic::on_unimplemented(
    message = "this function cannot be a tool",
    label = "not a tool's function",
    note = "a tool is `|args: A| async move {{ … }}`, `|context: Context, args: A| async move {{ … }}`, or either without `args`",
    note = "`A` derives `serde::Deserialize` and `schemars::JsonSchema`; several arguments are the fields of one `A`"
)]
pub trait Handler<Marker>: 'static {
    /// The arguments.
    type Args: DeserializeOwned + 'static;
    /// What it returns in the end.
    type Output;
    /// The future it returns.
    type Future: Future<Output = Self::Output> + 'static;

    /// Runs it.
    fn call(&self, context: Context, args: Self::Args) -> Self::Future;
}

// What makes a form is here. What else a tool's types have to be is asked for where a tool is made, so that the compiler
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

    fn call(&self, _: Context, _: NoArguments) -> Fut {
        self()
    }
}

/// The arguments of a tool that takes none; what is given all the same is ignored.
#[derive(Debug, serde::Deserialize, JsonSchema)]
// Without this the line above would be told to the model.
#[schemars(transform = drop_description)]
#[non_exhaustive]
pub struct NoArguments {}

fn drop_description(schema: &mut schemars::Schema) {
    schema.remove("description");
}

/// A tool: what a client is told about it, and the function that it calls.
///
/// ```
/// use mcp_std::{Server, Tool};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Divide {
///     /// What to divide.
///     dividend: f64,
///     /// What to divide it by; not 0.
///     divisor: f64,
/// }
///
/// let divide = Tool::new("divide", "Divides two numbers", |args: Divide| async move {
///     if args.divisor == 0.0 { Err("cannot divide by 0") } else { Ok(format!("{}", args.dividend / args.divisor)) }
/// })
/// .title("Divide")
/// .read_only(true);
/// let server = Server::builder("calculator", "1.0.0").with_tool(divide).build()?;
/// # Ok::<(), mcp_std::BuildError>(())
/// ```
pub struct Tool<S: Sharing = Shared> {
    pub(crate) name: String,
    pub(crate) title: Option<String>,
    pub(crate) description: String,
    pub(crate) input_schema: String,
    pub(crate) output_schema: Option<String>,
    pub(crate) annotations: ToolAnnotations<'static>,
    pub(crate) requires: ClientCapabilities,
    pub(crate) start: Box<S::Start>,
}

impl Tool {
    /// A tool of this name. The schema of its input comes from the type of the handler's arguments, that of its output
    /// from the type of the handler's result, if it is [`Structured`](crate::Structured).
    pub fn new<M: 'static, H>(
        name: impl Into<String>,
        description: impl Into<String>,
        handler: H,
    ) -> Self
    where
        H: Handler<M, Args: JsonSchema, Output: IntoToolResult, Future: Send> + Send + Sync,
    {
        let start = move |context: Context, arguments: Option<RawJson<'_>>| match arguments::decode(
            arguments,
        ) {
            Ok(args) => Started::Running(run(&handler, context, args).boxed()),
            Err(result) => Started::Done(result),
        };
        Self::with_start::<M, H>(name.into(), description.into(), Box::new(start))
    }
}

impl Tool<Local> {
    /// The same for a handler that is not `Send`; for [`Server::local`](crate::Server::local).
    pub fn local<M: 'static, H>(
        name: impl Into<String>,
        description: impl Into<String>,
        handler: H,
    ) -> Self
    where
        H: Handler<M, Args: JsonSchema, Output: IntoToolResult>,
    {
        let start = move |context: Context, arguments: Option<RawJson<'_>>| match arguments::decode(
            arguments,
        ) {
            Ok(args) => Started::Running(run(&handler, context, args).boxed_local()),
            Err(result) => Started::Done(result),
        };
        Self::with_start::<M, H>(name.into(), description.into(), Box::new(start))
    }
}

impl<S: Sharing> Tool<S> {
    fn with_start<M, H: Handler<M, Args: JsonSchema, Output: IntoToolResult>>(
        name: String,
        description: String,
        start: Box<S::Start>,
    ) -> Self {
        Self {
            name,
            title: None,
            description,
            input_schema: input_schema::<H::Args>(),
            output_schema: <H::Output as IntoToolResult>::output_schema()
                .map(|schema| schema.to_string()),
            annotations: ToolAnnotations::default(),
            requires: ClientCapabilities::NONE,
            start,
        }
    }

    /// What it is called, for people.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Hint: it changes nothing (TOOL-10).
    #[must_use]
    pub const fn read_only(mut self, hint: bool) -> Self {
        self.annotations.read_only_hint = Some(hint);
        self
    }

    /// Hint: it may destroy something.
    #[must_use]
    pub const fn destructive(mut self, hint: bool) -> Self {
        self.annotations.destructive_hint = Some(hint);
        self
    }

    /// Hint: calling it twice with the same arguments is as good as once.
    #[must_use]
    pub const fn idempotent(mut self, hint: bool) -> Self {
        self.annotations.idempotent_hint = Some(hint);
        self
    }

    /// Hint: it talks to an open world.
    #[must_use]
    pub const fn open_world(mut self, hint: bool) -> Self {
        self.annotations.open_world_hint = Some(hint);
        self
    }

    /// What the client has to be able to do: a call by one that did not declare it is refused.
    #[must_use]
    pub const fn requires(mut self, capabilities: ClientCapabilities) -> Self {
        self.requires = capabilities;
        self
    }

    /// Replaces the schema of its input, a JSON Schema object. What is decoded stays the type of the arguments.
    #[must_use]
    pub fn input_schema(mut self, schema: &Value) -> Self {
        self.input_schema = schema.to_string();
        self
    }
}

impl<S: Sharing> core::fmt::Debug for Tool<S> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Tool")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// Calls the handler; a panic in it ends here, be it in the call or in its future.
fn run<M, H: Handler<M, Output: IntoToolResult>>(
    handler: &H,
    context: Context,
    args: H::Args,
) -> impl Future<Output = Finished> + use<M, H> {
    let called = contain(|| handler.call(context, args));
    async move {
        let future = called?;
        AssertUnwindSafe(async { future.await.into_tool_result() })
            .catch_unwind()
            .await
            .map_err(discard)
    }
}

/// The schema of a type of arguments: JSON Schema 2020-12 (JSC-01), without what only repeats the type's name.
fn input_schema<A: JsonSchema>() -> String {
    let mut schema = schema_of::<A>();
    if let Value::Object(members) = &mut schema {
        // TOOL-04. An enum with a tag is a choice of objects, and schemars does not say so at the root.
        members.entry("type").or_insert_with(|| json!("object"));
        // SC-03: hosts that turn tools into function calls want the member.
        members.entry("properties").or_insert_with(|| json!({}));
    }
    schema.to_string()
}

pub(crate) fn schema_of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.meta_schema = None);
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    schema.remove("title");
    schema.to_value()
}
