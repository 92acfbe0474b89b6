//! Resources and their templates: definitions, and the functions that read them.

use core::fmt::{self, Display};
use core::future::Future;
use core::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures_lite::FutureExt;
use mcp_core::model::{
    self, Annotations, ReadResourceResult, ResourceContents, TemplateValue, UriTemplate,
};

use super::arguments::strings::{Text, decode_strings};
use super::completion::{Completer, Completers, IntoCompletion, Settled};
use super::context::Context;
use super::elicitation::InputRequired;
use super::error::{Instead, ProtocolError};
use super::handler::{
    Finished, Given, Handler, Local, NoArguments, Outcome, Shared, Sharing, Started, run,
};

/// Something a client can read: what it is told about it, and the function that reads it.
///
/// ```
/// use mcp_std::{Resource, Server};
///
/// let readme = Resource::new("file:///README.md", "readme", || async { "# Hello" })
///     .title("Read me first")
///     .mime_type("text/markdown");
/// let server = Server::builder("files", "1.0.0").with_resource(readme).build()?;
/// # Ok::<(), mcp_std::BuildError>(())
/// ```
pub struct Resource<S: Sharing = Shared> {
    pub(crate) definition: model::Resource<'static>,
    pub(crate) takes_context: bool,
    pub(crate) start: Box<S::Start>,
}

/// Resources whose URIs fit a template of RFC 6570: what a client is told about them, and the function that reads them.
///
/// The variables of the template are the fields of the handler's argument. They are text; numbers and booleans are read
/// from it, and a variable that stands for a list is a `Vec`, one that stands for pairs a map. A URI that fits the template and not the type does not
/// exist.
///
/// Values are decoded, once, and a client chooses them. So that one which a handler takes for the name of a file cannot
/// lead elsewhere, a URI does not exist either if one of them holds a NUL, is `.` or `..` or has such a part, or has a slash
/// or a backslash; the slash is allowed in what the template wants it in, `{+path}` and `{#path}`.
/// [`any_value`](Self::any_value) lets all of them through.
///
/// ```
/// use mcp_std::{ResourceError, ResourceTemplate, Server};
///
/// #[derive(serde::Deserialize)]
/// struct Page {
///     book: String,
///     page: u32,
/// }
///
/// let pages = ResourceTemplate::new("book://{book}/{page}", "page", |at: Page| async move {
///     if at.page > 300 {
///         return Err(ResourceError::NotFound);
///     }
///     Ok(format!("page {} of {}", at.page, at.book))
/// })
/// .complete("book", |typed: String, _| async move {
///     ["Emma", "Persuasion"].into_iter().filter(|it| it.starts_with(&typed)).collect::<Vec<_>>()
/// });
/// let server = Server::builder("library", "1.0.0").with_template(pages).build()?;
/// # Ok::<(), mcp_std::BuildError>(())
/// ```
pub struct ResourceTemplate<S: Sharing = Shared> {
    pub(crate) definition: model::ResourceTemplate<'static>,
    pub(crate) takes_context: bool,
    pub(crate) completers: Completers<S>,
    pub(crate) start: Box<S::Start>,
    pub(super) any_value: Arc<AtomicBool>,
}

impl Resource {
    /// A resource with this URI and name.
    pub fn new<M: 'static, H>(uri: impl Into<String>, name: impl Into<String>, handler: H) -> Self
    where
        H: Handler<M, Args = NoArguments, Output: IntoResource, Future: Send> + Send + Sync,
    {
        let start = move |context: Context, given: Given<'_>| {
            let uri = uri_of(given);
            Started::Running(read(&handler, context, NoArguments {}, uri).boxed())
        };
        Self::with_start::<M, H>(uri.into(), name.into(), Box::new(start))
    }
}

impl Resource<Local> {
    /// The same for a handler that is not `Send`; for [`Server::local`](crate::Server::local).
    pub fn local<M: 'static, H>(uri: impl Into<String>, name: impl Into<String>, handler: H) -> Self
    where
        H: Handler<M, Args = NoArguments, Output: IntoResource>,
    {
        let start = move |context: Context, given: Given<'_>| {
            let uri = uri_of(given);
            Started::Running(read(&handler, context, NoArguments {}, uri).boxed_local())
        };
        Self::with_start::<M, H>(uri.into(), name.into(), Box::new(start))
    }
}

impl<S: Sharing> Resource<S> {
    fn with_start<M, H: Handler<M>>(uri: String, name: String, start: Box<S::Start>) -> Self {
        Self {
            definition: model::Resource::new(uri, name),
            takes_context: H::TAKES_CONTEXT,
            start,
        }
    }

    /// How many bytes it has.
    #[must_use]
    pub fn size(mut self, bytes: u64) -> Self {
        self.definition.size = Some(bytes);
        self
    }
}

impl ResourceTemplate {
    /// Resources whose URIs fit this template.
    pub fn new<M: 'static, H>(
        template: impl Into<String>,
        name: impl Into<String>,
        handler: H,
    ) -> Self
    where
        H: Handler<M, Output: IntoResource, Future: Send> + Send + Sync,
    {
        let template = template.into();
        let variables = Values::of(&template);
        let any_value = variables.any.clone();
        let start = move |context: Context, given: Given<'_>| {
            let uri = uri_of(given);
            match variables.read(&uri) {
                Ok(args) => Started::Running(read(&handler, context, args, uri).boxed()),
                Err(outcome) => Started::Done(outcome),
            }
        };
        Self::with_start::<M, H>(template, name.into(), Box::new(start), any_value)
    }

    /// Suggests values for a variable while they are typed: `completer` gets what has been typed, and the variables that
    /// are settled. It returns a list, of which the client gets the first hundred, the best first.
    #[must_use]
    pub fn complete<C, F>(mut self, variable: impl Into<String>, completer: C) -> Self
    where
        C: Fn(String, Settled) -> F + Send + Sync + 'static,
        F: Future<Output: IntoCompletion> + Send + 'static,
    {
        self.completers
            .push(Completer::new(variable.into(), completer));
        self
    }
}

impl ResourceTemplate<Local> {
    /// The same for a handler that is not `Send`; for [`Server::local`](crate::Server::local).
    pub fn local<M: 'static, H>(
        template: impl Into<String>,
        name: impl Into<String>,
        handler: H,
    ) -> Self
    where
        H: Handler<M, Output: IntoResource>,
    {
        let template = template.into();
        let variables = Values::of(&template);
        let any_value = variables.any.clone();
        let start = move |context: Context, given: Given<'_>| {
            let uri = uri_of(given);
            match variables.read(&uri) {
                Ok(args) => Started::Running(read(&handler, context, args, uri).boxed_local()),
                Err(outcome) => Started::Done(outcome),
            }
        };
        Self::with_start::<M, H>(template, name.into(), Box::new(start), any_value)
    }

    /// Suggests values for a variable while they are typed, as [`ResourceTemplate::complete`] of servers that are not
    /// local does.
    #[must_use]
    pub fn complete<C, F>(mut self, variable: impl Into<String>, completer: C) -> Self
    where
        C: Fn(String, Settled) -> F + 'static,
        F: Future<Output: IntoCompletion> + 'static,
    {
        self.completers
            .push(Completer::local(variable.into(), completer));
        self
    }
}

impl<S: Sharing> ResourceTemplate<S> {
    fn with_start<M, H: Handler<M>>(
        template: String,
        name: String,
        start: Box<S::Start>,
        any_value: Arc<AtomicBool>,
    ) -> Self {
        Self {
            definition: model::ResourceTemplate::new(template, name),
            takes_context: H::TAKES_CONTEXT,
            completers: Completers::default(),
            start,
            any_value,
        }
    }

    /// Lets values through that would lead elsewhere if they were taken for names of files: for handlers that take them for
    /// something else, or that look at them themselves.
    #[must_use]
    pub fn any_value(self) -> Self {
        self.any_value.store(true, Ordering::Relaxed);
        self
    }
}

/// What both have, and nothing else.
macro_rules! readable {
    ($($of:ident)*) => {$(
        impl<S: Sharing> $of<S> {
            /// What it is, for the model.
            #[must_use]
            pub fn description(mut self, description: impl Into<String>) -> Self {
                self.definition.description = Some(description.into().into());
                self
            }

            /// Its media type, such as `text/plain`: told in the list, and with what is read unless that says another.
            #[must_use]
            pub fn mime_type(mut self, mime_type: impl Into<String>) -> Self {
                self.definition.mime_type = Some(mime_type.into().into());
                self
            }

            /// For whom it is, and how important.
            #[must_use]
            pub fn annotations(mut self, annotations: Annotations<'static>) -> Self {
                self.definition.annotations = Some(annotations);
                self
            }
        }
    )*};
}

readable! { Resource ResourceTemplate }
super::described! { Resource ResourceTemplate }

fn uri_of(given: Given<'_>) -> String {
    let Given::Uri(uri) = given else {
        unreachable!("the engine gives a resource its URI")
    };
    uri.into_owned()
}

/// The variables of a template, as the handler's type has them.
struct Values {
    template: Option<UriTemplate<'static>>,
    any: Arc<AtomicBool>,
}

impl Values {
    fn of(template: &str) -> Self {
        let template = UriTemplate::parse(template).map(UriTemplate::into_owned);
        Self {
            template: template.ok(),
            any: Arc::default(),
        }
    }

    fn read<A: serde::de::DeserializeOwned>(&self, uri: &str) -> Result<A, Outcome> {
        const ABSENT: Outcome = Outcome::Instead(Instead::NotFound);
        let template = self.template.as_ref().ok_or(ABSENT)?;
        let variables = template.matches(uri).ok_or(ABSENT)?;
        // CO-05.
        let leads_elsewhere = |(name, value): (&str, &TemplateValue<'_>)| {
            let slashes = template.keeps_reserved(name);
            let bad = |text: &str| !is_harmless(text, slashes);
            match value {
                TemplateValue::Text(text) => bad(text),
                TemplateValue::List(texts) => texts.iter().any(|text| bad(text)),
                TemplateValue::Map(texts) => texts.iter().any(|(key, text)| bad(key) || bad(text)),
            }
        };
        if !self.any.load(Ordering::Relaxed) && variables.iter().any(leads_elsewhere) {
            return Err(ABSENT);
        }
        // CMP-05: what does not fit the type is no resource of this server.
        decode_strings(variables.iter().map(named)).map_err(|_| ABSENT)
    }
}

/// Whether a text leads nowhere else if it is taken for a part of a path.
fn is_harmless(text: &str, slashes: bool) -> bool {
    let separators = ['/', '\\'];
    !text.contains('\0')
        && !text
            .split(separators)
            .any(|part| part == "." || part == "..")
        && !text.contains('\\')
        && (slashes || !text.contains('/'))
}

fn named((name, value): (&str, &TemplateValue<'_>)) -> (String, Text) {
    let text = match value {
        TemplateValue::Text(text) => Text::One(text.as_ref().into()),
        TemplateValue::List(texts) => {
            Text::Many(texts.iter().map(|it| it.as_ref().into()).collect())
        }
        TemplateValue::Map(texts) => Text::Named(
            texts
                .iter()
                .map(|(name, text)| (name.into(), text.as_ref().into()))
                .collect(),
        ),
    };
    (name.to_owned(), text)
}

fn read<M, H: Handler<M, Output: IntoResource>>(
    handler: &H,
    context: Context,
    args: H::Args,
    uri: String,
) -> impl Future<Output = Finished> + use<M, H> {
    run(handler, context, args, move |output: H::Output| {
        output
            .into_resource(&uri)
            .map_or_else(Outcome::Instead, Outcome::Resource)
    })
}

/// What the function of a resource may return.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not something a resource can return",
    note = "a resource returns `String`, `&'static str`, `Vec<u8>`, `ResourceContents` or a `Vec` of them, `ReadResourceResult`, or a `Result` of one of these"
)]
pub trait IntoResource {
    /// Makes the result of reading `uri`.
    ///
    /// # Errors
    ///
    /// What the request is answered with instead.
    fn into_resource(self, uri: &str) -> Result<ReadResourceResult<'static>, Instead>;
}

impl IntoResource for ReadResourceResult<'static> {
    fn into_resource(self, _: &str) -> Result<ReadResourceResult<'static>, Instead> {
        Ok(self)
    }
}

/// Several parts, such as the files of a folder.
impl IntoResource for Vec<ResourceContents<'static>> {
    fn into_resource(self, _: &str) -> Result<ReadResourceResult<'static>, Instead> {
        Ok(ReadResourceResult::new(self))
    }
}

impl IntoResource for ResourceContents<'static> {
    fn into_resource(self, _: &str) -> Result<ReadResourceResult<'static>, Instead> {
        Ok(ReadResourceResult::new([self]))
    }
}

/// Text.
impl IntoResource for String {
    fn into_resource(self, uri: &str) -> Result<ReadResourceResult<'static>, Instead> {
        ResourceContents::text(uri.to_owned(), self).into_resource(uri)
    }
}

impl IntoResource for &'static str {
    fn into_resource(self, uri: &str) -> Result<ReadResourceResult<'static>, Instead> {
        ResourceContents::text(uri.to_owned(), self).into_resource(uri)
    }
}

/// Bytes, which are sent in base64.
impl IntoResource for Vec<u8> {
    fn into_resource(self, uri: &str) -> Result<ReadResourceResult<'static>, Instead> {
        ResourceContents::blob(uri.to_owned(), STANDARD.encode(self)).into_resource(uri)
    }
}

/// An `Err` becomes a JSON-RPC error: that of [`ResourceError`] and [`ProtocolError`], else an internal error with its
/// text.
impl<T: IntoResource, E: Display + 'static> IntoResource for Result<T, E> {
    fn into_resource(self, uri: &str) -> Result<ReadResourceResult<'static>, Instead> {
        match self {
            Ok(output) => output.into_resource(uri),
            Err(error) => Err(Instead::of(&error).unwrap_or_else(Instead::internal)),
        }
    }
}

/// Nothing there.
impl<T: IntoResource> IntoResource for Option<T> {
    fn into_resource(self, uri: &str) -> Result<ReadResourceResult<'static>, Instead> {
        self.map_or(Err(Instead::NotFound), |output| output.into_resource(uri))
    }
}

impl IntoResource for ProtocolError {
    fn into_resource(self, _: &str) -> Result<ReadResourceResult<'static>, Instead> {
        Err(self.into())
    }
}

/// The client is asked for input.
impl IntoResource for InputRequired {
    fn into_resource(self, _: &str) -> Result<ReadResourceResult<'static>, Instead> {
        Err(Instead::InputRequired(self))
    }
}

/// Why a resource cannot be read.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ResourceError {
    /// There is none of this URI. Each revision has an error of its own for that.
    NotFound,
    /// It could not be read, for this reason: an internal error.
    Failed(String),
}

impl Display for ResourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound => f.write_str("Resource not found"),
            Self::Failed(reason) => f.write_str(reason),
        }
    }
}

impl core::error::Error for ResourceError {}
