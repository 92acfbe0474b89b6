//! A whole server on a byte stream, against a model of who has to be answered, once, and how.

mod answer;
mod due;
mod session;

use std::sync::{Arc, LazyLock};

use mcp_core::Limits;
use mcp_core::engine::server::Catalog;
use mcp_core::json::RawJson;
use mcp_core::model::{ClientCapabilities, Implementation, Tool};

use crate::line::split;
use crate::reads::{reads, split_header};
use session::{Session, Transcript};

/// What comes after the stream, whatever it was: a line end, and two requests that are always answered. The second one
/// ends with the input.
const AFTER: &[u8] = br#"
{"jsonrpc":"2.0","id":"still there?","method":"ping"}
{"jsonrpc":"2.0","id":"at the end?","method":"ping"}"#;

/// The tools, which say themselves how the harness answers them; see [`Session`].
const TOOLS: [&str; 6] = ["now", "later", "flush", "fail", "progress", "needs"];

/// Feeds a server a stream in pieces and in one piece, answers the calls that it accepts, and checks every answer.
///
/// The first line of the input gives the sizes of the reads, each modulo 48 (so digits are themselves). The rest is the
/// stream.
///
/// # Panics
///
/// On a finding: pieces and whole give different outputs; a line that is no JSON-RPC message; a request without its
/// answer, with two, or with another's; an answer to what wants none; a `ping` after it all that is not answered.
pub fn server(data: &[u8]) {
    let (sizes, stream) = split_header(data);
    let stream = [stream, AFTER].concat();
    let in_pieces = run(&reads(sizes, &stream), &stream);
    let whole = run(&[&stream], &stream);
    assert_eq!(in_pieces.incoming, whole.incoming);
    assert_eq!(
        String::from_utf8_lossy(&in_pieces.out),
        String::from_utf8_lossy(&whole.out)
    );
}

fn run(reads: &[&[u8]], stream: &[u8]) -> Transcript {
    let limits = limits();
    let messages = split(stream, limits.max_message);
    let mut session = Session::new(Arc::clone(&CATALOG), limits);
    let mut buffer: Vec<u8> = Vec::new();
    let mut messages = messages.iter();
    for read in reads {
        buffer.extend_from_slice(read);
        let mut start = 0;
        loop {
            let (consumed, more) = session.receive(&buffer[start..], &mut messages);
            start += consumed;
            if !more {
                break;
            }
        }
        buffer.drain(..start);
        assert!(buffer.len() < session.window(), "held: {buffer:?}");
    }
    let mut start = 0;
    loop {
        let (consumed, more) = session.finish(&buffer[start..], &mut messages);
        start += consumed;
        if !more {
            break;
        }
    }
    assert_eq!(start, buffer.len(), "left over");
    assert!(messages.next().is_none(), "a message was lost");
    session.end()
}

/// Low enough for short inputs to cross them.
fn limits() -> Limits {
    let mut limits = Limits::DEFAULT;
    limits.max_message = 400;
    limits.max_depth = 8;
    limits.max_in_flight = 3;
    limits.max_id = 32;
    limits.max_batch = 4;
    limits
}

static CATALOG: LazyLock<Arc<Catalog>> = LazyLock::new(|| {
    let schema = RawJson::parse(br#"{"type":"object"}"#).expect("a valid schema");
    let tools = TOOLS.map(|name| {
        let mut tool = Tool::new(name, schema);
        if name == "needs" {
            tool.requires = ClientCapabilities::ELICITATION;
        }
        tool
    });
    let server = Implementation::new("fuzz", "0");
    let catalog = Catalog::builder(&server).tools(&tools);
    Arc::new(catalog.build().expect("a valid catalog"))
});
