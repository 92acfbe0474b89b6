//! A server of one process: the engine with a handler that echoes, for benchmarks and for counting instructions.

use alloc::borrow::Cow;
use alloc::sync::Arc;

use mcp_core::Limits;
use mcp_core::engine::server::{CallRequest, Catalog, Incoming, ReplyToken, ServerEngine};
use mcp_core::json::RawJson;
use mcp_core::model::{CallToolResult, ContentBlock, Implementation, Tool};

use crate::request::{self, Era};

/// What it is called.
pub const NAME: &str = "bench-server";
/// Its version.
pub const VERSION: &str = "1.0.0";
/// The input schema of each tool.
pub const SCHEMA: &str = r#"{"type":"object","properties":{"text":{"type":"string","description":"what comes back"}},"required":["text"]}"#;
/// The description of each tool.
pub const DESCRIPTION: &str = "Answers with the text that it was called with";

/// The engine, with a handler that echoes.
#[derive(Debug)]
#[non_exhaustive]
pub struct Server {
    /// The engine itself.
    pub engine: ServerEngine,
    /// What it wrote last.
    pub out: Vec<u8>,
}

impl Server {
    /// A server of so many tools, the first of them `echo`; in the legacy era after the handshake.
    ///
    /// # Panics
    ///
    /// If the engine does not take what is built here.
    #[must_use]
    pub fn new(era: Era, tools: usize, limits: Limits) -> Self {
        let names = tool_names(tools);
        let tools: Vec<Tool<'_>> = names
            .iter()
            .map(|name| {
                let schema = RawJson::parse(SCHEMA.as_bytes()).expect("JSON");
                let mut tool = Tool::new(name, schema);
                tool.description = Some(DESCRIPTION.into());
                tool
            })
            .collect();
        let identity = Implementation::new(NAME, VERSION);
        let catalog = Catalog::builder(&identity).tools(&tools);
        let catalog = catalog.build().expect("good tools");
        let mut server = Self {
            engine: ServerEngine::new(Arc::new(catalog), limits, 0x5eed),
            out: Vec::new(),
        };
        if era == Era::Legacy {
            server.answer(request::initialize().trim_end().as_bytes());
            server.answer(request::INITIALIZED.trim_end().as_bytes());
        }
        server
    }

    /// The answer to a message, empty if none is due.
    ///
    /// # Panics
    ///
    /// If the message is refused, or calls another tool than `echo`.
    pub fn answer(&mut self, message: &[u8]) -> &[u8] {
        self.out.clear();
        let incoming = self.engine.receive(message, &mut self.out);
        if !matches!(incoming, Incoming::Handled) {
            let Incoming::Call(call) = incoming else {
                panic!("not accepted: {incoming:?}");
            };
            let CallRequest::Tool { arguments, .. } = call.request else {
                panic!("not a tool: {call:?}");
            };
            let text = arguments.and_then(text).expect("an argument `text`");
            self.reply(call.token, text);
        }
        &self.out
    }

    /// Answers a call with a text, after what was written before.
    ///
    /// # Panics
    ///
    /// If the call is not in flight.
    pub fn reply(&mut self, token: ReplyToken, text: Cow<'_, str>) {
        let content = [ContentBlock::text(text)];
        self.engine
            .reply(token, &CallToolResult::new(&content), &mut self.out)
            .expect("in flight, and a Vec has room");
    }
}

fn text<'b>(arguments: RawJson<'b>) -> Option<Cow<'b, str>> {
    let (_, text) = arguments.as_object()?.find(|(name, _)| *name == *"text")?;
    Some(text.as_string()?.decode())
}

/// `echo`, and names for so many tools in all.
#[must_use]
pub fn tool_names(count: usize) -> Vec<String> {
    let others = (1..count).map(|n| format!("tool_{n}"));
    core::iter::once("echo".into()).chain(others).collect()
}
