//! Tools: a definition, and the function behind it.

use futures_lite::FutureExt;
use mcp_core::json::Json;
#[cfg(feature = "validate")]
use mcp_core::json::{MAX_DEPTH, RawJson};
use mcp_core::model::{self, ClientCapabilities, ToolAnnotations};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use super::arguments;
use super::context::Context;
use super::handler::{Finished, Given, Handler, Local, Outcome, Shared, Sharing, Started, run};
use super::output::IntoToolResult;
#[cfg(feature = "validate")]
use super::{offer::BuildError, output::ToolResult};
#[cfg(feature = "validate")]
use crate::schema::{Checks, Violations};

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
///
/// An argument that proxies are to see, to route by it perhaps, says in its schema which header repeats it. Clients of
/// 2026-07-28 then send `Mcp-Param-Region` over HTTP, and a call whose header and argument differ is refused (XH-01). It is a
/// text, a whole number or a boolean; what cannot be a header is found when the server is built.
///
/// ```
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Query {
///     #[schemars(extend("x-mcp-header" = "Region"))]
///     region: String,
/// }
/// # let query = mcp_std::Tool::new("query", "Asks a region", |args: Query| async move { args.region });
/// # mcp_std::Server::builder("regions", "1.0.0").with_tool(query).build()?;
/// # Ok::<(), mcp_std::BuildError>(())
/// ```
pub struct Tool<S: Sharing = Shared> {
    pub(crate) definition: model::Tool<'static>,
    /// A schema was not what a schema is, which building the server tells.
    pub(crate) unfit: bool,
    pub(crate) takes_context: bool,
    /// It is another server's, which looks at arguments and results itself.
    #[cfg(feature = "host")]
    pub(crate) relayed: bool,
    /// The input schema is that of the type of the arguments.
    #[cfg(feature = "validate")]
    described: bool,
    /// Made when the tool is offered for the first time.
    #[cfg(feature = "validate")]
    pub(crate) checks: std::sync::OnceLock<crate::schema::Checks>,
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
        let start =
            move |context: Context, given: Given<'_>| match prepare(&handler, context, given) {
                Ok(future) => Started::Running(future.boxed()),
                Err(outcome) => Started::Done(outcome),
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
        let start =
            move |context: Context, given: Given<'_>| match prepare(&handler, context, given) {
                Ok(future) => Started::Running(future.boxed_local()),
                Err(outcome) => Started::Done(outcome),
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
        let mut tool = Self {
            definition: model::Tool::new(name, Json::EMPTY_OBJECT),
            unfit: false,
            takes_context: H::TAKES_CONTEXT,
            #[cfg(feature = "host")]
            relayed: false,
            #[cfg(feature = "validate")]
            described: true,
            #[cfg(feature = "validate")]
            checks: std::sync::OnceLock::new(),
            start,
        };
        tool.definition.description = Some(description.into());
        if let Some(schema) = <H::Output as IntoToolResult>::output_schema() {
            tool = tool.output_schema(&schema);
        }
        tool.set_input_schema(&input_schema::<H::Args>());
        tool
    }

    fn set_input_schema(&mut self, schema: &Value) {
        match Json::owned(schema.to_string()) {
            Ok(schema) => self.definition.input_schema = schema,
            Err(_) => self.unfit = true,
        }
    }

    /// Hint: it changes nothing.
    // TOOL-10.
    #[must_use]
    pub fn read_only(mut self, hint: bool) -> Self {
        self.annotations().read_only_hint = Some(hint);
        self
    }

    /// Hint: it may destroy something.
    #[must_use]
    pub fn destructive(mut self, hint: bool) -> Self {
        self.annotations().destructive_hint = Some(hint);
        self
    }

    /// Hint: calling it twice with the same arguments is as good as once.
    #[must_use]
    pub fn idempotent(mut self, hint: bool) -> Self {
        self.annotations().idempotent_hint = Some(hint);
        self
    }

    /// Hint: it talks to an open world.
    #[must_use]
    pub fn open_world(mut self, hint: bool) -> Self {
        self.annotations().open_world_hint = Some(hint);
        self
    }

    fn annotations(&mut self) -> &mut ToolAnnotations<'static> {
        self.definition.annotations.get_or_insert_default()
    }

    /// What the client has to be able to do: a call by one that did not declare it is refused.
    #[must_use]
    pub fn requires(mut self, capabilities: ClientCapabilities) -> Self {
        self.definition.requires = capabilities;
        self
    }

    /// Replaces the schema of its input, a JSON Schema object. What is decoded stays the type of the arguments.
    #[must_use]
    pub fn input_schema(mut self, schema: &Value) -> Self {
        self.set_input_schema(schema);
        #[cfg(feature = "validate")]
        {
            self.described = false;
        }
        self
    }

    /// Replaces the schema of its structured output.
    #[must_use]
    pub fn output_schema(mut self, schema: &Value) -> Self {
        match Json::owned(schema.to_string()) {
            Ok(schema) => self.definition.output_schema = Some(schema),
            Err(_) => self.unfit = true,
        }
        self
    }
}

/// Its schemas.
#[cfg(feature = "validate")]
impl<S: Sharing> Tool<S> {
    /// # Errors
    ///
    /// One of them cannot be used.
    pub(crate) fn prepare_checks(&self) -> Result<(), BuildError> {
        #[cfg(feature = "host")]
        if self.relayed {
            return Ok(());
        }
        if self.checks.get().is_some() {
            return Ok(());
        }
        let definition = &self.definition;
        let input = definition.input_schema.as_str();
        let output = definition.output_schema.as_ref().map(Json::as_str);
        match Checks::new(input, self.described, output) {
            Ok(checks) => {
                let _ = self.checks.set(checks);
                Ok(())
            }
            Err(error) => Err(BuildError::InvalidSchema {
                tool: definition.name.clone().into_owned(),
                problem: error.to_string(),
            }),
        }
    }

    /// What a call is answered with that gives other arguments than the schema asks for: not -32602, which the model would not see
    /// (TOOL-24, ERR-11).
    pub(crate) fn refuse(&self, given: &Given<'_>) -> Option<ToolResult> {
        let Given::Arguments(arguments) = given else {
            return None;
        };
        let violations = self.checks.get()?.input(*arguments).err()?;
        Some(arguments::refusal(&violations))
    }

    /// Why a result of it does not fit its output schema (TOOL-14).
    pub(crate) fn misfit(&self, result: &ToolResult) -> Option<Violations> {
        let content = match &result.structured_content {
            Some(text) => Some(RawJson::parse_with_depth(text.as_bytes(), MAX_DEPTH).ok()?),
            None => None,
        };
        self.checks.get()?.output(content, result.is_error).err()
    }
}

super::described! { Tool }

/// Decodes the arguments and calls the handler.
fn prepare<M, H: Handler<M, Output: IntoToolResult>>(
    handler: &H,
    context: Context,
    given: Given<'_>,
) -> Result<impl Future<Output = Finished> + use<M, H>, Outcome> {
    let Given::Arguments(given) = given else {
        unreachable!("the engine gives a tool its arguments")
    };
    let args = arguments::decode(given).map_err(Outcome::Tool)?;
    Ok(run(handler, context, args, |output: H::Output| {
        output
            .into_tool_result()
            .map_or_else(Outcome::Instead, Outcome::Tool)
    }))
}

/// The schema of a type of arguments: JSON Schema 2020-12 (JSC-01), without what only repeats the type's name.
fn input_schema<A: JsonSchema>() -> Value {
    let mut schema = schema_of::<A>();
    if let Value::Object(members) = &mut schema {
        // TOOL-04, TOOL-05. An enum with a tag is a choice of objects, and schemars does not say so at the root.
        members.entry("type").or_insert_with(|| json!("object"));
        // SC-03: hosts that turn tools into function calls want the member.
        members.entry("properties").or_insert_with(|| json!({}));
    }
    schema
}

pub(crate) fn schema_of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.meta_schema = None);
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    schema.remove("title");
    schema.to_value()
}
