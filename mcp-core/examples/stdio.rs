//! The engine in a loop of its own: one tool, on standard input and output.

use std::io::{Read, Write};
use std::sync::Arc;

use mcp_core::binding::StdioServer;
use mcp_core::engine::server::{Call, Catalog, Incoming, ReplyToken, ServerEngine};
use mcp_core::frame::Lines;
use mcp_core::json::RawJson;
use mcp_core::model::{CallToolResult, ContentBlock, Implementation, Tool};
use mcp_core::{Limits, SendError};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // What is offered, serialised once and shared by all connections.
    let schema = br#"{"type":"object","properties":{"zone":{"type":"string"}}}"#;
    let mut now = Tool::new("now", RawJson::parse(schema)?);
    now.description = Some("Says what time it is".into());
    let server = Implementation::new("clock", "1.0.0");
    let catalog = Catalog::builder(&server).tools(&[now]).build()?;

    // One engine for each peer. The seed is to be unpredictable to it: from the system's random numbers, say.
    let seed = 0x5EED;
    let engine = ServerEngine::new(Arc::new(catalog), Limits::DEFAULT, seed);
    let mut server = StdioServer::new(engine);

    let (mut input, mut out) = (Vec::new(), Vec::new());
    let mut ended = false;
    while !ended {
        let mut chunk = [0; 8192];
        let count = std::io::stdin().read(&mut chunk)?;
        input.extend_from_slice(&chunk[..count]);
        ended = count == 0;

        let mut used = 0;
        loop {
            // One message, borrowed from `input`. What needs no handler has been answered when this returns.
            let step = match ended {
                false => server.receive(&input[used..], &mut out),
                true => server.finish(&input[used..], &mut out),
            };
            used += step.consumed;
            match step.incoming {
                Some(Incoming::Call(call)) => answer(&mut server, call, &mut out)?,
                Some(Incoming::Batch(mut batch)) => {
                    while let Some(incoming) = server
                        .engine_mut()
                        .next_in_batch(&mut batch, &mut Lines::new(&mut out))
                    {
                        if let Incoming::Call(call) = incoming {
                            answer(&mut server, call, &mut out)?;
                        }
                    }
                }
                Some(_) => {}
                None => break,
            }
        }
        input.drain(..used);

        // All answers of the turn at once.
        std::io::stdout().write_all(&out)?;
        std::io::stdout().flush()?;
        out.clear();
    }
    Ok(())
}

fn answer(
    server: &mut StdioServer,
    call: Call<'_>,
    out: &mut Vec<u8>,
) -> Result<(), SendError<ReplyToken>> {
    let content = [ContentBlock::text("half past nine")];
    let result = CallToolResult::new(&content);
    server
        .engine_mut()
        .reply(call.token, &result, &mut Lines::new(out))
}
