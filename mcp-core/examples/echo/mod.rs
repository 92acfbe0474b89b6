//! What the examples serve: one tool, and the way of a message from the input to the output.

use std::sync::Arc;

use mcp_core::binding::StdioServer;
use mcp_core::engine::server::{Call, CallRequest, Catalog, CatalogError, Incoming, ServerEngine};
use mcp_core::frame::Lines;
use mcp_core::json::{Json, RawJson, Sink};
use mcp_core::model::{CallToolResult, ContentBlock, Implementation, Tool};

/// One tool, `echo`.
pub(crate) fn catalog() -> Result<Arc<Catalog>, CatalogError> {
    let schema = r#"{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}"#;
    let tool = Tool::constant("echo", "Says what it is told", Json::constant(schema));
    let server = Implementation::constant("echo", "1.0.0");
    let catalog = Catalog::builder(&server).tools(&[tool]).build()?;
    Ok(Arc::new(catalog))
}

/// Answers a call.
pub(crate) fn answer<S: Sink + ?Sized>(engine: &mut ServerEngine, call: Call<'_>, out: &mut S) {
    // Nothing but tools is offered.
    let CallRequest::Tool { arguments, .. } = call.request else {
        return;
    };
    let said = arguments.and_then(|it| it.member("text")?.as_string());
    let text = said.map(|said| said.decode());
    let content = [ContentBlock::text(text.as_deref().unwrap_or("no text"))];
    let result = CallToolResult::new(&content).failed(text.is_none());
    // A `Vec` has room, and a call that is not kept is never stale.
    let _ = engine.reply(call.token, &result, out);
}

/// Takes all messages that `input` holds, and says how many bytes they are.
#[allow(dead_code, reason = "not every transport is a stream of lines")]
pub(crate) fn serve(server: &mut StdioServer, input: &[u8], out: &mut Vec<u8>) -> usize {
    let mut used = 0;
    loop {
        let step = server.receive(&input[used..], out);
        used += step.consumed;
        match step.incoming {
            Some(incoming) => act(server.engine_mut(), incoming, &mut Lines::new(out)),
            None => return used,
        }
    }
}

/// Does what came of a message.
pub(crate) fn act<S: Sink>(engine: &mut ServerEngine, incoming: Incoming<'_>, out: &mut S) {
    // What is neither was handled or refused, or is about something that is not kept here.
    if let Incoming::Call(call) = incoming {
        answer(engine, call, out);
    } else if let Incoming::Batch(mut batch) = incoming {
        while let Some(incoming) = engine.next_in_batch(&mut batch, out) {
            if let Incoming::Call(call) = incoming {
                answer(engine, call, out);
            }
        }
    }
}

/// The beginning of a text, for those who print it.
#[allow(dead_code, reason = "not every example prints one")]
pub(crate) fn text_of(result: RawJson<'_>) -> Option<String> {
    let content = result.member("content")?.as_array()?.next()?;
    Some(content.member("text")?.as_string()?.decode().into_owned())
}
