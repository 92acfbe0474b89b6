//! The client's side: sends, waits, and lets nothing pass that it did not ask for.

mod incoming;

use core::time::Duration;
use std::time::Instant;

use mcp_core::json::{RawJson, Writer};
use mcp_core::rpc::{RequestId, write_notification, write_request};

use super::check::{Frame, Want, find};
use super::page::Page;
use super::peer::Peer;
use super::tally::Tally;
use super::{PATIENCE, Stop, Wrong};
use crate::diagram::{Arrow, Side, Tone};
use crate::text::duration;
use incoming::Incoming;

/// What the params of a message are written with.
pub(super) type Json<'o> = Writer<'o, Vec<u8>>;

/// A conversation with a server, drawn as it goes.
pub(super) struct Exchange {
    peer: Peer,
    page: Page,
    start: Instant,
    last_id: u64,
    /// Written together by the next [`send`](Self::send).
    outgoing: Vec<Outgoing>,
    in_flight: Vec<Call>,
    /// The progress token of a call that was cancelled while reports about it may have been on their way.
    crossing: Option<&'static str>,
    tally: Tally,
}

struct Outgoing {
    label: String,
    /// The request's id; a notification has none.
    call: Option<u64>,
    frame: Vec<u8>,
}

struct Call {
    id: u64,
    /// The method, and what of.
    name: String,
    sent: Instant,
}

impl Exchange {
    /// `start` is when time began, just before the server was started.
    pub(super) fn new(peer: Peer, page: Page, start: Instant) -> Self {
        Self {
            peer,
            page,
            start,
            last_id: 0,
            outgoing: Vec::new(),
            in_flight: Vec::new(),
            crossing: None,
            tally: Tally::default(),
        }
    }

    pub(super) fn title(&mut self, server: &str) -> Result<(), Stop> {
        let server = format!("{server} (process {})", self.peer.id());
        Ok(self
            .page
            .draw(|diagram| diagram.title("mcp demo", &server))?)
    }

    pub(super) fn heading(&mut self, text: &str) -> Result<(), Stop> {
        Ok(self.page.draw(|diagram| diagram.heading(text))?)
    }

    pub(super) fn caption(&mut self, text: &str) -> Result<(), Stop> {
        Ok(self.page.draw(|diagram| diagram.caption(text))?)
    }

    /// Prepares a request, and returns its id. `object` says what of the method, for people.
    pub(super) fn prepare(
        &mut self,
        method: &str,
        object: &str,
        params: impl FnOnce(&mut Json<'_>),
    ) -> u64 {
        self.last_id += 1;
        let id = self.last_id;
        let name = [method, object].join(" ").trim_end().to_owned();
        let mut frame = Vec::new();
        let digits = id.to_string();
        let raw = RawJson::parse(digits.as_bytes())
            .ok()
            .and_then(RequestId::new);
        let raw = raw.expect("digits are an integer, and an integer is an id");
        write_request(&mut frame, raw, method, params).expect("a vector is never full");
        self.in_flight.push(Call {
            id,
            name: name.clone(),
            sent: self.start,
        });
        self.outgoing.push(Outgoing {
            label: format!("{name} #{id}"),
            call: Some(id),
            frame,
        });
        id
    }

    /// Writes what was prepared, in one go.
    pub(super) fn send(&mut self) -> Result<(), Stop> {
        let outgoing = core::mem::take(&mut self.outgoing);
        let mut bytes = Vec::new();
        for message in &outgoing {
            bytes.extend_from_slice(&message.frame);
            bytes.push(b'\n');
        }
        let now = Instant::now();
        for call in &mut self.in_flight {
            if outgoing.iter().any(|message| message.call == Some(call.id)) {
                call.sent = now;
            }
        }
        // A server that no longer reads may have said why, and has ended or will be found silent.
        let _ = self.peer.send(&bytes);
        self.tally.bytes += bytes.len();
        self.tally.sent += outgoing.len();
        for message in &outgoing {
            let frame = RawJson::parse(&message.frame).expect("it was just written as JSON");
            let arrow = Arrow {
                at: now - self.start,
                from: Side::Client,
                tone: message.call.map_or(Tone::Notification, |_| Tone::Request),
                label: &message.label,
                trip: None,
                body: find(&message.frame, "params"),
            };
            self.page.frame(frame, &arrow)?;
        }
        Ok(())
    }

    /// Sends a request and waits for its answer.
    pub(super) fn ask(
        &mut self,
        method: &str,
        object: &str,
        params: impl FnOnce(&mut Json<'_>),
    ) -> Result<Frame, Stop> {
        let id = self.prepare(method, object, params);
        self.send()?;
        self.answer(id)
    }

    /// Sends a notification.
    pub(super) fn notify(
        &mut self,
        method: &str,
        params: impl FnOnce(&mut Json<'_>),
    ) -> Result<(), Stop> {
        let mut frame = Vec::new();
        write_notification(&mut frame, method, params).expect("a vector is never full");
        self.outgoing.push(Outgoing {
            label: method.to_owned(),
            call: None,
            frame,
        });
        self.send()
    }

    /// Cancels a call: from the next answer on nothing about it may come.
    pub(super) fn cancel(&mut self, id: u64, token: &'static str) -> Result<(), Stop> {
        self.in_flight.retain(|call| call.id != id);
        self.crossing = Some(token);
        self.notify("notifications/cancelled", |json| {
            json.begin_object();
            json.key("requestId");
            json.unsigned(id);
            json.key("reason");
            json.string("the demo has seen enough");
            json.end_object();
        })
    }

    /// Waits for the answer to one request.
    pub(super) fn answer(&mut self, id: u64) -> Result<Frame, Stop> {
        let mut answers = self.answers(&[id])?;
        Ok(answers.swap_remove(0))
    }

    /// Waits for the answers to these requests, in any order; returns them in the order of `ids`.
    pub(super) fn answers(&mut self, ids: &[u64]) -> Result<Vec<Frame>, Stop> {
        let until = Instant::now() + PATIENCE;
        let mut answers: Vec<(u64, Frame)> = Vec::new();
        let is_missing = |answers: &[(u64, Frame)], id| answers.iter().all(|(got, _)| *got != id);
        while let Some(&missing) = ids.iter().find(|&&id| is_missing(&answers, id)) {
            let awaited = format!("an answer to {}", self.name(missing));
            match (self.receive(until, &awaited)?, self.crossing) {
                (Incoming::Answer(id, frame), _) if ids.contains(&id) => answers.push((id, frame)),
                (Incoming::Progress(frame), Some(token)) => {
                    self.check(&frame, "params.progressToken", Want::Text(token))?;
                }
                (other, _) => return Err(self.unexpected(other, &awaited)),
            }
        }
        // The server takes messages in order: an answer to a request after the cancellation shows that it has read it.
        self.crossing = None;
        answers.sort_by_key(|(id, _)| ids.iter().position(|asked| asked == id));
        Ok(answers.into_iter().map(|(_, frame)| frame).collect())
    }

    /// Waits for a report of progress.
    pub(super) fn progress(&mut self, token: &str, progress: i64, total: i64) -> Result<(), Stop> {
        let awaited = format!("progress {progress} of {total} for {token:?}");
        match self.receive(Instant::now() + PATIENCE, &awaited)? {
            Incoming::Progress(frame) => {
                self.check(&frame, "params.progressToken", Want::Text(token))?;
                self.check(&frame, "params.progress", Want::Integer(progress))?;
                self.check(&frame, "params.total", Want::Integer(total))
            }
            other @ (Incoming::Answer(..) | Incoming::End) => Err(self.unexpected(other, &awaited)),
        }
    }

    /// Waits for nothing.
    pub(super) fn silence(&mut self, length: Duration) -> Result<(), Stop> {
        if let Some(incoming) = self.next(Instant::now() + length)? {
            let awaited = format!("{} of silence", duration(length));
            return Err(self.unexpected(incoming, &awaited));
        }
        self.tally.checks += 1;
        Ok(self.page.draw(|diagram| diagram.silence(length))?)
    }

    /// Checks one place of a frame, see [`Frame::check`].
    pub(super) fn check(&mut self, frame: &Frame, path: &str, want: Want<'_>) -> Result<(), Stop> {
        frame.check(path, &want)?;
        self.tally.checks += 1;
        Ok(())
    }

    /// Closes the server's standard input, and sees it end.
    pub(super) fn end(mut self) -> Result<(), Stop> {
        let awaited = "the end of the server's output";
        let closed = Instant::now();
        self.peer.close();
        self.plain(Side::Client, closed, None, "end of input")?;
        let until = closed + PATIENCE;
        match self.receive(until, awaited)? {
            Incoming::End => {}
            other @ (Incoming::Answer(..) | Incoming::Progress(_)) => {
                return Err(self.unexpected(other, awaited));
            }
        }
        let seen = match self.peer.exit(until) {
            Ok(Some(status)) if status.success() => None,
            Ok(Some(status)) => Some(status.to_string()),
            Ok(None) => Some("a process that still runs".to_owned()),
            Err(error) => Some(error.to_string()),
        };
        if let Some(seen) = seen {
            let expected = format!("exit status: 0 within {}", duration(PATIENCE));
            return Err(Wrong::new("end of the server", expected, seen).into());
        }
        self.tally.checks += 1;
        self.plain(Side::Server, Instant::now(), Some(closed), "exit status 0")?;
        let facts = self.tally.facts(self.start.elapsed());
        let verdict = self.tally.verdict();
        Ok(self
            .page
            .draw(|diagram| diagram.summary(&facts, &verdict))?)
    }

    /// Draws what is not a frame.
    fn plain(
        &mut self,
        from: Side,
        at: Instant,
        since: Option<Instant>,
        label: &str,
    ) -> Result<(), Stop> {
        let arrow = Arrow {
            at: at - self.start,
            from,
            tone: if since.is_some() {
                Tone::Result
            } else {
                Tone::Request
            },
            label,
            trip: since.map(|since| at - since),
            body: None,
        };
        Ok(self.page.draw(|diagram| diagram.arrow(&arrow))?)
    }

    fn name(&self, id: u64) -> String {
        let call = self.in_flight.iter().find(|call| call.id == id);
        call.map_or_else(|| format!("#{id}"), |call| format!("{} #{id}", call.name))
    }
}
