//! Conversations written down, and engines held to them.

use alloc::collections::BTreeMap;
use std::fs;
use std::path::Path;

use mcp_core::Limits;
use mcp_core::engine::server::ServerEngine;
use mcp_core::frame::Lines;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::player::Player;
use crate::script::{Action, Script, Step, parse};
use crate::{Bounded, server};

/// A conversation from a file of `vectors/dialogues`.
///
/// ```text
/// # A comment. Empty lines mean nothing.
/// @ each VERSION = 2025-06-18 2025-11-25    the whole file, once for each; $VERSION stands for the value
/// @ let META = "_meta":{}                   $META stands for the rest of the line
/// @ catalog empty                           a server without tools; or `full`: one that offers everything
/// @ page_size 2                             its lists in pages
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
///
/// = read fixed 0 2025-06-18 a://b           other calls: a resource of the list, or `template 0`;
/// = prompt greet 2025-06-18 {"who":"x"}     a prompt;
/// = complete prompt 0 2025-06-18 who "x" -  a completion of what, of which argument, the value and the context
/// ! not_found 1 "a://b"                     other answers: there is no such resource,
/// ! missing 1 {"sampling":{}}               the client would have to declare this,
/// ! input 1 {"inputRequests":{…}}           the client is asked for input
/// ! log 1 {"level":"info","data":1}         a log message about the call with the id 1; or `log -`: about none
/// ! request 1 {"method":"roots/list"}       a request of the server's, for a call; or `request -`
/// ! ping                                    another one
/// = answer 0 {"roots":[]}                   the client has answered the one with the id 0; or `answer 0 error -1`
/// ! cancel 0 "why"                          the server no longer waits for it
/// = roots changed                           the client says that its roots are others
/// ! announce tools                          a list has changed; also prompts, resources, or a resource: a://b
/// ! next                                    what is due is sent; `= none`: nothing is
/// ! completed "e1"                          what a user was sent to a URL for is done
/// ! end                                     the server ends the subscriptions
/// ```
///
/// What follows `> ` is sent as it stands. As many messages are written as there are `<` lines. What a `<` line says is compared
/// as a JSON value, but for `id` and `progressToken`, which have to be the same text, and for `"*"`, which
/// stands for any result, or for any message of an error. A message that is answered with an error has to be rejected, one answered with a result has to
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
                Action::About(..) | Action::Do(..) => None,
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
        let mut page_size = None;
        for setting in &self.script.settings {
            let unknown = || format!("{}: unknown setting {setting}", self.name);
            let (name, value) = setting.split_once(' ').ok_or_else(unknown)?;
            match name {
                "catalog" if value == "empty" => catalog = server::empty_catalog(),
                "catalog" if value == "full" => catalog = server::full_catalog(page_size),
                "page_size" => page_size = Some(value.parse().map_err(|_| unknown())?),
                "max_subscriptions" => {
                    limits.max_subscriptions = value.parse().map_err(|_| unknown())?;
                }
                "max_subscribed_uris" => {
                    limits.max_subscribed_uris = value.parse().map_err(|_| unknown())?;
                }
                "max_pending" => limits.max_pending = value.parse().map_err(|_| unknown())?,
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
            let ran = free.run(&step.action, &mut Lines::new(&mut out));
            let ran = ran.map_err(at)?;
            step.check(&ran, &out).map_err(at)?;
            for room in 0..=out.len() {
                let mut bytes = Bounded::new(room);
                let again = bounded.run(&step.action, &mut Lines::new(&mut bytes));
                let again = again.map_err(at)?;
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
pub(crate) enum Ran {
    /// What the engine told its driver, in the words of a dialogue.
    Told(String),
    Blocked,
}

impl Ran {
    pub(crate) fn told(what: impl Into<String>) -> Self {
        Self::Told(what.into())
    }
}

impl Step {
    fn check(&self, ran: &Ran, out: &[u8]) -> Result<(), String> {
        let written = str::from_utf8(out).map_err(|error| error.to_string())?;
        let written: Vec<&str> = written.split_terminator('\n').collect();
        for (expected, actual) in self.output.iter().zip(&written) {
            compare(expected, actual)?;
        }
        if let Some(more) = written.get(self.output.len()) {
            return Err(format!("unexpected {more}"));
        }
        if let Some(less) = self.output.get(written.len()) {
            return Err(format!("not written: {less}"));
        }
        let told = match ran {
            Ran::Told(told) => told,
            Ran::Blocked => "blocked",
        };
        let implied = match (&self.action, self.output.first()) {
            (Action::Send(_), Some(output)) if members(output)?.contains_key("error") => "rejected",
            (Action::Send(_), Some(_)) => "handled",
            (Action::Send(_), None) => "an `=` line",
            (Action::About(..) | Action::Do(..), _) => "sent",
        };
        let expected = self.outcome.as_deref().unwrap_or(implied);
        if told != expected {
            return Err(format!("expected {expected}, but {told}"));
        }
        Ok(())
    }
}

pub(crate) fn json(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| format!("{error}: {text}"))
}

pub(crate) fn members(text: &str) -> Result<BTreeMap<String, Box<RawValue>>, String> {
    serde_json::from_str(text).map_err(|error| format!("{error}: {text}"))
}

/// Compares what was written with what the dialogue says.
fn compare(expected: &str, actual: &str) -> Result<(), String> {
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
        for token in ["progressToken", "requestId"] {
            if text(&theirs, token) != text(&ours, token) {
                return differs("another token");
            }
        }
    }
    let (mut theirs, ours) = (json(expected)?, json(actual)?);
    let message = ours["error"]["message"].as_str().unwrap_or_default();
    if theirs["error"]["message"] == "*" && !message.is_empty() {
        theirs["error"]["message"] = message.into();
    }
    if theirs["result"] == "*" && !ours["result"].is_null() {
        theirs["result"] = ours["result"].clone();
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
