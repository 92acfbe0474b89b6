//! What comes from the server: told apart, matched with the requests in flight, and drawn.

use core::time::Duration;
use std::time::Instant;

use mcp_core::Limits;
use mcp_core::json::RawJson;
use mcp_core::rpc::{Envelope, Response};

use super::super::check::{Frame, find};
use super::super::peer::Event;
use super::super::{PATIENCE, Stop, Wrong};
use super::Exchange;
use crate::diagram::{Arrow, Side, Tone};
use crate::text::duration;

/// What counts.
pub(super) enum Incoming {
    /// The answer to the request of this id, which was in flight.
    Answer(u64, Frame),
    /// A notification of progress.
    Progress(Frame),
    /// The server's output has ended.
    End,
}

impl Exchange {
    /// The next thing that comes; it fails if nothing does.
    pub(super) fn receive(&mut self, until: Instant, awaited: &str) -> Result<Incoming, Stop> {
        self.next(until)?.ok_or_else(|| {
            let expected = format!("{awaited} within {}", duration(PATIENCE));
            Wrong::new("silence", expected, "nothing").into()
        })
    }

    /// The next thing that comes; `None` if nothing does until then.
    pub(super) fn next(&mut self, until: Instant) -> Result<Option<Incoming>, Stop> {
        while let Some(event) = self.peer.event(until) {
            let incoming = self.take(event)?;
            // Talk on standard error does not put the deadline off, however much there is.
            if incoming.is_some() || Instant::now() > until {
                return Ok(incoming);
            }
        }
        Ok(None)
    }

    /// What to say when something else was awaited.
    pub(super) fn unexpected(&mut self, incoming: Incoming, awaited: &str) -> Stop {
        let frame = match incoming {
            Incoming::Answer(_, frame) | Incoming::Progress(frame) => frame,
            Incoming::End => {
                let status = self.peer.exit(Instant::now() + Duration::from_millis(200));
                let seen = match status {
                    Ok(Some(status)) => format!("the end of its output, {status}"),
                    Ok(None) | Err(_) => "the end of its output".to_owned(),
                };
                return Wrong::new("end of the server", awaited, seen).into();
            }
        };
        Wrong::new("order of frames", awaited, frame.about)
            .in_frame(&frame.bytes)
            .into()
    }

    /// Draws an event, and says what it is if it is not just talk.
    fn take(&mut self, event: Event) -> Result<Option<Incoming>, Stop> {
        match event {
            Event::End => Ok(Some(Incoming::End)),
            Event::Log(text) => {
                self.page.draw(|diagram| diagram.log(&text))?;
                Ok(None)
            }
            Event::TooLong(limit) => {
                let expected = format!("at most {limit} bytes");
                Err(Wrong::new("a line on standard output", expected, "a longer one").into())
            }
            Event::Line(at, bytes) => self.frame(at, bytes).map(Some),
        }
    }

    fn frame(&mut self, at: Instant, bytes: Vec<u8>) -> Result<Incoming, Stop> {
        self.tally.received += 1;
        self.tally.bytes += bytes.len() + 1;
        match Envelope::parse(&bytes, &Limits::DEFAULT) {
            Ok(Envelope::Response(response)) => {
                let (id, about) = self.answered(at, &bytes, &response)?;
                Ok(Incoming::Answer(id, Frame { about, bytes }))
            }
            Ok(Envelope::Notification(notification)) => {
                let method = notification.method.decode();
                let arrow = Arrow {
                    label: &method,
                    body: notification.params,
                    ..self.bare(at)
                };
                self.draw(&bytes, &arrow)?;
                if method != "notifications/progress" {
                    let expected = "no notification but `notifications/progress`";
                    return Err(line(&bytes, expected, &method));
                }
                let about = format!("`{method}`");
                Ok(Incoming::Progress(Frame { about, bytes }))
            }
            Ok(Envelope::Request(_) | _) => {
                let expected = "no request, for no capability was declared";
                Err(line(&bytes, expected, "a request"))
            }
            Err(malformed) => {
                let seen = malformed.fault.to_string();
                Err(line(&bytes, "a JSON-RPC message", &seen))
            }
        }
    }

    /// Ends the call that this is the answer to; returns its id, and what to call the answer.
    fn answered(
        &mut self,
        at: Instant,
        bytes: &[u8],
        response: &Response<'_>,
    ) -> Result<(u64, String), Stop> {
        let id = response.id.and_then(|id| id.raw().as_number()?.as_u64());
        let call = self.in_flight.iter().position(|call| Some(call.id) == id);
        let Some(call) = call.map(|at| self.in_flight.swap_remove(at)) else {
            let seen = response.id.map_or("no id", |id| id.raw().as_str());
            return Err(line(bytes, "the id of a request in flight", seen));
        };
        let error = find(bytes, "error");
        let code = find(bytes, "error.code").map(RawJson::as_str);
        let failed = find(bytes, "result.isError").and_then(RawJson::as_bool) == Some(true);
        let kind = match code {
            Some(code) => format!("error {code}"),
            None if failed => "result, isError".to_owned(),
            None => "result".to_owned(),
        };
        let trip = at.saturating_duration_since(call.sent);
        let arrow = Arrow {
            tone: if failed || error.is_some() {
                Tone::Error
            } else {
                Tone::Result
            },
            label: &format!("{kind} #{}", call.id),
            trip: Some(trip),
            body: error.or_else(|| find(bytes, "result")),
            ..self.bare(at)
        };
        self.draw(bytes, &arrow)?;
        let about = format!("the answer to {} #{}", call.name, call.id);
        self.tally.trips.push((trip, call.name));
        Ok((call.id, about))
    }

    fn draw(&mut self, bytes: &[u8], arrow: &Arrow<'_>) -> Result<(), Stop> {
        let frame =
            RawJson::parse(bytes).map_err(|error| line(bytes, "JSON", &error.to_string()))?;
        Ok(self.page.frame(frame, arrow)?)
    }

    fn bare(&self, at: Instant) -> Arrow<'static> {
        Arrow {
            at: at - self.start,
            from: Side::Server,
            tone: Tone::Notification,
            label: "",
            trip: None,
            body: None,
        }
    }
}

fn line(bytes: &[u8], expected: &str, seen: &str) -> Stop {
    Wrong::new("a line on standard output", expected, seen)
        .in_frame(bytes)
        .into()
}
