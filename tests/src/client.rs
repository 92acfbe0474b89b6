//! A client's engine that does what a dialogue says, and the time that goes by meanwhile.

use core::time::Duration;

use mcp_core::engine::client::{
    CallError, CallKey, CallOptions, ClientConfig, ClientEngine, ConnectError, EraMode, Event,
    Incoming, NotificationKind, Outcome, ReplyToken, RequestKey, ServerNotification, ServerRequest,
    ServerRequestKind,
};
use mcp_core::json::{Json, RawJson, Sink};
use mcp_core::model::{
    ClientCapabilities, Era, Implementation, InputResponse, LoggingLevel, Progress, ProtocolVersion,
};
use mcp_core::rpc::ErrorObject;
use mcp_core::time::Instant;
use mcp_core::{ErrorCode, Limits, SendError};
use serde_json::Value;

use crate::dialogue::{Actor, Ran, json, members};
use crate::player::{decode, raw};
use crate::script::{Action, Verb};

/// A client that goes by the settings of a dialogue.
///
/// # Errors
///
/// The setting that is not known.
pub(crate) fn config(settings: &[(&str, &str)]) -> Result<ClientConfig, String> {
    let mut config = ClientConfig::new(Implementation::new("client", "2.0"));
    for &(name, value) in settings {
        let unknown = || format!("unknown setting {name} {value}");
        let version = || ProtocolVersion::parse(value).ok_or_else(unknown);
        let object = || Json::owned(value.to_owned()).map_err(|error| error.to_string());
        match name {
            "version" => {
                let version = version()?;
                config.mode = match version.era() {
                    Era::Legacy => EraMode::Legacy(version),
                    Era::Modern | _ => EraMode::Modern(version),
                };
            }
            "known" => config.known_version = Some(version()?),
            "discover" => config.discover = value != "no",
            "extensions" => config.extensions = Some(object()?),
            "experimental" => config.experimental = Some(object()?),
            "capabilities" => {
                let declared = ClientCapabilities::read(raw(value)?);
                config.capabilities = declared.ok_or_else(unknown)?;
            }
            _ => return Err(unknown()),
        }
    }
    Ok(config)
}

/// An engine, and what its driver remembers.
pub(crate) struct Client {
    engine: ClientEngine,
    now: Instant,
    /// Calls by the id they went with. Those that are over are kept, to see that nothing comes of them.
    calls: Vec<(String, RequestKey)>,
    /// The call of the last step: its id is in what was written.
    latest: Option<RequestKey>,
    /// The server's requests.
    asked: Vec<Asked>,
}

struct Asked {
    id: String,
    key: CallKey,
    token: Option<ReplyToken>,
    method: &'static str,
}

impl Actor for Client {
    fn run<S: Sink>(&mut self, action: &Action, out: &mut S) -> Result<Ran, String> {
        let ran = match action {
            Action::Send(message) => self.receive(message, out),
            Action::About(verb, id, value) => self.about(*verb, id, value, out),
            Action::Do(verb, value) => self.command(*verb, value, out),
        }?;
        let Ran::Told(told) = ran else {
            return Ok(ran);
        };
        let mut events = Vec::new();
        while let Some(event) = self.engine.poll_event() {
            events.push(self.event(&event)?);
        }
        Ok(Ran::Told(match events.is_empty() {
            true => told,
            false => events.join("; "),
        }))
    }

    fn wrote(&mut self, lines: &[&str]) -> Result<(), String> {
        if let Some(key) = self.latest.take() {
            let line = lines.last().ok_or("a call that was not written")?;
            let id = members(line)?["id"].get().to_owned();
            self.calls.push((id, key));
        }
        Ok(())
    }

    fn state(&self) -> (bool, usize) {
        (self.engine.server().is_some(), 0)
    }
}

impl Client {
    pub(crate) fn new(config: ClientConfig, limits: Limits) -> Self {
        Self {
            engine: ClientEngine::new(config, limits, 1),
            now: Instant::from_micros(1_000_000),
            calls: Vec::new(),
            latest: None,
            asked: Vec::new(),
        }
    }

    fn receive(&mut self, message: &str, out: &mut impl Sink) -> Result<Ran, String> {
        let before = *self.engine.counters();
        let incoming = self.engine.receive(self.now, message.as_bytes(), out);
        let ran = self.incoming(incoming, message, out)?;
        let counted = self.engine.counters();
        Ok(match ran {
            Ran::Told(_) if counted.dropped > before.dropped => Ran::told("dropped"),
            Ran::Told(told) if counted.mistyped > before.mistyped => {
                Ran::told(format!("mistyped {told}"))
            }
            ran => ran,
        })
    }

    fn incoming(
        &mut self,
        incoming: Incoming<'_>,
        message: &str,
        out: &mut impl Sink,
    ) -> Result<Ran, String> {
        Ok(Ran::Told(match incoming {
            Incoming::Handled => "handled".into(),
            Incoming::Connected => format!("connected {}", self.version()?),
            Incoming::ConnectFailed(error) => failed(&error)?,
            Incoming::Answer { key, outcome, .. } => self.answer(key, &outcome)?,
            Incoming::Progress { key, progress, .. } => {
                let mut told = format!("progress {} {}", self.id(key)?, progress.progress);
                if let Some(total) = progress.total {
                    told += &format!(" of {total}");
                }
                if let Some(message) = &progress.message {
                    told += &format!(" {message}");
                }
                told
            }
            Incoming::Request(request) => self.request(request, message)?,
            Incoming::Cancelled(key) => {
                let asked = self.asked.iter().rfind(|asked| asked.key == key);
                let asked = asked.ok_or("a request that never was is cancelled")?;
                format!("cancelled {}", asked.id)
            }
            Incoming::Notification(notification) => self.notification(&notification)?,
            Incoming::Batch(mut batch) => {
                let mut told = Vec::new();
                while let Some(incoming) = self.engine.next_in_batch(self.now, &mut batch, out) {
                    match self.incoming(incoming, message, out)? {
                        Ran::Told(one) => told.push(one),
                        Ran::Blocked => return Err("a batch that is blocked half way".into()),
                    }
                }
                format!("batch {}", told.join("; "))
            }
            Incoming::Late => "late".into(),
            Incoming::Complaint(error) => format!("complaint {}", error.code),
            Incoming::Rejected(_) => "rejected".into(),
            Incoming::Blocked => return Ok(Ran::Blocked),
            other => return Err(format!("unexpected {other:?}")),
        }))
    }

    fn version(&self) -> Result<&'static str, String> {
        let version = self.engine.version().ok_or("connected to nobody")?;
        Ok(version.as_str())
    }

    fn id(&self, key: RequestKey) -> Result<&str, String> {
        let call = self.calls.iter().rfind(|(_, other)| *other == key);
        Ok(&call.ok_or("about a call that never was")?.0)
    }

    fn answer(&self, key: RequestKey, outcome: &Outcome<'_>) -> Result<String, String> {
        let id = self.id(key)?;
        Ok(match outcome {
            Outcome::Complete(result) => format!("answer {id} {}", result.as_str()),
            Outcome::InputRequired(result) => format!("input {id} {}", result.as_str()),
            Outcome::Error(error) => format!("error {id} {}", error.code),
            Outcome::Invalid(_) => format!("invalid {id}"),
            Outcome::Ended => format!("ended {id}"),
            other => return Err(format!("unexpected {other:?}")),
        })
    }

    fn request(&mut self, request: ServerRequest<'_>, message: &str) -> Result<String, String> {
        let method = match request.kind {
            ServerRequestKind::ListRoots => "roots/list",
            ServerRequestKind::CreateMessage => "sampling/createMessage",
            ServerRequestKind::Elicit => "elicitation/create",
            other => return Err(format!("unexpected {other:?}")),
        };
        let params = request.params.map_or("-", RawJson::as_str);
        let told = format!("request {method} {} {params}", request.version.as_str());
        self.asked.push(Asked {
            id: members(message)?["id"].get().to_owned(),
            key: request.token.key(),
            token: Some(request.token),
            method,
        });
        Ok(told)
    }

    fn notification(&self, notification: &ServerNotification<'_>) -> Result<String, String> {
        let params = notification.params.map_or("-", RawJson::as_str);
        let mut told = match notification.kind {
            NotificationKind::ToolsChanged => "tools changed".to_owned(),
            NotificationKind::PromptsChanged => "prompts changed".to_owned(),
            NotificationKind::ResourcesChanged => "resources changed".to_owned(),
            NotificationKind::ResourceUpdated { uri, .. } => format!("updated {}", uri.decode()),
            NotificationKind::Message => format!("message {params}"),
            NotificationKind::Acknowledged => "acknowledged".to_owned(),
            NotificationKind::ElicitationComplete { id, .. } => {
                format!("elicitation complete {}", id.decode())
            }
            NotificationKind::Other { method, .. } => format!("other {}", method.decode()),
            other => return Err(format!("unexpected {other:?}")),
        };
        if let Some(key) = notification.subscription {
            told += &format!(" for {}", self.id(key)?);
        }
        Ok(told)
    }

    fn event(&self, event: &Event) -> Result<String, String> {
        Ok(match event {
            Event::Connected => format!("connected {}", self.version()?),
            Event::ConnectFailed(error) => failed(error)?,
            Event::TimedOut { key, total, .. } => {
                let total = if *total { " in all" } else { "" };
                format!("timed out {}{total}", self.id(*key)?)
            }
            Event::Closed(key) => format!("closed {}", self.id(*key)?),
            other => return Err(format!("unexpected {other:?}")),
        })
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
                let result = InputResponse::of(self.asked(id)?.method, raw(value)?);
                let result = result.map_err(|error| error.to_string())?;
                self.settle(id, |engine, token| engine.reply(token, &result, out))
            }
            Verb::Fail => {
                let value = json(value)?;
                let code = value["code"].as_i64().ok_or("no code")?;
                let message = value["message"].as_str().ok_or("no message")?;
                let error = ErrorObject::new(ErrorCode::new(code), message);
                self.settle(id, |engine, token| engine.fail(token, &error, out))
            }
            Verb::Progress => {
                let progress: Progress<'_> = decode(raw(value)?)?;
                let key = self.asked(id)?.key;
                Ok(crate::player::ran(self.engine.progress(key, &progress, out)).0)
            }
            Verb::Cancel => {
                let reason = (!value.is_empty()).then(|| json(value)).transpose()?;
                let reason = reason.as_ref().and_then(Value::as_str);
                let call = self.calls.iter().rfind(|(other, _)| other == id);
                let key = call.ok_or("no such call")?.1;
                Ok(crate::player::ran(self.engine.cancel(key, reason, out)).0)
            }
            other => Err(format!("{other:?} is not for a client")),
        }
    }

    /// The latest request with this id.
    fn asked(&mut self, id: &str) -> Result<&mut Asked, String> {
        let found = self.asked.iter_mut().rfind(|asked| asked.id == id);
        found.ok_or_else(|| format!("no request has the id {id}"))
    }

    fn settle(
        &mut self,
        id: &str,
        answer: impl FnOnce(&mut ClientEngine, ReplyToken) -> Result<(), SendError<ReplyToken>>,
    ) -> Result<Ran, String> {
        let token = self.asked(id)?.token.take();
        let token = token.ok_or("the request has been answered before")?;
        let (ran, token) = crate::player::ran(answer(&mut self.engine, token));
        self.asked(id)?.token = token;
        Ok(ran)
    }

    fn command<S: Sink>(&mut self, verb: Verb, value: &str, out: &mut S) -> Result<Ran, String> {
        Ok(match verb {
            Verb::Connect => match self.engine.connect(self.now, out) {
                Ok(()) => Ran::told("sent"),
                Err(_) => Ran::Blocked,
            },
            Verb::Call => return self.call(value, out),
            Verb::Roots => match self.engine.roots_changed(out) {
                Ok(true) => Ran::told("sent"),
                Ok(false) => Ran::told("none"),
                Err(_) => Ran::Blocked,
            },
            Verb::Time => {
                let millis = value.parse().map_err(|_| "no milliseconds")?;
                let now = self.now + Duration::from_millis(millis);
                if self.engine.poll_timeout().is_some_and(|at| at <= now)
                    && self.engine.handle_timeout(now, out).is_err()
                {
                    return Ok(Ran::Blocked);
                }
                self.now = now;
                Ran::told("sent")
            }
            Verb::Lost => {
                self.engine.lost();
                Ran::told("sent")
            }
            other => return Err(format!("{other:?} is not for a client")),
        })
    }

    fn call<S: Sink>(&mut self, value: &str, out: &mut S) -> Result<Ran, String> {
        let (method, rest) = value.split_once(' ').unwrap_or((value, "{}"));
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        let _ = values.next();
        let (params, rest) = rest.split_at(values.byte_offset());
        let given = if rest.trim().is_empty() { "{}" } else { rest };
        let given = members(given)?;
        let mut options = CallOptions::default();
        for (name, value) in &given {
            let text = value.get();
            match &**name {
                "timeout" => options.timeout = Some(millis(text)?),
                "total" => options.max_total = Some(millis(text)?),
                "progress" => options.progress = text == "true",
                "level" => {
                    let level = json(text)?;
                    options.log_level = level.as_str().and_then(LoggingLevel::parse);
                }
                "meta" => options.meta = Some(raw(text)?),
                "responses" => options.input_responses = Some(raw(text)?),
                "state" => options.request_state = Some(raw(text)?),
                _ => return Err(format!("unknown option {name}")),
            }
        }
        let params = raw(params.trim())?;
        Ok(
            match self.engine.call(self.now, method, &params, &options, out) {
                Ok(key) => {
                    self.latest = Some(key);
                    Ran::told("sent")
                }
                Err(CallError::Full) => Ran::Blocked,
                Err(CallError::NotConnected) => Ran::told("not connected"),
                Err(CallError::Closed) => Ran::told("closed"),
                Err(CallError::NotInVersion(version)) => {
                    Ran::told(format!("not in {}", version.as_str()))
                }
                Err(CallError::NotOffered(what)) => Ran::told(format!("not offered {what}")),
                Err(CallError::Params) => Ran::told("no object"),
                Err(CallError::Busy { limit, .. }) => Ran::told(format!("busy {limit}")),
                Err(other) => return Err(format!("unexpected {other:?}")),
            },
        )
    }
}

fn millis(text: &str) -> Result<Duration, String> {
    let millis = text.parse().map_err(|_| format!("{text} milliseconds"))?;
    Ok(Duration::from_millis(millis))
}

fn failed(error: &ConnectError) -> Result<String, String> {
    Ok(match error {
        ConnectError::NoCommonVersion { theirs, .. } => {
            format!("connect failed: they speak {}", theirs.join(" "))
        }
        ConnectError::Refused { method, code, .. } => {
            format!("connect failed: {method} refused {code}")
        }
        ConnectError::Malformed { method, .. } => format!("connect failed: {method} malformed"),
        ConnectError::TimedOut { method, .. } => format!("connect failed: {method} timed out"),
        ConnectError::Closed { method, .. } => format!("connect failed: {method} closed"),
        other => return Err(format!("unexpected {other:?}")),
    })
}
