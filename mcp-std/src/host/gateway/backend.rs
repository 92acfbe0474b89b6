//! One server behind a gateway: what it has, and how it is asked.

use core::future::Future;
use std::sync::{Arc, Weak};

use async_channel::Receiver;
use futures_lite::future::{or, poll_once};
use mcp_core::ErrorCode;
use mcp_core::engine::server::Catalog;
use mcp_core::json::{Json, RawJson};
use mcp_core::model::request::{self, Request};
use mcp_core::model::{
    self, CallToolRequestParams, CompleteRequestParams, Decode, GetPromptRequestParams,
    Implementation, ReadResourceRequestParams, SubscriptionFilter,
};

use super::super::pool::{Member, Signal};
use super::Front;
use super::bridge::Bridge;
use crate::client::{CallError, CallOptions, Change, Client, Subscription};
use crate::server::relay::{Asked, Complete, Kind, Lists, Pass, Relayed};
use crate::server::{Instead, Settled};
use crate::{Context, Prompt, ProtocolError, Resource, ResourceTemplate, Tool};

/// Updates of so many resources are told.
const FOLLOWED: usize = 256;

/// Follows one server.
pub(super) struct Backend {
    pub(super) at: usize,
    pub(super) member: Arc<Member>,
    pub(super) signal: Signal,
    /// Gone when the gateway is.
    pub(super) front: Weak<Front>,
    pub(super) bridge: Arc<Bridge>,
}

/// What a server has, and the way to it.
pub(super) struct Offering {
    pub(super) server: Arc<str>,
    pub(super) tools: Vec<model::Tool<'static>>,
    pub(super) resources: Vec<model::Resource<'static>>,
    pub(super) templates: Vec<model::ResourceTemplate<'static>>,
    pub(super) prompts: Vec<model::Prompt<'static>>,
    completes: bool,
    way: Way,
}

/// The way to a server.
#[derive(Clone)]
struct Way {
    member: Arc<Member>,
    bridge: Arc<Bridge>,
}

impl Backend {
    pub(super) async fn run(self, stop: Receiver<()>) {
        let stopped = async {
            // Nothing is ever sent: this ends when the channel is closed.
            let _ = stop.recv().await;
        };
        or(stopped, self.follow()).await;
    }

    async fn follow(&self) {
        loop {
            let changed = self.signal.listen();
            let Some(Ok(client)) = self.member.client() else {
                changed.wait().await;
                continue;
            };
            let mut last = None;
            let closed = async {
                let mut notifications = client.notifications();
                while notifications.next().await.is_some() {}
            };
            or(closed, self.serve(&client, &mut last)).await;
            // The pool is about to notice as well: it is not to be taken for the one that follows.
            while client.closed().is_some() && matches!(self.member.client(), Some(Ok(_))) {
                let changed = self.signal.listen();
                if !matches!(self.member.client(), Some(Ok(now)) if now.closed().is_some()) {
                    break;
                }
                changed.wait().await;
            }
        }
    }

    /// Keeps clients informed until the connection ends.
    async fn serve(&self, client: &Client, last: &mut Option<Arc<Offering>>) {
        let mut changes = self.subscribe(client, last.as_deref()).await;
        let mut stale = Lists {
            tools: true,
            resources: true,
            prompts: true,
        };
        loop {
            if stale != Lists::default() {
                let offering = Arc::new(self.read(client, last.as_deref(), stale).await);
                let Some(front) = self.front.upgrade() else {
                    return;
                };
                front.publish(self.at, offering.clone(), stale);
                let follows = core::mem::take(&mut stale).resources;
                *last = Some(offering);
                if follows {
                    // Of the resources that are listed now. What the one before has heard meanwhile is not to be lost.
                    let next = self.subscribe(client, last.as_deref()).await;
                    let before = core::mem::replace(&mut changes, next);
                    if let Some(mut before) = before {
                        while let Some(Some(change)) = poll_once(before.next()).await {
                            self.heard(change, last.as_deref(), &mut stale);
                        }
                    }
                    continue;
                }
            }
            let Some(subscription) = &mut changes else {
                return core::future::pending().await;
            };
            match subscription.next().await {
                Some(change) => self.heard(change, last.as_deref(), &mut stale),
                None => return core::future::pending().await,
            }
        }
    }

    fn heard(&self, change: Change, last: Option<&Offering>, stale: &mut Lists) {
        match change {
            Change::Tools => stale.tools = true,
            Change::Resources => stale.resources = true,
            Change::Prompts => stale.prompts = true,
            Change::Resource(uri) => {
                if let Some(front) = self.front.upgrade() {
                    front.server.resource_updated(&uri);
                }
            }
            Change::ManyResources => self.all_updated(last),
        }
    }

    fn all_updated(&self, last: Option<&Offering>) {
        let (Some(front), Some(last)) = (self.front.upgrade(), last) else {
            return;
        };
        for resource in last.resources.iter().take(FOLLOWED) {
            front.server.resource_updated(&resource.uri);
        }
    }

    async fn subscribe(&self, client: &Client, last: Option<&Offering>) -> Option<Subscription> {
        let server = client.server()?;
        let declared = server.capabilities.as_ref()?;
        let mut filter = SubscriptionFilter::new();
        let mut any = false;
        if declared.tools.as_ref().is_some_and(|it| it.list_changed) {
            filter = filter.tools();
            any = true;
        }
        if declared.prompts.as_ref().is_some_and(|it| it.list_changed) {
            filter = filter.prompts();
            any = true;
        }
        if let Some(resources) = &declared.resources {
            if resources.list_changed {
                filter = filter.resources();
                any = true;
            }
            if resources.subscribe {
                let listed = last.iter().flat_map(|it| it.resources.iter());
                for resource in listed.take(FOLLOWED) {
                    filter = filter.resource(resource.uri.clone());
                    any = true;
                }
            }
        }
        if !any {
            return None;
        }
        client.subscribe(filter).await.ok()
    }

    /// What the server has now; what is not stale is as it was.
    async fn read(&self, client: &Client, last: Option<&Offering>, stale: Lists) -> Offering {
        let server = client.server();
        let declared = server.as_ref().and_then(|it| it.capabilities.as_ref());
        let mut offering = Offering {
            server: self.member.name.clone(),
            tools: last.map(|it| it.tools.clone()).unwrap_or_default(),
            resources: last.map(|it| it.resources.clone()).unwrap_or_default(),
            templates: last.map(|it| it.templates.clone()).unwrap_or_default(),
            prompts: last.map(|it| it.prompts.clone()).unwrap_or_default(),
            completes: declared.is_some_and(|it| it.completions),
            way: Way {
                member: self.member.clone(),
                bridge: self.bridge.clone(),
            },
        };
        let Some(declared) = declared else {
            return offering;
        };
        if stale.tools && declared.tools.is_some() {
            let tools = self
                .list(client.list_tools())
                .await
                .unwrap_or(offering.tools);
            let filter = &self.member.config.filter;
            let fit = |tool: &model::Tool<'static>| filter.admits(&tool.name) && self.fits(tool);
            offering.tools = tools.into_iter().filter(fit).collect();
        }
        if stale.prompts && declared.prompts.is_some() {
            let prompts = self.list(client.list_prompts()).await;
            offering.prompts = prompts.unwrap_or(offering.prompts);
        }
        if stale.resources && declared.resources.is_some() {
            let resources = self.list(client.list_resources()).await;
            offering.resources = resources.unwrap_or(offering.resources);
            let templates = self.list(client.list_resource_templates()).await;
            offering.templates = templates.unwrap_or(offering.templates);
        }
        offering
    }

    async fn list<T>(&self, list: impl Future<Output = Result<T, CallError>>) -> Option<T> {
        let listed = list.await;
        if let Err(error) = &listed {
            tracing::warn!(server = &*self.member.name, %error, "a list cannot be read");
        }
        listed.ok()
    }

    /// Whether a tool can be offered: one that cannot is not to keep the others from it.
    fn fits(&self, tool: &model::Tool<'static>) -> bool {
        let nobody = Implementation::new("", "");
        let tools = core::slice::from_ref(tool);
        let fits = Catalog::builder(&nobody).tools(tools).build().is_ok();
        if !fits {
            tracing::warn!(
                server = &*self.member.name,
                tool = &*tool.name,
                "a tool cannot be offered"
            );
        }
        fits
    }
}

impl Offering {
    pub(super) fn tool(&self, tool: &model::Tool<'static>, name: String) -> Arc<Tool> {
        let mut definition = tool.clone();
        definition.name = name.into();
        let (way, meant) = (self.way.clone(), Arc::<str>::from(&*tool.name));
        let pass: Pass = Arc::new(move |context, asked| {
            let (way, meant) = (way.clone(), meant.clone());
            Box::pin(async move {
                let mut params = CallToolRequestParams::new(&*meant);
                if let Asked::Arguments(arguments) = asked {
                    params.arguments = arguments;
                }
                way.ask::<request::CallTool>(&context, &params, Kind::Tool)
                    .await
            })
        });
        Arc::new(Tool::relay(definition, pass))
    }

    pub(super) fn prompt(&self, prompt: &model::Prompt<'static>, name: String) -> Arc<Prompt> {
        let mut definition = prompt.clone();
        definition.name = name.into();
        let (way, meant) = (self.way.clone(), Arc::<str>::from(&*prompt.name));
        let pass: Pass = Arc::new(move |context, asked| {
            let (way, meant) = (way.clone(), meant.clone());
            Box::pin(async move {
                let mut params = GetPromptRequestParams::new(&*meant);
                if let Asked::Arguments(Some(arguments)) = &asked {
                    let read = Decode::decode(arguments.raw());
                    params.arguments = Some(read.map_err(|_| {
                        let what = "the arguments of a prompt are strings, by name";
                        ProtocolError::new(ErrorCode::INVALID_PARAMS, what)
                    })?);
                }
                way.ask::<request::GetPrompt>(&context, &params, Kind::Prompt)
                    .await
            })
        });
        let name = prompt.name.clone().into_owned();
        let reference = model::PromptReference::new(name);
        let complete = self.complete(model::CompletionReference::Prompt(reference));
        Arc::new(Prompt::relay(definition, pass, complete.as_ref()))
    }

    pub(super) fn resource(&self, resource: &model::Resource<'static>) -> Arc<Resource> {
        Arc::new(Resource::relay(resource.clone(), self.reads()))
    }

    pub(super) fn template(
        &self,
        template: &model::ResourceTemplate<'static>,
    ) -> Arc<ResourceTemplate> {
        let uri = template.uri_template.clone().into_owned();
        let reference = model::ResourceTemplateReference::new(uri);
        let complete = self.complete(model::CompletionReference::Resource(reference));
        let template = ResourceTemplate::relay(template.clone(), self.reads(), complete.as_ref());
        Arc::new(template)
    }

    fn reads(&self) -> Pass {
        let way = self.way.clone();
        Arc::new(move |context, asked| {
            let way = way.clone();
            Box::pin(async move {
                let Asked::Uri(uri) = asked else {
                    return Err(Instead::NotFound);
                };
                let params = ReadResourceRequestParams::new(uri);
                way.ask::<request::ReadResource>(&context, &params, Kind::Resource)
                    .await
            })
        })
    }

    fn complete(&self, reference: model::CompletionReference<'static>) -> Option<Complete> {
        if !self.completes {
            return None;
        }
        let way = self.way.clone();
        Some(Arc::new(
            move |argument: String, typed: String, settled: Settled| {
                let (way, reference) = (way.clone(), reference.clone());
                Box::pin(async move {
                    let argument = model::CompletionArgument::new(argument, typed);
                    let mut params = CompleteRequestParams::new(reference, argument);
                    if !settled.is_empty() {
                        let settled = [("arguments", settled)];
                        let known = Json::of(&std::collections::BTreeMap::from(settled)).ok();
                        let known = known
                            .as_ref()
                            .map(|it| model::CompletionContext::decode(it.raw()));
                        params.context = known.and_then(|it| Some(it.ok()?.into_owned()));
                    }
                    let Ok(client) = way.client() else {
                        return Vec::new();
                    };
                    let completed = client.complete(&params).await;
                    let values = completed.map(|it| it.completion.values.into_vec());
                    let values = values.unwrap_or_default().into_iter();
                    values.map(std::borrow::Cow::into_owned).collect()
                })
            },
        ))
    }
}

impl Way {
    fn client(&self) -> Result<Client, ProtocolError> {
        let client = self.member.client();
        let why = match client {
            Some(Ok(client)) => return Ok(client),
            Some(Err(error)) => error.to_string(),
            None => format!("`{}` is being connected to", self.member.name),
        };
        Err(ProtocolError::new(ErrorCode::INTERNAL_ERROR, why))
    }

    /// Asks the server for a client.
    async fn ask<R: Request>(
        &self,
        context: &Context,
        params: &R::Params<'_>,
        kind: Kind,
    ) -> Result<Relayed, Instead> {
        let client = self.client()?;
        let mut options = CallOptions::new();
        if let Some(meta) = context.meta().and_then(passed_on) {
            options = options.meta(meta);
        }
        // Of more than the client reads in time, some are left out: each says how far it is altogether.
        let (told, tells) = async_channel::bounded(64);
        if context.wants_progress() {
            options = options.on_progress(move |progress| {
                let _ = told.try_send(progress.clone().into_owned());
            });
        }
        let progress = async {
            while let Ok(progress) = tells.recv().await {
                context.progress(progress).await;
            }
            core::future::pending().await
        };
        let call = or(client.request::<R>(params, options), progress);
        match self.bridge.during(&Arc::new(context.clone()), call).await {
            Ok(response) => {
                while let Ok(progress) = tells.try_recv() {
                    context.progress(progress).await;
                }
                let result = Json::from(response.raw()).into_owned();
                Ok(Relayed::new(result, client.version(), kind))
            }
            Err(error) => Err(instead(error, kind)),
        }
    }
}

/// What a call that failed is answered with.
fn instead(error: CallError, kind: Kind) -> Instead {
    let text = error.to_string();
    match error {
        CallError::Protocol(answer) if matches!(kind, Kind::Resource) && answer.is_not_found() => {
            Instead::NotFound
        }
        CallError::Protocol(answer) | CallError::UrlElicitationRequired { answer, .. } => {
            let mut error = ProtocolError::new(answer.code, answer.message);
            error.data = answer.data;
            error.into()
        }
        CallError::Tool(_)
        | CallError::Timeout(_)
        | CallError::Cancelled
        | CallError::Closed(_)
        | CallError::Http { .. }
        | CallError::Decode { .. }
        | CallError::Answer { .. }
        | CallError::Unsupported(_)
        | CallError::Arguments(_)
        | CallError::TooManyRounds { .. }
        | CallError::Declined { .. }
        | CallError::Paging(_)
        | CallError::Schema(_) => ProtocolError::new(ErrorCode::INTERNAL_ERROR, text).into(),
    }
}

/// What of a request's `_meta` is for the server as well: all but what is said anew on each connection.
fn passed_on(meta: RawJson<'_>) -> Option<Json<'static>> {
    let mut any = false;
    let json = Json::written(|json| {
        json.begin_object();
        for (name, value) in meta.as_object().into_iter().flatten() {
            let name = name.decode();
            if name != "progressToken" && !name.starts_with("io.modelcontextprotocol/") {
                any = true;
                json.key(&name);
                json.raw(value);
            }
        }
        json.end_object();
    });
    any.then_some(json)
}
