//! Conversations written down, and engines held to them.

use alloc::collections::BTreeMap;
use std::fs;
use std::path::Path;

use mcp_core::engine::server::{CallKey, Incoming, ReplyToken, ServerEngine};
use mcp_core::json::{RawJson, Sink};
use mcp_core::model::{CallToolResult, ContentBlock, Progress};
use mcp_core::rpc::ErrorObject;
use mcp_core::{ErrorCode, Limits, SendError};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::script::{Action, Script, Step, parse};
use crate::{Bounded, server};

/// A conversation from a file of `vectors/dialogues`.
///
/// ```text
/// # A comment. Empty lines mean nothing.
/// @ each VERSION = 2025-06-18 2025-11-25    the whole file, once for each; $VERSION stands for the value
/// @ let META = "_meta":{}                   $META stands for the rest of the line
/// @ catalog empty                           a server without tools
/// @ max_in_flight 2                         a limit
///
/// > {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"x"}}}
/// = call echo 2025-06-18 {"text":"x"}       the engine hands a call over: tool, version, arguments or -
/// ! progress 1 {"progress":1}               the driver reports progress of the call with the id 1; also total, message
/// ! reply 1 {"content":[]}                  the driver answers it
/// < {"jsonrpc":"2.0","id":1,"result":{"content":[]}}
/// ! fail 1 {"code":1,"message":"m"}         the driver answers with an error
/// = stale                                   the engine says that the call is over
/// > {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}
/// = cancelled 7                             the engine says that the call with the id 7 is
/// ```
///
/// What follows `> ` is sent as it stands. Without a `<` line nothing may be written. What a `<` line says is compared
/// as a JSON value, but for `id` and `progressToken`, which have to be the same text, and for an error's message `"*"`,
/// which stands for any. A message that is answered with an error has to be rejected, one answered with a result has to
/// be handled, and for one that is not answered an `=` line has to say which.
#[derive(Debug)]
pub struct Dialogue {
    name: String,
    script: Script,
}

/// All dialogues, in the order of their names.
///
/// # Panics
///
/// A file cannot be read.
#[must_use]
pub fn dialogues() -> Vec<Dialogue> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors/dialogues");
    let mut files: Vec<_> = fs::read_dir(&folder)
        .expect("the folder of the dialogues is there")
        .map(|entry| entry.expect("the folder can be read").path())
        .collect();
    files.sort();
    files
        .iter()
        .flat_map(|path| {
            let name = path.file_name().unwrap_or_default().display().to_string();
            let text = fs::read_to_string(path).expect("the file can be read");
            Dialogue::read(&name, &text).unwrap_or_else(|error| panic!("{name}: {error}"))
        })
        .collect()
}

impl Dialogue {
    /// Reads the text of a file: one dialogue, or one for each value of its `@ each` line.
    ///
    /// # Errors
    ///
    /// The line that cannot be read.
    pub fn read(name: &str, text: &str) -> Result<Vec<Self>, String> {
        let dialogues = parse(text)?.into_iter().map(|script| Self {
            name: format!("{name} {}", script.value).trim_end().to_owned(),
            script,
        });
        Ok(dialogues.collect())
    }

    /// The name of the file, and the value it is run for.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the client sends.
    pub fn messages(&self) -> impl Iterator<Item = &str> {
        self.script
            .steps
            .iter()
            .filter_map(|step| match &step.action {
                Action::Send(message) => Some(message.as_str()),
                Action::Reply(..) | Action::Fail(..) | Action::Progress(..) => None,
            })
    }

    /// An engine as the dialogue wants it.
    ///
    /// # Errors
    ///
    /// The setting that is not known.
    pub fn engine(&self) -> Result<ServerEngine, String> {
        let mut limits = Limits::DEFAULT;
        let mut catalog = server::catalog();
        for setting in &self.script.settings {
            let unknown = || format!("{}: unknown setting {setting}", self.name);
            let (name, value) = setting.split_once(' ').ok_or_else(unknown)?;
            match name {
                "catalog" if value == "empty" => catalog = server::empty_catalog(),
                "max_in_flight" => limits.max_in_flight = value.parse().map_err(|_| unknown())?,
                "max_message" => limits.max_message = value.parse().map_err(|_| unknown())?,
                _ => return Err(unknown()),
            }
        }
        Ok(ServerEngine::new(catalog, limits, 1))
    }

    /// Plays it twice: once with an output that takes everything, and then once more, with another engine, trying each
    /// step with too little room first, byte by byte, which has to change nothing.
    ///
    /// # Errors
    ///
    /// The first line that went differently.
    pub fn play(&self) -> Result<(), String> {
        let mut free = Player::new(self.engine()?);
        let mut bounded = Player::new(self.engine()?);
        for step in &self.script.steps {
            let at = |what: String| format!("{} line {}: {what}", self.name, step.line);
            let mut out = Vec::new();
            let ran = free.run(&step.action, &mut out).map_err(at)?;
            step.check(&ran, &out).map_err(at)?;
            for room in 0..=out.len() {
                let mut bytes = Bounded::new(room);
                let again = bounded.run(&step.action, &mut bytes).map_err(at)?;
                let expected = if room < out.len() {
                    &Ran::Blocked
                } else {
                    &ran
                };
                let written = if room < out.len() { &[] } else { &*out };
                if again != *expected || bytes.as_bytes() != written {
                    return Err(at(format!("with room for {room} bytes: {again:?}")));
                }
            }
        }
        Ok(())
    }
}

/// What came of an action.
#[derive(Debug, PartialEq)]
enum Ran {
    Handled,
    Rejected,
    Call(String),
    Cancelled(String),
    Sent,
    Stale,
    Blocked,
}

impl Step {
    fn check(&self, ran: &Ran, out: &[u8]) -> Result<(), String> {
        match &self.output {
            Some(expected) => compare(expected, out)?,
            None if out.is_empty() => {}
            None => return Err(format!("unexpected {}", String::from_utf8_lossy(out))),
        }
        let told = match ran {
            Ran::Handled => "handled",
            Ran::Rejected => "rejected",
            Ran::Call(call) => call,
            Ran::Cancelled(id) => &format!("cancelled {id}"),
            Ran::Sent => "sent",
            Ran::Stale => "stale",
            Ran::Blocked => "blocked",
        };
        let implied = match (&self.action, &self.output) {
            (Action::Send(_), Some(output)) if members(output)?.contains_key("error") => "rejected",
            (Action::Send(_), Some(_)) => "handled",
            (Action::Send(_), None) => "an `=` line",
            (Action::Reply(..) | Action::Fail(..) | Action::Progress(..), _) => "sent",
        };
        let expected = self.outcome.as_deref().unwrap_or(implied);
        if told != expected {
            return Err(format!("expected {expected}, but {told}"));
        }
        Ok(())
    }
}

/// An engine, and what its driver remembers.
struct Player {
    engine: ServerEngine,
    /// The calls by the id they came with; those that are over are kept, to see that nothing comes of them.
    calls: Vec<(String, CallKey, Option<ReplyToken>)>,
}

impl Player {
    const fn new(engine: ServerEngine) -> Self {
        Self {
            engine,
            calls: Vec::new(),
        }
    }

    fn run(&mut self, action: &Action, out: &mut impl Sink) -> Result<Ran, String> {
        match action {
            Action::Send(message) => self.send(message, out),
            Action::Reply(id, result) => {
                let value = json(result)?;
                let structured = value.get("structuredContent").map(Value::to_string);
                let content = content(&value)?;
                let mut result = CallToolResult::new(&content).failed(value["isError"] == true);
                if let Some(structured) = &structured {
                    result = result.structured(raw(structured)?);
                }
                self.answer(id, |engine, token| engine.reply(token, &result, out))
            }
            Action::Fail(id, error) => {
                let value = json(error)?;
                let code = value["code"].as_i64().ok_or("no code")?;
                let data = value.get("data").map(Value::to_string);
                let message = value["message"].as_str().ok_or("no message")?;
                let mut error = ErrorObject::new(ErrorCode::new(code), message);
                if let Some(data) = &data {
                    error = error.with_data(raw(data)?);
                }
                self.answer(id, |engine, token| engine.fail(token, &error, out))
            }
            Action::Progress(id, progress) => {
                let value = json(progress)?;
                let number = |name: &str| value[name].as_f64();
                let mut progress = Progress::new(number("progress").ok_or("no progress")?);
                if let Some(total) = number("total") {
                    progress = progress.of(total);
                }
                if let Some(message) = value["message"].as_str() {
                    progress = progress.saying(message);
                }
                let (_, key, _) = self.call(id)?;
                let key = *key;
                Ok(ran(self.engine.progress(key, &progress, out)).0)
            }
        }
    }

    fn send(&mut self, message: &str, out: &mut impl Sink) -> Result<Ran, String> {
        Ok(match self.engine.receive(message.as_bytes(), out) {
            Incoming::Handled => Ran::Handled,
            Incoming::Rejected(_) => Ran::Rejected,
            Incoming::Blocked => Ran::Blocked,
            Incoming::Cancelled(key) => {
                let call = self.calls.iter().rfind(|(_, other, _)| *other == key);
                Ran::Cancelled(call.ok_or("a call that never was is cancelled")?.0.clone())
            }
            Incoming::Call(call) => {
                let id = members(message)?["id"].get().to_owned();
                self.calls.push((id, call.token.key(), Some(call.token)));
                let name = self.engine.catalog().tool_name(call.tool);
                let arguments = call.arguments.map_or("-", RawJson::as_str);
                Ran::Call(format!(
                    "call {} {} {arguments}",
                    name.unwrap_or_default(),
                    call.version.as_str()
                ))
            }
            other @ (Incoming::Batch(_) | _) => return Err(format!("unexpected {other:?}")),
        })
    }

    /// The latest call with this id.
    fn call(&mut self, id: &str) -> Result<&mut (String, CallKey, Option<ReplyToken>), String> {
        let found = self.calls.iter_mut().rfind(|(other, ..)| other == id);
        found.ok_or_else(|| format!("no call has the id {id}"))
    }

    fn answer(
        &mut self,
        id: &str,
        answer: impl FnOnce(&mut ServerEngine, ReplyToken) -> Result<(), SendError<ReplyToken>>,
    ) -> Result<Ran, String> {
        let token = self.call(id)?.2.take();
        let token = token.ok_or("the call has been answered before")?;
        let (ran, token) = ran(answer(&mut self.engine, token));
        self.call(id)?.2 = token;
        Ok(ran)
    }
}

fn ran<T>(sent: Result<(), SendError<T>>) -> (Ran, Option<T>) {
    match sent {
        Ok(()) => (Ran::Sent, None),
        Err(SendError::Full(token)) => (Ran::Blocked, Some(token)),
        Err(SendError::Stale | _) => (Ran::Stale, None),
    }
}

fn json(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| format!("{error}: {text}"))
}

fn raw(text: &str) -> Result<RawJson<'_>, String> {
    RawJson::parse(text.as_bytes()).map_err(|error| error.to_string())
}

fn content(result: &Value) -> Result<Vec<ContentBlock<'_>>, String> {
    let blocks = result["content"].as_array().ok_or("no content")?;
    blocks
        .iter()
        .map(|block| {
            let text = |name: &str| block[name].as_str().ok_or("not a string");
            Ok(match text("type")? {
                "text" => ContentBlock::text(text("text")?),
                "audio" => ContentBlock::audio(text("data")?, text("mimeType")?),
                other => return Err(format!("no block of type {other} yet")),
            })
        })
        .collect()
}

fn members(text: &str) -> Result<BTreeMap<String, Box<RawValue>>, String> {
    serde_json::from_str(text).map_err(|error| format!("{error}: {text}"))
}

/// Compares what was written with what the dialogue says.
fn compare(expected: &str, out: &[u8]) -> Result<(), String> {
    let actual = str::from_utf8(out).map_err(|error| error.to_string())?;
    let differs = |what: &str| {
        Err(format!(
            "{what}\n  expected {expected}\n  but got  {actual}"
        ))
    };
    if !is_compact(actual) {
        return differs("not compact");
    }
    let (theirs, ours) = (members(expected)?, members(actual)?);
    let text = |members: &BTreeMap<String, Box<RawValue>>, name: &str| {
        members.get(name).map(|value| value.get().to_owned())
    };
    if text(&theirs, "id") != text(&ours, "id") {
        return differs("another id");
    }
    if let (Some(theirs), Some(ours)) = (theirs.get("params"), ours.get("params")) {
        let (theirs, ours) = (members(theirs.get())?, members(ours.get())?);
        if text(&theirs, "progressToken") != text(&ours, "progressToken") {
            return differs("another progress token");
        }
    }
    let (mut theirs, ours) = (json(expected)?, json(actual)?);
    let message = ours["error"]["message"].as_str().unwrap_or_default();
    if theirs["error"]["message"] == "*" && !message.is_empty() {
        theirs["error"]["message"] = message.into();
    }
    if theirs != ours {
        return differs("another message");
    }
    Ok(())
}

/// Whether there is no whitespace outside strings (STD-02).
fn is_compact(text: &str) -> bool {
    let (mut inside, mut escaped) = (false, false);
    text.chars().all(|char| {
        let plain = inside || !char.is_whitespace();
        match char {
            _ if escaped => escaped = false,
            '\\' => escaped = inside,
            '"' => inside = !inside,
            _ => {}
        }
        plain && char != '\n' && char != '\r'
    })
}
