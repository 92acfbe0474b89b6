//! Batches, which clients of 2025-03-26 may send.

use std::time::Duration;

use async_io::Timer;
use mcp_std::Server;
use serde_json::json;

use crate::peer::{call, serve};

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#;

/// BAT-01, BAT-07: some answers are there at once, some later; all of them leave together.
#[test]
fn a_batch_is_answered_by_a_batch() {
    let server = Server::builder("batches", "1")
        .tool("now", "", || async { "now" })
        .tool("later", "", || async {
            Timer::after(Duration::from_millis(30)).await;
            "later"
        })
        .max_concurrent(2)
        .build()
        .expect("a server");
    let end = serve(&server, |mut peer| async move {
        peer.send(&format!("{INITIALIZE}\n")).await;
        assert_eq!(peer.message().await["id"], "init");
        // More than may run at a time, and a message of its own behind them.
        let calls = [
            call(1, "later", "{}"),
            call(2, "now", "{}"),
            call(3, "later", "{}"),
            call(4, "later", "{}"),
        ];
        let calls = calls.map(|call| call.trim().to_owned()).join(",");
        peer.send(&format!("[{calls}]\n")).await;
        peer.ping().await;
        let answers = peer.message().await;
        let answers = answers.as_array().expect("an array");
        let mut ids: Vec<_> = answers
            .iter()
            .map(|answer| answer["id"].as_u64().expect("a number"))
            .collect();
        ids.sort_unstable();
        assert_eq!(ids, [1, 2, 3, 4]);
        for answer in answers {
            let text = if answer["id"] == 2 { "now" } else { "later" };
            let content = json!([{"type": "text", "text": text}]);
            assert_eq!(answer["result"], json!({ "content": content }));
        }
        peer.close();
    });
    end.expect("sockets do not fail");
}
