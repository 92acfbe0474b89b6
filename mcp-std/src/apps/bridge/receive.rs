//! What an app says.

use mcp_core::model::{ContentBlock, LoggingLevel};
use serde_json::{Map, Value, json};

use super::ask::{AppAsk, AppEvent, AppInfo, AppRequest, BridgeFault, DisplayMode};
use super::link;
use super::send::TEARDOWN;
use super::{AppBridge, Pending, Phase, error, notification, result};
use crate::apps::PROTOCOL_VERSION;

/// As many bytes as the text of an id may have.
const LONGEST_ID: usize = 256;

const INVALID_REQUEST: i64 = -32600;
const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;
/// What the specification has for what is denied.
const DENIED: i64 = -32000;

/// Why a request is not served.
struct Refusal {
    fault: BridgeFault,
    code: i64,
    text: String,
}

impl Refusal {
    fn new(fault: BridgeFault, code: i64, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { fault, code, text }
    }

    fn invalid(method: &str, problem: impl Into<String>) -> Self {
        let (method, problem) = (cut(method), problem.into());
        let text = format!("Invalid params: {problem}");
        Self::new(
            BridgeFault::Invalid { method, problem },
            INVALID_PARAMS,
            text,
        )
    }

    fn unknown(method: &str) -> Self {
        let method = cut(method);
        Self::new(
            BridgeFault::UnknownMethod { method },
            METHOD_NOT_FOUND,
            "Method not found",
        )
    }

    fn out_of_order(method: &str, text: &str) -> Self {
        let method = cut(method);
        Self::new(BridgeFault::OutOfOrder { method }, INVALID_REQUEST, text)
    }
}

/// What a request comes to.
enum Served {
    Now(Value),
    Wants(AppAsk),
}

impl AppBridge {
    /// Takes one message of the app, or of its sandbox, as it was posted: JSON. At most one message is answered, but for those
    /// that waited for the app to be there.
    pub fn receive(&mut self, message: &[u8], out: &mut Vec<String>) -> Option<AppEvent> {
        if self.phase == Phase::Closed {
            return None;
        }
        if message.len() > self.options.limits.max_message {
            return Some(AppEvent::Fault(BridgeFault::TooLarge));
        }
        let malformed = |problem| Some(AppEvent::Fault(BridgeFault::Malformed(problem)));
        // Its depth is bounded by the parser.
        let Ok(Value::Object(mut message)) = serde_json::from_slice(message) else {
            return malformed("it is no JSON object");
        };
        if message.get("jsonrpc") != Some(&Value::from("2.0")) {
            return malformed("it does not say that it is of JSON-RPC 2.0");
        }
        let id = match message.remove("id") {
            None => None,
            Some(id) if is_id(&id) => Some(id),
            Some(_) => {
                return malformed("its id is no text of up to 256 bytes, nor a whole number");
            }
        };
        match (message.remove("method"), id) {
            (Some(Value::String(method)), Some(id)) => self.request(&method, id, message, out),
            (Some(Value::String(method)), None) => self.notified(&method, &message, out),
            (None, Some(id)) => Some(self.answered(&id, &message)),
            _ => malformed("it is no request, no notification and no answer"),
        }
    }

    fn request(
        &mut self,
        method: &str,
        id: Value,
        mut message: Map<String, Value>,
        out: &mut Vec<String>,
    ) -> Option<AppEvent> {
        let params = match message.remove("params") {
            None => Ok(Map::new()),
            Some(Value::Object(params)) => Ok(params),
            Some(_) => Err(Refusal::invalid(method, "they are no object")),
        };
        match params.and_then(|params| self.serve(method, &id, params)) {
            Ok(Served::Now(answer)) => {
                out.push(result(&id, answer));
                None
            }
            Ok(Served::Wants(ask)) => {
                let request = self.next;
                self.next += 1;
                let kind = ask.kind();
                self.pending.insert(request, Pending { id, kind });
                Some(AppEvent::Wants(AppRequest(request), ask))
            }
            Err(refusal) => {
                out.push(error(&id, refusal.code, &refusal.text));
                Some(AppEvent::Fault(refusal.fault))
            }
        }
    }

    fn serve(
        &mut self,
        method: &str,
        id: &Value,
        params: Map<String, Value>,
    ) -> Result<Served, Refusal> {
        let can = &self.options.capabilities;
        let offered = match method {
            "ping" => return Ok(Served::Now(json!({}))),
            "ui/initialize" => return self.initialize(params).map(Served::Now),
            "tools/call" => can.server_tools,
            "resources/read" => can.server_resources,
            "ui/open-link" => can.open_links,
            "ui/message" | "ui/update-model-context" | "ui/request-display-mode" => true,
            _ => false,
        };
        if !offered {
            return Err(Refusal::unknown(method));
        }
        if self.phase < Phase::Ready {
            let text = "The app has not said yet that it is initialized";
            return Err(Refusal::out_of_order(method, text));
        }
        if self.pending.values().any(|pending| pending.id == *id) {
            let text = "A request of this id waits for its answer";
            return Err(Refusal::out_of_order(method, text));
        }
        let ask = match method {
            "tools/call" => self.call_tool(method, params)?,
            "resources/read" => AppAsk::ReadResource {
                uri: text(method, &params, "uri")?,
            },
            "ui/open-link" => {
                let url = text(method, &params, "url")?;
                link::check(&url).map_err(|problem| {
                    let fault = BridgeFault::LinkRefused { problem };
                    Refusal::new(
                        fault,
                        DENIED,
                        format!("Policy violation: the link {problem}"),
                    )
                })?;
                AppAsk::OpenLink { url }
            }
            "ui/message" => said(method, params)?,
            "ui/update-model-context" => context(method, params)?,
            _ => {
                let mode = params.get("mode").and_then(DisplayMode::read);
                let problem = "`mode` is not `inline`, `fullscreen` or `pip`";
                let mode = mode.ok_or_else(|| Refusal::invalid(method, problem))?;
                if !self.is_available(mode) {
                    let now = self.display_mode().as_str();
                    return Ok(Served::Now(json!({ "mode": now })));
                }
                AppAsk::RequestDisplayMode { mode }
            }
        };
        if self.pending.len() >= self.options.limits.max_pending {
            let text = "Too many requests wait for their answers";
            return Err(Refusal::new(BridgeFault::TooManyPending, DENIED, text));
        }
        Ok(Served::Wants(ask))
    }

    fn initialize(&mut self, params: Map<String, Value>) -> Result<Value, Refusal> {
        const METHOD: &str = "ui/initialize";
        if self.phase != Phase::New {
            return Err(Refusal::out_of_order(
                METHOD,
                "The app is not at its beginning",
            ));
        }
        let protocol_version = text(METHOD, &params, "protocolVersion")?;
        let object = |name: &str| {
            let member = params.get(name).and_then(Value::as_object);
            member.ok_or_else(|| Refusal::invalid(METHOD, format!("`{name}` is no object")))
        };
        let (info, can) = (object("appInfo")?, object("appCapabilities")?);
        let modes = can.get("availableDisplayModes").and_then(Value::as_array);
        self.info = Some(AppInfo {
            name: text(METHOD, info, "name")?,
            version: text(METHOD, info, "version")?,
            protocol_version,
            display_modes: modes.map(|modes| {
                // Those that are known, each once.
                let all = [
                    DisplayMode::Inline,
                    DisplayMode::Fullscreen,
                    DisplayMode::Pip,
                ];
                let said = |mode: &DisplayMode| modes.iter().any(|it| it == mode.as_str());
                all.into_iter().filter(said).collect()
            }),
        });
        self.phase = Phase::Greeted;
        let options = &self.options;
        Ok(json!({
            "protocolVersion": PROTOCOL_VERSION,
            "hostCapabilities": options.capabilities.value(),
            "hostInfo": { "name": options.name, "version": options.version },
            "hostContext": options.context,
        }))
    }

    fn call_tool(&self, method: &str, mut params: Map<String, Value>) -> Result<AppAsk, Refusal> {
        let name = text(method, &params, "name")?;
        let arguments = match params.remove("arguments") {
            None => Map::new(),
            Some(Value::Object(arguments)) => arguments,
            Some(_) => return Err(Refusal::invalid(method, "`arguments` is no object")),
        };
        let refused = |text: &str| {
            let fault = BridgeFault::ToolRefused { tool: cut(&name) };
            Err(Refusal::new(fault, INVALID_PARAMS, text))
        };
        match self.tools.get(&name) {
            None => refused("Unknown tool"),
            Some(visibility) if !visibility.app => refused("The tool is not for apps"),
            Some(_) => Ok(AppAsk::CallTool { name, arguments }),
        }
    }

    /// Whether both sides know this way to be displayed.
    fn is_available(&self, mode: DisplayMode) -> bool {
        let ours = self.options.context.get("availableDisplayModes");
        let ours = ours.and_then(Value::as_array);
        ours.is_some_and(|ours| ours.iter().any(|it| it == mode.as_str())) && self.can_be(mode)
    }

    fn notified(
        &mut self,
        method: &str,
        message: &Map<String, Value>,
        out: &mut Vec<String>,
    ) -> Option<AppEvent> {
        let none = Map::new();
        let params = match message.get("params") {
            None => Ok(&none),
            Some(Value::Object(params)) => Ok(params),
            Some(_) => Err(Refusal::invalid(method, "the params are no object")),
        };
        let told = params.and_then(|params| self.tell(method, params, out));
        told.unwrap_or_else(|refusal| Some(AppEvent::Fault(refusal.fault)))
    }

    fn tell(
        &mut self,
        method: &str,
        params: &Map<String, Value>,
        out: &mut Vec<String>,
    ) -> Result<Option<AppEvent>, Refusal> {
        let early = || Refusal::out_of_order(method, "");
        match method {
            "ui/notifications/sandbox-proxy-ready" => {
                let page = self.page.take().filter(|_| self.phase == Phase::Sandbox);
                let page = page.ok_or_else(early)?;
                out.push(notification(
                    "ui/notifications/sandbox-resource-ready",
                    page.value(),
                ));
                self.phase = Phase::New;
                Ok(Some(AppEvent::SandboxReady))
            }
            "ui/notifications/initialized" => {
                let info = self.info.clone().filter(|_| self.phase == Phase::Greeted);
                let info = info.ok_or_else(early)?;
                self.phase = Phase::Ready;
                self.release(out);
                Ok(Some(AppEvent::Initialized(info)))
            }
            "ui/notifications/size-changed" => {
                self.phase
                    .ge(&Phase::Ready)
                    .then_some(())
                    .ok_or_else(early)?;
                self.resized(method, params)
            }
            "notifications/message" if self.options.capabilities.logging => {
                self.phase
                    .ge(&Phase::Ready)
                    .then_some(())
                    .ok_or_else(early)?;
                let level = params.get("level").and_then(Value::as_str);
                let level = LoggingLevel::ALL
                    .into_iter()
                    .find(|it| Some(it.as_str()) == level);
                Ok(Some(AppEvent::Log {
                    level: level.ok_or_else(|| Refusal::invalid(method, "`level` is none"))?,
                    logger: params
                        .get("logger")
                        .and_then(Value::as_str)
                        .map(str::to_owned),
                    data: params.get("data").cloned().unwrap_or_default(),
                }))
            }
            _ => Err(Refusal::unknown(method)),
        }
    }

    fn resized(
        &self,
        method: &str,
        params: &Map<String, Value>,
    ) -> Result<Option<AppEvent>, Refusal> {
        let container = self.options.context.get("containerDimensions");
        let dimension = |name: &str, most: &str| {
            let Some(told) = params.get(name) else {
                return Ok(None);
            };
            let told = told
                .as_f64()
                .filter(|pixels| pixels.is_finite() && *pixels >= 0.0);
            let problem = || Refusal::invalid(method, format!("`{name}` is no number of pixels"));
            let told = told.ok_or_else(problem)?;
            let fixed = container.and_then(|it| it.get(name));
            let most = container.and_then(|it| it.get(most)?.as_f64());
            Ok(match fixed {
                Some(_) => None,
                None => Some(most.map_or(told, |most| told.min(most))),
            })
        };
        let (width, height) = (
            dimension("width", "maxWidth")?,
            dimension("height", "maxHeight")?,
        );
        let any = width.is_some() || height.is_some();
        Ok(any.then_some(AppEvent::SizeChanged { width, height }))
    }

    fn answered(&mut self, id: &Value, message: &Map<String, Value>) -> AppEvent {
        if self.phase != Phase::Closing || *id != TEARDOWN {
            return AppEvent::Fault(BridgeFault::UnexpectedAnswer);
        }
        let end = match (message.get("result"), message.get("error")) {
            (Some(_), None) => Ok(()),
            (None, Some(error)) => {
                let said = error.get("message").and_then(Value::as_str);
                Err(said.unwrap_or_default().chars().take(1000).collect())
            }
            _ => {
                let problem = "an answer has a result or an error";
                return AppEvent::Fault(BridgeFault::Malformed(problem));
            }
        };
        self.close();
        AppEvent::TornDown(end)
    }
}

fn is_id(id: &Value) -> bool {
    match id {
        Value::String(text) => text.len() <= LONGEST_ID,
        Value::Number(number) => number.is_i64() || number.is_u64(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => false,
    }
}

fn text(method: &str, params: &Map<String, Value>, name: &str) -> Result<String, Refusal> {
    let text = params.get(name).and_then(Value::as_str);
    let text = text.ok_or_else(|| Refusal::invalid(method, format!("`{name}` is no text")))?;
    Ok(text.to_owned())
}

fn said(method: &str, mut params: Map<String, Value>) -> Result<AppAsk, Refusal> {
    if params.get("role") != Some(&Value::from("user")) {
        return Err(Refusal::invalid(method, "`role` is not `user`"));
    }
    // The text of the specification has one block, and the types that come with it a list.
    let content = match params.remove("content") {
        Some(Value::Array(blocks)) => blocks,
        Some(block @ Value::Object(_)) => vec![block],
        _ => Vec::new(),
    };
    if content.is_empty() {
        return Err(Refusal::invalid(
            method,
            "`content` is nothing that can be said",
        ));
    }
    Ok(AppAsk::Message {
        content: blocks(method, content)?,
    })
}

fn context(method: &str, mut params: Map<String, Value>) -> Result<AppAsk, Refusal> {
    let content = match params.remove("content") {
        None => Vec::new(),
        Some(Value::Array(content)) => blocks(method, content)?,
        Some(_) => return Err(Refusal::invalid(method, "`content` is no list")),
    };
    let structured_content = match params.remove("structuredContent") {
        None => None,
        Some(Value::Object(members)) => Some(members),
        Some(_) => return Err(Refusal::invalid(method, "`structuredContent` is no object")),
    };
    Ok(AppAsk::UpdateModelContext {
        content,
        structured_content,
    })
}

fn blocks(method: &str, content: Vec<Value>) -> Result<Vec<ContentBlock<'static>>, Refusal> {
    let blocks = content.into_iter().map(|block| {
        let block: Result<ContentBlock<'static>, _> = serde_json::from_value(block);
        block.map_err(|error| Refusal::invalid(method, format!("`content`: {error}")))
    });
    blocks.collect()
}

/// What an app has sent, as far as a message has room for it.
fn cut(text: &str) -> String {
    text.chars().take(128).collect()
}
