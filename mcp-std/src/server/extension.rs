//! Extensions: methods and notifications beyond the protocol, and what clients can listen for.

use core::fmt::{self, Display};
use std::sync::Arc;

use futures_lite::FutureExt;
use mcp_core::engine::server as engine;
use mcp_core::json::{Json, RawJson};
use mcp_core::model::ProtocolVersion;

use super::arguments;
use super::context::Context;
use super::error::{Instead, ProtocolError};
use super::handler::{Finished, Given, Handler, Local, Outcome, Shared, Sharing, Started, run};
use super::principal::Principal;

/// An extension: what a server says of it in its capabilities, and the handlers of what belongs to it. Nothing of it is
/// there before [`ServerBuilder::with_extension`](super::ServerBuilder::with_extension).
///
/// The handler of a method takes the params as a struct, and returns a future of anything that is
/// [`IntoExtensionResult`]. What the client said of the extension is in [`Context::extension`], per request in 2026-07-28
/// and per session before.
///
/// ```
/// use mcp_std::{Extension, Server};
/// use serde_json::{Value, json};
///
/// #[derive(serde::Deserialize)]
/// #[serde(rename_all = "camelCase")]
/// struct Which {
///     lamp_id: String,
/// }
///
/// async fn get(which: Which) -> Value {
///     json!({ "lampId": which.lamp_id, "on": true })
/// }
///
/// let lamps = Extension::new("com.example/lamps").required().mirrored_method("lamps/get", "lampId", get);
/// let server = Server::builder("house", "1.0.0").with_extension(lamps).build()?;
/// # Ok::<(), mcp_std::BuildError>(())
/// ```
#[must_use = "nothing is offered before it is given to a server"]
pub struct Extension<S: Sharing = Shared> {
    pub(crate) definition: engine::Extension,
    /// In the order of the definition's methods and notifications.
    pub(crate) messages: Vec<ExtensionMessage<S>>,
    pub(crate) may_listen: Option<MayListen>,
}

pub(crate) enum ExtensionMessage<S: Sharing> {
    Method(Arc<Method<S>>),
    Notification(Notified),
}

/// A method, and the function behind it.
pub(crate) struct Method<S: Sharing> {
    pub(crate) name: Box<str>,
    pub(crate) takes_context: bool,
    pub(crate) start: Box<S::Start>,
}

/// Is told of a notification: its params, and who sent it.
type Notified = Box<dyn Fn(Option<RawJson<'_>>, Option<&Principal>) + Send + Sync>;

/// Says whether somebody may listen for a topic.
type MayListen = Box<dyn Fn(&str, Option<&Principal>) -> Listening + Send + Sync>;

/// Whether a client is told of a topic.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "there is nothing else to answer")]
pub enum Listening {
    /// It is not: there is no such topic, or it is not for this client.
    Refused,
    /// It is, from the next [`announce`](super::Server::announce) on.
    Accepted,
    /// It is, and it is told this as soon as it reads: the params of a notification, an object. So that they are not held
    /// for a client that does not, the extension is asked again then, and what it answers then is told.
    AcceptedWith(Json<'static>),
}

/// The short ways to add a method, for handlers of one sharing.
macro_rules! methods {
    ($sharing:ty, $new:ident, $box:ident, [$($handler:tt)*], [$($future:tt)*]) => {
        impl Extension<$sharing> {
            /// An extension of this identifier, such as `com.example/lamps`: a prefix that is yours, and a name.
            pub fn $new(id: impl Into<String>) -> Self {
                Self::of(engine::Extension::new(id.into()))
            }

            /// Adds a method.
            pub fn method<M: 'static, H>(self, name: impl Into<String>, handler: H) -> Self
            where
                H: Handler<M, Output: IntoExtensionResult $($future)*> $($handler)*,
            {
                let name = name.into();
                let claim = engine::ExtensionMethod::request(name.as_str());
                self.claim(claim, name, handler)
            }

            /// Adds a method that names a thing by a member of its params, a string: over HTTP, the header `Mcp-Name`
            /// repeats it, and a request where the two differ is refused.
            // HDR-07.
            pub fn mirrored_method<M: 'static, H>(
                self,
                name: impl Into<String>,
                member: impl Into<String>,
                handler: H,
            ) -> Self
            where
                H: Handler<M, Output: IntoExtensionResult $($future)*> $($handler)*,
            {
                let name = name.into();
                let claim = engine::ExtensionMethod::request(name.as_str()).mirrors(member.into());
                self.claim(claim, name, handler)
            }

            fn claim<M: 'static, H>(
                mut self,
                claim: engine::ExtensionMethod,
                name: String,
                handler: H,
            ) -> Self
            where
                H: Handler<M, Output: IntoExtensionResult $($future)*> $($handler)*,
            {
                self.definition = self.definition.method(claim);
                let start = move |context: Context, given: Given<'_>| {
                    match prepare(&handler, context, given) {
                        Ok(future) => Started::Running(future.$box()),
                        Err(outcome) => Started::Done(outcome),
                    }
                };
                self.messages.push(ExtensionMessage::Method(Arc::new(Method {
                    name: name.into(),
                    takes_context: H::TAKES_CONTEXT,
                    start: Box::new(start),
                })));
                self
            }
        }
    };
}

methods! { Shared, new, boxed, [+ Send + Sync], [, Future: Send] }
methods! { Local, local, boxed_local, [], [] }

#[cfg(feature = "tasks")]
impl Extension {
    /// A capability that the protocol itself has, in one revision only, and that is served like an extension.
    pub(crate) fn capability(name: &str, version: ProtocolVersion) -> Self {
        Self::of(engine::Extension::capability(name, version))
    }
}

impl<S: Sharing> Extension<S> {
    const fn of(definition: engine::Extension) -> Self {
        Self {
            definition,
            messages: Vec::new(),
            may_listen: None,
        }
    }

    /// What is said of it in the capabilities: an object. Empty, unless it is said.
    pub fn settings(mut self, settings: Json<'static>) -> Self {
        self.definition = self.definition.settings(settings);
        self
    }

    /// Its methods are for clients that declared the extension: others are told that they would have to.
    pub fn required(mut self) -> Self {
        self.definition = self.definition.required();
        self
    }

    /// It counts as declared by clients only whose settings have a list of this name with this text in it: what they say that
    /// they know of it.
    pub fn declared_with(mut self, member: impl Into<String>, text: impl Into<String>) -> Self {
        self.definition = self.definition.declared_with(member.into(), text.into());
        self
    }

    /// In the `_meta` of what is listed, the member of this name is for clients that declared the extension: others do not get
    /// it.
    pub fn private_meta(mut self, member: impl Into<String>) -> Self {
        self.definition = self.definition.private_meta(member.into());
        self
    }

    /// The tool of this name is listed for clients that declared the extension. Others that know of it can call it all the
    /// same.
    pub fn private_tool(mut self, name: impl Into<String>) -> Self {
        self.definition = self.definition.private_tool(name.into());
        self
    }

    /// The resource of this URI is listed for clients that declared the extension. Others that know of it can read it all the
    /// same.
    pub fn private_resource(mut self, uri: impl Into<String>) -> Self {
        self.definition = self.definition.private_resource(uri.into());
        self
    }

    /// The first revision that it is served in. Without this it is served in all.
    pub fn since(mut self, version: ProtocolVersion) -> Self {
        self.definition = self.definition.since(version);
        self
    }

    /// Adds a notification that clients send. It runs where the connection is read: what takes long in it holds up all
    /// calls.
    pub fn notification(
        mut self,
        name: impl Into<String>,
        told: impl Fn(Option<RawJson<'_>>, Option<&Principal>) + Send + Sync + 'static,
    ) -> Self {
        let claim = engine::ExtensionMethod::notification(name.into());
        self.definition = self.definition.method(claim);
        let told = ExtensionMessage::Notification(Box::new(told));
        self.messages.push(told);
        self
    }

    /// Clients of 2026-07-28 can listen for what happens to things of it: `member` of the filter of
    /// `subscriptions/listen` is an array of topics, which are strings. `may` says of each whether this client is told of it,
    /// and [`Server::announce`](super::Server::announce) tells by the notification of this name. `may` is asked where the
    /// connection is read, and again where [how it stands](Listening::AcceptedWith) is told.
    pub fn topics(
        mut self,
        member: impl Into<String>,
        notification: impl Into<String>,
        may: impl Fn(&str, Option<&Principal>) -> Listening + Send + Sync + 'static,
    ) -> Self {
        self.definition = self.definition.topics(member.into(), notification.into());
        self.may_listen = Some(Box::new(may));
        self
    }
}

impl<S: Sharing> fmt::Debug for Extension<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Extension")
            .field(&self.definition.id())
            .finish()
    }
}

/// The result of a method of an extension.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ExtensionResult {
    /// `resultType`: clients of older revisions are not told.
    pub result_type: String,
    /// An object: its members.
    pub members: Json<'static>,
}

impl ExtensionResult {
    /// A result that is final.
    #[must_use]
    pub fn complete(members: Json<'static>) -> Self {
        Self::of_type("complete", members)
    }

    /// A result of another type, which the extension defines.
    #[must_use]
    pub fn of_type(result_type: impl Into<String>, members: Json<'static>) -> Self {
        Self {
            result_type: result_type.into(),
            members,
        }
    }

    pub(crate) fn borrowed(&self) -> engine::ExtensionResult<'_> {
        engine::ExtensionResult::of_type(&self.result_type, self.members.raw())
    }
}

/// What a method of an extension may return.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not something a method of an extension can return",
    note = "it returns `serde_json::Value`, `Json`, `ExtensionResult`, `()`, or a `Result` of one of these"
)]
pub trait IntoExtensionResult {
    /// Makes the result.
    ///
    /// # Errors
    ///
    /// What the request is answered with instead.
    fn into_extension_result(self) -> Result<ExtensionResult, Instead>;
}

impl IntoExtensionResult for ExtensionResult {
    fn into_extension_result(self) -> Result<ExtensionResult, Instead> {
        match self.members.raw().as_object() {
            Some(_) => Ok(self),
            None => Err(Instead::internal("The result is no JSON object")),
        }
    }
}

impl IntoExtensionResult for Json<'static> {
    fn into_extension_result(self) -> Result<ExtensionResult, Instead> {
        ExtensionResult::complete(self).into_extension_result()
    }
}

impl IntoExtensionResult for serde_json::Value {
    fn into_extension_result(self) -> Result<ExtensionResult, Instead> {
        match Json::owned(self.to_string()) {
            Ok(members) => members.into_extension_result(),
            Err(_) => Err(Instead::internal("The result nests too deep")),
        }
    }
}

/// Nothing to say.
impl IntoExtensionResult for () {
    fn into_extension_result(self) -> Result<ExtensionResult, Instead> {
        Ok(ExtensionResult::complete(Json::EMPTY_OBJECT))
    }
}

/// An `Err` is a JSON-RPC error; its text is that of an internal one, unless it is a [`ProtocolError`] or another that means
/// something by its type.
impl<T: IntoExtensionResult, E: Display + 'static> IntoExtensionResult for Result<T, E> {
    fn into_extension_result(self) -> Result<ExtensionResult, Instead> {
        match self {
            Ok(output) => output.into_extension_result(),
            Err(error) => Err(Instead::of(&error).unwrap_or_else(Instead::internal)),
        }
    }
}

/// Decodes the params and calls the handler.
fn prepare<M, H: Handler<M, Output: IntoExtensionResult>>(
    handler: &H,
    context: Context,
    given: Given<'_>,
) -> Result<impl Future<Output = Finished> + use<M, H>, Outcome> {
    let Given::Arguments(params) = given else {
        unreachable!("the engine gives a method its params")
    };
    let args = match params {
        Some(params) => arguments::parse(params),
        None => serde_json::from_str("{}").map_err(|error| error.to_string()),
    };
    let args = args.map_err(|problem| {
        let message = format!("Invalid params: {problem}");
        let error = ProtocolError::new(mcp_core::ErrorCode::INVALID_PARAMS, message);
        Outcome::Instead(error.into())
    })?;
    Ok(run(handler, context, args, |output: H::Output| {
        output
            .into_extension_result()
            .map_or_else(Outcome::Instead, Outcome::Extension)
    }))
}
