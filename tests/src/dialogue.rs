//! Conversations written down, and engines held to them.

use alloc::collections::BTreeMap;
use std::fs;
use std::path::Path;

use mcp_core::Limits;
use mcp_core::engine::server::ServerEngine;
use mcp_core::frame::Lines;
use mcp_core::json::Sink;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::client::{self, Client};
use crate::player::Player;
use crate::record::{Record, Recorder};
use crate::script::{Action, Role, Script, Step, Verb, parse};
use crate::{Bounded, server};

/// A conversation from a file of `vectors/dialogues`. An arrow points from client to server, or back.
///
/// ```text
/// # A comment. Empty lines mean nothing.
/// @ each VERSION = 2025-06-18 2025-11-25    the whole file, once for each; $VERSION stands for the value
/// @ let META = "_meta":{}                   $META stands for the rest of the line
/// @ let META 2025-06-18 = …                 in the runs for these values
/// @ in 2025-06-18                           what follows is for these values; `@ in`: for all
/// ```
///
/// With a server, what the client sends is in `>` lines:
///
/// ```text
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
/// With a client, in the folder `client`, what the server sends is in `<` lines:
///
/// ```text
/// @ version 2025-11-25                      the client speaks this version, and does not find out
/// @ known 2025-11-25                        it was the server's version before
/// @ discover no                             it asks nothing before it is connected
/// @ capabilities {"roots":{}}               what it declares; also extensions, experimental
///
/// ! connect
/// > {"jsonrpc":"2.0","id":0,"method":"initialize","params":{…}}
/// < {"jsonrpc":"2.0","id":0,"result":{…}}
/// > {"jsonrpc":"2.0","method":"notifications/initialized","params":{}}
/// = connected 2025-11-25                    or `connect failed: …`
/// ! call tools/list {} {"timeout":500}      method, params, options: timeout, total, progress, level, meta, responses, state
/// > {"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}
/// < {"jsonrpc":"2.0","id":1,"result":{}}
/// = answer 1 {}                             or `input 1 {…}`, `error 1 -32601`, `invalid 1`, `ended 1`, `late`
/// ! call nope                               `= not in 2025-11-25`, `= not offered tools`, `= not connected`, …
/// = progress 1 0.5 of 2 half                progress of the call with the id 1
/// = request roots/list 2025-11-25 {}        the server asks: method, version, params or -
/// ! reply 7 {"roots":[]}                    its request with the id 7 is answered; also fail, progress
/// = cancelled 7                             the server has taken it back
/// = tools changed                           other notifications: `prompts changed`, `resources changed`, `updated a://b`,
/// = message {"level":"info","data":1}       a log message, `acknowledged for 1`: of the subscription with the id 1,
/// = other notifications/x                   `elicitation complete e1`
/// = dropped                                 a notification that is about nothing; `= complaint -32700`: an error to no call
/// ! cancel 1 "why"                          the call with the id 1 is given up
/// ! roots                                   the roots are others; `= none`: nobody is told
/// ! time 500                                so many milliseconds go by
/// = timed out 1                             or `timed out 1 in all`; `; ` is between several events
/// ! lost                                    the connection ends
/// = closed 1
/// ```
///
/// What a line of the peer's says is sent as it stands. As many messages are written as there are lines of the engine's. What
/// such a line says is compared as a JSON value, but for `id` and `progressToken`, which have to be the same text, and for
/// an error's message and a result, where `"*"` stands for any. A message that is answered with an error has to be rejected,
/// one answered with a result has to be handled, and for one that is not answered an `=` line has to say which.
#[derive(Debug)]
pub struct Dialogue {
    role: Role,
    file: String,
    name: String,
    script: Script,
}

/// All dialogues with a server, in the order of their names.
///
/// # Panics
///
/// A file cannot be read.
#[must_use]
pub fn dialogues() -> Vec<Dialogue> {
    read_all(Role::Server, "vectors/dialogues")
}

/// All dialogues with a client, in the order of their names.
///
/// # Panics
///
/// A file cannot be read.
#[must_use]
pub fn client_dialogues() -> Vec<Dialogue> {
    read_all(Role::Client, "vectors/dialogues/client")
}

fn read_all(role: Role, folder: &str) -> Vec<Dialogue> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut files: Vec<_> = fs::read_dir(&folder)
        .expect("the folder of the dialogues is there")
        .map(|entry| entry.expect("the folder can be read").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "txt"))
        .collect();
    files.sort();
    files
        .iter()
        .flat_map(|path| {
            let name = path.file_name().unwrap_or_default().display().to_string();
            let text = fs::read_to_string(path).expect("the file can be read");
            Dialogue::read(role, &name, &text).unwrap_or_else(|error| panic!("{name}: {error}"))
        })
        .collect()
}

/// A word, and what it is set to.
type Setting<'s> = (&'s str, &'s str);

impl Dialogue {
    /// Reads the text of a file: one dialogue, or one for each value of its `@ each` line.
    ///
    /// # Errors
    ///
    /// The line that cannot be read.
    pub fn read(role: Role, name: &str, text: &str) -> Result<Vec<Self>, String> {
        let dialogues = parse(role, text)?.into_iter().map(|script| Self {
            role,
            file: name.trim_end_matches(".txt").to_owned(),
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

    /// The name of the file without its ending.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.file
    }

    /// What the peer sends.
    pub fn messages(&self) -> impl Iterator<Item = &str> {
        self.script
            .steps
            .iter()
            .filter_map(|step| match &step.action {
                Action::Send(message) => Some(message.as_str()),
                Action::About(..) | Action::Do(..) => None,
            })
    }

    /// A server's engine as the dialogue wants it.
    ///
    /// # Errors
    ///
    /// The setting that is not known.
    pub fn engine(&self) -> Result<ServerEngine, String> {
        let (limits, settings) = self.settings()?;
        let mut full = false;
        let mut catalog = server::catalog();
        let mut page_size = None;
        for (name, value) in settings {
            match (name, value) {
                ("catalog", "empty") => catalog = server::empty_catalog(),
                ("catalog", "full") => full = true,
                ("page_size", size) => page_size = size.parse().ok(),
                _ => return Err(format!("{}: unknown setting {name} {value}", self.name)),
            }
        }
        if full {
            catalog = server::full_catalog(page_size);
        }
        Ok(ServerEngine::new(catalog, limits, 1))
    }

    fn client(&self) -> Result<Client, String> {
        let (limits, settings) = self.settings()?;
        let config = client::config(&settings);
        let config = config.map_err(|error| format!("{}: {error}", self.name))?;
        Ok(Client::new(config, limits))
    }

    /// The limits, and the settings that are not about them.
    fn settings(&self) -> Result<(Limits, Vec<Setting<'_>>), String> {
        let mut limits = Limits::DEFAULT;
        let mut others = Vec::new();
        for setting in &self.script.settings {
            let unknown = || format!("{}: unknown setting {setting}", self.name);
            let (name, value) = setting.split_once(' ').ok_or_else(unknown)?;
            let limit = match name {
                "max_subscriptions" => &mut limits.max_subscriptions,
                "max_subscribed_uris" => &mut limits.max_subscribed_uris,
                "max_pending" => &mut limits.max_pending,
                "max_in_flight" => &mut limits.max_in_flight,
                "max_message" => &mut limits.max_message,
                _ => {
                    others.push((name, value));
                    continue;
                }
            };
            *limit = value.parse().map_err(|_| unknown())?;
        }
        Ok((limits, others))
    }

    /// Plays it twice: once with an output that takes everything, and then once more, with another engine, trying each
    /// step with too little room first, byte by byte, which has to change nothing.
    ///
    /// # Errors
    ///
    /// The first line that went differently.
    pub fn play(&self) -> Result<(), String> {
        self.record().map(drop)
    }

    /// Plays it, and says which messages it was about.
    ///
    /// # Errors
    ///
    /// The first line that went differently.
    pub fn record(&self) -> Result<Vec<Record>, String> {
        match self.role {
            Role::Server => self.go(|| self.engine().map(Player::new)),
            Role::Client => self.go(|| self.client()),
        }
    }

    fn go<A: Actor>(&self, actor: impl Fn() -> Result<A, String>) -> Result<Vec<Record>, String> {
        let (mut free, mut bounded) = (actor()?, actor()?);
        let mut recorder = Recorder::new(self.role);
        for step in &self.script.steps {
            let at = |what: String| format!("{} line {}: {what}", self.name, step.line);
            let mut out = Vec::new();
            let before = free.state();
            let ran = free.run(&step.action, &mut Lines::new(&mut out));
            let ran = ran.map_err(at)?;
            let written = step.check(&ran, &out).map_err(at)?;
            free.wrote(&written).map_err(at)?;
            recorder.step(&step.action, ran.as_str(), free.state() != before, &written);
            // What time brings about is done as far as there is room.
            let whole = matches!(step.action, Action::Do(Verb::Time, _)) && written.len() > 1;
            let least = if whole { out.len() } else { 0 };
            for room in least..=out.len() {
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
            bounded.wrote(&written).map_err(at)?;
        }
        Ok(recorder.records())
    }
}

/// An engine and its driver.
pub(crate) trait Actor {
    fn run<S: Sink>(&mut self, action: &Action, out: &mut S) -> Result<Ran, String>;

    /// Takes note of what the last step has written.
    fn wrote(&mut self, lines: &[&str]) -> Result<(), String>;

    /// What may change although nothing is told: whether the peer is ready, and to how much it is subscribed.
    fn state(&self) -> (bool, usize);
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

    fn as_str(&self) -> &str {
        match self {
            Self::Told(told) => told,
            Self::Blocked => "blocked",
        }
    }
}

impl Step {
    /// The lines that were written.
    fn check<'a>(&self, ran: &Ran, out: &'a [u8]) -> Result<Vec<&'a str>, String> {
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
        let told = ran.as_str();
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
        Ok(written)
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
    if theirs["result"] == "*" && ours.get("result").is_some() {
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
