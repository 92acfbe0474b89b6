//! The calls a client can make, one for each method.

use core::time::Duration;
use std::borrow::Cow;
use std::sync::Arc;

use mcp_core::json::{Json, Kind as JsonKind};
use mcp_core::model::request::{self, Request};
use mcp_core::model::{
    CallToolRequestParams, CallToolResult, CompleteRequestParams, CompleteResult, Decode,
    DiscoverResult, Encode as _, Era, GetPromptRequestParams, GetPromptResult, LoggingLevel,
    Prompt, ReadResourceRequestParams, ReadResourceResult, Resource, ResourceTemplate,
    SetLevelRequestParams, Tool,
};
use serde::Serialize;

use super::Client;
use super::ceiling::Ceiling;
use super::error::CallError;
use super::handle::{CallKind, Progressing, Wishes};
use super::options::{CacheUse, CallOptions};
use super::outcome::{Response, ToolOutcome};
use super::pager::Pager;
use super::rounds::Input;
use super::task::{Begun, TaskHandle};

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
        #[cfg(feature = "validate")]
        let output = self.output_check(name).await?;
        let response = self.ask::<request::CallTool>(&params, options).await?;
        let result = decode::<CallToolResult<'_>>("tools/call", &response)?.into_owned();
        if self.version().era() == Era::Legacy
            && let Some(content) = &result.structured_content
            && !content.as_str().trim_start().starts_with('{')
        {
            // SC-07: it is passed on all the same, since whoever asked may know better.
            tracing::warn!(tool = name, "a structured result that is no object");
        }
        #[cfg(feature = "validate")]
        if let Some(output) = output {
            output.check(&result)?;
        }
        if let Some(check) = &self.shared().settings.check_result {
            (check.0)(name, &result).map_err(CallError::Schema)?;
        }
        Ok(ToolOutcome(result))
    }

    /// Calls a tool that may become a task, and does not wait for that: the client has to
    /// [declare](super::ClientBuilder::tasks) that it knows tasks, or there will be none. Results are not checked against the
    /// tool's output schema.
    ///
    /// A server of 2025-11-25 that declares tasks is asked for one. If it refuses because the tool is none, the tool is called
    /// again without.
    ///
    /// # Errors
    ///
    /// The same.
    pub async fn begin_tool(
        &self,
        name: &str,
        arguments: &(impl Serialize + ?Sized),
        mut options: CallOptions,
    ) -> Result<Begun, CallError> {
        let mut params = CallToolRequestParams::new(name);
        params.arguments = object(arguments)?;
        options.begin = true;
        let params = params.to_json(self.version());
        if let Some(begun) = self.begin_legacy(&params, &options).await? {
            return Ok(Begun::Task(begun));
        }
        let done = self.rounds("tools/call".into(), params, &options).await?;
        if done.is_task {
            return TaskHandle::new(self.clone(), &done.result).map(Begun::Task);
        }
        let result = decode::<CallToolResult<'_>>("tools/call", &done.result)?.into_owned();
        Ok(Begun::Done(ToolOutcome(result)))
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

    /// From which level on a server of the legacy era sends log messages. It is told again when it is started again, or has
    /// ended the session. Newer ones have a level for each call:
    /// [`CallOptions::log_level`], [`ClientBuilder::log_level`](super::ClientBuilder::log_level).
    ///
    /// # Errors
    ///
    /// The call failed, or the server's revision does not have it.
    pub async fn set_level(&self, level: LoggingLevel) -> Result<(), CallError> {
        let params = SetLevelRequestParams::new(level);
        // Before it is asked: should the session be renewed meanwhile, this is what it is told.
        let shared = &self.handle.shared;
        let before = shared.set_level(Some(level));
        let asked = self.ask::<request::SetLevel>(&params, CallOptions::new());
        if let Err(error) = asked.await {
            shared.set_level(before);
            return Err(error);
        }
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

    /// A request by the name of its method, such as one of an extension: its result as it came. The parameters are anything
    /// that serde writes as a JSON object; `()` for none. Input that the server requires is given by the handlers; the answer
    /// is not cached.
    ///
    /// # Errors
    ///
    /// The parameters are no JSON object, or the call failed.
    pub async fn request_by_name(
        &self,
        method: impl Into<Cow<'static, str>>,
        params: &(impl Serialize + ?Sized),
        options: CallOptions,
    ) -> Result<Json<'static>, CallError> {
        let params = object(params)?.unwrap_or(Json::EMPTY_OBJECT);
        let done = self.rounds(method.into(), params, &options).await?;
        Ok(done.result)
    }

    /// Tells the server something that it does not answer, such as a notification of an extension. Returns when it is on its
    /// way, after all calls that were made before. The parameters are anything that serde writes as a JSON object; `()` for
    /// none.
    ///
    /// # Errors
    ///
    /// The parameters are no JSON object, the notification is one that this client sends by itself, or there is no
    /// connection, and none within [`Timeouts::max_total`](super::Timeouts::max_total).
    pub async fn notify(
        &self,
        method: impl Into<Cow<'static, str>>,
        params: &(impl Serialize + ?Sized),
    ) -> Result<(), CallError> {
        let method = method.into();
        if OURS.contains(&&*method) {
            let fault = format!("`{method}` is what the client sends by itself");
            return Err(CallError::Arguments(fault));
        }
        let params = object(params)?.unwrap_or(Json::EMPTY_OBJECT);
        let wishes = Wishes {
            timeout: None,
            ceiling: Ceiling::new(self.shared().timeouts.max_total),
            log_level: None,
            meta: None,
            on_progress: Progressing::default(),
        };
        let sent = self.handle.call(
            method,
            CallKind::Notification,
            params,
            Input::default(),
            wishes,
        );
        sent.await.map(drop)
    }
}

/// The notifications that are told when it is time for them, and would be untrue at any other.
const OURS: [&str; 4] = [
    "notifications/initialized",
    "notifications/cancelled",
    "notifications/progress",
    "notifications/roots/list_changed",
];

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
    T::decode(json.raw()).map_err(|error| CallError::Decode {
        method: method.into(),
        error,
    })
}
