//! A lamp that is an MCP server, on a serial line: one message on a line, as on standard input and output.
//!
//! No operating system, no allocator, no executor: the engine in [`Fixed`] memory, an input and an output buffer, and the
//! [`Board`] below it. All of it is in the frame of [`run`].
#![no_std]
#![forbid(unsafe_code)]

use core::fmt::Write as _;

use mcp_core::binding::{StdioServer, Step};
use mcp_core::engine::Fixed;
use mcp_core::engine::server::{Call, CallRequest, CatalogBuilder, Incoming, ServerEngine};
use mcp_core::frame::Lines;
use mcp_core::json::{Json, JsonStr, RawJson};
use mcp_core::model::{
    CallToolResult, ContentBlock, GetPromptResult, Implementation, Prompt, PromptMessage,
    ReadResourceResult, Resource, ResourceContents, Role, Tool,
};
use mcp_core::rpc::ErrorObject;
use mcp_core::{ErrorCode, Limits, SendError};

/// What the lamp stands on.
pub trait Board {
    /// The next byte of the serial line; waits for it.
    fn read(&mut self) -> u8;

    /// Sends bytes.
    fn write(&mut self, bytes: &[u8]);

    /// How many instructions have run, or about as many; past `u32::MAX` it begins again.
    fn instructions(&mut self) -> u32;

    /// How many bytes of the stack were ever used.
    fn stack_used(&mut self) -> usize;
}

/// The longest line that is read.
pub const LINE: usize = 1024;

/// The most that is written before it is sent.
pub const OUTPUT: usize = 2048;

static SERVER: Implementation<'_> = Implementation::constant("lamp", "1.0.0");

const NO_ARGUMENTS: Json<'_> = Json::constant(r#"{"type":"object"}"#);

static TOOLS: [Tool<'_>; 3] = [
    Tool::constant(
        "switch",
        "Switches the lamp on or off",
        Json::constant(
            r#"{"type":"object","properties":{"on":{"type":"boolean"}},"required":["on"]}"#,
        ),
    ),
    Tool::constant(
        "echo",
        "Says what it is told",
        Json::constant(
            r#"{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}"#,
        ),
    ),
    Tool::constant("figures", "What this server has cost so far", NO_ARGUMENTS),
];

static RESOURCES: [Resource<'_>; 1] = [Resource::constant(STATE, "state", "text/plain")];
const STATE: &str = "lamp://state";

static PROMPTS: [Prompt<'_>; 1] = [Prompt::constant("read", "A light to read by", &[])];

/// What is offered.
pub static CATALOG: CatalogBuilder<'_> = CatalogBuilder::new(&SERVER)
    .instructions("One lamp.")
    .tools(&TOOLS)
    .resources(&RESOURCES)
    .prompts(&PROMPTS);

/// One call at a time: each is answered at once. Ids of 40 bytes; what is offered never changes, so there is nothing to
/// subscribe to; nothing is asked of the client.
type Engine = ServerEngine<Fixed<'static, 1, 40, 1, 0, 0, 0>>;

type Output = heapless::Vec<u8, OUTPUT>;

/// Serves for ever.
pub fn run(board: &mut impl Board) -> ! {
    let mut limits = Limits::DEFAULT;
    limits.max_message = LINE;
    limits.max_depth = 32;
    // A board with a source of entropy seeds it from there. Here nothing is hashed, and keys of this engine are used with
    // no other one.
    let seed = 1;
    let mut server = StdioServer::new(Engine::with_memory(&CATALOG, limits, seed));
    let mut lamp = Lamp::default();
    // `StdioServer::window`.
    let mut input = [0; LINE + 3];
    let mut filled = 0;
    let mut out = Output::new();
    loop {
        // A line, or as much of it as there is room for.
        while let Some(place) = input.get_mut(filled) {
            *place = board.read();
            filled += 1;
            if input.get(filled - 1) == Some(&b'\n') {
                break;
            }
        }
        let mut used = 0;
        loop {
            let began = board.instructions();
            let rest = input.get(used..filled).unwrap_or_default();
            let Step {
                consumed, incoming, ..
            } = server.receive(rest, &mut out);
            used += consumed;
            match incoming {
                None => break,
                Some(Incoming::Call(call)) => {
                    let figures = Figures {
                        stack: board.stack_used(),
                        ..lamp.figures
                    };
                    lamp.answer(server.engine_mut(), call, figures, &mut out);
                }
                // The output is empty here, so there will never be more room.
                Some(Incoming::Blocked) => {
                    used += server.give_up(rest, &mut out).consumed;
                }
                // Handled, refused or ignored; there are no batches in fixed memory.
                Some(_) => {}
            }
            lamp.figures.last = board.instructions().wrapping_sub(began);
            lamp.figures.most = lamp.figures.most.max(lamp.figures.last);
            lamp.figures.messages += 1;
            board.write(&out);
            out.clear();
        }
        input.copy_within(used..filled, 0);
        filled -= used;
    }
}

/// What the server has cost so far.
#[derive(Clone, Copy, Debug, Default)]
struct Figures {
    messages: u32,
    /// Instructions from a line to its answer, of the message before this one.
    last: u32,
    /// The same, the most.
    most: u32,
    stack: usize,
}

#[derive(Debug, Default)]
struct Lamp {
    on: bool,
    figures: Figures,
}

impl Lamp {
    fn answer(&mut self, engine: &mut Engine, call: Call<'_>, figures: Figures, out: &mut Output) {
        let out = &mut Lines::new(out);
        let Call { token, request, .. } = call;
        let mut text = heapless::String::<160>::new();
        let sent = match request {
            CallRequest::Tool {
                tool, arguments, ..
            } => {
                let said = match tool {
                    0 => self.switch(arguments),
                    1 => echo(arguments, &mut text),
                    _ => figures.write(&mut text),
                };
                let content = [ContentBlock::text(said.unwrap_or_else(|wrong| wrong))];
                let result = CallToolResult::new(&content).failed(said.is_err());
                engine.reply(token, &result, out)
            }
            CallRequest::Resource { .. } => {
                let contents = [ResourceContents::text(STATE, self.state()).of_type("text/plain")];
                engine.reply(token, &ReadResourceResult::new(&contents), out)
            }
            CallRequest::Prompt { .. } => {
                let text = ContentBlock::text("Switch the lamp on, I want to read.");
                let messages = [PromptMessage::new(Role::User, text)];
                engine.reply(token, &GetPromptResult::new(&messages), out)
            }
            // Completions are not offered.
            _ => engine.fail(token, &UNKNOWN, out),
        };
        if let Err(SendError::Full(token)) = sent {
            // This is short enough for the buffer, which is empty.
            let _ = engine.fail(token, &TOO_LONG, out);
        }
    }

    fn switch(&mut self, arguments: Option<RawJson<'_>>) -> Result<&'static str, &'static str> {
        let on = arguments.and_then(|it| it.member("on")?.as_bool());
        self.on = on.ok_or("`on` must be true or false")?;
        Ok(self.state())
    }

    const fn state(&self) -> &'static str {
        if self.on { "on" } else { "off" }
    }
}

const TOO_LONG: ErrorObject<'_> = ErrorObject::new(
    ErrorCode::INTERNAL_ERROR,
    "the answer is too long for this server",
);
const UNKNOWN: ErrorObject<'_> = ErrorObject::new(ErrorCode::INTERNAL_ERROR, "not served");

/// `text` has room for what is written with escapes; what is not goes from the input to the output.
fn echo<'t, const N: usize>(
    arguments: Option<RawJson<'t>>,
    text: &'t mut heapless::String<N>,
) -> Result<&'t str, &'t str> {
    let said = arguments.and_then(|it| it.member("text")?.as_string());
    let said = said.ok_or("`text` must be a string")?;
    if let Some(plain) = JsonStr::as_plain(said) {
        return Ok(plain);
    }
    match said.chars().all(|char| text.push(char).is_ok()) {
        true => Ok(text),
        false => Err("`text` has too many escapes"),
    }
}

impl Figures {
    fn write<'t, const N: usize>(
        &self,
        text: &'t mut heapless::String<N>,
    ) -> Result<&'t str, &'t str> {
        let Self {
            messages,
            last,
            most,
            stack,
        } = self;
        // It has room for the longest numbers.
        let _ = write!(
            text,
            r#"{{"messages":{messages},"instructions_last":{last},"instructions_most":{most},"stack":{stack}}}"#
        );
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    /// The builder serves what it is given: here it is checked.
    #[test]
    fn the_catalog_is_sound() {
        super::CATALOG.build().expect("a sound catalog");
    }
}
