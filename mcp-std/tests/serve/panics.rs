//! A panic in the code of a tool's author is the end of that call, and of nothing else.

use std::future::pending;
use std::time::Duration;

use async_io::Timer;
use futures_lite::future::yield_now;
use mcp_std::{End, Instead, IntoToolResult, Server, ToolResult};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};

use crate::peer::{cancel, serve, session, text};

/// Panics when it is decoded.
#[derive(JsonSchema)]
struct Undecodable {
    #[expect(dead_code, reason = "described, never decoded")]
    member: u32,
}

impl<'de> Deserialize<'de> for Undecodable {
    fn deserialize<D: Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        panic!("in decoding")
    }
}

/// Panics when it is turned into a result.
struct Unspeakable;

impl IntoToolResult for Unspeakable {
    fn into_tool_result(self) -> Result<ToolResult, Instead> {
        panic!("in into_tool_result")
    }
}

struct PanicOnDrop;

impl Drop for PanicOnDrop {
    fn drop(&mut self) {
        panic!("in drop")
    }
}

fn server() -> Server {
    Server::builder("panics", "1")
        .tool("call", "", || {
            if true {
                panic!("before the future is made");
            }
            async {}
        })
        .tool("poll", "", || async {
            if true {
                panic!("in the first poll");
            }
        })
        .tool("payload", "", || async {
            if true {
                // What it panics with panics as well.
                std::panic::panic_any(PanicOnDrop);
            }
        })
        .tool("later", "", || async {
            yield_now().await;
            if true {
                panic!("in a later poll");
            }
        })
        .tool("decode", "", |_: Undecodable| async {})
        .tool("result", "", || async { Unspeakable })
        .tool("drop", "", || async {
            let _guard = PanicOnDrop;
            pending::<()>().await;
        })
        .tool("drop at the end", "", || async {
            let _guard = PanicOnDrop;
            yield_now().await;
        })
        .tool("fine", "", || async {
            Timer::after(Duration::from_millis(200)).await;
            "fine"
        })
        .grace(Duration::from_millis(50))
        .on_fault(|fault| panic!("told of {fault}"))
        .build()
        .expect("a server")
}

#[test]
fn a_panic_is_an_internal_error_of_that_call() {
    session(&server(), |mut peer| async move {
        for tool in [
            "call",
            "poll",
            "payload",
            "later",
            "decode",
            "result",
            "drop at the end",
        ] {
            // In flight meanwhile, and unharmed.
            peer.call(1, "fine", "{}").await;
            peer.call(2, tool, r#"{"member":1}"#).await;
            let refused = peer.line().await;
            assert_eq!(
                refused,
                format!(
                    r#"{{"jsonrpc":"2.0","id":2,"error":{{"code":-32603,"message":"Tool {tool} panicked"}}}}"#
                )
            );
            let answer = peer.message().await;
            assert_eq!(answer["id"], 1);
            assert_eq!(text(&answer["result"]), "fine");
        }
        assert_eq!(peer.rest().await.len(), 0);
    });
}

#[test]
fn a_panic_in_the_drop_of_a_cancelled_handler_is_nobodys_business() {
    session(&server(), |mut peer| async move {
        peer.call(1, "drop", "{}").await;
        peer.call(2, "fine", "{}").await;
        peer.ping().await;
        peer.send(&cancel(1)).await;
        peer.ping().await;
        assert_eq!(text(&peer.message().await["result"]), "fine");
        assert_eq!(peer.rest().await.len(), 0);
    });
}

/// Two panics, of which the second would end the process if the first were on its way through the stack.
#[test]
fn panics_in_the_drops_at_the_end_stay_inside() {
    let end = serve(&server(), |mut peer| async move {
        peer.initialize().await;
        peer.call(1, "drop", "{}").await;
        peer.call(2, "drop", "{}").await;
        peer.ping().await;
        assert_eq!(peer.rest().await.len(), 0);
    });
    assert_eq!(end.expect("sockets do not fail"), End::GraceExpired);
}

#[test]
fn a_panic_in_the_report_of_a_fault_ends_nothing() {
    session(&server(), |mut peer| async move {
        peer.send("junk").await;
        assert_eq!(peer.message().await["error"]["code"], -32700);
        peer.ping().await;
        assert_eq!(peer.rest().await.len(), 0);
    });
}
