//! The calls a client can make, one for each method.

use core::time::Duration;
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mcp_core::ErrorCode;
use mcp_core::json::{Json, Kind as JsonKind, RawJson};
use mcp_core::model::request::{self, Request};
use mcp_core::model::{
    CallToolRequestParams, CallToolResult, CompleteRequestParams, CompleteResult, Decode,
    DecodeError, DiscoverResult, Encode, Era, GetPromptRequestParams, GetPromptResult,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    LoggingLevel, Prompt, ReadResourceRequestParams, ReadResourceResult, Resource,
    ResourceTemplate, SetLevelRequestParams, Tool,
};
use serde::Serialize;

use super::Client;
use super::cache::Kind;
use super::error::CallError;
use super::handle::{Progressing, Wishes};
use super::options::{CacheUse, CallOptions};
use super::outcome::{Response, ToolOutcome};
use super::pager::{Page, Pager};
use super::rounds::{Done, Rounds, written};

impl Client {
    /// Calls a tool. The arguments are anything that serde writes as a JSON object: a struct, a map, `json!({…})`; `()` for
    /// none.
    ///
    /// A tool that fails is no error of the call: see [`ToolOutcome`].
    ///
    /// # Errors
    ///
    /// The arguments are no JSON object, or the call failed.
    pub async fn call_tool(
        &self,
        name: &str,
        arguments: &(impl Serialize + ?Sized),
    ) -> Result<ToolOutcome, CallError> {
        self.call_tool_with(name, arguments, CallOptions::new())
            .await
    }

    /// [`call_tool`](Self::call_tool), with a word on how.
    ///
    /// # Errors
    ///
    /// The same.
    pub async fn call_tool_with(
        &self,
        name: &str,
        arguments: &(impl Serialize + ?Sized),
        options: CallOptions,
    ) -> Result<ToolOutcome, CallError> {
        let mut params = CallToolRequestParams::new(name);
        params.arguments = object(arguments)?;
        let response = self.ask::<request::CallTool>(&params, options).await?;
        let result = decode::<CallToolResult<'_>>("tools/call", &response)?.into_owned();
        if let Some(check) = &self.shared().settings.check_result {
            (check.0)(name, &result).map_err(CallError::Schema)?;
        }
        Ok(ToolOutcome(result))
    }

    /// The tools, page by page.
    pub fn tools(&self) -> Pager<Tool<'static>> {
        self.pages::<request::ListTools>(CacheUse::Use, &Arc::default())
    }

    /// All tools.
    ///
    /// # Errors
    ///
    /// A page could not be had, or there is no end to them.
    pub async fn list_tools(&self) -> Result<Vec<Tool<'static>>, CallError> {
        self.all::<request::ListTools>().await
    }

    /// The resources, page by page.
    pub fn resources(&self) -> Pager<Resource<'static>> {
        self.pages::<request::ListResources>(CacheUse::Use, &Arc::default())
    }

    /// All resources.
    ///
    /// # Errors
    ///
    /// A page could not be had, or there is no end to them.
    pub async fn list_resources(&self) -> Result<Vec<Resource<'static>>, CallError> {
        self.all::<request::ListResources>().await
    }

    /// The templates of resources, page by page.
    pub fn resource_templates(&self) -> Pager<ResourceTemplate<'static>> {
        self.pages::<request::ListResourceTemplates>(CacheUse::Use, &Arc::default())
    }

    /// All templates of resources.
    ///
    /// # Errors
    ///
    /// A page could not be had, or there is no end to them.
    pub async fn list_resource_templates(
        &self,
    ) -> Result<Vec<ResourceTemplate<'static>>, CallError> {
        self.all::<request::ListResourceTemplates>().await
    }

    /// The prompts, page by page.
    pub fn prompts(&self) -> Pager<Prompt<'static>> {
        self.pages::<request::ListPrompts>(CacheUse::Use, &Arc::default())
    }

    /// All prompts.
    ///
    /// # Errors
    ///
    /// A page could not be had, or there is no end to them.
    pub async fn list_prompts(&self) -> Result<Vec<Prompt<'static>>, CallError> {
        self.all::<request::ListPrompts>().await
    }

    /// Reads a resource.
    ///
    /// # Errors
    ///
    /// The call failed: [`ErrorAnswer::is_not_found`](super::ErrorAnswer::is_not_found) tells whether there is none.
    pub async fn read_resource(&self, uri: &str) -> Result<ReadResourceResult<'static>, CallError> {
        self.read_resource_with(uri, CallOptions::new()).await
    }

    /// [`read_resource`](Self::read_resource), with a word on how.
    ///
    /// # Errors
    ///
    /// The same.
    pub async fn read_resource_with(
        &self,
        uri: &str,
        options: CallOptions,
    ) -> Result<ReadResourceResult<'static>, CallError> {
        let params = ReadResourceRequestParams::new(uri);
        let response = self.ask::<request::ReadResource>(&params, options).await?;
        Ok(decode::<ReadResourceResult<'_>>("resources/read", &response)?.into_owned())
    }

    /// Gets a prompt. The arguments are anything that serde writes as a JSON object of strings; `()` for none.
    ///
    /// # Errors
    ///
    /// The arguments are no such object, or the call failed.
    pub async fn get_prompt(
        &self,
        name: &str,
        arguments: &(impl Serialize + ?Sized),
    ) -> Result<GetPromptResult<'static>, CallError> {
        self.get_prompt_with(name, arguments, CallOptions::new())
            .await
    }

    /// [`get_prompt`](Self::get_prompt), with a word on how.
    ///
    /// # Errors
    ///
    /// The same.
    pub async fn get_prompt_with(
        &self,
        name: &str,
        arguments: &(impl Serialize + ?Sized),
        options: CallOptions,
    ) -> Result<GetPromptResult<'static>, CallError> {
        let arguments = object(arguments)?;
        let mut params = GetPromptRequestParams::new(name);
        params.arguments = arguments
            .as_ref()
            .map(|arguments| Decode::decode(arguments.raw()))
            .transpose()
            .map_err(|_| {
                CallError::Arguments("the arguments of a prompt are strings, by name".to_owned())
            })?;
        let response = self.ask::<request::GetPrompt>(&params, options).await?;
        Ok(decode::<GetPromptResult<'_>>("prompts/get", &response)?.into_owned())
    }

    /// Asks how an argument of a prompt or a template may go on.
    ///
    /// # Errors
    ///
    /// The call failed.
    pub async fn complete(
        &self,
        params: &CompleteRequestParams<'_>,
    ) -> Result<CompleteResult<'static>, CallError> {
        let response = self
            .ask::<request::Complete>(params, CallOptions::new())
            .await?;
        Ok(decode::<CompleteResult<'_>>("completion/complete", &response)?.into_owned())
    }

    /// Asks whether the server is there, and says how long the answer took. Servers of 2026-07-28 have no `ping` and are
    /// asked with `server/discover`.
    ///
    /// # Errors
    ///
    /// The call failed.
    pub async fn ping(&self) -> Result<Duration, CallError> {
        let options = CallOptions::new().cache(CacheUse::Bypass);
        let started = std::time::Instant::now();
        if self.era() == Era::Legacy {
            self.ask_raw::<request::Ping>(None, options).await?;
        } else {
            self.ask_raw::<request::Discover>(None, options).await?;
        }
        Ok(started.elapsed())
    }

    /// From which level on a server of the legacy era sends log messages. Newer ones have a level for each call:
    /// [`CallOptions::log_level`], [`ClientBuilder::log_level`](super::ClientBuilder::log_level).
    ///
    /// # Errors
    ///
    /// The call failed, or the server's revision does not have it.
    pub async fn set_level(&self, level: LoggingLevel) -> Result<(), CallError> {
        let params = SetLevelRequestParams::new(level);
        self.ask::<request::SetLevel>(&params, CallOptions::new())
            .await?;
        Ok(())
    }

    /// Asks the server who it is and what it can do, which is known from connecting already; only 2026-07-28 has this.
    ///
    /// # Errors
    ///
    /// The call failed, or the server's revision does not have it.
    pub async fn discover(&self) -> Result<DiscoverResult<'static>, CallError> {
        let response = self
            .ask_raw::<request::Discover>(None, CallOptions::new())
            .await?;
        Ok(decode::<DiscoverResult<'_>>("server/discover", &response.json)?.into_owned())
    }

    /// Any request that a client can make, as the model has it. Input that the server requires is given by the handlers.
    ///
    /// # Errors
    ///
    /// The call failed. What the result holds is looked at by [`Response::decode`].
    pub async fn request<R: Request>(
        &self,
        params: &R::Params<'_>,
        options: CallOptions,
    ) -> Result<Response<R>, CallError> {
        self.ask::<R>(params, options).await.map(Response::new)
    }

    async fn ask<R: Request>(
        &self,
        params: &R::Params<'_>,
        options: CallOptions,
    ) -> Result<Arc<Json<'static>>, CallError> {
        let params = params.to_json(self.version());
        let answer = self.ask_raw::<R>(Some(params), options).await?;
        Ok(answer.json)
    }

    /// The answer to a request, from the cache if it is there.
    async fn ask_raw<R: Request>(
        &self,
        params: Option<Json<'static>>,
        options: CallOptions,
    ) -> Result<Answer, CallError> {
        let params = params.unwrap_or(Json::EMPTY_OBJECT);
        let kind = Kind::of(R::METHOD.as_str()).filter(|_| options.cache != CacheUse::Bypass);
        let key = kind.and_then(|kind| cache_key(kind, params.raw()));
        let Some((kind, key)) = kind.zip(key) else {
            let done = self.rounds::<R>(params, &options).await?;
            return Ok(Answer::fresh(Arc::new(done.result)));
        };
        let cache = &self.shared().cache;
        if options.cache == CacheUse::Use
            && let Some(json) = cache.get(kind, &key)
        {
            return Ok(Answer { json, cached: true });
        }
        let asked = cache.asked(kind);
        let done = self.rounds::<R>(params, &options).await?;
        let json = Arc::new(done.result);
        // What took input is nobody else's (CAC-04), and older revisions know no time to live.
        if done.rounds == 0 && self.era() == Era::Modern {
            cache.put(kind, &key, asked, time_to_live(json.raw()), &json);
        }
        Ok(Answer::fresh(json))
    }

    /// The answer to a request, whatever the server requires for it, and however often the connection has to be made anew.
    async fn rounds<R: Request>(
        &self,
        params: Json<'static>,
        options: &CallOptions,
    ) -> Result<Done, CallError> {
        let shared = self.shared();
        let retry =
            shared.settings.restarts && (options.retry || is_idempotent(R::METHOD.as_str()));
        let wishes = Wishes {
            timeout: options.timeout,
            max_total: options.max_total,
            log_level: options.log_level.or(shared.settings.log_level),
            meta: options.meta.clone(),
            on_progress: Progressing(options.on_progress.clone()),
        };
        let call = async {
            loop {
                let server = shared.server();
                let rounds = Rounds {
                    method: R::METHOD.as_str(),
                    handlers: &shared.handlers,
                    server: server.and_then(|server| server.implementation.clone()),
                    version: self.version(),
                    limit: shared.settings.max_rounds,
                };
                let done = rounds
                    .run(|input| {
                        self.handle
                            .call(R::METHOD.as_str(), params.clone(), input, wishes.clone())
                    })
                    .await;
                match done {
                    // There may be another connection soon; if not, this ends here.
                    Err(CallError::Closed(_)) if retry && shared.why_closed().is_none() => {
                        tracing::debug!(
                            method = R::METHOD.as_str(),
                            "connection lost, calling again"
                        );
                    }
                    done => return done,
                }
            }
        };
        match &options.canceller {
            Some(canceller) => canceller.guard(call).await,
            None => call.await,
        }
    }

    fn pages<L: Listing>(&self, cache: CacheUse, cached: &Arc<AtomicBool>) -> Pager<L::Item> {
        let (client, cached) = (self.clone(), cached.clone());
        let fingerprints = super::pager::Fingerprints::default();
        Pager::new(move |cursor| {
            let (client, cached) = (client.clone(), cached.clone());
            let fingerprints = fingerprints.clone();
            async move {
                let params = match &cursor {
                    None => Json::EMPTY_OBJECT,
                    Some(cursor) => written(|json| {
                        json.begin_object();
                        json.key("cursor");
                        json.string(cursor);
                        json.end_object();
                    })?,
                };
                let options = CallOptions::new().cache(cache);
                let answer = client.ask_raw::<L>(Some(params), options).await?;
                if answer.cached {
                    cached.store(true, Ordering::Relaxed);
                }
                let (items, next) =
                    L::page(answer.json.raw()).map_err(|error| CallError::Decode {
                        method: L::METHOD.as_str(),
                        error,
                    })?;
                Ok(Page {
                    items,
                    next,
                    fingerprint: fingerprints.of(answer.json.as_str()),
                })
            }
        })
    }

    async fn all<L: Listing>(&self) -> Result<Vec<L::Item>, CallError> {
        let cached = Arc::new(AtomicBool::new(false));
        match self.pages::<L>(CacheUse::Use, &cached).collect().await {
            // A cursor of a page that was at hand is not known any more: all over again (CAC-12).
            Err(CallError::Protocol(answer))
                if answer.code == ErrorCode::INVALID_PARAMS && cached.load(Ordering::Relaxed) =>
            {
                if let Some(kind) = Kind::of(L::METHOD.as_str()) {
                    self.shared().cache.forget(kind);
                }
                self.pages::<L>(CacheUse::Refresh, &cached).collect().await
            }
            all => all,
        }
    }
}

/// An answer, and where it was.
struct Answer {
    json: Arc<Json<'static>>,
    cached: bool,
}

impl Answer {
    const fn fresh(json: Arc<Json<'static>>) -> Self {
        Self {
            json,
            cached: false,
        }
    }
}

/// A method that lists something in pages.
trait Listing: Request {
    type Item: Send + 'static;

    fn page(result: RawJson<'_>) -> Result<(Vec<Self::Item>, Option<String>), DecodeError>;
}

macro_rules! listing {
    ($request:ident, $item:ident, $result:ident, $field:ident) => {
        impl Listing for request::$request {
            type Item = $item<'static>;

            fn page(
                result: RawJson<'_>,
            ) -> Result<(Vec<$item<'static>>, Option<String>), DecodeError> {
                let page = $result::decode(result)?;
                let next = page.next_cursor.map(Cow::into_owned);
                let items = page.$field.into_vec().into_iter();
                Ok((items.map($item::into_owned).collect(), next))
            }
        }
    };
}

listing!(ListTools, Tool, ListToolsResult, tools);
listing!(ListResources, Resource, ListResourcesResult, resources);
listing!(
    ListResourceTemplates,
    ResourceTemplate,
    ListResourceTemplatesResult,
    resource_templates
);
listing!(ListPrompts, Prompt, ListPromptsResult, prompts);

/// Whether a call of this method changes nothing, so that it can be made again when nobody knows what became of it.
fn is_idempotent(method: &str) -> bool {
    !matches!(method, "tools/call" | "prompts/get")
}

/// What decides the answer: the cursor, or the URI. `None`: something else does too, and the answer is not cached.
fn cache_key(kind: Kind, params: RawJson<'_>) -> Option<String> {
    let mut key = String::new();
    for (name, value) in params.as_object()? {
        match (kind, &*name.decode()) {
            (_, "_meta") => {}
            (Kind::Reads, "uri") => key.push_str(&value.as_string()?.decode()),
            (Kind::Discovery | Kind::Reads, _) => return None,
            // With its quotes, so that an empty one is not none.
            (_, "cursor") => key.push_str(value.as_str()),
            _ => return None,
        }
    }
    Some(key)
}

/// How long a result may be kept: absent, negative or no integer is not at all (CAC-05).
fn time_to_live(result: RawJson<'_>) -> Duration {
    let mut members = result.as_object().into_iter().flatten();
    let ttl = members
        .find(|(name, _)| *name == "ttlMs")
        .and_then(|(_, value)| value.as_number()?.as_u64());
    Duration::from_millis(ttl.unwrap_or(0))
}

/// The arguments as a JSON object; `None` for null.
fn object(arguments: &(impl Serialize + ?Sized)) -> Result<Option<Json<'static>>, CallError> {
    let fault = |fault: &dyn core::fmt::Display| {
        CallError::Arguments(format!("the arguments cannot be written as JSON: {fault}"))
    };
    let text = serde_json::to_string(arguments).map_err(|error| fault(&error))?;
    let json = Json::owned(text).map_err(|error| fault(&error))?;
    let what = match json.raw().kind() {
        JsonKind::Object => return Ok(Some(json)),
        JsonKind::Null => return Ok(None),
        JsonKind::Array => "an array",
        JsonKind::String => "a string",
        JsonKind::Number => "a number",
        JsonKind::Bool => "a boolean",
    };
    Err(CallError::Arguments(format!(
        "arguments are a JSON object, such as a struct or a map, and not {what}"
    )))
}

fn decode<'j, T: Decode<'j>>(method: &'static str, json: &'j Json<'_>) -> Result<T, CallError> {
    T::decode(json.raw()).map_err(|error| CallError::Decode { method, error })
}
