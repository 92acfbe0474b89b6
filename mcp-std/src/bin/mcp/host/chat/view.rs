//! A turn of a model as it happens: what it says on standard output, what it does on standard error.

use mcp_std::client::Canceller;
use mcp_std::host::AgentEvent;
use mcp_std::host::adapters::{Arguments, ToolCall};
use mcp_std::model::{CallToolResult, ContentBlock};

use crate::connect::output;
use crate::failure::Failure;
use crate::screen;
use crate::show::word;
use crate::text::{cut, duration, printable_lines};

pub(super) struct View {
    /// Nothing is said but the outcome, later and by others.
    quiet: bool,
    /// A line has been begun.
    midway: bool,
    failure: Option<Failure>,
    canceller: Canceller,
}

impl View {
    /// Cancels the turn when nobody reads what is said.
    pub(super) const fn new(quiet: bool, canceller: Canceller) -> Self {
        Self {
            quiet,
            midway: false,
            failure: None,
            canceller,
        }
    }

    pub(super) fn show(&mut self, event: &AgentEvent<'_>) {
        match event {
            AgentEvent::Round { number, tools, .. } if *number == 1 => {
                for refused in tools.refused() {
                    let fault = format!("{} is not offered: {}", refused.name, refused.error);
                    screen::print(&format!("mcp host: {}\n", word(&fault)));
                }
            }
            AgentEvent::Text(text) => self.say(text),
            AgentEvent::Reply(_) => self.end(),
            AgentEvent::Started(call) => {
                let line = format!("{} {}", call.name, arguments(call));
                screen::print(&format!("  -> {}\n", cut(&word(&line), 300)));
            }
            AgentEvent::Finished {
                call, result, time, ..
            } => {
                let how = if result.is_error { "failed" } else { "done" };
                let line = format!(
                    "{} {how} in {}: {}",
                    call.name,
                    duration(*time),
                    first_line(result)
                );
                screen::print(&format!("  <- {}\n", cut(&word(&line), 300)));
            }
            AgentEvent::Failed {
                call, error, time, ..
            } => {
                let line = format!("{} failed in {}: {error}", call.name, duration(*time));
                screen::print(&format!("  <- {}\n", cut(&word(&line), 300)));
            }
            AgentEvent::Round { .. } | _ => {}
        }
    }

    fn say(&mut self, text: &str) {
        if self.quiet || self.failure.is_some() || text.is_empty() {
            return;
        }
        self.midway = !text.ends_with('\n');
        self.write(&printable_lines(text));
    }

    /// Ends the line, if one was begun.
    pub(super) fn end(&mut self) {
        if core::mem::take(&mut self.midway) {
            self.write("\n");
        }
    }

    fn write(&mut self, text: &str) {
        if let Err(failure) = output(text.as_bytes()) {
            self.failure = Some(failure);
            self.canceller.cancel();
        }
    }

    /// Why nothing more could be said.
    pub(super) fn failure(self) -> Option<Failure> {
        self.failure
    }
}

fn arguments(call: &ToolCall) -> &str {
    match &call.arguments {
        Arguments::Object(object) => object.as_str(),
        Arguments::Invalid { reason, .. } => reason,
        _ => "",
    }
}

/// Of what the tool says, without the marks that are for the model.
fn first_line(result: &CallToolResult<'_>) -> String {
    let texts = result.content.iter().filter_map(ContentBlock::as_text);
    let mut lines = texts.flat_map(str::lines);
    let line = lines.find(|line| !line.starts_with("<untrusted ") && !line.trim().is_empty());
    line.unwrap_or("(no text)").to_owned()
}
