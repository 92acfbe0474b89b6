//! A sequence diagram: a lifeline for each side, an arrow for each frame, and the time in the margin.

use core::time::Duration;

use mcp_core::json::RawJson;

use crate::text::{cut, duration, printable, shorten, wrap};

/// The margin: milliseconds with three decimals, and a space.
const MARGIN: usize = 10;

/// How the diagram is drawn.
pub(crate) struct Diagram {
    /// Columns.
    width: usize,
    colour: bool,
}

/// From one lifeline to the other.
pub(crate) struct Arrow<'a> {
    /// Since the start.
    pub(crate) at: Duration,
    pub(crate) from: Side,
    pub(crate) tone: Tone,
    pub(crate) label: &'a str,
    /// Since what it answers was sent.
    pub(crate) trip: Option<Duration>,
    /// What it carries.
    pub(crate) body: Option<RawJson<'a>>,
}

#[derive(Clone, Copy, Eq, PartialEq)]
pub(crate) enum Side {
    Client,
    Server,
}

#[derive(Clone, Copy, Eq, PartialEq)]
pub(crate) enum Tone {
    Request,
    Notification,
    Result,
    /// An error, or a result that tells of one.
    Error,
}

const DIM: &str = "2";
const BOLD: &str = "1";

impl Tone {
    const fn colour(self) -> &'static str {
        match self {
            Self::Request => "36",
            Self::Notification => "35",
            Self::Result => "32",
            Self::Error => "33",
        }
    }

    /// Dashes where no answer is wanted.
    const fn stroke(self) -> char {
        match self {
            Self::Notification => '╌',
            Self::Request | Self::Result | Self::Error => '─',
        }
    }
}

impl Diagram {
    pub(crate) const fn new(width: usize, colour: bool) -> Self {
        Self { width, colour }
    }

    /// Who the two sides are.
    pub(crate) fn title(&self, client: &str, server: &str) -> String {
        let client = cut(&printable(client), self.inner() / 3);
        let server = cut(&printable(server), self.inner() / 2);
        let rest = self.inner() + 2 - client.chars().count();
        let names = format!("{client}{server:>rest$}");
        let names = self.paint(BOLD, &names);
        let margin = self.paint(DIM, &format!("{:>9}", "ms"));
        format!("{margin} {names}\n")
    }

    /// What a part of the story is called.
    pub(crate) fn heading(&self, text: &str) -> String {
        let text = cut(text, self.inner() - 8);
        let rest = "═".repeat(self.inner() - 5 - text.chars().count());
        let line = self.paint(BOLD, &format!("╞═══ {text} {rest}╡"));
        format!("{}{:MARGIN$}{line}\n", self.row("", ""), "")
    }

    /// What comes next.
    pub(crate) fn caption(&self, text: &str) -> String {
        let mut rows = self.row("", "");
        for line in wrap(text, self.inner() - 2) {
            rows.push_str(&self.row(BOLD, &format!(" {line}")));
        }
        rows
    }

    /// What the server says on standard error.
    pub(crate) fn log(&self, text: &str) -> String {
        let text = cut(&printable(text), self.inner() - 10);
        self.row(DIM, &self.at_server(&format!("stderr: {text}")))
    }

    /// Nothing came, for so long.
    pub(crate) fn silence(&self, length: Duration) -> String {
        let text = format!("· · ·   {} of silence   · · ·", duration(length));
        let text = format!("{text:^width$}", width = self.inner());
        self.row(Tone::Result.colour(), &text)
    }

    pub(crate) fn arrow(&self, arrow: &Arrow<'_>) -> String {
        let inner = self.inner();
        let label = cut(&printable(arrow.label), inner / 2);
        let trip = arrow.trip.map(|trip| format!("─ {} ", duration(trip)));
        let trip = trip.unwrap_or_default();
        let used = label.chars().count() + trip.chars().count() + 4;
        let stroke = String::from(arrow.tone.stroke());
        let line = stroke.repeat(inner.saturating_sub(used));
        let line = match arrow.from {
            Side::Client => format!("├{stroke} {label} {line}►"),
            Side::Server => format!("◄{trip}{line} {label} {stroke}┤"),
        };
        let line = self.paint(arrow.tone.colour(), &line);
        let lifeline = self.paint(DIM, "│");
        let time = format!("{:>9.3}", arrow.at.as_secs_f64() * 1e3);
        let time = self.paint(DIM, &time);
        let mut text = match arrow.from {
            Side::Client => format!("{time} {line}{lifeline}\n"),
            Side::Server => format!("{time} {lifeline}{line}\n"),
        };
        let empty = |body: &RawJson<'_>| {
            arrow.from == Side::Client
                && body
                    .as_object()
                    .is_some_and(|mut body| body.next().is_none())
        };
        if let Some(body) = arrow.body.filter(|body| !empty(body)) {
            let body = printable(&shorten(body, inner - 2));
            let body = match arrow.from {
                Side::Client => format!(" {body}"),
                Side::Server => self.at_server(&body),
            };
            text.push_str(&self.row("", &body));
        }
        text
    }

    /// Below the diagram.
    pub(crate) fn summary(&self, facts: &[String], verdict: &str) -> String {
        let mut text = String::from("\n");
        let lines = facts
            .iter()
            .flat_map(|fact| wrap(fact, self.width - MARGIN));
        for line in lines {
            text.extend([&" ".repeat(MARGIN), &*line, "\n"]);
        }
        let verdict = self.paint(Tone::Result.colour(), verdict);
        text.extend([&" ".repeat(MARGIN), &*verdict, "\n"]);
        text
    }

    /// Columns between the lifelines.
    const fn inner(&self) -> usize {
        self.width - MARGIN - 2
    }

    /// Text between the lifelines.
    fn row(&self, colour: &str, text: &str) -> String {
        let lifeline = self.paint(DIM, "│");
        let rest = self.inner().saturating_sub(text.chars().count());
        let text = self.paint(colour, text);
        format!("{:MARGIN$}{lifeline}{text}{:rest$}{lifeline}\n", "", "")
    }

    /// Text that ends at the server's lifeline.
    fn at_server(&self, text: &str) -> String {
        format!("{text:>width$} ", width = self.inner() - 1)
    }

    fn paint(&self, colour: &str, text: &str) -> String {
        if self.colour && !colour.is_empty() && !text.is_empty() {
            format!("\u{1b}[{colour}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }
}
