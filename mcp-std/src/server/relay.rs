//! What a server passes on to another one: its definitions, and results that go through as they came.

use core::future::Future;
use core::pin::Pin;
use core::sync::atomic::AtomicBool;
use std::borrow::Cow;
use std::sync::Arc;

use futures_lite::FutureExt;
use mcp_core::json::{Json, RawJson, Sink, Writer};
use mcp_core::model::{
    self, CacheHint, CallToolResult, Decode as _, EncodeResult, Era, GetPromptResult,
    ProtocolVersion, ReadResourceResult,
};

use super::Server;
use super::completion::{Completer, Completers};
use super::context::Context;
use super::error::Instead;
use super::handler::{Given, NoArguments, Outcome, Shared, Started, run};
use super::prompt::Prompt;
use super::resource::{Resource, ResourceTemplate};
use super::tool::Tool;

/// Asks the other server.
pub(crate) type Passing = Pin<Box<dyn Future<Output = Result<Relayed, Instead>> + Send>>;

/// What is asked: the arguments as they came, or a URI.
#[derive(Clone, Debug)]
pub(crate) enum Asked {
    Arguments(Option<Json<'static>>),
    Uri(String),
}

/// How the other server is asked.
pub(crate) type Pass = Arc<dyn Fn(Context, Asked) -> Passing + Send + Sync>;

/// A result of another server.
#[doc(hidden)]
#[expect(unnameable_types, reason = "an inner part of a sealed trait")]
#[derive(Debug)]
#[non_exhaustive]
pub struct Relayed {
    result: Json<'static>,
    meta: Option<Json<'static>>,
    from: ProtocolVersion,
    kind: Kind,
}

/// What it is a result of.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Tool,
    Resource,
    Prompt,
}

impl Relayed {
    pub(crate) fn new(result: Json<'static>, from: ProtocolVersion, kind: Kind) -> Self {
        Self {
            meta: result.raw().member("_meta").and_then(others),
            result,
            from,
            kind,
        }
    }
}

/// `_meta` without what the other server says of itself: the client is told who this one is.
fn others(meta: RawJson<'_>) -> Option<Json<'static>> {
    let members = meta.as_object()?;
    let mut others = members.filter(|(name, _)| *name != model::key::SERVER_INFO);
    let first = others.next()?;
    Some(Json::written(|json| {
        json.begin_object();
        for (name, value) in core::iter::once(first).chain(others) {
            json.key(&name.decode());
            json.raw(value);
        }
        json.end_object();
    }))
}

/// What whoever answers writes itself.
fn is_own(name: &str) -> bool {
    matches!(name, "resultType" | "_meta" | "ttlMs" | "cacheScope")
}

/// Whether what is right in one revision is right in the other, or is ignored there.
fn fits(from: ProtocolVersion, to: ProtocolVersion) -> bool {
    match (from.era(), to.era()) {
        (Era::Legacy, Era::Legacy) => from.as_str() <= to.as_str(),
        (Era::Legacy, _) | (_, Era::Legacy) => false,
        _ => true,
    }
}

impl EncodeResult for Relayed {
    /// As it came, but for what is this server's to say; written anew where the two revisions differ.
    fn members<S: Sink + ?Sized>(&self, version: ProtocolVersion, json: &mut Writer<'_, S>) {
        let raw = self.result.raw();
        if !fits(self.from, version) {
            let written = match self.kind {
                Kind::Tool => CallToolResult::decode(raw).map(|it| it.members(version, json)),
                Kind::Resource => {
                    ReadResourceResult::decode(raw).map(|it| it.members(version, json))
                }
                Kind::Prompt => GetPromptResult::decode(raw).map(|it| it.members(version, json)),
            };
            if written.is_ok() {
                return;
            }
            // What cannot be read is passed on: it is the client's to say so.
        }
        for (name, value) in raw.as_object().into_iter().flatten() {
            let name = name.decode();
            if !is_own(&name) {
                json.key(&name);
                json.raw(value);
            }
        }
    }

    fn meta(&self) -> Option<RawJson<'_>> {
        self.meta.as_ref().map(Json::raw)
    }

    fn cache(&self) -> Option<CacheHint> {
        let Kind::Resource = self.kind else {
            return None;
        };
        let read = ReadResourceResult::decode(self.result.raw()).ok()?;
        EncodeResult::cache(&read)
    }
}

fn start(pass: Pass) -> impl Fn(Context, Given<'_>) -> Started<Shared> + Send + Sync {
    move |context, given| {
        let asked = match given {
            Given::Arguments(arguments) => {
                Asked::Arguments(arguments.map(|it| Json::from(it).into_owned()))
            }
            Given::Uri(uri) => Asked::Uri(uri.into_owned()),
            Given::Completion { .. } => unreachable!("completions have their own way"),
        };
        let pass = pass.clone();
        let handler = move |context: Context| pass(context, asked.clone());
        let done =
            |done: Result<Relayed, Instead>| done.map_or_else(Outcome::Instead, Outcome::Relayed);
        Started::Running(run(&handler, context, NoArguments {}, done).boxed())
    }
}

impl Tool {
    /// A tool of another server. It looks at its arguments and results itself.
    pub(crate) fn relay(definition: model::Tool<'static>, pass: Pass) -> Self {
        let nobody = || async {};
        let mut tool = Self::new(String::new(), String::new(), nobody);
        tool.definition = definition;
        tool.takes_context = true;
        tool.relayed = true;
        tool.start = Box::new(start(pass));
        tool
    }
}

impl Resource {
    /// A resource of another server.
    pub(crate) fn relay(definition: model::Resource<'static>, pass: Pass) -> Self {
        Self {
            definition,
            takes_context: true,
            start: Box::new(start(pass)),
        }
    }
}

/// Asks the other server for what an argument could be: its name, what is typed, and what is settled.
pub(crate) type Complete = Arc<dyn Fn(String, String, super::Settled) -> Completing + Send + Sync>;

/// The values that it gives.
pub(crate) type Completing = Pin<Box<dyn Future<Output = Vec<String>> + Send>>;

fn completers<'n>(
    arguments: impl Iterator<Item = Cow<'n, str>>,
    complete: Option<&Complete>,
) -> Completers<Shared> {
    let mut completers = Completers::default();
    if let Some(complete) = complete {
        for argument in arguments {
            let (complete, name) = (complete.clone(), argument.clone().into_owned());
            let ask = move |typed, settled| complete(name.clone(), typed, settled);
            completers.push(Completer::new(argument.into_owned(), ask));
        }
    }
    completers
}

impl ResourceTemplate {
    /// Resources of another server.
    pub(crate) fn relay(
        definition: model::ResourceTemplate<'static>,
        pass: Pass,
        complete: Option<&Complete>,
    ) -> Self {
        let template = model::UriTemplate::parse(&definition.uri_template).ok();
        let names: Vec<String> = template
            .iter()
            .flat_map(|it| it.names())
            .map(str::to_owned)
            .collect();
        Self {
            completers: completers(names.into_iter().map(Cow::Owned), complete),
            definition,
            takes_context: true,
            // The other server looks at them.
            any_value: Arc::new(AtomicBool::new(true)),
            start: Box::new(start(pass)),
        }
    }
}

impl Prompt {
    /// A prompt of another server.
    pub(crate) fn relay(
        definition: model::Prompt<'static>,
        pass: Pass,
        complete: Option<&Complete>,
    ) -> Self {
        let arguments = definition.arguments.iter().flat_map(|it| it.iter());
        let names: Vec<_> = arguments.map(|it| it.name.clone()).collect();
        Self {
            completers: completers(names.into_iter(), complete),
            definition,
            takes_context: true,
            start: Box::new(start(pass)),
        }
    }
}

/// All that a server passes on.
#[derive(Default)]
pub(crate) struct Relays {
    pub(crate) tools: Vec<Arc<Tool>>,
    pub(crate) resources: Vec<Arc<Resource>>,
    pub(crate) templates: Vec<Arc<ResourceTemplate>>,
    pub(crate) prompts: Vec<Arc<Prompt>>,
}

/// Which lists are others than before.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Lists {
    pub(crate) tools: bool,
    pub(crate) resources: bool,
    pub(crate) prompts: bool,
}

impl Server {
    /// Offers this and nothing else, and tells clients which lists have changed.
    pub(crate) fn offer_relays(
        &self,
        relays: Relays,
        changed: Lists,
    ) -> Result<(), super::BuildError> {
        self.hub.change(
            |it| {
                it.tools = relays.tools;
                it.resources = relays.resources;
                it.templates = relays.templates;
                it.prompts = relays.prompts;
            },
            |news| {
                news.tools |= changed.tools;
                news.resources |= changed.resources;
                news.prompts |= changed.prompts;
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn relays(name: &'static str) -> Relays {
        let pass: Pass = Arc::new(|_, _| Box::pin(core::future::pending()));
        let schema = Json::owned(r#"{"type":"object"}"#.to_owned()).expect("JSON");
        let definition = model::Tool::new(name, schema);
        let tools = vec![Arc::new(Tool::relay(definition, pass))];
        Relays {
            tools,
            ..Relays::default()
        }
    }

    #[test]
    fn one_tool_in_the_place_of_another_is_a_change() {
        let server = Server::builder("gateway", "1").list_changes().build();
        let server = server.expect("nothing to refuse");
        let all = Lists {
            tools: true,
            ..Lists::default()
        };
        for name in ["one", "two"] {
            server
                .offer_relays(relays(name), all)
                .expect("it may change");
            assert!(server.has_tool(name), "{name}");
        }
        assert!(!server.has_tool("one"));
    }
}
