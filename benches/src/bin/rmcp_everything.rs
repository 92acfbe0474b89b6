//! The contract of `tests/interop/contract.md` on rmcp, in every era it speaks: a peer for our client.
//!
//! On standard input and output, or with a port as its argument over HTTP. What goes over the wire is written as JSON and given to rmcp's types, so that this reads like the contract.

#![expect(
    deprecated,
    reason = "logging and resources/subscribe are what the earlier revisions have"
)]

use std::collections::BTreeSet;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult,
    ErrorCode, GetPromptRequestParams, GetPromptResponse, GetPromptResult, InputRequiredResult,
    InputResponses, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, LoggingLevel, PaginatedRequestParams, ReadResourceRequestParams,
    ReadResourceResponse, ReadResourceResult, ServerConfig, SetLevelRequestParams,
    SubscribeRequestParams, SubscriptionFilter, UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, SubscriptionContext, SubscriptionSink};
use rmcp::transport::stdio;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::net::TcpListener;

type Context = RequestContext<RoleServer>;

const WATCHED: &str = "test://watched-resource";
const TEMPLATE: &str = "test://template/{id}/data";
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const WAV: &str = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA==";

/// What a handler ends with, other than a result.
enum Stop {
    /// The tool failed.
    Failed(String),
    /// The request was wrong.
    Wrong(ErrorData),
    /// Only the client can tell.
    Needs(Box<InputRequiredResult>),
}

impl From<ErrorData> for Stop {
    fn from(error: ErrorData) -> Self {
        Self::Wrong(error)
    }
}

fn invalid(message: impl Into<String>) -> ErrorData {
    ErrorData::invalid_params(message.into(), None)
}

fn internal(error: impl core::fmt::Display) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

fn typed<T: DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    serde_json::from_value(value).map_err(internal)
}

/// A whole result. rmcp takes its type out where the era has none.
fn complete<T: DeserializeOwned>(mut result: Value) -> Result<T, ErrorData> {
    result["resultType"] = json!("complete");
    typed(result)
}

fn text(said: impl Into<String>) -> Value {
    json!({"type": "text", "text": said.into()})
}

fn embedded(uri: &str, mime_type: &str, said: &str) -> Value {
    json!({"type": "resource", "resource": {"uri": uri, "mimeType": mime_type, "text": said}})
}

/// An object schema with these properties, all of them required.
fn object(properties: &[(&str, &str)]) -> Value {
    let names: Vec<_> = properties.iter().map(|(name, _)| *name).collect();
    let map: serde_json::Map<_, _> = properties
        .iter()
        .map(|(name, kind)| ((*name).to_owned(), json!({"type": kind})))
        .collect();
    json!({"type": "object", "properties": map, "required": names})
}

fn form(message: &str, properties: &[(&str, &str)]) -> Value {
    json!({"method": "elicitation/create", "params": {
        "mode": "form", "message": message, "requestedSchema": object(properties),
    }})
}

fn sampling(prompt: &str, max_tokens: u32) -> Value {
    json!({"method": "sampling/createMessage", "params": {
        "messages": [{"role": "user", "content": text(prompt)}], "maxTokens": max_tokens,
    }})
}

#[derive(Default)]
struct State {
    level: Option<LoggingLevel>,
    subscribed: BTreeSet<String>,
    listening: Vec<SubscriptionSink>,
    version: u32,
    tool: bool,
    prompt: bool,
    resource: bool,
}

#[derive(Default)]
struct Peer {
    state: Mutex<State>,
}

/// One request, and the answers that came with it.
struct Call<'a> {
    context: &'a Context,
    arguments: serde_json::Map<String, Value>,
    answers: InputResponses,
    state: Option<String>,
    modern: bool,
}

impl<'a> Call<'a> {
    fn new(
        context: &'a Context,
        arguments: Option<serde_json::Map<String, Value>>,
        answers: Option<InputResponses>,
        state: Option<String>,
    ) -> Self {
        Self {
            modern: modern(context),
            context,
            arguments: arguments.unwrap_or_default(),
            answers: answers.unwrap_or_default(),
            state,
        }
    }

    fn string(&self, name: &str) -> Result<String, Stop> {
        let value = self.arguments.get(name).and_then(Value::as_str);
        value
            .map(str::to_owned)
            .ok_or_else(|| Stop::Failed(format!("{name} is missing")))
    }

    fn integer(&self, name: &str) -> Result<i64, Stop> {
        let value = self.arguments.get(name).and_then(Value::as_i64);
        value.ok_or_else(|| Stop::Failed(format!("{name} is no integer")))
    }

    /// Asks the client, in the way of its era, and gives the answers in the order of the questions.
    async fn ask(
        &self,
        questions: &[(&str, Value)],
        state: Option<&str>,
    ) -> Result<Vec<Value>, Stop> {
        let declared =
            serde_json::to_value(self.context.client_capabilities()).map_err(internal)?;
        for (_, question) in questions {
            let name = match question["method"].as_str() {
                Some("elicitation/create") => "elicitation",
                Some("sampling/createMessage") => "sampling",
                _ => "roots",
            };
            if declared[name].is_null() {
                if !self.modern {
                    return Err(Stop::Failed(format!("the client has not declared {name}")));
                }
                return Err(Stop::Wrong(ErrorData::missing_required_client_capability(
                    typed(json!({name: {}}))?,
                )));
            }
        }
        let mut answers = Vec::new();
        for (key, question) in questions {
            if !self.modern {
                let answer = self
                    .context
                    .peer
                    .send_request(typed(question.clone())?)
                    .await;
                let answer = answer.map_err(|error| Stop::Failed(error.to_string()))?;
                answers.push(serde_json::to_value(answer).map_err(internal)?);
            } else if let Some(answer) = self.answers.get(*key) {
                answers.push(answer.clone());
            } else {
                let mut requests = serde_json::Map::new();
                for (key, question) in questions {
                    requests.insert((*key).to_owned(), question.clone());
                }
                let requests = typed(Value::Object(requests))?;
                let needed = InputRequiredResult::new(Some(requests), state.map(str::to_owned));
                return Err(Stop::Needs(Box::new(needed)));
            }
        }
        Ok(answers)
    }
}

fn modern(context: &Context) -> bool {
    let version = context.protocol_version();
    version.is_some_and(|version| version.as_str() >= "2026-07-28")
}

impl Peer {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn tool(&self, name: &str, call: &Call<'_>) -> Result<Value, Stop> {
        let image = json!({"type": "image", "data": PNG, "mimeType": "image/png"});
        let content = match name {
            "test_simple_text" => json!([text("This is a simple text response for testing.")]),
            "echo" => json!([text(call.string("text")?)]),
            "add" => {
                let sum = json!({"sum": call.integer("a")? + call.integer("b")?});
                return Ok(json!({"content": [text(sum.to_string())], "structuredContent": sum}));
            }
            "fail" => {
                let message = call.string("message");
                return Err(Stop::Failed(
                    message.unwrap_or_else(|_| "this tool always fails".to_owned()),
                ));
            }
            "slow" => json!([text(self.slow(call).await?)]),
            "test_image_content" => json!([image]),
            "test_audio_content" => {
                json!([{"type": "audio", "data": WAV, "mimeType": "audio/wav"}])
            }
            "test_embedded_resource" => json!([embedded(
                "test://embedded-resource",
                "text/plain",
                "This is an embedded resource content."
            )]),
            "test_multiple_content_types" => json!([
                text("Multiple content types test:"),
                image,
                embedded(
                    "test://mixed-content-resource",
                    "application/json",
                    r#"{"test":"data","value":123}"#
                ),
            ]),
            "test_resource_link" => json!([{
                "type": "resource_link", "uri": "test://static-text", "name": "static-text", "mimeType": "text/plain",
            }]),
            "test_tool_with_logging" => json!([text(self.log(call).await?)]),
            "test_elicitation"
            | "test_elicitation_url"
            | "test_sampling"
            | "test_sampling_with_tools"
            | "test_list_roots"
            | "test_two_rounds"
            | "test_three_questions"
            | "test_input_required_result_tampered_state" => {
                json!([text(asking(name, call).await?)])
            }
            "test_trigger_tool_change" => json!([text(self.toggle("tool", call).await?)]),
            "test_trigger_prompt_change" => json!([text(self.toggle("prompt", call).await?)]),
            "test_trigger_resource_change" => json!([text(self.toggle("resource", call).await?)]),
            "test_update_resource" => json!([text(self.update(call).await?)]),
            "test_dummy_tool" if self.state().tool => json!([text("here")]),
            _ => return Err(invalid(format!("Unknown tool: {name}")).into()),
        };
        Ok(json!({"content": content}))
    }

    async fn slow(&self, call: &Call<'_>) -> Result<String, Stop> {
        let steps = call.integer("steps").unwrap_or(5);
        let delay = u64::try_from(call.integer("delay_ms").unwrap_or(100)).unwrap_or(0);
        let token = call.context.meta.get_progress_token();
        for step in 1..=steps {
            if let Some(token) = &token {
                let note = json!({"progressToken": token, "progress": step, "total": steps});
                let sent = call.context.peer.notify_progress(typed(note)?).await;
                sent.map_err(internal)?;
            }
            tokio::select! {
                () = tokio::time::sleep(Duration::from_millis(delay)) => {}
                () = call.context.ct.cancelled() => return Err(Stop::Failed("cancelled".to_owned())),
            }
        }
        Ok(format!("done after {steps} steps"))
    }

    async fn log(&self, call: &Call<'_>) -> Result<&'static str, Stop> {
        // rmcp leaves the choice of what to send to the server.
        let wanted = if call.modern {
            call.context.meta.log_level()
        } else {
            self.state().level.or(Some(LoggingLevel::Debug))
        };
        let wanted =
            wanted.is_some_and(|level| matches!(level, LoggingLevel::Debug | LoggingLevel::Info));
        for line in [
            "Tool execution started",
            "Tool processing data",
            "Tool execution completed",
        ] {
            if wanted {
                let note = json!({
                    "method": "notifications/message",
                    "params": {"level": "info", "logger": "interop", "data": line},
                });
                let sent = call.context.peer.send_notification(typed(note)?).await;
                sent.map_err(internal)?;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Ok("logged")
    }

    /// Adds or removes something, and tells who wants to know.
    async fn toggle(&self, kind: &str, call: &Call<'_>) -> Result<String, Stop> {
        let peer = &call.context.peer;
        settle().await;
        let (there, listening) = {
            let mut state = self.state();
            let flag = match kind {
                "tool" => &mut state.tool,
                "prompt" => &mut state.prompt,
                _ => &mut state.resource,
            };
            *flag = !*flag;
            (*flag, state.listening.clone())
        };
        let told = match kind {
            _ if call.modern => Ok(()),
            "tool" => peer.notify_tool_list_changed().await,
            "prompt" => peer.notify_prompt_list_changed().await,
            _ => peer.notify_resource_list_changed().await,
        };
        told.map_err(internal)?;
        for sink in listening {
            // A sink whose filter does not have this refuses it; one that has ended, too.
            let _ = match kind {
                "tool" => sink.notify_tool_list_changed().await,
                "prompt" => sink.notify_prompt_list_changed().await,
                _ => sink.notify_resource_list_changed().await,
            };
        }
        Ok(if there { "added" } else { "removed" }.to_owned())
    }

    /// Changes the watched resource, and tells who wants to know.
    async fn update(&self, call: &Call<'_>) -> Result<String, Stop> {
        settle().await;
        let (said, subscribed, listening) = {
            let mut state = self.state();
            state.version += 1;
            let said = format!("version {}", state.version);
            let subscribed = state.subscribed.contains(WATCHED);
            (said, subscribed, state.listening.clone())
        };
        if subscribed {
            let note = typed(json!({"uri": WATCHED}))?;
            let sent = call.context.peer.notify_resource_updated(note).await;
            sent.map_err(internal)?;
        }
        for sink in listening {
            let _ = sink.notify_resource_updated(WATCHED.to_owned()).await;
        }
        Ok(said)
    }
}

/// rmcp acknowledges a subscription before it hands it to the server, so a client's next request can come too early.
async fn settle() {
    tokio::time::sleep(Duration::from_millis(10)).await;
}

/// The tools that ask the client something.
async fn asking(name: &str, call: &Call<'_>) -> Result<String, Stop> {
    let said = match name {
        "test_elicitation" => {
            let question = form(
                &call.string("message")?,
                &[("username", "string"), ("email", "string")],
            );
            let answer = &call.ask(&[("user", question)], None).await?[0];
            let action = answer["action"].as_str().unwrap_or_default();
            let content = &answer["content"];
            if content.is_null() {
                format!("User response: action={action}")
            } else {
                format!("User response: action={action}, content={content}")
            }
        }
        "test_elicitation_url" => {
            let mut question = json!({"method": "elicitation/create", "params": {
                "mode": "url", "message": "Please authorize", "url": "https://example.com/authorize?state=1",
            }});
            // Only 2025-11-25 has it; rmcp wants one always.
            question["params"]["elicitationId"] = json!("elicitation-1");
            let answer = &call.ask(&[("visit", question)], None).await?[0];
            if !call.modern && answer["action"] == "accept" {
                let note = json!({
                    "method": "notifications/elicitation/complete", "params": {"elicitationId": "elicitation-1"},
                });
                let sent = call.context.peer.send_notification(typed(note)?).await;
                sent.map_err(internal)?;
            }
            format!(
                "URL response: action={}",
                answer["action"].as_str().unwrap_or_default()
            )
        }
        "test_sampling" => {
            let question = sampling(&call.string("prompt")?, 100);
            let answer = &call.ask(&[("sample", question)], None).await?[0];
            format!("LLM response: {}", said(&answer["content"]))
        }
        "test_sampling_with_tools" => {
            let mut question = sampling("What is the weather in Paris?", 100);
            question["params"]["tools"] = json!([{
                "name": "get_weather", "description": "The weather of a city",
                "inputSchema": object(&[("city", "string")]),
            }]);
            question["params"]["toolChoice"] = json!({"mode": "required"});
            let answer = &call.ask(&[("sample", question)], None).await?[0];
            let wanted = answer["content"].get(0).unwrap_or(&answer["content"]);
            let name = wanted["name"].as_str().unwrap_or_default();
            format!("LLM wants: {name} {}", wanted["input"])
        }
        "test_list_roots" => {
            let question = json!({"method": "roots/list"});
            let answer = &call.ask(&[("roots", question)], None).await?[0];
            format!("Roots: {}", answer["roots"])
        }
        "test_two_rounds" => {
            let known = call
                .state
                .as_deref()
                .and_then(|state| state.strip_prefix("name: "));
            let name = if let Some(name) = known {
                name.to_owned()
            } else {
                let question = form("Round step1", &[("name", "string")]);
                let answer = &call.ask(&[("step1", question)], Some("round 1")).await?[0];
                answer["content"]["name"]
                    .as_str()
                    .unwrap_or_default()
                    .to_owned()
            };
            let question = form("Round step2", &[("color", "string")]);
            let state = format!("name: {name}");
            let answer = &call.ask(&[("step2", question)], Some(&state)).await?[0];
            let color = answer["content"]["color"].as_str().unwrap_or_default();
            format!("{name} likes {color}")
        }
        "test_three_questions" => {
            let questions = [
                ("user_name", form("Who?", &[("name", "string")])),
                ("greeting", sampling("Say hello", 50)),
                ("client_roots", json!({"method": "roots/list"})),
            ];
            let answers = call.ask(&questions, None).await?;
            let name = answers[0]["content"]["name"].as_str().unwrap_or_default();
            let roots = answers[2]["roots"].as_array().map_or(0, Vec::len);
            format!("{} {name}, {roots} roots", said(&answers[1]["content"]))
        }
        _ => {
            const STATE: &str = "the only state there is";
            let question = form("Go on?", &[("ok", "boolean")]);
            let answer = &call.ask(&[("confirm", question)], Some(STATE)).await?[0];
            if call.modern && call.state.as_deref() != Some(STATE) {
                return Err(invalid("requestState was tampered with").into());
            }
            format!("state-ok {}", answer["content"]["ok"])
        }
    };
    Ok(said)
}

/// The text of a sampled message, whose content is one block or several.
fn said(content: &Value) -> &str {
    let block = content.get(0).unwrap_or(content);
    block["text"].as_str().unwrap_or_default()
}

impl ServerHandler for Peer {
    fn get_info(&self) -> ServerConfig {
        let info = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {
                "logging": {},
                "completions": {},
                "tools": {"listChanged": true},
                "prompts": {"listChanged": true},
                "resources": {"listChanged": true, "subscribe": true},
            },
            "serverInfo": {"name": "interop-peer", "title": "Interop peer", "version": "1.0.0"},
            "instructions": "A peer for interoperability tests.",
        });
        typed(info).unwrap_or_default()
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: Context,
    ) -> Result<ListToolsResult, ErrorData> {
        let numbers: &[(&str, &str)] = &[("a", "integer"), ("b", "integer")];
        let tools: &[(&str, &[(&str, &str)])] = &[
            ("test_simple_text", &[]),
            ("echo", &[("text", "string")]),
            ("add", numbers),
            ("fail", &[]),
            ("slow", &[]),
            ("test_image_content", &[]),
            ("test_audio_content", &[]),
            ("test_embedded_resource", &[]),
            ("test_multiple_content_types", &[]),
            ("test_resource_link", &[]),
            ("test_tool_with_logging", &[]),
            ("test_elicitation", &[("message", "string")]),
            ("test_elicitation_url", &[]),
            ("test_sampling", &[("prompt", "string")]),
            ("test_sampling_with_tools", &[]),
            ("test_list_roots", &[]),
            ("test_two_rounds", &[]),
            ("test_three_questions", &[]),
            ("test_input_required_result_tampered_state", &[]),
            ("test_trigger_tool_change", &[]),
            ("test_trigger_prompt_change", &[]),
            ("test_trigger_resource_change", &[]),
            ("test_update_resource", &[]),
            ("test_dummy_tool", &[]),
        ];
        let there = self.state().tool;
        let mut listed = Vec::new();
        for (name, properties) in tools {
            if *name == "test_dummy_tool" && !there {
                continue;
            }
            let mut tool = json!({
                "name": name, "description": name.replace('_', " "), "inputSchema": object(properties),
            });
            if *name == "add" {
                tool["outputSchema"] = object(&[("sum", "integer")]);
            }
            listed.push(tool);
        }
        complete(json!({"tools": listed}))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: Context,
    ) -> Result<CallToolResponse, ErrorData> {
        let call = Call::new(
            &context,
            request.arguments,
            request.input_responses,
            request.request_state,
        );
        match self.tool(&request.name, &call).await {
            Ok(result) => Ok(complete::<CallToolResult>(result)?.into()),
            Err(Stop::Failed(why)) => {
                let result = json!({"content": [text(why)], "isError": true});
                Ok(complete::<CallToolResult>(result)?.into())
            }
            Err(Stop::Needs(input)) => Ok((*input).into()),
            Err(Stop::Wrong(error)) => Err(error),
        }
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: Context,
    ) -> Result<ListResourcesResult, ErrorData> {
        let mut resources = vec![
            json!({"uri": "test://static-text", "name": "static-text", "title": "Static text", "mimeType": "text/plain"}),
            json!({"uri": "test://static-binary", "name": "static-binary", "mimeType": "image/png"}),
            json!({"uri": WATCHED, "name": "watched", "mimeType": "text/plain"}),
        ];
        if self.state().resource {
            resources.push(json!({"uri": "test://dummy-resource", "name": "dummy"}));
        }
        complete(json!({"resources": resources}))
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: Context,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        complete(json!({"resourceTemplates": [
            {"uriTemplate": TEMPLATE, "name": "template", "mimeType": "application/json"},
        ]}))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: Context,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri.as_str();
        let id = uri
            .strip_prefix("test://template/")
            .and_then(|rest| rest.strip_suffix("/data"));
        let contents = match uri {
            "test://static-text" => json!({
                "uri": uri, "mimeType": "text/plain", "text": "This is the content of the static text resource.",
            }),
            "test://static-binary" => json!({"uri": uri, "mimeType": "image/png", "blob": PNG}),
            WATCHED => {
                let said = format!("version {}", self.state().version);
                json!({"uri": uri, "mimeType": "text/plain", "text": said})
            }
            _ => match id {
                Some(id) if id != "missing" => {
                    let data = json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
                    json!({"uri": uri, "mimeType": "application/json", "text": data.to_string()})
                }
                _ => {
                    return Err(ErrorData::resource_not_found(
                        "Resource not found",
                        Some(json!({"uri": uri})),
                    ));
                }
            },
        };
        Ok(complete::<ReadResourceResult>(json!({"contents": [contents]}))?.into())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        _context: Context,
    ) -> Result<(), ErrorData> {
        self.state().subscribed.insert(request.uri);
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _context: Context,
    ) -> Result<(), ErrorData> {
        self.state().subscribed.remove(&request.uri);
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let sink = context.sink().clone();
        let id = sink.id().clone();
        self.state().listening.push(sink);
        context.cancelled().await;
        self.state().listening.retain(|sink| *sink.id() != id);
        Ok(())
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: Context,
    ) -> Result<ListPromptsResult, ErrorData> {
        let mut prompts = vec![
            json!({"name": "test_simple_prompt"}),
            json!({"name": "test_prompt_with_arguments", "arguments": [
                {"name": "arg1", "required": true}, {"name": "arg2", "required": true},
            ]}),
            json!({"name": "test_prompt_with_embedded_resource", "arguments": [{"name": "resourceUri", "required": true}]}),
            json!({"name": "test_prompt_with_image"}),
            json!({"name": "test_prompt_that_asks"}),
        ];
        if self.state().prompt {
            prompts.push(json!({"name": "test_dummy_prompt"}));
        }
        complete(json!({"prompts": prompts}))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: Context,
    ) -> Result<GetPromptResponse, ErrorData> {
        let arguments = request.arguments.map(typed_map).transpose()?;
        let call = Call::new(
            &context,
            arguments,
            request.input_responses,
            request.request_state,
        );
        let wanted = |name: &str| {
            let value = call.string(name);
            value.map_err(|_| invalid(format!("{name} is missing")))
        };
        let content = match request.name.as_ref() {
            "test_simple_prompt" => vec![text("This is a simple prompt for testing.")],
            "test_prompt_with_arguments" => {
                let (arg1, arg2) = (wanted("arg1")?, wanted("arg2")?);
                vec![text(format!(
                    "Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"
                ))]
            }
            "test_prompt_with_embedded_resource" => vec![
                embedded(
                    &wanted("resourceUri")?,
                    "text/plain",
                    "Embedded resource content for testing.",
                ),
                text("Please process the embedded resource above."),
            ],
            "test_prompt_with_image" => vec![
                json!({"type": "image", "data": PNG, "mimeType": "image/png"}),
                text("Please analyze the image above."),
            ],
            "test_prompt_that_asks" => {
                let question = form("What context?", &[("context", "string")]);
                match call.ask(&[("user_context", question)], None).await {
                    Ok(answers) => {
                        let context = answers[0]["content"]["context"].as_str();
                        vec![text(format!(
                            "Use this context: {}",
                            context.unwrap_or_default()
                        ))]
                    }
                    Err(Stop::Needs(input)) => return Ok((*input).into()),
                    Err(Stop::Failed(why)) => return Err(internal(why)),
                    Err(Stop::Wrong(error)) => return Err(error),
                }
            }
            name => return Err(invalid(format!("Unknown prompt: {name}"))),
        };
        let messages: Vec<_> = content
            .into_iter()
            .map(|content| json!({"role": "user", "content": content}))
            .collect();
        Ok(complete::<GetPromptResult>(json!({"messages": messages}))?.into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _context: Context,
    ) -> Result<CompleteResult, ErrorData> {
        let request = serde_json::to_value(request).map_err(internal)?;
        let reference = &request["ref"];
        let subject = reference["name"].as_str().or(reference["uri"].as_str());
        let known: &[&str] = match (subject, request["argument"]["name"].as_str()) {
            (Some("test_prompt_with_arguments"), Some("arg1")) => {
                &["paris", "park", "party", "rome"]
            }
            (Some("test_prompt_with_arguments"), Some("arg2")) => &[],
            (Some(TEMPLATE), Some("id")) => &["123", "124", "200"],
            _ => return Err(invalid("nothing to complete")),
        };
        let start = request["argument"]["value"].as_str().unwrap_or_default();
        let values: Vec<_> = known
            .iter()
            .filter(|value| value.starts_with(start))
            .collect();
        complete(json!({"completion": {"values": values, "total": values.len(), "hasMore": false}}))
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        context: Context,
    ) -> Result<(), ErrorData> {
        if modern(&context) {
            return Err(ErrorData::new(
                ErrorCode::METHOD_NOT_FOUND,
                "Method not found",
                None,
            ));
        }
        self.state().level = Some(request.level);
        Ok(())
    }
}

fn typed_map<T: serde::Serialize>(map: T) -> Result<serde_json::Map<String, Value>, ErrorData> {
    typed(serde_json::to_value(map).map_err(internal)?)
}

fn main() -> Result<(), Box<dyn core::error::Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let port = std::env::args().nth(1);
    runtime.block_on(async {
        if let Some(port) = port {
            return serve_http(port.parse()?).await;
        }
        let running = Peer::default().serve(stdio()).await?;
        running.waiting().await?;
        Ok(())
    })
}

/// One peer for all requests and sessions, as on stdio it is one for all that is said.
async fn serve_http(port: u16) -> Result<(), Box<dyn core::error::Error>> {
    let peer = Arc::new(Peer::default());
    let service = StreamableHttpService::new(
        move || Ok(peer.clone()),
        LocalSessionManager::default().into(),
        StreamableHttpServerConfig::default(),
    );
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
    loop {
        let (socket, _) = listener.accept().await?;
        let service = TowerToHyperService::new(service.clone());
        let connection = http1::Builder::new().serve_connection(TokioIo::new(socket), service);
        tokio::spawn(async {
            // A client that leaves is none of its business.
            let _ = connection.await;
        });
    }
}
