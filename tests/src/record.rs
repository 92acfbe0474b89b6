//! Which messages a dialogue was about, and what became of each.

use core::mem;

use mcp_core::model::{Era, ProtocolVersion};
use serde_json::Value;

use crate::script::{Action, Role, Verb};

/// One message that was played, or that an engine was told to send and did not.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub struct Record {
    /// The engine that was held to it.
    pub role: Role,
    /// The version it was sent under.
    pub version: ProtocolVersion,
    /// Who sent it, and how.
    pub direction: Direction,
    /// Its method, a known one or not.
    pub method: String,
    /// What became of it.
    pub outcome: Outcome,
}

/// Who sends a message, and how.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
#[expect(clippy::exhaustive_enums, reason = "the tests name them all")]
pub enum Direction {
    /// A client does.
    FromClient,
    /// A server does, as a message of its own.
    FromServer,
    /// A server does, in a result that says which input is required.
    InResult,
}

/// What became of a message.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
#[expect(clippy::exhaustive_enums, reason = "the tests name them all")]
pub enum Outcome {
    /// A request was answered with a result. A notification was written, or was taken: it had an effect, or was handed on.
    Done,
    /// It was answered with an error, or was not sent.
    Refused,
    /// It was taken, without an effect.
    Ignored,
}

/// Listens to a dialogue.
#[derive(Debug)]
pub(crate) struct Recorder {
    role: Role,
    /// The version that is spoken where a message does not say.
    version: Option<ProtocolVersion>,
    open: Vec<Open>,
    records: Vec<Record>,
}

/// A request that is not answered.
#[derive(Debug)]
struct Open {
    direction: Direction,
    id: String,
    method: String,
    version: Option<ProtocolVersion>,
}

const META: &str = "io.modelcontextprotocol/protocolVersion";
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

impl Recorder {
    pub(crate) const fn new(role: Role) -> Self {
        Self {
            role,
            version: None,
            open: Vec::new(),
            records: Vec::new(),
        }
    }

    pub(crate) fn records(self) -> Vec<Record> {
        self.records
    }

    /// Takes a step: what the engine told its driver, whether anything is otherwise with it now, and what it wrote.
    pub(crate) fn step(&mut self, action: &Action, told: &str, changed: bool, written: &[&str]) {
        let (ours, theirs) = match self.role {
            Role::Server => (Direction::FromServer, Direction::FromClient),
            Role::Client => (Direction::FromClient, Direction::FromServer),
        };
        match action {
            Action::Send(message) => self.message(theirs, message, Some((told, changed))),
            Action::About(verb, id, value) => self.command(*verb, Some(id), value, told),
            Action::Do(verb, value) => self.command(*verb, None, value, told),
        }
        if let Some(version) = told.strip_prefix("connected ") {
            self.version = ProtocolVersion::parse(version);
        }
        if let Action::Do(Verb::Completed, _) = action
            && written.is_empty()
        {
            let method = "notifications/elicitation/complete";
            self.record(self.version, ours, method, Outcome::Refused);
        }
        for line in written {
            self.message(ours, line, None);
        }
        // A request that is not even answered.
        if let Action::Send(message) = action
            && told == "rejected"
            && let Ok(message) = serde_json::from_str::<Value>(message)
            && let Some(open) = self.close(theirs, &message["id"])
        {
            self.record(open.version, theirs, &open.method, Outcome::Refused);
        }
    }

    /// A message of one side: `told` is what the engine made of it, if it is not the one that wrote it.
    fn message(&mut self, from: Direction, message: &str, told: Option<(&str, bool)>) {
        let Ok(message) = serde_json::from_str::<Value>(message) else {
            return;
        };
        let method = message["method"].as_str();
        match (method, message.get("id")) {
            (Some(method), Some(id)) => self.request(from, id, method, &message["params"]),
            (Some(method), None) => self.notification(from, method, &message["params"], told),
            (None, Some(_)) => self.response(from, &message, told.map(|(told, _)| told)),
            (None, None) => {}
        }
    }

    fn request(&mut self, direction: Direction, id: &Value, method: &str, params: &Value) {
        let named = params["_meta"][META].as_str();
        let version = match named {
            Some(named) => ProtocolVersion::parse(named),
            None if method == "initialize" => {
                let asked = params["protocolVersion"].as_str();
                asked.and_then(ProtocolVersion::parse)
            }
            // To a server it is then of a session, if there is one.
            None => self
                .version
                .filter(|version| self.role == Role::Client || version.era() == Era::Legacy),
        };
        self.open.push(Open {
            direction,
            id: id.to_string(),
            method: method.to_owned(),
            version,
        });
        // A modern server has no session: what names no version is of the one that was named before.
        if self.role == Role::Server && self.version.is_none() && method != "initialize" {
            self.version = version.filter(|version| version.era() == Era::Modern);
        }
    }

    fn notification(
        &mut self,
        from: Direction,
        method: &str,
        params: &Value,
        told: Option<(&str, bool)>,
    ) {
        let other = match from {
            Direction::FromClient => Direction::FromServer,
            Direction::FromServer | Direction::InResult => Direction::FromClient,
        };
        // What it is about says which version it belongs to.
        let about = match method {
            // A server takes back a request of its own, or ends a subscription of the client's.
            "notifications/cancelled" => {
                let id = &params["requestId"];
                self.find(from, id).or_else(|| self.find(other, id))
            }
            _ => None,
        };
        let about = about.and_then(|at| self.open[at].version);
        let subscription = params["_meta"].get(SUBSCRIPTION);
        let named = params["_meta"][META]
            .as_str()
            .and_then(ProtocolVersion::parse);
        let version = about.or(named).or(match subscription {
            Some(_) => Some(ProtocolVersion::V2026_07_28),
            None => self.version,
        });
        let outcome = match told {
            None => Outcome::Done,
            Some((told, _)) if told.starts_with("rejected") => Outcome::Refused,
            Some(("handled" | "dropped", false)) => Outcome::Ignored,
            Some(_) => Outcome::Done,
        };
        self.record(version, from, method, outcome);
    }

    fn response(&mut self, from: Direction, response: &Value, told: Option<&str>) {
        let asker = match from {
            Direction::FromClient => Direction::FromServer,
            Direction::FromServer | Direction::InResult => Direction::FromClient,
        };
        let Some(open) = self.close(asker, &response["id"]) else {
            return;
        };
        let result = response.get("result");
        let taken = told.is_none_or(|told| {
            let words = ["answer", "input", "ended", "connected", "batch", "mistyped"];
            words.iter().any(|word| told.starts_with(word))
        });
        let outcome = match result {
            Some(_) if taken => Outcome::Done,
            _ => Outcome::Refused,
        };
        let mut version = open.version;
        if open.method == "initialize"
            && outcome == Outcome::Done
            && let Some(agreed) = result.and_then(|result| result["protocolVersion"].as_str())
        {
            let agreed = ProtocolVersion::parse(agreed);
            let asked = mem::replace(&mut version, agreed);
            if asked != agreed {
                self.record(asked, asker, "initialize", Outcome::Refused);
            }
            self.version = agreed;
        }
        self.record(version, asker, &open.method, outcome);
        let asked = result.and_then(|result| result["inputRequests"].as_object());
        for method in asked.into_iter().flat_map(|asked| asked.values()) {
            let outcome = match told {
                Some(told) if !told.starts_with("input") => Outcome::Ignored,
                _ => Outcome::Done,
            };
            let method = method["method"].as_str().unwrap_or_default();
            self.record(version, Direction::InResult, method, outcome);
        }
    }

    /// What an engine was told to send and did not. What it did is in what was written.
    fn command(&mut self, verb: Verb, id: Option<&String>, value: &str, told: &str) {
        if told == "sent" {
            return;
        }
        let about = self.open.iter().rfind(|open| Some(&open.id) == id);
        let version = about.and_then(|open| open.version).or(self.version);
        let value_of = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_default();
        let server = Direction::FromServer;
        match verb {
            Verb::Request => {
                let method = value_of(value)["method"].clone();
                let method = method.as_str().unwrap_or_default();
                self.record(version, server, method, Outcome::Refused);
            }
            Verb::Ping => self.record(version, server, "ping", Outcome::Refused),
            Verb::Input => {
                for asked in value_of(value)["inputRequests"]
                    .as_object()
                    .into_iter()
                    .flatten()
                {
                    let method = asked.1["method"].as_str().unwrap_or_default();
                    self.record(version, Direction::InResult, method, Outcome::Refused);
                }
            }
            Verb::Call => {
                let method = value.split(' ').next().unwrap_or_default();
                self.record(version, Direction::FromClient, method, Outcome::Refused);
            }
            Verb::Roots => {
                let method = "notifications/roots/list_changed";
                self.record(version, Direction::FromClient, method, Outcome::Refused);
            }
            _ => {}
        }
    }

    /// The latest request of this side with this id, which is over now.
    fn close(&mut self, direction: Direction, id: &Value) -> Option<Open> {
        self.find(direction, id).map(|at| self.open.remove(at))
    }

    fn find(&self, direction: Direction, id: &Value) -> Option<usize> {
        let id = id.to_string();
        let mut open = self.open.iter();
        open.rposition(|open| open.direction == direction && open.id == id)
    }

    fn record(
        &mut self,
        version: Option<ProtocolVersion>,
        direction: Direction,
        method: &str,
        outcome: Outcome,
    ) {
        let Some(version) = version else {
            return;
        };
        self.records.push(Record {
            role: self.role,
            version,
            direction,
            method: method.to_owned(),
            outcome,
        });
    }
}
