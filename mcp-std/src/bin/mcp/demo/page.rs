//! What is printed: a sequence diagram for people, or JSON lines for programs.

use core::time::Duration;
use std::io::{self, StdoutLock, Write};

use mcp_core::json::{Json, RawJson};

use crate::diagram::{Arrow, Diagram, Side};

/// Standard output. Everything is written and flushed at once, so that it can be watched as it happens.
pub(super) struct Page {
    out: StdoutLock<'static>,
    diagram: Option<Diagram>,
}

impl Page {
    /// A page for people.
    pub(super) const fn diagram(diagram: Diagram, out: StdoutLock<'static>) -> Self {
        Self {
            out,
            diagram: Some(diagram),
        }
    }

    /// A page for programs: frames and nothing else.
    pub(super) const fn lines(out: StdoutLock<'static>) -> Self {
        Self { out, diagram: None }
    }

    /// Draws what only people want to see.
    pub(super) fn draw(&mut self, drawing: impl FnOnce(&Diagram) -> String) -> io::Result<()> {
        match &self.diagram {
            Some(diagram) => print(&mut self.out, &drawing(diagram)),
            None => Ok(()),
        }
    }

    /// A frame that was sent or received.
    pub(super) fn frame(&mut self, frame: RawJson<'_>, arrow: &Arrow<'_>) -> io::Result<()> {
        match &self.diagram {
            Some(diagram) => print(&mut self.out, &diagram.arrow(arrow)),
            None => print(&mut self.out, &line(frame, arrow.from, arrow.at)),
        }
    }
}

fn print(out: &mut StdoutLock<'_>, text: &str) -> io::Result<()> {
    out.write_all(text.as_bytes())?;
    out.flush()
}

fn line(frame: RawJson<'_>, from: Side, at: Duration) -> String {
    let json = Json::written(|json| {
        json.begin_object();
        json.key("t_us");
        json.unsigned(at.as_micros().try_into().unwrap_or(u64::MAX));
        json.key("dir");
        json.string(match from {
            Side::Client => "->",
            Side::Server => "<-",
        });
        json.key("frame");
        json.raw(frame);
        json.end_object();
    });
    format!("{}\n", json.as_str())
}
