//! `--trace`: the messages of a connection, drawn as they go by.

use std::collections::HashMap;
use std::io;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use mcp_core::json::RawJson;
use mcp_std::client::Direction;

use crate::diagram::{Arrow, Diagram, Side, Tone};
use crate::screen::{self, colourful, width};

/// A diagram on standard error, and the questions in it that have no answer yet.
pub(crate) struct Trace {
    diagram: Diagram,
    start: Instant,
    /// By who asked and the id: when.
    asked: Mutex<HashMap<(bool, String), Instant>>,
}

/// More questions than this wait for an answer only if the server is up to something.
const MAX_ASKED: usize = 10_000;

impl Trace {
    /// Begins with a title.
    pub(crate) fn start(server: &str) -> Self {
        let stderr = io::stderr();
        let diagram = Diagram::new(width(&stderr), colourful(&stderr));
        screen::print(&diagram.title("mcp", server));
        Self {
            diagram,
            start: Instant::now(),
            asked: Mutex::default(),
        }
    }

    /// A line of the server's standard error.
    pub(crate) fn stderr(&self, line: &str) {
        screen::print(&self.diagram.log(line));
    }

    pub(crate) fn frame(&self, direction: Direction, bytes: &[u8]) {
        let from = match direction {
            Direction::Sent => Side::Client,
            Direction::Received | _ => Side::Server,
        };
        match RawJson::parse(bytes) {
            Ok(frame) => match frame.as_array() {
                Some(batch) => batch.for_each(|message| self.message(from, message)),
                None => self.message(from, frame),
            },
            Err(error) => {
                let label = format!("no message: {error}");
                self.draw(from, Tone::Error, &label, None, None);
                let text = String::from_utf8_lossy(bytes);
                screen::print(&self.diagram.log(&text));
            }
        }
    }

    fn message(&self, from: Side, message: RawJson<'_>) {
        let find = |name| message.member(name);
        let id = find("id").filter(|id| !id.is_null());
        let suffix = id
            .map(|id| format!(" #{}", id.as_str()))
            .unwrap_or_default();
        let key = |side| Some((side == Side::Client, id?.as_str().to_owned()));
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(method) = find("method").and_then(RawJson::as_string) {
            let params = find("params");
            let mut label = method.decode().into_owned();
            let object = params.and_then(|params| {
                let name = params.member("name").or_else(|| params.member("uri"));
                name?.as_string()
            });
            if let Some(object) = object {
                label = format!("{label} {}", object.decode());
            }
            let tone = if id.is_some() {
                Tone::Request
            } else {
                Tone::Notification
            };
            if let Some(key) = key(from).filter(|_| asked.len() < MAX_ASKED) {
                asked.insert(key, Instant::now());
            }
            drop(asked);
            self.draw(from, tone, &(label + &suffix), None, params);
            return;
        }
        let other = match from {
            Side::Client => Side::Server,
            Side::Server => Side::Client,
        };
        let since = key(other).and_then(|key| asked.remove(&key));
        drop(asked);
        let (tone, kind, body) = match find("error") {
            Some(error) => {
                let code = error.member("code").map_or("", RawJson::as_str);
                (Tone::Error, format!("error {code}"), Some(error))
            }
            None => {
                let result = find("result");
                let says = |name| result.and_then(|result| result.member(name));
                if says("isError").and_then(RawJson::as_bool) == Some(true) {
                    (Tone::Error, "result, isError".to_owned(), result)
                } else {
                    (Tone::Result, "result".to_owned(), result)
                }
            }
        };
        self.draw(from, tone, &(kind + &suffix), since, body);
    }

    fn draw(
        &self,
        from: Side,
        tone: Tone,
        label: &str,
        since: Option<Instant>,
        body: Option<RawJson<'_>>,
    ) {
        let arrow = Arrow {
            at: self.start.elapsed(),
            from,
            tone,
            label,
            trip: since.map(|since| since.elapsed()),
            body,
        };
        screen::print(&self.diagram.arrow(&arrow));
    }
}
