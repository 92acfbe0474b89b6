//! An engine that does what a dialogue says.

use mcp_core::engine::server::{
    Answer, Call, CallKey, CallRequest, Change, CompletionTarget, Incoming, InputError, ReplyToken,
    RequestError, RequestKey, ResourceTarget, ServerEngine,
};
use mcp_core::json::{RawJson, Sink};
use mcp_core::model::{
    CallToolResult, ClientCapabilities, CompleteResult, Decode, GetPromptResult, InputRequest,
    InputRequiredResult, LoggingMessage, Progress, ReadResourceResult,
};
use mcp_core::rpc::{ErrorObject, Outcome};
use mcp_core::{ErrorCode, SendError};
use serde_json::Value;

use crate::dialogue::{Actor, Ran, json, members};
use crate::script::{Action, Verb};

/// An engine, and what its driver remembers.
pub(crate) struct Player {
    engine: ServerEngine,
    /// Those that are over are kept, to see that nothing comes of them.
    calls: Vec<Open>,
    /// Requests of the server's, by the id they went with.
    requests: Vec<(String, RequestKey)>,
}

struct Open {
    id: String,
    key: CallKey,
    token: Option<ReplyToken>,
    kind: Kind,
}

/// What a call is answered with.
#[derive(Clone, Copy)]
enum Kind {
    Tool,
    Resource,
    Prompt,
    Completion,
}

impl Actor for Player {
    fn run<S: Sink>(&mut self, action: &Action, out: &mut S) -> Result<Ran, String> {
        match action {
            Action::Send(message) => self.send(message, out),
            Action::About(verb, id, value) => self.about(*verb, id, value, out),
            Action::Do(verb, value) => self.command(*verb, value, out),
        }
    }

    fn wrote(&mut self, _: &[&str]) -> Result<(), String> {
        Ok(())
    }

    fn state(&self) -> (bool, usize) {
        (self.engine.is_ready(), self.engine.subscriptions())
    }
}

impl Player {
    pub(crate) const fn new(engine: ServerEngine) -> Self {
        Self {
            engine,
            calls: Vec::new(),
            requests: Vec::new(),
        }
    }

    fn send(&mut self, message: &str, out: &mut impl Sink) -> Result<Ran, String> {
        Ok(match self.engine.receive(message.as_bytes(), out) {
            Incoming::Handled => Ran::told("handled"),
            Incoming::Rejected(_) => Ran::told("rejected"),
            Incoming::Blocked => Ran::Blocked,
            Incoming::RootsChanged => Ran::told("roots changed"),
            Incoming::Cancelled(key) => {
                let call = self.calls.iter().rfind(|call| call.key == key);
                let id = &call.ok_or("a call that never was is cancelled")?.id;
                Ran::told(format!("cancelled {id}"))
            }
            Incoming::Answer(Answer { key, outcome, .. }) => {
                let request = self.requests.iter().rfind(|(_, other)| *other == key);
                let id = &request.ok_or("an answer to a request that never was")?.0;
                Ran::told(match outcome {
                    Outcome::Result(result) => format!("answer {id} {}", result.as_str()),
                    Outcome::Error { code, .. } => format!("answer {id} error {code}"),
                    other => return Err(format!("unexpected {other:?}")),
                })
            }
            Incoming::Call(call) => {
                let (told, kind) = self.describe(&call)?;
                self.calls.push(Open {
                    id: members(message)?["id"].get().to_owned(),
                    key: call.token.key(),
                    token: Some(call.token),
                    kind,
                });
                Ran::told(told)
            }
            other @ (Incoming::Batch(_) | _) => return Err(format!("unexpected {other:?}")),
        })
    }

    fn describe(&self, call: &Call<'_>) -> Result<(String, Kind), String> {
        let catalog = self.engine.catalog();
        let version = call.version.as_str();
        let text = |value: Option<RawJson<'_>>| value.map_or("-", RawJson::as_str).to_owned();
        let (mut told, kind) = match call.request {
            CallRequest::Tool {
                tool, arguments, ..
            } => {
                let name = catalog.tool_name(tool).unwrap_or_default();
                let arguments = text(arguments);
                (format!("call {name} {version} {arguments}"), Kind::Tool)
            }
            CallRequest::Resource { uri, target, .. } => {
                let target = match target {
                    ResourceTarget::Fixed(at) => format!("fixed {at}"),
                    ResourceTarget::Template(at) => format!("template {at}"),
                    other => return Err(format!("unexpected {other:?}")),
                };
                let uri = uri.decode();
                (format!("read {target} {version} {uri}"), Kind::Resource)
            }
            CallRequest::Prompt {
                prompt, arguments, ..
            } => {
                let name = catalog.prompt_name(prompt).unwrap_or_default();
                let arguments = text(arguments);
                (format!("prompt {name} {version} {arguments}"), Kind::Prompt)
            }
            CallRequest::Complete {
                reference,
                argument,
                value,
                context,
                ..
            } => {
                let reference = match reference {
                    CompletionTarget::Prompt(at) => format!("prompt {at}"),
                    CompletionTarget::Template(at) => format!("template {at}"),
                    CompletionTarget::Resource(at) => format!("resource {at}"),
                    other => return Err(format!("unexpected {other:?}")),
                };
                let (argument, value) = (argument.decode(), value.decode());
                let context = text(context);
                (
                    format!("complete {reference} {version} {argument} {value:?} {context}"),
                    Kind::Completion,
                )
            }
            other => return Err(format!("unexpected {other:?}")),
        };
        if let Some(responses) = call.input_responses {
            told += &format!(" responses {}", responses.as_str());
        }
        if let Some(state) = call.request_state {
            told += &format!(" state {}", state.decode());
        }
        Ok((told, kind))
    }

    fn about<S: Sink>(
        &mut self,
        verb: Verb,
        id: &str,
        value: &str,
        out: &mut S,
    ) -> Result<Ran, String> {
        match verb {
            Verb::Reply => {
                let value = raw(value)?;
                match self.call(id)?.kind {
                    Kind::Tool => {
                        let result: CallToolResult<'_> = decode(value)?;
                        self.answer(id, |engine, token| engine.reply(token, &result, out))
                    }
                    Kind::Resource => {
                        let result: ReadResourceResult<'_> = decode(value)?;
                        self.answer(id, |engine, token| engine.reply(token, &result, out))
                    }
                    Kind::Prompt => {
                        let result: GetPromptResult<'_> = decode(value)?;
                        self.answer(id, |engine, token| engine.reply(token, &result, out))
                    }
                    Kind::Completion => {
                        let result: CompleteResult<'_> = decode(value)?;
                        self.answer(id, |engine, token| engine.reply(token, &result, out))
                    }
                }
            }
            Verb::Fail => {
                let value = json(value)?;
                let code = value["code"].as_i64().ok_or("no code")?;
                let data = value.get("data").map(Value::to_string);
                let message = value["message"].as_str().ok_or("no message")?;
                let mut error = ErrorObject::new(ErrorCode::new(code), message);
                if let Some(data) = &data {
                    error = error.with_data(raw(data)?);
                }
                self.answer(id, |engine, token| engine.fail(token, &error, out))
            }
            Verb::NotFound => {
                let uri = json(value)?;
                let uri = uri.as_str().ok_or("no URI")?;
                self.answer(id, |engine, token| engine.not_found(token, uri, out))
            }
            Verb::Missing => {
                let missing = ClientCapabilities::read(raw(value)?).ok_or("no object")?;
                self.answer(id, |engine, token| {
                    engine.missing_capability(token, missing, out)
                })
            }
            Verb::Input => self.input(id, value, out),
            Verb::Progress => {
                let progress: Progress<'_> = decode(raw(value)?)?;
                let key = self.call(id)?.key;
                Ok(ran(self.engine.progress(key, &progress, out)).0)
            }
            Verb::Log => {
                let message: LoggingMessage<'_> = decode(raw(value)?)?;
                let key = self.call(id)?.key;
                Ok(ran(self.engine.log(Some(key), &message, out)).0)
            }
            Verb::Request => {
                let request: InputRequest<'_> = decode(raw(value)?)?;
                let key = self.call(id)?.key;
                self.request(|engine| engine.request(Some(key), &request, out))
            }
            Verb::Cancel => {
                let reason = (!value.is_empty()).then(|| json(value)).transpose()?;
                let reason = reason.as_ref().and_then(Value::as_str);
                let request = self.requests.iter().rfind(|(other, _)| other == id);
                let key = request.ok_or("no such request")?.1;
                Ok(ran(self.engine.cancel_request(key, reason, out)).0)
            }
            Verb::Ping
            | Verb::Announce
            | Verb::Next
            | Verb::Completed
            | Verb::End
            | Verb::Connect
            | Verb::Call
            | Verb::Roots
            | Verb::Time
            | Verb::Lost => Err(format!("{verb:?} is not for a server, or not about a call")),
        }
    }

    fn command<S: Sink>(&mut self, verb: Verb, value: &str, out: &mut S) -> Result<Ran, String> {
        let blocked = |sent: Result<(), mcp_core::json::Full>| match sent {
            Ok(()) => Ran::told("sent"),
            Err(_) => Ran::Blocked,
        };
        Ok(match verb {
            Verb::Log => {
                let message: LoggingMessage<'_> = decode(raw(value)?)?;
                ran(self.engine.log(None, &message, out)).0
            }
            Verb::Request => {
                let request: InputRequest<'_> = decode(raw(value)?)?;
                return self.request(|engine| engine.request(None, &request, out));
            }
            Verb::Ping => return self.request(|engine| engine.ping(out)),
            Verb::Announce => {
                self.engine.announce(match value {
                    "tools" => Change::ToolsList,
                    "prompts" => Change::PromptsList,
                    "resources" => Change::ResourcesList,
                    uri => Change::ResourceUpdated(uri),
                });
                Ran::told("sent")
            }
            Verb::Next => match self.engine.next_notification(out) {
                Ok(true) => Ran::told("sent"),
                Ok(false) => Ran::told("none"),
                Err(_) => Ran::Blocked,
            },
            Verb::Completed => {
                let id = json(value)?;
                let id = id.as_str().ok_or("no id")?;
                blocked(self.engine.elicitation_complete(id, out))
            }
            Verb::End => blocked(self.engine.end_subscriptions(out)),
            Verb::Reply
            | Verb::Fail
            | Verb::NotFound
            | Verb::Missing
            | Verb::Input
            | Verb::Progress
            | Verb::Cancel
            | Verb::Connect
            | Verb::Call
            | Verb::Roots
            | Verb::Time
            | Verb::Lost => return Err(format!("{verb:?} is not for a server, or about a call")),
        })
    }

    fn input<S: Sink>(&mut self, id: &str, value: &str, out: &mut S) -> Result<Ran, String> {
        let result: InputRequiredResult<'_> = decode(raw(value)?)?;
        let token = self.call(id)?.token.take();
        let token = token.ok_or("the call has been answered before")?;
        let (ran, token) = match self.engine.require_input(token, &result, out) {
            Ok(()) => (Ran::told("sent"), None),
            Err(InputError::Undeclared { missing, token, .. }) => {
                (Ran::told(format!("undeclared {missing}")), Some(token))
            }
            Err(InputError::Unsupported(token)) => (Ran::told("unsupported"), Some(token)),
            Err(InputError::Invalid(token)) => (Ran::told("invalid"), Some(token)),
            Err(InputError::Send(error)) => self::ran(Err(error)),
            Err(other) => return Err(format!("unexpected {other:?}")),
        };
        self.call(id)?.token = token;
        Ok(ran)
    }

    fn request(
        &mut self,
        request: impl FnOnce(&mut ServerEngine) -> Result<RequestKey, RequestError>,
    ) -> Result<Ran, String> {
        Ok(match request(&mut self.engine) {
            Ok(key) => {
                // Ids count from 0 on.
                self.requests.push((self.requests.len().to_string(), key));
                Ran::told("sent")
            }
            Err(RequestError::Full) => Ran::Blocked,
            Err(RequestError::NoSession) => Ran::told("no session"),
            Err(RequestError::NotReady) => Ran::told("not ready"),
            Err(RequestError::Version(version)) => {
                Ran::told(format!("not in {}", version.as_str()))
            }
            Err(RequestError::Undeclared(missing)) => Ran::told(format!("undeclared {missing}")),
            Err(RequestError::Stale) => Ran::told("stale"),
            Err(RequestError::Busy { limit, .. }) => Ran::told(format!("busy {limit}")),
            Err(other) => return Err(format!("unexpected {other:?}")),
        })
    }

    /// The latest call with this id.
    fn call(&mut self, id: &str) -> Result<&mut Open, String> {
        let found = self.calls.iter_mut().rfind(|call| call.id == id);
        found.ok_or_else(|| format!("no call has the id {id}"))
    }

    fn answer(
        &mut self,
        id: &str,
        answer: impl FnOnce(&mut ServerEngine, ReplyToken) -> Result<(), SendError<ReplyToken>>,
    ) -> Result<Ran, String> {
        let token = self.call(id)?.token.take();
        let token = token.ok_or("the call has been answered before")?;
        let (ran, token) = ran(answer(&mut self.engine, token));
        self.call(id)?.token = token;
        Ok(ran)
    }
}

pub(crate) fn ran<T>(sent: Result<(), SendError<T>>) -> (Ran, Option<T>) {
    match sent {
        Ok(()) => (Ran::told("sent"), None),
        Err(SendError::Full(token)) => (Ran::Blocked, Some(token)),
        Err(SendError::Stale | _) => (Ran::told("stale"), None),
    }
}

pub(crate) fn raw(text: &str) -> Result<RawJson<'_>, String> {
    RawJson::parse(text.as_bytes()).map_err(|error| error.to_string())
}

pub(crate) fn decode<'b, T: Decode<'b>>(value: RawJson<'b>) -> Result<T, String> {
    T::decode(value).map_err(|error| error.to_string())
}
