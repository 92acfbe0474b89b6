//! What goes over the wire in a run, told so that two runs tell the same.

use std::collections::HashMap;
use std::fmt::Write as _;

use mcp_std::client::Direction;
use serde_json::{Value, json};

use crate::Failure;

/// The frames of a run, by number.
pub(crate) const FRAMES: [&str; 12] = [
    "connect", "discover", "map", "think", "act", "backfill", "refresh", "map", "think", "act",
    "think", "close",
];
pub(crate) const CONNECT: usize = 0;
pub(crate) const DISCOVER: usize = 1;
const ACTS: [usize; 2] = [4, 9];
const REFRESH: usize = 6;
const CLOSE: usize = 11;

/// A message of the wire.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    pub(crate) server: String,
    pub(crate) direction: Direction,
    pub(crate) value: Value,
}

/// All that happened, as it came.
#[derive(Debug, Default)]
pub(crate) struct Log {
    pub(crate) messages: Vec<Message>,
    /// After so many messages the model had answered that often, and the servers were left.
    pub(crate) answers: Vec<usize>,
    pub(crate) left: Option<usize>,
}

/// The lines of each frame.
pub(crate) struct Story {
    frames: [Vec<String>; FRAMES.len()],
}

impl Story {
    /// Sorts messages into frames: an answer is in the frame of its request.
    pub(crate) fn new(log: &Log) -> Result<Self, Failure> {
        let mut story = Self {
            frames: core::array::from_fn(|_| Vec::new()),
        };
        let mut servers: Vec<&str> = log.messages.iter().map(|it| &*it.server).collect();
        servers.sort_unstable();
        servers.dedup();
        for server in servers {
            let mut asked: HashMap<String, usize> = HashMap::new();
            let mut sorted: [Vec<&Message>; FRAMES.len()] = core::array::from_fn(|_| Vec::new());
            for (at, message) in log.messages.iter().enumerate() {
                if message.server != server {
                    continue;
                }
                let id = message.value.get("id").map(Value::to_string);
                let frame = match (message.value.get("method").and_then(Value::as_str), &id) {
                    (Some(method), _) => frame(method, at, log),
                    (None, Some(id)) => *asked
                        .get(id)
                        .ok_or_else(|| format!("{server} answers to {id}, which nobody asked"))?,
                    (None, None) => return Err(format!("no message: {}", message.value).into()),
                };
                if let (Some(id), Some(_)) = (id, message.value.get("method")) {
                    asked.insert(id, frame);
                }
                // That the answer comes at the end is what the last frame is for.
                let is_late = log.left.is_some_and(|left| at >= left);
                sorted[if is_late { CLOSE } else { frame }].push(message);
            }
            let mut names = Names::default();
            for (number, messages) in sorted.iter_mut().enumerate() {
                if ACTS.contains(&number) {
                    // Calls run at the same time: in which order they go and come is theirs.
                    messages.sort_by_cached_key(|it| order(it, log));
                }
                for message in messages {
                    let is_sent = message.direction == Direction::Sent;
                    let arrow = if is_sent { "->" } else { "<-" };
                    let value = names.normal(&message.value);
                    story.frames[number].push(format!("{arrow} {server} {value}"));
                }
            }
        }
        Ok(story)
    }

    pub(crate) fn add(&mut self, frame: usize, what: &str, value: &Value) {
        let value = Names::default().normal(value);
        self.frames[frame].push(format!("{what} {value}"));
    }

    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        for (number, (name, lines)) in FRAMES.iter().zip(&self.frames).enumerate() {
            let _ = writeln!(text, "== {number} {name}");
            for line in lines {
                let _ = writeln!(text, "{line}");
            }
        }
        text
    }

    /// The first frame in which nothing happened.
    pub(crate) fn empty(&self) -> Option<&'static str> {
        let at = self.frames.iter().position(Vec::is_empty)?;
        Some(FRAMES[at])
    }
}

fn frame(method: &str, at: usize, log: &Log) -> usize {
    let thought = log.answers.iter().filter(|answer| **answer <= at).count();
    match method {
        "tools/call" => ACTS[usize::from(thought > 1)],
        "tools/list" if thought == 0 => DISCOVER,
        "tools/list" | "notifications/tools/list_changed" => REFRESH,
        _ => CONNECT,
    }
}

/// Requests first, by what they ask; then the answers, in the order of the requests.
fn order(message: &Message, log: &Log) -> (bool, String) {
    let asked = |request: &Value| {
        request["params"]["name"].to_string() + &request["params"]["arguments"].to_string()
    };
    if message.value.get("method").is_some() {
        return (
            message.direction == Direction::Received,
            asked(&message.value),
        );
    }
    let request = log.messages.iter().find(|it| {
        it.server == message.server
            && it.value.get("method").is_some()
            && it.value.get("id") == message.value.get("id")
    });
    let asked = request.map(|it| asked(&it.value)).unwrap_or_default();
    (true, asked)
}

/// What differs from run to run, by the order in which it is seen.
#[derive(Default)]
struct Names(Vec<String>);

impl Names {
    fn normal(&mut self, value: &Value) -> Value {
        match value {
            Value::Object(members) => {
                let members = members.iter().map(|(name, value)| {
                    let value = match name.as_str() {
                        "traceparent" => json!("(trace)"),
                        "id" | "requestId" | "progressToken"
                            if value.is_number() || self.is_id(value) =>
                        {
                            self.name(value)
                        }
                        "io.modelcontextprotocol/subscriptionId" => self.name(value),
                        _ => self.normal(value),
                    };
                    (name.clone(), value)
                });
                Value::Object(members.collect())
            }
            Value::Array(all) => all.iter().map(|value| self.normal(value)).collect(),
            Value::String(text) => json!(unfenced(text)),
            other @ (Value::Null | Value::Bool(_) | Value::Number(_)) => other.clone(),
        }
    }

    /// Ids of calls of the model are texts, and stay.
    fn is_id(&self, value: &Value) -> bool {
        self.0.contains(&id_of(value))
    }

    fn name(&mut self, value: &Value) -> Value {
        let id = id_of(value);
        let at = self.0.iter().position(|known| *known == id);
        let at = at.unwrap_or_else(|| {
            self.0.push(id);
            self.0.len() - 1
        });
        json!(format!("#{}", at + 1))
    }
}

/// Some say an id as a text that was a number.
fn id_of(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

/// The number of the marks around what a server says.
fn unfenced(text: &str) -> String {
    const MARK: &str = "id=\"";
    let mut rest = text;
    let mut plain = String::new();
    while let Some(at) = rest.find(MARK) {
        let (before, after) = rest.split_at(at + MARK.len());
        plain.push_str(before);
        let digits = after.bytes().take_while(u8::is_ascii_hexdigit).count();
        if before.contains("untrusted") && digits == 16 {
            plain.push_str("(number)");
            rest = &after[digits..];
        } else {
            rest = after;
        }
    }
    plain.push_str(rest);
    plain
}
